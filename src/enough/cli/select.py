"""`enough select`: which records of a history are worth their tokens for one request, and why."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from enough.cli.terminal import one_line, progress_bars

if TYPE_CHECKING:
    from enough.online.selected import Selected
    from enough.records import Dataset, History, Request

TaskName = Annotated[
    str | None, typer.Option(help="LaMP-2, ..., or a task's TOML file; folders tell it.")
]
Controller = Annotated[
    Path | None, typer.Option(help="Folder of `enough train`; the bundled controller without it.")
]
Untrained = Annotated[
    bool, typer.Option("--untrained", help="Select by relevance, diversity and price alone.")
]


def select(
    data: Annotated[
        Path | None, typer.Argument(help="Folder with a log or LaMP files.", show_default=False)
    ] = None,
    request: Annotated[
        str | None, typer.Option(help="Id of a request; the first of the split by default.")
    ] = None,
    split: Annotated[str, typer.Option(help="Which examples of the folder.")] = "dev",
    history: Annotated[
        Path | None, typer.Option(help="In place of a folder: a file of one user's records.")
    ] = None,
    text: Annotated[
        str | None, typer.Option("--input", help="With --history: what the user asks now.")
    ] = None,
    date: Annotated[str | None, typer.Option(help="With --input: when it is asked.")] = None,
    user: Annotated[str | None, typer.Option(help="With --history: whose records.")] = None,
    task: TaskName = None,
    controller: Controller = None,
    untrained: Untrained = False,
    max_records: Annotated[int | None, typer.Option(min=0, help="K_max (10 by default).")] = None,
    config: Annotated[Path | None, typer.Option(help="A TOML file of settings.")] = None,
    only_prompt: Annotated[
        bool, typer.Option("--prompt", help="Print the exact prompt and nothing else.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Select the records of a user that one request is better off with; no language model runs.

    enough select my-log --request q7 --controller controller
    enough select --history history.jsonl --task LaMP-7 --input "Paraphrase this: I am late."
    """
    from enough.config import load_config
    from enough.errors import ConfigError
    from enough.online.config import SelectConfig
    from enough.online.personaliser import Enough
    from enough.online.untrained import UntrainedConfig

    if only_prompt and as_json:
        raise ConfigError("--json has the prompt in it: give --prompt or --json, not both")
    if untrained and controller is not None:
        raise ConfigError("--untrained uses no controller: give --untrained or --controller")
    settings = load_config(config, SelectConfig) if config else SelectConfig()
    if untrained and settings.untrained is None:
        settings = dataclasses.replace(settings, untrained=UntrainedConfig())
    if max_records is not None:
        settings = dataclasses.replace(settings, max_records=max_records)
    asked, records = _asked(data, request, split, task, history, text, date, user)
    with progress_bars() as update:
        update("loading models", 0, 1)
        enough = Enough.configured(settings, controller)
        update("loading models", 1, 1)
        selected = enough.select(asked, records)
    if only_prompt:
        typer.echo(selected.prompt, nl=False)
    elif as_json:
        typer.echo(json.dumps(selected.as_dict(), indent=2, allow_nan=False))
    else:
        _print(selected)


def _asked(
    data: Path | None,
    request: str | None,
    split: str,
    task: str | None,
    history: Path | None,
    text: str | None,
    date: str | None,
    user: str | None,
) -> tuple[Request, History]:
    """The request and the raw history of its user, from a folder or from a file and options."""
    from enough.data.folders import read_folder
    from enough.data.history_file import read_history
    from enough.errors import ConfigError
    from enough.records import Request
    from enough.tasks import task_named

    if (data is None) == (history is None):
        raise ConfigError("give either a folder or --history with --task and --input")
    if data is not None:
        if text is not None or user is not None or date is not None:
            raise ConfigError("--input, --date and --user go with --history, not with a folder")
        dataset = read_folder(data, task_named(task) if task else None)
        found = _request_of(dataset, split, request)
        return found, dataset.history(found)
    assert history is not None
    if task is None or text is None:
        raise ConfigError(f"--history needs {'--task' if task is None else '--input'}, too")
    if request is not None:
        raise ConfigError("--request goes with a folder; with --history say --input")
    wanted = task_named(task)
    owner, records = read_history(history, wanted, user)
    return Request("request", owner, wanted, text, date), records


def _request_of(dataset: Dataset, split: str, request: str | None) -> Request:
    from difflib import get_close_matches

    from enough.data.splits import draw_examples
    from enough.errors import DataError

    if request is None:
        if not (examples := draw_examples(dataset, split, 0, 0)):
            raise DataError(f"{dataset.task.name} has no request in {split!r}")
        return examples[0].request
    # Ids are unique over all splits, so an id needs no split with it.
    known = {e.request.id: e.request for examples in dataset.splits.values() for e in examples}
    if request not in known:
        near = get_close_matches(request, known, n=3, cutoff=0) or ["none"]
        raise DataError(
            f"{dataset.task.name} has no request {request!r}; near ones: {', '.join(near)}"
        )
    return known[request]


def _print(selected: Selected) -> None:
    asked = selected.request
    typer.echo(f"{asked.task.name}, request {asked.id}: {one_line(asked.query, 160)}")
    for number, record in enumerate(selected.records, start=1):
        shown = " → ".join(part for part in (record.context, record.action) if part)
        parts = (one_line(record.id, 24), one_line(record.date or "", 24), one_line(shown, 100))
        typer.echo(f"  {number}. {'  '.join(part for part in parts if part)}")
    text = selected.explain()
    typer.echo(text.encode("utf-8", "replace").decode())  # ids may hold half characters
