"""Diagnostics as Markdown: words, tables, the paper's own, notes; nothing read as markup."""

from __future__ import annotations

from enough.diagnostics.sections import Panel, Section, table
from enough.evaluation.intervals import Interval
from enough.results.diagnostics_page import diagnostics_page

SECTION = Section(
    name="lengths",
    title="Fixed lengths",
    question="Is more better?",
    answer="Up to k = 3 | not beyond.",
    panels=(
        Panel(
            "Ours.",
            table(
                [("select_or", "text"), ("J", "signed"), ("harm", "share")],
                [["fixed *k*", Interval(0.125, 0.1, 0.15), 0.25], ["empty", 0.0, None]],
            ),
        ),
    ),
    paper=(Panel("Table 7.", table([("k", "count")], [[5]])),),
    notes=("Careful.",),
)


def test_a_page_as_it_is_written() -> None:
    page = diagnostics_page(
        [SECTION],
        about="Six tasks.",
        machine="one [H200]",
        note="Made up.",
        command="enough x",
    )
    assert page == (
        "# Results of the diagnostics\n\n"
        "Six tasks. Machine: one \\[H200\\].\n\n"
        "Made up.\n\n"
        "## Fixed lengths\n\n"
        "*Is more better?*\n\n"
        "Up to k = 3 \\| not beyond.\n\n"
        "Ours.\n\n"
        "| select\\_or | J | harm |\n"
        "| --- | ---: | ---: |\n"
        "| fixed \\*k\\* | +0.125 [+0.100, +0.150] | 25.0% |\n"
        "| empty | 0.000 | – |\n\n"
        "The paper. Table 7.\n\n"
        "| k |\n| ---: |\n| 5 |\n\n"
        "- Careful.\n\n"
        "---\n\nThis page is made by `enough x`.\n"
    )
