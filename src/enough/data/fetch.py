"""One file over HTTP, whole or not at all.

In: a URL and a path. Out: the file at that path. What came so far waits in a .part file beside it
and is resumed after a cut, in this run or a later one; the real name appears only on a whole file,
so a file that has it is never fetched again.
"""

from __future__ import annotations

import logging
import os
import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import httpx

from enough.errors import DownloadError

Progress = Callable[[Path, int, int | None], None]
"""Called with the file, the bytes of it that are there and, where known, its size."""

_LOG = logging.getLogger(__name__)
_WORTH_ANOTHER_TRY = frozenset({408, 425, 429, 500, 502, 503, 504})


@dataclass(frozen=True, slots=True)
class Patience:
    """How long to try.

    Attributes:
        attempts: how often a file is tried before giving up.
        wait: seconds before the second attempt; doubled for each further one.
        timeout: seconds without a byte that count as a cut connection.
    """

    attempts: int = 5
    wait: float = 1.0
    timeout: float = 30.0


class NotOnServerError(DownloadError):
    """The server does not have the file."""


class _Incomplete(Exception):  # noqa: N818  (not an error that anybody meets)
    """This attempt did not bring the whole file; the next one may."""


def fetch(
    client: httpx.Client, url: str, path: Path, progress: Progress, patience: Patience
) -> None:
    """Fetch one file unless it is there, going on where an earlier try stopped.

    Raises:
        DownloadError: if it could not be fetched whole; what came stays for the next try.
    """
    if path.exists():
        progress(path, path.stat().st_size, path.stat().st_size)
        return
    part = path.with_name(f"{path.name}.part")
    problem = ""
    for attempt in range(patience.attempts):
        if attempt:
            time.sleep(patience.wait * 2 ** (attempt - 1))
        try:
            _fetch_rest(client, url, part, lambda done, total: progress(path, done, total))
        except (httpx.TransportError, _Incomplete) as error:
            problem = str(error) or type(error).__name__
            _LOG.info("%s: attempt %d: %s", url, attempt + 1, problem)
        except OSError as error:
            raise DownloadError(f"cannot be written: {error.strerror}", path=part) from None
        else:
            part.replace(path)
            _validator_file(part).unlink(missing_ok=True)
            return
    raise DownloadError(
        f"not fetched whole in {patience.attempts} attempts (the last one: {problem}); "
        "run the same command again to go on from here",
        path=url,
    )


def _fetch_rest(
    client: httpx.Client, url: str, part: Path, progress: Callable[[int, int | None], None]
) -> None:
    have = part.stat().st_size if part.exists() else 0
    # Sizes are compared, so the bytes must come as they lie on the server.
    headers = {"Accept-Encoding": "identity"}
    if have:
        headers["Range"] = f"bytes={have}-"
        if _validator_file(part).exists():  # a file that has changed must come from its start
            headers["If-Range"] = _validator_file(part).read_text(encoding="ascii")
    with client.stream("GET", url, headers=headers) as response:
        start, total = _extent(response, url)
        if response.status_code == httpx.codes.REQUESTED_RANGE_NOT_SATISFIABLE and have == total:
            return  # the last try ended between the last byte and the renaming
        if start not in (0, have):
            part.unlink()
            raise _Incomplete(f"asked for byte {have} and was sent another part; starting anew")
        if start == 0:
            _remember_validator(response, part)
        done = _append(response, part, start, lambda done: progress(done, total))
    if total is not None and done != total:
        if done > total:
            part.unlink()
        raise _Incomplete(f"{done} bytes of a file of {total}")


def _append(
    response: httpx.Response, part: Path, start: int, progress: Callable[[int], None]
) -> int:
    done = start
    progress(done)
    with part.open("ab" if start else "wb") as file:
        # As they arrive: chunks of a fixed size would lose up to one of them in a cut.
        for chunk in response.iter_raw():
            file.write(chunk)
            done += len(chunk)
            progress(done)
        file.flush()
        os.fsync(file.fileno())
    return done


def _extent(response: httpx.Response, url: str) -> tuple[int, int | None]:
    """The first byte of what comes (-1: unclear), and the size of the whole file if it is told."""
    status = response.status_code
    if status in (httpx.codes.NOT_FOUND, httpx.codes.GONE):
        raise NotOnServerError("the server has no such file; check task, split and URL", path=url)
    if status in _WORTH_ANOTHER_TRY:
        raise _Incomplete(f"the server answered {status}")
    if status in (httpx.codes.PARTIAL_CONTENT, httpx.codes.REQUESTED_RANGE_NOT_SATISFIABLE):
        told = response.headers.get("Content-Range", "")
        match = re.fullmatch(r"bytes (?:(\d+)-\d+|\*)/(\d+)", told.strip())
        if match is None:
            return -1, None
        return int(match[1] or -1), int(match[2])
    if status != httpx.codes.OK:
        raise DownloadError(f"the server answered {status}; is the URL right?", path=url)
    length = response.headers.get("Content-Length", "")
    return 0, int(length) if length.isdigit() else None


def _validator_file(part: Path) -> Path:
    return part.with_name(f"{part.name}.tag")


def _remember_validator(response: httpx.Response, part: Path) -> None:
    tag = response.headers.get("ETag", "")
    # A weak tag promises the same meaning, not the same bytes.
    validator = tag if tag.startswith('"') else response.headers.get("Last-Modified", "")
    if validator.isascii() and validator:
        _validator_file(part).write_text(validator, encoding="ascii")
    else:
        _validator_file(part).unlink(missing_ok=True)
