"""Answers to many requests, one call of the generator each, whether or not references are known.

In: questions, a selector for them (`Enough`), a generator. Out: predictions.jsonl, a line for each
request in the order of the file, and for a task of LaMP's the file its leaderboard takes. A run
that was killed goes on where it was: a portion of lines is there whole before the next begins.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from enough.data.jsonl import json_line
from enough.data.questions import Questions
from enough.errors import ConfigError, DataError
from enough.evaluation.leaderboard import write_outputs
from enough.online.personaliser import Enough
from enough.online.selected import Selected
from enough.progress import OnStep, silent
from enough.protocols import Generator
from enough.run_folders import first_difference, held_folder, read_json, write_json
from enough.tasks import LAMP_TASKS

_TOGETHER = 32  # requests that are answered together, and lost together by a kill
LINES, SETTINGS = "predictions.jsonl", "settings.json"


@dataclass(frozen=True, slots=True)
class Prediction:
    """One answer, and the profile it was given; `records` are ids in prompt order."""

    id: str
    user: str
    answer: str
    records: tuple[str, ...]
    tokens: int
    prompt_tokens: int
    tokens_saved: int
    policy: str
    reason: str


def predict(
    questions: Questions,
    enough: Enough,
    generator: Generator,
    folder: Path,
    settings: Mapping[str, Any],
    *,
    requests: int = 0,
    on_step: OnStep = silent,
) -> list[Prediction]:
    """Answer what is not answered yet.

    Args:
        questions: what is asked.
        enough: selects the records.
        generator: answers.
        folder: where lines and settings are; made if it is not there.
        settings: everything an answer depends on; a folder of other ones is refused.
        requests: how many of the first ones; 0 takes all, and writes the leaderboard's file.
        on_step: told how far it is.
    """
    asked = questions.requests[: requests or None]
    with held_folder(folder):
        _require_settings(folder, dict(settings))
        lines = folder / LINES
        found = _finished(lines, [request.id for request in questions.requests])
        most = questions.dataset.task.max_answer_tokens
        on_step("answering", min(len(found), len(asked)), len(asked))
        while len(found) < len(asked):
            some = asked[len(found) : len(found) + _TOGETHER]
            chosen = enough.select_many([(one, questions.dataset.history(one)) for one in some])
            prompts = [generator.tokenizer.encode(one.prompt) for one in chosen]
            texts = generator.generate(prompts, most)
            made = [_made(*pair) for pair in zip(chosen, texts, strict=True)]
            _append(lines, made)
            found += made
            on_step("answering", len(found), len(asked))
        if len(found) == len(questions.requests) and _is_lamps(questions):
            answers = {one.id: one.answer for one in found}
            write_outputs(folder, questions.dataset.task.name, answers)
    return found[: len(asked)]


def _made(selected: Selected, answer: str) -> Prediction:
    return Prediction(
        id=selected.request.id,
        user=selected.request.user,
        answer=answer,
        records=tuple(record.id for record in selected.records),
        tokens=selected.tokens,
        prompt_tokens=selected.prompt_tokens,
        tokens_saved=selected.tokens_saved,
        policy=selected.policy,
        reason=selected.reason,
    )


def _is_lamps(questions: Questions) -> bool:
    task = questions.dataset.task
    return LAMP_TASKS.get(task.name) == task


def _require_settings(folder: Path, settings: dict[str, Any]) -> None:
    path = folder / SETTINGS
    if not path.exists():
        if (folder / LINES).exists():
            raise ConfigError(f"{folder}: holds {LINES}, but no {SETTINGS}; name another --out")
        write_json(path, settings)
    elif name := first_difference(read_json(path), settings):
        raise ConfigError(
            f"{folder}: was begun with another setting of {name}; give these settings another "
            "--out, or the old ones back"
        )


def _finished(path: Path, ids: Sequence[str]) -> list[Prediction]:
    """What is there already, in the order of the questions; half a line, of a kill, is cut off."""
    if not path.exists():
        return []
    raw = path.read_bytes()
    whole = raw[: raw.rfind(b"\n") + 1]
    if len(whole) < len(raw):
        with path.open("r+b") as file:
            file.truncate(len(whole))
    found = []
    for number, (line, wanted) in enumerate(zip(whole.splitlines(), ids, strict=False), start=1):
        try:
            table = json.loads(line)
            one = Prediction(**(table | {"records": tuple(table["records"])}))
        except (ValueError, TypeError, KeyError) as error:
            raise DataError(f"line {number} is no prediction ({error})", path=path) from None
        if one.id != wanted:
            raise DataError(f"line {number} answers {one.id!r}, not {wanted!r}", path=path)
        found.append(one)
    return found


def _append(path: Path, made: Sequence[Prediction]) -> None:
    with path.open("ab") as file:
        file.write(b"".join(json_line(asdict(one)) for one in made))
        file.flush()
        os.fsync(file.fileno())
