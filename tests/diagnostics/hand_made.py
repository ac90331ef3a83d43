"""Rows by hand, where only a few of their values matter."""

from __future__ import annotations

from typing import Any

from enough.diagnostics.diagnostic import About
from enough.diagnostics.tried import Tried
from enough.tasks import LAMP_TASKS
from enough.teacher.components import TargetConfig

TASK = "LaMP-4"


def tried(number: int, **values: Any) -> Tried:
    """The request of that number, asked by a user of that number."""
    plain: dict[str, Any] = {
        "task": TASK,
        "request_id": f"q{number}",
        "user": f"u{number}",
        "records": ("a",),
        "tokens": 100,
        "answer": "one two",
        "reference": "one two",
        "score": 1.0,
        "empty_score": 0.5,
        "log_likelihood_gain": 0.25,
        "gain": 1.0,
        "specificity": 0.5,
        "net": 1.0,
    }
    return Tried(**(plain | values))


def about_one_task() -> About:
    return About({TASK: LAMP_TASKS[TASK]}, TargetConfig(0.4, 0.5), 3, is_made_up=True)
