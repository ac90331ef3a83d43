"""`enough lengths`: what fixed profile lengths do to a frozen generator."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from enough.cli.terminal import check_writable, one_line, progress_bars, write_json_lines

if TYPE_CHECKING:
    from enough.evaluation.lengths import LengthConfig, LengthRow
    from enough.records import Dataset, Example

Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Rows = Annotated[Path | None, typer.Option(help="Also write one JSON line per request and length.")]


def lengths(
    data: Annotated[list[Path], typer.Argument(help="Folders with logs or LaMP files.")],
    config: Annotated[Path | None, typer.Option(help="A TOML file of settings.")] = None,
    rows: Rows = None,
    as_json: Json = False,
) -> None:
    """Likelihood, answers and token cost under the empty profile and fixed numbers of records."""
    from enough.config import load_config
    from enough.data.folders import read_folder
    from enough.evaluation.lengths import LengthConfig

    settings = load_config(config, LengthConfig) if config else LengthConfig()
    _study([read_folder(folder) for folder in data], settings, rows, as_json)


def _study(
    datasets: Sequence[Dataset], config: LengthConfig, rows_path: Path | None, as_json: bool
) -> None:
    from enough.data.splits import draw_examples
    from enough.errors import DataError
    from enough.evaluation.lengths import fitting, study_lengths, summarise
    from enough.generators.loading import load_configured
    from enough.generators.score_cache import CachedGenerator
    from enough.retrieval.pools import build_stages, pooled

    check_writable(rows_path)
    drawn = [
        (dataset, draw_examples(dataset, config.split, config.requests, config.seed))
        for dataset in datasets
    ]
    count = sum(len(examples) for _, examples in drawn)
    with progress_bars() as update:
        update("loading models", 0, 2)
        controls, retriever = build_stages(config.retrieval)
        update("loading models", 1, 2)
        generator = CachedGenerator(load_configured(config.generator))
        update("loading models", 2, 2)
        chosen = []
        for dataset, examples in drawn:
            for found in pooled(dataset, examples, controls, retriever, config.retrieval.pool):
                chosen.append(found)
                update("retrieving candidates", len(chosen), count)
        chosen = fitting(chosen, generator)
        if not chosen:
            raise DataError("there is no request to study; see `enough data check`")
        rows = study_lengths(
            chosen,
            generator,
            config.lengths,
            lambda done: update("scoring and answering", done, len(chosen)),
        )
    if rows_path is not None:
        write_json_lines(rows_path, map(dataclasses.asdict, rows))
    if as_json:
        summaries = map(dataclasses.asdict, summarise(rows))
        typer.echo(json.dumps(list(summaries), indent=2))
        return
    _print_table(rows)
    _print_request(rows, [pooled.example for pooled in chosen])


def _print_table(rows: Sequence[LengthRow]) -> None:
    from rich.console import Console
    from rich.table import Table

    from enough.evaluation.lengths import summarise

    tasks = list(dict.fromkeys(row.task for row in rows))
    table = Table(
        title=f"Fixed profile lengths, {', '.join(tasks)}",
        caption="loglik: of the reference, per token · gain: over the empty profile · helped, "
        "harmed: requests whose likelihood rose, fell · overlap: ROUGE-1 of the answer · "
        "changed: answers unlike the one without a profile",
    )
    columns = "k,used,tokens,loglik,gain,helped,harmed,overlap,changed"
    for column in columns.split(","):
        table.add_column(column, justify="right")
    for line in summarise(rows):
        table.add_row(
            str(line.length),
            f"{line.records:.1f}",
            f"{line.tokens:.0f}",
            f"{line.log_likelihood:.3f}",
            f"{line.gain:+.3f}",
            f"{line.helped:.0%}",
            f"{line.harmed:.0%}",
            f"{line.overlap:.3f}",
            f"{line.answers_changed:.0%}",
        )
    Console().print(table)


def _print_request(rows: Sequence[LengthRow], examples: Sequence[Example]) -> None:
    """The request whose likelihood the length matters most for, with every answer."""
    from rich.console import Console
    from rich.markup import escape

    per_request = len(rows) // len(examples)  # rows stand in the order of the requests
    groups = [rows[i : i + per_request] for i in range(0, len(rows), per_request)]
    chosen, example = max(
        zip(groups, examples, strict=True), key=lambda one: max(abs(row.gain) for row in one[0])
    )
    console = Console(highlight=False)
    console.print(f"\nWhere length mattered most ({chosen[0].task}, {chosen[0].request_id}):")
    console.print(f"  request    {escape(one_line(example.request.query, 240))}")
    console.print(f"  reference  {escape(one_line(example.reference, 240))}")
    for row in chosen:
        shown = escape(one_line(row.answer, 44))
        records = "record " if row.length == 1 else "records"
        console.print(
            f"  {row.length:>2} {records} {row.tokens:>5} tokens {row.gain:+.2f}  {shown}"
        )
