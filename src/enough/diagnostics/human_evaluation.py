"""What people say: win, tie and loss of blind pairs, and how far annotators agree.

In: the folder of `enough annotate export` and the files annotators saved. Out: a row for each task
and criterion (paper: Table app-human). Without judgements there are no rows, and the section says
how to come by them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from enough.annotation.agreement import POOLED, Verdict, verdicts
from enough.annotation.judgements import read_judgements
from enough.annotation.key import read_key
from enough.diagnostics.diagnostic import About, Diagnostic
from enough.diagnostics.laboratory import Laboratory
from enough.diagnostics.sections import BarChart, Format, Panel, Section, Table, Value, table
from enough.errors import ConfigError

PAPER = (
    ("LaMP-4", "task faithfulness", 0.560, 0.240, 0.200, 0.41),
    ("LaMP-4", "user style consistency", 0.613, 0.210, 0.177, 0.47),
    ("LaMP-4", "overall preference", 0.587, 0.230, 0.183, 0.44),
    ("LaMP-7", "task faithfulness", 0.537, 0.253, 0.210, 0.41),
    ("LaMP-7", "user style consistency", 0.603, 0.220, 0.177, 0.44),
    ("LaMP-7", "overall preference", 0.587, 0.240, 0.173, 0.42),
)
_NOTES = (
    "Annotators see the input, the legal history and both answers in random order; methods and "
    "references are hidden. Ties are valid outcomes.",
    "κ: Fleiss' agreement beyond chance, over pairs that all annotators judged.",
)
_HOW = (
    "Nobody has judged yet. `enough annotate export ROWS --method A --against B --out FOLDER` "
    "makes the page for annotators; name FOLDER and their files under [human-evaluation]."
)


@dataclass(frozen=True, slots=True)
class HumanConfig:
    """Where judgements are.

    Attributes:
        export: folder of `enough annotate export`, which holds the key.
        judgements: files that annotators saved.
    """

    export: Path | None = None
    judgements: tuple[Path, ...] = ()

    def __post_init__(self) -> None:
        if (self.export is None) != (not self.judgements):
            raise ConfigError("human-evaluation needs both export and judgements, or neither")


def measure(lab: Laboratory, config: HumanConfig) -> list[Verdict]:
    """Verdicts of every task and criterion."""
    if config.export is None:
        return []
    key = read_key(config.export)
    return verdicts(read_judgements(config.judgements, key), key)


def section(rows: Sequence[Verdict], config: HumanConfig, about: About) -> Section:
    """Shares and agreement."""
    shown = [row for row in rows if row.task == POOLED] or list(rows)
    return Section(
        name="human-evaluation",
        title="What people say",
        question="Do people prefer these answers?",
        answer=" ".join(map(_sentence, shown)) if rows else _HOW,
        panels=(_ours(rows),) if rows else (),
        paper=(
            Panel(
                "Table app-human: ENOUGH against PURPLE, three annotators, 200 samples a task.",
                table(_PAPER_COLUMNS, PAPER),
                (
                    _chart(
                        tuple(f"{task}, {criterion}" for task, criterion, *_ in PAPER),
                        tuple(shares for _, _, *shares, _ in PAPER),
                    ),
                ),
            ),
        ),
        notes=_NOTES,
    )


_PAPER_COLUMNS: tuple[tuple[str, Format], ...] = (
    ("Task", "text"),
    ("Criterion", "text"),
    ("Win", "share"),
    ("Tie", "share"),
    ("Loss", "share"),
    ("κ", "number"),
)
_COLUMNS: tuple[tuple[str, Format], ...] = (
    *_PAPER_COLUMNS,
    ("Pairs", "count"),
    ("Annotators", "count"),
    ("Identical, not shown", "count"),
)


def _ours(rows: Sequence[Verdict]) -> Panel:
    first = rows[0]
    return Panel(
        f"{first.method} against {first.against}, from the view of {first.method}.",
        Table(table(_COLUMNS, ()).columns, tuple(_line(row) for row in rows)),
        (
            _chart(
                tuple(f"{row.task}, {row.criterion}" for row in rows),
                tuple((row.win.mean, row.tie.mean, row.loss.mean) for row in rows),
            ),
        ),
    )


def _line(row: Verdict) -> tuple[Value, ...]:
    agreement = row.agreement
    return (
        row.task,
        row.criterion,
        row.win,
        row.tie,
        row.loss,
        agreement.kappa,
        row.pairs,
        agreement.raters,
        row.identical,
    )


def _chart(groups: tuple[str, ...], shares: Sequence[Sequence[float]]) -> BarChart:
    parts = tuple(tuple(one[i] for one in shares) for i in range(3))
    return BarChart(
        "Win, tie, loss", "judgements", groups, ("win", "tie", "loss"), parts, "share", True
    )


def _sentence(row: Verdict) -> str:
    verdict = "no side is preferred beyond chance"
    if row.win.low > row.loss.high:
        verdict = f"{row.method} is preferred"
    elif row.loss.low > row.win.high:
        verdict = f"{row.against} is preferred"
    return (
        f"{row.criterion.capitalize()}: {verdict} ({row.win.mean:.0%} win, {row.tie.mean:.0%} tie, "
        f"{row.loss.mean:.0%} loss on {row.pairs} pairs)."
    )


HUMAN_EVALUATION = Diagnostic(
    "human-evaluation", HumanConfig, Verdict, measure, section, is_stored=False
)
