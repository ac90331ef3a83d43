"""What a labelling run will cost, before it is spent.

In: a run, not yet begun. Out: `Estimate`. Some requests are searched in dry: their real pools,
controls and prompts, but made-up scores, whose sign is drawn with the share of gains that a few
real, narrow searches found at each length. That share decides how many controls have to be scored.
Calls and tokens are then counted by the machinery that would spend them.
"""

from __future__ import annotations

import dataclasses
import json
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from enough.errors import BudgetError
from enough.generators.token_trie import distinct_tokens
from enough.labels.config import LabelConfig
from enough.labels.run import LabelRun
from enough.labels.scoring_rate import ScoringRate
from enough.progress import OnStep
from enough.prompts.profile_sequences import Profile
from enough.prompts.prompter import Prompter
from enough.protocols import Generator, ScoredSequence
from enough.records import Dataset, Example
from enough.teacher.preparation import Stages, cases_of
from enough.teacher.scored_tree import ScoredTree
from enough.teacher.search import Scores, bounded_tree, converse
from enough.teacher.supervision import Subject, supervise_one

_SAMPLED, _PROBED = 48, 3  # requests per task
_TARGET_BYTES = 38  # per state, see `target_files`


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


@dataclass(slots=True)
class _Spent:
    """Sums over requests that were searched in dry, or probed."""

    requests: float = 0
    profiles: float = 0
    calls: float = 0
    tokens: float = 0
    bytes: float = 0

    def add(self, other: _Spent, times: float = 1) -> None:
        for field in dataclasses.fields(self):
            grown = getattr(self, field.name) + times * getattr(other, field.name)
            setattr(self, field.name, grown)


def estimate(
    run: LabelRun, stages: Stages, generator: Generator, workers: int, on_step: OnStep
) -> Estimate:
    """Sample every task of the run, and scale up."""
    total, probes, sampled = _Spent(), _Spent(), 0
    timed = ScoringRate(generator)
    datasets = {chunk.dataset.task.name: chunk.dataset for chunk in run.chunks}
    for dataset in datasets.values():
        examples = [e for c in run.chunks if c.dataset is dataset for e in c.examples]
        subjects, drawn = _draw(dataset, examples, run.config, stages, generator)
        shares = _probe(subjects, run.config, generator, probes, on_step)
        spent = _Spent()
        for i, subject in enumerate(subjects):
            spent.add(_search_in_dry(subject, run.config, shares, timed.offer))
            on_step(f"{dataset.task.name}: searching in dry", i + 1, len(subjects))
        total.add(spent, len(examples) / drawn)
        sampled += drawn
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


def _draw(
    dataset: Dataset,
    examples: Sequence[Example],
    config: LabelConfig,
    stages: Stages,
    generator: Generator,
) -> tuple[list[Subject], int]:
    """Some requests of a task, ready to be searched, and of how many they are what fits."""
    rng = np.random.default_rng(config.search.seed)
    places = sorted(rng.permutation(len(examples))[:_SAMPLED].tolist())
    chosen = [examples[i] for i in places]
    prompter = Prompter(generator.tokenizer)
    subjects = []
    for case in cases_of(dataset, chosen, stages):
        try:
            subjects.append(Subject(case, prompter, generator.window, config.search.max_records))
        except BudgetError:
            continue  # would be left out
    rng.shuffle(subjects)
    return subjects, len(chosen)


def _probe(
    subjects: Sequence[Subject],
    config: LabelConfig,
    generator: Generator,
    spent: _Spent,
    on_step: OnStep,
) -> Callable[[int], float]:
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
    subject: Subject, generator: Generator, spent: _Spent, wanted: list[Profile]
) -> Scores:
    sequences = [subject.sequences.sequence(profile) for profile in wanted]
    scores = generator.score(sequences).tolist()
    spent.calls += len(sequences)
    spent.tokens += distinct_tokens(sequences)
    return dict(zip(wanted, scores, strict=True))


def _search_in_dry(
    subject: Subject,
    config: LabelConfig,
    share_of_gains: Callable[[int], float],
    on_sequences: Callable[[list[ScoredSequence]], None],
) -> _Spent:
    """Run the whole conversation with made-up scores, and count."""
    rng = subject.space.random(config.search.seed, 9)
    spent = _Spent(requests=1)

    def made_up(wanted: list[Profile]) -> Scores:
        sequences = [subject.sequences.sequence(profile) for profile in wanted]
        on_sequences(sequences)
        spent.calls += len({(s.tokens.tobytes(), s.reference_length) for s in sequences})
        spent.tokens += distinct_tokens(sequences)
        return {p: _made_up(share_of_gains(len(p)), rng) if p else 0.0 for p in wanted}

    tree = converse(supervise_one(subject, config.teacher), made_up).tree
    spent.profiles = len(tree.lengths)
    spent.bytes = _bytes(tree) + _TARGET_BYTES * len(tree.lengths)
    return spent


def _made_up(share: float, rng: np.random.Generator) -> float:
    size = float(rng.random()) + 1e-3
    return size if rng.random() < share else -size


def _bytes(tree: ScoredTree) -> int:
    slots = tree.slots
    columns = (tree.lengths, tree.places, tree.log_likelihood, tree.is_initial, slots.node)
    more = (slots.slot, slots.without, slots.controls, slots.counts_for)
    header = json.dumps(dataclasses.asdict(tree.of), separators=(",", ":"))
    return sum(column.nbytes for column in (*columns, *more)) + len(header)
