"""Diagnostics into a folder: what is measured once is read from then on.

```
labels/, warm/, both/, controller/   the study's own, where it was not given them
variants/                            controllers and labels of ablations and sweeps
rows/NAME.parquet                    rows of each diagnostic, with the settings that made them
```

In: settings and a folder. Out: rows and sections. Rows that were measured with other settings are
refused; a diagnostic that was killed goes on from remembered likelihoods and answers.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from enough.config import plain
from enough.controller.bundled import locate_controller
from enough.controller.checkpoint import SETTINGS, load_controller
from enough.data.digest import dataset_digest
from enough.data.folders import datasets_of
from enough.diagnostics.diagnostic import About, Diagnostic
from enough.diagnostics.laboratory import Laboratory
from enough.diagnostics.registry import DIAGNOSTICS
from enough.diagnostics.sections import Section
from enough.diagnostics.settings import Diagnosis
from enough.errors import ConfigError, ModelError
from enough.evaluation.evaluate_run import model_in_words
from enough.labels.folder import LabelFolder, checksum
from enough.parquet_rows import read_parquet, read_settings, write_parquet
from enough.progress import OnStep, silent
from enough.records import Dataset
from enough.run_folders import first_difference, held_folder

log = logging.getLogger(__name__)


class DiagnoseRun:
    """One study and its diagnostics in one folder."""

    def __init__(
        self,
        diagnosis: Diagnosis,
        out: Path,
        on_step: OnStep = silent,
        laboratory: Laboratory | None = None,
    ) -> None:
        """Nothing is opened before something has to be measured.

        Args:
            diagnosis: settings.
            out: the folder.
            on_step: told how far things are.
            laboratory: stands in for the study's own.
        """
        self.diagnosis = diagnosis
        self.out = out
        self.measured: list[str] = []
        self.laboratory = laboratory or Laboratory(diagnosis.study, out, on_step)

    def sections(self, names: Sequence[str]) -> list[Section]:
        """Measure what is missing, show everything."""
        found = []
        _ = self._digests  # what is missing is told before a folder is made
        with held_folder(self.out):
            for name in names:
                one = DIAGNOSTICS[name]
                rows = self._rows(one)
                found.append(one.section(rows, self.diagnosis.settings[name], self.about))
        return found

    def _rows(self, one: Diagnostic) -> Sequence[Any]:
        own = self.diagnosis.settings[one.name]
        if not one.is_stored:
            return one.measure(self.laboratory, own)
        path = self.out / "rows" / f"{one.name}.parquet"
        settings = self._settings(one)
        if path.exists():
            if (different := first_difference(read_settings(path), settings)) is not None:
                raise ConfigError(
                    f"{path}: was measured with another setting of {different}; name another "
                    "folder, or delete the file to measure anew"
                )
            return read_parquet(path, one.row)
        started = time.monotonic()
        rows = list(one.measure(self.laboratory, own))
        write_parquet(path, one.row, rows, settings)
        log.info("%s: measured in %.0f s", one.name, time.monotonic() - started)
        self.measured.append(one.name)
        return rows

    def _settings(self, one: Diagnostic) -> dict[str, Any]:
        """What rows depend on, as plain values."""
        return {
            "study": plain(self.diagnosis.study),
            one.name: plain(self.diagnosis.settings[one.name]),
            "data": self._digests,
        }

    @cached_property
    def _digests(self) -> dict[str, str]:
        """Of the data, and of labels and a controller that were given."""
        study = self.diagnosis.study
        found = {name: dataset_digest(one) for name, one in self._data.items()}
        if study.labels is not None:
            labels = LabelFolder(study.labels)
            labels.require_finished()
            found["labels"] = checksum(labels.manifest_file)
        if study.controller is not None:
            settings = locate_controller(study.controller) / SETTINGS
            if not settings.is_file():
                raise ModelError(f"{study.controller}: not a controller (no {SETTINGS} in it)")
            found["controller"] = checksum(settings)
        return found

    @cached_property
    def _data(self) -> dict[str, Dataset]:
        study = self.diagnosis.study
        return {one.task.name: one for one in datasets_of(study.data, study.world)}

    @cached_property
    def about(self) -> About:
        """What sections may say beside their rows."""
        study = self.diagnosis.study
        label = study.teacher
        point = study.train.targets
        if study.controller is not None:
            point = load_controller(study.controller).point
        return About(
            tasks={name: dataset.task for name, dataset in self._data.items()},
            point=point,
            max_records=label.search.max_records,
            is_made_up=not study.data,
            generator=model_in_words(label.generator),
            retriever=f"{label.retrieval.retriever}, pools of {label.retrieval.pool}",
        )
