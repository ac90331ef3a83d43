"""Lines of JSON on disk, gzipped or not.

In: a file. Out: its objects with the place of each, or a `DataError` that says what is wrong with
the file: cut off, not UTF-8, not JSON, not an object. Writing makes the same bytes every time.
"""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from enough.data.parsing import JsonObject, Place, as_object
from enough.errors import DataError

SUFFIXES = (".jsonl", ".jsonl.gz")
_GZIP_MAGIC = b"\x1f\x8b"


def find_jsonl(folder: Path, stem: str) -> Path | None:
    """The file of that name in the folder, with either suffix."""
    there = [p for p in (folder / f"{stem}{suffix}" for suffix in SUFFIXES) if p.is_file()]
    if len(there) > 1:
        raise DataError(f"both {there[0].name} and {there[1].name}; keep one", path=folder)
    return there[0] if there else None


def read_objects(path: Path) -> Iterator[tuple[Place, JsonObject]]:
    """The objects of a file, one a line, each with its place; blank lines are skipped."""
    number = 0
    try:
        with _opened(path) as file:
            for number, raw in enumerate(file, start=1):
                place = Place(path, number)
                text = raw.decode("utf-8-sig" if number == 1 else "utf-8")
                if text.strip():
                    yield place, as_object(_parsed(text, place), place)
    except UnicodeDecodeError as error:
        raise DataError(
            f"not UTF-8 ({error.reason}); save the file as UTF-8", path=path, line=number or 1
        ) from None
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise DataError(
            f"the gzip file is cut off or damaged ({error}); copy or make it again",
            path=path,
            line=number + 1,
        ) from None
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror or error}", path=path) from None


def write_objects(path: Path, objects: Iterable[Mapping[str, object]]) -> None:
    """Write a gzipped file of one object a line."""
    # Neither name nor time goes into the header, so equal data are equal files.
    with path.open("wb") as raw, gzip.GzipFile("", "wb", 6, raw, mtime=0) as file:
        for value in objects:
            file.write(json_line(value))


@contextmanager
def _opened(path: Path) -> Iterator[Iterable[bytes]]:
    with path.open("rb") as file:
        # The first bytes decide, not the name: files get renamed.
        is_gzip = file.peek(2)[:2] == _GZIP_MAGIC  # a pipe cannot be wound back
        if not is_gzip:
            yield file
            return
        with gzip.open(file, "rb") as unpacked:
            yield unpacked


def _parsed(text: str, place: Place) -> object:
    try:
        return json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        raise place.error(f"not JSON: {error}; there must be one whole object a line") from None


def _refuse(name: str) -> object:
    raise ValueError(f"{name} is not a JSON number")


def json_line(value: object) -> bytes:
    """One object as a line of UTF-8; half characters, which UTF-8 has no form for, as escapes."""
    try:
        return json.dumps(value, ensure_ascii=False).encode() + b"\n"
    except UnicodeEncodeError:
        return json.dumps(value).encode() + b"\n"
