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
    data: Annotated[
        Path | None, typer.Argument(help="Folder with a real log; the made-up world without one.")
    ] = None,
    *,
    model: Annotated[str, typer.Option(help="Name or folder.")] = "SmolLM2-135M-Instruct",
    random_weights: Annotated[
        Path | None,
        typer.Option(help="Folder with a config.json; weights are made up."),
    ] = None,
    dtype: Annotated[
        Precision, typer.Option(help="float32 makes the two scorers comparable to 1e-3.")
    ] = "float32",
    requests: Annotated[int, typer.Option(min=1, help="Requests whose trees are scored.")] = 1,
    actions: Annotated[int, typer.Option(min=1, help="J, actions per deeper state.")] = 8,
    width: Annotated[int, typer.Option(min=1, help="W, prefixes kept per depth.")] = 4,
    naive_share: Annotated[
        float, typer.Option(min=0.01, max=1.0, help="Share of profiles to time naively.")
    ] = 0.2,
    tokens: Annotated[
        int | None, typer.Option(min=1, help="Computed together; by default what suits the device.")
    ] = None,
    seed: int = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Profiles per second of the tree scorer and of length-sorted padded batches.

    Trees are as the search makes them: pools of 20, depths up to 10, leave-one-out and three
    replacements at one slot of every prefix.
    """
    from enough.bench.scoring import TreeShape, bench_sequences, run_bench
    from enough.bench.subjects import bench_generator
    from enough.data.folders import read_folder
    from enough.data.synthetic import WorldConfig, make_world
    from enough.prompts.prompter import Prompter
    from enough.retrieval.bm25 import BM25Retriever

    if data is None:
        dataset = make_world(WorldConfig(tasks=("LaMP-4",))).datasets["LaMP-4"]
    else:
        dataset = read_folder(data)
    generator = bench_generator(model, random_weights, dtype)
    sequences = bench_sequences(
        dataset,
        BM25Retriever(),
        Prompter(generator.tokenizer),
        requests=requests,
        shape=TreeShape(actions=actions, width=width),
        seed=seed,
    )
    result = run_bench(
        generator, sequences, requests=requests, naive_share=naive_share, tokens=tokens, seed=seed
    )
    measured = dataclasses.asdict(result)
    if as_json:
        typer.echo(json.dumps(measured, indent=2))
        return
    for key, value in measured.items():
        shown = f"{value:,.4g}" if isinstance(value, float) else value
        typer.echo(f"{key:>22}  {shown}")
