"""Further vectors beside those records are searched by: there while they are true, else absent."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from enough.protocols import Floats
from enough.records import Record
from enough.store.config import StoreConfig
from enough.store.opening import open_store
from enough.store.sql_store import SqlStore
from enough.store.values import Owner
from tests.store.conftest import OpenStore
from tests.store.test_erasure import files
from tests.store.things import ANN, TASK, embedder, record, records


class Wide:
    """Two numbers that follow from the record, and how many it was asked for."""

    fingerprint = "wide"

    def __init__(self) -> None:
        self.asked = 0

    def embed(self, records: Sequence[Record]) -> Floats:
        self.asked += len(records)
        return np.array([[int(one.id[1:]), len(one.action)] for one in records], np.float32)


def found(store: SqlStore, ids: Sequence[str], owner: Owner = ANN) -> dict[str, list[float]]:
    return {one.id: vector.tolist() for one, vector in store.beside(owner, "wide", ids)}


def test_computed_once_and_kept_apart(store: SqlStore, opened: OpenStore) -> None:
    wide = Wide()
    store.append(ANN, records(70), embedder())
    assert found(store, ["r3"]) == {}
    assert store.embed_beside(ANN, wide) == 70
    assert found(store, ["r3", "r69", "r99"]) == {"r3": [3, 3], "r69": [69, 3]}
    before = store.vectors(ANN, embedder().fingerprint)
    store.append(ANN, records(5, 70), embedder())
    assert found(store, ["r69"]) == {}  # its block has changed
    assert found(store, ["r3"]) == {"r3": [3, 3]}
    assert (store.embed_beside(ANN, wide), wide.asked) == (5, 75)
    assert store.embed_beside(ANN, wide) == 0
    other = opened()
    assert found(other, ["r69", "r74"]) == {"r69": [69, 3], "r74": [74, 3]}
    after = other.vectors(ANN, embedder().fingerprint)
    assert (after.matrix[:70] == before.matrix).all()
    bob = Owner("shop", TASK.name, "bob")
    store.append(bob, [record(3, owner="bob")], embedder())
    assert found(store, ["r3"], bob) == {}
    assert store.embed_beside(Owner("other", TASK.name, "ann"), wide) == 0


def test_a_deletion_takes_the_block_along(store: SqlStore) -> None:
    wide = Wide()
    store.append(ANN, records(130), embedder())
    store.embed_beside(ANN, wide)
    store.delete(ANN, ["r5"])
    assert found(store, ["r4", "r5", "r6"]) == {}
    assert found(store, ["r100"]) == {"r100": [100, 3]}
    assert store.embed_beside(ANN, wide) == 63
    assert found(store, ["r4", "r5", "r6"]) == {"r4": [4, 3], "r6": [6, 3]}
    store.reembed(ANN, embedder("other"))
    assert found(store, ["r4"]) == {}
    store.delete_owner(ANN)
    assert store.embed_beside(ANN, wide) == 0


@pytest.mark.parametrize("change", ["append", "delete", "erase", "erase and store"])
def test_what_changes_meanwhile_is_not_overwritten(
    store: SqlStore, opened: OpenStore, change: str
) -> None:
    store.append(ANN, records(10), embedder())
    other = opened()

    class Interrupted(Wide):
        def embed(self, records: Sequence[Record]) -> Floats:
            if change == "append":
                other.append(ANN, [record(10)], embedder())
            elif change == "delete":
                other.delete(ANN, ["r3"])
            else:
                other.delete_owner(ANN)
                if change == "erase and store":
                    other.append(ANN, [record(3, action="another")], embedder())
            return super().embed(records)

    store.embed_beside(ANN, Interrupted())
    assert found(store, ["r3", "r4"]) == {}
    store.embed_beside(ANN, Wide())
    expected: dict[str, list[float]] = {"r3": [3, 3], "r4": [4, 3]}
    if change == "delete":
        del expected["r3"]
    elif change == "erase":
        expected = {}
    elif change == "erase and store":
        expected = {"r3": [3, 7]}
    assert found(store, ["r3", "r4"]) == expected


def test_no_byte_of_a_deleted_vector_is_left(sqlite_path: Path) -> None:
    store = open_store(StoreConfig(str(sqlite_path)))
    drawn = np.random.default_rng(0).standard_normal((130, 64)).astype(np.float32)

    class Drawn(Wide):
        def embed(self, records: Sequence[Record]) -> Floats:
            return np.array(drawn[[int(one.id[1:]) for one in records]])

    def there(number: int) -> bool:
        pieces = [drawn[number, i : i + 8].tobytes() for i in range(0, 64, 8)]
        return any(piece in files(sqlite_path) for piece in pieces)

    for start in range(0, 130, 26):  # rows are written anew while they grow
        store.append(ANN, records(26, start), embedder())
        store.embed_beside(ANN, Drawn())
    store.scrub()
    assert all(there(number) for number in range(130))
    store.delete(ANN, ["r7"])
    store.embed_beside(ANN, Drawn())
    store.scrub()
    assert [number for number in range(130) if not there(number)] == [7]
    store.delete_user("shop", "ann")
    assert not any(there(number) for number in range(130))
    store.close()
