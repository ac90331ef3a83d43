"""What `enough train` prints fits a plain terminal, and no number is cut."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from enough.cli.train import _print

STOPPING = {
    "states": 10,
    "teacher_stop_share": 0.5,
    "mean_probability": 0.5,
    "ece": 0.1,
    "ece_before": 0.2,
    "auroc": 0.7,
    "auroc_within_tasks": 0.6,
    "tasks_with_both": 1,
    "temperature_before": 0.5,
}


def line(task: str) -> dict[str, Any]:
    values = {"net": 0.899, "promised": -1.144, "gap": 0.245, "best": 1.5, "gain": 0.701}
    counts = {"requests": 1200, "tokens": 1070.0, "records": 10.0, "harm": 1.0, "root_stop": 1.0}
    return {"task": task, **values, **counts}


@pytest.mark.parametrize("task", ["support-replies", "a-task-with-a-very-long-name-indeed"])
def test_no_number_is_cut_at_eighty_columns(
    task: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    about = {"parameters": 147520, "kind": "crossfit", "beta": 0.4, "lambda": 0.1}
    found = about | {"stop_temperature": 0.5, "selection_requests": 2, "stopping": STOPPING}
    made = {"selection": [line(task)], "this_run": {"was_there": False, "seconds": 3.0}}
    _print(found | made, Path("out"))
    (shown,) = [one for one in capsys.readouterr().out.splitlines() if one.startswith(task[:8])]
    numbers = "1200 +0.899 -1.144 +0.245 +1.500 +0.701 1070 10.0 100% 100%"
    assert shown.split()[1:] == numbers.split()
    assert len(shown.rstrip()) <= 80
