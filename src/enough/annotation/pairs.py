"""Pairs of answers to be judged blindly.

In: rows of an evaluation, its data sets, its leakage controls. Out: `Pair`s without the name of a
method and without a reference, and, kept apart, which side is whose. Requests are drawn with a
seed, the sides of each pair by a fair coin, and the order of all pairs is shuffled.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from enough.annotation.both_answers import BothAnswers, both_answers
from enough.annotation.histories import visible_histories
from enough.config import require_at_least
from enough.data.leakage import LeakageControls
from enough.errors import ConfigError, DataError, UnknownNameError
from enough.evaluation.rows import Row
from enough.progress import OnStep, silent
from enough.records import Dataset, History
from enough.tasks import Task


@dataclass(frozen=True, slots=True)
class PairConfig:
    """What is compared, and how much of it.

    Attributes:
        method, against: names in the rows; verdicts are from the view of the first.
        tasks: none: all of the rows.
        pairs: at most so many per task.
        history: records shown of each user, newest first.
        seed: for drawing requests, sides and order.
        run: the seed of the rows; a method that draws nothing has one run, which is taken.
    """

    method: str = "enough"
    against: str = "purple"
    tasks: tuple[str, ...] = ()
    pairs: int = 200
    history: int = 20
    seed: int = 0
    run: int = 0

    def __post_init__(self) -> None:
        require_at_least(self, {"pairs": 1, "history": 0, "seed": 0, "run": 0})
        if self.method == self.against:
            raise ConfigError(f"method and against must be two methods, not both {self.method!r}")


@dataclass(frozen=True, slots=True)
class Pair:
    """Two answers to one request. Whose they are, and the reference, is not in it.

    Attributes:
        id: of the pair; says nothing about the request.
        request_id, user: for the key; the page does not show them.
        history: the records that are shown, newest first.
        history_length: how many there are.
    """

    id: str
    task: Task
    request_id: str
    user: str
    input: str
    history: History
    history_length: int
    left: str
    right: str


@dataclass(frozen=True, slots=True)
class Counted:
    """Requests of a task: in all, answered alike by both methods, and drawn for the page."""

    requests: int
    identical: int
    drawn: int


@dataclass(frozen=True, slots=True)
class DrawnPairs:
    """What a page shows, and what it must not show.

    Attributes:
        pairs: in the order of the page.
        method_is_left: by pair id, whether `config.method` wrote the left answer.
        counts: by task.
        config: the settings.
    """

    pairs: tuple[Pair, ...]
    method_is_left: Mapping[str, bool]
    counts: Mapping[str, Counted]
    config: PairConfig


def draw_pairs(
    rows: Sequence[Row],
    datasets: Sequence[Dataset],
    controls: LeakageControls,
    config: PairConfig,
    on_step: OnStep = silent,
) -> DrawnPairs:
    """Pairs of all tasks, mixed.

    Raises:
        UnknownNameError: for a method or task that is not in the rows.
        DataError: if the two methods answered different requests, the data are not those of the
            rows, or no two answers differ.
    """
    by_name = {dataset.task.name: dataset for dataset in datasets}
    unnumbered: list[tuple[Pair, bool]] = []
    counts = {}
    for task in _tasks(rows, config):
        if task not in by_name:
            raise DataError(f"{task}: there is no data set of it; name its folder, or other tasks")
        rng = np.random.default_rng([config.seed, zlib.crc32(task.encode())])
        found = both_answers(rows, by_name[task], config.method, config.against, config.run)
        different = [one for one in found if not one.reads_alike]
        drawn = _drawn(different, config.pairs, rng)
        counts[task] = Counted(len(found), len(found) - len(different), len(drawn))
        unnumbered += _sided(
            by_name[task], drawn, controls, config=config, rng=rng, on_step=on_step
        )
    if not unnumbered:
        raise DataError(f"{config.method} and {config.against} answered everything alike")
    order = np.random.default_rng(config.seed).permutation(len(unnumbered))
    pairs, method_is_left = [], {}
    for number, place in enumerate(order.tolist(), start=1):
        pair, is_left = unnumbered[place]
        pairs.append(replace(pair, id=f"pair-{number}"))
        method_is_left[pairs[-1].id] = is_left
    return DrawnPairs(tuple(pairs), method_is_left, counts, config)


def _tasks(rows: Sequence[Row], config: PairConfig) -> list[str]:
    methods = dict.fromkeys(row.method for row in rows)
    for name in (config.method, config.against):
        if name not in methods:
            raise UnknownNameError("method in the rows", name, methods)
    known = dict.fromkeys(row.task for row in rows)
    for name in config.tasks:
        if name not in known:
            raise UnknownNameError("task in the rows", name, known)
    return list(dict.fromkeys(config.tasks) or known)


def _drawn(found: Sequence[BothAnswers], count: int, rng: np.random.Generator) -> list[BothAnswers]:
    chosen = rng.permutation(len(found))[:count]
    return [found[place] for place in sorted(chosen.tolist())]


def _sided(
    dataset: Dataset,
    drawn: Sequence[BothAnswers],
    controls: LeakageControls,
    *,
    config: PairConfig,
    rng: np.random.Generator,
    on_step: OnStep,
) -> list[tuple[Pair, bool]]:
    """Pairs without a number, each with whether `config.method` is on the left."""
    task = dataset.task
    histories = visible_histories(
        dataset,
        [one.example for one in drawn],
        controls,
        lambda step, done, total: on_step(f"{task.name}: {step}", done, total),
    )
    found = []
    for one, history in zip(drawn, histories, strict=True):
        is_left = bool(rng.integers(2))
        left, right = (one.ours, one.theirs) if is_left else (one.theirs, one.ours)
        request, shown = one.example.request, history[: config.history]
        pair = Pair(
            "", task, request.id, request.user, request.input, shown, len(history), left, right
        )
        found.append((pair, is_left))
    return found
