"""What settings name as data: folders, one for each task, or made-up people."""

from __future__ import annotations

from pathlib import Path

import pytest

from enough.data.folders import datasets_of
from enough.data.synthetic import WorldConfig
from enough.errors import ConfigError, DataError
from tests.data.world import write_tweet_log

WORLD = WorldConfig(users=4)
TWEETS, ANSWERS = {"ann": ["so late again"]}, [("ann", "late, again")]


def test_folders_or_made_up_people(tmp_path: Path) -> None:
    made_up = datasets_of((), WORLD)
    assert [data.task.name for data in made_up] == [f"LaMP-{n}" for n in (1, 2, 3, 4, 5, 7)]
    log = write_tweet_log(tmp_path / "LaMP_7", TWEETS, ANSWERS)
    assert [data.task.name for data in datasets_of([log], WORLD)] == ["LaMP-7"]


def test_what_cannot_be_read_or_told_apart_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="nowhere: there is no such folder"):
        datasets_of([tmp_path / "nowhere"], WORLD)
    log = write_tweet_log(tmp_path / "LaMP_7", TWEETS, ANSWERS)
    with pytest.raises(ConfigError, match="one folder per task, please; given: LaMP-7, LaMP-7"):
        datasets_of([log, log], WORLD)
