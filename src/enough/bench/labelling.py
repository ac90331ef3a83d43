"""How fast labelling is, end to end, against doing it the plain way.

In: cases and a generator. Out: `LabelBench`. The product's way is `ChunkLabeller` as `enough label`
runs it: search, packed scoring, journal, files. The plain way scores every profile of the same
trees with its K⁻ + 2 sequences (itself, leave-one-out, the controls of one slot) in length-sorted
padded batches, sharing nothing across profiles; it is timed on a random sample of the profiles.
"""

from __future__ import annotations

import platform
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from enough.data.splits import draw_examples
from enough.errors import DataError
from enough.generators.hf import HFGenerator
from enough.generators.naive import NaiveScorer
from enough.labels.chunk import ChunkJob, ChunkLabeller
from enough.labels.config import LabelConfig
from enough.labels.tree_files import read_part
from enough.prompts.prompter import Prompter
from enough.protocols import OnBatch, ScoredSequence
from enough.records import Dataset
from enough.teacher.case import Case
from enough.teacher.preparation import Stages, cases_of
from enough.teacher.scored_tree import ScoredTree
from enough.teacher.supervision import Subject, TeacherConfig


@dataclass(frozen=True, slots=True)
class LabelBench:
    """What one run measured. Rates are per second of wall time.

    Attributes:
        labelled_profiles: nodes of the trees, each with gain, specificity and cost.
        profiles: distinct profiles that were scored for them, counterfactual ones included.
        profiles_per_s: of these; search, packing, journal and files are in the time.
        generator_share: of the time that was spent inside the generator.
        naive_profiles: sequences the plain way was timed on.
        ratio: labelling time of the plain way over ours, for the same labels.
        scoring_ratio: profiles_per_s over naive_profiles_per_s; sharing alone, without the
            scorings that are spared.
    """

    device: str
    dtype: str
    requests: int
    seconds: float
    requests_per_s: float
    labelled_profiles: int
    labelled_profiles_per_s: float
    profiles: int
    profiles_per_s: float
    tokens_per_s: float
    generator_share: float
    naive_profiles: int
    naive_profiles_per_s: float
    naive_labelled_profiles_per_s: float
    ratio: float
    scoring_ratio: float


class _Timed:
    """A generator that knows how long it was at work."""

    def __init__(self, inner: HFGenerator) -> None:
        self.inner = inner
        self.tokenizer = inner.tokenizer
        self.fingerprint = inner.fingerprint
        self.window = inner.window
        self.batch_tokens = inner.batch_tokens
        self.generate = inner.generate
        self.rescore = inner.rescore
        self.seconds = 0.0

    def score(
        self, sequences: Sequence[ScoredSequence], on_batch: OnBatch | None = None
    ) -> NDArray[np.float64]:
        started = time.perf_counter()
        scores = self.inner.score(sequences, on_batch)
        self.seconds += time.perf_counter() - started
        return scores


def bench_cases(dataset: Dataset, config: LabelConfig, stages: Stages) -> list[Case]:
    """Random requests of a task whose pools are full, with their controls."""
    full: list[Case] = []
    examples = draw_examples(dataset, config.split, 0, 0)
    order = np.random.default_rng(config.seed).permutation(len(examples))
    for start in range(0, len(order), 4 * config.requests):
        some = [examples[i] for i in order[start : start + 4 * config.requests]]
        full += cases_of(dataset, some, stages, wanted=lambda one: len(one.pool) == stages.pool)
        if len(full) >= config.requests:
            return full[: config.requests]
    raise DataError(f"too few requests of {dataset.task.name} have {config.retrieval.pool} records")


