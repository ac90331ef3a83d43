"""Answers read and compared as LaMP's official evaluation does it: labels, ratings, words.

In: what a generator wrote, a task or a reference. Out: a label or None, a rating or None, ROUGE.
Space around a label is ignored, nothing else: another case or a full stop makes another label.
Whoever rewards or judges answers does it by these.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence

from enough.errors import ConfigError, DataError
from enough.tasks import Task

_WORDS = re.compile(r"[a-z0-9]+")


def label_of(task: Task, answer: str) -> str | None:
    """The label that was answered; None for anything outside the task's list."""
    label = answer.strip()
    return label if label in task.labels else None


def rating_of(answer: str) -> float | None:
    """The number that was answered, neither clamped to the scale nor rounded.

    Officially whatever Python's `float` takes is a number. Here "nan" and "inf" are not: one of
    them would make a mean over all requests meaningless.
    """
    try:
        rating = float(answer)
    except ValueError:
        return None
    return rating if math.isfinite(rating) else None


def scale_of(task: Task) -> tuple[float, float]:
    """The least and the greatest label as numbers.

    Raises:
        ConfigError: if the task has no labels, or one that is not a number.
    """
    ratings = [rating_of(label) for label in task.labels]
    known = [rating for rating in ratings if rating is not None]
    if not known or len(known) < len(ratings):
        raise ConfigError(f"task {task.name!r}: mae and rmse need labels that are numbers")
    return min(known), max(known)


def rating_error(task: Task, answer: str, reference: str) -> tuple[float, bool]:
    """Answer less reference, and whether the answer was unparseable.

    An unparseable answer counts as the endpoint of the scale that is farther from the reference;
    in the middle, as the upper one.

    Raises:
        DataError: if the reference is not a number.
    """
    wanted = rating_of(reference)
    if wanted is None:
        raise DataError(f"task {task.name!r}: the reference {reference!r} is not a number")
    if (found := rating_of(answer)) is not None:
        return found - wanted, False
    low, high = scale_of(task)
    return (low if abs(low - wanted) > abs(high - wanted) else high) - wanted, True


def rouge_1(answer: str, reference: str) -> float:
    """ROUGE-1 F: unigram overlap of lower-cased alphanumeric words, without stemming.

    >>> rouge_1("The quick fox", "the fox!")
    0.8
    """
    ours, theirs = _words(answer), _words(reference)
    return _f_measure((Counter(ours) & Counter(theirs)).total(), len(ours), len(theirs))


def rouge_l(answer: str, reference: str) -> float:
    """ROUGE-L F: the longest common subsequence of the same words.

    >>> rouge_l("fox the", "the fox")
    0.5
    """
    ours, theirs = _words(answer), _words(reference)
    return _f_measure(_common_subsequence(ours, theirs), len(ours), len(theirs))


def _words(text: str) -> list[str]:
    return _WORDS.findall(text.lower())


def _f_measure(shared: int, ours: int, theirs: int) -> float:
    if shared == 0:
        return 0.0
    precision, recall = shared / ours, shared / theirs
    return 2 * precision * recall / (precision + recall)


def _common_subsequence(ours: Sequence[str], theirs: Sequence[str]) -> int:
    """Its length. A column of the usual table is one integer: a step down is a zero bit in it.

    Python adds integers of any length at once, so this is linear in practice.
    """
    places: dict[str, int] = {}
    for i, word in enumerate(theirs):
        places[word] = places.get(word, 0) | 1 << i
    whole = (1 << len(theirs)) - 1
    column = whole
    for word in ours:
        matched = column & places.get(word, 0)
        column = ((column + matched) | (column - matched)) & whole
    return len(theirs) - column.bit_count()
