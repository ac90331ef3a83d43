"""Cells on disk: rows of one method on one task in one run, with everything they depend on.

In: a cell and the settings of now. Out: its rows, if they are there and were made with the same
settings; a file of other settings is refused by name.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from enough.config import plain
from enough.controller.bundled import locate_controller
from enough.controller.checkpoint import SETTINGS
from enough.errors import ConfigError
from enough.evaluation.cells import Cell
from enough.evaluation.equipment import Equipment
from enough.evaluation.recipe import EvaluateConfig, MethodLine, Recipe
from enough.evaluation.rows import Row, read_rows, write_rows
from enough.parquet_rows import read_settings
from enough.run_folders import first_difference

FORMAT = 1
_NOT_OF_CELLS = {
    *("data", "seeds", "against", "slots", "targets", "search", "train", "rounds", "lessons"),
    "matching",
    "engine",
}
"""Shared settings that no answer depends on, or only through what was trained."""


class CellFiles:
    """All cells of a run.

    Attributes:
        made, found: cells written here, and cells that were there.
    """

    def __init__(
        self,
        folder: Path,
        config: EvaluateConfig,
        equipment: Equipment,
        digests: Mapping[str, str],
    ) -> None:
        self.made = self.found = 0
        self._folder = folder
        self._digests = digests
        shared = {k: v for k, v in plain(config).items() if k not in _NOT_OF_CELLS}
        for name in ("generator", "reranker"):
            shared[name] = getattr(equipment, name).fingerprint
        self._shared = {**shared, "encoder": equipment.stages.encoder.fingerprint}

    def read(self, cell: Cell, line: MethodLine, trained: Path | None) -> list[Row] | None:
        """The rows of a finished cell, or None.

        Raises:
            ConfigError: if it was made with other settings.
        """
        path = self._path(cell)
        if not path.exists():
            return None
        if name := first_difference(read_settings(path), self._settings(cell, line, trained)):
            raise ConfigError(
                f"{path}: was made with another setting of {name}; delete it, or name another "
                "folder with --out"
            )
        self.found += 1
        return read_rows(path)

    def write(
        self, cell: Cell, line: MethodLine, trained: Path | None, rows: Sequence[Row]
    ) -> None:
        """A finished cell."""
        write_rows(self._path(cell), rows, self._settings(cell, line, trained))
        self.made += 1

    def _path(self, cell: Cell) -> Path:
        return self._folder / cell.method / f"{cell.task}-{cell.seed}.parquet"

    def _settings(self, cell: Cell, line: MethodLine, trained: Path | None) -> dict[str, Any]:
        given = getattr(line.settings, "controller", None)
        return {
            "format": FORMAT,
            "shared": self._shared,
            "method": {"kind": line.kind, **plain(line.settings), "controller": None},
            "trained": _learnt(trained or given),
            "seed": cell.seed,
            "data": self._digests[cell.task],
        }


def plain_recipe(recipe: Recipe) -> dict[str, Any]:
    """A recipe as JSON has it."""
    methods = [
        {"name": line.name, "kind": line.kind, **plain(line.settings)} for line in recipe.methods
    ]
    shared = plain(recipe.config)
    del shared["engine"]  # no row depends on who answered it
    return {**shared, "methods": methods}


def _learnt(folder: Path | None) -> str | None:
    """A digest of all weights in a folder, and of the price and habit a controller has."""
    if folder is None:
        return None
    folder = locate_controller(folder)
    digest = hashlib.blake2b(digest_size=16)
    for path in sorted([*folder.rglob("*.safetensors"), *folder.rglob(SETTINGS)]):
        digest.update(path.read_bytes())
    return digest.hexdigest()
