"""What an evaluation measured, one row per method, task, seed and request, in Parquet.

In: `Row`s and the settings of the run that made them. Out: a file that appears whole, with an
explicit schema, so that one without rows reads back typed, too. The settings lie in its metadata as
JSON. Every table is derived from rows.
"""

from __future__ import annotations

import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from enough.errors import DataError, MissingExtraError
from enough.run_folders import write_whole

_SETTINGS = b"enough"


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
    arrow, parquet = _arrow()
    schema = _schema(arrow).with_metadata({_SETTINGS: json.dumps(settings, sort_keys=True)})
    table = arrow.Table.from_pylist([_plain(row) for row in rows], schema=schema)
    buffer = io.BytesIO()
    parquet.write_table(table, buffer, compression="zstd")
    write_whole(path, buffer.getvalue())


def read_rows(path: Path) -> list[Row]:
    """All rows of a file.

    Raises:
        DataError: if it is not a file of rows, naming what is wrong.
    """
    arrow, parquet = _arrow()
    wanted = _schema(arrow)
    try:
        table = parquet.read_table(io.BytesIO(path.read_bytes()))
    except (OSError, arrow.ArrowException) as error:
        raise DataError(f"cannot be read: {error}", path=path) from None
    for column in wanted:
        if column.name not in table.column_names:
            raise DataError("has no such column", path=path, field=column.name)
        if table.schema.field(column.name).type != column.type:
            raise DataError(f"must be of type {column.type}", path=path, field=column.name)
    return [_row(plain) for plain in table.select(wanted.names).to_pylist()]


def read_settings(path: Path) -> dict[str, Any]:
    """The settings a file of rows was made with."""
    arrow, parquet = _arrow()
    try:
        metadata = parquet.read_schema(io.BytesIO(path.read_bytes())).metadata or {}
        settings = json.loads(metadata[_SETTINGS])
    except (OSError, arrow.ArrowException, KeyError, ValueError) as error:
        raise DataError(f"settings cannot be read: {error}", path=path) from None
    if not isinstance(settings, dict):
        raise DataError("settings must be one JSON object", path=path)
    return settings


def _plain(row: Row) -> dict[str, object]:
    """A row in the columns of the schema."""
    plain = {f.name: getattr(row, f.name) for f in fields(Row) if f.name != "seconds"}
    plain |= {f"seconds_{f.name}": getattr(row.seconds, f.name) for f in fields(Seconds)}
    return plain | {"scores": list(row.scores.items()), "records": list(row.records)}


def _row(plain: dict[str, Any]) -> Row:
    seconds = Seconds(**{f.name: plain.pop(f"seconds_{f.name}") for f in fields(Seconds)})
    scores, records = dict(plain.pop("scores")), tuple(plain.pop("records"))
    return Row(**plain, seconds=seconds, scores=scores, records=records)


def _schema(arrow: Any) -> Any:
    text, whole, real, truth = arrow.string(), arrow.int64(), arrow.float64(), arrow.bool_()
    optional = {"reference", "log_likelihood_gain", "gain", "specificity", "net"}
    columns = {
        **dict.fromkeys(("method", "task"), text),
        "seed": whole,
        **dict.fromkeys(("request_id", "user", "answer", "reference"), text),
        "scores": arrow.map_(text, real),
        "records": arrow.list_(text),
        "profile_tokens": whole,
        **dict.fromkeys(("one_prompt", "root_stop"), truth),
        **dict.fromkeys(("calls", "rerank_calls", "prompt_tokens"), whole),
        **{f"seconds_{f.name}": real for f in fields(Seconds)},
        **dict.fromkeys(("log_likelihood_gain", "gain", "specificity", "net"), real),
        "reason": text,
    }
    return arrow.schema(
        [arrow.field(name, kind, name in optional) for name, kind in columns.items()]
    )


def _arrow() -> tuple[Any, Any]:
    try:
        import pyarrow  # noqa: PLC0415 (an extra)
        from pyarrow import parquet  # noqa: PLC0415 (an extra)
    except ImportError:
        raise MissingExtraError("evaluation rows", "eval") from None
    return pyarrow, parquet
