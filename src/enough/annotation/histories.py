"""What annotators may see of a user's past.

In: a data set and the requests that are judged. Out: for each request its legal history, newest
first, less every record that gives away the answer to another request on the same page.

A record that is legal for a request of June may be the very answer to one of May. Methods may use
it; whoever judges both requests must not read it, for references are hidden. So each history also
passes the leakage controls of the user's other requests, without their time.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

from enough.data.leakage import LeakageControls, Progress
from enough.records import Dataset, Example, History
from enough.retrieval.recency import RecencyRetriever


def visible_histories(
    dataset: Dataset,
    examples: Sequence[Example],
    controls: LeakageControls,
    progress: Progress | None = None,
) -> list[History]:
    """One history per example, in their order; newest records first."""
    requests = [example.request for example in examples]
    legal = controls.legal_many(
        requests,
        [dataset.history(request) for request in requests],
        [example.reference for example in examples],
        progress,
    )
    histories = [one.records for one in legal]
    given_away = _given_away(examples, histories, controls)
    newest = RecencyRetriever()
    found = []
    for request, history, hidden in zip(requests, histories, given_away, strict=True):
        left = tuple(record for record in history if record.id not in hidden)
        pool = newest.retrieve(request, left, len(left))
        found.append(tuple(candidate.record for candidate in pool))
    return found


def _given_away(
    examples: Sequence[Example], histories: Sequence[History], controls: LeakageControls
) -> list[set[str]]:
    """For each history the ids of records that are the target of another example."""
    of_user: dict[str, list[int]] = defaultdict(list)
    for place, example in enumerate(examples):
        of_user[example.request.user].append(place)
    crossed = [
        (own, other)
        for places in of_user.values()
        for own in places
        for other in places
        if own != other
    ]
    found = controls.legal_many(
        [replace(examples[other].request, moment=None) for _, other in crossed],
        [histories[own] for own, _ in crossed],
        [examples[other].reference for _, other in crossed],
    )
    hidden: list[set[str]] = [set() for _ in examples]
    for (own, _), legal in zip(crossed, found, strict=True):
        hidden[own] |= {removal.record.id for removal in legal.removals}
    return hidden
