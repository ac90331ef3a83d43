"""LaMP's official metrics: a score of every example first, aggregates derived from them.

In: a task, answers and references. Out: per-example scores, and the task's metrics from 0 up. Every
metric is a function of means over examples ("parts"): accuracy of hits, RMSE of squared errors,
macro F1 of hits, answers and references per label. So it can be recomputed on resampled users.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from enough.answers import label_of, rating_error, rouge_1, rouge_l
from enough.errors import ConfigError
from enough.tasks import METRIC_IS_HIGHER_BETTER, Task

Floats = NDArray[np.float64]
Scores = Mapping[str, float]
Value = Callable[[Floats], Floats]
"""From means of parts [..., p] to the value of a metric [...]."""

UNPARSEABLE, OUTSIDE_LABELS = "unparseable", "outside-labels"
_SCORE_OF_METRIC = {
    "accuracy": "accuracy",
    "f1": "accuracy",  # one example has no F1; a hit is what it contributes
    "mae": "absolute-error",
    "rmse": "squared-error",
    "rouge-1": "rouge-1",
    "rouge-l": "rouge-l",
}


def example_scores(task: Task, answer: str, reference: str) -> dict[str, float]:
    """Everything there is to say of one example under the task's metrics.

    Keys: "accuracy", "absolute-error", "squared-error", "rouge-1", "rouge-l" as the metrics need
    them; "unparseable" (0 or 1) for ratings, "outside-labels" (0 or 1) for tasks with labels.
    """
    scores: dict[str, float] = {}
    for name in dict.fromkeys(_SCORE_OF_METRIC[metric] for metric in task.metrics):
        if name == "accuracy":
            scores[name] = float(_is_hit(task, answer, reference))
        elif name == "rouge-1":
            scores[name] = rouge_1(answer, reference)
        elif name == "rouge-l":
            scores[name] = rouge_l(answer, reference)
        else:
            error, unparseable = rating_error(task, answer, reference)
            scores[name] = abs(error) if name == "absolute-error" else error**2
            scores[UNPARSEABLE] = float(unparseable)
    if task.labels:
        scores[OUTSIDE_LABELS] = float(label_of(task, answer) is None)
    return scores


def oriented_score(task: Task, scores: Scores) -> float:
    """What one example scores under the task's leading metric, higher being better."""
    leading = task.metrics[0]
    sign = 1.0 if METRIC_IS_HIGHER_BETTER[leading] else -1.0
    return sign * scores[_SCORE_OF_METRIC[leading]]


def oriented(task: Task, answer: str, reference: str) -> float:
    """The same, of an answer."""
    return oriented_score(task, example_scores(task, answer, reference))


def aggregate(task: Task, answers: Sequence[str], references: Sequence[str]) -> dict[str, float]:
    """The task's metrics by name, over all examples."""
    scores = [example_scores(task, *both) for both in zip(answers, references, strict=True)]
    if not scores:
        raise ValueError("no answers")
    return {
        metric: float(
            metric_value(metric)(
                metric_parts(task, metric, answers, references, scores).mean(axis=0)
            )
        )
        for metric in task.metrics
    }


def faults(scores: Sequence[Scores]) -> dict[str, int]:
    """How many answers were unparseable or outside the labels, where the task can tell."""
    names = [name for name in (UNPARSEABLE, OUTSIDE_LABELS) if any(name in s for s in scores)]
    return {name: int(sum(s.get(name, 0.0) for s in scores)) for name in names}


def metric_parts(
    task: Task,
    metric: str,
    answers: Sequence[str],
    references: Sequence[str],
    scores: Sequence[Scores],
) -> Floats:
    """What every example contributes to a metric, [n, p]; `scores` are the examples' own."""
    if metric != "f1":
        name = _SCORE_OF_METRIC[metric]
        return np.array([[one[name]] for one in scores], np.float64).reshape(len(scores), 1)
    if not task.labels:
        raise ConfigError(f"task {task.name!r}: f1 is a mean over labels, and the task has none")
    place = {label: i for i, label in enumerate(task.labels)}
    parts = np.zeros((len(answers), 3, len(place)))  # hits, answers, references of each label
    for row, answer, reference in zip(parts, answers, references, strict=True):
        found, wanted = place.get(answer.strip()), place.get(reference.strip())
        if found is not None:
            row[1, found] = 1
            row[0, found] = found == wanted
        if wanted is not None:
            row[2, wanted] = 1
    return parts.reshape(len(answers), -1)


def metric_value(metric: str) -> Value:
    """How a metric follows from the means of its parts."""
    return {"f1": _macro_f1, "rmse": _root}.get(metric, _only)


def _only(means: Floats) -> Floats:
    return means[..., 0]


def _root(means: Floats) -> Floats:
    root: Floats = np.sqrt(means[..., 0])
    return root


def _macro_f1(means: Floats) -> Floats:
    """The mean over all labels; one that is neither answered nor wanted counts 0."""
    hits, answered, wanted = np.split(means, 3, axis=-1)
    both = answered + wanted
    per_label = np.divide(2 * hits, both, out=np.zeros_like(both), where=both > 0)
    macro: Floats = per_label.mean(axis=-1)
    return macro


def _is_hit(task: Task, answer: str, reference: str) -> bool:
    if task.labels and label_of(task, answer) is None:
        return False
    return answer.strip() == reference.strip()
