"""Writes the pages of the Python interface from docstrings, and takes pages from the repository.

In: the public names of `enough`, and files beside the documentation. Out: reference/api.md with one
entry for each name, which mkdocstrings fills without importing anything; decisions, notes and such,
with links as they are on the site.
"""

from __future__ import annotations

import posixpath
import re
from collections import defaultdict
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

import enough

API_PAGE = "reference/api.md"
_HEAD = """# Python interface

What `import enough` offers, by the module it lives in, and the adapters. All of it is typed.
Extension points are on [a page of their own](extending.md).

"""
_ADAPTERS = {
    "plain": "enough.integrations.plain",
    "LangChain": "enough.integrations.langchain",
    "LlamaIndex": "enough.integrations.llama_index",
}
_TAKEN = {
    "changelog.md": "CHANGELOG.md",
    "contributing.md": "CONTRIBUTING.md",
    "decisions.md": "DECISIONS.md",
    "study-notes.md": "studies/NOTES.md",
    "study-on-real-tasks.md": "studies/lamp/README.md",
}


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages to the site."""
    files.append(File.generated(config, API_PAGE, content=api_page()))
    root = Path(config.config_file_path).parent
    for page, source in _TAKEN.items():
        text = (root / source).read_text(encoding="utf-8")
        files.append(File.generated(config, page, content=with_links_of_the_site(text, source)))
    return files


def with_links_of_the_site(text: str, source: str) -> str:
    """Links of a file of the repository, as they are once it is a page beside those of `docs`."""
    pages = {path: page for page, path in _TAKEN.items()}

    def of_the_site(link: re.Match[str]) -> str:
        path, mark, part = link[1].partition("#")
        target = posixpath.normpath(posixpath.join(posixpath.dirname(source), path))
        return f"]({pages.get(target, target.removeprefix('docs/'))}{mark}{part})"

    return re.sub(r"\]\((?!https?:|#)([^)]+)\)", of_the_site, text)


def api_page() -> str:
    """The page as Markdown with one directive for each public name."""
    homes: dict[str, list[str]] = defaultdict(list)
    for name in enough.__all__:
        homes[enough._HOMES[name]].append(name)
    parts = [_HEAD]
    for home, names in sorted(homes.items()):
        parts.append(f"## {home}\n")
        parts += [f"::: {home}.{name}\n" for name in names]
    for title, module in _ADAPTERS.items():
        parts.append(f"## Adapters: {title}\n")
        parts.append(f"::: {module}\n")
    return "\n".join(parts)
