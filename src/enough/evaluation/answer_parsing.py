"""Answers of closed tasks, read as LaMP's official evaluation reads them.

In: what a generator wrote, and the task's labels. Out: a label or None, a rating or None. Space
around an answer is ignored, nothing else: another case or a full stop makes another label.
"""

from __future__ import annotations

import math

from enough.errors import ConfigError, DataError
from enough.tasks import Task


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
