"""Does more history help? The first k records of the retriever, for several k, beside ENOUGH.

In: reported requests. Out: a row for each of them and every length (paper: Table app-fixed-k and
Figure always-beneficial a). Harm is measured against the answer to the empty profile.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from enough.diagnostics.diagnostic import About, Diagnostic
from enough.diagnostics.first_records import first_records
from enough.diagnostics.laboratory import Laboratory
from enough.diagnostics.sections import (
    Format,
    Line,
    LineChart,
    Panel,
    Point,
    Section,
    Value,
    table,
)
from enough.diagnostics.summaries import Summary, summarise
from enough.diagnostics.tried import OURS, Tried
from enough.errors import ConfigError
from enough.evaluation.intervals import Interval
from enough.prompts.profile_sequences import Profile
from enough.teacher.supervision import Subject

PAPER = (
    ("k = 0", 96.15, 0, 0.0),
    ("k = 1", 97.56, 200, 0.132),
    ("k = 3", 98.45, 560, 0.186),
    ("k = 5", 98.71, 918, 0.232),
    ("k = 10", 97.93, 1755, 0.317),
)


@dataclass(frozen=True, slots=True)
class FixedLengthConfig:
    """Lengths to try."""

    lengths: tuple[int, ...] = (0, 1, 3, 5, 10)

    def __post_init__(self) -> None:
        if not self.lengths or min(self.lengths) < 0 or len(set(self.lengths)) < len(self.lengths):
            raise ConfigError("fixed-length.lengths must name numbers of records, each once")


@dataclass(frozen=True, slots=True)
class FixedLengthRow:
    """One request under one length; None is what ENOUGH chose."""

    length: int | None
    tried: Tried


def measure(lab: Laboratory, config: FixedLengthConfig) -> list[FixedLengthRow]:
    """Rows of every length, and of ENOUGH."""
    subjects = lab.subjects()
    wanted: list[tuple[int | None, Subject, Profile]] = [
        (length, subject, first_records(subject, length))
        for length in config.lengths
        for subject in subjects
    ]
    ours = lab.chosen(lab.policy(), subjects)
    wanted += [(None, subject, profile) for subject, profile in zip(subjects, ours, strict=True)]
    tried = lab.try_profiles([(subject, profile) for _, subject, profile in wanted], "fixed length")
    return [FixedLengthRow(length, one) for (length, _, _), one in zip(wanted, tried, strict=True)]


def section(rows: Sequence[FixedLengthRow], config: FixedLengthConfig, about: About) -> Section:
    """Quality, tokens and harm by length."""
    by_length: dict[int | None, list[Tried]] = {}
    for row in rows:
        by_length.setdefault(row.length, []).append(row.tried)
    ours = by_length[None]
    found = {k: summarise(of, ours, about.tasks) for k, of in by_length.items()}
    fixed = {k: found[k] for k in sorted(k for k in found if k is not None)}
    best = max(fixed, key=lambda k: _net(fixed[k]))
    return Section(
        name="fixed-length",
        title="Fixed lengths",
        question="Does more history help?",
        answer=_answer(fixed, found[None], best),
        panels=(
            Panel(
                "The first k records of the retriever for every request, and what ENOUGH chooses.",
                table(
                    _COLUMNS,
                    [
                        *(_line(f"k = {k}", one) for k, one in fixed.items()),
                        _line(OURS, found[None]),
                    ],
                ),
                _charts(fixed, found[None]),
            ),
        ),
        paper=(
            Panel(
                "Table app-fixed-k: Contriever, Qwen3.5-9B, six LaMP tasks, three seeds.",
                table(_PAPER_COLUMNS, PAPER),
                (
                    LineChart(
                        "Quality by length",
                        "records",
                        "quality index",
                        (Line("fixed k", tuple(Point(_k(n), q) for n, q, _, _ in PAPER)),),
                        y_format="quality",
                    ),
                    LineChart(
                        "Harm by length",
                        "records",
                        "requests harmed",
                        (Line("fixed k", tuple(Point(_k(n), h) for n, _, _, h in PAPER)),),
                        y_format="share",
                    ),
                ),
            ),
        ),
        notes=(
            "Quality: official metrics of every task, oriented and divided by ENOUGH's, times 100.",
            "Harm: the share of requests whose answer scores below that without a profile.",
            "Intervals: 95%, users drawn with replacement.",
        ),
    )


_COLUMNS: tuple[tuple[str, Format], ...] = (
    ("Length", "text"),
    ("Quality", "quality"),
    ("Tokens", "count"),
    ("Records", "number"),
    ("Harm", "share"),
    ("Log-likelihood gain", "signed"),
    ("J", "signed"),
)
_PAPER_COLUMNS: tuple[tuple[str, Format], ...] = (
    ("Length", "text"),
    ("Quality", "quality"),
    ("Tokens", "count"),
    ("Harm", "share"),
)


def _k(name: str) -> float:
    return float(name.split("=")[1])


def _line(name: str, one: Summary) -> tuple[Value, ...]:
    gain = one.log_likelihood_gain
    return (name, one.quality, one.tokens, one.records, one.harm, gain, one.net)


def _answer(fixed: Mapping[int, Summary], ours: Summary, best: int) -> str:
    longest = max(fixed)
    return (
        f"Of the fixed lengths k = {best} has the highest J ({_j(fixed[best])}); k = {longest} has "
        f"{_j(fixed[longest])} and leaves {fixed[longest].harm.mean:.0%} of requests worse off "
        f"than without a profile. {OURS} has {_j(ours)} with {ours.tokens.mean:,.0f} tokens a "
        f"request, {ours.harm.mean:.0%} worse off."
    )


def _net(one: Summary) -> float:
    return -math.inf if one.net is None else one.net.mean


def _j(one: Summary) -> str:
    return "–" if one.net is None else f"{one.net.mean:+.2f}"


def _charts(fixed: Mapping[int, Summary], ours: Summary) -> tuple[LineChart, ...]:
    def chart(
        title: str, y: str, of: Callable[[Summary], Interval | None], form: Format
    ) -> LineChart:
        lines = [Line("fixed k", _points(fixed, of))]
        if (own := of(ours)) is not None:
            point = Point(ours.records, own.mean, own.low, own.high, "ENOUGH, at its mean length")
            lines.append(Line(OURS, (point,)))
        return LineChart(title, "records", y, tuple(lines), y_format=form)

    return (
        chart("J by length", "J", lambda one: one.net, "number"),
        chart("Quality by length", "quality index", lambda one: one.quality, "quality"),
        chart("Harm by length", "requests harmed", lambda one: one.harm, "share"),
    )


def _points(
    fixed: Mapping[int, Summary], of: Callable[[Summary], Interval | None]
) -> tuple[Point, ...]:
    found = ((k, of(one)) for k, one in fixed.items())
    return tuple(Point(k, one.mean, one.low, one.high) for k, one in found if one is not None)


FIXED_LENGTH = Diagnostic("fixed-length", FixedLengthConfig, FixedLengthRow, measure, section)
