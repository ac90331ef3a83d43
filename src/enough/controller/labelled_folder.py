"""From a folder of labels and the data it was made from to labelled requests.

In: a finished label folder, data sets, the frozen encoder. Out: `LabelledRequest`s with the frozen
scales of the folder. Records are looked up by the ids in the labels.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from enough.controller.examples import LabelledRequest
from enough.controller.features import featurise
from enough.errors import DataError
from enough.labels.folder import LabelFolder
from enough.labels.tree_files import Fingerprints
from enough.progress import OnStep, silent
from enough.prompts.serialise import record_text
from enough.protocols import Budget, Encoder
from enough.records import Candidate, Dataset, Pool, Request
from enough.teacher.components import Scale, scaled_components
from enough.teacher.scored_tree import ScoredTree


@dataclass(frozen=True, slots=True, eq=False)
class LabelledData:
    """All labelled requests of a folder, with what they were made with."""

    requests: tuple[LabelledRequest, ...]
    scales: dict[str, Scale]
    made_with: Fingerprints


def read_labelled(
    folder: Path,
    datasets: Sequence[Dataset],
    encoder: Encoder,
    on_step: OnStep = silent,
    *,
    scales: dict[str, Scale] | None = None,
) -> LabelledData:
    """Read a finished folder; with `scales`, in units of another one's.

    Raises:
        DataError: if labels or records are missing, or were made with another encoder.
    """
    labels = LabelFolder(folder)
    parts = list(labels.read())
    trees = [tree for part in parts for tree in part.trees]
    if not trees:
        raise DataError("holds no labelled request", path=folder)
    if (found := parts[0].made_with.encoder) != encoder.fingerprint:
        raise DataError(
            f"its pools were made with another encoder ({found}, not {encoder.fingerprint})",
            path=folder,
        )
    lookup = _Lookup(datasets, folder)
    found_pools = [lookup.pool(tree) for tree in trees]
    records = {c.record for _, pool in found_pools for c in pool}
    texts = {record_text(r) for r in records} | {r.action for r in records}
    _warm(encoder, sorted(texts, key=len), on_step)
    scales = labels.scales() if scales is None else scales
    requests = []
    for tree, (request, pool) in zip(trees, found_pools, strict=True):
        of = tree.of
        budget = Budget(of.max_records, of.max_profile_tokens, of.record_tokens)
        features = featurise(request, pool, budget, encoder)
        requests.append(LabelledRequest(features, tree, scaled_components(tree, scales[of.task])))
        on_step("features", len(requests), len(trees))
    return LabelledData(tuple(requests), scales, parts[0].made_with)


class _Lookup:
    """Requests and records by the ids that labels have."""

    def __init__(self, datasets: Sequence[Dataset], folder: Path) -> None:
        self._datasets = {dataset.task.name: dataset for dataset in datasets}
        self._folder = folder
        self._requests = {
            (dataset.task.name, example.request.id): example.request
            for dataset in datasets
            for examples in dataset.splits.values()
            for example in examples
        }

    def pool(self, tree: ScoredTree) -> tuple[Request, Pool]:
        """The request of a tree and its candidates, in the tree's order."""
        of = tree.of
        request = self._requests.get((of.task, of.request))
        if request is None:
            raise DataError(
                f"request {of.request!r} of {of.task} is not in the data given; give the folders "
                "that were labelled",
                path=self._folder,
            )
        history = {r.id: r for r in self._datasets[of.task].histories.get(of.user, ())}
        missing = [name for name in of.pool if name not in history]
        if missing:
            raise DataError(
                f"record {missing[0]!r} of user {of.user!r} is not in the data given",
                path=self._folder,
            )
        scored = zip(of.pool, of.retriever_scores, strict=True)
        return request, tuple(Candidate(history[name], score) for name, score in scored)


def _warm(encoder: Encoder, texts: Sequence[str], on_step: OnStep) -> None:
    """Embed everything in large batches; afterwards each request finds its vectors cached."""
    size = 512
    for start in range(0, len(texts), size):
        encoder.encode(texts[start : start + size], "document")
        on_step("embedding records", min(start + size, len(texts)), len(texts))
