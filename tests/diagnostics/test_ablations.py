"""Ablations: what each variant changes, sections of rows by hand, a toy study."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from enough.controller.train_config import TrainConfig
from enough.diagnostics.laboratory import Laboratory
from enough.diagnostics.sections import DotChart
from enough.diagnostics.variants.ablation_rows import AblationConfig, AblationRow
from enough.diagnostics.variants.ablation_section import section
from enough.diagnostics.variants.ablation_variants import FULL, VARIANTS
from enough.diagnostics.variants.ablations import chosen_length, measure, variants_of
from enough.diagnostics.variants.changed_settings import changed, value_at
from enough.errors import UnknownNameError
from enough.evaluation.intervals import Interval
from enough.parquet_rows import read_parquet, write_parquet
from tests.diagnostics.hand_made import about_one_task, tried
from tests.diagnostics.toy import about


def by_hand(users: int) -> list[AblationRow]:
    """Without specificity J is 1 lower and there are 50 tokens more; forcing changes nothing."""
    rows = []
    for n in range(users):
        rows += [
            AblationRow(FULL.title, "full", None, 0.5, tried(n, net=2.0)),
            AblationRow("no β", "main figure", None, 0.75, tried(n, net=1.0, tokens=150)),
            AblationRow("forced", "main figure", 2, None, tried(n, net=2.0)),
        ]
    return rows


def test_changes_reach_nested_settings_and_nothing_else() -> None:
    before = TrainConfig()
    after = changed(before, [("targets.beta", 0.0), ("kind", "myopic")])
    assert (after.targets.beta, after.kind) == (0.0, "myopic")
    assert replace(after, targets=before.targets, kind=before.kind) == before
    assert value_at(before, "loss.rank") == 0.5


def test_every_variant_takes_out_what_its_name_says() -> None:
    full = TrainConfig()
    found = {one.name: train for one, train in variants_of(full, [v.name for v in VARIANTS])}
    assert list(found) == [one.name for one in VARIANTS]
    assert found["myopic"] == replace(full, kind="myopic")
    assert found["hindsight"] == replace(full, kind="hindsight")
    assert found["forced-length"] == full
    assert found["no-specificity"] == replace(full, targets=replace(full.targets, beta=0.0))
    assert found["no-token-cost"] == replace(full, targets=replace(full.targets, lambda_=0.0))
    assert found["single-head"] == replace(full, model=replace(full.model, single_head=True))
    assert found["no-ranking-loss"] == replace(full, loss=replace(full.loss, rank=0.0))
    assert found["no-stop-loss"] == replace(full, loss=replace(full.loss, stop=0.0))
    assert found["unordered"] == replace(full, model=replace(full.model, ordered=False))


def test_what_changes_nothing_is_left_out() -> None:
    full = TrainConfig(kind="hindsight")
    names = [one.name for one, _ in variants_of(full, ("hindsight", "myopic", "forced-length"))]
    assert names == ["myopic", "forced-length"]


def test_the_section_by_hand() -> None:
    shown = section(by_hand(6), AblationConfig(), about_one_task())
    changes, metrics, levels = shown.panels
    none = Interval(0, 0, 0)
    assert changes.table.rows == (
        (
            "no β",
            Interval(-1, -1, -1),
            none,
            Interval(50, 50, 50),
            none,
            none,
            Interval(0.25, 0.25, 0.25),
        ),
        ("forced, k = 2", none, none, none, none, none, None),
    )
    assert [row[0] for row in levels.table.rows] == ["Full ENOUGH", "no β", "forced, k = 2"]
    assert levels.table.rows[1][1] == "main figure"
    assert levels.table.rows[1][-2:] == (Interval(1, 1, 1), Interval(0.75, 0.75, 0.75))
    assert metrics.table.rows[0] == ("no β", none)
    (first, *_) = changes.charts
    assert isinstance(first, DotChart)
    assert [(dot.label, dot.value) for dot in first.dots] == [("no β", -1), ("forced, k = 2", 0)]
    assert "no β lowers J by 1.00 [-1.00, -1.00]" in shown.answer
    assert "The other 1 cannot be told apart" in shown.answer


def test_few_users_claim_nothing() -> None:
    answer = section(by_hand(4), AblationConfig(), about_one_task()).answer
    assert answer == "On 4 requests of 4 users nothing can be told apart: these are too few."


def test_equals_are_not_told_apart() -> None:
    rows = [row for row in by_hand(6) if row.variant != "no β"]
    answer = section(rows, AblationConfig(), about_one_task()).answer
    assert answer.endswith("no variant can be told apart from the full method by J.")


def test_the_forced_length_has_the_highest_mean_net_value(lab: Laboratory) -> None:
    subjects = lab.subjects("select")
    means = {}
    for length in (1, 2, 3):
        profiles = lab.chosen(lab.policy(forced_length=length), subjects)
        pairs = list(zip(subjects, profiles, strict=True))
        worth = lab.components(pairs, "test")
        means[length] = sum(worth[s.space.case.name, p][2] for s, p in pairs)
    best = max(means, key=lambda length: means[length])
    assert chosen_length(lab, lab.study.trained, (1, 2, 3)) == best
    assert chosen_length(lab, lab.study.trained, (9,)) == 3  # the horizon


def test_a_toy_study(lab: Laboratory, tmp_path: Path) -> None:
    names = ("myopic", "forced-length", "no-token-cost", "single-head", "unordered")
    config = AblationConfig(names, lengths=(2,), oracle_requests=1, oracle_pool=3, oracle_records=2)
    rows = measure(lab, config)
    requests = len(lab.subjects())
    assert len(rows) == requests * (1 + len(names))
    forced = [row for row in rows if row.forced_length == 2]
    assert len(forced) == requests
    assert all(len(row.tried.records) == 2 for row in forced)
    # Of every variant one request of each task has its regret.
    assert sum(row.regret is not None for row in rows) == 2 * (1 + len(names))
    folder = lab.study.shop.folder / "variants"
    trained = {path.name for path in folder.glob("ablation-*")}
    assert trained == {
        f"ablation-{name}"
        for name in ("full", "myopic", "no-token-cost", "single-head", "unordered")
    }
    path = tmp_path / "rows.parquet"
    write_parquet(path, AblationRow, rows, {})
    assert read_parquet(path, AblationRow) == rows
    shown = section(rows, config, about(lab.study))
    assert len(shown.panels[0].table.rows) == len(names)


def test_without_an_oracle_there_is_no_regret(lab: Laboratory) -> None:
    config = AblationConfig(("myopic",), oracle_requests=0)
    rows = measure(lab, config)
    assert {row.regret for row in rows} == {None}
    assert section(rows, config, about(lab.study)).panels[0].table.rows[0][-1] is None


def test_an_unknown_variant_is_named() -> None:
    with pytest.raises(UnknownNameError, match="myopik"):
        AblationConfig(("myopik",))
