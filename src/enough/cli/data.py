"""`enough data`: fetch data, and see what of it is legal.

In: a folder or a server. Out: files on disk; a table, or JSON with --json. Bars go to stderr.
"""

from __future__ import annotations

import json
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from enough.cli.terminal import check_writable, progress_bars, write_json_lines

if TYPE_CHECKING:
    from rich.console import Console

    from enough.data.check import Check

app = typer.Typer(no_args_is_help=True, help="Fetch data, check it, see what leaks.")


class Benchmark(StrEnum):
    """What can be downloaded."""

    LAMP = "lamp"


class SplitProtocol(StrEnum):
    """LaMP's two ways to split: later requests of the same users, or other users."""

    TIME = "time"
    USER = "user"


class Split(StrEnum):
    """The parts of a benchmark."""

    TRAIN = "train"
    DEV = "dev"
    TEST = "test"


@app.command()
def download(
    benchmark: Annotated[Benchmark, typer.Argument(help="What to fetch.")],
    *,
    protocol: Annotated[
        SplitProtocol, typer.Option(help="LaMP's time-based or user-based split.")
    ] = SplitProtocol.TIME,
    task: Annotated[
        list[str] | None, typer.Option(help="A task such as LaMP-2; repeatable. All by default.")
    ] = None,
    split: Annotated[
        list[Split] | None, typer.Option(help="Repeatable; train and dev by default.")
    ] = None,
    to: Annotated[Path, typer.Option(help="The folder to put it in.")] = Path("lamp"),
    base_url: Annotated[str | None, typer.Option(help="A mirror with the official layout.")] = None,
) -> None:
    """Fetch the official LaMP files; run it again to resume what was cut off."""
    from rich.console import Console

    from enough.data.download import OFFICIAL, download_lamp
    from enough.tasks import LAMP_TASKS, task_named

    del benchmark  # there is one so far
    tasks = [task_named(name) for name in task] if task else list(LAMP_TASKS.values())
    with progress_bars(of_bytes=True) as update:
        folders = download_lamp(
            to,
            tasks,
            [part.value for part in split or (Split.TRAIN, Split.DEV)],
            protocol.value,
            base_url=base_url or OFFICIAL,
            progress=lambda path, done, total: update(
                f"{path.parent.name}/{path.name}", done, total
            ),
        )
    for folder in folders:
        Console().print(str(folder), highlight=False, soft_wrap=True)


@app.command()
def check(
    path: Annotated[Path, typer.Argument(help="A log folder, or one of official LaMP files.")],
    *,
    task: Annotated[
        str | None, typer.Option(help="A LaMP task or a TOML file; else the folder tells.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="JSON instead of a table.")] = False,
    listing: Annotated[
        Path | None, typer.Option("--list", help="Write every removal here, one JSON a line.")
    ] = None,
    near_duplicates: Annotated[
        bool, typer.Option(help="Whether to look for near duplicates, which takes an encoder.")
    ] = True,
    threshold: Annotated[
        float | None, typer.Option(help="Cosine from which on a record is a near duplicate.")
    ] = None,
) -> None:
    """Read a folder, apply the leakage controls, and say what is left."""
    from rich.console import Console

    from enough.data.check import check_dataset, removal_lines
    from enough.data.folders import read_folder
    from enough.data.leakage import DEFAULT_THRESHOLD, LeakageControls
    from enough.data.logs import unread_fields
    from enough.tasks import task_named

    check_writable(listing)
    dataset = read_folder(path, task_named(task) if task else None)
    encoder = None
    if near_duplicates:
        from enough.retrieval.embedding_cache import CachedEncoder
        from enough.retrieval.encoders import load_encoder

        encoder = CachedEncoder(load_encoder())
    controls = LeakageControls(encoder, DEFAULT_THRESHOLD if threshold is None else threshold)
    with progress_bars() as update:
        found = check_dataset(dataset, controls, update, unread_fields(path, dataset.task))
    if listing is not None:
        write_json_lines(listing, removal_lines(dataset, found))
    if as_json:
        Console().print_json(json.dumps(_as_json(found)))
    else:
        _print_table(found, Console())
        for note in found.notes:
            typer.echo(f"Note: {note}.")


@app.command()
def requests(
    path: Annotated[Path, typer.Argument(help="A folder with histories.jsonl and a task.toml.")],
    wording: Annotated[
        str, typer.Option(help="Of an input, with fields of a record: 'Customer: {message}'.")
    ],
    *,
    train: Annotated[int, typer.Option(min=0, help="Records of every user for train.jsonl.")] = 3,
    dev: Annotated[int, typer.Option(min=0, help="The last ones after these, for dev.jsonl.")] = 1,
    least: Annotated[int, typer.Option(min=0, help="Earlier records that a request needs.")] = 3,
    task: Annotated[
        str | None, typer.Option(help="A LaMP task or a TOML file; else the folder tells.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Make requests out of histories: each user's latest actions become requests.

    Writes train.jsonl and dev.jsonl into the folder, unless there are such files. The record that
    is asked again, and whatever came after it, is hidden from the request by rule.
    """
    from enough.data.logs import add_requests, read_histories, require_no_requests
    from enough.data.made_requests import RequestConfig, make_requests
    from enough.errors import DataError
    from enough.tasks import task_named

    config = RequestConfig(wording, train, dev, least)
    require_no_requests(path)
    made = make_requests(read_histories(path, task_named(task) if task else None), config)
    if not made.dataset.splits:
        raise DataError(
            f"no user has a record with {least} earlier ones and something to ask; lower --least",
            path=path,
        )
    written = add_requests(made.dataset, path)
    counts = {name: len(examples) for name, examples in made.dataset.splits.items()}
    if as_json:
        found = {"users": made.users, "left_out": made.left_out, "undated": made.undated}
        typer.echo(json.dumps({"files": list(map(str, written)), "requests": counts} | found))
        return
    for file, count in zip(written, counts.values(), strict=True):
        typer.echo(f"{file}: {count:,} requests")
    typer.echo(f"{made.users:,} users have a request; {made.left_out:,} have too few records")
    if made.undated:
        typer.echo(
            f"{made.undated:,} requests have no date and may see what came later: put dates on "
            "records",
            err=True,
        )


def _as_json(found: Check) -> dict[str, object]:
    return {
        "task": found.task,
        "users": found.users,
        "records": found.records,
        "splits": {
            split.name: {
                "requests": split.requests,
                "users": split.users,
                "median_legal_history": split.median_legal,
                "requests_without_history": split.without_history,
                "removals": {reason.value: count for reason, count in split.removals.items()},
            }
            for split in found.splits
        },
        "notes": list(found.notes),
    }


def _print_table(found: Check, console: Console) -> None:
    from rich.table import Table

    table = Table(title=f"{found.task}: {found.users:,} users, {found.records:,} records")
    table.add_column("")
    for split in found.splits:
        table.add_column(split.name, justify="right")
    rows: list[tuple[str, list[str]]] = [
        ("requests", [f"{split.requests:,}" for split in found.splits]),
        ("users with requests", [f"{split.users:,}" for split in found.splits]),
        ("legal history, median", [f"{split.median_legal:g}" for split in found.splits]),
        ("requests without history", [f"{split.without_history:,}" for split in found.splits]),
    ]
    for reason in found.splits[0].removals if found.splits else ():
        removed = [f"{split.removals[reason]:,}" for split in found.splits]
        rows.append((f"removed: {reason.value}", removed))
    for name, cells in rows:
        table.add_row(name, *cells)
    console.print(table)
