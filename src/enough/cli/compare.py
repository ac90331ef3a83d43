"""`enough compare`: controllers beside fixed lengths, on held-out users."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from enough.cli.terminal import (
    check_writable,
    named_folders,
    narrow_table,
    progress_bars,
    write_json_lines,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from enough.evaluation.compare_run import Comparison
    from enough.evaluation.comparison import Line
    from enough.evaluation.yardstick import Yardstick
    from enough.labels.config import LabelConfig
    from enough.records import Dataset
    from enough.teacher.components import TargetConfig


def compare(
    data: Annotated[list[Path], typer.Argument(help="Folders with logs or LaMP files.")],
    labels: Annotated[
        Path | None,
        typer.Option(help="Folder of `enough label`: teacher, scales, and who was learnt from."),
    ] = None,
    teacher: Annotated[
        Path | None,
        typer.Option(help="Without labels: the TOML file they were, or would be, made with."),
    ] = None,
    controller: Annotated[
        list[str] | None,
        typer.Option(
            help="A folder of `enough train`, a bundled one, or NAME=FOLDER; repeat. Without "
            "labels, the bundled default if none is given."
        ),
    ] = None,
    config: Annotated[Path | None, typer.Option(help="A TOML file of settings.")] = None,
    requests: Annotated[
        int | None, typer.Option(min=0, help="Requests per task (50 by default); 0 takes all.")
    ] = None,
    rows: Annotated[
        Path | None, typer.Option(help="Also write one JSON line per request and selector.")
    ] = None,
    publish: Annotated[
        Path | None,
        typer.Option(help="Also write rows of all slices, ids hashed, for `enough results`."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Net utility, gain, tokens and harm of controllers and fixed lengths, with intervals.

    The best fixed length is chosen on the slice "select"; the slice "report" is reported. Scores
    are kept: run it again to go on, or with another controller. Without --labels, units of gain
    are those the first controller was trained with, and nobody checks whom it learnt from.
    """
    from enough.config import load_config
    from enough.data.folders import read_folder
    from enough.errors import ConfigError
    from enough.evaluation.compare_run import CompareConfig, load_contenders, run_comparison
    from enough.evaluation.oracle_study import require_same_generator
    from enough.generators.loading import load_configured
    from enough.generators.score_cache import CachedGenerator
    from enough.teacher.preparation import load_stages

    check_writable(rows)
    check_writable(publish)
    settings = load_config(config, CompareConfig) if config else CompareConfig()
    if requests is not None:
        settings = dataclasses.replace(settings, requests=requests)
    if settings.returning and publish is None:
        raise ConfigError("returning = true needs --publish FILE: nothing else shows those rows")
    folders, yardstick = _judged_by(labels, teacher, controller or [])
    datasets = [read_folder(one) for one in data]
    with progress_bars() as update:
        stages = load_stages(yardstick.teacher.retrieval, yardstick.teacher.matching)
        contenders = load_contenders(folders, stages.encoder)
        generator = CachedGenerator(load_configured(yardstick.teacher.generator))
        if labels is not None:
            require_same_generator(labels, generator)
        found = run_comparison(
            datasets,
            yardstick,
            contenders,
            stages=stages,
            generator=generator,
            config=settings,
            on_step=update,
        )
    if publish is not None:
        _publish(publish, found, yardstick.teacher, datasets)
    if rows is not None:
        every = (row for point in found.points for row in found.rows(point))
        write_json_lines(rows, map(dataclasses.asdict, every))
    if as_json:
        typer.echo(json.dumps(_report(found), indent=2))
        return
    users = "users nobody learnt from" if labels is not None else "the users given"
    for point in found.points:
        print_lines(found.lines(point, "all"), point, users)


