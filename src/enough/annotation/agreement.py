"""Verdicts of several annotators, and how far they agree.

In: annotators' files and the key. Out: per task and criterion, and pooled over tasks, the shares of
win, tie and loss from the first method's view, with user-clustered intervals, and Fleiss' κ

    κ = (P̄ − P̄ₑ) / (1 − P̄ₑ),  P̄ = mean_i Σ_j n_ij (n_ij − 1) / (n (n − 1)),  P̄ₑ = Σ_j p_j²

over items i and categories j, n raters each. Its categories are win, tie and loss: sides are drawn
for each pair, so agreeing on "left" alone would say nothing about the methods.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from enough.annotation.criteria import CRITERIA, Criterion
from enough.annotation.judgements import AnnotatorFile, Judgement
from enough.annotation.key import Key
from enough.evaluation.intervals import Interval, clustered

POOLED = "all"
Outcome = Literal["win", "tie", "loss"]
OUTCOMES: tuple[Outcome, ...] = get_args(Outcome)


@dataclass(frozen=True, slots=True)
class Agreement:
    """Fleiss' κ and what it stands on.

    Attributes:
        kappa: None where it is not defined: one rater, no item, or one category used by all.
        raters: per item, n.
        items: judged by all raters.
        left_out: judged by another number of raters.
    """

    kappa: float | None
    raters: int
    items: int
    left_out: int


@dataclass(frozen=True, slots=True)
class Verdict:
    """What annotators said about one criterion on one task.

    Attributes:
        task: or `POOLED`.
        criterion: its title.
        method, against: who is compared; win, tie and loss are from the view of `method`.
        win, tie, loss: shares of the judgements; they add up to 1. Users are drawn for intervals.
        pairs: judged by anybody.
        judgements: by all annotators.
        identical: requests that both answered alike, which are on no page and in no share.
        agreement: of the annotators on pairs that all of them judged.
    """

    task: str
    criterion: str
    method: str
    against: str
    win: Interval
    tie: Interval
    loss: Interval
    pairs: int
    judgements: int
    identical: int
    agreement: Agreement


def fleiss_kappa(counts: ArrayLike, raters: int | None = None) -> Agreement:
    """Agreement beyond chance.

    Args:
        counts: how many raters put an item into a category, [items, categories].
        raters: n; without it the most that any item has. Other items are left out.
    """
    table = np.asarray(counts, np.float64)
    per_item = table.sum(axis=1) if table.size else np.zeros(len(table))  # [items]
    n = raters if raters is not None else int(per_item.max(initial=0))
    kept = table[per_item == n]
    items, left_out = len(kept), len(table) - len(kept)
    if items == 0 or n < 2:
        return Agreement(None, n, items, left_out)
    observed = float((kept * (kept - 1)).sum(axis=1).mean()) / (n * (n - 1))
    used = kept.sum(axis=0)  # [categories]
    if (used > 0).sum() == 1:  # everybody said the same of everything: chance explains it all
        return Agreement(None, n, items, left_out)
    expected = float(((used / used.sum()) ** 2).sum())
    return Agreement((observed - expected) / (1 - expected), n, items, left_out)


def verdicts(files: Sequence[AnnotatorFile], key: Key) -> list[Verdict]:
    """One line per task and criterion, tasks in the key's order, the pooled ones last.

    With a single task there are no pooled lines. What nobody judged has no line.
    """
    pooled = [POOLED] if len(key.counts) > 1 else []
    found = []
    for task in [*key.counts, *pooled]:
        pairs = {p for p, line in key.lines.items() if task in (POOLED, line.task)}
        for criterion in CRITERIA:
            judged = [
                one
                for file in files
                for one in file.judgements
                if one.criterion == criterion.name and one.pair in pairs
            ]
            if judged:
                found.append(_verdict(task, criterion, judged, key, raters=len(files)))
    return found


def outcome_of(judgement: Judgement, key: Key) -> Outcome:
    """From the view of the key's first method."""
    if judgement.choice == "tie":
        return "tie"
    line = key.lines[judgement.pair]
    preferred = line.left if judgement.choice == "left" else line.right
    return "win" if preferred == key.config.method else "loss"


def _verdict(
    task: str, criterion: Criterion, judged: Sequence[Judgement], key: Key, raters: int
) -> Verdict:
    outcomes = [outcome_of(one, key) for one in judged]
    users = [f"{key.lines[one.pair].task}/{key.lines[one.pair].user}" for one in judged]
    shares: dict[Outcome, Interval] = {
        which: clustered([float(outcome == which) for outcome in outcomes], users)
        for which in OUTCOMES
    }
    counts: Mapping[str, list[int]] = defaultdict(lambda: [0] * len(OUTCOMES))
    for one, outcome in zip(judged, outcomes, strict=True):
        counts[one.pair][OUTCOMES.index(outcome)] += 1
    identical = [c.identical for name, c in key.counts.items() if task in (POOLED, name)]
    return Verdict(
        task=task,
        criterion=criterion.title,
        method=key.config.method,
        against=key.config.against,
        win=shares["win"],
        tie=shares["tie"],
        loss=shares["loss"],
        pairs=len(counts),
        judgements=len(judged),
        identical=sum(identical),
        agreement=fleiss_kappa(list(counts.values()), raters),
    )
