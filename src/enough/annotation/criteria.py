"""What annotators are asked about each pair: the paper's three criteria, as data.

In: nothing. Out: `CRITERIA`, in the order in which they are asked. Each is a question of its own,
so that doing the task is not mixed up with sounding like the user.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

Choice = Literal["left", "tie", "right"]
CHOICES: tuple[Choice, ...] = get_args(Choice)


@dataclass(frozen=True, slots=True)
class Criterion:
    """One question.

    Attributes:
        name: in files.
        title: in tables, worded as in the paper's.
        question: as annotators read it.
    """

    name: str
    title: str
    question: str


CRITERIA = (
    Criterion(
        "faithfulness",
        "task faithfulness",
        "Which answer does better what the input asks for?",
    ),
    Criterion(
        "style",
        "user style consistency",
        "Which answer is more like this person, going by the history?",
    ),
    Criterion(
        "overall",
        "overall preference",
        "All in all, which answer is better for this person?",
    ),
)
