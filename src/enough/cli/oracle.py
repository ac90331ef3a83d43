"""`enough oracle`: on small pools, how far anything is from the best there is."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from enough.cli.terminal import (
    check_writable,
    named_folders,
    progress_bars,
    write_json_lines,
)

if TYPE_CHECKING:
    from enough.evaluation.compare_run import Contender
    from enough.evaluation.sufficiency import SufficiencyRow
    from enough.records import Dataset
    from enough.teacher.components import TargetConfig
    from enough.teacher.oracle_config import OracleConfig

PAPER = (
    "paper, 50 requests per task, another generator: bounded teacher 0.028, 91.6%, 41, 92.3% · "
    "myopic 0.129, 68.5%, 169, 71.9% · fixed k=4 0.152, 64.1%, 248, 65.2%"
)


def oracle(
    data: Annotated[list[Path], typer.Argument(help="Folders with logs or LaMP files.")],
    config: Annotated[Path | None, typer.Option(help="A TOML file of settings.")] = None,
    requests: Annotated[
        int | None, typer.Option(min=0, help="Requests per task (1 by default); 0 takes all.")
    ] = None,
    split: Annotated[str | None, typer.Option(help='Which examples ("dev" by default).')] = None,
    labels: Annotated[
        Path | None, typer.Option(help="Folder of `enough label` whose scales are used.")
    ] = None,
    controller: Annotated[
        list[str] | None, typer.Option(help="A folder of `enough train`, or NAME=FOLDER; repeat.")
    ] = None,
    rows: Annotated[
        Path | None, typer.Option(help="Also write one JSON line per request and selector.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Score every profile of small pools and compare what is chosen with the exact best.

    A request has 517 profiles (6 candidates, at most 4 records); with the counterfactuals of all
    slots up to 6,115 sequences are scored, about 20 minutes on 2 CPU cores with the bundled model.
    `slots = "one"` in the settings takes a third. Scores are kept: run it again to go on.

    Without --labels the scales s of each task are measured on these very requests. Of a few
    requests they are rough, and so is everything in units of them.

    With --labels or --controller take a --split that nobody learnt from, such as "report"; users of
    the labels are refused. Controllers are judged at the price of tokens they decide with, which
    has to be one for all.
    """
    from enough.config import load_config
    from enough.data.folders import read_folder
    from enough.teacher.oracle_config import OracleConfig

    check_writable(rows)
    settings = load_config(config, OracleConfig) if config else OracleConfig()
    settings = dataclasses.replace(
        settings,
        requests=settings.requests if requests is None else requests,
        split=split or settings.split,
    )
    datasets = [read_folder(folder) for folder in data]
    folders = named_folders(controller or [])
    found, settings = _study(datasets, settings, labels, folders, is_set=config is not None)
    if rows is not None:
        write_json_lines(rows, map(dataclasses.asdict, found))
    if as_json:
        typer.echo(json.dumps(_report(found), indent=2))
    else:
        _print_table(found, settings)


def _study(
    datasets: Sequence[Dataset],
    settings: OracleConfig,
    labels: Path | None,
    controllers: Mapping[str, Path],
    *,
    is_set: bool,
) -> tuple[list[SufficiencyRow], OracleConfig]:
    """Rows of all selectors, and the settings with the operating point they were judged at."""
    from enough.errors import DataError
    from enough.evaluation.compare_run import load_contenders
    from enough.evaluation.oracle_study import (
        drawn,
        judged,
        label_scales,
        measured_scales,
        require_same_generator,
        scored_requests,
    )
    from enough.evaluation.sufficiency import FIXED
    from enough.evaluation.yardstick import labelled_users, require_unseen
    from enough.generators.loading import load_configured
    from enough.generators.score_cache import CachedGenerator
    from enough.labels.folder import LabelFolder
    from enough.teacher.preparation import load_stages

    # A split that is not there, or holds somebody who was learnt from, is told before models load.
    examples = [example for dataset in datasets for example in drawn(dataset, settings)]
    scales = None
    if labels is not None:
        scales = label_scales(labels, datasets)
        require_unseen(examples, labelled_users(LabelFolder(labels)), settings.split)
    with progress_bars() as update:
        update("loading models", 0, 2)
        stages = load_stages(settings.retrieval, settings.matching)
        contenders = load_contenders(controllers, stages.encoder)
        point = _point(settings, contenders, is_set=is_set)
        settings = dataclasses.replace(settings, targets=point)
        update("loading models", 1, 2)
        generator = CachedGenerator(load_configured(settings.generator))
        update("loading models", 2, 2)
        if labels is not None:
            require_same_generator(labels, generator)
        scored = scored_requests(datasets, settings, stages, generator, update)
    if not scored:
        raise DataError("there is no request to study; see `enough data check`")
    selectors = {**FIXED, **{one.name: one.policy for one in contenders}}
    scales = scales or measured_scales(scored, settings)
    return judged(scored, scales, settings, selectors), settings


def _point(
    settings: OracleConfig, contenders: Sequence[Contender], *, is_set: bool
) -> TargetConfig:
    """What everybody is judged at: the controllers' own operating point, if there are any."""
    from enough.errors import ConfigError

    points = {one.name: one.point for one in contenders}
    wanted = settings.targets if is_set or not points else next(iter(points.values()))
    for name, point in points.items():
        if point != wanted:
            raise ConfigError(
                f"controller {name!r} decides with β = {point.beta:g} and λ = {point.lambda_:g}, "
                f"and would be judged at β = {wanted.beta:g} and λ = {wanted.lambda_:g}; set these "
                "in [targets] of --config, one operating point at a time, or make a copy of the "
                "controller with `enough price`"
            )
    return wanted


def _report(rows: Sequence[SufficiencyRow]) -> dict[str, Any]:
    from enough.evaluation.sufficiency import sufficiency_curve, summarise

    tasks = [None, *dict.fromkeys(row.task for row in rows)]
    lines = [line for task in tasks for line in summarise(rows, task)]
    return {
        "summary": [dataclasses.asdict(line) for line in lines],
        "curve": [dataclasses.asdict(point) for point in sufficiency_curve(rows)],
        "paper": PAPER,
    }


def _print_table(rows: Sequence[SufficiencyRow], config: OracleConfig) -> None:
    from rich.console import Console
    from rich.table import Table

    from enough.evaluation.sufficiency import summarise

    tasks = ", ".join(dict.fromkeys(row.task for row in rows))
    table = Table(
        title=f"Against the exact oracle, M'={config.pool}, K'={config.max_records}, {tasks}",
        pad_edge=False,
        caption=f"regret: J* − J · U regret: U* − U · ε-suff.: U ≥ U* − {config.epsilon:g} · "
        "excess tok.: above the cheapest sufficient profile · stop agree: decisions to stop or go "
        f"on that are optimal · always continue: what never stopping would agree\n{PAPER}",
    )
    table.add_column("Selector", no_wrap=True)
    for head in ("Regret", "U regret", "ε-suff.", "Excess tok.", "Stop agree", "Always continue"):
        table.add_column(head, justify="right")
    for line in summarise(rows):
        table.add_row(
            line.selector,
            f"{line.regret:.3f}",
            f"{line.utility_regret:.3f}",
            f"{line.sufficient:.1%}",
            f"{line.excess_tokens:.0f}",
            _share(line.stop_agreement),
            _share(line.always_continue),
        )
    Console().print(table)


def _share(value: float | None) -> str:
    return "–" if value is None else f"{value:.1%}"
