"""The paper's own tables of the exact-oracle diagnostic."""

from __future__ import annotations

from enough.diagnostics.sections import Format, Panel, table

PAPER = (
    ("Exact oracle", 0.000, 1.000, 0, 1.000),
    ("Bounded-tree teacher", 0.028, 0.916, 41, 0.923),
    ("ENOUGH", 0.069, 0.818, 89, 0.837),
    ("Myopic", 0.129, 0.685, 169, 0.719),
    ("Fixed k = 4", 0.152, 0.641, 248, 0.652),
)
PAPER_BY_TASK = (
    ("LaMP-1", 0.025, 0.064, 0.122, 0.147),
    ("LaMP-2", 0.030, 0.073, 0.130, 0.154),
    ("LaMP-3", 0.042, 0.082, 0.141, 0.162),
    ("LaMP-4", 0.024, 0.066, 0.126, 0.148),
    ("LaMP-5", 0.037, 0.080, 0.137, 0.161),
    ("LaMP-7", 0.023, 0.065, 0.121, 0.144),
)
_PAPER_COLUMNS: tuple[tuple[str, Format], ...] = (
    ("Selector", "text"),
    ("Regret", "number"),
    ("ε-sufficient", "share"),
    ("Excess tokens", "count"),
    ("Stop agreement", "share"),
)


def paper_panels() -> tuple[Panel, ...]:
    """Both of them."""
    by_task: list[tuple[str, Format]] = [
        ("Task", "text"),
        ("Teacher", "number"),
        ("ENOUGH", "number"),
        ("Myopic", "number"),
        ("Fixed k = 4", "number"),
    ]
    return (
        Panel(
            "Table oracle: 50 requests of each of six LaMP tasks, M' = 6, K' = 4, Qwen3.5-9B.",
            table(_PAPER_COLUMNS, PAPER),
        ),
        Panel(
            "Table app-oracle-task: utility regret to the exact oracle by task.",
            table(by_task, PAPER_BY_TASK),
        ),
    )
