"""A study and the settings of every diagnostic, as one TOML file has them.

In: a file with a table [study] and, where defaults are not wanted, one table per diagnostic. Out:
`Diagnosis`. Without a file: the small study on made-up people that comes with the package.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

from enough.config import from_table, read_toml
from enough.diagnostics.registry import DIAGNOSTICS
from enough.diagnostics.study import StudyConfig
from enough.errors import ConfigError, UnknownNameError

_MADE_UP = "made_up.toml"


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """What is studied, and the settings of every diagnostic by name."""

    study: StudyConfig
    settings: Mapping[str, Any]


def load_diagnosis(path: Path | None) -> Diagnosis:
    """Read a file, or the study that comes with the package."""
    if path is None:
        text = resources.files("enough.diagnostics").joinpath(_MADE_UP).read_text(encoding="utf-8")
        return _diagnosis(tomllib.loads(text), _MADE_UP)
    return _diagnosis(read_toml(path), str(path))


def own_diagnosis() -> Diagnosis:
    """All defaults, for data that is named elsewhere."""
    return _diagnosis({}, "defaults")


def _diagnosis(table: dict[str, Any], where: str) -> Diagnosis:
    known = {"study", *DIAGNOSTICS}
    for name, value in table.items():
        if name not in known:
            raise UnknownNameError(f"table in {where}", name, known)
        if not isinstance(value, dict):
            raise ConfigError(f"{where}: {name} must be a table, [{name}]")
    settings = {
        name: from_table(table.get(name, {}), one.settings, f"{where}: {name}")
        for name, one in DIAGNOSTICS.items()
    }
    return Diagnosis(from_table(table.get("study", {}), StudyConfig, f"{where}: study"), settings)
