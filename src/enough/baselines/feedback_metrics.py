"""A task's leading metric for one answer, turned so that higher is better, in [0, 1].

In: an answer and its reference. Out: a reward. Accuracy and F1 count an exact match, MAE and RMSE
become (worst − error) / worst on the scale of the task's labels, ROUGE is the F-measure.
"""

from __future__ import annotations

from collections.abc import Callable

from enough.answers import rating_error, rouge_1, rouge_l, scale_of
from enough.tasks import Task


def leading_metric(task: Task, answer: str, reference: str) -> float:
    """The task's first metric for one answer, in [0, 1], higher is better."""
    return _METRICS[task.metrics[0]](answer, reference, task)


def _exact(answer: str, reference: str, _: Task) -> float:
    return float(answer.strip() == reference.strip())


def _rating(answer: str, reference: str, task: Task) -> float:
    """(worst − error) / worst; an answer that is no number counts as the farthest endpoint."""
    error, _ = rating_error(task, answer, reference)
    worst = max(abs(float(reference) - end) for end in scale_of(task))
    return max(0.0, 1 - abs(error) / worst) if worst > 0 else 0.0


_METRICS: dict[str, Callable[[str, str, Task], float]] = {
    "accuracy": _exact,
    "f1": _exact,
    "mae": _rating,
    "rmse": _rating,
    "rouge-1": lambda answer, reference, _: rouge_1(answer, reference),
    "rouge-l": lambda answer, reference, _: rouge_l(answer, reference),
}
