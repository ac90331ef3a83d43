"""`enough bench`: speed, as a ratio against a plain way of doing the same, in one run."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from enough.cli.engine import EngineName
from enough.precision import Precision

if TYPE_CHECKING:
    from enough.bench.selecting import SelectBench
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
def engine(
    config: Annotated[Path, typer.Argument(help="A TOML file with a [generator] table.")],
    data: Data = None,
    *,
    against: Annotated[
        str | None, typer.Option(help="The same weights here: name or folder. [default: the model]")
    ] = None,
    profiles: Annotated[int, typer.Option(min=1, help="Drawn from trees of the requests.")] = 200,
    requests: Annotated[int, typer.Option(min=1, help="Requests whose trees are drawn from.")] = 8,
    max_records: Annotated[int, typer.Option(min=1, help="K_max of the trees.")] = 4,
    seed: int = 0,
    as_json: Json = False,
) -> None:
    """Likelihoods of a server or of vLLM against the same weights in this process, in float32."""
    from enough.bench.engines import EngineBenchConfig, drawn, run_engine_bench
    from enough.bench.scoring import TreeShape, bench_sequences
    from enough.config import load_config
    from enough.generators.config import GeneratorConfig
    from enough.generators.loading import load_configured
    from enough.prompts.prompter import Prompter
    from enough.retrieval.bm25 import BM25Retriever

    settings = load_config(config, EngineBenchConfig).generator
    elsewhere = load_configured(settings)
    here = load_configured(GeneratorConfig(model=against or settings.prompt_model, dtype="float32"))
    sequences = bench_sequences(
        _dataset(data),
        BM25Retriever(),
        Prompter(here.tokenizer),
        requests=requests,
        shape=TreeShape(max_records=max_records, actions=4, width=2),
        seed=seed,
    )
    result = run_engine_bench(elsewhere, here, drawn(sequences, profiles, seed))
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


@app.command()
def fleet(
    *,
    engine: Annotated[EngineName, typer.Option(help="Who works.")] = EngineName.RAY,
    workers: Annotated[int, typer.Option(min=2, help="Compared with one.")] = 2,
    requests: Annotated[int, typer.Option(min=2, help="Of the made-up world.")] = 32,
    seconds: Annotated[float, typer.Option(min=0, help="That every call waits.")] = 0.05,
    address: Annotated[str, typer.Option(help="Of a Ray cluster; one is started without.")] = "",
    as_json: Json = False,
) -> None:
    """Calls per second of several workers against one, with a generator that only waits.

    A stand-in for a server or a GPU: no core is the limit, so the ratio is what the fleet itself
    allows. Starting workers is not in the time. Both must write the same bytes.
    """
    from enough.bench.fleet import run_fleet_bench
    from enough.bench.labelling import bench_cases
    from enough.fleet.config import EngineConfig
    from enough.labels.config import LabelConfig
    from enough.teacher.preparation import load_stages
    from enough.teacher.proposals import SearchConfig

    config = LabelConfig(
        requests=requests, chunk=1, search=SearchConfig(max_records=2, actions=4, width=1, roots=())
    )
    cases = bench_cases(_dataset(None), config, load_stages(config.retrieval, config.matching))
    given = EngineConfig(kind=engine.value, workers=workers, address=address)
    result = run_fleet_bench(cases, config, given, seconds)
    _show(dataclasses.asdict(result), as_json)


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
        _show(dataclasses.asdict(result), as_json)
    else:
        _print_select_table(result)


@app.command()
def store(
    *,
    users: Annotated[int, typer.Option(min=1, help="With so many records each.")] = 6,
    records: Annotated[int, typer.Option(min=20, help="Of each user.")] = 10_000,
    dim: Annotated[int, typer.Option(min=2, help="Numbers of a vector.")] = 384,
    rounds: Annotated[int, typer.Option(min=2, help="Questions to each user.")] = 20,
    database: Annotated[
        str | None, typer.Option(help="An empty one, by URL; a temporary SQLite file without it.")
    ] = None,
    seed: int = 0,
    as_json: Json = False,
) -> None:
    """Time to find a user's 20 nearest records, against one row per vector.

    The query's vector is known. With the store's memory, without it, and beside a thread that asks
    for a user with ten times as many records.
    """
    from enough.bench.storing import run_store_bench

    result = run_store_bench(users, records, dim, rounds, seed=seed, database=database)
    _show(dataclasses.asdict(result), as_json)


@app.command()
def serve(
    *,
    requests: Annotated[
        int, typer.Option(min=1, help="Of one client, and of all clients together.")
    ] = 400,
    clients: Annotated[int, typer.Option(min=1, help="At once.")] = 16,
    users: Annotated[int, typer.Option(min=1, help="Made up, with 40 records each.")] = 16,
    task: Annotated[str, typer.Option(help="Whose schema they have.")] = "LaMP-7",
    seed: int = 0,
    as_json: Json = False,
) -> None:
    """The service in a process of its own: time of a selection, and throughput against its encoder.

    The service's own time is all of a request but the encoding of its query.
    """
    from enough.bench.serving import run_serve_bench

    result = run_serve_bench(requests, clients=clients, users=users, task=task, seed=seed)
    _show(dataclasses.asdict(result), as_json)


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
