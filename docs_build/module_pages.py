"""Writes the pages of the Python interface from docstrings, and takes pages from the repository.

In: the public names of `enough`, and files beside the documentation. Out: reference/api.md with one
entry for each name, which mkdocstrings fills without importing anything; changelog and decisions.
"""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from typing import Any

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
_MAY_BE_MISSING = {"results.md"}  # results are written by `enough results`


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Leave out what may be missing and is; any other page that is not there is an error."""
    missing = {name for name in _MAY_BE_MISSING if not Path(config.docs_dir, name).is_file()}
    config.nav = [_without(entry, missing) for entry in config.nav or []]
    return config


def _without(entry: dict[str, Any], missing: set[str]) -> dict[str, Any]:
    return {
        title: [one for one in inner if not missing & set(one.values())]
        if isinstance(inner, list)
        else inner
        for title, inner in entry.items()
    }


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
