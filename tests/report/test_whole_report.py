"""Every diagnostic of a toy study on one page, as a reader opens it."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from enough.diagnostics.laboratory import Laboratory
from enough.diagnostics.registry import DIAGNOSTICS
from enough.diagnostics.run import DiagnoseRun
from enough.diagnostics.settings import Diagnosis, load_diagnosis
from enough.errors import ConfigError
from enough.report.build import Built, write_page
from tests.diagnostics.toy import toy_config, toy_laboratory

if TYPE_CHECKING:
    from tests.browser import Theme, Watched

pytest_plugins = ("tests.browser",)

STORED = tuple(one.name for one in DIAGNOSTICS.values() if one.is_stored)


def toy_diagnosis() -> Diagnosis:
    """The sizes of `make report`, on people whose generator only counts words."""
    return dataclasses.replace(load_diagnosis(None), study=toy_config())


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ENOUGH_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield tmp_path_factory.mktemp("report")


@pytest.fixture(scope="module")
def built(folder: Path) -> Built:
    run = DiagnoseRun(toy_diagnosis(), folder, laboratory=toy_laboratory(folder))
    return write_page(run, list(DIAGNOSTICS))


def test_everything_is_measured_once(built: Built, folder: Path) -> None:
    assert built.measured == STORED

    def nobody(*_: object) -> None:
        raise AssertionError("the study was opened")

    closed = Laboratory(toy_config(), folder, opening=nobody)  # type: ignore[arg-type]
    again = write_page(DiagnoseRun(toy_diagnosis(), folder, laboratory=closed), list(DIAGNOSTICS))
    assert again.measured == ()


def test_rows_of_other_settings_are_refused(built: Built, folder: Path) -> None:
    other = dataclasses.replace(toy_diagnosis(), study=toy_config(requests=3))
    with pytest.raises(ConfigError, match=r"fixed-length.parquet: .*study.requests \(4, now 3\)"):
        DiagnoseRun(other, folder).sections(["fixed-length"])


@pytest.mark.parametrize(
    ("width", "theme"), [(390, "light"), (390, "dark"), (1440, "light"), (1440, "dark")]
)
def test_a_reader_sees_every_section(
    built: Built, watched: Watched, width: int, theme: Theme
) -> None:
    page = watched.open(built.page, width, theme)
    sections = page.evaluate("[...document.querySelectorAll('main section[id]')].map(s => s.id)")
    assert [name for name in DIAGNOSTICS if name not in sections] == []
    for name in STORED:
        drawn = page.evaluate(
            """name => [...document.getElementById(name).querySelectorAll('svg')]
              .filter(svg => svg.getBoundingClientRect().width > 0)
              .map(svg => svg.querySelectorAll('path, circle, rect').length)""",
            name,
        )
        assert drawn and min(drawn) > 0, name
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert watched.complaints == []
    assert watched.strangers(built.page) == []
