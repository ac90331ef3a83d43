"""A task's leading metric for one answer, turned so that higher is better, in [0, 1].

In: an answer and its reference. Out: a reward. Accuracy and F1 count an exact match, MAE and RMSE
become (worst − error) / worst on the scale of the task's labels, ROUGE is the F-measure.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable

from enough.errors import ConfigError
from enough.tasks import Task

_WORDS = re.compile(r"[a-z0-9]+")


def leading_metric(task: Task, answer: str, reference: str) -> float:
    """The task's first metric for one answer, in [0, 1], higher is better."""
    return _METRICS[task.metrics[0]](answer, reference, task)


def _exact(answer: str, reference: str, _: Task) -> float:
    return float(answer.strip() == reference.strip())


def _rating(answer: str, reference: str, task: Task) -> float:
    """(worst − error) / worst; an answer that is no number counts as the farthest endpoint."""
    try:
        scale = [float(label) for label in task.labels]
        worst = max(abs(float(reference) - end) for end in (min(scale), max(scale)))
    except ValueError:
        raise ConfigError(
            f"task {task.name!r}: {task.metrics[0]} needs labels and references that are numbers"
        ) from None
    try:
        error = abs(float(answer) - float(reference))
    except ValueError:
        error = worst
    return max(0.0, 1 - error / worst) if worst > 0 and not math.isnan(error) else 0.0


def _rouge_1(answer: str, reference: str, _: Task) -> float:
    ours, theirs = (Counter(_WORDS.findall(text.lower())) for text in (answer, reference))
    return _f_measure((ours & theirs).total(), ours.total(), theirs.total())


def _rouge_l(answer: str, reference: str, _: Task) -> float:
    ours, theirs = (_WORDS.findall(text.lower()) for text in (answer, reference))
    longest = [0] * (len(theirs) + 1)  # common subsequence of what is read and each prefix
    for word in ours:
        before = longest.copy()
        for i, other in enumerate(theirs):
            longest[i + 1] = before[i] + 1 if word == other else max(longest[i], before[i + 1])
    return _f_measure(longest[-1], len(ours), len(theirs))


def _f_measure(shared: int, ours: int, theirs: int) -> float:
    return 2 * shared / (ours + theirs) if shared else 0.0


_METRICS: dict[str, Callable[[str, str, Task], float]] = {
    "accuracy": _exact,
    "f1": _exact,
    "mae": _rating,
    "rmse": _rating,
    "rouge-1": _rouge_1,
    "rouge-l": _rouge_l,
}
