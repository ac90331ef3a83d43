"""A folder of official LaMP files as one `Dataset`.

In: {split}_questions.json and {split}_outputs.json. Out: users, records and examples.

Officially every question brings its own profile and no date. The time split also names the user,
and one user's questions then bring profiles of different ages: a later question's profile holds
what an earlier question asks for. So a user's records are merged into one history, each record
once, and `Dataset.visible` keeps for every question which of them its own profile had: a request
never sees more than its question brought, and a user is still one user for splits and statistics.
Where two different records of a user share an id, the second is called "<id>~2".
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from enough.data.lamp_files import Question, find_lamp_file, read_outputs, stream_questions
from enough.data.logs import SPLITS, in_order
from enough.data.parsing import Place, check_answer
from enough.data.task_file import folder_task
from enough.errors import DataError
from enough.records import Dataset, Example, History, Record, Request
from enough.tasks import Task

_LOG = logging.getLogger(__name__)


def is_lamp_folder(path: Path) -> bool:
    """Whether the folder holds a questions file."""
    return any(find_lamp_file(path, split, "questions") is not None for split in SPLITS)


def read_lamp_folder(
    path: Path, task: Task | None = None, splits: Sequence[str] = SPLITS
) -> Dataset:
    """Read those splits of a folder that are there.

    Questions without an outputs file (LaMP's test outputs are not public) are left out with a
    warning; `read_lamp_questions` has them.
    """
    task = task or folder_task(path)
    collected = _Collected()
    examples: dict[str, tuple[Example, ...]] = {}
    for split in splits:
        questions = find_lamp_file(path, split, "questions")
        outputs = find_lamp_file(path, split, "outputs")
        if questions is None:
            continue
        if outputs is None:
            _LOG.warning("%s: no %s_outputs.json, so the split is left out", path, split)
            continue
        examples[split] = _read_split(questions, outputs, split, task, collected)
    if not examples:
        raise DataError(f"no questions with outputs for {', '.join(splits)} in it", path=path)
    histories = {user: in_order(records.values()) for user, records in collected.users.items()}
    requests = [example.request for some in examples.values() for example in some]
    visible = _restricting(collected.visible, histories, requests)
    return Dataset(task, histories, examples, visible)


def read_lamp_questions(
    path: Path, split: str, task: Task | None = None
) -> tuple[Dataset, list[Request]]:
    """Histories and the questions of one split; outputs are not looked at."""
    task = task or folder_task(path)
    file = find_lamp_file(path, split, "questions")
    if file is None:
        raise DataError(f"there is no {split}_questions.json in it", path=path)
    collected = _Collected()
    requests = [question.request for question in _questions(file, split, task, collected)]
    histories = {user: in_order(records.values()) for user, records in collected.users.items()}
    visible = _restricting(collected.visible, histories, requests)
    return Dataset(task, histories, {}, visible), requests


@dataclass
class _Collected:
    users: dict[str, dict[str, Record]] = field(default_factory=dict)
    visible: dict[str, frozenset[str]] = field(default_factory=dict)


def _read_split(
    questions: Path, outputs: Path, split: str, task: Task, collected: _Collected
) -> tuple[Example, ...]:
    references = read_outputs(outputs, task)
    examples: list[Example] = []
    unanswered: list[str] = []
    named = False
    for question in _questions(questions, split, task, collected):
        request = question.request
        named = named or question.has_user_id
        reference = references.pop(request.id, None)
        if reference is None:
            unanswered.append(request.id)
        else:
            # Only now: of a wrong file the questions tell more than the outputs.
            check_answer(reference, task, Place(outputs, item=f"output of {request.id!r}"))
            examples.append(Example(request, reference))
    _check_joined(unanswered, references, questions, outputs)
    if named:
        _compare_with_paper(len(examples), split, task, questions)
    return tuple(examples)


def _questions(path: Path, split: str, task: Task, collected: _Collected) -> Iterator[Question]:
    """The questions of a file, each with its profile among its user's records."""
    for question in stream_questions(path, split, task):
        request = question.request
        if request.id in collected.visible:
            raise DataError(f"a second question {request.id!r}", path=path, field="id")
        records = collected.users.setdefault(request.user, {})
        collected.visible[request.id] = _merge(question, records)
        yield question


def _merge(question: Question, records: dict[str, Record]) -> frozenset[str]:
    """Add the profile to its user's records; return the ids it has there."""
    ids: set[str] = set()
    for record in question.profile:
        name, copies = record.id, 1
        while name in records and records[name] != replace(record, id=name):
            copies += 1
            name = f"{record.id}~{copies}"
        records.setdefault(name, replace(record, id=name))
        ids.add(name)
    return frozenset(ids)


def _check_joined(
    unanswered: Collection[str], unasked: Collection[str], questions: Path, outputs: Path
) -> None:
    for ids, path, problem in (
        (unanswered, outputs, "no output for question"),
        (unasked, questions, "no question for output"),
    ):
        if ids:
            named = ", ".join(list(ids)[:5])
            more = f" and {len(ids) - 5} more" if len(ids) > 5 else ""
            raise DataError(
                f"{problem} {named}{more}; questions and outputs must be of one download",
                path=path,
                field="id",
            )


def _compare_with_paper(count: int, split: str, task: Task, path: Path) -> None:
    expected = dict(task.paper_counts).get(split)
    if expected is not None and expected != count:
        _LOG.warning("%s: %d questions; the paper's time split has %d", path, count, expected)


def _restricting(
    visible: dict[str, frozenset[str]],
    histories: dict[str, History],
    requests: Iterable[Request],
) -> dict[str, frozenset[str]]:
    """Without the entries that leave the whole history visible: with one question a user, all."""
    return {
        request.id: visible[request.id]
        for request in requests
        if len(visible[request.id]) < len(histories[request.user])
    }
