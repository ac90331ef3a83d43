"""What profiles are judged by: the teacher's settings, what a unit of gain is, who was learnt from.

In: a folder of labels; or, where these are not at hand, a controller, which keeps the scales it was
trained with. Out: a `Yardstick`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from enough.controller.checkpoint import Trained
from enough.errors import DataError
from enough.labels.config import LabelConfig
from enough.labels.folder import LabelFolder
from enough.records import Dataset, Example
from enough.teacher.components import Scale


@dataclass(frozen=True, slots=True)
class Yardstick:
    """The same for everybody who is compared.

    Attributes:
        teacher: generator, pools, controls, horizon and slices.
        scales: by task.
        seen: (task, user) of everybody in the labels; nobody where these are not at hand.
        source: where the scales are from, for messages.
    """

    teacher: LabelConfig
    scales: Mapping[str, Scale]
    seen: frozenset[tuple[str, str]]
    source: Path

    @classmethod
    def of_labels(cls, labels: Path) -> Yardstick:
        """That of finished labels."""
        folder = LabelFolder(labels)
        return cls(LabelConfig.of_folder(folder), folder.scales(), labelled_users(folder), labels)

    @classmethod
    def of_controller(cls, trained: Trained, source: Path, teacher: LabelConfig) -> Yardstick:
        """That of a controller; whom its labels were of is not known."""
        return cls(teacher, trained.scales, frozenset(), source)

    def require_scales(self, datasets: Sequence[Dataset]) -> None:
        """Refuse tasks in whose units nothing can be said."""
        for dataset in datasets:
            if (task := dataset.task.name) not in self.scales:
                known = ", ".join(sorted(self.scales))
                raise DataError(
                    f"has no scale of {task} (but of {known}): label some of its requests with "
                    "`enough label`, and give --labels",
                    path=self.source,
                )


def labelled_users(folder: LabelFolder) -> frozenset[tuple[str, str]]:
    """(task, user) of everybody in a folder of labels."""
    return frozenset((tree.of.task, tree.of.user) for part in folder.read() for tree in part.trees)


def require_unseen(
    examples: Iterable[Example], seen: Collection[tuple[str, str]], split: str
) -> None:
    """Refuse requests of (task, user) pairs that labels were made of."""
    for example in examples:
        request = example.request
        if (request.task.name, request.user) in seen:
            raise DataError(
                f"user {request.user!r} of {split!r} is among the labelled ones; label the slice "
                '"label" (`split = "label"`), and compare on "report"'
            )
