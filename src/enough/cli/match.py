"""`enough match`: how well other users' records can stand in for a user's own."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from enough.cli.terminal import narrow_table, progress_bars

if TYPE_CHECKING:
    from enough.cli.terminal import Update
    from enough.matching.balance import Balance
    from enough.records import Dataset, Example
    from enough.teacher.preparation import Stages

PAPER = {"coverage": 0.875, "reject": 0.081, "exact": 0.311, "mean_smd": 0.040, "p90_smd": 0.083}
_SHARES = ("coverage", "reject", "missing", "exact")
_DIFFERENCES = ("mean_smd", "p90_smd")
_NAMED = ("log length", "relevance", "time")


def match(
    data: Annotated[list[Path], typer.Argument(help="Folders with logs or LaMP files.")],
    config: Annotated[Path | None, typer.Option(help="A TOML file of settings.")] = None,
    split: Annotated[
        str, typer.Option(help="Which examples: of the data (train) or of a study (label).")
    ] = "train",
    requests: Annotated[int, typer.Option(min=0, help="Requests per task; 0 takes all.")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Match every record of every pool with records of other users; print how well they match."""
    from enough.config import load_config
    from enough.data.folders import read_folder
    from enough.data.splits import draw_examples
    from enough.matching.replacements import AuditConfig
    from enough.teacher.preparation import load_stages

    settings = load_config(config, AuditConfig) if config else AuditConfig()
    datasets = [read_folder(folder) for folder in data]
    drawn = [
        (dataset, draw_examples(dataset, split, requests, 0, settings.slices))
        for dataset in datasets
    ]
    with progress_bars() as update:
        update("loading models", 0, 1)
        stages = load_stages(settings.retrieval, settings.matching)
        update("loading models", 1, 1)
        audits = [_audit(dataset, examples, stages, update) for dataset, examples in drawn]
    rows = [
        _row(dataset.task.name, len(examples), balance)
        for (dataset, examples), balance in zip(drawn, audits, strict=True)
    ]
    rows.append(_together(rows, audits))
    if as_json:
        typer.echo(json.dumps([*rows, {"task": "paper", **PAPER}], indent=2))
    else:
        _print_table([*rows, {"task": "paper", **PAPER}])


def _audit(
    dataset: Dataset, examples: Sequence[Example], stages: Stages, update: Update
) -> Balance:
    from enough.matching.replacements import match_pools
    from enough.retrieval.pools import collect_pools

    pools = collect_pools(
        dataset, examples, stages.controls, stages.retriever, stages.pool, on_step=update
    )
    return match_pools(
        dataset,
        pools,
        stages.controls,
        stages.matching_encoder,
        stages.matching,
        progress=lambda step, *counts: update(f"{dataset.task.name}: {step}", *counts),
    ).balance


def _row(task: str, requests: int, balance: Balance) -> dict[str, Any]:
    shown = {name: getattr(balance, name) for name in (*_SHARES, *_DIFFERENCES)}
    return {
        "task": task,
        "requests": requests,
        "records": balance.pairs,
        **shown,
        "smd": dict(balance.named),
    }


def _together(rows: Sequence[dict[str, Any]], audits: Sequence[Balance]) -> dict[str, Any]:
    from enough.matching.balance import together

    whole = _row("all", sum(row["requests"] for row in rows), together(audits))
    return whole | {"smd": {}}  # a covariate has as many values as there are tasks


def _print_table(rows: Sequence[dict[str, Any]]) -> None:
    from rich.console import Console
    from rich.markup import escape

    table = narrow_table(
        title="Matched replacements",
        caption="req.: requests · cover.: pool records with all controls · reject: excluded by the "
        "calipers · miss.: too few legal records of others · exact: controls in all strata of "
        "their record · mean, p90: of the absolute standardised mean difference over all "
        "covariates; then that difference by name",
    )
    heads = "task,req.,records,cover.,reject,miss.,exact,mean,p90,length,relev.,time"
    for head in heads.split(","):
        table.add_column(head, justify="left" if head == "task" else "right", no_wrap=True)
    for row in rows:
        counts = [f"{row[name]:,}" if name in row else "" for name in ("requests", "records")]
        shares = [_shown(row.get(name), ".1%") for name in _SHARES]
        sizes = [_shown(row.get(name), ".3f") for name in _DIFFERENCES]
        named = [_shown(row.get("smd", {}).get(name), "+.3f") for name in _NAMED]
        table.add_row(escape(row["task"]), *counts, *shares, *sizes, *named)
    Console().print(table)


def _shown(value: float | None, form: str) -> str:
    return "–" if value is None else format(value, form)
