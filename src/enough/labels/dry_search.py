"""How much a labelling run has to score, counted without scoring.

In: a run and how many profiles of each length gain. Out: `Work`. Some requests are searched in dry:
their real pools, controls and prompts, but made-up scores, whose sign is drawn with those shares;
they decide how many controls have to be scored. Calls and tokens are counted by the machinery that
would spend them.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from enough.errors import BudgetError
from enough.generators.prompt_side import PromptSide
from enough.generators.token_trie import distinct_tokens
from enough.labels.config import LabelConfig
from enough.labels.run import LabelRun
from enough.progress import OnStep
from enough.prompts.profile_sequences import Profile
from enough.prompts.prompter import Prompter
from enough.protocols import ScoredSequence
from enough.records import Dataset, Example
from enough.teacher.preparation import Stages, cases_of
from enough.teacher.scored_tree import ScoredTree
from enough.teacher.search import Scores, converse
from enough.teacher.supervision import Subject, supervise_one

SAMPLED = 48  # requests per task
_TARGET_BYTES = 38  # per state, see `target_files`
Shares = Callable[[int], float]
"""From a profile's length to the share of profiles of that length that gain."""
OnSequences = Callable[[list[ScoredSequence]], None]


@dataclass(slots=True)
class Work:
    """Sums over requests that were searched in dry, or probed, or scaled up to a whole run.

    Attributes:
        requests: how many.
        profiles: that are labelled.
        calls: distinct profiles to score, counterfactual ones included.
        tokens: the generator has to compute for them.
        bytes: on disk, with the targets of one (β, λ).
    """

    requests: float = 0
    profiles: float = 0
    calls: float = 0
    tokens: float = 0
    bytes: float = 0

    def add(self, other: Work, times: float = 1) -> None:
        """Count another one, so many times."""
        for field in dataclasses.fields(self):
            grown = getattr(self, field.name) + times * getattr(other, field.name)
            setattr(self, field.name, grown)

    def scaled(self, times: float) -> Work:
        """So many times as much."""
        found = Work()
        found.add(self, times)
        return found


def count_work(
    run: LabelRun,
    stages: Stages,
    side: PromptSide,
    shares_of: Callable[[Sequence[Subject]], Shares],
    on_step: OnStep,
    *,
    sampled: int = SAMPLED,
    on_sequences: OnSequences = lambda _: None,
) -> tuple[Work, int]:
    """The work of a whole run, those already labelled included, and of how many it was counted.

    Args:
        run: whose requests.
        stages: leakage controls, retriever, matching.
        side: the generator's tokenizer and window.
        shares_of: from requests of a task to shares of gains.
        on_step: told how far it is.
        sampled: requests of each task.
        on_sequences: shown all that would be scored.
    """
    total, drawn_in_all = Work(), 0
    datasets = {chunk.dataset.task.name: chunk.dataset for chunk in run.chunks}
    for dataset in datasets.values():
        examples = [e for c in run.chunks if c.dataset is dataset for e in c.examples]
        subjects, drawn = _draw(dataset, examples, run.config, stages, side, sampled)
        shares = shares_of(subjects)
        spent = Work()
        for i, subject in enumerate(subjects):
            spent.add(_search_in_dry(subject, run.config, shares, on_sequences))
            on_step(f"{dataset.task.name}: searching in dry", i + 1, len(subjects))
        total.add(spent, len(examples) / drawn)
        drawn_in_all += drawn
    return total, drawn_in_all


def _draw(  # noqa: PLR0917 (used once, above)
    dataset: Dataset,
    examples: Sequence[Example],
    config: LabelConfig,
    stages: Stages,
    side: PromptSide,
    sampled: int,
) -> tuple[list[Subject], int]:
    """Some requests of a task, ready to be searched, and of how many they are what fits."""
    rng = np.random.default_rng(config.search.seed)
    places = sorted(rng.permutation(len(examples))[:sampled].tolist())
    chosen = [examples[i] for i in places]
    prompter = Prompter(side.tokenizer)
    subjects = []
    for case in cases_of(dataset, chosen, stages):
        try:
            subjects.append(Subject(case, prompter, side.window, config.search.max_records))
        except BudgetError:
            continue  # would be left out
    rng.shuffle(subjects)
    return subjects, len(chosen)


def _search_in_dry(
    subject: Subject,
    config: LabelConfig,
    share_of_gains: Shares,
    on_sequences: OnSequences,
) -> Work:
    """Run the whole conversation with made-up scores, and count."""
    rng = subject.space.random(config.search.seed, 9)
    spent = Work(requests=1)

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
