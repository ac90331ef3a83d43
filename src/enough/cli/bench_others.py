"""`enough bench` of what surrounds the models: other engines, fleets, the store, the service."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Annotated

import typer

from enough.cli.bench_options import Data, Json, dataset_or_made_up, show_measured
from enough.cli.engine import EngineName


def engine(
    config: Annotated[Path, typer.Argument(help="A TOML file with a table `generator`.")],
    data: Data = None,
    *,
    against: Annotated[
        str | None,
        typer.Option(help="The same weights here: name or folder.", show_default="the model"),
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
        dataset_or_made_up(data),
        BM25Retriever(),
        Prompter(here.tokenizer),
        requests=requests,
        shape=TreeShape(max_records=max_records, actions=4, width=2),
        seed=seed,
    )
    result = run_engine_bench(elsewhere, here, drawn(sequences, profiles, seed))
    show_measured(dataclasses.asdict(result), as_json)


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
    cases = bench_cases(
        dataset_or_made_up(None), config, load_stages(config.retrieval, config.matching)
    )
    given = EngineConfig(kind=engine.value, workers=workers, address=address)
    result = run_fleet_bench(cases, config, given, seconds)
    show_measured(dataclasses.asdict(result), as_json)


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
    show_measured(dataclasses.asdict(result), as_json)


def serve(
    *,
    requests: Annotated[
        int, typer.Option(min=1, help="Of one client, and of all clients together.")
    ] = 400,
    clients: Annotated[int, typer.Option(min=1, help="At once.")] = 16,
    users: Annotated[int, typer.Option(min=1, help="Made up, with 40 records each.")] = 16,
    task: Annotated[
        list[str] | None, typer.Option(help="Whose schema they have (repeat); all six without.")
    ] = None,
    endurance: Annotated[
        int, typer.Option(min=0, help="Further requests of all clients: failures and memory.")
    ] = 0,
    seed: int = 0,
    as_json: Json = False,
) -> None:
    """The service in a process of its own: time of a selection, and throughput against its encoder.

    The service's own time is all of a request but the encoding of its query.
    """
    from enough.bench.serving import run_serve_bench

    result = run_serve_bench(
        requests, clients=clients, users=users, tasks=task or (), endurance=endurance, seed=seed
    )
    show_measured(dataclasses.asdict(result), as_json)
