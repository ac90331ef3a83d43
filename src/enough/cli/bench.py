"""`enough bench`: speed, as a ratio against a plain way of doing the same, in one run."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from enough.precision import Precision

if TYPE_CHECKING:
    from enough.records import Dataset

app = typer.Typer(help="Measure speed; every command prints a ratio.", no_args_is_help=True)


Data = Annotated[
    Path | None, typer.Argument(help="Folder with a real log; the made-up world without one.")
]
Model = Annotated[str, typer.Option(help="Name or folder.")]
RandomWeights = Annotated[
    Path | None, typer.Option(help="Folder with a config.json; weights are made up.")
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]


@app.command()
def scoring(
    data: Data = None,
    *,
    model: Model = "SmolLM2-135M-Instruct",
    random_weights: RandomWeights = None,
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
    as_json: Json = False,
) -> None:
    """Profiles per second of the tree scorer and of length-sorted padded batches.

    Trees are as the search makes them: pools of 20, depths up to 10, leave-one-out and three
    replacements at one slot of every prefix.
    """
    from enough.bench.scoring import TreeShape, bench_sequences, run_bench
    from enough.bench.subjects import bench_generator
    from enough.prompts.prompter import Prompter
    from enough.retrieval.bm25 import BM25Retriever

    dataset = _dataset(data)
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
    _show(dataclasses.asdict(result), as_json)


@app.command()
def label(
    data: Data = None,
    *,
    model: Model = "SmolLM2-135M-Instruct",
    random_weights: RandomWeights = None,
    dtype: Annotated[Precision, typer.Option(help="As in a [generator] table.")] = "auto",
    requests: Annotated[int, typer.Option(min=1, help="With full pools, drawn at random.")] = 1,
    chunk: Annotated[int, typer.Option(min=1, help="Requests searched in step.")] = 8,
    max_records: Annotated[int, typer.Option(min=1, help="K_max.")] = 10,
    actions: Annotated[int, typer.Option(min=1, help="J, actions per deeper state.")] = 8,
    width: Annotated[
        int,
        typer.Option(min=1, help="W, prefixes kept per depth; labels use 4, which takes longer."),
    ] = 1,
    naive_share: Annotated[
        float, typer.Option(min=0.001, max=1.0, help="Share of profiles to score naively.")
    ] = 0.05,
    seed: int = 0,
    as_json: Json = False,
) -> None:
    """Labelling end to end, against every profile's K⁻ + 2 scorings in padded batches.

    Search, packing, journal and files are in the time; retrieval and matching are not.
    """
    from enough.bench.labelling import bench_cases, run_label_bench
    from enough.bench.subjects import bench_generator
    from enough.labels.config import LabelConfig
    from enough.teacher.preparation import load_stages
    from enough.teacher.proposals import SearchConfig

    dataset = _dataset(data)
    config = LabelConfig(
        requests=requests,
        seed=seed,
        chunk=chunk,
        search=SearchConfig(max_records=max_records, actions=actions, width=width, seed=seed),
    )
    generator = bench_generator(model, random_weights, dtype)
    cases = bench_cases(dataset, config, load_stages(config.retrieval, config.matching))
    result = run_label_bench(generator, cases, config, naive_share)
    _show(dataclasses.asdict(result), as_json)


def _dataset(data: Path | None) -> Dataset:
    from enough.data.folders import read_folder
    from enough.data.synthetic import WorldConfig, make_world

    if data is None:
        return make_world(WorldConfig(tasks=("LaMP-4",))).datasets["LaMP-4"]
    return read_folder(data)


def _show(measured: dict[str, Any], as_json: bool) -> None:
    if as_json:
        typer.echo(json.dumps(measured, indent=2))
        return
    for key, value in measured.items():
        shown = f"{value:,.4g}" if isinstance(value, float) else value
        typer.echo(f"{key:>29}  {shown}")
