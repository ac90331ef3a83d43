"""Records as clients send them, parsed as a log's are."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from enough.data.parsing import Place, further_fields, parse_record
from enough.errors import DataError
from enough.records import Record
from enough.service.bodies import Raw
from enough.service.config import LimitsConfig
from enough.tasks import Task


def parsed(
    raw: Sequence[Raw], user: str, task: Task, limits: LimitsConfig, field: str
) -> list[Record]:
    """The records of a list; errors name the place in it and the field."""
    if len(raw) > limits.records_per_batch:
        raise DataError(
            f"{len(raw)} records at once; send at most {limits.records_per_batch}", field=field
        )
    places = [Place(Path(field), number) for number in range(len(raw))]
    records = [parse_record(one, user, task, place) for one, place in zip(raw, places, strict=True)]
    for place, record in zip(places, records, strict=True):
        if record.letters > limits.text_chars:
            raise place.error(
                f"a record of {record.letters} characters; send at most {limits.text_chars}",
                task.action_field,
            )
    return records


def unread_fields_of(raw: Sequence[Raw], task: Task) -> list[str]:
    """Fields of records that nothing reads, by name."""
    return sorted({name for one in raw for name in further_fields(one, task)})
