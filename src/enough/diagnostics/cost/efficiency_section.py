"""What the efficiency diagnostic has to show.

In: rows. Out: the section. A difference between methods is told only where it is one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from enough.diagnostics.cost.efficiency_paper import PAPER_PANELS
from enough.diagnostics.cost.efficiency_rows import (
    DECISION,
    MACHINE,
    OFFLINE,
    ONLINE,
    PARTS,
    EfficiencyConfig,
    EfficiencyRow,
)
from enough.diagnostics.cost.efficiency_tables import (
    decision_table,
    family_table,
    offline_table,
    online_table,
    parts_chart,
    parts_table,
    request_values,
)
from enough.diagnostics.cost.quantiles import clustered_quantile
from enough.diagnostics.diagnostic import About
from enough.diagnostics.sections import Panel, Section, table
from enough.diagnostics.told_apart import FEWEST_USERS
from enough.diagnostics.tried import OURS
from enough.evaluation.intervals import clustered


def section(rows: Sequence[EfficiencyRow], config: EfficiencyConfig, about: About) -> Section:
    """Latency, its parts, task families, decisions, labels, and the machine."""
    online = [row for row in rows if row.kind == ONLINE]
    methods = tuple(dict.fromkeys(row.method for row in online))
    offline = {row.measure: row.value for row in rows if row.kind == OFFLINE}
    named = [(row.measure, row.text) for row in rows if row.kind == MACHINE]
    return Section(
        name="efficiency",
        title="Cost",
        question="What does it cost?",
        answer=_answer(rows, methods, offline),
        panels=(
            Panel(
                "Online, one request at a time, on the same requests for every method.",
                online_table(online, methods),
            ),
            Panel(
                "Where the median goes. Medians of parts need not add up to that of their sum.",
                parts_table(online, methods),
                (parts_chart(online, methods),),
            ),
            Panel(
                "Medians of the tasks of both families: closed answer sets, and written text.",
                family_table(online, methods, about),
            ),
            Panel(
                "The decision by itself, on one thread: with all features known, making the "
                "features from known vectors, and encoding a query that nobody has seen.",
                decision_table(rows),
            ),
            Panel(
                "Offline: what the labels took, and what another λ takes.",
                offline_table(offline),
            ),
            Panel(
                "The machine of all these times.",
                table((("What", "text"), ("Which", "text")), named),
            ),
        ),
        paper=PAPER_PANELS,
        notes=_NOTES,
    )


_NOTES = (
    "Nothing that was remembered is used online: every prompt is answered anew, by itself, after a "
    "first call that does not count. Vectors of records and queries are known, as in the paper's "
    "warmed caches; encoding a new query comes on top and is given by itself.",
    "Calls: prompts answered, sequences scored and suffixes read, reranking included. Other: "
    "writing the prompt.",
    "Cache hit: wanted likelihoods that were known already, over all wanted ones. Profiles that "
    "gain nothing need no counterfactuals; those that were never wanted are not counted as hits.",
    "Labels keep no clock. Hours are tokens to compute over the rate at which this machine scores "
    "a sample of the teacher's own sequences, times its threads on a CPU.",
    "Another λ needs no generator: likelihoods are stored, targets are backed up from them, and "
    "only the controller is trained again.",
    "Intervals: 95%, users drawn with replacement.",
)


def _answer(
    rows: Sequence[EfficiencyRow], methods: Sequence[str], offline: Mapping[str, float | None]
) -> str:
    online = [row for row in rows if row.kind == ONLINE]
    totals = {method: request_values(online, method, PARTS) for method in methods}
    medians = {method: clustered_quantile(*of, 0.5).mean for method, of in totals.items()}
    listed = ", ".join(f"{method} takes {ms:,.0f} ms" for method, ms in medians.items())
    told = [f"At the median {listed} a request."]
    if OURS in totals:
        ours, users = totals[OURS]
        told += [
            _compared(method, [a - b for a, b in zip(ours, of[0], strict=True)], users)
            for method, of in totals.items()
            if method != OURS
        ]
    decided, users = request_values([r for r in rows if r.kind == DECISION], "", ("decide",))
    if decided:
        median = clustered_quantile(decided, users, 0.5).mean
        told.append(f"The decision by itself takes {median:.2f} ms.")
    if (calls := offline.get("teacher calls")) is not None:
        seconds = offline.get("targets for another λ, seconds") or 0.0
        told.append(
            f"Labels took {calls:,.0f} teacher calls; targets for another λ take {seconds:.1f} s "
            "and no call."
        )
    return " ".join(told)


def _compared(method: str, differences: Sequence[float], users: Sequence[str]) -> str:
    """Request by request; both methods have the same requests in the same order."""
    found = clustered(differences, users)
    if found.low <= 0 <= found.high or len(set(users)) < FEWEST_USERS:
        return f"{OURS} and {method} cannot be told apart on {len(differences)} requests."
    word = "less" if found.mean < 0 else "more"
    return f"{OURS} takes {abs(found.mean):,.0f} ms {word} than {method} on average."
