r"""Turns equations into MathML while the site is built: browsers draw it, no script is loaded.

In: pages in which `pymdownx.arithmatex` has marked equations as \(...\) and \[...\]. Out: the same
pages with <math> elements; what cannot be drawn is a warning, which stops a strict build.
"""

from __future__ import annotations

import html
import logging
import re

from latex2mathml.converter import convert

log = logging.getLogger("mkdocs.hooks.equations")

_INLINE = re.compile(r'<span class="arithmatex">\\\((.*?)\\\)</span>', re.DOTALL)
_DISPLAYED = re.compile(r'<div class="arithmatex">\s*\\\[(.*?)\\\]\s*</div>', re.DOTALL)


def on_page_content(page_html: str, **_: object) -> str:
    """Replace every equation of a page."""
    inline = _INLINE.sub(lambda found: _math(found[1], "inline"), page_html)
    return _DISPLAYED.sub(
        lambda found: f'<div class="equation">{_math(found[1], "block")}</div>', inline
    )


def _math(latex: str, display: str) -> str:
    drawn = convert(html.unescape(latex).strip(), display=display)
    if "\\" in drawn:  # a command that is not known is written out as it is
        log.warning("not all of this equation is understood: %s", latex.strip())
    return drawn
