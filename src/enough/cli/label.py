"""`enough label`: from logs to labelled states and actions, with a frozen generator."""

from __future__ import annotations

import dataclasses
import functools
import json
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from enough.cli.engine import Engine, Workers, with_engine
from enough.cli.terminal import Update, duration, progress_bars, require_apart

if TYPE_CHECKING:
    from enough.labels.config import LabelConfig
    from enough.labels.run import LabelRun
    from enough.labels.workplace import Event


def label(
    data: Annotated[list[Path], typer.Argument(help="Folders with logs or LaMP files.")],
    out: Annotated[Path, typer.Option(help="Folder for the labels; goes on if they are begun.")],
    config: Annotated[Path | None, typer.Option(help="A TOML file of settings.")] = None,
    split: Annotated[
        str | None,
        typer.Option(help='Whose requests: "train" by default; "label" leaves users to report on.'),
    ] = None,
    beta: Annotated[float | None, typer.Option(help="β, weight of specificity.")] = None,
    lambda_: Annotated[
        float | None, typer.Option("--lambda", help="λ, price of 1024 tokens.")
    ] = None,
    workers: Workers = None,
    engine: Engine = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Estimate calls, tokens, time and disk; label none.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Search profiles of every request, score them, and write long-horizon targets.

    Run it again to go on where it stopped, or with another --beta or --lambda: those need no call
    of the generator.
    """
    from enough.config import load_config
    from enough.data.folders import read_folder
    from enough.labels.config import LabelConfig
    from enough.labels.run import LabelRun

    settings = load_config(config, LabelConfig) if config else LabelConfig()
    settings = _with_options(settings, split, beta, lambda_)
    settings = dataclasses.replace(settings, engine=with_engine(settings.engine, engine, workers))
    require_apart(out, data)
    run = LabelRun([read_folder(folder) for folder in data], settings, out)
    if dry_run:
        _estimate(run, as_json)
        return
    report = label_with_progress(run)
    if as_json:
        typer.echo(json.dumps(report, indent=2))
    else:
        print_report(report)


def _with_options(
    settings: LabelConfig,
    split: str | None,
    beta: float | None,
    lambda_: float | None,
) -> LabelConfig:
    """Options on the command line go before the file."""
    targets = settings.targets
    if beta is not None:
        targets = dataclasses.replace(targets, beta=beta)
    if lambda_ is not None:
        targets = dataclasses.replace(targets, lambda_=lambda_)
    return dataclasses.replace(settings, split=split or settings.split, targets=targets)


class _Meter:
    """Counts what workers report and keeps the bar up to date."""

    def __init__(self, update: Update, done: int, total: int) -> None:
        self._update = update
        self._done = done
        self._total = total
        self._started = time.monotonic()
        self.calls = 0
        self.profiles = 0
        self.tokens = 0
        self.from_journal = 0

    def __call__(self, event: Event) -> None:
        from enough.labels.workplace import ChunkDone

        if isinstance(event, ChunkDone):
            self._done += event.requests
        elif event.from_journal:
            self.from_journal += event.profiles
        else:
            self.calls += 1
            self.profiles += event.profiles
            self.tokens += event.tokens
        seconds = max(time.monotonic() - self._started, 1e-9)
        note = f"{self.profiles / seconds:,.0f} profiles/s, {self.tokens / seconds:,.0f} tokens/s"
        if self.from_journal:
            note += f", {self.from_journal:,} found"
        self._update("labelling requests", self._done, self._total, note)


def label_with_progress(run: LabelRun) -> dict[str, Any]:
    """Label what is missing, with a bar; returns what a command prints."""
    from enough.labels.machine import load_fleet, load_generator
    from enough.labels.workers import Processes
    from enough.run_folders import read_json
    from enough.teacher.preparation import load_stages

    config = run.config
    started = time.monotonic()
    missing = run.unfinished
    done = run.requests - sum(len(chunk.examples) for chunk in missing)
    fleet = load_fleet(config) if missing else Processes(1)
    with progress_bars() as update:
        meter = _Meter(update, done, run.requests)
        targets = run.run(
            functools.partial(load_stages, config.retrieval, config.matching),
            functools.partial(load_generator, config.generator, config.threads),
            fleet,
            meter,
            update,
        )
    seconds = time.monotonic() - started
    trees = read_json(run.folder.manifest_file)
    return {
        "folder": str(run.folder.path),
        "requests": sum(trees["requests"].values()),
        "left_out": len(trees["left_out"]),
        "this_run": {
            "generator_calls": meter.calls,
            "profiles_scored": meter.profiles,
            "profiles_found": meter.from_journal,
            "tokens": meter.tokens,
            "seconds": seconds,
            "engine": config.engine.kind,
            "workers": fleet.workers,
            "profiles_per_s": meter.profiles / seconds,
        },
        "counts": trees["counts"],
        "matched_pool_records": trees["matched_pool_records"],
        "calibration": trees["calibration"],
        "specificity_variance": trees["specificity_variance"],
        "targets": {key: value for key, value in targets.items() if key != "parts"},
    }


def print_report(report: dict[str, Any]) -> None:
    """A few lines for people."""
    from rich.console import Console

    run, counts, targets = report["this_run"], report["counts"], report["targets"]
    states = targets["counts"]
    lines = [
        f"{report['requests']:,} requests labelled in {report['folder']}"
        + (f", {report['left_out']} left out (too long)" if report["left_out"] else ""),
        f"  this run        {run['generator_calls']:,} generator calls, "
        f"{run['profiles_scored']:,} profiles scored, {run['tokens']:,} tokens, "
        f"{run['seconds']:.1f} s",
        f"  labelled        {states['states']:,} states, {states['actions']:,} record actions, "
        f"{states['fully_expanded']:,} states fully expanded, "
        f"STOP best at {targets['stop_share']:.0%} of those",
        f"  teacher calls   {counts['calls']:,} for {counts['profiles']:,} profiles; spared: "
        f"{counts['gated']:,} profiles without gain, {counts['looked_up']:,} looked up, "
        f"{counts['same_tokens']:,} with equal tokens; "
        f"{counts['unmatched']:,} profiles without controls",
        f"  targets         β {targets['beta']:g}, λ {targets['lambda']:g}; "
        f"{targets['bytes_per_state']:.0f} bytes per labelled state",
    ]
    for task, found in report["calibration"].items():
        floored = " (at the noise floor)" if found["measured_gain"] < found["floor"] else ""
        lines.append(
            f"  {task:<15} gain scale {found['scale']['gain']:.4f}{floored}, specificity scale "
            f"{found['scale']['specificity']:.4f}, noise {found['noise']:.1e}, "
            f"{report['matched_pool_records'][task]:.0%} of pool records matched"
        )
    console = Console(highlight=False)
    for line in lines:
        console.print(line, soft_wrap=True, markup=False)


def _estimate(run: LabelRun, as_json: bool) -> None:
    from enough.labels.estimate import estimate
    from enough.labels.machine import load_fleet, load_generator
    from enough.teacher.preparation import load_stages

    config = run.config
    with progress_bars() as update:
        found = estimate(
            run,
            load_stages(config.retrieval, config.matching),
            load_generator(config.generator, config.threads),
            load_fleet(config).workers,
            update,
        )
    if as_json:
        typer.echo(json.dumps(dataclasses.asdict(found), indent=2))
        return
    from rich.console import Console

    console = Console(highlight=False)
    console.print(
        f"{found.requests:,} requests: about {found.calls:,} teacher calls on "
        f"{found.profiles:,} labelled profiles, {found.tokens:,} tokens, "
        f"{duration(found.seconds)} with {found.workers} workers at "
        f"{found.tokens_per_s:,.0f} tokens/s, {found.megabytes:.2g} MB on disk.\n"
        f"From {found.sampled_requests} requests searched without scoring, of which "
        f"{found.probed_requests} were probed with {found.probe_calls} real calls; nothing was "
        "written.",
        soft_wrap=True,
    )
