"""Small values for the tests of `enough.data`: tasks, histories, folders, an encoder."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Literal

import numpy as np

from enough.moment import parse_moment
from enough.protocols import Floats
from enough.records import Record, Request
from enough.tasks import LAMP_TASKS, Task

MOVIES = LAMP_TASKS["LaMP-2"]
TWEETS = LAMP_TASKS["LaMP-7"]
PAPERS = LAMP_TASKS["LaMP-5"]


def movie_input(description: str) -> str:
    tags = ", ".join(MOVIES.labels)
    return (
        "Which tag does this movie relate to among the following tags? Just answer with the tag "
        f"name without further explanation. tags: [{tags}] description: {description}"
    )


def tweet_input(text: str) -> str:
    return f"Paraphrase the following tweet without any explanation before or after it: {text}"


def paper_input(abstract: str) -> str:
    return f"Generate a title for the following abstract of a paper: {abstract}"


def record(
    record_id: str,
    context: str = "",
    action: str = "comedy",
    date: str | None = None,
    source_id: str | None = None,
    owner: str = "ann",
) -> Record:
    return Record(record_id, owner, context, action, date, parse_moment(date), source_id=source_id)


def request(
    task: Task, text: str, date: str | None = None, source_id: str | None = None, user: str = "ann"
) -> Request:
    return Request("q", user, task, text, date, parse_moment(date), source_id)


def write_jsonl(path: Path, lines: Iterable[Mapping[str, object]]) -> None:
    text = "".join(json.dumps(line) + "\n" for line in lines)
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix == ".gz":
        path.write_bytes(gzip.compress(text.encode()))
    else:
        path.write_text(text, encoding="utf-8")


class TableEncoder:
    """Vectors by hand; anything else gets a direction of its own. Counts what it was given."""

    fingerprint = "by hand"

    def __init__(self, vectors: Mapping[str, Sequence[float]], dimensions: int = 4) -> None:
        self._vectors = dict(vectors)
        self._dimensions = dimensions
        self.seen: list[str] = []

    def encode(self, texts: Sequence[str], kind: Literal["query", "document"]) -> Floats:
        assert kind == "document"
        self.seen += texts
        rows = np.zeros((len(texts), self._dimensions), np.float32)
        for row, text in zip(rows, texts, strict=True):
            vector = self._vectors.get(text, (0.0,) * self._dimensions)
            row[: len(vector)] = vector
        return rows


def write_tweet_log(
    folder: Path, tweets: Mapping[str, Sequence[str]], answers: Sequence[tuple[str, str]]
) -> Path:
    """A LaMP-7 log without dates: what each user wrote, and (user, answer) of train requests."""
    histories = [
        {
            "user_id": user,
            "records": [{"id": f"{user}-{i}", "text": t} for i, t in enumerate(texts)],
        }
        for user, texts in tweets.items()
    ]
    requests = [
        {"id": f"q{n}", "user_id": user, "input": tweet_input(f"a walk {n}"), "output": answer}
        for n, (user, answer) in enumerate(answers)
    ]
    write_jsonl(folder / "histories.jsonl", histories)
    write_jsonl(folder / "train.jsonl", requests)
    return folder
