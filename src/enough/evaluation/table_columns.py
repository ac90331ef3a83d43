"""The columns of the main table: what a line says in each, in print, and which way is better.

In: a `MainTable`. Out: three lists of columns, of metrics, worth and effort, that a `Style` turns
into Markdown or terminal markup.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from rich.markup import escape

from enough.evaluation.table_values import COMPONENTS, Column, Faults, Line, MainTable

NOTHING = "–"


@dataclass(frozen=True, slots=True)
class Style:
    """How text is set in bold, and how it is kept from being taken for markup."""

    bold: Callable[[str], str]
    plain: Callable[[str], str]


MARKDOWN = Style("**{}**".format, lambda text: re.sub(r"([*|\[\]])", r"\\\1", text))
RICH = Style("[bold]{}[/bold]".format, escape)


@dataclass(frozen=True, slots=True)
class Printed:
    """A column as it is written.

    Attributes:
        heading: its own; `over` is what it shares with its neighbours, such as the task.
        value: what is compared; `form` how it is printed.
        better: +1 or −1, the direction that is better; 0 if neither is.
        after: what follows the value: deviations, marks, intervals.
    """

    heading: str
    value: Callable[[Line], float | None]
    form: str = ".1f"
    better: int = 0
    after: Callable[[Line], str] = lambda _: ""
    over: str = ""

    def printed(self, line: Line) -> str | None:
        """The value alone."""
        value = self.value(line)
        return None if value is None else format(value, self.form)

    def text(self, line: Line, best: str | None, style: Style) -> str:
        """The whole cell; equal to the best as printed is best, too."""
        printed = self.printed(line)
        if printed is None:
            return NOTHING
        return (style.bold(printed) if printed == best else printed) + style.plain(self.after(line))

    def best(self, lines: Iterable[Line]) -> str | None:
        """The best value as it is printed; None without a direction, or if all print the same."""
        known = {v: self.printed(line) for line in lines if (v := self.value(line)) is not None}
        if not self.better or len(set(known.values())) < 2:
            return None
        return known[max(known, key=lambda value: self.better * value)]


def tables(table: MainTable) -> list[list[Printed]]:
    """Columns of metrics, of what profiles are worth, and of what the answers took."""
    worth = [
        Printed("quality", lambda line: line.quality, ".2f", +1),
        Printed("harm", lambda line: line.harm, ".1%", -1),
        Printed("tokens", lambda line: line.tokens, ".0f", -1),
        Printed("records", lambda line: line.records),
        Printed("root STOP", lambda line: line.root_stop, ".1%"),
        Printed("LL gain", lambda line: line.log_likelihood_gain, "+.3f", +1),
        Printed("J", _net, "+.3f", +1, _net_interval),
    ]
    took = [
        Printed("calls", lambda line: line.calls + line.rerank_calls, ".1f", -1),
        Printed("of reranker", lambda line: line.rerank_calls),
        Printed("paper's calls", lambda line: line.shown.paper_calls, "g"),
        *map(_latency, COMPONENTS),
    ]
    metrics = [
        *map(_metric, table.columns),
        _faults("unparseable", lambda line: line.unparseable),
        _faults("outside labels", lambda line: line.outside_labels),
    ]
    return [metrics, worth, took]


def _metric(column: Column) -> Printed:
    def value(line: Line) -> float | None:
        return line.cells[column].value if column in line.cells else None

    def after(line: Line) -> str:
        cell = line.cells[column]
        return ("" if cell.sd is None else f"±{cell.sd:.1f}") + cell.marks

    better = 1 if column.higher_is_better else -1
    return Printed(column.metric, value, ".1f", better, after, column.task)


def _latency(name: str) -> Printed:
    return Printed(
        f"{name} ms",
        lambda line: line.latency[name].p50,
        ".0f",
        -1 if name == "total" else 0,
        lambda line: f"/{line.latency[name].p95:.0f}",
    )


def _net(line: Line) -> float | None:
    return None if line.net is None else line.net.mean


def _net_interval(line: Line) -> str:
    return "" if line.net is None else f" [{line.net.low:+.3f}, {line.net.high:+.3f}]"


def _faults(heading: str, of: Callable[[Line], Faults]) -> Printed:
    """How many of how many answers; nothing where no answer could be at fault."""
    return Printed(
        heading,
        lambda line: of(line).number if of(line).answers else None,
        "d",
        after=lambda line: f"/{of(line).answers}",
        over="faults",
    )
