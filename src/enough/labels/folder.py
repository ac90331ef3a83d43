"""A folder of labels: what is in it, what it was made from, whether it is whole.

```
settings.json                what everything in it was made from; another one is refused
trees/LaMP-4-00000.safetensors   likelihoods of all profiles of a chunk of requests
journal/                     finished calls of chunks that are not finished
manifest.json                written last: parts with checksums, counts, scales
targets/beta-0.4-lambda-0.1/ targets for one (β, λ), and their own manifest.json
```
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from enough.errors import ConfigError, DataError
from enough.labels.tree_files import Fingerprints, Part, read_part
from enough.run_folders import first_difference, names_in, read_json, write_json
from enough.teacher.components import Scale, TargetConfig

_OURS = {"settings.json", "manifest.json", ".lock", "trees", "journal", "targets"}


class LabelFolder:
    """Paths and checks of one folder of labels."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.manifest_file = path / "manifest.json"
        self.settings_file = path / "settings.json"

    def part(self, task: str, number: int) -> Path:
        """File of a chunk's trees."""
        return self.path / "trees" / f"{_file_name(task)}-{number:05d}.safetensors"

    def journal(self, task: str, number: int) -> Path:
        """File of a chunk's finished calls while it is worked on."""
        return self.path / "journal" / f"{_file_name(task)}-{number:05d}"

    def targets(self, point: TargetConfig) -> Path:
        """Folder of the targets for one (β, λ)."""
        return self.path / "targets" / f"beta-{point.beta}-lambda-{point.lambda_}"

    def require_settings(self, settings: dict[str, Any]) -> None:
        """Write the settings into a new folder; refuse a folder made with others."""
        if strange := sorted(names_in(self.path) - _OURS):
            raise ConfigError(
                f"{self.path}: holds something else than labels ({strange[0]}); name another folder"
            )
        is_begun = bool(self.parts()) or any((self.path / "journal").glob("*"))
        if not self.settings_file.exists() or not is_begun:
            if is_begun:
                raise DataError(
                    "holds labels but no settings.json, so nobody knows what they were made from; "
                    "label into another folder",
                    path=self.path,
                )
            write_json(self.settings_file, settings)
            return
        if (key := first_difference(read_json(self.settings_file), settings)) is not None:
            raise ConfigError(
                f"{self.path}: was labelled with another setting of {key}; give these settings "
                "another folder, or the old ones back"
            )

    def parts(self) -> list[Path]:
        """Files of all trees, by name."""
        return sorted((self.path / "trees").glob("*.safetensors"))

    def made_with(self) -> Fingerprints | None:
        """The models that made what is there."""
        for path in self.parts():
            return read_part(path).made_with
        return None

    def verify(self) -> None:
        """Refuse trees that are not those of the manifest, if there is one."""
        if not self.manifest_file.exists():
            return
        for name, expected in read_json(self.manifest_file)["parts"].items():
            path = self.path / "trees" / name
            if path.exists() and checksum(path) != expected:
                raise DataError("changed since it was written; delete it and run again", path=path)

    def read(self) -> Iterator[Part]:
        """The parts of a finished folder, one at a time."""
        for path in self.finished_parts():
            yield read_part(path)

    def require_finished(self) -> None:
        """Refuse a folder whose trees are not all there."""
        if not self.path.is_dir():
            raise DataError("there is no such folder", path=self.path)
        if not self.manifest_file.exists():
            raise DataError("labelling is not finished; run `enough label` again", path=self.path)

    def scales(self) -> dict[str, Scale]:
        """The frozen scales of a finished folder, by task."""
        self.require_finished()
        found = read_json(self.manifest_file)["calibration"]
        return {task: Scale(**one["scale"]) for task, one in found.items()}

    def finished_parts(self) -> list[Path]:
        """Files of all trees; refuses a folder that has lost or gained one."""
        self.require_finished()
        found = self.parts()
        named = read_json(self.manifest_file)["parts"]
        if odd := sorted({path.name for path in found} ^ named.keys()):
            raise DataError(
                f"{odd[0]} is {'missing' if odd[0] in named else 'not in the manifest'}; run "
                "`enough label` again",
                path=self.path / "trees",
            )
        return found


def checksum(path: Path) -> str:
    """SHA-256 of a file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _file_name(task: str) -> str:
    """The task's name, as far as files can have it; what was altered is told apart by a hash."""
    plain = re.sub(r"[^A-Za-z0-9._-]", "_", task)
    if plain == task:
        return plain
    return f"{plain}-{hashlib.sha256(task.encode('utf-8', 'surrogatepass')).hexdigest()[:8]}"
