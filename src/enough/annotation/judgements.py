"""What annotators saved, checked against the key.

In: files of the page and its key. Out: `AnnotatorFile`s. Everything that could spoil a verdict is
refused by file and place: another page, a pair or an answer that is not there, a name used twice.
Pairs and criteria that were not judged are simply not in it.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from enough.annotation.criteria import CHOICES, CRITERIA, Choice
from enough.annotation.key import Key
from enough.errors import DataError

FORMAT = 1
_CRITERIA = {criterion.name for criterion in CRITERIA}


@dataclass(frozen=True, slots=True)
class Judgement:
    """One answer to one question about one pair."""

    pair: str
    criterion: str
    choice: Choice


@dataclass(frozen=True, slots=True)
class AnnotatorFile:
    """All that one annotator judged.

    Attributes:
        finished: pairs of which every criterion is judged.
        seconds: spent on all pairs.
    """

    path: Path
    annotator: str
    judgements: tuple[Judgement, ...]
    finished: int
    seconds: float


def read_judgements(paths: Sequence[Path], key: Key) -> list[AnnotatorFile]:
    """The files of several annotators, each of them once.

    Raises:
        DataError: naming the file and what is wrong in it.
    """
    found: list[AnnotatorFile] = []
    seen: dict[str, Path] = {}
    for path in paths:
        one = read_file(path, key)
        name = one.annotator.casefold()
        if name in seen:
            raise DataError(
                f"is by {one.annotator!r}, as {seen[name]} is; give one file per annotator",
                path=path,
            )
        seen[name] = path
        found.append(one)
    return found


def read_file(path: Path, key: Key) -> AnnotatorFile:
    """One file."""
    plain = _object(path)
    if _field(plain, "format", int, path) != FORMAT:
        raise DataError("is of another version", path=path, field="format")
    if (page := _field(plain, "page", str, path)) != key.page:
        raise DataError(f"belongs to another page ({page!r}, the key's is {key.page!r})", path=path)
    annotator = " ".join(_field(plain, "annotator", str, path).split())
    if not annotator:
        raise DataError("does not say who judged", path=path, field="annotator")
    judgements: list[Judgement] = []
    seconds: dict[str, float] = {}
    finished = 0
    for place, entry in enumerate(_field(plain, "judgements", list, path)):
        where = f"judgements[{place}]."
        pair = _field(entry, "pair", str, path, where)
        if pair not in key.lines:
            raise DataError(f"the key has no pair {pair!r}", path=path, field=f"{where}pair")
        if pair in seconds:
            raise DataError(f"judges {pair!r} twice", path=path, field=f"{where}pair")
        seconds[pair] = _seconds(entry, path, where)
        answers = _answers(_field(entry, "answers", dict, path, where), path, where)
        judgements += [Judgement(pair, name, choice) for name, choice in answers.items()]
        finished += answers.keys() == _CRITERIA
    return AnnotatorFile(path, annotator, tuple(judgements), finished, math.fsum(seconds.values()))


def _object(path: Path) -> dict[str, Any]:
    try:
        plain = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise DataError(f"cannot be read ({error.strerror or error})", path=path) from None
    except ValueError as error:
        raise DataError(f"is not JSON: {error}", path=path) from None
    if not isinstance(plain, dict):
        raise DataError("must hold one JSON object, as the page saves it", path=path)
    return plain


def _field(plain: object, name: str, kind: type, path: Path, where: str = "") -> Any:
    field = f"{where}{name}"
    if not isinstance(plain, dict):
        raise DataError("must be an object", path=path, field=where.rstrip("."))
    if name not in plain:
        raise DataError("is missing", path=path, field=field)
    if type(plain[name]) is not kind:
        raise DataError(f"must be of type {kind.__name__}", path=path, field=field)
    return plain[name]


def _seconds(entry: dict[str, Any], path: Path, where: str) -> float:
    kind = float if type(entry.get("seconds")) is float else int
    seconds = float(_field(entry, "seconds", kind, path, where))
    if not (math.isfinite(seconds) and seconds >= 0):
        raise DataError(f"cannot be {seconds}", path=path, field=f"{where}seconds")
    return seconds


def _answers(answers: dict[str, Any], path: Path, where: str) -> dict[str, Choice]:
    for name, choice in answers.items():
        field = f"{where}answers.{name}"
        if name not in _CRITERIA:
            raise DataError(
                f"unknown criterion; there are {', '.join(sorted(_CRITERIA))}",
                path=path,
                field=field,
            )
        if choice not in CHOICES:
            raise DataError(
                f"unknown answer {choice!r}; it must be one of {', '.join(CHOICES)}",
                path=path,
                field=field,
            )
    return answers
