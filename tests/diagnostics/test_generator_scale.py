"""Generators on a toy study, and grids from rows made by hand."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from enough.config import from_table
from enough.diagnostics.laboratory import Laboratory
from enough.diagnostics.sections import HeatMap
from enough.diagnostics.transfer.generator_scale import (
    GeneratorScaleConfig,
    NamedGenerator,
    measure,
    own_generators,
    section,
)
from enough.diagnostics.transfer.rerun import RerunRow
from enough.diagnostics.tried import OURS
from enough.errors import ConfigError
from enough.generators.config import GeneratorConfig
from enough.labels.config import LabelConfig
from enough.labels.folder import LabelFolder
from tests.diagnostics.toy import about
from tests.diagnostics.tried_rows import ABOUT, heeding_laboratory, own_cache, tried


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Laboratory]:
    folder = tmp_path_factory.mktemp("generators")
    with own_cache(folder / "cache"):
        yield heeding_laboratory(folder)


def test_every_generator_gets_labels_and_a_controller_of_its_own(lab: Laboratory) -> None:
    other = GeneratorConfig(model="another")
    own = lab.study.label.generator
    config = GeneratorScaleConfig(
        (NamedGenerator("own", own), NamedGenerator("big one", other)),
        label_requests=6,
        lengths=(0, 1),
    )
    rows = measure(lab, config)
    requests = len(lab.subjects())
    assert [(row.variant, row.method) for row in rows[::requests]] == [
        (variant, method) for variant in ("own", "big one") for method in ("empty", "k = 1", OURS)
    ]
    (made,) = (lab.folder / "variants").glob("generator-big-one-*")
    labelled = LabelConfig.of_folder(LabelFolder(made / "labels"))
    assert labelled.generator.model == "another" and labelled.requests == 6
    assert (made / "controller").is_dir()
    shown = section(rows, config, about(lab.study))
    # Two tasks with two metrics each.
    assert len(shown.panels[0].charts) == 4
    assert len(shown.panels[0].table.rows) == 2 * 3 * 4


def test_without_names_the_adapter_is_taken_off() -> None:
    tuned = GeneratorConfig(model="small", adapter=Path("synthetic"))
    found = own_generators(tuned)
    assert [one.name for one in found] == ["small + synthetic", "small"]
    assert [one.generator.adapter for one in found] == [Path("synthetic"), None]
    assert len(own_generators(GeneratorConfig(model="small"))) == 1


def test_darker_is_better_for_errors_too() -> None:
    rows = [
        RerunRow(generator, method, tried(i, answer, "3", "LaMP-3"))
        for generator, answers in (("small", ("4", "5")), ("large", ("3", "4")))
        for method, answer in zip((OURS, "empty"), answers, strict=True)
        for i in range(6)
    ]
    config = GeneratorScaleConfig(lengths=(0,))
    shown = section(rows, config, ABOUT)
    chart = shown.panels[0].charts[0]
    assert isinstance(chart, HeatMap)
    assert (chart.title, chart.rows) == ("LaMP-3: mae, negated", (OURS, "empty"))
    assert chart.values == ((-100.0, 0.0), (-200.0, -100.0))
    mae = [row for row in shown.panels[0].table.rows if row[3] == "mae"]
    assert [getattr(row[4], "mean") for row in mae] == [100, 200, 0, 100]  # noqa: B009
    assert "With small, ENOUGH has the better value in 2 of 2" in shown.answer
    assert any("nothing is carried over" in note for note in shown.notes)
    alone = section([row for row in rows if row.variant == "small"], config, ABOUT)
    assert "says nothing about others" in alone.answer


def test_settings_from_a_file() -> None:
    table = {"generators": [{"name": "a", "generator": {"model": "m"}}], "lengths": [0, 3]}
    found = from_table(table, GeneratorScaleConfig, "file")
    assert found.generators == (NamedGenerator("a", GeneratorConfig(model="m")),)
    with pytest.raises(ConfigError, match="told apart"):
        GeneratorScaleConfig((NamedGenerator("a b"), NamedGenerator("a-b")))
