"""The page's files, with headers that allow these files and nothing else.

In: the name of a file. Out: a response. The policy forbids inline scripts, evaluation, other hosts
and frames; `require-trusted-types-for` makes every attempt to insert text as HTML an error.
"""

from __future__ import annotations

from importlib import resources

from starlette.responses import Response

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-cache",
}
_KINDS = {
    ".css": "text/css",
    ".html": "text/html",
    ".js": "text/javascript",
    ".json": "application/json",
    ".svg": "image/svg+xml",
}


class Pages:
    """All files of the page, read once; there is no path from a name to any other file."""

    def __init__(self) -> None:
        folder = resources.files("enough.service.inspector").joinpath("assets")
        self._files = {
            one.name: one.read_bytes() for one in folder.iterdir() if _kind(one.name) is not None
        }

    def page(self, *, is_open: bool) -> Response:
        """The page; it is told whether the service wants keys."""
        marked = b'data-open="yes"' if is_open else b'data-open="no"'
        content = self._files["page.html"].replace(b'data-open="no"', marked)
        return Response(content, headers=HEADERS, media_type=_KINDS[".html"])

    def file(self, name: str) -> Response | None:
        """One of the other files, or None."""
        if name not in self._files or name == "page.html":
            return None
        return Response(self._files[name], headers=HEADERS, media_type=_kind(name))


def _kind(name: str) -> str | None:
    return _KINDS.get(f".{name.rpartition('.')[2]}")
