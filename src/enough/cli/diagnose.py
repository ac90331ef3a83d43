"""`enough diagnose` and `enough report`: what a study's numbers say, printed or as a page."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from enough.cli.terminal import check_writable, progress_bars

if TYPE_CHECKING:
    from rich.console import Console

    from enough.diagnostics.sections import Section, Table
    from enough.diagnostics.settings import Diagnosis

_WIDTH = 140
_FOLDER = Path("report")
Data = Annotated[
    list[Path] | None,
    typer.Option(
        "--data", help="A folder with logs or a LaMP task; repeat. Made-up people without."
    ),
]
Labels = Annotated[Path | None, typer.Option(help="A folder of `enough label`.")]
Controller = Annotated[Path | None, typer.Option(help="A folder of `enough train`.")]
Config = Annotated[
    Path | None, typer.Option(help="A TOML file: the table `study`, and tables of diagnostics.")
]
Out = Annotated[Path, typer.Option(help="Folder of the study; goes on there.")]


def diagnose(
    names: Annotated[
        list[str] | None, typer.Argument(help="Diagnostics; without any, all are listed.")
    ] = None,
    config: Config = None,
    data: Data = None,
    labels: Labels = None,
    controller: Controller = None,
    out: Out = _FOLDER,
    markdown: Annotated[
        Path | None, typer.Option(help="Write what they show into this file instead.")
    ] = None,
    machine: Annotated[str, typer.Option(help="For that file: what it ran on, in words.")] = "",
    note: Annotated[str, typer.Option(help="For that file: what else a reader must know.")] = "",
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Measure diagnostics of a study, and print what they show.

    Without settings: made-up people and the bundled models. With --data, --labels and --controller:
    your own. Rows are kept in OUT/rows; what is there is not measured again.
    """
    from enough.diagnostics.registry import DIAGNOSTICS
    from enough.diagnostics.run import DiagnoseRun

    if not names:
        listed = json.dumps(list(DIAGNOSTICS), indent=2) if as_json else "\n".join(DIAGNOSTICS)
        typer.echo(listed)
        return
    _require_known(names)
    check_writable(markdown)
    diagnosis = _diagnosis(config, data, labels, controller)
    with progress_bars() as update:
        run = DiagnoseRun(diagnosis, out, update)
        sections = run.sections(names)
    if markdown is not None:
        from enough.results.diagnostics_page import diagnostics_page
        from enough.run_folders import write_whole

        page = diagnostics_page(
            sections,
            about=run.about.in_words,
            machine=machine,
            note=note,
            command=f"enough diagnose {' '.join(names)}{_named(config)}",
        )
        write_whole(markdown, page.encode())
    if as_json:
        typer.echo(json.dumps([dataclasses.asdict(one) for one in sections], indent=2))
        return
    if markdown is not None:
        typer.echo(str(markdown))
        return
    from rich.console import Console

    console = Console(highlight=False)
    if not console.is_terminal:  # a file or a pipe has no width of its own
        console = Console(highlight=False, width=_WIDTH)
    for section in sections:
        _print_section(console, section)


def report(
    config: Config = None,
    data: Data = None,
    labels: Labels = None,
    controller: Controller = None,
    out: Out = _FOLDER,
    only: Annotated[
        list[str] | None, typer.Option(help="This diagnostic and no other; repeat.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Measure every diagnostic of a study and write one page that needs no network.

    Stop it and run it again as you like: what is measured stays. The page is OUT/report.html.
    """
    from enough.diagnostics.registry import DIAGNOSTICS
    from enough.report.build import build_report

    names = only or list(DIAGNOSTICS)
    _require_known(names)
    diagnosis = _diagnosis(config, data, labels, controller)
    with progress_bars() as update:
        built = build_report(diagnosis, out, names, update)
    if as_json:
        typer.echo(json.dumps({"page": str(built.page), "measured": built.measured}, indent=2))
        return
    typer.echo(f"{len(built.measured)} measured, {len(names) - len(built.measured)} were there.")
    typer.echo(f"Open {built.page} in a browser.")


def _named(config: Path | None) -> str:
    """Where files lie on this machine is nobody's business."""
    if config is None:
        return ""
    return f" --config {config.name if config.is_absolute() else config}"


def _require_known(names: Sequence[str]) -> None:
    from enough.diagnostics.registry import DIAGNOSTICS
    from enough.errors import UnknownNameError

    for name in names:
        if name not in DIAGNOSTICS:
            raise UnknownNameError("diagnostic", name, DIAGNOSTICS)


def _diagnosis(
    config: Path | None,
    data: Sequence[Path] | None,
    labels: Path | None,
    controller: Path | None,
) -> Diagnosis:
    """Settings from a file, with folders named on the command line in their place."""
    from enough.diagnostics.settings import load_diagnosis, own_diagnosis
    from enough.errors import ConfigError

    if config is None and not data:
        if labels or controller:
            raise ConfigError("--labels and --controller need --data: the logs they were made from")
        return load_diagnosis(None)
    found = own_diagnosis() if config is None else load_diagnosis(config)
    study = dataclasses.replace(
        found.study,
        data=tuple(data) if data else found.study.data,
        labels=labels or found.study.labels,
        controller=controller or found.study.controller,
    )
    return dataclasses.replace(found, study=study)


def _print_section(console: Console, section: Section) -> None:
    console.rule(section.title)
    console.print(f"{section.question} {section.answer}", markup=False)
    for panel in section.panels:
        console.print(_table(panel.table, panel.caption))
    for panel in section.paper:
        console.print(_table(panel.table, f"The paper. {panel.caption}"))
    for note in section.notes:
        console.print(f"· {note}", markup=False)


def _table(table: Table, caption: str) -> object:
    from rich.markup import escape
    from rich.table import Table as RichTable

    from enough.report.formats import shown

    rich = RichTable(caption=escape(caption), caption_justify="left", pad_edge=False)
    for column in table.columns:
        is_text = column.format == "text"
        rich.add_column(escape(column.title), justify="left" if is_text else "right")
    for row in table.rows:
        cells = [shown(v, c.format) for v, c in zip(row, table.columns, strict=True)]
        rich.add_row(*(escape(f"{cell.text} {cell.range}".strip()) for cell in cells))
    return rich
