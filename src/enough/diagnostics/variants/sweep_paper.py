"""What the paper says of its sweeps; the pictures of its figures have no numbers in the text."""

from __future__ import annotations

from enough.diagnostics.sections import Format, Line, LineChart, Panel, Point, table

PAPER_OBJECTIVE = (
    ("β", "0.4", 99.9, "specificity 0.90, the highest of all β being 0.98"),
    ("λ", "0", 100.2, "741 tokens"),
    ("λ", "0.1", 99.9, "512 tokens"),
)
PAPER_STRUCTURE = (
    ("M", "20", 99.4, 0.069, "the best of both; larger pools are slightly worse"),
    ("K_max", "10", 99.4, 0.069, "much better than 2"),
    ("K_max", "15", 99.4, 0.068, ""),
    ("K⁻", "3", 99.4, 0.069, "4 and 5: quality within 0.1, regret within 0.001"),
    ("(J, W)", "(8, 4)", 99.4, 0.069, ""),
    ("(J, W)", "(16, 8)", 99.6, 0.066, ""),
)
PAPER_LOSSES = (
    ("η", 0.0, 99.4),
    ("η", 0.2, 99.9),
    ("η", 0.5, 99.8),
    ("η", 1.0, 99.6),
    ("ζ", 0.0, 99.0),
    ("ζ", 0.4, 99.9),
    ("ζ", 0.6, 99.8),
    ("ζ", 1.0, 99.4),
)


def paper_panels() -> tuple[Panel, ...]:
    """One for each of the three figures."""
    setting: list[tuple[str, Format]] = [("Setting", "text"), ("Value", "text")]
    losses = [
        Line(
            sign,
            tuple(Point(value, quality) for name, value, quality in PAPER_LOSSES if name == sign),
        )
        for sign in ("η", "ζ")
    ]
    return (
        Panel(
            "Figure beta-lambda-sensitivity, as far as the text gives its values.",
            table([*setting, ("Quality", "quality"), ("Beside", "text")], PAPER_OBJECTIVE),
        ),
        Panel(
            "Figure app-structural-hyperparameters, as far as the text gives its values.",
            table(
                [*setting, ("Quality", "quality"), ("Stop regret", "number"), ("Note", "text")],
                PAPER_STRUCTURE,
            ),
        ),
        Panel(
            "Figure app-loss-weight-sensitivity, as far as the text gives its values.",
            table([("Setting", "text"), ("Value", "number"), ("Quality", "quality")], PAPER_LOSSES),
            (
                LineChart(
                    "Quality by weight of a loss",
                    "weight",
                    "quality index",
                    tuple(losses),
                    y_format="quality",
                ),
            ),
        ),
    )
