"""The paper's own table of ablations, and what its text says of the figure."""

from __future__ import annotations

from enough.diagnostics.sections import Format, Panel, table

PAPER = (
    ("Full ENOUGH", 99.9, 512, 0.150, 0.070),
    ("Single net-value head", 99.4, 515, 0.171, 0.096),
    ("No ranking loss", 99.4, 516, 0.167, 0.090),
    ("No STOP loss", 99.0, 581, 0.187, 0.121),
    ("Permutation-invariant profile", 99.2, 513, 0.175, 0.112),
)
PAPER_FACTS = (
    ("Full ENOUGH", "99.9", "512", "15.0%", "–"),
    ("w/o long horizon (myopic targets)", "99.1", "more", "more", "–"),
    ("w/o adaptive STOP (forced length)", "lower", "more", "more", "–"),
    ("w/o user specificity (β = 0)", "lower", "slightly fewer", "–", "–"),
    ("w/o token cost (λ = 0)", "slightly higher", "+44.8%", "–", "much less often"),
    ("w/o harm gate", "–", "–", "19.8%", "–"),
)


def paper_panels() -> tuple[Panel, ...]:
    """Both of them."""
    columns: list[tuple[str, Format]] = [
        ("Variant", "text"),
        ("Quality", "quality"),
        ("Tokens", "count"),
        ("Harm", "share"),
        ("Regret", "number"),
    ]
    facts: list[tuple[str, Format]] = [
        (name, "text") for name in ("Variant", "Quality", "Tokens", "Harm", "Root STOP")
    ]
    return (
        Panel(
            "What the text says of Figure ablations: six LaMP tasks, Qwen3.5-9B.",
            table(facts, PAPER_FACTS),
        ),
        Panel("Table app-extra-ablation: three seeds.", table(columns, PAPER)),
    )
