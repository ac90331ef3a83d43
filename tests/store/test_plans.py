"""No statement reads a whole table: what others have stored costs nobody time."""

from __future__ import annotations

from typing import Any

from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from sqlalchemy import event, text

from enough.store.sql_store import SqlStore
from enough.store.tables import VERSION_TABLE, metadata
from enough.store.values import Owner, Scope
from tests.store.things import ANN, embedder, everything, record, records


def use_everything(store: SqlStore) -> None:
    new = embedder("new")
    query = new.embed_query("w1")
    store.append(ANN, records(150, source_id="s"), embedder())
    store.append(ANN, records(10, start=200), embedder())
    everything(store, ANN, limit=20)
    store.read(ANN, ["r1", "r140"])
    store.about(ANN, "s")
    store.count(ANN)
    store.owners("shop", after="0", limit=5)
    store.nearest(ANN, query, embedder().fingerprint, 20)
    store.append(ANN, [record(300)], embedder())
    store.nearest(ANN, query, embedder().fingerprint, 20)
    store.vectors(ANN, embedder().fingerprint)
    store.forget_changed()
    store.reembed(ANN, new)
    store.delete(ANN, ["r1", "r140"])
    store.delete_owner(ANN)
    store.append(Owner("shop", "t", "bob"), records(2, owner="bob"), new)
    store.delete_user("shop", "bob")
    made = store.keys.create("shop", [Scope.READ])
    store.keys.check(made.secret)
    store.keys.keys("shop")
    store.keys.revoke("shop", made.key.id)


def statements(store: SqlStore) -> dict[str, Any]:
    """Every statement that is run, with values of one run."""
    seen: dict[str, Any] = {}

    def note(_c: Any, _cursor: Any, statement: str, values: Any, _x: Any, many: bool) -> None:
        if statement.startswith(("SELECT", "UPDATE", "DELETE")):
            seen[statement] = values[0] if many else values

    event.listen(store._database.engine, "before_cursor_execute", note)
    use_everything(store)
    event.remove(store._database.engine, "before_cursor_execute", note)
    assert len(seen) > 20
    return seen


def test_every_statement_uses_an_index(store: SqlStore) -> None:
    seen = statements(store)
    with store._database.reading() as connection:
        is_sqlite = store._database.is_sqlite
        if not is_sqlite:  # of tables with a few rows it would rather read all
            connection.execute(text("SET LOCAL enable_seqscan = off"))
        explain = "EXPLAIN QUERY PLAN " if is_sqlite else "EXPLAIN "
        for statement, values in seen.items():
            if not is_sqlite and not statement.startswith("SELECT"):
                continue  # this transaction only reads
            plan = connection.exec_driver_sql(explain + statement, values).all()
            shown = "\n".join(str(row[-1]) for row in plan)
            assert ("SCAN" if is_sqlite else "Seq Scan") not in shown, f"{statement}\n{shown}"


def test_records_are_reached_by_their_tenant_or_owner_alone(store: SqlStore) -> None:
    for statement in statements(store):
        where = statement.partition("WHERE")[2]
        named = "tenant" in where or "owner_id" in where or "enough_owner.id" in where
        assert named or "enough_api_key.id" in where, statement


def test_migrations_make_the_tables_that_are_declared(store: SqlStore) -> None:
    with store._database.reading() as connection:
        context = MigrationContext.configure(connection, opts={"version_table": VERSION_TABLE})
        assert compare_metadata(context, metadata) == []
