"""The values of the main table: methods, columns, cells, lines. See `main_table`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from enough.baselines.registry import Group
from enough.evaluation.intervals import Interval
from enough.evaluation.significance import Comparison
from enough.tasks import METRIC_IS_HIGHER_BETTER

COMPONENTS = ("total", "retrieval", "selection", "generation", "other")
BOOTSTRAP_MARK, T_MARK = "*", "†"


@dataclass(frozen=True, slots=True)
class Shown:
    """A method as the table names it; `paper_calls` are those the paper counts."""

    name: str
    title: str
    group: Group
    paper_calls: float | None = None


@dataclass(frozen=True, slots=True)
class Setup:
    """What all methods of the table had in common, in words.

    Attributes:
        decoding: how answers came about: decoded freely, or by scoring the label set.
    """

    generator: str
    encoder: str
    reranker: str
    decoding: str


@dataclass(frozen=True, slots=True)
class Column:
    """One metric of one task."""

    task: str
    metric: str

    @property
    def higher_is_better(self) -> bool:
        """The direction of the metric."""
        return METRIC_IS_HIGHER_BETTER[self.metric]


@dataclass(frozen=True, slots=True)
class Cell:
    """The mean over runs, their standard deviation where there are several, and marks.

    A mark on the champion: it is better than every other method of the main group. On another
    method: the champion differs from it. "*" by the Holm-corrected bootstrap over users, "†" by the
    paired t-test over runs, both at 5%.
    """

    value: float
    sd: float | None
    marks: str = ""


@dataclass(frozen=True, slots=True)
class Latency:
    """Milliseconds that half, and 95%, of the requests stay below."""

    p50: float
    p95: float


@dataclass(frozen=True, slots=True)
class Faults:
    """How many answers were unparseable or outside the labels, out of how many of such tasks."""

    number: int
    answers: int


@dataclass(frozen=True, slots=True)
class Line:
    """One method. Means are over requests of all tasks and runs; the quality index over tasks.

    Attributes:
        cells: the metrics; a task that the method was not run on has none.
        quality: relative to the champion, who has 100; None if there is no champion.
        harm: share of requests worse off than without a profile; None if no method is the empty
            one, or it lacks a task.
        calls, rerank_calls: measured, of the generator and of the reranker.
        log_likelihood_gain, net: None unless all requests of the method have them, since those
            that do would be a selection.
    """

    shown: Shown
    requests: int
    cells: Mapping[Column, Cell]
    quality: float | None
    harm: float | None
    tokens: float
    records: float
    root_stop: float
    calls: float
    rerank_calls: float
    latency: Mapping[str, Latency]
    log_likelihood_gain: float | None
    net: Interval | None
    unparseable: Faults
    outside_labels: Faults


@dataclass(frozen=True, slots=True)
class MainTable:
    """Everything the table says.

    Attributes:
        requests: task -> how many.
        runs: the largest number of runs of any method.
        comparisons: of the champion, per column; positive differences favour it.
    """

    columns: tuple[Column, ...]
    lines: tuple[Line, ...]
    comparisons: Mapping[Column, tuple[Comparison, ...]]
    champion: str | None
    setup: Setup
    requests: Mapping[str, int]
    runs: int
