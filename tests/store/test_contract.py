"""What every store does, on every database."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from enough.errors import DataError, EncoderChangedError, ModelError, RecordConflictError
from enough.records import Candidate, Pool, Record
from enough.retrieval.dense import DenseRetriever
from enough.store.embedding import RecordEmbedder
from enough.store.record_store import KeyStore, RecordStore
from enough.store.search import legal_pool
from enough.store.shelves import Shelves
from enough.store.sql_store import SqlStore
from enough.store.values import Owner
from tests.conftest import make_request
from tests.store.conftest import OpenStore
from tests.store.things import ANN, TASK, embedder, everything, record, records


def test_it_keeps_the_protocols(store: SqlStore) -> None:
    as_records: RecordStore = store
    as_keys: KeyStore = store.keys
    assert as_records.count(ANN) == 0
    assert as_keys.keys("shop") == ()


def test_records_come_back_in_the_order_of_appending(store: SqlStore) -> None:
    given = records(150)[::-1]
    assert store.append(ANN, given[:70], embedder()) == 70
    assert store.append(ANN, given[70:], embedder()) == 80
    assert everything(store, ANN) == given
    assert everything(store, ANN, limit=7) == given
    assert store.count(ANN) == 150


anything = st.text(st.characters(codec=None, categories=None), max_size=20)
parts = st.lists(st.integers(0, 9999), min_size=1, max_size=7).map(tuple)
any_record = st.builds(
    Record,
    id=anything,
    owner=st.just("ann"),
    context=anything,
    action=anything,
    date=st.none() | anything,
    moment=st.none() | parts,
    metadata=st.lists(st.tuples(anything, anything), max_size=3).map(tuple),
    source_id=st.none() | anything,
)


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    st.lists(any_record, max_size=5, unique_by=lambda one: one.id), st.tuples(anything, anything)
)
def test_what_goes_in_comes_out(
    store: SqlStore, given: list[Record], names: tuple[str, str]
) -> None:
    owner = Owner(names[0] or "-", "t", names[1] or "-")
    own = [dataclasses.replace(one, owner=owner.user) for one in given]
    store.delete_owner(owner)
    assert store.append(owner, own, embedder()) == len(own)
    assert everything(store, owner) == own
    assert store.read(owner, [one.id for one in own]) == tuple(own)
    for one in own:
        assert one in store.about(owner, one.id)
        if one.source_id is not None:
            assert one in store.about(owner, one.source_id)


def test_surrogates_that_look_like_a_pair_stay_two(store: SqlStore) -> None:
    odd = record(context="\ud83d\ude00 \U0001f600 \x00\n\u2028", metadata=(("", ""),), date="")
    store.append(ANN, [odd], embedder())
    assert everything(store, ANN) == [odd]


def test_the_same_record_again_is_fine_and_not_embedded_again(store: SqlStore) -> None:
    embedding = embedder()
    store.append(ANN, records(3), embedding)
    assert store.append(ANN, [*records(5), *records(5)], embedding) == 2
    assert len(embedding.encoder.seen) == 5  # type: ignore[attr-defined]
    assert everything(store, ANN) == records(5)


def test_another_record_under_a_known_id_is_refused(store: SqlStore) -> None:
    store.append(ANN, records(3), embedder())
    changed = record(1, action="something else")
    with pytest.raises(RecordConflictError, match=r"'r1'.*other content"):
        store.append(ANN, [record(7), changed], embedder())
    with pytest.raises(RecordConflictError, match=r"'r1'.*came together"):
        store.append(ANN, [record(1), changed], embedder())
    assert everything(store, ANN) == records(3)


def test_records_of_somebody_else_are_refused(store: SqlStore) -> None:
    with pytest.raises(DataError, match="'bob', not 'ann'"):
        store.append(ANN, [record(owner="bob")], embedder())
    with pytest.raises(DataError, match="tenant"):
        Owner("", "t", "u")


def test_cursors_survive_changes(store: SqlStore) -> None:
    store.append(ANN, records(200), embedder())
    first = store.page(ANN, limit=70)
    assert first.records == tuple(records(70))
    store.delete(ANN, [f"r{number}" for number in range(60, 90)])
    store.append(ANN, records(3, start=200), embedder())
    rest = store.page(ANN, after=first.cursor, limit=1000)
    assert rest.records == tuple(records(113, start=90))
    assert rest.cursor is None
    exact = store.page(ANN, limit=173)
    assert (len(exact.records), exact.cursor) == (173, None)
    for wrong in ("", "-1", "x", "1e3", "9" * 30, "٣"):
        with pytest.raises(DataError, match="cursor"):
            store.page(ANN, after=wrong)
    with pytest.raises(DataError, match="limit"):
        store.page(ANN, limit=0)


def test_records_about_an_item(store: SqlStore) -> None:
    given = [record(1), record(2, source_id="r1"), record(3, source_id="other"), record(4)]
    store.append(ANN, given, embedder())
    assert store.about(ANN, "r1") == (given[0], given[1])
    assert store.about(ANN, "other") == (given[2],)
    assert store.about(ANN, "nothing") == ()
    assert store.read(ANN, ["r4", "r1", "r9"]) == (given[0], given[3])


def test_owners_of_a_tenant(store: SqlStore) -> None:
    owners = [Owner("shop", task, user) for user in ("ann", "bob") for task in ("a", "b")]
    for owner in [*owners, Owner("other", "a", "ann")]:
        store.append(owner, records(2, owner=owner.user), embedder())
    page = store.owners("shop", limit=3)
    assert [one.owner for one in page.owners] == owners[:3]
    assert {(one.records, one.fingerprint) for one in page.owners} == {(2, embedder().fingerprint)}
    rest = store.owners("shop", after=page.cursor, limit=3)
    assert ([one.owner for one in rest.owners], rest.cursor) == (owners[3:], None)
    assert store.owners("nobody").owners == ()


def test_deleting(store: SqlStore) -> None:
    other = Owner("shop", "another task", "ann")
    store.append(ANN, records(130), embedder())
    store.append(other, records(3), embedder())
    assert store.delete(ANN, ["r3", "r64", "r65", "nothing"]) == 3
    assert store.delete(ANN, ["r3"]) == 0
    left = [one for one in records(130) if one.id not in ("r3", "r64", "r65")]
    assert everything(store, ANN) == left
    assert store.vectors(ANN, embedder().fingerprint).ids == tuple(one.id for one in left)
    assert store.append(ANN, [record(3, action="new")], embedder()) == 1
    assert store.delete_owner(ANN) == 128
    assert store.delete_owner(ANN) == 0
    assert (everything(store, ANN), store.count(other)) == ([], 3)
    store.append(ANN, records(2), embedder())
    assert store.delete_user("elsewhere", "ann") == 0
    assert store.delete_user("shop", "ann") == 5
    assert store.owners("shop").owners == ()


def test_the_last_record_takes_its_owner_with_it(store: SqlStore) -> None:
    store.append(ANN, records(2), embedder("old"))
    assert store.delete(ANN, ["r0", "r1"]) == 2
    assert store.owners("shop").owners == ()
    assert store.append(ANN, records(1), embedder("new")) == 1


def test_vectors(store: SqlStore) -> None:
    given = records(100)
    store.append(ANN, given[:50], embedder())
    store.append(ANN, given[50:], embedder())
    found = store.vectors(ANN, embedder().fingerprint)
    assert found.ids == tuple(one.id for one in given)
    assert (found.matrix == embedder().embed(given)).all()
    assert store.vectors(Owner("shop", "t", "nobody"), "x").matrix.shape == (0, 0)


class RandomEncoder:
    """Vectors with ties: every third text shares its vector with another."""

    fingerprint = "random"

    def encode(self, texts: list[str], kind: str) -> np.ndarray:
        rows = [np.random.default_rng(hash_of(text)).standard_normal(384) for text in texts]
        return np.stack(rows).astype(np.float32)


def hash_of(text: str) -> int:
    digits = "".join(filter(str.isdigit, text)) or "0"
    return int(digits) % 1000


def test_nearest_is_what_the_dense_retriever_finds(store: SqlStore) -> None:
    embedding = RecordEmbedder(RandomEncoder(), TASK)  # type: ignore[arg-type]
    given = [record(number, context=f"film {number}") for number in range(1500)]
    store.append(ANN, given, embedding)
    for number in range(4):
        request = make_request(input=f"tags: [x] description: {number}")
        query = embedding.embed_query(request.query)
        expected = DenseRetriever(embedding.encoder).retrieve(request, tuple(given), 50)
        assert store.nearest(ANN, query, embedding.fingerprint, 50) == expected
        assert store.nearest(ANN, query, embedding.fingerprint, 20, skip=30) == expected[30:]
    assert len(store.nearest(ANN, query, embedding.fingerprint, 5000)) == 1500
    assert store.nearest(ANN, query, embedding.fingerprint, 5, skip=1500) == ()
    assert store.nearest(ANN, query, embedding.fingerprint, 0) == ()
    with pytest.raises(ModelError, match="384 finite"):
        store.nearest(ANN, query[:5], embedding.fingerprint, 5)
    with pytest.raises(ModelError, match="384 finite"):
        store.nearest(ANN, query * np.nan, embedding.fingerprint, 5)


def test_a_pool_of_legal_records(store: SqlStore) -> None:
    embedding = embedder()
    given = records(300)
    store.append(ANN, given, embedding)
    query = embedding.embed_query("w7")
    asked: list[str] = []

    def legal(some: Pool) -> tuple[Record, ...]:
        asked.extend(one.record.id for one in some)
        return tuple(one.record for one in some if int(one.record.id[1:]) % 10 == 3)

    found = legal_pool(store, ANN, query, embedding.fingerprint, limit=5, legal=legal)
    ranked = store.nearest(ANN, query, embedding.fingerprint, 300)
    wanted: tuple[Candidate, ...] = tuple(one for one in ranked if int(one.record.id[1:]) % 10 == 3)
    assert found == wanted[:5]
    assert len(asked) == len(set(asked)) < 300
    none = legal_pool(store, ANN, query, embedding.fingerprint, limit=5, legal=lambda some: ())
    assert none == ()


def test_another_encoder_is_noticed_and_reembedding_helps(store: SqlStore) -> None:
    old, new = embedder("old"), embedder("new")
    store.append(ANN, records(100), old)
    with pytest.raises(EncoderChangedError, match=r"100 records.*'old:.*'new:.*reembed"):
        store.append(ANN, [record(200)], new)
    with pytest.raises(EncoderChangedError):
        store.nearest(ANN, new.embed_query("w1"), new.fingerprint, 3)
    with pytest.raises(EncoderChangedError):
        store.vectors(ANN, new.fingerprint)
    store.nearest(ANN, old.embed_query("w1"), old.fingerprint, 3)  # now it is remembered
    assert store.reembed(ANN, new) == 100
    assert (store.vectors(ANN, new.fingerprint).matrix == new.embed(records(100))).all()
    assert (new.embed(records(1)) != old.embed(records(1))).any()
    assert store.reembed(ANN, new) == 0
    assert store.append(ANN, [record(200)], new) == 1
    assert len(store.vectors(ANN, new.fingerprint).ids) == 101
    with pytest.raises(EncoderChangedError):
        store.vectors(ANN, old.fingerprint)
    assert store.reembed(Owner("shop", "t", "nobody"), new) == 0


def test_reembedding_goes_on_where_it_was_stopped_and_sees_what_came_meanwhile(
    store: SqlStore,
) -> None:
    old, new = embedder("old"), embedder("new")
    store.append(ANN, records(200), old)
    encode, calls = new.encoder.encode, []

    def interrupted(texts: list[str], kind: str) -> np.ndarray:
        calls.append(len(texts))
        if len(calls) == 3:
            raise KeyboardInterrupt
        return encode(texts, "document")

    new.encoder.encode = interrupted  # type: ignore[method-assign,assignment]
    with pytest.raises(KeyboardInterrupt):
        store.reembed(ANN, new)
    assert len(store.vectors(ANN, old.fingerprint).ids) == 200  # the old ones are still served
    store.delete(ANN, ["r0"])  # in a block that was done already
    store.append(ANN, [record(300)], old)
    assert store.reembed(ANN, new) == 200 - 64
    left = [*records(199, start=1), record(300)]
    found = store.vectors(ANN, new.fingerprint)
    assert found.ids == tuple(one.id for one in left)
    assert (found.matrix == new.embed(left)).all()


def test_vectors_that_cannot_be_kept_are_refused(store: SqlStore) -> None:
    for wrong in (np.full((2, 3), np.nan), np.zeros((1, 3)), np.zeros((2, 0)), np.zeros(2)):
        embedding = embedder()
        embedding.encoder.encode = lambda *_, made=wrong: made  # type: ignore[method-assign]
        with pytest.raises(ModelError):
            store.append(ANN, records(2), embedding)
    store.append(ANN, records(2), embedder())
    embedding = embedder()
    embedding.encoder.encode = lambda *_: np.ones((1, 3))  # type: ignore[method-assign,assignment]
    with pytest.raises(ModelError, match=r"3 numbers.*64"):
        store.append(ANN, [record(5)], embedding)
    assert everything(store, ANN) == records(2)


def test_what_another_process_writes_is_seen(opened: OpenStore) -> None:
    one, other = opened(), opened()
    embedding = embedder()
    query = embedding.embed_query("w7")
    one.append(ANN, records(100), embedding)
    assert len(other.nearest(ANN, query, embedding.fingerprint, 500)) == 100
    one.append(ANN, records(5, start=100), embedding)
    assert len(other.nearest(ANN, query, embedding.fingerprint, 500)) == 105
    one.delete(ANN, ["r7", "r80"])
    found = other.nearest(ANN, query, embedding.fingerprint, 500)
    assert {found.record.id for found in found} == {r.id for r in records(105)} - {"r7", "r80"}
    one.delete_owner(ANN)
    assert other.forget_changed() == 1
    assert other.forget_changed() == 0
    assert other.nearest(ANN, query, embedding.fingerprint, 5) == ()


def test_what_comes_between_checking_and_writing(opened: OpenStore) -> None:
    """Somebody else appends, or erases, while we are embedding."""
    one, other = opened(), opened()

    def meanwhile(done: Callable[[], object]) -> RecordEmbedder:
        embedding = embedder()
        encode = embedding.encoder.encode

        def interfere(texts: list[str], kind: str) -> np.ndarray:
            done()
            return encode(texts, "document")

        embedding.encoder.encode = interfere  # type: ignore[method-assign,assignment]
        return embedding

    also = meanwhile(lambda: other.append(ANN, records(3)[::-1], embedder()))
    assert one.append(ANN, records(5), also) == 2
    assert everything(one, ANN) == [*records(3)[::-1], *records(2, start=3)]
    changed = meanwhile(lambda: other.append(ANN, [record(7, action="other")], embedder()))
    with pytest.raises(RecordConflictError, match="'r7'"):
        one.append(ANN, [record(7)], changed)
    gone = meanwhile(lambda: other.delete_user("shop", "ann"))
    assert one.append(ANN, [*records(7), record(8)], gone) == 3
    assert everything(one, ANN) == [record(5), record(6), record(8)]
    switched = meanwhile(lambda: other.reembed(ANN, embedder("new")))
    with pytest.raises(EncoderChangedError):
        one.append(ANN, [record(10)], switched)
    assert everything(other, ANN) == [record(5), record(6), record(8)]


def test_texts_at_hand_count_as_memory(opened: OpenStore) -> None:
    """Ten users with a hundred long records each, in a memory of 1 MB: most are let go again."""
    store = opened()
    store._shelves = Shelves(1_000_000)
    for user in range(10):
        owner = Owner("shop", TASK.name, f"u{user}")
        some = records(100, owner=owner.user, action="x" * 5000)
        store.append(owner, some, embedder())
        query = embedder().embed(some[:1])[0]
        assert len(store.nearest(owner, query, embedder().fingerprint, 100)) == 100
    shelves = store._shelves
    held = sum(shelf.size for shelf in shelves._held.values())
    assert held == shelves._used <= 1_000_000
    assert len(shelves._held) == 1
