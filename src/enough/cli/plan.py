"""`enough plan`: calls, tokens, GPU-hours, disk and cost of labelling, before they are spent."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from enough.cli.terminal import progress_bars

if TYPE_CHECKING:
    from collections.abc import Sequence

    from enough.labels.config import LabelConfig
    from enough.labels.dry_search import Shares, Work
    from enough.labels.plan import Plan
    from enough.labels.run import LabelRun
    from enough.teacher.supervision import Subject


def plan(
    data: Annotated[
        list[Path] | None,
        typer.Argument(help="Folders with logs or LaMP files; the made-up world without any."),
    ] = None,
    config: Annotated[Path | None, typer.Option(help="The TOML file of `enough label`.")] = None,
    requests: Annotated[
        int | None, typer.Option(min=1, help="To label in all; those of the data without it.")
    ] = None,
    parameters: Annotated[
        float | None, typer.Option(min=1, help="Weights, such as 8e9; the config's model without.")
    ] = None,
    device: Annotated[
        str, typer.Option("--gpu", help="H200, H100, A100, A800, L40S, CPU or yours.")
    ] = "H200",
    count: Annotated[int, typer.Option("--gpus", min=1, help="How many work at once.")] = 1,
    starts: Annotated[
        int, typer.Option(min=1, help="How often the run starts, on machines that come and go.")
    ] = 1,
    price: Annotated[
        float | None, typer.Option(min=0, help="Dollars an hour for one; the table's without.")
    ] = None,
    tokens_per_s: Annotated[
        float | None, typer.Option(min=1e-9, help="Of one; the table's without.")
    ] = None,
    gain_share: Annotated[
        float, typer.Option(min=0, max=1, help="Profiles that gain: half with a tuned generator.")
    ] = 0.5,
    probe: Annotated[
        bool, typer.Option("--probe", help="Measure that share with the config's generator.")
    ] = False,
    sample: Annotated[
        int, typer.Option(min=1, help="Requests of each task searched without scoring.")
    ] = 12,
    hardware: Annotated[
        Path | None, typer.Option(help="A TOML file of more devices and measured rates.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """What labelling will take: some requests searched without scoring, and a table of rates.

    Rates and prices are in `enough/labels/hardware.toml`, each with its source.
    """
    from enough.config import load_config
    from enough.data.folders import datasets_of
    from enough.data.synthetic import WorldConfig
    from enough.labels.config import LabelConfig
    from enough.labels.hardware import load_hardware
    from enough.labels.model_size import parameters_of
    from enough.labels.plan import Machines, make_plan
    from enough.labels.run import LabelRun

    settings = load_config(config, LabelConfig) if config else LabelConfig()
    table = load_hardware(hardware)
    table.device(device)  # an unknown one is told before any work
    weights = parameters or parameters_of(settings.generator.prompt_model)
    run = LabelRun(datasets_of(tuple(data or ()), WorldConfig()), settings, Path())
    work, counted = _count(run, settings, sample, gain_share, probe)
    if requests is not None:
        work = work.scaled(requests / run.requests)
    machines = Machines(device, count, starts, price, tokens_per_s)
    found = make_plan(work, machines, table, weights, settings.generator.compile)
    if as_json:
        told = {**dataclasses.asdict(found), "searched_in_dry": counted, "starts": starts}
        typer.echo(json.dumps(told, indent=2))
    else:
        _print(found, counted, starts)


def _count(
    run: LabelRun, config: LabelConfig, sample: int, gain_share: float, probe: bool
) -> tuple[Work, int]:
    """The work of the run's own requests, and how many were searched for it."""
    from enough.generators.prompt_side import load_prompt_side
    from enough.labels.dry_search import Work, count_work
    from enough.labels.estimate import probed_shares
    from enough.labels.machine import load_generator
    from enough.teacher.preparation import load_stages

    with progress_bars() as update:
        generator = load_generator(config.generator, config.threads) if probe else None

        def shares(subjects: Sequence[Subject]) -> Shares:
            if generator is None:
                return lambda _: gain_share
            return probed_shares(subjects, config, generator, Work(), update)

        return count_work(
            run,
            load_stages(config.retrieval, config.matching),
            load_prompt_side(config.generator.prompt_model),
            shares,
            update,
            sampled=sample,
        )


def _print(found: Plan, counted: int, starts: int) -> None:
    from rich.console import Console

    cost = "unknown: give --price" if found.cost is None else f"${found.cost:,.2f}"
    priced = "" if found.price is None else f" at ${found.price:g} an hour"
    lines = [
        f"{found.requests:,} requests, {found.parameters:.3g} weights, "
        f"{found.devices} × {found.device}",
        f"  teacher calls   {found.calls:,} on {found.profiles:,} labelled profiles",
        f"  tokens          {found.tokens:,}, {found.tokens / max(found.calls, 1):.0f} a call",
        f"  rate            {found.tokens_per_s:,.0f} tokens/s each; {found.rate_because}",
        f"  time            {found.hours:.2f} h on the clock, {found.device_hours:.2f} "
        f"device-hours ({found.overhead_hours:.2f} of them not scoring; {starts} start"
        f"{'s' if starts > 1 else ''})",
        f"  disk            {found.gigabytes:.3f} GB",
        f"  cost            {cost}{priced}",
        f"Counted on {counted} requests searched without scoring. Embedding a new history and "
        "matching are not in the time.",
    ]
    console = Console(highlight=False)
    for line in lines:
        console.print(line, soft_wrap=True, markup=False)
