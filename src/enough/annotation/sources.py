"""Where rows come from: the data sets and leakage controls of the evaluation that wrote them.

In: a file of rows, whose settings hold the recipe, and perhaps folders of data. Out: data sets that
are the rows' own, by digest, and the same leakage controls that the methods met.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from enough.config import from_table
from enough.data.digest import dataset_digest
from enough.data.folders import datasets_of
from enough.data.leakage import LeakageControls
from enough.data.synthetic import WorldConfig
from enough.errors import DataError
from enough.parquet_rows import read_settings
from enough.records import Dataset
from enough.retrieval.pools import RetrievalConfig, build_stages


def datasets_behind(
    rows: Path, folders: Sequence[Path] = (), tasks: Iterable[str] = ()
) -> list[Dataset]:
    """The data sets of the rows.

    Args:
        rows: a `rows.parquet` of `enough evaluate`.
        folders: where the data are now; without any, where the recipe has them, or its world.
        tasks: that are wanted; none: all.

    Raises:
        DataError: if they are other data than the rows were made from.
    """
    settings = _settings(rows)
    recipe = settings["recipe"]
    world = from_table(recipe["world"], WorldConfig, f"{rows}: world")
    where = tuple(folders) or tuple(map(Path, recipe["data"]))
    wanted = set(tasks)
    found = [
        dataset
        for dataset in datasets_of(where, world)
        if not wanted or dataset.task.name in wanted
    ]
    for dataset in found:
        name = dataset.task.name
        if settings["data"].get(name) != dataset_digest(dataset):
            raise DataError(f"{name}: the data are not those these rows were made from", path=rows)
    return found


def controls_behind(rows: Path) -> LeakageControls:
    """The leakage controls of the rows; loads the frozen encoder."""
    table = _settings(rows)["recipe"]["retrieval"]
    config = from_table(table, RetrievalConfig, f"{rows}: retrieval")
    # No control depends on the retriever; this one has nothing to load.
    return build_stages(dataclasses.replace(config, retriever="recency"))[0]


def _settings(rows: Path) -> dict[str, Any]:
    settings = read_settings(rows)
    recipe = settings.get("recipe")
    if not isinstance(recipe, dict) or not {"world", "data", "retrieval"} <= recipe.keys():
        raise DataError("holds no recipe; give the rows.parquet of `enough evaluate`", path=rows)
    if not isinstance(settings.get("data"), dict):
        raise DataError("does not say which data it was made from", path=rows)
    return settings
