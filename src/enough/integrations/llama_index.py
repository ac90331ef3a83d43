"""LlamaIndex: a node postprocessor that keeps the few nodes worth their tokens, in prompt order.

In: the nodes that an app's retriever found, and the query. Out: those that stay, copied, with how
it was decided in `metadata["enough"]`; often none. Async calls run in a thread.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

from enough import Enough  # this way a missing extra `hf` is told of
from enough.errors import DataError, MissingExtraError
from enough.integrations.documents import (
    QUERY,
    Asking,
    Piece,
    as_task,
    checked_template,
    keep,
    records_of_pieces,
)
from enough.records import Record
from enough.tasks import Task

try:
    from llama_index.core.postprocessor.types import BaseNodePostprocessor
    from llama_index.core.schema import BaseNode, MetadataMode, NodeWithScore, QueryBundle
    from pydantic import AfterValidator, InstanceOf
except ModuleNotFoundError as error:
    raise MissingExtraError("enough.integrations.llama_index", "llama-index") from error

_KEY = "enough"


class EnoughPostprocessor(BaseNodePostprocessor):
    """Keeps the nodes that are worth their tokens.

    Attributes:
        enough: loaded once, shared by all.
        task: what is asked for: a task, its name, or its TOML file.
        input_template: the task's input, with {query} in it, where the query alone has not its
            form.
        user: whose nodes they are; by default their metadata says so.
        as_record: a node's record, in place of the default mapping: the text is the context,
            `metadata["action"]` (or "output", or the task's field) the action, `metadata["date"]`
            the time. For a task without contexts the text is the action.
    """

    enough: InstanceOf[Enough]
    task: Annotated[InstanceOf[Task] | str, AfterValidator(as_task)]
    input_template: Annotated[str, AfterValidator(checked_template)] = QUERY
    user: str | None = None
    as_record: Callable[[BaseNode], Record] | None = None

    @classmethod
    def class_name(cls) -> str:
        """Its name where LlamaIndex writes it."""
        return "EnoughPostprocessor"

    def _postprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        if query_bundle is None:
            raise DataError("which nodes are worth their tokens depends on the query; give one")
        task = as_task(self.task)
        asking = Asking(self.enough, task, self.input_template, self.user)
        if self.as_record is not None:
            records = [self.as_record(scored.node) for scored in nodes]
        else:
            records = records_of_pieces([_piece(one.node) for one in nodes], task, self.user)
        return [
            _marked(nodes[kept.place], kept.how)
            for kept in keep(asking, query_bundle.query_str, records)
        ]


def _piece(node: BaseNode) -> Piece:
    return Piece(node.get_content(MetadataMode.NONE), node.metadata, node.node_id)


def _marked(scored: NodeWithScore, how: dict[str, object]) -> NodeWithScore:
    """A copy. What was decided is for the app: models and embeddings do not get to see it."""
    node = scored.node.model_copy(
        update={
            "metadata": {**scored.node.metadata, _KEY: how},
            "excluded_llm_metadata_keys": [*scored.node.excluded_llm_metadata_keys, _KEY],
            "excluded_embed_metadata_keys": [*scored.node.excluded_embed_metadata_keys, _KEY],
        }
    )
    return NodeWithScore(node=node, score=scored.score)
