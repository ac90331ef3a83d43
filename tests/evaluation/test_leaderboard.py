"""Files for LaMP's leaderboard: whole, or refused with the ids that are wrong."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from enough.errors import DataError, UnknownNameError
from enough.evaluation.leaderboard import write_predictions
from tests.evaluation.test_rows import make_row


def test_one_file_per_task_in_the_order_of_the_questions(tmp_path: Path) -> None:
    rows = [
        make_row(request_id="21", answer="comedy", reference=None),
        make_row(request_id="20", answer="größer", reference=None),
        make_row(request_id="30", task="LaMP-3", answer="4"),
    ]
    paths = write_predictions(tmp_path, rows, {"LaMP-2": ["20", "21"], "LaMP-3": ["30"]})
    assert [path.name for path in paths] == ["LaMP_2.json", "LaMP_3.json"]
    assert json.loads(paths[0].read_text(encoding="utf-8")) == {
        "task": "LaMP_2",
        "golds": [{"id": "20", "output": "größer"}, {"id": "21", "output": "comedy"}],
    }


@pytest.mark.parametrize(
    ("ids", "asked", "problem"),
    [
        (["1"], ["1", "2", "3"], "LaMP-2: no answer to 2, 3"),
        (["1"], [*"123456789"], "no answer to 2, 3, 4, 5, 6 and 3 more"),
        (["1", "1"], ["1"], "more than one answer to 1"),
        (["1", "2"], ["1"], "no question for the answer to 2"),
        (["1"], ["1", "1"], "questions twice there 1"),
    ],
)
def test_ids_must_be_complete_and_unique(
    tmp_path: Path, ids: list[str], asked: list[str], problem: str
) -> None:
    rows = [make_row(request_id=one) for one in ids]
    with pytest.raises(DataError, match=problem):
        write_predictions(tmp_path, rows, {"LaMP-2": asked})
    assert list(tmp_path.iterdir()) == []


def test_one_run_of_known_tasks(tmp_path: Path) -> None:
    two = [make_row(seed=0), make_row(seed=1)]
    with pytest.raises(DataError, match="one method and one seed"):
        write_predictions(tmp_path, two, {"LaMP-2": ["q1"]})
    with pytest.raises(DataError, match="no questions of LaMP-2"):
        write_predictions(tmp_path, two[:1], {"LaMP-3": []})
    with pytest.raises(UnknownNameError, match="unknown task 'mine'"):
        write_predictions(tmp_path, [make_row(task="mine")], {"mine": ["q1"]})
    assert list(tmp_path.iterdir()) == []
