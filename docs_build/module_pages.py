"""Writes the pages of the Python interface from docstrings, and takes pages from the repository.

In: the public names of `enough`, and files beside the documentation. Out: reference/api.md with one
entry for each name, which mkdocstrings fills without importing anything; changelog and decisions.
"""

from __future__ import annotations

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
_TAKEN = {"changelog.md": "CHANGELOG.md", "decisions.md": "DECISIONS.md"}


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages to the site."""
    files.append(File.generated(config, API_PAGE, content=api_page()))
    root = Path(config.config_file_path).parent
    for page, source in _TAKEN.items():
        text = (root / source).read_text(encoding="utf-8")
        files.append(File.generated(config, page, content=text))
    return files


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
