"""Predictions as LaMP's leaderboard takes them.

In: rows of one method and one run, and the ids of all questions. Out: one file per task in the
shape of LaMP's own outputs, {"task": "LaMP_n", "golds": [{"id", "output"}]}.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from enough.errors import DataError
from enough.evaluation.rows import Row
from enough.run_folders import write_json
from enough.tasks import task_named

_NAMED = 5


def write_predictions(
    folder: Path, rows: Sequence[Row], questions: Mapping[str, Sequence[str]]
) -> list[Path]:
    """One file per task, in the order of the questions; nothing is written unless all are whole.

    Args:
        folder: where "LaMP_n.json" go.
        rows: of one method and one seed.
        questions: task -> the ids of all its questions.

    Raises:
        DataError: if the rows are of several runs, or ids are missing, twice there or unknown.
        UnknownNameError: if a task is not LaMP's.
    """
    runs = sorted({(row.method, row.seed) for row in rows})
    if len(runs) > 1:
        raise DataError(f"predictions are of one method and one seed, not of {_some(runs)}")
    if strange := {row.task for row in rows} - questions.keys():
        raise DataError(f"there are answers but no questions of {_some(sorted(strange))}")
    files = {}
    for name, ids in questions.items():
        answers = _checked([row for row in rows if row.task == name], ids, name)
        files[task_named(name).name] = {one: answers[one] for one in ids}
    return [write_outputs(folder, name, answers) for name, answers in files.items()]


def write_outputs(folder: Path, task: str, answers: Mapping[str, str]) -> Path:
    """The answers of one task by question id, in their order; the file."""
    name = task.replace("-", "_")
    golds = [{"id": one, "output": answer} for one, answer in answers.items()]
    path = folder / f"{name}.json"
    write_json(path, {"task": name, "golds": golds})
    return path


def _checked(rows: Sequence[Row], ids: Sequence[str], task: str) -> dict[str, str]:
    """Answers by id, exactly one for every question."""
    given = Counter(row.request_id for row in rows)
    problems = {
        "questions twice there": [i for i, often in Counter(ids).items() if often > 1],
        "no answer to": [i for i in ids if i not in given],
        "more than one answer to": [i for i, often in given.items() if often > 1],
        "no question for the answer to": sorted(given.keys() - set(ids)),
    }
    for problem, which in problems.items():
        if which:
            raise DataError(f"{task}: {problem} {_some(which)}")
    return {row.request_id: row.answer for row in rows}


def _some(names: Collection[object]) -> str:
    """The first few, and how many more."""
    shown = ", ".join(map(str, list(names)[:_NAMED]))
    more = len(names) - _NAMED
    return f"{shown} and {more} more" if more > 0 else shown
