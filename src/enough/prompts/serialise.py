"""One record, one line: `[TASK] τ [HIST_CONTEXT] c [USER_ACTION] a [META] m`, and back.

In: a record. Out: its line, ending in a newline and never in a blank before it, so that tokenising
lines one by one equals tokenising the whole prompt. `parse_record` inverts it exactly.
Encoders want prose and no marks: `record_text`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from enough.prompts.escape import Escaper, as_code, unescape_field
from enough.records import Record
from enough.tasks import Task

_LINE = re.compile(
    r"\[TASK\] (?P<task>.*?) \[HIST_CONTEXT\] (?P<context>.*?) \[USER_ACTION\] (?P<action>.*?)"
    r" \[META\](?: (?P<meta>.*))?\n?\Z"
)
_META_SYNTAX = re.compile(r"[;=]|\s\Z")


@dataclass(frozen=True, slots=True)
class ParsedRecord:
    """What a record line says."""

    task: str
    context: str
    action: str
    metadata: tuple[tuple[str, str], ...]


def metadata_of(record: Record) -> tuple[tuple[str, str], ...]:
    """m_d as shown in the prompt: the date first, then the record's own metadata."""
    date = (("date", record.date),) if record.date else ()
    return date + record.metadata


def record_text(record: Record) -> str:
    """What is encoded of a record: context, action and metadata."""
    meta = " ".join(f"{name} {value}" for name, value in metadata_of(record))
    return " ".join(part for part in (record.context, record.action, meta) if part)


def serialise_record(task: Task, record: Record, escaper: Escaper) -> str:
    """The record's line."""
    context, action = escaper.field(record.context), escaper.field(record.action)
    pairs = (
        f"{_meta_part(name, escaper)}={_meta_part(value, escaper)}"
        for name, value in metadata_of(record)
    )
    meta = "; ".join(pairs)
    line = f"[TASK] {task.name} [HIST_CONTEXT] {context} [USER_ACTION] {action} [META]"
    return f"{line} {meta}\n" if meta else f"{line}\n"


def _meta_part(text: str, escaper: Escaper) -> str:
    return _META_SYNTAX.sub(lambda found: as_code(found[0]), escaper.field(text))


def parse_record(line: str) -> ParsedRecord:
    """Read a line back.

    Raises:
        ValueError: if it is not a record line.
    """
    match = _LINE.match(line)
    if match is None:
        raise ValueError(f"not a record line: {line[:80]!r}")
    pairs = (pair.partition("=") for pair in match["meta"].split("; ")) if match["meta"] else ()
    return ParsedRecord(
        task=match["task"],
        context=unescape_field(match["context"]),
        action=unescape_field(match["action"]),
        metadata=tuple((unescape_field(name), unescape_field(value)) for name, _, value in pairs),
    )
