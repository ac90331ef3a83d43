"""After a deletion no file holds a byte of what was deleted."""

from __future__ import annotations

import dataclasses
import random
import sqlite3
from pathlib import Path

import numpy as np
import pytest

from enough.errors import StoreBusyError
from enough.records import Record
from enough.store.blocks import to_data
from enough.store.config import StoreConfig
from enough.store.opening import open_store
from enough.store.values import Owner
from tests.store.server import Server
from tests.store.things import ANN, TASK, embedder, records


def files(path: Path) -> bytes:
    return b"".join(part.read_bytes() for part in sorted(path.parent.glob(f"{path.name}*")))


def marker(user: str, number: int) -> str:
    return f"<<{user}:{number:06d}>>"


def marked(user: str, number: int, rng: random.Random) -> Record:
    """Marks in every text, and of any length: in the tree, on one page, over many."""
    filling = "x" * rng.choice([0, 5, 100, 400, 900, 4000, 20_000])
    mark = marker(user, number)
    return Record(
        id=f"id{mark}",
        owner=user,
        context=f"{filling}c{mark}",
        action=f"a{mark}{filling}",
        metadata=(("m", f"m{mark}"),),
        source_id=f"s{mark}",
    )


@pytest.mark.parametrize("seed", range(2))
def test_whatever_was_done_only_what_is_there_is_in_the_files(sqlite_path: Path, seed: int) -> None:
    """Also the order of writes that makes SQLite move rows and leave copies of them behind."""
    rng = random.Random(seed)
    store = open_store(StoreConfig(str(sqlite_path)))
    owners = [Owner("shop", TASK.name, f"user-{name}") for name in "abcdef"]
    live: dict[Owner, dict[int, Record]] = {owner: {} for owner in owners}
    number = 0
    for _ in range(120):
        owner = rng.choice(owners)
        mine = live[owner]
        if rng.random() < 0.7 or not mine:
            new = range(number, number := number + rng.choice([1, 1, 3, 40]))
            given = {n: marked(owner.user, n, rng) for n in new}
            store.append(owner, list(given.values()), embedder())
            mine.update(given)
        elif rng.random() < 0.8:
            gone = rng.sample(sorted(mine), min(len(mine), rng.choice([1, 2, 30])))
            store.delete(owner, [mine.pop(n).id for n in gone])
        else:
            store.delete_owner(owner)
            mine.clear()
    gone_user = owners[0]
    store.delete_user("shop", gone_user.user)
    live[gone_user].clear()
    found = files(sqlite_path)
    here = {n: owner for owner, mine in live.items() for n in mine}
    for n in range(number):
        copies = found.count(f":{n:06d}>>".encode())
        # Live ones are counted, too: a second copy of one would outlast its deletion. A marker that
        # lies on two pages is not found.
        assert (3 <= copies <= 5) if n in here else copies == 0, n
    assert gone_user.user.encode() not in found
    store.close()


def test_small_rows_that_grow_and_go_leave_nothing_either(sqlite_path: Path) -> None:
    """These are the ones that SQLite moves from page to page, leaving a copy where they were."""
    rng = random.Random(5)
    store = open_store(StoreConfig(str(sqlite_path)))
    live: dict[Owner, list[int]] = {}
    for number in range(400):
        owner = Owner("shop", TASK.name, f"user-{rng.randrange(60):03d}")
        given = Record(f"id:{number:06d}>>", owner.user, "x" * rng.randrange(60), "tag")
        store.append(owner, [given], embedder())
        live.setdefault(owner, []).append(number)
        if number % 100 > 70:
            gone = rng.choice(sorted(live, key=str))
            store.delete_owner(gone)
            del live[gone]
    found = files(sqlite_path)
    here = {number for numbers in live.values() for number in numbers}
    counts = {number: found.count(f":{number:06d}>>".encode()) for number in range(400)}
    assert {n: count for n, count in counts.items() if count != (n in here)} == {}
    store.close()


def test_vectors_are_gone_too(sqlite_path: Path) -> None:
    store = open_store(StoreConfig(str(sqlite_path)))
    embedding = embedder()
    rng = np.random.default_rng(0)
    embedding.encoder.encode = lambda texts, kind: rng.standard_normal(  # type: ignore[method-assign]
        (len(texts), 64)
    ).astype(np.float32)
    store.append(ANN, records(200), embedding)
    kept = store.vectors(ANN, embedding.fingerprint).matrix
    store.scrub()  # out of the log, into the file
    # Eight numbers of each: not all lie on one page, but there is no second copy of any.
    pieces = [[row[i : i + 8].tobytes() for i in range(0, 64, 8)] for row in kept]
    found = files(sqlite_path)
    assert {found.count(piece) for row in pieces for piece in row} == {0, 1}
    assert all(sum(map(found.count, row)) >= 7 for row in pieces)
    store.delete(ANN, ["r10", "r70"])
    found = files(sqlite_path)
    for place, row in enumerate(pieces):
        assert any(piece in found for piece in row) == (place not in (10, 70))
    store.reembed(ANN, embedder("other"))
    store.scrub()
    found = files(sqlite_path)
    assert not any(piece in found for row in pieces for piece in row)
    store.close()


