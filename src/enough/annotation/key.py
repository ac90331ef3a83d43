"""The key of an annotation page: which side is whose, and where the pairs come from.

In: drawn pairs and the digest of their page. Out: `key.json`, and a `Key` read back from it. It is
all that verdicts need beside the annotators' files, and it must never get to an annotator.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from enough.annotation.pairs import Counted, DrawnPairs, PairConfig
from enough.config import from_table
from enough.errors import ConfigError, DataError
from enough.run_folders import read_json

FORMAT = 1


@dataclass(frozen=True, slots=True)
class KeyLine:
    """Where a pair comes from; left and right name methods."""

    task: str
    request_id: str
    user: str
    left: str
    right: str


@dataclass(frozen=True, slots=True)
class Key:
    """What the page of this digest does not say.

    Attributes:
        page: the digest.
        lines: by pair id, in the order of the page.
        counts: by task.
        config: how the pairs were drawn.
    """

    page: str
    lines: Mapping[str, KeyLine]
    counts: Mapping[str, Counted]
    config: PairConfig


def key_of(drawn: DrawnPairs, page: str) -> Key:
    """The key of a page with this digest."""
    method, against = drawn.config.method, drawn.config.against
    lines = {}
    for pair in drawn.pairs:
        left, right = (method, against) if drawn.method_is_left[pair.id] else (against, method)
        lines[pair.id] = KeyLine(pair.task.name, pair.request_id, pair.user, left, right)
    return Key(page, lines, drawn.counts, drawn.config)


def plain_key(key: Key) -> dict[str, Any]:
    """As JSON has it."""
    return {
        "format": FORMAT,
        "page": key.page,
        "settings": dataclasses.asdict(key.config),
        "tasks": {task: dataclasses.asdict(counted) for task, counted in key.counts.items()},
        "pairs": [{"pair": name, **dataclasses.asdict(line)} for name, line in key.lines.items()],
    }


def read_key(path: Path) -> Key:
    """A key from its file, or from the folder of an export.

    Raises:
        DataError: if it is not a key, naming what is wrong.
    """
    path = path / "key.json" if path.is_dir() else path
    plain = read_json(path)
    if plain.get("format") != FORMAT:
        raise DataError(
            "is not the key of an annotation page; give the key.json of `enough annotate export`",
            path=path,
            field="format",
        )
    try:
        settings = {**plain["settings"], "tasks": list(plain["settings"]["tasks"])}
        lines = {line.pop("pair"): KeyLine(**line) for line in plain["pairs"]}
        counts = {task: Counted(**counted) for task, counted in plain["tasks"].items()}
        config = from_table(settings, PairConfig, f"{path}: settings")
        page = str(plain["page"])
    except (KeyError, TypeError, AttributeError) as error:
        raise DataError(f"the key is damaged: {error}", path=path) from None
    methods = {config.method, config.against}
    for name, line in lines.items():
        if {line.left, line.right} != methods:
            raise ConfigError(f"{path}: {name}: left and right must be {' and '.join(methods)}")
    return Key(page, lines, counts, config)
