"""What two methods answered to the same requests.

In: rows of an evaluation and the data set of a task. Out: both answers to every request. Requests
that only one of the two answered are an error: a comparison must not choose among them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from enough.errors import ConfigError, DataError
from enough.evaluation.rows import Row
from enough.records import Dataset, Example


@dataclass(frozen=True, slots=True)
class BothAnswers:
    """Two answers to a request, not yet on sides."""

    example: Example
    ours: str
    theirs: str

    @property
    def reads_alike(self) -> bool:
        """Whether a reader sees no difference; spacing is not seen."""
        return self.ours.split() == self.theirs.split()


def both_answers(
    rows: Sequence[Row], dataset: Dataset, method: str, against: str, run: int
) -> list[BothAnswers]:
    """Both answers to every request of the task, in the order of the rows.

    Args:
        rows: of any tasks and methods.
        dataset: of the task.
        method, against: names in the rows.
        run: the seed of the rows to take.

    Raises:
        ConfigError: if there is no such run.
        DataError: if the two answered different requests, or the data do not have them.
    """
    task = dataset.task.name
    of_task = [row for row in rows if row.task == task]
    ours, theirs = (_of_run(of_task, name, run) for name in (method, against))
    if alone := sorted(ours.keys() ^ theirs.keys()):
        raise DataError(
            f"{task}: {len(alone)} requests were answered by one of {method} and {against} only, "
            f"the first is {alone[0]!r}; evaluate both on the same requests"
        )
    examples = {
        example.request.id: example for split in dataset.splits.values() for example in split
    }
    if unknown := [name for name in ours if name not in examples]:
        raise DataError(f"{task}: the data have no request {unknown[0]!r}; give the rows' own data")
    return [BothAnswers(examples[name], ours[name], theirs[name]) for name in ours]


def _of_run(rows: Sequence[Row], method: str, run: int) -> dict[str, str]:
    """Answers by request; a method that draws nothing has one run, which stands for all."""
    own = [row for row in rows if row.method == method]
    seeds = {row.seed for row in own}
    if run not in seeds and len(seeds) > 1:
        known = ", ".join(map(str, sorted(seeds)))
        raise ConfigError(f"{method} has no run with the seed {run}; it has: {known}")
    return {row.request_id: row.answer for row in own if len(seeds) == 1 or row.seed == run}
