"""Forced continuation as tables and stacked bars.

In: rows of stopped prefixes and their continuations. Out: shares of the four categories by order
and depth. The paper lacks an audit of who is eligible at which depth: here the main table is of
those prefixes alone that every order can continue to every depth, and the others are beside it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from enough.diagnostics.diagnostic import About
from enough.diagnostics.sections import BarChart, Chart, Format, Panel, Section, Value, table
from enough.diagnostics.stopping.continuation_outcomes import (
    BENEFICIAL,
    CATEGORIES,
    CONTROLLER,
    ENDED,
    HARMFUL,
    ORACLE,
    ORDERS,
    RETRIEVER,
    STOPPED,
    ContinuationRow,
    ForcedContinuationConfig,
    reached_everywhere,
)
from enough.diagnostics.stopping.continuation_summaries import (
    Cell,
    Cells,
    cells_of,
    differences,
    request_of,
    summarised,
)
from enough.diagnostics.summaries import share_in_words
from enough.diagnostics.told_apart import differs
from enough.evaluation.intervals import Interval

PAPER = (
    (CONTROLLER, 1, 177, 0.180, 0.362, 0.289, 0.169),
    (CONTROLLER, 2, 351, 0.142, 0.307, 0.291, 0.260),
    (CONTROLLER, 3, 521, 0.099, 0.271, 0.270, 0.359),
    (RETRIEVER, 1, 181, 0.140, 0.336, 0.290, 0.234),
    (RETRIEVER, 2, 359, 0.097, 0.295, 0.280, 0.329),
    (RETRIEVER, 3, 536, 0.072, 0.238, 0.250, 0.439),
    (ORACLE, 1, 170, 0.282, 0.336, 0.262, 0.119),
    (ORACLE, 2, 331, 0.218, 0.307, 0.293, 0.182),
    (ORACLE, 3, 490, 0.178, 0.291, 0.280, 0.251),
)
_SHARES: tuple[tuple[str, Format], ...] = tuple((name.capitalize(), "share") for name in CATEGORIES)
_COLUMNS: tuple[tuple[str, Format], ...] = (
    ("Order", "text"),
    ("Depth", "text"),
    ("Prefixes", "count"),
    ("Extra tokens", "count"),
    *_SHARES,
    ("Change of J", "signed"),
)
_PAPER_COLUMNS: tuple[tuple[str, Format], ...] = (
    ("Order", "text"),
    ("Depth", "text"),
    ("Extra tokens", "count"),
    *_SHARES,
)


def section(
    rows: Sequence[ContinuationRow], config: ForcedContinuationConfig, about: About
) -> Section:
    """Categories by order and depth, on common prefixes and on all."""
    common = reached_everywhere(rows, config.depth)
    cells = cells_of([row for row in rows if request_of(row) in common])
    found = {key: summarised(some) for key, some in cells.items()}
    ended = [row for row in rows if row.order == ENDED]
    stopped = sum(row.category == STOPPED for row in ended)
    begin = f"The policy stops by itself at {stopped} of {len(ended)} requests"
    answer = f"{begin}, none of which has {config.depth} further records: nothing can be said."
    if found:
        answer = f"{begin}; {len(common)} of them can be continued by {config.depth} records. "
        answer += _answer(found, cells, config.depth)
    return Section(
        name="forced-continuation",
        title="Forced continuation",
        question="Would it have been better not to stop?",
        answer=answer,
        panels=_panels(rows, cells, found, config.depth, about.max_records),
        paper=(
            Panel(
                "Table app-forced-continuation: six LaMP tasks, Qwen3.5-9B, three seeds; which "
                "prefixes are eligible at which depth is not told.",
                table(_PAPER_COLUMNS, [(line[0], f"+{line[1]}", *line[2:]) for line in PAPER]),
                tuple(_bars(order, _paper_shares(order)) for order in ORDERS),
            ),
        ),
        notes=(
            "Beneficial: J is higher than at the stop. Of the others, cost-not-worth: the answer "
            "scores better; harmful: it scores worse; redundant: it scores the same. "
            "Cost-not-worth means that J as a whole rejects the gain, not that tokens alone do.",
            "+d is d records after the same prefix, not the effect of the d-th. Stops at the empty "
            "profile are among the prefixes.",
            "Continuations may be longer than K_max allows, as far as pool and window reach; past "
            "K_max the controller is told that one record is left.",
            "The oracle appends the record after which J is highest, with the reference known"
            + (
                f", of the first {config.oracle_candidates} that the retriever has left."
                if config.oracle_candidates
                else "."
            )
            + " It is a diagnostic and cannot be deployed; record by record, it is no bound on "
            "what two or three records could do together.",
            "Intervals: 95%, users drawn with replacement.",
        ),
    )


def _panels(
    rows: Sequence[ContinuationRow],
    cells: Cells,
    found: Mapping[tuple[str, int], Cell],
    depth: int,
    horizon: int,
) -> tuple[Panel, ...]:
    everybody = cells_of(rows)
    panels = [
        Panel(
            "Prefixes that every order can continue to every depth.",
            table(_COLUMNS, [_line(key, one) for key, one in found.items()]),
            tuple(
                _bars(order, {d: one.shares for (name, d), one in found.items() if name == order})
                for order in ORDERS
                if found
            ),
        ),
        Panel(
            "The same prefixes compared with each other, request by request.",
            table(_PAIRED_COLUMNS, _paired(cells, depth) if cells else []),
        ),
        Panel(
            f"Who is eligible at which depth, and who leaves K_max = {horizon} there.",
            table(_ELIGIBLE_COLUMNS, _eligible(everybody, cells, depth, horizon)),
        ),
    ]
    if any(len(some) > len(cells.get(key, ())) for key, some in everybody.items()):
        panels.append(
            Panel(
                "All prefixes that are eligible at each depth: rows are of different prefixes.",
                table(_COLUMNS, [_line(key, summarised(some)) for key, some in everybody.items()]),
            )
        )
    return tuple(panels)


def _line(key: tuple[str, int], one: Cell) -> tuple[Value, ...]:
    return (key[0], f"+{key[1]}", one.prefixes, one.tokens, *one.shares, one.change)


_PAIRED_COLUMNS: tuple[tuple[str, Format], ...] = (
    ("Difference", "text"),
    ("Beneficial", "share"),
    ("Harmful", "share"),
    ("J", "signed"),
)
_ELIGIBLE_COLUMNS: tuple[tuple[str, Format], ...] = (
    ("Depth", "text"),
    *((order.capitalize(), "count") for order in ORDERS),
    ("Eligible at all depths", "count"),
    ("Of these past K_max", "count"),
)


def _paired(cells: Cells, depth: int) -> list[tuple[Value, ...]]:
    pairs = [
        (f"{order}: +{depth} less +1", (order, depth), (order, 1)) for order in ORDERS if depth > 1
    ]
    for one, other in ((CONTROLLER, RETRIEVER), (ORACLE, CONTROLLER)):
        pairs += [(f"+{d}: {one} less {other}", (one, d), (other, d)) for d in range(1, depth + 1)]
    return [(name, *differences(cells[a], cells[b])) for name, a, b in pairs]


def _eligible(everybody: Cells, common: Cells, depth: int, horizon: int) -> list[tuple[Value, ...]]:
    lines: list[tuple[Value, ...]] = []
    for d in range(1, depth + 1):
        shared = common.get((CONTROLLER, d), ())
        past = sum(row.stopped_records + d > horizon for row in shared)
        counts = (len(everybody.get((order, d), ())) for order in ORDERS)
        lines.append((f"+{d}", *counts, len(shared), past))
    return lines


def _bars(order: str, shares: Mapping[int, Sequence[float | Interval]]) -> Chart:
    depths = sorted(shares)
    values = tuple(
        tuple(_mean(shares[depth][i]) for depth in depths) for i in range(len(CATEGORIES))
    )
    return BarChart(
        f"Going on in the order of the {order}",
        "stopped prefixes",
        tuple(f"+{depth}" for depth in depths),
        CATEGORIES,
        values,
        y_format="share",
        is_stacked=True,
    )


def _mean(value: float | Interval) -> float:
    return value.mean if isinstance(value, Interval) else value


def _paper_shares(order: str) -> dict[int, tuple[float, ...]]:
    return {line[1]: line[3:] for line in PAPER if line[0] == order}


def _answer(found: Mapping[tuple[str, int], Cell], cells: Cells, depth: int) -> str:
    next_, best = found[CONTROLLER, 1], found[ORACLE, 1]
    said = (
        f"The controller's own next record would raise J at "
        f"{share_in_words(next_.share(BENEFICIAL))} of these and worsen the answer, J not rising, "
        f"at {share_in_words(next_.share(HARMFUL))}; a next record chosen "
        f"with the reference known would raise J at {share_in_words(best.share(BENEFICIAL))}. "
    )
    if depth == 1:
        return said.strip()
    harm = differences(cells[CONTROLLER, depth], cells[CONTROLLER, 1])[1]
    if not differs(harm, next_.users):
        return said + (
            f"Whether {depth} records do more harm than one cannot be told from "
            f"{next_.prefixes} prefixes."
        )
    after = share_in_words(found[CONTROLLER, depth].share(HARMFUL))
    more = "more" if harm.mean > 0 else "less"
    return said + f"After {depth} records the harmful share is {after}: {more} than after one."
