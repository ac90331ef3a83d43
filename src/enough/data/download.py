"""Fetch the official LaMP files.

In: a folder, tasks, splits and the protocol ("time" or "user"). Out: folder/{protocol}/LaMP_n with
{split}_questions.json and {split}_outputs.json, which `lamp.read_lamp_folder` reads. The protocols
get folders of their own because their files have the same names.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from pathlib import Path
from typing import Literal, get_args

import httpx

from enough.data.fetch import NotOnServerError, Patience, Progress, fetch
from enough.data.logs import SPLITS
from enough.errors import DownloadError, UnknownNameError
from enough.tasks import LAMP_TASKS, Task

OFFICIAL = "https://ciir.cs.umass.edu/downloads/LaMP"
SplitProtocol = Literal["time", "user"]

_LOG = logging.getLogger(__name__)
_KINDS = ("questions", "outputs")
# Without the extra folder the server gives a retired task of the same number.
_EXTRA_FOLDER = {"LaMP-2": "new/"}


def download_lamp(
    folder: Path,
    tasks: Sequence[Task],
    splits: Sequence[str] = ("train", "dev"),
    protocol: SplitProtocol = "time",
    *,
    base_url: str = OFFICIAL,
    progress: Progress | None = None,
    patience: Patience | None = None,
) -> list[Path]:
    """Fetch what is not there yet; return one folder per task.

    Raises:
        DownloadError: if a file could not be fetched whole; what came stays for the next try.
    """
    if protocol not in get_args(SplitProtocol):
        raise UnknownNameError("protocol", protocol, get_args(SplitProtocol))
    for split in splits:
        if split not in SPLITS:
            raise UnknownNameError("split", split, SPLITS)
    patience = patience or Patience()
    targets: list[Path] = []
    with httpx.Client(timeout=patience.timeout, follow_redirects=True) as client:
        for task in tasks:
            targets.append(folder / protocol / _folder_name(task))
            targets[-1].mkdir(parents=True, exist_ok=True)
            for split in splits:
                for kind in _KINDS:
                    url = lamp_url(task, split, kind, protocol, base_url)
                    path = targets[-1] / f"{split}_{kind}.json"
                    try:
                        fetch(client, url, path, progress or _silent, patience)
                    except NotOnServerError:
                        if (split, kind) != ("test", "outputs"):
                            raise
                        _LOG.warning(
                            "%s is not on the server: LaMP's test outputs are not public (its "
                            "leaderboard keeps them). `enough predict` answers test; score dev.",
                            url,
                        )
                    else:
                        _require_json(path, url)
    return targets


def lamp_url(
    task: Task, split: str, kind: str, protocol: SplitProtocol, base_url: str = OFFICIAL
) -> str:
    """Where a file lies on the server."""
    if task.name not in LAMP_TASKS:
        raise UnknownNameError("LaMP task", task.name, LAMP_TASKS)
    part = "time/" if protocol == "time" else ""
    extra = _EXTRA_FOLDER.get(task.name, "")
    base = base_url.rstrip("/")
    return f"{base}/{part}{_folder_name(task)}/{extra}{split}/{split}_{kind}.json"


def _folder_name(task: Task) -> str:
    return task.name.replace("-", "_")


def _require_json(path: Path, url: str) -> None:
    """Refuse the web page that some networks and mirrors send instead of a file."""
    with path.open("rb") as file:
        opening = file.read(64).lstrip()
    if not opening.startswith((b"[", b"{")):
        path.unlink()
        raise DownloadError(f"not JSON but {opening[:20]!r}...; is the URL right?", path=url)


def _silent(_path: Path, _done: int, _total: int | None) -> None:
    pass
