"""What labels cost before anything is online: teacher calls, hours, disk, and another λ.

In: the label folders of a study. Out: rows of the whole study. Labels count calls and tokens, not
seconds, so hours are tokens over a rate that is measured on the teacher's own calls.
"""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path

from enough.controller.train_folder import TrainRun
from enough.diagnostics.cost.efficiency_rows import OFFLINE, EfficiencyConfig, EfficiencyRow
from enough.diagnostics.cost.machine import uses_gpu
from enough.diagnostics.laboratory import Laboratory
from enough.diagnostics.study import Study
from enough.disk_cache import DiskCache, cache_root
from enough.labels.finish import finish_targets
from enough.labels.folder import LabelFolder
from enough.labels.scoring_rate import ScoringRate
from enough.protocols import ScoredSequence
from enough.run_folders import read_json
from enough.teacher.components import TargetConfig
from enough.teacher.preparation import cases_of
from enough.teacher.scored_tree import ScoredTree
from enough.teacher.supervision import Subject

_COUNTS = ("calls", "tokens", "gated", "looked_up", "same_tokens")
_HOUR = 3600.0


def label_folders(study: Study) -> list[Path]:
    """All rounds of labels the controller learnt from; of named labels the last round alone."""
    first = study.shop.folder / "labels"
    is_second = study.config.labels is None and study.labels != first
    return [first, study.labels] if is_second else [study.labels]


def cache_hit(counts: dict[str, int]) -> float:
    """Share of wanted likelihoods that were known already: looked up, or of equal tokens."""
    saved = counts["looked_up"] + counts["same_tokens"]
    return saved / max(saved + counts["calls"], 1)


def offline_rows(lab: Laboratory, config: EfficiencyConfig) -> list[EfficiencyRow]:
    """Everything about labels."""
    import torch  # noqa: PLC0415 (heavy)

    study = lab.study
    manifests = [read_json(LabelFolder(path).manifest_file) for path in label_folders(study)]
    counts = {name: sum(int(one["counts"][name]) for one in manifests) for name in _COUNTS}
    rate = scoring_rate(lab, config.timed_requests)
    hours = counts["tokens"] / rate / _HOUR if rate else None
    is_gpu = uses_gpu(study.label.generator.device)
    threads = 1 if is_gpu else torch.get_num_threads()
    found: dict[str, float | None] = {
        "labelled requests": sum(manifests[-1]["requests"].values()),
        "teacher calls": counts["calls"],
        "tokens computed": counts["tokens"],
        "looked up": counts["looked_up"],
        "same tokens": counts["same_tokens"],
        "not needed": counts["gated"],
        "cache hit": cache_hit(counts),
        "tokens per second": rate,
        "GPU hours" if is_gpu else "core hours": None if hours is None else hours * threads,
        "label bytes": float(sum(map(_bytes, label_folders(study)))),
        "score cache bytes": _cache_bytes(counts["calls"]),
    }
    found |= another_lambda(study, is_trained=config.retrain_lambda)
    return [
        EfficiencyRow(OFFLINE, name, None if value is None else float(value))
        for name, value in found.items()
    ]


def scoring_rate(lab: Laboratory, requests: int) -> float:
    """Distinct tokens per second of the teacher's own sequences; 0 if there are none."""
    timed = ScoringRate(lab.generator.inner)
    for sequences in _teacher_sequences(lab, requests):
        timed.offer(sequences)
    lab.on_step("timing the teacher", 0, 1)
    rate = timed.tokens_per_s()
    lab.on_step("timing the teacher", 1, 1)
    return rate


def _teacher_sequences(lab: Laboratory, requests: int) -> Iterator[list[ScoredSequence]]:
    """All profiles of the trees of some labelled requests of every task."""
    study = lab.study
    for name, dataset in study.datasets.items():
        examples = {e.request.id: e for of in dataset.splits.values() for e in of}
        trees = [
            tree
            for tree in islice(_trees(study.labels, name), requests)
            if tree.of.request in examples
        ]
        chosen = [examples[tree.of.request] for tree in trees]
        for case, tree in zip(cases_of(dataset, chosen, study.stages), trees, strict=True):
            if tree.of.pool != tuple(candidate.record.id for candidate in case.pool):
                continue  # labelled elsewhere, from records that this machine ranks differently
            subject = Subject(case, lab.prompter, lab.generator.window, lab.max_records)
            yield [subject.sequences.sequence(profile) for profile in tree.profiles]


def _trees(labels: Path, task: str) -> Iterator[ScoredTree]:
    for part in LabelFolder(labels).read():
        yield from (tree for tree in part.trees if tree.of.task == task)


def another_lambda(study: Study, *, is_trained: bool) -> dict[str, float | None]:
    """Seconds for targets and perhaps a controller at twice the λ; nothing here has a generator.

    The folder of labels stays as it is: targets are written beside a link to its trees.
    """
    point = TargetConfig(study.point.beta, 2 * study.point.lambda_ or 0.1)
    found: dict[str, float | None] = {"generator calls for another λ": 0.0}
    with tempfile.TemporaryDirectory() as name:
        labels = Path(name) / "labels"
        labels.mkdir()
        for file in ("manifest.json", "settings.json"):
            shutil.copy(study.labels / file, labels)
        (labels / "trees").symlink_to((study.labels / "trees").resolve())
        started = time.perf_counter()
        finish_targets(LabelFolder(labels), replace(study.label, targets=point))
        found["targets for another λ, seconds"] = time.perf_counter() - started
        if is_trained:
            started = time.perf_counter()
            config = replace(study.config.train, targets=point)
            datasets = list(study.datasets.values())
            TrainRun(labels, datasets, config, Path(name) / "controller").run(
                lambda: study.stages.encoder
            )
            found["controller for another λ, seconds"] = time.perf_counter() - started
    return found


def _bytes(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def _cache_bytes(calls: int) -> float | None:
    """The share of so many scores in the file that all studies of this user keep them in."""
    path = cache_root() / "scores.sqlite"
    if not path.exists() or not (entries := len(DiskCache(path))):
        return None
    return calls * path.stat().st_size / entries
