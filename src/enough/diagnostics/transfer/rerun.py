"""The study again with one thing changed, and several methods on its reported requests.

In: a laboratory, and another retriever or another generator. Out: the other laboratory, with
labels, token costs, pools and a controller of its own, and rows of ENOUGH and its rivals in it.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from enough.config import as_table
from enough.diagnostics.first_records import first_records
from enough.diagnostics.laboratory import Laboratory
from enough.diagnostics.transfer.contestants import Contestant, asked, built, equipped
from enough.diagnostics.tried import OURS, Tried
from enough.evaluation.metrics import oriented
from enough.generators.config import GeneratorConfig
from enough.protocols import Answered
from enough.records import Record
from enough.retrieval.pools import WITH_DEFAULT_ENCODER
from enough.retrieval.registry import build_retriever
from enough.teacher.supervision import Subject


@dataclass(frozen=True, slots=True)
class RerunRow:
    """One request under one method in one variant of the study.

    Attributes:
        variant: the retriever or the generator.
        method: ENOUGH or a rival.
        tried: what came of it. A method with several prompts has no likelihood: NaN.
    """

    variant: str
    method: str
    tried: Tried


@dataclass(frozen=True, slots=True)
class Change:
    """What is different; None leaves a part as it is.

    Attributes:
        label_requests: labelled per task; 0 as many as the study.
        is_fresh: training begins with fresh weights, wherever the study's controller came from.
    """

    retriever: str | None = None
    generator: GeneratorConfig | None = None
    label_requests: int = 0
    is_fresh: bool = False


def remade(lab: Laboratory, name: str, change: Change) -> Laboratory:
    """The study with the change; the laboratory itself where nothing is different."""
    study = lab.study
    label, train = study.label, replace(study.config.train, targets=study.point)
    pools, count = change.retriever or label.retrieval.retriever, change.label_requests
    other = replace(
        label,
        generator=change.generator or label.generator,
        requests=count or label.requests,
        retrieval=replace(label.retrieval, retriever=pools),
    )
    begun = replace(train, start=None, chooser=None) if change.is_fresh else train
    if (other, begun) == (label, train):
        return lab
    config = replace(
        study.config,
        labels=None,
        controller=None,
        label=replace(other, split="label", targets=study.point),
        train=begun,
        visited=min(study.config.visited, count) if count else study.config.visited,
    )
    made_from = as_table(config)
    for setting in ("requests", "slots", "split", "choose_on", "seed"):  # no label depends on it
        del made_from[setting]
    text = json.dumps(made_from, sort_keys=True, default=str)
    return lab.another(f"{name}-{hashlib.sha256(text.encode()).hexdigest()[:8]}", config)


def with_pools_of(lab: Laboratory, retriever: str) -> Laboratory:
    """Other pools for the same controller; neither labels nor training."""
    study = lab.study
    pools = study.label.retrieval
    if retriever == pools.retriever:
        return lab
    encoder = study.stages.encoder if retriever in WITH_DEFAULT_ENCODER else None
    other = replace(
        study,
        label=replace(study.label, retrieval=replace(pools, retriever=retriever)),
        stages=replace(study.stages, retriever=build_retriever(retriever, encoder)),
    )
    inner = lab.generator.inner
    return Laboratory(
        other.config, lab.folder, lab.on_step, generator=inner, opening=lambda *_: other
    )


def rows_of_methods(
    lab: Laboratory, variant: str, lengths: Sequence[int], rivals: Sequence[str], limit: int = 0
) -> list[RerunRow]:
    """Every method on the reported requests of a laboratory, or on the first of each task."""
    subjects, step = lab.first_subjects(limit), variant
    chosen = lab.chosen(lab.policy(), subjects)
    wanted: list[tuple[str, Subject, tuple[Record, ...]]] = []
    for length in lengths:
        profiles = [first_records(subject, length) for subject in subjects]
        wanted += _named(_fixed(length), subjects, profiles)
    wanted += _named(OURS, subjects, chosen)
    several: list[RerunRow] = []
    for kind in rivals:
        one = Contestant(kind)
        method = built(lab, equipped(lab, one), one)
        for done, subject in enumerate(subjects, start=1):
            answered = method.answer(asked(lab, one, subject))
            if answered.one_prompt:
                wanted.append((one.title, subject, answered.records))
            else:
                several.append(RerunRow(variant, one.title, _of_several(lab, subject, answered)))
            lab.on_step(f"{step}: {one.title}", done, len(subjects))
    tried = lab.try_records([(subject, records) for _, subject, records in wanted], step)
    found = [RerunRow(variant, name, one) for (name, *_), one in zip(wanted, tried, strict=True)]
    return found + several


def _fixed(length: int) -> str:
    return f"k = {length}" if length else "empty"


def _named(
    name: str, subjects: Sequence[Subject], profiles: Sequence[tuple[int, ...]]
) -> list[tuple[str, Subject, tuple[Record, ...]]]:
    found = []
    for subject, profile in zip(subjects, profiles, strict=True):
        pool = subject.space.case.pool
        found.append((name, subject, tuple(pool[place].record for place in profile)))
    return found


def _of_several(lab: Laboratory, subject: Subject, answered: Answered) -> Tried:
    """What a method wrote that has several prompts, and so no likelihood."""
    (empty,) = lab.try_records([(subject, ())], "empty")
    task = subject.space.case.example.request.task
    return replace(
        empty,
        records=tuple(record.id for record in answered.records),
        tokens=answered.profile_tokens,
        answer=answered.text,
        score=oriented(task, answered.text, empty.reference),
        log_likelihood_gain=math.nan,
    )
