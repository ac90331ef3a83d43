"""Judgements as a section: shares, κ, and a sentence that claims no more than its interval."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from enough.annotation.agreement import Agreement, Verdict
from enough.diagnostics.diagnostic import About
from enough.diagnostics.human_evaluation import HumanConfig, section
from enough.errors import ConfigError
from enough.evaluation.intervals import Interval
from enough.parquet_rows import read_parquet, write_parquet
from enough.teacher.components import TargetConfig

ABOUT = About({}, TargetConfig(), 10, is_made_up=True)
CLEAR = Verdict(
    task="LaMP-4",
    criterion="overall preference",
    method="enough",
    against="purple",
    win=Interval(0.6, 0.5, 0.7),
    tie=Interval(0.2, 0.1, 0.3),
    loss=Interval(0.2, 0.1, 0.3),
    pairs=20,
    judgements=60,
    identical=3,
    agreement=Agreement(0.4, 3, 20, 0),
)


def test_a_preference_is_told_only_where_intervals_are_apart() -> None:
    unclear = replace(CLEAR, loss=Interval(0.3, 0.2, 0.55))
    lost = replace(CLEAR, win=CLEAR.loss, loss=CLEAR.win)
    told = section([CLEAR], HumanConfig(), ABOUT)
    assert "enough is preferred (60% win, 20% tie, 20% loss on 20 pairs)" in told.answer
    assert "no side is preferred" in section([unclear], HumanConfig(), ABOUT).answer
    assert "purple is preferred" in section([lost], HumanConfig(), ABOUT).answer
    assert told.panels[0].table.rows[0][5:] == (0.4, 20, 3, 3)


def test_without_judgements_it_says_how_to_get_them() -> None:
    told = section([], HumanConfig(), ABOUT)
    assert "enough annotate export" in told.answer
    assert told.panels == ()
    assert len(told.paper[0].table.rows) == 6


def test_rows_come_back_as_they_were(tmp_path: Path) -> None:
    rows = [CLEAR, replace(CLEAR, agreement=Agreement(None, 1, 20, 0))]
    write_parquet(tmp_path / "rows.parquet", Verdict, rows, {})
    assert read_parquet(tmp_path / "rows.parquet", Verdict) == rows


def test_a_key_without_judgements_is_refused() -> None:
    with pytest.raises(ConfigError, match="needs both export and judgements"):
        HumanConfig(export=Path("pairs"))
