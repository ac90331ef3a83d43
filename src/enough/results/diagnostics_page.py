"""Diagnostics as a page of Markdown: questions, answers, tables and notes, without their charts.

In: sections. Out: text. A section has numbers and the words around them, no text of any user, so
the page may be shown where rows may not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from enough.diagnostics.sections import Panel, Section, Table, Value
from enough.results.wording import joined, markdown_table, plain_text


def diagnostics_page(
    sections: Sequence[Section],
    *,
    about: str,
    machine: str = "",
    note: str = "",
    command: str = "",
) -> str:
    """Everything.

    Args:
        sections: in the order of the page.
        about: what was studied, in a sentence or two.
        machine: what it ran on, in words.
        note: what else a reader must know about what was run.
        command: what makes this page again.
    """
    ran = f" Machine: {plain_text(machine)}." if machine else ""
    parts = ["# Results of the diagnostics", f"{plain_text(about)}{ran}", plain_text(note)]
    for section in sections:
        parts += [f"## {plain_text(section.title)}", f"*{plain_text(section.question)}*"]
        parts.append(plain_text(section.answer))
        parts += [_shown(panel) for panel in section.panels]
        parts += [_shown(panel, "The paper. ") for panel in section.paper]
        parts.append("\n".join(f"- {plain_text(note)}" for note in section.notes))
    parts.append(f"---\n\nThis page is made by `{command}`." if command else "")
    return f"{joined(parts)}\n"


def _shown(panel: Panel, before: str = "") -> str:
    return f"{before}{plain_text(panel.caption)}\n\n{markdown_table(_safe(panel.table))}"


def _safe(table: Table) -> Table:
    """With text that Markdown takes for nothing else."""
    columns = tuple(replace(one, title=plain_text(one.title)) for one in table.columns)
    return Table(columns, tuple(tuple(map(_safe_value, row)) for row in table.rows))


def _safe_value(value: Value) -> Value:
    return plain_text(value) if isinstance(value, str) else value
