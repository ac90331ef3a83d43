"""What is timed and counted on a toy study, and tables from rows made by hand."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from enough.config import from_table
from enough.diagnostics.cost.efficiency import measure
from enough.diagnostics.cost.efficiency_offline import another_lambda, cache_hit, scoring_rate
from enough.diagnostics.cost.efficiency_online import quietest
from enough.diagnostics.cost.efficiency_rows import (
    DECISION,
    MACHINE,
    OFFLINE,
    ONLINE,
    EfficiencyConfig,
    EfficiencyRow,
)
from enough.diagnostics.cost.efficiency_section import section
from enough.diagnostics.cost.machine import machine, processor
from enough.diagnostics.laboratory import Laboratory
from enough.diagnostics.transfer.contestants import Contestant
from enough.diagnostics.tried import OURS
from enough.errors import ConfigError
from enough.labels.folder import LabelFolder
from enough.parquet_rows import read_parquet, write_parquet
from enough.run_folders import read_json
from tests.diagnostics.toy import about, toy_laboratory
from tests.diagnostics.tried_rows import ABOUT, own_cache


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Laboratory]:
    folder = tmp_path_factory.mktemp("efficiency")
    with own_cache(folder / "cache"):
        yield toy_laboratory(folder)


def test_both_methods_meet_the_same_requests_one_at_a_time(lab: Laboratory) -> None:
    config = EfficiencyConfig((Contestant("fixed", 2), Contestant("enough")), requests=2, rounds=1)
    subjects = lab.first_subjects(2)
    assert len(subjects) == 4  # two tasks
    rows = measure(lab, config)
    online = [row for row in rows if row.kind == ONLINE]
    assert {row.method for row in online} == {"fixed, k = 2", OURS}
    names = {s.space.case.example.request.id for s in subjects}
    for method in ("fixed, k = 2", OURS):
        of = [row for row in online if row.method == method]
        assert {row.request_id for row in of} == names
        assert len(of) == 4 * 7
        assert all(row.value == 1 for row in of if row.measure == "calls")
        assert all(row.value is not None and row.value >= 0 for row in of)
    # What other diagnostics have answered already is answered again: remembered time is no time.
    lab.try_records([(subject, ()) for subject in subjects], "before")
    hits, misses = lab.generator.hits, lab.generator.misses
    measure(lab, config)
    assert (lab.generator.hits, lab.generator.misses) == (hits, misses)
    decided = [row for row in rows if row.kind == DECISION and row.measure == "decide"]
    assert len(decided) == len(subjects)

    path = lab.folder / "rows.parquet"
    write_parquet(path, EfficiencyRow, rows, {})
    assert read_parquet(path, EfficiencyRow) == rows
    shown = section(rows, config, about(lab.study))
    assert [row[0] for row in shown.panels[0].table.rows] == ["fixed, k = 2", OURS]


def test_offline_counts_are_those_of_the_labels(lab: Laboratory) -> None:
    rows = measure(lab, EfficiencyConfig(requests=1, rounds=1, timed_requests=1))
    found = {row.measure: row.value for row in rows if row.kind == OFFLINE}
    counts = read_json(LabelFolder(lab.study.labels).manifest_file)["counts"]
    assert found["teacher calls"] == counts["calls"]
    assert found["tokens computed"] == counts["tokens"]
    assert found["generator calls for another λ"] == 0
    rate, hours = found["tokens per second"], found.get("core hours", found.get("GPU hours"))
    assert rate is not None and rate > 0 and hours is not None and hours > 0
    size = sum(p.stat().st_size for p in lab.study.labels.rglob("*") if p.is_file())
    assert found["label bytes"] == size
    assert "controller for another λ, seconds" not in found


def test_another_lambda_leaves_the_labels_as_they_are(lab: Laboratory) -> None:
    study = lab.study  # makes the labels, unless they are there
    before = sorted(str(path) for path in lab.folder.rglob("*"))
    found = another_lambda(study, is_trained=True)
    assert sorted(str(path) for path in lab.folder.rglob("*")) == before
    for name in ("targets for another λ, seconds", "controller for another λ, seconds"):
        seconds = found[name]
        assert seconds is not None and seconds > 0


def test_the_teachers_own_sequences_are_timed(lab: Laboratory) -> None:
    assert scoring_rate(lab, 1) > 0


def test_a_hit_is_what_was_known_already() -> None:
    counts = {"calls": 25, "looked_up": 50, "same_tokens": 25, "gated": 999, "tokens": 1}
    assert cache_hit(counts) == 0.75
    assert cache_hit(dict.fromkeys(counts, 0)) == 0


def test_the_quietest_round_counts() -> None:
    seen: list[int] = []
    times = quietest(seen.append, [1, 2], 3)
    assert len(times) == 2 and seen == [1, 2] * 4  # a round to warm up


def _rows(ours: float, users: int = 6) -> list[EfficiencyRow]:
    rows = []
    for method, generation in ((OURS, ours), ("fixed, k = 5", 300.0)):
        values = {"retrieval": 10, "selection": 5, "generation": generation, "other": 1}
        values |= {"profile tokens": 50, "calls": 1, "tokens read": 400}
        for i in range(users):
            for task in ("LaMP-3", "LaMP-4"):
                slower = 100.0 if task == "LaMP-4" else 0.0
                for measure_, value in values.items():
                    total = value + slower * (measure_ == "generation")
                    rows.append(
                        EfficiencyRow(ONLINE, measure_, total, method, task, f"q{i}", f"u{i}")
                    )
    rows += [EfficiencyRow(DECISION, "decide", 2.0, "", "LaMP-3", "q", "u")]
    rows += [
        EfficiencyRow(OFFLINE, name, value)
        for name, value in (
            ("teacher calls", 1000.0),
            ("cache hit", 0.5),
            ("core hours", 0.25),
            ("label bytes", 3e6),
            ("score cache bytes", None),
            ("targets for another λ, seconds", 1.5),
            ("generator calls for another λ", 0.0),
        )
    ]
    return [*rows, EfficiencyRow(MACHINE, "processor", None, text="a chip")]


def test_tables_from_rows() -> None:
    shown = section(_rows(200.0), EfficiencyConfig(), ABOUT)
    online, parts, families, decision, offline, named = (panel.table for panel in shown.panels)
    median = online.rows[0][5]
    assert online.rows[0][0] == OURS and getattr(median, "mean") == 266  # noqa: B009 (216, 316)
    assert [getattr(one, "mean") for one in parts.rows[0][1:]] == [10, 5, 250, 1]  # noqa: B009
    assert [row[:3] for row in families.rows[:2]] == [
        (OURS, "closed answers", 1),
        (OURS, "text", 1),
    ]
    assert getattr(families.rows[1][3], "mean") == 316  # noqa: B009
    assert decision.rows[0][0] == "decide"
    titles = [column.title for column in offline.columns]
    assert "Scores, MB" not in titles  # was not known
    assert offline.rows[0][titles.index("Labels, MB")] == 3
    assert named.rows == (("processor", "a chip"),)
    assert len(shown.paper) == 3


def test_the_answer_tells_a_difference_only_where_there_is_one() -> None:
    told = section(_rows(200.0), EfficiencyConfig(), ABOUT).answer
    assert "ENOUGH takes 100 ms less than fixed, k = 5 on average." in told
    assert "1,000 teacher calls" in told and "1.5 s and no call" in told
    same = section(_rows(300.0), EfficiencyConfig(), ABOUT).answer
    assert "cannot be told apart on 12 requests" in same
    few = section(_rows(200.0, users=3), EfficiencyConfig(), ABOUT).answer
    assert "cannot be told apart on 6 requests" in few


def test_the_machine_is_named(tmp_path: Path) -> None:
    info = tmp_path / "cpuinfo"
    info.write_text("processor\t: 0\nmodel name\t: Quick Chip 9\nmodel name\t: Quick Chip 9\n")
    assert processor(info) == "Quick Chip 9"
    assert processor(tmp_path / "nowhere")
    found = machine("cpu")
    assert "gpu" not in found and int(found["cores"]) >= 1 and int(found["torch threads"]) >= 1


def test_settings_from_a_file() -> None:
    found = from_table({"methods": [{"kind": "mmr", "k": 3}]}, EfficiencyConfig, "file")
    assert found.methods == (Contestant("mmr", 3),)
    with pytest.raises(ConfigError, match="each once"):
        EfficiencyConfig((Contestant("mmr"), Contestant("mmr")))