def run_label_bench(
    generator: HFGenerator, cases: Sequence[Case], config: LabelConfig, naive_share: float
) -> LabelBench:
    """Label the cases, then time the plain way on a share of the profiles found."""
    timed = _Timed(generator)
    labeller = ChunkLabeller(timed, config.teacher)
    chunks = [tuple(cases[i : i + config.chunk]) for i in range(0, len(cases), config.chunk)]
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        small = TeacherConfig(search=type(config.search)(max_records=1, roots=()))
        ChunkLabeller(generator, small).label(_job(chunks[0][:1], folder, "warm-up"))
        started = time.perf_counter()
        for i, chunk in enumerate(chunks):
            labeller.label(_job(chunk, folder, f"{i}"))
        seconds = time.perf_counter() - started
        parts = [read_part(folder / f"{i}.safetensors") for i in range(len(chunks))]
    trees = [tree for part in parts for tree in part.trees]
    if all(len(tree.lengths) == 1 for tree in trees):
        raise DataError("no request fits the generator's window with a record: nothing to measure")
    labelled = sum(part.counts.profiles for part in parts)
    scored = sum(part.counts.calls for part in parts)
    per_profile = config.matching.controls + 2
    sample = _plain_sample(generator, cases, trees, config, naive_share)
    naive_rate = _naive_rate(generator, sample)
    rate = labelled / seconds
    cuda = generator.lm.device.type == "cuda"
    return LabelBench(
        device=torch.cuda.get_device_name() if cuda else f"{platform.machine()} CPU",
        dtype=str(generator.lm.dtype).removeprefix("torch."),
        requests=len(trees),
        seconds=seconds,
        requests_per_s=len(trees) / seconds,
        labelled_profiles=labelled,
        labelled_profiles_per_s=rate,
        profiles=scored,
        profiles_per_s=scored / seconds,
        tokens_per_s=sum(part.counts.tokens for part in parts) / seconds,
        generator_share=timed.seconds / seconds,
        naive_profiles=len(sample),
        naive_profiles_per_s=naive_rate,
        naive_labelled_profiles_per_s=naive_rate / per_profile,
        ratio=rate / (naive_rate / per_profile),
        scoring_ratio=scored / seconds / naive_rate,
    )


def _job(cases: tuple[Case, ...], folder: Path, name: str) -> ChunkJob:
    return ChunkJob(cases, folder / f"{name}.safetensors", folder / f"{name}.journal", "bench")


def _plain_sample(
    generator: HFGenerator,
    cases: Sequence[Case],
    trees: Sequence[ScoredTree],
    config: LabelConfig,
    share: float,
) -> list[ScoredSequence]:
    """Profiles drawn at random, each followed by its leave-one-out and controls of one slot."""
    rng = np.random.default_rng(config.seed)
    prompter = Prompter(generator.tokenizer)
    sample: list[ScoredSequence] = []
    named = {case.name: case for case in cases}
    for tree in trees:  # requests that do not fit the window have none
        case = named[tree.of.name]
        subject = Subject(case, prompter, generator.window, config.search.max_records)
        profiles = [profile for profile in tree.profiles if profile]
        count = min(len(profiles), max(1, round(share * len(profiles))))
        for i in rng.choice(len(profiles), count, replace=False):
            profile = profiles[i]
            slot = int(rng.integers(len(profile)))
            before, after = profile[:slot], profile[slot + 1 :]
            # Any records of like length do for time; those without controls stand for themselves.
            others = list(case.control_numbers[profile[slot]]) or [profile[slot]]
            filled = [(*before, n, *after) for n in _repeated(others, config.matching.controls)]
            sample += map(subject.sequences.sequence, (profile, before + after, *filled))
    return sample


def _repeated(numbers: list[int], count: int) -> list[int]:
    return [numbers[i % len(numbers)] for i in range(count)]


def _naive_rate(generator: HFGenerator, sample: Sequence[ScoredSequence]) -> float:
    scorer = NaiveScorer(generator.lm, generator.batch_tokens)
    scorer.score(sample[:8])  # warm-up
    started = time.perf_counter()
    scorer.score(sample)
    return len(sample) / (time.perf_counter() - started)
