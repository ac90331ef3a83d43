"""`enough demo`: the whole story on a made-up world, with a real language model."""

from __future__ import annotations

import dataclasses
import json
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from enough.cli.compare import print_lines
from enough.cli.terminal import narrow_table, one_line, progress_bars

if TYPE_CHECKING:
    from rich.console import Console

    from enough.demo.config import DemoConfig
    from enough.demo.run import Told


def demo(
    seed: Annotated[int | None, typer.Option(min=0, help="Of the made-up people.")] = None,
    users: Annotated[int | None, typer.Option(min=8, help="Made-up users per task.")] = None,
    config: Annotated[Path | None, typer.Option(help="A TOML file of settings.")] = None,
    out: Annotated[
        Path | None, typer.Option(help="Keep labels and controllers in this folder; goes on there.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Label, train, aggregate, train again; then ENOUGH beside empty and fixed-length profiles.

    Made-up people, a real frozen model, some minutes on two cores. Nothing has to be prepared.
    """
    from enough.config import load_config
    from enough.demo.config import DemoConfig
    from enough.demo.run import run_demo

    settings = load_config(config, DemoConfig) if config else DemoConfig()
    world = settings.world
    world = dataclasses.replace(
        world,
        seed=world.seed if seed is None else seed,
        users=world.users if users is None else users,
    )
    settings = dataclasses.replace(settings, world=world)
    with tempfile.TemporaryDirectory() as scratch, progress_bars() as update:
        folder = out or Path(scratch)
        told = run_demo(settings, folder, update)
        shown = None if as_json else _one_request(told, settings, folder)
    if as_json:
        typer.echo(json.dumps(report(told), indent=2))
        return
    from rich.console import Console

    console = Console(highlight=False)
    _print_story(console, told)
    print_lines(told.comparison.lines(told.point, "all"), told.point)
    _print_planted(console, told)
    console.print(verdict(told), soft_wrap=True)
    if shown:
        console.print(shown, markup=False, soft_wrap=True)


def report(told: Told) -> dict[str, Any]:
    """Everything as plain values."""
    from enough.evaluation.sufficiency import summarise

    tasks = ["all", *told.world.datasets]
    lines = [line for task in tasks for line in told.comparison.lines(told.point, task)]
    return {
        "beta": told.point.beta,
        "lambda": told.point.lambda_,
        "labelled": [{"requests": r, "states": s} for r, s in told.labelled],
        "seconds": told.seconds,
        "lines": [dataclasses.asdict(line) for line in lines],
        "planted": [dataclasses.asdict(line) for line in told.planted],
        "training": {name: one.report for name, one in told.trained.items()},
        "held_out": {name: dataclasses.asdict(one) for name, one in told.held_out.items()},
        "exact_oracle": [dataclasses.asdict(line) for line in summarise(told.exact)],
        "verdict": verdict(told),
    }


def verdict(told: Told) -> str:
    """Whether the controller beats every fixed length here, in one sentence."""
    from enough.demo.run import OURS

    lines = {line.selector: line for line in told.comparison.lines(told.point, "all")}
    best = max(told.comparison.config.fixed, key=lambda name: lines[name].net.mean)
    ours, theirs = lines[OURS].net.mean, lines[best].net.mean
    if ours > theirs:
        return f"ENOUGH has more net utility than every fixed k: {ours:+.3f}, {best} {theirs:+.3f}."
    return f"ENOUGH has NOT more net utility than {best} here: {ours:+.3f} against {theirs:+.3f}."


def _print_story(console: Console, told: Told) -> None:
    (requests, first), (_, both) = told.labelled
    took = ", ".join(f"{name} {seconds:.0f} s" for name, seconds in told.seconds.items())
    console.print(
        f"{requests} requests labelled at {first:,} states; after the controller's own states "
        f"were added, {both:,}. {took}.",
        soft_wrap=True,
    )


def _print_planted(console: Console, told: Told) -> None:
    table = narrow_table(
        title="What the profiles hold, by the truth about the made-up people",
        caption="useful: shares of the records that show a habit the answer turns on · recall: of "
        "such habits that the history shows · STOP: no record where none is useful",
    )
    table.add_column("selector", no_wrap=True)
    for name in ("records", "useful", "redundant", "irrelevant", "conflicting", "recall", "STOP"):
        table.add_column(name, justify="right", no_wrap=True)
    for line in told.planted:
        shares = (line.useful, line.redundant, line.irrelevant, line.conflicting)
        cells = [f"{share:.0%}" for share in (*shares, line.recall, line.stops_when_none)]
        table.add_row(line.selector, str(line.records), *cells)
    console.print(table)


def _one_request(told: Told, config: DemoConfig, folder: Path) -> str:
    """The held-out request with the largest lead over the longest profile, explained."""
    from enough import Enough
    from enough.demo.run import OURS

    rows = told.comparison.rows(told.point)
    longest = f"fixed k={max(config.compare.lengths)}"
    fixed = {r.request_id: r.net for r in rows if r.selector == longest}
    ours = [r for r in rows if r.selector == OURS]
    chosen = max(ours, key=lambda r: (bool(r.profile), r.net - fixed[r.request_id]))
    dataset = told.world.datasets[chosen.task]
    examples = {e.request.id: e for some in dataset.splits.values() for e in some}
    example = examples[chosen.request_id]
    personaliser = Enough.load(
        folder / "controller",
        retrieval=config.label.retrieval,
        generator=config.label.generator,
        max_records=config.label.search.max_records,
    )
    found = personaliser.select(example.request, dataset.history(example.request))
    lines = [
        f"\nOne request of {chosen.task}, step by step:",
        f"  {one_line(example.request.query, 240)}",
        f"  (what the user went on to write: {one_line(example.reference, 160)})",
    ]
    lines += [f"  record: {one_line(record.action, 160)}" for record in found.records]
    return "\n".join([*lines, found.explain()])
