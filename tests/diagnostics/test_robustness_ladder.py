"""The robustness ladder on a toy study and on hand-made rows."""

from __future__ import annotations

from pathlib import Path

import pytest

from enough.diagnostics.diagnostic import About
from enough.diagnostics.laboratory import Laboratory
from enough.diagnostics.stress.candidate_ladder import INJECTED, STEPS, Ladder
from enough.diagnostics.stress.robustness_ladder import built, measure
from enough.diagnostics.stress.robustness_rows import OWN_POOL, LadderRow, RobustnessConfig
from enough.diagnostics.stress.robustness_section import holding, section
from enough.diagnostics.tried import Tried
from enough.errors import ConfigError
from enough.evaluation.intervals import Interval
from enough.parquet_rows import read_parquet, write_parquet
from enough.tasks import LAMP_TASKS
from enough.teacher.components import TargetConfig
from tests.diagnostics.toy import about

CONFIG = RobustnessConfig(considered=5, base=2, others=4)
ABOUT = About(dict(LAMP_TASKS), TargetConfig(), 3, is_made_up=True)


def test_ladders_are_of_what_helps_alone_and_what_does_not(lab: Laboratory) -> None:
    subjects = lab.subjects()
    ladders = built(lab, subjects, CONFIG)
    assert built(lab, subjects, CONFIG) == ladders
    some = 0
    for subject, ladder in zip(subjects, ladders, strict=True):
        case = subject.space.case
        places = range(len(case.pool))
        worth = lab.components([(subject, (place,)) for place in places], "test")
        alone = {case.pool[i].record.id: worth[case.name, (i,)][2] for i in places}
        if isinstance(ladder, str):
            assert ladder == "no record helps alone" and max(alone.values()) <= 0
            continue
        some += 1
        assert all(alone[record.id] <= 0 for record in ladder.base) and len(ladder.base) <= 2
        assert alone[ladder.added[0].id] == max(alone.values()) > 0
        user = case.example.request.user
        assert all(record.owner == user for rung in ladder.rungs for record in rung)
        conflict = ladder.added[3].action
        assert conflict not in (ladder.added[0].action, case.example.reference)
    assert 0 < some < len(subjects)


def test_profiles_are_of_their_pools(lab: Laboratory, tmp_path: Path) -> None:
    rows = measure(lab, CONFIG)
    ladders = built(lab, lab.subjects(), CONFIG)
    kept = [ladder for ladder in ladders if isinstance(ladder, Ladder)]
    assert [row.step for row in rows if row.step == OWN_POOL] == [OWN_POOL] * len(ladders)
    for place, step in enumerate(STEPS):
        of_step = [row for row in rows if row.step == step]
        for row, ladder in zip(of_step, kept, strict=True):
            rung = ladder.rungs[place]
            assert row.pool == len(rung)
            assert set(row.tried.records) <= {record.id for record in rung}
            assert set(row.kinds) <= set(INJECTED[:place])
            assert row.kinds == ladder.kinds(
                [record for record in rung if record.id in row.tried.records]
            )
    path = tmp_path / "rows.parquet"
    write_parquet(path, LadderRow, rows, {})
    assert read_parquet(path, LadderRow) == rows
    shown = section(rows, CONFIG, about(lab.study))
    assert [line[0] for line in shown.panels[0].table.rows] == [*STEPS, OWN_POOL]


def a_row(step: str, user: int, kinds: tuple[str, ...], score: float = -1.0) -> LadderRow:
    tried = Tried(
        task="LaMP-3",
        request_id=f"q{user}",
        user=f"u{user}",
        records=kinds,
        tokens=40 * len(kinds),
        answer="4",
        reference="5",
        score=score,
        empty_score=-2.0,
        log_likelihood_gain=0.0,
    )
    return LadderRow(step, "", 2, kinds, tried)


def hand_made(users: int = 6) -> list[LadderRow]:
    """The useful record is taken at once, the conflict too, and then the answer is worse."""
    held = {
        OWN_POOL: ((), -1.0),
        STEPS[0]: ((), -1.0),
        STEPS[1]: (("useful",), -1.0),
        STEPS[2]: (("useful",), -1.0),
        STEPS[3]: (("useful",), -1.0),
        STEPS[4]: (("useful", "conflict"), -3.0),
    }
    return [a_row(step, n, *what) for step, what in held.items() for n in range(users)]


def test_the_table_by_hand() -> None:
    shown = section(hand_made(), CONFIG, ABOUT)
    lines = {line[0]: line for line in shown.panels[0].table.rows}
    assert lines[STEPS[0]][2:] == (
        *(Interval(0, 0, 0), Interval(0, 0, 0), Interval(1, 1, 1), Interval(0, 0, 0)),
        *(None, None, None, None),
    )
    assert lines[STEPS[4]][1:] == (
        *(Interval(100, 100, 100), Interval(80, 80, 80), Interval(2, 2, 2), Interval(0, 0, 0)),
        *(Interval(1, 1, 1), Interval(1, 1, 1), Interval(0, 0, 0), Interval(0, 0, 0)),
        Interval(1, 1, 1),
    )
    assert lines[OWN_POOL][6:] == (None, None, None, None)
    assert shown.panels[0].charts[2].values[3] == (None, None, None, None, 1.0)  # type: ignore[union-attr]


def test_a_kind_is_held_from_its_own_step_on() -> None:
    rows = [a_row(STEPS[2], n, ("useful",) if n else ()) for n in range(4)]
    useful = holding(rows, "useful")
    assert useful is not None and useful.mean == 0.75
    assert holding(rows, "near duplicate") == Interval(0, 0, 0)
    assert holding(rows, "irrelevant") is None


def test_the_answer_claims_no_difference_that_is_none() -> None:
    answer = section(hand_made(), CONFIG, ABOUT).answer
    assert "The useful record is chosen for 100%" in answer
    assert "records by +0.00 [+0.00, +0.00], not to be told from zero" in answer
    assert answer.endswith("harmed requests by +1.00 [+1.00, +1.00].")
    few = section(hand_made(users=5), CONFIG, ABOUT).answer
    assert "by +1.00 [+1.00, +1.00], not to be told from zero" in few
    assert few.endswith("Requests: 5, users: 5, too few to tell apart.")


def test_requests_without_a_ladder_are_counted() -> None:
    gone = LadderRow(OWN_POOL, "no record helps alone", 5, (), hand_made()[0].tried)
    shown = section([gone], CONFIG, ABOUT)
    assert shown.answer == (
        "There is no request with a ladder. Left out: 1 (no record helps alone)."
    )
    assert shown.panels[0].table.rows == ()
    assert "Left out: 1" in section([*hand_made(), gone], CONFIG, ABOUT).panels[0].caption


def test_impossible_settings_are_refused() -> None:
    with pytest.raises(ConfigError, match="considered"):
        RobustnessConfig(considered=0)
