"""A data set in 16 bytes: what runs on disk say they were made from.

In: a data set. Out: a digest that changes whenever anything in the data does.
"""

from __future__ import annotations

import hashlib

from enough.data.questions import Questions
from enough.records import Dataset


def dataset_digest(dataset: Dataset) -> str:
    """Of the task, all histories, all examples and who may see what."""
    digest = hashlib.blake2b(repr(dataset.task).encode(), digest_size=16)
    for owner, history in dataset.histories.items():
        digest.update(repr((owner, history)).encode("utf-8", "surrogatepass"))
    for split, examples in dataset.splits.items():
        digest.update(repr((split, examples)).encode("utf-8", "surrogatepass"))
    for request, ids in dataset.visible.items():
        digest.update(repr((request, sorted(ids))).encode("utf-8", "surrogatepass"))
    return digest.hexdigest()


def questions_digest(questions: Questions) -> str:
    """Of the histories and of all that is asked."""
    digest = hashlib.blake2b(dataset_digest(questions.dataset).encode(), digest_size=16)
    for request in questions.requests:
        digest.update(repr(request).encode("utf-8", "surrogatepass"))
    return digest.hexdigest()
