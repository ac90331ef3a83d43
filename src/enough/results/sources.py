"""Files of published rows, told apart by what they say they hold.

In: Parquet files that `enough compare` and `enough evaluate` published, in any order. Out: the rows
of each with what is needed to make tables of them; either may be missing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from enough.config import from_table
from enough.errors import ConfigError, DataError
from enough.evaluation.published_outcomes import OUTCOMES, PublishedOutcome
from enough.evaluation.published_rows import ANSWERS, PublishedRow, table_rows
from enough.evaluation.rows import Row
from enough.evaluation.table_values import Setup, Shown
from enough.parquet_rows import read_parquet, read_settings
from enough.tasks import Task


@dataclass(frozen=True, slots=True, eq=False)
class Outcomes:
    """A comparison of controllers with fixed lengths, and the settings of it."""

    rows: Sequence[PublishedOutcome]
    about: Mapping[str, Any]


@dataclass(frozen=True, slots=True, eq=False)
class Answers:
    """An evaluation of methods.

    Attributes:
        rows: to derive tables from.
        tasks: in the order of columns.
        methods: in the order of lines.
        lengths: method -> k, of those that always take the first k records.
        setup: what all methods had in common.
        champion: the method that is compared with all others.
        empty: the method without a profile.
        about: everything else.
    """

    rows: Sequence[Row]
    tasks: Sequence[Task]
    methods: Sequence[Shown]
    lengths: Mapping[str, int]
    setup: Setup
    champion: str
    empty: str
    about: Mapping[str, Any]


@dataclass(frozen=True, slots=True, eq=False)
class Sources:
    """What the page can be made of."""

    outcomes: Outcomes | None = None
    answers: Answers | None = None


def read_sources(paths: Sequence[Path]) -> Sources:
    """All files.

    Raises:
        DataError: if one holds something else.
        ConfigError: if there is none, or two of a kind.
    """
    found: dict[str, Path] = {}
    for path in paths:
        kind = str(read_settings(path).get("holds"))
        if kind not in (OUTCOMES, ANSWERS):
            raise DataError(
                "holds no published rows; make it with `enough compare --publish FILE.parquet` or "
                "`enough evaluate --publish FILE.parquet`",
                path=path,
            )
        if kind in found:
            raise ConfigError(f"{found[kind]} and {path} both hold {kind}; give one of them")
        found[kind] = path
    if not found:
        raise ConfigError("give a file of outcomes, one of answers, or both")
    return Sources(
        _outcomes(found[OUTCOMES]) if OUTCOMES in found else None,
        _answers(found[ANSWERS]) if ANSWERS in found else None,
    )


def _outcomes(path: Path) -> Outcomes:
    return Outcomes(read_parquet(path, PublishedOutcome), read_settings(path))


def _answers(path: Path) -> Answers:
    about = read_settings(path)
    try:
        tasks = [from_table(table, Task, str(path)) for table in about["tasks"]]
        lengths = {one["name"]: one["length"] for one in about["methods"]}
        methods = [
            Shown(one["name"], one["title"], one["group"], one["paper_calls"])
            for one in about["methods"]
        ]
        setup, champion, empty = Setup(**about["setup"]), about["against"], about["empty"]
    except (KeyError, TypeError) as error:
        raise DataError(f"settings lack {error}; publish the rows again", path=path) from None
    return Answers(
        rows=table_rows(read_parquet(path, PublishedRow), tasks),
        tasks=tasks,
        methods=methods,
        lengths={name: k for name, k in lengths.items() if k is not None},
        setup=setup,
        champion=champion,
        empty=empty,
        about=about,
    )
