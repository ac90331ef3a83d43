"""LangChain: documents of any retriever in, the few worth their tokens out; or a whole history.

    EnoughCompressor    a `BaseDocumentCompressor`: the app's retriever has made the pool
    EnoughRetriever     a `BaseRetriever` over records of one user: nothing is decided before

Both put how they decided into `metadata["enough"]`, and both give an empty list where stopping at
once is best. Async calls run in a thread, as LangChain does it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Annotated

from enough import Enough  # this way a missing extra `hf` is told of
from enough.errors import MissingExtraError
from enough.integrations.documents import (
    QUERY,
    Asking,
    Piece,
    as_task,
    checked_template,
    decided,
    keep,
    records_of_pieces,
)
from enough.prompts.escape import Escaper
from enough.prompts.serialise import serialise_record
from enough.records import Record
from enough.tasks import Task

try:
    from langchain_core.callbacks import CallbackManagerForRetrieverRun, Callbacks
    from langchain_core.documents import BaseDocumentCompressor, Document
    from langchain_core.retrievers import BaseRetriever
    from pydantic import AfterValidator, ConfigDict, InstanceOf, SkipValidation
except ModuleNotFoundError as error:
    raise MissingExtraError("enough.integrations.langchain", "langchain") from error


class EnoughCompressor(BaseDocumentCompressor):
    """Keeps the documents that are worth their tokens, in prompt order.

    Attributes:
        enough: loaded once, shared by all.
        task: what is asked for: a task, its name, or its TOML file.
        input_template: the task's input, with {query} in it, where the query alone has not its
            form.
        user: whose documents they are; by default their metadata says so ("user", "user_id",
            "owner"), and documents that say nothing are one user's.
        as_record: a document's record, in place of the default mapping: `page_content` is the
            context, `metadata["action"]` (or "output", or the task's field) the action,
            `metadata["date"]` the time. For a task without contexts the text is the action.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True)

    enough: InstanceOf[Enough]
    task: Annotated[InstanceOf[Task] | str, AfterValidator(as_task)]
    input_template: Annotated[str, AfterValidator(checked_template)] = QUERY
    user: str | None = None
    as_record: Callable[[Document], Record] | None = None

    def compress_documents(
        self, documents: Sequence[Document], query: str, callbacks: Callbacks | None = None
    ) -> list[Document]:
        """The documents that stay, copied, with `metadata["enough"]`: step, value, reason.

        Raises:
            EnoughError: naming the document, if one is no record of the task, or several users'.
        """
        asking = Asking(self.enough, as_task(self.task), self.input_template, self.user)
        if self.as_record is not None:
            records = [self.as_record(document) for document in documents]
        else:
            pieces = [Piece(one.page_content, one.metadata, one.id) for one in documents]
            records = records_of_pieces(pieces, asking.task, self.user)
        return [_marked(documents[kept.place], kept.how) for kept in keep(asking, query, records)]


class EnoughRetriever(BaseRetriever):
    """Finds and chooses among all records of one user; make one per user, they cost nothing.

    Attributes:
        enough: loaded once, shared by all.
        task: what is asked for: a task, its name, or its TOML file.
        history: everything the user has done, or a function that gives it.
        input_template: the task's input, with {query} in it.
    """

    enough: InstanceOf[Enough]
    task: Annotated[InstanceOf[Task] | str, AfterValidator(as_task)]
    history: SkipValidation[Sequence[Record] | Callable[[], Sequence[Record]]]
    input_template: Annotated[str, AfterValidator(checked_template)] = QUERY

    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun
    ) -> list[Document]:
        asking = Asking(self.enough, as_task(self.task), self.input_template, None)
        history = tuple(self.history() if callable(self.history) else self.history)
        if not history:
            return []
        selected = asking.select(query, history[0].owner, history)
        return [
            _marked(_document(record, asking.task), how)
            for record, how in zip(selected.records, decided(selected), strict=True)
        ]


def _document(record: Record, task: Task) -> Document:
    """A record as a document: its line in a prompt is the text, its parts are metadata."""
    parts = {"context": record.context, "action": record.action, "user": record.owner}
    more = dict(record.metadata) | ({} if record.date is None else {"date": record.date})
    line = serialise_record(task, record, Escaper()).strip()
    return Document(page_content=line, metadata=more | parts, id=record.id)


def _marked(document: Document, how: dict[str, object]) -> Document:
    return document.model_copy(update={"metadata": {**document.metadata, "enough": how}})
