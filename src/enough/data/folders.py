"""Any folder of data to a `Dataset`: ours (`logs`) or LaMP's official files (`lamp`); or none."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from enough.data.lamp import is_lamp_folder, read_lamp_folder
from enough.data.logs import is_log_folder, read_log_folder
from enough.data.synthetic import WorldConfig, make_world
from enough.errors import ConfigError, DataError
from enough.records import Dataset
from enough.tasks import Task


def read_folder(path: Path, task: Task | None = None) -> Dataset:
    """Read a folder in whichever of the two formats it is."""
    if not path.is_dir():
        what = "is a file; give its folder" if path.is_file() else "there is no such folder"
        raise DataError(what, path=path)
    if is_log_folder(path):
        return read_log_folder(path, task)
    if is_lamp_folder(path):
        return read_lamp_folder(path, task)
    raise DataError(
        "neither a log (histories.jsonl[.gz] with train/dev.jsonl[.gz]) nor official LaMP files "
        "(dev_questions.json with dev_outputs.json)",
        path=path,
    )


def datasets_of(folders: Sequence[Path], world: WorldConfig) -> list[Dataset]:
    """What settings name: folders, one per task, or without any the made-up people of a world."""
    if not folders:
        return list(make_world(world).datasets.values())
    found = [read_folder(folder) for folder in folders]
    require_one_per_task(found)
    return found


def require_one_per_task(datasets: Sequence[Dataset]) -> None:
    """Refuse data sets of one task twice: things are looked up by the task's name."""
    names = [dataset.task.name for dataset in datasets]
    if len(set(names)) < len(names):
        raise ConfigError(f"one folder per task, please; given: {', '.join(names)}")
