"""What a store holds of one task, as a data set without requests.

In: a store, a tenant and a task. Out: everybody's records, oldest first. It is read page by page,
so writers go on meanwhile; what comes in on the way may or may not be in it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeVar

from enough.data.logs import in_order
from enough.progress import OnStep, silent
from enough.records import Dataset, Record
from enough.store.record_store import RecordStore
from enough.store.values import Owner, OwnerPage, OwnerSummary, Page
from enough.tasks import Task

AnyPage = TypeVar("AnyPage", Page, OwnerPage)
_OWNERS, _RECORDS = 500, 1000  # in a page


def stored_histories(
    store: RecordStore, tenant: str, task: Task, on_step: OnStep = silent
) -> Dataset:
    """The histories of a tenant's users in a task; those without a record are left out."""
    owners = [one.owner for one in _owners(store, tenant) if one.owner.task == task.name]
    histories = {}
    for done, owner in enumerate(owners, 1):
        if found := in_order(_records(store, owner)):
            histories[owner.user] = found
        on_step("reading the store", done, len(owners))
    return Dataset(task, histories, {})


def _owners(store: RecordStore, tenant: str) -> Iterator[OwnerSummary]:
    for page in _pages(lambda after: store.owners(tenant, after=after, limit=_OWNERS)):
        yield from page.owners


def _records(store: RecordStore, owner: Owner) -> Iterator[Record]:
    for page in _pages(lambda after: store.page(owner, after=after, limit=_RECORDS)):
        yield from page.records


def _pages(read: Callable[[str | None], AnyPage]) -> Iterator[AnyPage]:
    """All of them, from the first on."""
    page = read(None)
    yield page
    while page.cursor is not None:
        page = read(page.cursor)
        yield page
