"""SVG as text, with everything escaped that could be data.

In: a tag, attributes, and what is inside. Out: markup that is both XML and part of an HTML page.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from html import escape

# Characters XML has no place for: controls, lone surrogates, non-characters.
_NO_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff\ufffe\uffff]")

Attribute = str | float | None


def escaped(text: str) -> str:
    """Text as markup."""
    return escape(_NO_XML.sub("�", text))


def element(tag: str, *inside: str, **attributes: Attribute) -> str:
    """A tag around markup.

    Args:
        tag: its name.
        inside: markup; plain text must come through `escaped`.
        attributes: escaped here. `class_` is class, `text_anchor` is text-anchor; None is left out.
    """
    named = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{_attribute(value)}"'
        for key, value in attributes.items()
        if value is not None
    )
    content = "".join(inside)
    return f"<{tag}{named}>{content}</{tag}>" if content else f"<{tag}{named}/>"


def key_of(*parts: object) -> str:
    """A name for what one drawing defines, the same for equal parts and no other."""
    return hashlib.sha256(repr(parts).encode("utf-8", "replace")).hexdigest()[:10]


def hint(text: str) -> str:
    """What a browser says when a pointer rests on the element around it."""
    return element("title", escaped(text))


def lines_of_text(
    lines: Sequence[str],
    x: float,
    y: float,
    *,
    size: float,
    leading: float = 1.25,
    **rest: Attribute,
) -> str:
    """Lines below each other; `y` is the baseline of the first."""
    if len(lines) == 1:
        return element("text", escaped(lines[0]), x=x, y=y, font_size=size, **rest)
    spans = (
        element("tspan", escaped(line), x=x, y=y + i * size * leading)
        for i, line in enumerate(lines)
    )
    return element("text", *spans, font_size=size, **rest)


def root(
    title: str, description: str, body: str, *, width: float, height: float, class_: str
) -> str:
    """A whole drawing that tells a screen reader what it is."""
    key = key_of(title, description, width, body)
    names = (f"t{key}", f"d{key}")
    return element(
        "svg",
        element("title", escaped(title), id=names[0]),
        element("desc", escaped(description), id=names[1]),
        body,
        xmlns="http://www.w3.org/2000/svg",
        class_=f"drawing {class_}",
        viewBox=f"0 0 {_number(width)} {_number(height)}",
        width=width,
        height=height,
        role="img",
        aria_labelledby=" ".join(names),
    )


def path(*parts: str | float) -> str:
    """Commands and coordinates as the `d` of a path."""
    return " ".join(part if isinstance(part, str) else _number(part) for part in parts)


def _attribute(value: str | float) -> str:
    return escaped(value) if isinstance(value, str) else _number(value)


def _number(value: float) -> str:
    """At most two decimals: a hundredth of a pixel is not seen."""
    return f"{round(value, 2) + 0.0:.2f}".rstrip("0").rstrip(".")
