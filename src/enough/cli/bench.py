"""`enough bench`: speed, as a ratio against a plain way of doing the same, in one run."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from enough.cli.bench_options import Data, Json, dataset_or_made_up, show_measured
from enough.cli.bench_others import engine, fleet, serve, store
from enough.precision import Precision

if TYPE_CHECKING:
    from enough.bench.selecting import SelectBench

app = typer.Typer(help="Measure speed; every command prints a ratio.", no_args_is_help=True)
for _command in (engine, fleet, store, serve):
    app.command()(_command)


Model = Annotated[str, typer.Option(help="Name or folder.")]
RandomWeights = Annotated[
    Path | None, typer.Option(help="Folder with a config.json; weights are made up.")
]


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

    dataset = dataset_or_made_up(data)
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
    show_measured(dataclasses.asdict(result), as_json)


@app.command()
def label(
    data: Data = None,
    *,
    model: Model = "SmolLM2-135M-Instruct",
    random_weights: RandomWeights = None,
    dtype: Annotated[Precision, typer.Option(help="As in a table `generator`.")] = "auto",
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

    dataset = dataset_or_made_up(data)
    config = LabelConfig(
        requests=requests,
        seed=seed,
        chunk=chunk,
        search=SearchConfig(max_records=max_records, actions=actions, width=width, seed=seed),
    )
    generator = bench_generator(model, random_weights, dtype)
    cases = bench_cases(dataset, config, load_stages(config.retrieval, config.matching))
    result = run_label_bench(generator, cases, config, naive_share)
    show_measured(dataclasses.asdict(result), as_json)


@app.command()
def select(
    *,
    controller: Annotated[
        Path | None, typer.Option(help="Folder of `enough train`; random weights without one.")
    ] = None,
    requests: Annotated[int, typer.Option(min=1, help="Of the made-up world.")] = 200,
    pool: Annotated[int, typer.Option(min=1, help="M, candidates of a request.")] = 20,
    max_records: Annotated[int, typer.Option(min=1, help="K_max; every profile gets there.")] = 10,
    seed: int = 0,
    as_json: Json = False,
) -> None:
    """Time of a decision, against the training module, and decisions per second of many.

    Vectors are known; a profile is never stopped before K_max, so that every step is paid. All ways
    must choose the same records. The best of several rounds counts.
    """
    from enough.bench.selecting import encoder_or_reason, run_select_bench
    from enough.bench.selecting_subjects import made_up_subjects, random_controller
    from enough.controller.checkpoint import load_controller

    trained = load_controller(controller) if controller else random_controller(seed)
    subjects = made_up_subjects(
        requests,
        pool=pool,
        max_records=max_records,
        tasks=list(trained.model.tasks),
        dim=trained.model.config.dim,
        seed=seed,
    )
    result = run_select_bench(trained, subjects, encoder_or_reason())
    if as_json:
        show_measured(dataclasses.asdict(result), as_json)
    else:
        _print_select_table(result)


def _print_select_table(result: SelectBench) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table(
        title=f"Selecting {result.max_records} of {result.pool} records",
        pad_edge=False,
        caption=f"{result.requests} requests, {result.cores} cores, load {result.load:.1f}",
    )
    for head in ("", "p50 ms", "p95 ms", "per second"):
        table.add_column(head, justify="right" if head else "left")
    table.add_row("policy", f"{result.p50_ms:.2f}", f"{result.p95_ms:.2f}")
    table.add_row("training module", f"{result.module_p50_ms:.2f}")
    table.add_row("ratio", f"{result.ratio:.1f}")
    table.add_row("many at once", "", "", f"{result.decisions_per_s:,.0f}")
    encoding = result.encode_p50_ms
    table.add_row("encoding a query", "–" if encoding is None else f"{encoding:.2f}")
    Console().print(table)
    if result.encode_reason:
        typer.echo(f"no encoder: {result.encode_reason}")
