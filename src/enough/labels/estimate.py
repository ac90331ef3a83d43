"""What a labelling run will cost, before it is spent.

In: a run, not yet begun, and its generator. Out: `Estimate`. How many profiles of each length gain
is learnt from a few real, narrow searches; the rest is searched in dry (`dry_search`).
"""

from __future__ import annotations

import dataclasses
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from enough.generators.prompt_side import PromptSide
from enough.generators.token_trie import distinct_tokens
from enough.labels.config import LabelConfig
from enough.labels.dry_search import Shares, Work, count_work
from enough.labels.run import LabelRun
from enough.labels.scoring_rate import ScoringRate
from enough.progress import OnStep
from enough.prompts.profile_sequences import Profile
from enough.protocols import Generator
from enough.teacher.preparation import Stages
from enough.teacher.search import Scores, bounded_tree, converse
from enough.teacher.supervision import Subject

_PROBED = 3  # requests per task


@dataclass(frozen=True, slots=True)
class Estimate:
    """Of all requests of a run, those already labelled included.

    Attributes:
        calls: distinct profiles to score, counterfactual ones included.
        profiles: that will be labelled.
        tokens: the generator has to compute.
        tokens_per_s: of one worker, measured on sequences like those of the run.
    """

    requests: int
    profiles: int
    calls: int
    tokens: int
    seconds: float
    megabytes: float
    tokens_per_s: float
    workers: int
    sampled_requests: int
    probed_requests: int
    probe_calls: int


def estimate(
    run: LabelRun, stages: Stages, generator: Generator, workers: int, on_step: OnStep
) -> Estimate:
    """Sample every task of the run, and scale up."""
    probes, timed = Work(), ScoringRate(generator)
    total, sampled = count_work(
        run,
        stages,
        PromptSide(generator.tokenizer, generator.window),
        lambda subjects: probed_shares(subjects, run.config, generator, probes, on_step),
        on_step,
        on_sequences=timed.offer,
    )
    rate = timed.tokens_per_s()
    return Estimate(
        requests=run.requests,
        profiles=round(total.profiles),
        calls=round(total.calls),
        tokens=round(total.tokens),
        seconds=total.tokens / (rate * workers) if rate else 0.0,
        megabytes=total.bytes / 1e6,
        tokens_per_s=rate,
        workers=workers,
        sampled_requests=sampled,
        probed_requests=round(probes.requests),
        probe_calls=round(probes.calls),
    )


def probed_shares(
    subjects: Sequence[Subject],
    config: LabelConfig,
    generator: Generator,
    spent: Work,
    on_step: OnStep,
) -> Shares:
    """Shares of profiles that gain, by length, along real searches of width one."""
    narrow = dataclasses.replace(config.search, roots=(), width=1)
    signs: dict[int, list[bool]] = defaultdict(list)
    probed = [subject for subject in subjects if subject.space.case.pool][:_PROBED]
    for i, subject in enumerate(probed):
        score = partial(_counted_scores, subject, generator, spent)
        nodes, _ = converse(bounded_tree(subject.space, narrow), score)
        spent.requests += 1
        for profile, value in nodes.items():
            signs[len(profile)].append(value > nodes[()])
        on_step(f"{subject.space.case.example.request.task.name}: probing", i + 1, len(probed))
    every = [sign for length, found in signs.items() if length for sign in found]
    overall = float(np.mean(every)) if every else 0.5
    shares = {length: float(np.mean(found)) for length, found in signs.items()}
    return lambda length: shares.get(length, overall)


def _counted_scores(
    subject: Subject, generator: Generator, spent: Work, wanted: list[Profile]
) -> Scores:
    sequences = [subject.sequences.sequence(profile) for profile in wanted]
    scores = generator.score(sequences).tolist()
    spent.calls += len(sequences)
    spent.tokens += distinct_tokens(sequences)
    return dict(zip(wanted, scores, strict=True))