def test_vectors_of_a_change_that_was_not_finished_are_gone_too(sqlite_path: Path) -> None:
    store = open_store(StoreConfig(str(sqlite_path)))
    new = embedder("new")
    store.append(ANN, records(70), embedder())
    drawn = np.random.default_rng(0).standard_normal((64, 64)).astype(np.float32)

    def interrupted(texts: list[str], kind: str) -> np.ndarray:
        if len(texts) < 64:
            raise KeyboardInterrupt
        return drawn

    new.encoder.encode = interrupted  # type: ignore[method-assign,assignment]
    with pytest.raises(KeyboardInterrupt):
        store.reembed(ANN, new)
    store.scrub()
    assert drawn[3, :8].tobytes() in files(sqlite_path)
    store.delete(ANN, ["r3"])
    assert drawn[3, :8].tobytes() not in files(sqlite_path)
    store.close()


def test_this_process_forgets_too(sqlite_path: Path) -> None:
    store = open_store(StoreConfig(str(sqlite_path)))
    store.append(ANN, records(10), embedder())
    store.nearest(ANN, embedder().embed_query("w1"), embedder().fingerprint, 3)
    shelves = store._shelves
    ((owner_id, held),) = shelves._held.items()
    store.delete(ANN, ["r1"])
    shelves._keep(owner_id, held)  # a read that began before and ends now
    assert shelves.versions() == {}
    store.nearest(ANN, embedder().embed_query("w1"), embedder().fingerprint, 3)
    assert len(shelves.versions()) == 1
    store.delete_owner(ANN)
    shelves._keep(owner_id, dataclasses.replace(held, version=held.version + 1))
    assert shelves.versions() == {}
    store.close()


def test_a_reader_that_stays_is_told_of_and_deleting_again_helps(sqlite_path: Path) -> None:
    store = open_store(StoreConfig(str(sqlite_path), wait_s=0.2))
    hidden = Record("hidden-id", "ann", "", "hidden words")
    store.append(ANN, [*records(3), hidden], embedder())
    reader = sqlite3.connect(sqlite_path, isolation_level=None)
    reader.execute("BEGIN")
    reader.execute("SELECT count(*) FROM enough_owner").fetchone()
    with pytest.raises(StoreBusyError, match=r"deleted, but.*delete again"):
        store.delete(ANN, [hidden.id])
    assert store.count(ANN) == 3
    assert b"hidden words" in files(sqlite_path)
    reader.execute("COMMIT")
    assert store.delete(ANN, [hidden.id]) == 0
    assert b"hidden" not in files(sqlite_path)
    reader.close()
    store.close()


def test_opening_finishes_what_a_kill_interrupted(sqlite_path: Path) -> None:
    store = open_store(StoreConfig(str(sqlite_path)))
    hidden = Record("hidden-id", "ann", "", "hidden words")
    store.append(ANN, [*records(3), hidden], embedder())
    copy = sqlite_path.parent / "killed" / "enough.sqlite"
    copy.parent.mkdir()
    from enough.store.deleting import delete_records

    with store._database.writing() as connection:
        delete_records(connection, ANN, [hidden.id])
    for suffix in ("", "-wal"):  # what a kill at this moment leaves
        copy.with_name(copy.name + suffix).write_bytes(
            sqlite_path.with_name(sqlite_path.name + suffix).read_bytes()
        )
    assert b"hidden words" in files(copy)
    again = open_store(StoreConfig(str(copy)))
    assert again.count(ANN) == 3
    assert b"hidden" not in files(copy)
    again.close()
    store.close()


def test_nothing_of_a_block_stays_in_the_tree() -> None:
    """The file format's rule for how much of a row stays in the tree, for all sizes."""
    usable, least = 4096, 489
    for size in [*range(9000), 100_000]:
        data = to_data(bytes([1]) * size)
        for before in (10, 45, 79):  # header, keys and lengths in front of the blob
            row = before + len(data)
            local = least + (row - least) % (usable - 4)
            for most in (1002, 4061):  # of an index page, of a table page
                assert row > most
                in_tree = local if local <= most else least
                assert 1 not in data[: in_tree - before]


def test_scrubbing_a_server(server: Server) -> None:
    store = open_store(StoreConfig(server.new_database()))
    rng = random.Random(0)
    bob = Owner("shop", TASK.name, "bob")
    store.append(ANN, [marked("ann", n, rng) for n in range(80)], embedder())
    store.append(bob, [marked("bob", n, rng) for n in range(80)], embedder())
    store.delete_owner(ANN)
    store.scrub()
    found = b"".join(path.read_bytes() for path in server.files())
    # Texts are compressed there, so a marker can be cut; a record without filling is not.
    assert b"<<ann:" not in found
    assert store.count(bob) == 80
    store.close()
