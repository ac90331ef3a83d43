"""Scalars of a training run, to be looked at while it goes on and afterwards.

```
scalars.jsonl                        one object a line: stage, step, then name to value
tensorboard/fit/events.out.tfevents  the same for TensorBoard, one folder per stage
```

In: rows, stage after stage. Out: both files; without tensorboardX only the first. The files are
begun anew whenever a log is opened: a run that goes on adds what it has kept, so that what a killed
run did after its last saved state is not there twice.
"""

from __future__ import annotations

import json
import logging
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from enough.controller.fit_state import Row

log = logging.getLogger(__name__)
SCALARS, EVENTS = "scalars.jsonl", "tensorboard"
_EVENT_FILE = "events.out.tfevents"  # the usual names end in the time and the machine's name


class ScalarLog:
    """Writes rows as they come."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        shutil.rmtree(folder / EVENTS, ignore_errors=True)
        self._lines = (folder / SCALARS).open("w", encoding="utf-8")
        self._events = folder / EVENTS if _has_tensorboard() else None
        self._writers: dict[str, Any] = {}

    def add(self, stage: str, row: Row) -> None:
        """Write one row, whose step is among its values, and let readers see it."""
        self._lines.write(f"{json.dumps({'stage': stage, **row})}\n")
        self._lines.flush()
        if self._events is None:
            return
        if stage not in self._writers:
            self._writers[stage] = _begin(self._events / stage)
        values = {name: value for name, value in row.items() if name != "step"}
        _write(self._writers[stage], step=int(row["step"]), values=values)

    def close(self) -> None:
        """No more rows."""
        self._lines.close()
        for writer in self._writers.values():
            writer.close()


@contextmanager
def open_scalars(folder: Path) -> Iterator[ScalarLog]:
    """A log that is closed whatever happens."""
    opened = ScalarLog(folder)
    try:
        yield opened
    finally:
        opened.close()


def _has_tensorboard() -> bool:
    try:
        import tensorboardX  # noqa: F401, PLC0415 (optional)
    except ImportError:
        log.info("tensorboardX is not installed: scalars go into %s only", SCALARS)
        return False
    return True


def _begin(folder: Path) -> Any:
    from tensorboardX.proto.event_pb2 import Event  # noqa: PLC0415 (optional)
    from tensorboardX.record_writer import RecordWriter  # noqa: PLC0415

    folder.mkdir(parents=True, exist_ok=True)
    writer = RecordWriter(str(folder / _EVENT_FILE))
    writer.write(Event(wall_time=time.time(), file_version="brain.Event:2").SerializeToString())
    return writer


def _write(writer: Any, step: int, values: Row) -> None:
    from tensorboardX.proto.event_pb2 import Event  # noqa: PLC0415 (optional)
    from tensorboardX.proto.summary_pb2 import Summary  # noqa: PLC0415

    each = [Summary.Value(tag=name, simple_value=value) for name, value in values.items()]
    event = Event(wall_time=time.time(), step=step, summary=Summary(value=each))
    writer.write(event.SerializeToString())
    writer.flush()
