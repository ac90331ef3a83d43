"""`enough bench scoring`: tree scoring against padded batches, in one run."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Annotated

import typer

from enough.precision import Precision

app = typer.Typer(help="Measure speed; every command prints a ratio.", no_args_is_help=True)


@app.callback()
def _group() -> None:
    """Keep `scoring` a sub-command while it is the only one."""


@app.command()
def scoring(
    data: Annotated[Path, typer.Argument(help="Folder with a real log, e.g. a LaMP task.")],
    model: Annotated[str, typer.Option(help="Model name or folder.")] = "SmolLM2-135M-Instruct",
    random_weights: Annotated[
        Path | None,
        typer.Option(help="Folder with config.json and a tokenizer; weights are made up."),
    ] = None,
    dtype: Annotated[
        Precision, typer.Option(help="float32 makes the two scorers comparable to 1e-3.")
    ] = "float32",
    requests: Annotated[int, typer.Option(min=1, help="Requests whose trees are scored.")] = 1,
    actions: Annotated[int, typer.Option(min=1, help="J, actions per deeper state.")] = 8,
    width: Annotated[int, typer.Option(min=1, help="W, prefixes kept per depth.")] = 4,
    max_tokens: Annotated[int, typer.Option(min=1, help="Tokens computed together.")] = 16_384,
    seed: int = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Profiles per second of the tree scorer and of length-sorted padded batches."""
    from enough.bench.scoring import TreeShape, bench_sequences, run_bench
    from enough.bench.subjects import bench_generator
    from enough.data.logs import read_log_folder
    from enough.prompts.prompter import Prompter
    from enough.retrieval.bm25 import BM25Retriever

    dataset = read_log_folder(data)
    generator = bench_generator(model, random_weights, dtype, max_tokens)
    sequences = bench_sequences(
        dataset,
        BM25Retriever(),
        Prompter(generator.tokenizer),
        requests=requests,
        shape=TreeShape(actions=actions, width=width),
        seed=seed,
    )
    result = run_bench(generator, sequences, requests=requests, max_tokens=max_tokens)
    measured = dataclasses.asdict(result)
    if as_json:
        typer.echo(json.dumps(measured, indent=2))
        return
    for key, value in measured.items():
        typer.echo(
            f"{key:>24}  {value:,.4g}" if isinstance(value, float) else f"{key:>24}  {value}"
        )
