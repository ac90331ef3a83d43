"""What the controller sees, by hand; and that records are looked at once."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal

import numpy as np
import pytest

from enough.controller.features import STATIC, PoolFeatures, featurise
from enough.controller.portraits import Known
from enough.prompts.serialise import record_text
from enough.protocols import Budget, Encoder, Floats
from enough.records import Candidate, Record
from enough.tasks import LAMP_TASKS
from tests.conftest import make_record, make_request

RECORDS = (
    make_record(1, context="a harbour at night", action="Night", date="2020", moment=(2020,)),
    make_record(2, context="a forest", action="night", date="2018", moment=(2018,)),
)
CHANGED = make_record(2, context="a forest", action="Night", date="2018", moment=(2018,))
VECTORS = {
    "where is the harbour": (1, 0, 0),
    record_text(RECORDS[0]): (3, 4, 0),
    record_text(RECORDS[1]): (0, 2, 0),
    record_text(CHANGED): (1, 1, 0),
    "Night": (0, 0, 5),
    "night": (0, 1, 1),
}


class TableEncoder:
    """Vectors by hand; remembers what it was asked."""

    fingerprint = "table"

    def __init__(self) -> None:
        self.asked: list[str] = []

    def encode(self, texts: Sequence[str], kind: Literal["query", "document"]) -> Floats:
        self.asked += texts
        return np.array([VECTORS[text] for text in texts], np.float32).reshape(-1, 3)


def features(
    records: tuple[Record, ...], known: Known | None = None, encoder: Encoder | None = None
) -> PoolFeatures:
    request = make_request(
        LAMP_TASKS["LaMP-7"],
        input="Paraphrase the following tweet without any explanation before or after it: "
        "where is the harbour",
        date="2021",
        moment=(2021,),
    )
    pool = tuple(Candidate(one, 1.0 - i / 2) for i, one in enumerate(records))
    tokens = (128, 384)[: len(records)]
    return featurise(
        request, pool, Budget(len(records), 900, tokens), encoder or TableEncoder(), known
    )


def test_every_number_by_hand() -> None:
    found = features(RECORDS)
    assert found.query.tolist() == [1, 0, 0]
    assert found.records == pytest.approx(np.array([[0.6, 0.8, 0], [0, 1, 0]]))
    assert found.record_likeness == pytest.approx(np.array([[1, 0.8], [0.8, 1]]))
    half = math.sqrt(0.5)
    assert found.action_likeness == pytest.approx(np.array([[1, half], [half, 1]]))
    assert found.same_action.tolist() == [[1, 1], [1, 1]]
    first, second = (dict(zip(STATIC, row, strict=True)) for row in found.static.tolist())
    # Of two numbers the larger is always one deviation above their mean.
    for name in ("retriever score in the pool", "likeness in the pool", "shared words in the pool"):
        assert (first[name], second[name]) == pytest.approx((1, -1), abs=1e-4)
    assert (first["tokens in the pool"], second["tokens in the pool"]) == pytest.approx((-1, 1))
    assert (first["tokens"], second["tokens"]) == (0.5, 1.5)
    assert (first["likeness to the query"], second["likeness to the query"]) == pytest.approx(
        (0.6, 0)
    )
    assert first["action's likeness to the query"] == second["action's likeness in the pool"] == 0
    assert first["action's mean likeness to other actions"] == pytest.approx(half)
    assert first["share of equal actions"] == second["share of equal actions"] == 1
    assert (first["rank"], second["rank"]) == pytest.approx((0, 0.05))
    assert (first["is the first"], second["is the first"]) == (1, 0)
    assert second["words shared with the query"] == 0 < first["words shared with the query"]
    assert second["age"] > first["age"] == pytest.approx(math.log1p(12) / 4, abs=0.01)
    assert (first["newness in the pool"], second["newness in the pool"]) == (1, 0.5)
    assert first["length of the context"] == pytest.approx(math.log1p(18) / 8)
    assert first["length of the action"] == pytest.approx(math.log1p(5) / 8)
    assert first["pool size"] == pytest.approx(0.1)


def test_an_empty_pool_has_features_of_no_record() -> None:
    found = features(())
    assert found.static.shape == (0, len(STATIC))
    assert found.records.shape == found.actions.shape == (0, 3)


def test_what_is_known_of_a_record_is_not_encoded_again() -> None:
    known: Known = {}
    once = features(RECORDS, known)
    assert set(known) == set(RECORDS)
    encoder = TableEncoder()
    again = features((RECORDS[0], CHANGED), known, encoder)
    # A record that changed is another one.
    assert encoder.asked == [record_text(CHANGED), "Night", "where is the harbour"]
    assert (once.records[0] == again.records[0]).all()
    assert again.actions[1].tolist() == [0, 0, 1]