def _judged_by(
    labels: Path | None, teacher: Path | None, given: Sequence[str]
) -> tuple[dict[str, Path], Yardstick]:
    """Folders of the controllers, and what they are judged by."""
    from enough.config import load_config
    from enough.controller.bundled import DEFAULT_CONTROLLER, adapter_beside, locate_controller
    from enough.controller.checkpoint import load_controller
    from enough.errors import ConfigError
    from enough.evaluation.yardstick import Yardstick
    from enough.generators.config import GeneratorConfig
    from enough.labels.config import LabelConfig

    if labels is not None:
        if teacher is not None:
            raise ConfigError("labels say how they were made: give --labels or --teacher, not both")
        return named_folders(given), Yardstick.of_labels(labels)
    folders = named_folders(given or [DEFAULT_CONTROLLER])
    first = next(iter(folders.values()))
    if teacher is not None:
        how = load_config(teacher, LabelConfig)
    else:
        how = LabelConfig(generator=GeneratorConfig(adapter=adapter_beside(first)))
    trained = load_controller(locate_controller(first))
    return folders, Yardstick.of_controller(trained, first, how)


def _publish(
    path: Path, found: Comparison, teacher: LabelConfig, datasets: Sequence[Dataset]
) -> None:
    from enough.data.digest import dataset_digest
    from enough.evaluation.published_outcomes import (
        PublishedOutcome,
        about_outcomes,
        publish_outcomes,
    )
    from enough.parquet_rows import write_parquet

    digests = {one.task.name: dataset_digest(one) for one in datasets}
    about = about_outcomes(found, teacher, digests)
    write_parquet(path, PublishedOutcome, publish_outcomes(found), about)


def _report(found: Comparison) -> list[dict[str, Any]]:
    tasks = ["all", *dict.fromkeys(one.tree.of.task for one in found.reported)]
    return [
        {
            "beta": point.beta,
            "lambda": point.lambda_,
            "lines": [
                dataclasses.asdict(line) for task in tasks for line in found.lines(point, task)
            ],
        }
        for point in found.points
    ]


def print_lines(
    lines: Sequence[Line], point: TargetConfig, users: str = "users nobody learnt from"
) -> None:
    """A table for people, no wider than a plain terminal."""
    from rich.console import Console

    table = narrow_table(
        title=f"{lines[0].requests} requests of {users}, β {point.beta:g}, λ {point.lambda_:g}",
        caption="J: net utility, with a 95% interval over users · Δ: J less that of the best fixed "
        "k, which was chosen on other users · gain: in units of the task's scale · harm: requests "
        "worse off than without history · none: requests without a record · gap: promised less "
        "realised J",
    )
    table.add_column("selector", no_wrap=True)
    for column in ("J", "95%", "Δ", "gain", "tokens", "rec.", "harm", "none", "gap"):
        table.add_column(column, justify="right", no_wrap=True)
    for line in lines:
        table.add_row(
            line.selector,
            f"{line.net.mean:+.3f}",
            f"{line.net.low:+.2f} {line.net.high:+.2f}",
            f"{line.against_fixed.mean:+.3f}",
            f"{line.gain:+.2f}",
            f"{line.tokens:.0f}",
            f"{line.records:.1f}",
            f"{line.harm:.0%}",
            f"{line.root_stop:.0%}",
            "" if line.gap is None else f"{line.gap:+.2f}",
        )
    console = Console(highlight=False)
    console.print(table)
    for line in lines:
        if line.gap is not None:  # a controller: others promise nothing
            console.print(_verdict(line), markup=False)


def _verdict(line: Line) -> str:
    """Whether a controller can be told from the best fixed length."""
    from enough.diagnostics.told_apart import differs

    found = line.against_fixed
    says = (
        ("above it" if found.mean > 0 else "below it")
        if differs(found, line.users)
        else f"not told apart from it on {line.users} users"
    )
    return (
        f"{line.selector}: J less the best fixed k {found.mean:+.3f} "
        f"[{found.low:+.3f}, {found.high:+.3f}], {says}"
    )
