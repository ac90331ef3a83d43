"""The API on one page, made of its OpenAPI description; no script, no font, nothing from elsewhere.

In: the description. Out: HTML.
"""

from __future__ import annotations

from html import escape
from typing import Any

_STYLE = (
    "body{font:16px/1.5 system-ui,sans-serif;max-width:50rem;margin:2rem auto;padding:0 1rem}"
    "code{font-size:.95em}dt{margin-top:.8rem}dd{margin-left:1.5rem}"
    "@media(prefers-color-scheme:dark){body{background:#111;color:#ddd}a{color:#8bf}}"
)


def api_page(description: dict[str, Any]) -> str:
    """Every path, its method and what it is for."""
    lines = []
    for path, methods in description["paths"].items():
        for method, one in methods.items():
            names = _fields(one, description)
            fields = ", ".join(f"<code>{escape(name)}</code>" for name in names)
            body = f" Body: {fields}." if names else ""
            lines.append(
                f"<dt><code>{method.upper()} {escape(path)}</code></dt>"
                f"<dd>{escape(one.get('description', ''))}{body}</dd>"
            )
    title = escape(description["info"]["title"])
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{title}</title>'
        f"<style>{_STYLE}</style></head><body><h1>{title}</h1>"
        "<p>Send <code>Authorization: Bearer &lt;API key&gt;</code>. All of it for machines: "
        '<a href="/openapi.json">openapi.json</a>.</p>'
        f"<dl>{''.join(lines)}</dl></body></html>"
    )


def _fields(operation: dict[str, Any], description: dict[str, Any]) -> list[str]:
    content = operation.get("requestBody", {}).get("content", {})
    reference = content.get("application/json", {}).get("schema", {}).get("$ref", "")
    schema = description["components"]["schemas"].get(reference.rpartition("/")[2], {})
    return list(schema.get("properties", {}))
