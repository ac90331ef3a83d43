"""Does it tell more to compare a request with a record word by word than as whole texts?

    python studies/late_interaction.py DATA

In: a folder with logs (`LaMP_1` ...) and `exhaustive/scores.jsonl.gz`, the likelihoods of every
single record of a pool. Out: J (β = 0, λ = 0.3) of the first record that boosted trees choose, from
the controller's numbers alone and with four more: mean over the words of one text of the highest
cosine with a word of the other, both ways, for the record's text and for its action. Five folds of
users; requests of `label` alone, so nothing that is reported is looked at.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from sklearn.ensemble import ExtraTreesRegressor
from transformers import AutoModel

from enough.checkpoints import load_checkpoint
from enough.controller.features import featurise
from enough.data.folders import read_folder
from enough.protocols import Budget, Floats
from enough.records import Candidate, Dataset, Example
from enough.retrieval.embedding_cache import CachedEncoder
from enough.retrieval.encoders import DEFAULT_ENCODER, ENCODERS, load_encoder

FOLDS, LAMBDA, FLOOR = 5, 0.3, 0.03  # of the scale: one task has no signal
TOKENS = 128


@dataclass(frozen=True, slots=True, eq=False)
class Asked:
    """A request and its n records: numbers [n, 21], word by word [n, 4], gain and cost [n]."""

    task: str
    user: str
    numbers: Floats
    words: Floats
    gain: Floats
    cost: Floats


class WordVectors:
    """Unit vectors of a text's tokens, [tokens, dim]."""

    def __init__(self) -> None:
        self._checkpoint = load_checkpoint(
            ENCODERS[DEFAULT_ENCODER].source, AutoModel, "float32", "cpu"
        )
        self._known: dict[str, Floats] = {}

    @torch.inference_mode()
    def of(self, text: str) -> Floats:
        """Those of one text."""
        if (found := self._known.get(text)) is None:
            given = self._checkpoint.tokenizer(
                text or ".", truncation=True, max_length=TOKENS, return_tensors="pt"
            )
            hidden = self._checkpoint.model(**given).last_hidden_state[0]  # [tokens, dim]
            inner = hidden[1:-1] if len(hidden) > 2 else hidden
            found = self._known[text] = torch.nn.functional.normalize(inner, dim=-1).numpy()
        return found


def both_ways(words: WordVectors, query: str, texts: Sequence[str]) -> Floats:
    """[n, 2]: of the query's words in each text, and of each text's in the query."""
    asked = words.of(query)
    likeness = [asked @ words.of(text).T for text in texts]
    return np.array([(one.max(1).mean(), one.max(0).mean()) for one in likeness], np.float32)


def read(data: Path) -> Iterator[Asked]:
    """All requests of `label`."""
    encoder, words = CachedEncoder(load_encoder()), WordVectors()
    datasets: dict[str, Dataset] = {}
    examples: dict[str, Example] = {}
    with gzip.open(data / "exhaustive" / "scores.jsonl.gz", "rt", encoding="utf-8") as lines:
        for row in map(json.loads, lines):
            if row["split"] != "label":
                continue
            if row["task"] not in datasets:
                found = datasets[row["task"]] = read_folder(data / row["task"])
                examples |= {e.request.id: e for split in found.splits.values() for e in split}
            yield _asked(row, datasets[row["task"]], examples[row["id"]], encoder, words)


def _asked(
    row: Mapping[str, Any],
    dataset: Dataset,
    example: Example,
    encoder: CachedEncoder,
    words: WordVectors,
) -> Asked:
    request, scores = example.request, row["loglik"]
    known = {record.id: record for record in dataset.histories[request.user]}
    records = [known[name] for name in row["pool"]]
    pool = tuple(map(Candidate, records, row["retriever_score"]))
    budget = Budget(10, 1500, tuple(row["record_tokens"]))
    of_texts = both_ways(words, request.query, [one.context or one.action for one in records])
    of_actions = both_ways(words, request.query, [one.action for one in records])
    return Asked(
        row["task"],
        request.user,
        featurise(request, pool, budget, encoder).static,
        np.concatenate([of_texts, of_actions], axis=1),
        np.array(
            [scores.get(str(i), np.nan) - scores[""] for i in range(len(records))], np.float32
        ),
        np.array(row["record_tokens"], np.float32) / 1024,
    )


def first_choices(some: Sequence[Asked], *, by_words: bool) -> Floats:
    """J of each request's first choice, [requests]; whoever chooses has not seen its user."""
    gains = np.concatenate([one.gain for one in some])
    scale = max(float(np.sqrt(np.nanmean(gains**2))), FLOOR)
    worth = [one.gain / scale - LAMBDA * one.cost for one in some]
    inputs = [_inputs(one, by_words=by_words) for one in some]
    fold = [int(hashlib.md5(one.user.encode()).hexdigest(), 16) % FOLDS for one in some]
    found = np.zeros(len(some), np.float32)
    for number in range(FOLDS):
        learnt = [i for i in range(len(some)) if fold[i] != number]
        x, y = (np.concatenate([of[i] for i in learnt]) for of in (inputs, worth))
        trees = ExtraTreesRegressor(400, min_samples_leaf=10, max_features=0.5, random_state=0)
        trees.fit(x[np.isfinite(y)], y[np.isfinite(y)])
        for i in range(len(some)):
            if fold[i] == number:
                guess = np.where(np.isfinite(worth[i]), trees.predict(inputs[i]), -np.inf)
                found[i] = worth[i][guess.argmax()]
    return found


def _inputs(one: Asked, *, by_words: bool) -> Floats:
    if not by_words:
        return one.numbers
    standing = (one.words - one.words.mean(0)) / (one.words.std(0) + 1e-6)  # within the pool
    return np.concatenate([one.numbers, one.words, standing], axis=1)


def main() -> None:
    """Read everything, then choose."""
    everybody = list(read(Path(sys.argv[1])))
    differences: list[Floats] = []
    say = sys.stdout.write
    say("| task | requests | numbers alone | with words | difference |\n|---|---|---|---|---|\n")
    for task in sorted({one.task for one in everybody}):
        some = [one for one in everybody if one.task == task and np.isfinite(one.gain).any()]
        alone, more = (first_choices(some, by_words=by_words) for by_words in (False, True))
        differences.append(more - alone)
        say(_line(task, alone, more))
    pooled = np.concatenate(differences)
    error = pooled.std() / np.sqrt(len(pooled))
    say(f"all {len(pooled)}: {pooled.mean():+.3f} ± {error:.3f} (one standard error)\n")


def _line(task: str, alone: Floats, more: Floats) -> str:
    means = (alone.mean(), more.mean(), (more - alone).mean())
    return f"| {task} | {len(alone)} | {means[0]:.3f} | {means[1]:.3f} | {means[2]:+.3f} |\n"


if __name__ == "__main__":
    main()
