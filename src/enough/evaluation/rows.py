"""What an evaluation measured, one row per method, task, seed and request, in Parquet.

In: `Row`s and the settings of the run that made them. Out: a file of `parquet_rows`. Every table is
derived from rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from enough.parquet_rows import read_parquet, write_parquet


@dataclass(frozen=True, slots=True)
class Seconds:
    """Where the time of one request went."""

    retrieval: float = 0.0
    selection: float = 0.0
    generation: float = 0.0
    other: float = 0.0

    @property
    def total(self) -> float:
        """End to end."""
        return self.retrieval + self.selection + self.generation + self.other


@dataclass(frozen=True, slots=True)
class Row:
    """One request as one method answered it in one run.

    Attributes:
        method: its name in the recipe.
        reference: None where it is not public; then there are no scores.
        scores: `metrics.example_scores` of the answer.
        records: ids of the profile, in prompt order.
        profile_tokens: what they add to the empty prompt, over all prompts.
        one_prompt: whether they stood in one prompt; if not, there are no likelihoods.
        root_stop: no record was put into the prompt.
        calls: generator-equivalent calls of the generator, those of the reranker not among them.
        rerank_calls: those of the reranker.
        prompt_tokens: read in all these calls.
        log_likelihood_gain: g_i(S), per token of the reference.
        gain, specificity: ḡ and p̄, in units of the task's scales.
        net: J = ḡ + β p̄ − λ c.
        reason: why there are not more records.
    """

    method: str
    task: str
    seed: int
    request_id: str
    user: str
    answer: str
    reference: str | None
    scores: Mapping[str, float]
    records: tuple[str, ...]
    profile_tokens: int
    one_prompt: bool
    root_stop: bool
    calls: int
    rerank_calls: int
    prompt_tokens: int
    seconds: Seconds
    log_likelihood_gain: float | None = None
    gain: float | None = None
    specificity: float | None = None
    net: float | None = None
    reason: str = ""


def write_rows(path: Path, rows: Sequence[Row], settings: Mapping[str, object]) -> None:
    """Rows and the settings they were made with; the file appears when it is on the disk."""
    write_parquet(path, Row, rows, settings)


def read_rows(path: Path) -> list[Row]:
    """All rows of a file.

    Raises:
        DataError: if it is not a file of rows, naming what is wrong.
    """
    return read_parquet(path, Row)
