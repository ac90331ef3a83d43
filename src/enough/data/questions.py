"""Requests as they are asked, whether or not anybody knows the answers: for predictions.

In: a folder and a split. Out: `Questions`: requests and what each of them may look at. Outputs, if
there are any, are not read.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from enough.data.lamp import is_lamp_folder, read_lamp_questions
from enough.data.logs import SPLITS, is_log_folder, read_log_questions
from enough.errors import DataError
from enough.records import Dataset, Request
from enough.tasks import Task


@dataclass(frozen=True, slots=True, eq=False)
class Questions:
    """The requests of one split, in the order of the file.

    Attributes:
        dataset: histories of their users; it has no examples.
        requests: at least one.
    """

    dataset: Dataset
    requests: Sequence[Request]


def read_questions(path: Path, split: str, task: Task | None = None) -> Questions:
    """Read one split of a folder in either format.

    Raises:
        DataError: naming the place, if something is wrong or there is no such file.
    """
    if split not in SPLITS:
        raise DataError(f"a folder has the splits {', '.join(SPLITS)}, not {split!r}", path=path)
    if is_log_folder(path):
        dataset, requests = read_log_questions(path, split, task)
    elif is_lamp_folder(path):
        dataset, requests = read_lamp_questions(path, split, task)
    else:
        raise DataError(
            "neither a log (histories.jsonl[.gz]) nor official LaMP files (test_questions.json)",
            path=path,
        )
    if not requests:
        raise DataError(f"there is no request in {split!r}", path=path)
    return Questions(dataset, requests)
