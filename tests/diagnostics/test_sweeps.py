"""Sweeps: values and who sees what, sections of rows by hand, a toy study."""

from __future__ import annotations

from pathlib import Path

import pytest

from enough.baselines.fixed import FixedLength
from enough.controller.train_config import TrainConfig
from enough.diagnostics.laboratory import Laboratory
from enough.diagnostics.sections import LineChart
from enough.diagnostics.variants.narrowed_selector import NarrowedSelector
from enough.diagnostics.variants.sweep_section import section
from enough.diagnostics.variants.sweep_settings import PARAMETERS, SweepConfig, SweepRow, shown
from enough.diagnostics.variants.sweeps import measure, net_at, wide_subjects
from enough.errors import ConfigError
from enough.evaluation.intervals import Interval
from enough.labels.config import LabelConfig
from enough.parquet_rows import read_parquet, write_parquet
from enough.protocols import Budget
from enough.records import Pool, Request, Selection
from enough.teacher.components import TargetConfig
from tests.diagnostics.hand_made import about_one_task, tried
from tests.diagnostics.toy import about

NOTHING = SweepConfig((), (), (), (), (), (), (), (), (), oracle_requests=0)


def by_hand(users: int) -> list[SweepRow]:
    """λ = 0 has 300 tokens and J 1, the study's λ = 0.5 has 100 and J 2; k = 1 has J 0.5."""
    rows = []
    for n in range(users):
        ours = tried(n, net=2.0)
        rows += [
            SweepRow("study", "", 0.0, True, None, None, ours),
            SweepRow("length", "1", 1.0, False, None, None, tried(n, net=0.5, tokens=120)),
            SweepRow("lambda_", "0", 0.0, False, 1.5, 0.5, tried(n, net=1.0, tokens=300)),
            SweepRow("lambda_", "0.5", 0.5, True, 2.0, 0.25, ours),
            SweepRow("rank", "0", 0.0, False, None, None, ours),
            SweepRow("rank", "0.5", 0.5, True, None, None, ours),
        ]
    return rows


def test_values_and_where_they_stand() -> None:
    found = {one.field: one for one in PARAMETERS}
    assert found["search"].own(LabelConfig()) == (8, 4)
    assert found["search"].changes((16, 8)) == (("search.actions", 16), ("search.width", 8))
    assert found["pool"].own(LabelConfig()) == (20,)
    assert found["max_records"].own(LabelConfig()) == (10,)
    assert found["controls"].own(LabelConfig()) == (3,)
    assert found["lambda_"].own(TrainConfig()) == (0.1,)
    assert found["beta"].own(TrainConfig()) == (0.4,)
    assert found["stop"].own(TrainConfig()) == (0.4,)
    assert found["rank"].own(TrainConfig()) == (0.5,)
    assert (shown((8, 4)), shown((0.4,)), shown((3,))) == ("(8, 4)", "0.4", "3")


def test_j_at_another_point_by_hand() -> None:
    # 1 + 0.8 · 0.5 − 2 · 512 / 1024
    assert net_at(tried(1, tokens=512), TargetConfig(0.8, 2.0)) == pytest.approx(0.4)
    assert net_at(tried(1, specificity=None), TargetConfig()) is None


def test_the_section_by_hand() -> None:
    found = section(by_hand(6), NOTHING, about_one_task())
    frontier, priced, ranked = found.panels
    assert [row[0] for row in frontier.table.rows] == [
        "ENOUGH, λ = 0",
        "ENOUGH, λ = 0.5",
        "fixed k = 1",
    ]
    by_tokens = frontier.charts[1]
    assert isinstance(by_tokens, LineChart)
    assert [(point.x, point.y) for point in by_tokens.lines[0].points] == [(100, 2), (300, 1)]
    titles = [column.title for column in priced.table.columns]
    first, own = (dict(zip(titles, row, strict=True)) for row in priced.table.rows)
    assert (first["λ"], own["λ"]) == ("0", "0.5*")
    assert (first["Change of J"], own["Change of J"]) == (Interval(-1, -1, -1), None)
    assert first["J at its own β, λ"] == Interval(1.5, 1.5, 1.5)
    assert first["Regret"] == Interval(0.5, 0.5, 0.5)
    assert {chart.marked for chart in priced.charts if isinstance(chart, LineChart)} == {1.0}
    assert [chart.title for chart in priced.charts] == ["Quality by λ", "J by λ", "Tokens by λ"]
    # A column that no value has is left out.
    assert "Regret" not in [column.title for column in ranked.table.columns]
    assert found.answer == (
        "On 6 requests of 6 users, one setting varied at a time: λ = 0 changes J by -1.00 "
        "[-1.00, -1.00]; no value of η can be told apart from the study's own by J. From λ = 0 "
        "to 0.5 profiles go from 300 to 100 tokens."
    )


