"""Pairs as one HTML page that needs no network and no other file.

In: drawn pairs. Out: the page, and the digest of what it shows. All data go in as JSON with every
`<`, `>` and `&` escaped, and reach the reader as text only. The policy in the page's head allows
its own script and style by their hashes and nothing else.
"""

from __future__ import annotations

import base64
import dataclasses
import hashlib
import json
from importlib import resources
from typing import Any

from enough.annotation.criteria import CHOICES, CRITERIA
from enough.annotation.pairs import DrawnPairs, Pair
from enough.errors import MissingExtraError
from enough.prompts.serialise import metadata_of
from enough.records import Record

FORMAT = 1


@dataclasses.dataclass(frozen=True, slots=True)
class Page:
    """A page and the digest of its content, by which annotators' files name it."""

    html: str
    digest: str


def make_page(drawn: DrawnPairs) -> Page:
    """The page of these pairs; equal pairs make equal pages.

    Raises:
        MissingExtraError: without Jinja2.
    """
    try:
        from jinja2 import Environment, StrictUndefined  # noqa: PLC0415 (an extra)
        from markupsafe import Markup  # noqa: PLC0415 (an extra)
    except ImportError:
        raise MissingExtraError("an annotation page", "report") from None
    content = _content(drawn)
    digest = hashlib.blake2b(_json(content).encode(), digest_size=16).hexdigest()
    style, script = _asset("page.css"), _asset("page.js")
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True)
    html = environment.from_string(_asset("page.html.jinja")).render(
        policy=f"default-src 'none'; script-src {_source(script)}; style-src {_source(style)}; "
        "base-uri 'none'; form-action 'none'",
        style=Markup(style),
        script=Markup(script),
        data=Markup(_json({**content, "digest": digest})),
        criteria=CRITERIA,
        choices=CHOICES,
        count=len(drawn.pairs),
    )
    return Page(html, digest)


def _content(drawn: DrawnPairs) -> dict[str, Any]:
    """All that annotators get to see."""
    tasks = {pair.task.name: pair.task for pair in drawn.pairs}
    return {
        "format": FORMAT,
        "criteria": [dataclasses.asdict(criterion) for criterion in CRITERIA],
        "tasks": {
            name: {
                "description": task.description,
                "context": task.context_field,
                "action": task.action_field,
            }
            for name, task in tasks.items()
        },
        "pairs": [_shown(pair) for pair in drawn.pairs],
    }


def _shown(pair: Pair) -> dict[str, Any]:
    return {
        "id": pair.id,
        "task": pair.task.name,
        "input": pair.input,
        "history": [_shown_record(record) for record in pair.history],
        "historyLength": pair.history_length,
        "left": pair.left,
        "right": pair.right,
    }


def _shown_record(record: Record) -> dict[str, Any]:
    return {
        "context": record.context,
        "action": record.action,
        "metadata": [list(part) for part in metadata_of(record)],
    }


def _json(value: object) -> str:
    """JSON that is safe inside a script element: nothing in it can end the element."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"))  # ASCII, also for lone halves
    for mark in "<>&":
        text = text.replace(mark, f"\\u{ord(mark):04x}")
    return text


def _source(content: str) -> str:
    """How a policy names inline content."""
    digest = hashlib.sha256(content.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"


def _asset(name: str) -> str:
    return resources.files("enough.annotation").joinpath("assets", name).read_text("utf-8")
