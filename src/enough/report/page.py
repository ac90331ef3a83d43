"""Sections as one page that needs no network.

In: a `Page`. Out: one HTML file with its style, its script and its drawings inside. A policy in the
page itself forbids it to load anything and to run any script but its own, which it knows by hash.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from importlib import resources
from pathlib import Path
from typing import Any

from enough.diagnostics.sections import Panel, Section
from enough.errors import MissingExtraError
from enough.report.charts import draw
from enough.report.tables import TableView, table_view
from enough.run_folders import write_whole

_OWN_ANCHORS = ("top", "summary", "made", "contents")


@dataclass(frozen=True, slots=True)
class Page:
    """A report.

    Attributes:
        title: of the page.
        subtitle: one line below it.
        facts: a name and a value each, in a strip at the top.
        sections: in reading order.
        settings: the text that made it, seeds included.
        made_by: version and command.
    """

    title: str
    subtitle: str
    facts: tuple[tuple[str, str], ...]
    sections: tuple[Section, ...]
    settings: str
    made_by: str


@dataclass(frozen=True, slots=True)
class PanelView:
    """What the template needs of a panel."""

    charts: tuple[str, ...]
    caption: str
    table: TableView


@dataclass(frozen=True, slots=True)
class SectionView:
    """What the template needs of a section."""

    anchor: str
    section: Section
    panels: tuple[PanelView, ...]
    paper: tuple[PanelView, ...]


def render(page: Page) -> str:
    """The page as HTML.

    Raises:
        ValueError: for a number that cannot be shown, naming the section and the chart or column.
        MissingExtraError: if Jinja2 is not installed.
    """
    style, script = _packaged("style.css"), _packaged("page.js")
    policy = (
        f"default-src 'none'; style-src '{_hash(style)}'; script-src '{_hash(script)}'; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )
    sections = tuple(map(_section_view, page.sections, _anchors(page.sections)))
    template: Any = _template()
    html: str = template.render(
        page=page, sections=sections, style=style, script=script, policy=policy
    )
    return html


def write_report(path: Path, page: Page) -> None:
    """Put the page into a file, which appears whole."""
    write_whole(path, render(page).encode("utf-8", "replace"))


def _section_view(section: Section, anchor: str) -> SectionView:
    try:
        return SectionView(
            anchor,
            replace(
                section, answer=_minus(section.answer), notes=tuple(map(_minus, section.notes))
            ),
            tuple(map(_panel_view, section.panels)),
            tuple(map(_panel_view, section.paper)),
        )
    except ValueError as error:
        raise ValueError(f"section {section.name!r}: {error}") from None


def _panel_view(panel: Panel) -> PanelView:
    return PanelView(tuple(map(draw, panel.charts)), panel.caption, table_view(panel.table))


def _minus(text: str) -> str:
    """Negative numbers in sentences as tables have them, not with a hyphen."""
    return re.sub(r"(?<![\w-])-(?=\d)", "−", text)


def _anchors(sections: Iterable[Section]) -> list[str]:
    """Names as anchors, each only once."""
    taken = list(_OWN_ANCHORS)
    for section in sections:
        anchor = stem = re.sub(r"[^\w]+", "-", section.name.strip()).strip("-") or "section"
        number = 1
        while anchor in taken:
            number += 1
            anchor = f"{stem}-{number}"
        taken.append(anchor)
    return taken[len(_OWN_ANCHORS) :]


def _template() -> Any:
    try:
        import jinja2  # noqa: PLC0415 (an extra)
    except ImportError:
        raise MissingExtraError("a report", "report") from None
    environment = jinja2.Environment(
        autoescape=True, trim_blocks=True, lstrip_blocks=True, undefined=jinja2.StrictUndefined
    )
    return environment.from_string(_packaged("page.html.jinja"))


def _packaged(name: str) -> str:
    return resources.files("enough.report").joinpath(name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return f"sha256-{base64.b64encode(digest).decode()}"