def test_few_users_claim_nothing() -> None:
    answer = section(by_hand(4), NOTHING, about_one_task()).answer
    assert answer.startswith("On 4 requests of 4 users nothing can be told apart")


def test_a_narrowed_selector_sees_less(lab: Laboratory) -> None:
    subject = lab.subjects()[0]
    pool, budget = subject.space.case.pool, subject.space.budget
    request = subject.space.case.example.request
    assert len(pool) > 2

    def taken(size: int, records: int) -> int:
        narrowed = NarrowedSelector(FixedLength(9), size, records)
        return len(narrowed.select(request, pool, budget).records)

    assert (taken(2, 9), taken(9, 1), taken(9, 9)) == (2, 1, 3)

    class Asked:
        """Keeps what it may spend."""

        def select(self, request: Request, pool: Pool, budget: Budget) -> Selection:
            self.budget = budget
            return Selection(())

    asked = Asked()
    NarrowedSelector(asked, 2, 9).select(request, pool, budget)
    assert asked.budget.max_records == 2  # K_i: no more than there are


def test_wide_subjects_begin_like_the_reported_ones(lab: Laboratory) -> None:
    plain = lab.subjects()
    assert wide_subjects(lab, NOTHING) is plain
    wide = wide_subjects(lab, SweepConfig(pool=(3, 7), max_records=(4,)))
    for ours, theirs in zip(wide, plain, strict=True):
        assert ours.space.case.name == theirs.space.case.name
        assert ours.space.case.pool[:5] == theirs.space.case.pool
        assert ours.space.case.controls[:5] == theirs.space.case.controls
        assert ours.space.budget.max_records == 4
    assert max(len(one.space.case.pool) for one in wide) > 5


def test_a_toy_study(lab: Laboratory, tmp_path: Path) -> None:
    config = SweepConfig(
        beta=(),
        lambda_=(0.0, 0.5),
        rank=(),
        stop=(),
        pool=(2,),
        max_records=(1,),
        controls=(),
        search=(),
        lengths=(1, 5),
        label_requests=6,
        oracle_requests=1,
        oracle_pool=3,
        oracle_records=2,
    )
    rows = measure(lab, config)
    groups = list(dict.fromkeys((row.parameter, row.value, row.is_own) for row in rows))
    assert groups == [
        ("study", "", True),
        ("length", "1", False),  # five is beyond the horizon
        ("lambda_", "0", False),
        ("lambda_", "0.5", True),
        ("pool", "2", False),
        ("pool", "5", True),
        ("max_records", "1", False),
        ("max_records", "3", True),
    ]
    assert len(rows) == len(groups) * len(lab.subjects())

    def of(parameter: str, value: str) -> list[SweepRow]:
        return [row for row in rows if (row.parameter, row.value) == (parameter, value)]

    assert [row.tried for row in of("lambda_", "0.5")] == [row.tried for row in of("study", "")]
    for row in of("lambda_", "0.5"):
        assert row.own_net == pytest.approx(row.tried.net)
    for row in of("lambda_", "0"):
        assert row.own_net == net_at(row.tried, TargetConfig(0.4, 0.0))
    assert all(row.own_net is None for row in of("pool", "2"))
    assert all(len(row.tried.records) <= 1 for row in of("max_records", "1"))
    pools = {s.space.case.example.request.id: s.space.case.pool for s in lab.subjects()}
    for row in of("pool", "2"):
        shorter = {candidate.record.id for candidate in pools[row.tried.request_id][:2]}
        assert set(row.tried.records) <= shorter
    assert [row.tried for row in of("pool", "5")] == [row.tried for row in of("max_records", "3")]
    assert sum(row.regret is not None for row in rows) == 2 * len(groups)

    path = tmp_path / "rows.parquet"
    write_parquet(path, SweepRow, rows, {})
    assert read_parquet(path, SweepRow) == rows
    captions = [
        panel.caption.split(",")[0] for panel in section(rows, config, about(lab.study)).panels
    ]
    assert captions[1:] == ["λ", "M", "K_max"]


def test_nothing_varied_says_so(lab: Laboratory) -> None:
    found = section(measure(lab, NOTHING), NOTHING, about(lab.study))
    assert found.answer == "Nothing was varied." and found.panels == ()


def test_settings() -> None:
    with pytest.raises(ConfigError, match=r"sweeps\.pool"):
        SweepConfig(pool=(0,))
    with pytest.raises(ConfigError, match=r"sweeps\.lambda"):
        SweepConfig(lambda_=(-1.0,))
    with pytest.raises(ConfigError, match=r"sweeps\.search"):
        SweepConfig(search=((4, 0),))
