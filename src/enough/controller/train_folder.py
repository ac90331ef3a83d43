"""A training run into a folder: it goes on after a kill, and the folder appears when it is whole.

```
controller.safetensors, controller.json    the controller, see `checkpoint`
settings.json                              what it was made from
walks.json                                 out-of-fold ways through its requests, see `walks`
scalars.jsonl, tensorboard/                how training went; nothing reads them again
```

In: a folder of labels, the data it was made from, settings. Out: the folder above, and a summary.
While it is worked on, a folder beside it holds what a killed run goes on from.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from enough.bundled_models import new_folder
from enough.controller.beginning import start_digest
from enough.controller.checkpoint import Trained, load_controller, save_controller
from enough.controller.chooser import chooser_digest
from enough.controller.labelled_folder import read_labelled
from enough.controller.scalars import EVENTS, SCALARS
from enough.controller.train_config import TrainConfig
from enough.controller.train_run import summary, train
from enough.controller.unfinished_training import SETTINGS, remove_unfinished, require_settings
from enough.controller.walks import Walks, write_walks
from enough.data.digest import dataset_digest
from enough.data.folders import require_one_per_task
from enough.errors import ConfigError
from enough.labels.folder import LabelFolder, checksum
from enough.progress import OnStep, silent
from enough.protocols import Encoder
from enough.records import Dataset
from enough.run_folders import first_difference, held_folder, read_json, write_json

FORMAT = 1


class TrainRun:
    """One run into one folder."""

    def __init__(
        self, labels: Path, datasets: Sequence[Dataset], config: TrainConfig, out: Path
    ) -> None:
        folder = LabelFolder(labels)
        folder.require_finished()
        require_one_per_task(datasets)
        self.config = config
        self.out = out
        self._labels = labels
        self._datasets = datasets
        self._settings = {
            "format": FORMAT,
            "config": config.of_result,
            "chooser": None if config.chooser is None else chooser_digest(config.chooser),
            "start": None if config.start is None else start_digest(config.start),
            "labels": checksum(folder.manifest_file),
            "made_with": read_json(folder.manifest_file)["made_with"],
            "data": {dataset.task.name: dataset_digest(dataset) for dataset in datasets},
        }

    @property
    def is_finished(self) -> bool:
        """Whether the folder is there; another one is refused.

        Raises:
            ConfigError: if it is something else, or was made with other settings.
        """
        if not self.out.exists():
            return False
        if not (self.out / SETTINGS).exists():
            raise ConfigError(
                f"{self.out}: is there, but no controller of `enough train`; name another folder"
            )
        if name := first_difference(read_json(self.out / SETTINGS), self._settings):
            raise ConfigError(
                f"{self.out}: was trained with another setting of {name}; name another folder"
            )
        return True

    def run(self, load: Callable[[], Encoder], on_step: OnStep = silent) -> dict[str, Any]:
        """Train and write the controller, or find it there; returns its summary.

        Args:
            load: loads the frozen encoder; not called if the controller is there.
            on_step: told how far it is.
        """
        unfinished = self.out.with_name(f"{self.out.name}.unfinished")
        if self.is_finished:
            remove_unfinished(unfinished)  # a kill may have come between the two
            return summary(load_controller(self.out))
        with held_folder(unfinished):
            require_settings(unfinished, self._settings)
            data = read_labelled(self._labels, self._datasets, load(), on_step)
            trained, walks = train(data, self.config, on_step, keep=unfinished)
            self._write(trained, walks, unfinished)
            remove_unfinished(unfinished)
        return summary(load_controller(self.out))

    def _write(self, trained: Trained, walks: Walks | None, unfinished: Path) -> None:
        with new_folder(self.out) as folder:
            save_controller(folder, trained)
            if walks is not None:
                write_walks(folder, walks)
            write_json(folder / SETTINGS, self._settings)
            shutil.copy(unfinished / SCALARS, folder)
            if (unfinished / EVENTS).exists():
                shutil.copytree(unfinished / EVENTS, folder / EVENTS)
            folder.chmod(0o755)  # temporary folders are closed to others
