"""A study's diagnostics as one page: measure what is missing, draw everything.

In: settings and a folder. Out: `report.html` in it. From rows that are there this takes seconds and
no model.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from enough.config import plain
from enough.diagnostics.run import DiagnoseRun
from enough.diagnostics.settings import Diagnosis
from enough.progress import OnStep, silent
from enough.report.page import Page, write_report

PAGE = "report.html"


@dataclass(frozen=True, slots=True)
class Built:
    """Where the page is, and which diagnostics were measured for it."""

    page: Path
    measured: tuple[str, ...]


def build_report(
    diagnosis: Diagnosis, out: Path, names: Sequence[str], on_step: OnStep = silent
) -> Built:
    """Measure, draw and write the page."""
    return write_page(DiagnoseRun(diagnosis, out, on_step), names)


def write_page(run: DiagnoseRun, names: Sequence[str]) -> Built:
    """The page of a run, in its folder."""
    diagnosis = run.diagnosis
    sections = run.sections(names)
    about = run.about
    settings = {"study": plain(diagnosis.study)}
    settings |= {name: plain(diagnosis.settings[name]) for name in names}
    people = "made-up people" if about.is_made_up else "the logs given"
    page = Page(
        title="How much history is enough?",
        subtitle=f"{len(about.tasks)} tasks of {people}, β = {about.point.beta:g}, "
        f"λ = {about.point.lambda_:g}",
        facts=(
            ("Tasks", ", ".join(about.tasks)),
            ("Generator", about.generator),
            ("Retriever", about.retriever),
            ("Most records", str(about.max_records)),
            ("Seed", str(diagnosis.study.seed)),
        ),
        sections=tuple(sections),
        settings=json.dumps(settings, indent=2),
        made_by=f"enough {version('enough')}, `enough report`",
    )
    path = run.out / PAGE
    write_report(path, page)
    return Built(path, tuple(run.measured))
