"""Tables of the efficiency diagnostic from its rows: online, parts, families, decisions, labels.

In: rows. Out: lines of tables. Medians and 95th percentiles have intervals from drawing users.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean

from enough.diagnostics.cost.efficiency_rows import DECISION, PARTS, EfficiencyRow
from enough.diagnostics.cost.quantiles import clustered_quantile
from enough.diagnostics.diagnostic import About
from enough.diagnostics.sections import BarChart, Format, Table, Value, table
from enough.evaluation.intervals import Interval, clustered

_MEGABYTE = 1e6
_ONLINE: tuple[tuple[str, Format], ...] = (
    ("Method", "text"),
    ("Requests", "count"),
    ("Profile tokens", "count"),
    ("Calls", "number"),
    ("Tokens read", "count"),
    ("p50 ms", "milliseconds"),
    ("p95 ms", "milliseconds"),
)
_PARTS: tuple[tuple[str, Format], ...] = (
    ("Method", "text"),
    ("Retrieval", "milliseconds"),
    ("Controller or selector", "milliseconds"),
    ("Generator", "milliseconds"),
    ("Other", "milliseconds"),
)
_FAMILIES: tuple[tuple[str, Format], ...] = (
    ("Method", "text"),
    ("Family", "text"),
    ("Tasks", "count"),
    ("Lowest p50", "milliseconds"),
    ("Highest p50", "milliseconds"),
)
_DECISION: tuple[tuple[str, Format], ...] = (
    ("Step", "text"),
    ("p50 ms", "milliseconds"),
    ("p95 ms", "milliseconds"),
)


def request_values(
    rows: Sequence[EfficiencyRow], method: str, measures: Sequence[str]
) -> tuple[list[float], list[str]]:
    """For every request the sum of these measures, and its user."""
    found: dict[tuple[str, str], float] = {}
    users: dict[tuple[str, str], str] = {}
    for row in rows:
        if row.method == method and row.measure in measures and row.value is not None:
            key = (row.task, row.request_id)
            found[key] = found.get(key, 0.0) + row.value
            users[key] = row.user
    return list(found.values()), [users[key] for key in found]


def online_table(rows: Sequence[EfficiencyRow], methods: Sequence[str]) -> Table:
    """Tokens, calls and end-to-end time of every method."""
    return table(_ONLINE, [_online_line(rows, method) for method in methods])


def parts_table(rows: Sequence[EfficiencyRow], methods: Sequence[str]) -> Table:
    """Medians of the parts of a request's time."""
    return table(_PARTS, [_parts_line(rows, method) for method in methods])


def _online_line(rows: Sequence[EfficiencyRow], method: str) -> tuple[Value, ...]:
    totals, users = request_values(rows, method, PARTS)
    return (
        method,
        len(totals),
        clustered(*request_values(rows, method, ("profile tokens",))),
        fmean(request_values(rows, method, ("calls",))[0]),
        clustered(*request_values(rows, method, ("tokens read",))),
        clustered_quantile(totals, users, 0.5),
        clustered_quantile(totals, users, 0.95),
    )


def _parts_line(rows: Sequence[EfficiencyRow], method: str) -> tuple[Value, ...]:
    medians = (clustered_quantile(*request_values(rows, method, (part,)), 0.5) for part in PARTS)
    return (method, *medians)


def parts_chart(rows: Sequence[EfficiencyRow], methods: tuple[str, ...]) -> BarChart:
    """The same, stacked."""
    values = tuple(
        tuple(clustered_quantile(*request_values(rows, m, (part,)), 0.5).mean for m in methods)
        for part in PARTS
    )
    return BarChart(
        "Median time of a request, by part",
        "milliseconds",
        methods,
        tuple(column for column, _ in _PARTS[1:]),
        values,
        y_format="milliseconds",
        is_stacked=True,
    )


def family_table(rows: Sequence[EfficiencyRow], methods: Sequence[str], about: About) -> Table:
    """The range of the tasks' medians, by whether answers come from a closed set."""
    lines: list[tuple[Value, ...]] = []
    for method in methods:
        families: dict[str, list[Interval]] = {}
        for task in dict.fromkeys(row.task for row in rows if row.method == method):
            family = "closed answers" if about.tasks[task].labels else "text"
            of_task = [row for row in rows if row.task == task]
            median = clustered_quantile(*request_values(of_task, method, PARTS), 0.5)
            families.setdefault(family, []).append(median)
        for family, medians in families.items():
            ends = (pick(medians, key=lambda one: one.mean) for pick in (min, max))
            lines.append((method, family, len(medians), *ends))
    return table(_FAMILIES, lines)


def decision_table(rows: Sequence[EfficiencyRow]) -> Table:
    """The decision by itself, and what stands before it."""
    of = [row for row in rows if row.kind == DECISION]
    lines: list[tuple[Value, ...]] = []
    for step in dict.fromkeys(row.measure for row in of):
        values, users = request_values(of, "", (step,))
        quantiles = (clustered_quantile(values, users, share) for share in (0.5, 0.95))
        lines.append((step, *quantiles))
    return table(_DECISION, lines)


def offline_table(found: Mapping[str, float | None]) -> Table:
    """One row; what was not measured has no column."""
    hours = "GPU hours" if "GPU hours" in found else "core hours"
    wanted: tuple[tuple[str, str, Format, float], ...] = (
        ("labelled requests", "Requests", "count", 1),
        ("teacher calls", "Teacher calls", "count", 1),
        ("cache hit", "Cache hit", "share", 1),
        ("tokens computed", "Tokens", "count", 1),
        ("tokens per second", "Tokens/s", "count", 1),
        (hours, hours.capitalize() if hours.startswith("core") else hours, "number", 1),
        ("label bytes", "Labels, MB", "number", _MEGABYTE),
        ("score cache bytes", "Scores, MB", "number", _MEGABYTE),
        ("targets for another λ, seconds", "Targets per λ, s", "number", 1),
        ("controller for another λ, seconds", "Controller per λ, s", "number", 1),
        ("generator calls for another λ", "Calls per λ", "count", 1),
    )
    shown = [one for one in wanted if found.get(one[0]) is not None]
    columns = tuple((title, form) for _, title, form, _ in shown)
    return table(columns, [[(found[name] or 0.0) / unit for name, _, _, unit in shown]])
