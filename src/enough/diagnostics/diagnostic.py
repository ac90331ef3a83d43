"""What a diagnostic is: settings, rows that are measured once, a section that is derived from them.

To add one, write a file with its settings, its row and two functions, and add a line to `registry`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from enough.diagnostics.laboratory import Laboratory
from enough.diagnostics.sections import Section
from enough.tasks import Task
from enough.teacher.components import TargetConfig


@dataclass(frozen=True, slots=True)
class About:
    """What a section may say beside its rows.

    Attributes:
        tasks: by name.
        point: β and λ of J.
        max_records: K_max of the policy.
        is_made_up: whether the people are made up.
        generator, retriever: in words.
    """

    tasks: Mapping[str, Task]
    point: TargetConfig
    max_records: int
    is_made_up: bool
    generator: str = ""
    retriever: str = ""

    @property
    def in_words(self) -> str:
        """A sentence or two."""
        people = "made-up people" if self.is_made_up else "the logs given"
        return (
            f"Tasks of {people}: {', '.join(self.tasks)}; β = {self.point.beta:g}, "
            f"λ = {self.point.lambda_:g}, at most {self.max_records} records. Generator: "
            f"{self.generator}. Retriever: {self.retriever}."
        )


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One diagnostic.

    Attributes:
        name: on the command line, in settings files, and of its rows' file.
        settings: dataclass of its own table in a settings file; all fields have defaults.
        row: dataclass of its rows (`parquet_rows`).
        measure: (laboratory, settings) -> rows. The only part that may call a generator.
        section: (rows, settings, about) -> what there is to show.
        is_stored: whether rows are kept. Where measuring is reading a few files, they are not.
    """

    name: str
    settings: type[Any]
    row: type[Any]
    measure: Callable[[Laboratory, Any], Sequence[Any]]
    section: Callable[[Sequence[Any], Any, About], Section]
    is_stored: bool = True
