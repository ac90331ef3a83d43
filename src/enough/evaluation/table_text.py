"""The main table as Markdown and for a terminal.

In: a `MainTable`. Out: for each group of methods three tables, of metrics, worth and effort, with
the best value of every column in bold; oracles stand in tables of their own, where nothing is best.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from rich import box
from rich.console import Group as Renderables
from rich.markup import escape
from rich.table import Table

from enough.baselines.registry import Group
from enough.evaluation.table_columns import MARKDOWN, NOTHING, RICH, Printed, tables
from enough.evaluation.table_values import Line, MainTable

HEADINGS: dict[Group, str] = {
    "main": "Methods",
    "diagnostic": "Diagnostics",
    "oracle": "Oracles (they know the reference: bounds, not methods)",
}


def markdown(table: MainTable) -> str:
    """The whole table as Markdown, with the list of comparisons."""
    parts = [_about(table)]
    for group, lines in _groups(table):
        parts.append(f"## {HEADINGS[group]}")
        parts += [_as_markdown(columns, lines, group) for columns in tables(table)]
    parts.append(MARKDOWN.plain(_notes(table)))
    if table.champion is not None:
        parts += [f"## {_title(table, table.champion)} against each", _comparisons(table)]
    return "\n\n".join(parts) + "\n"


def for_terminal(table: MainTable) -> Renderables:
    """The same to print with rich, without the list; metrics of a task stand below each other."""
    parts: list[Table | str] = [escape(_about(table))]
    for group, lines in _groups(table):
        first, *others = (_as_rich(columns, lines, group) for columns in tables(table))
        first.title = HEADINGS[group]
        parts += [first, *others]
    return Renderables(*parts, escape(_notes(table)))


def _groups(table: MainTable) -> Iterator[tuple[Group, list[Line]]]:
    for group in HEADINGS:
        if lines := [line for line in table.lines if line.shown.group == group]:
            yield group, lines


def _as_markdown(columns: Sequence[Printed], lines: Sequence[Line], group: Group) -> str:
    best = _best(columns, lines, group)
    written = [
        ["method", *(f"{column.over} {column.heading}".strip() for column in columns)],
        ["---", *("---:" for _ in columns)],
    ]
    for line in lines:
        texts = (c.text(line, b, MARKDOWN) for c, b in zip(columns, best, strict=True))
        written.append([MARKDOWN.plain(line.shown.title), *texts])
    return _markdown_rows(written)


def _as_rich(columns: Sequence[Printed], lines: Sequence[Line], group: Group) -> Table:
    shown = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    shown.add_column("method")
    paired = zip(columns, _best(columns, lines, group), strict=True)
    stacks = [list(of) for _, of in groupby(paired, key=lambda one: one[0].over or one[0].heading)]
    for stack in stacks:
        headings = dict.fromkeys((stack[0][0].over, *(column.heading for column, _ in stack)))
        text = "\n".join(escape(one) for one in headings if one)
        shown.add_column(text, justify="right", overflow="fold")
    for line in lines:
        texts = ("\n".join(c.text(line, b, RICH) for c, b in stack) for stack in stacks)
        shown.add_row(escape(line.shown.title), *texts)
    return shown


def _best(columns: Sequence[Printed], lines: Sequence[Line], group: Group) -> list[str | None]:
    return [None if group == "oracle" else column.best(lines) for column in columns]


def _markdown_rows(rows: Iterable[Sequence[str]]) -> str:
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def _comparisons(table: MainTable) -> str:
    """Every comparison, one row each."""
    rows = [["", "against", "difference", "95% over users", "p", "p (Holm)", "p (t, runs)"]]
    rows.append(["---", "---", *("---:" for _ in range(5))])
    for column, compared in table.comparisons.items():
        rows += [
            [
                f"{column.task} {column.metric}",
                MARKDOWN.plain(_title(table, one.other)),
                f"{one.difference.mean:+.2f}",
                f"{one.difference.low:+.2f} to {one.difference.high:+.2f}",
                f"{one.p:.4f}",
                f"{one.holm:.4f}",
                NOTHING if one.t is None else f"{one.t:.4f}",
            ]
            for one in compared
        ]
    return _markdown_rows(rows)


def _title(table: MainTable, name: str) -> str:
    return next(line.shown.title for line in table.lines if line.shown.name == name)


def _about(table: MainTable) -> str:
    setup = table.setup
    counts = ", ".join(f"{task} {count}" for task, count in table.requests.items())
    return (
        f"Generator: {setup.generator} · encoder: {setup.encoder} · reranker: {setup.reranker} · "
        f"answers: {setup.decoding} · requests: {counts} · runs: {table.runs}"
    )


def _notes(table: MainTable) -> str:
    notes = [
        "Metrics are times 100, means over runs ± their standard deviation; "
        "of mae and rmse, less is better.",
        "Harm: requests that score worse than with the empty profile. Calls: of generator and "
        "reranker, measured. Milliseconds: p50/p95. LL gain and J: only where every request has "
        "one prompt. Faults: answers that are no number or no label, over all runs.",
    ]
    if table.champion is not None:
        title = _title(table, table.champion)
        notes.append(
            f"Quality: mean over tasks of the metrics relative to {title} = 100. Marks at {title}: "
            f"better than every other one of the methods; at others: {title} differs from it. "
            "*: bootstrap over users, Holm-corrected; †: paired t-test over runs, uncorrected; "
            "both at 5%."
        )
    return "\n".join(notes)
