"""What rows of the exact-oracle diagnostic say: pooled, by task, and over ε."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from enough.diagnostics.diagnostic import About
from enough.diagnostics.oracle.exact_oracle_measures import (
    Rows,
    by_selector,
    mean,
    share_of_decisions,
)
from enough.diagnostics.oracle.exact_oracle_paper import paper_panels
from enough.diagnostics.oracle.exact_oracle_rows import (
    TEACHER,
    ExactOracleConfig,
    ExactOracleRow,
    fixed_name,
)
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
from enough.diagnostics.told_apart import FEWEST_USERS, differs
from enough.diagnostics.tried import OURS
from enough.evaluation.intervals import Interval, difference
from enough.teacher.oracle_config import profile_count

_COLUMNS: tuple[tuple[str, Format], ...] = (
    ("Selector", "text"),
    ("Regret", "number"),
    ("Utility regret", "number"),
    ("ε-sufficient", "share"),
    ("Excess tokens", "count"),
    ("Stop agreement", "share"),
    ("Always continue", "share"),
    ("Records", "number"),
)


def section(rows: Rows, config: ExactOracleConfig, about: About) -> Section:
    """Regret, sufficiency, excess tokens and stop agreement."""
    groups = by_selector(rows)
    horizon = min(config.max_records, about.max_records)
    count = profile_count(config.pool, horizon)
    return Section(
        name="exact-oracle",
        title="Exact oracle",
        question="How far is ENOUGH from the best profile there is?",
        answer=_answer(groups, horizon),
        panels=(
            Panel(
                f"All requests together: pools of {config.pool}, at most {horizon} records, up to "
                f"{count:,} ordered profiles of every request; ε = {config.epsilon:g}.",
                table(_COLUMNS, [_line(name, some) for name, some in groups.items()]),
            ),
            Panel(
                "Regret by task: J lost against the exact oracle.",
                table(
                    [("Selector", "text"), *((task, "number") for task in _tasks(rows))],
                    [_by_task(name, some, _tasks(rows)) for name, some in groups.items()],
                ),
            ),
            _curve(groups, config),
        ),
        paper=paper_panels(),
        notes=(
            "Regret: J of the best profile less J of the one chosen. Utility regret: the same of "
            "U, which has no price of tokens in it.",
            "ε-sufficient: the profile lacks at most ε of the highest utility. Excess tokens: "
            "those above the cheapest sufficient profile's, never below 0.",
            "Stop agreement: the share of decisions, to stop or to go on, that the exact values "
            "call for. Always continue: what never stopping would score at the same states; an "
            "agreement is only worth what it is above that, or above its complement.",
            "The exact oracle, the bounded teachers and myopic know the reference; the others do "
            f"not. {OURS} with other targets is trained on the same labels. {OURS} meets pools "
            "and horizons here that are smaller than those it was trained on.",
            "Intervals: 95%, users drawn with replacement.",
        ),
    )


def _sufficient(rows: Rows, epsilon: float) -> Interval:
    return mean(rows, lambda row: row.found.utility_regret <= epsilon)


def _line(name: str, rows: Rows) -> tuple[Value, ...]:
    return (
        name,
        mean(rows, lambda row: row.found.regret),
        mean(rows, lambda row: row.found.utility_regret),
        mean(rows, lambda row: row.found.is_sufficient),
        mean(rows, lambda row: row.found.excess_tokens),
        share_of_decisions(rows, lambda row: row.found.agreements),
        share_of_decisions(rows, lambda row: row.found.continues),
        float(np.mean([len(row.found.profile) for row in rows])),
    )


def _tasks(rows: Rows) -> list[str]:
    return list(dict.fromkeys(row.found.task for row in rows))


def _by_task(name: str, rows: Rows, tasks: Sequence[str]) -> tuple[Value, ...]:
    of_tasks = ([row for row in rows if row.found.task == task] for task in tasks)
    return (name, *(mean(some, lambda row: row.found.regret) for some in of_tasks))


def _curve(groups: dict[str, list[ExactOracleRow]], config: ExactOracleConfig) -> Panel:
    epsilons = sorted({*config.epsilons, config.epsilon})
    shares = {
        name: [_sufficient(some, epsilon) for epsilon in epsilons] for name, some in groups.items()
    }
    drawn = [name for name in shares if name.startswith((OURS, TEACHER))]
    drawn.append([name for name in shares if name.startswith("fixed")][-1])
    lines = tuple(
        Line(
            name,
            tuple(
                Point(e, one.mean, one.low, one.high)
                for e, one in zip(epsilons, shares[name], strict=True)
            ),
        )
        for name in drawn
    )
    return Panel(
        "How many requests have a profile that lacks at most ε of the highest utility.",
        table(
            [("Selector", "text"), *((f"ε = {e:g}", "share") for e in epsilons)],
            [(name, *found) for name, found in shares.items()],
        ),
        (
            LineChart(
                "ε-sufficiency",
                "ε",
                "requests",
                lines,
                y_format="share",
                marked=config.epsilon,
            ),
        ),
    )


def _answer(groups: dict[str, list[ExactOracleRow]], horizon: int) -> str:
    ours = groups[OURS]
    fixed = {k: groups[fixed_name(k)] for k in range(horizon + 1) if fixed_name(k) in groups}
    best = min(fixed, key=lambda k: float(np.mean([row.found.regret for row in fixed[k]])))
    regret = mean(ours, lambda row: row.found.regret)
    enough = mean(ours, lambda row: row.found.is_sufficient)
    teacher = mean(groups[TEACHER], lambda row: row.found.regret)
    text = (
        f"On {len(ours)} requests {OURS} loses {_shown(regret)} of J to the best profile there is "
        f"and is ε-sufficient on {enough.mean:.0%}; a bounded teacher, which knows the reference, "
        f"loses {teacher.mean:.2f}. {_against(ours, fixed[best], best)}"
    )
    agree = share_of_decisions(ours, lambda row: row.found.agreements)
    never = share_of_decisions(ours, lambda row: row.found.continues)
    if agree is None or never is None:
        return text
    return (
        f"{text} It stops or goes on as the exact values say at {agree.mean:.0%} of its decisions; "
        f"never stopping would be right at {never.mean:.0%} of them."
    )


def _against(ours: Rows, fixed: Rows, length: int) -> str:
    """ENOUGH beside the fixed length that does best on these very requests."""
    users = [row.cluster for row in ours]
    regret = [np.array([row.found.regret for row in rows]) for rows in (ours, fixed)]
    more = difference(regret[0], regret[1], users).interval
    name = f"fixed k = {length}, the best length on these requests"
    if len(set(users)) < FEWEST_USERS:
        return f"{len(set(users))} users are too few to compare it with {name}."
    if not differs(more, len(set(users))):
        return f"It cannot be told apart from {name}: it loses {_shown(more)} more."
    verb = "more" if more.mean > 0 else "less"
    return f"It loses {abs(more.mean):.2f} {verb} than {name} ({_shown(more)})."


def _shown(one: Interval) -> str:
    return f"{one.mean:.2f} [{one.low:.2f}, {one.high:.2f}]"
