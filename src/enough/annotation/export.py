"""An annotation study into a folder: the page for annotators and the key for you.

In: drawn pairs. Out: `page.html` and `key.json`. The key is written first, so that there is never a
page whose key is lost. A folder that holds another export is refused; the same one again is fine.
"""

from __future__ import annotations

from pathlib import Path

from enough.annotation.key import Key, key_of, plain_key
from enough.annotation.page import make_page
from enough.annotation.pairs import DrawnPairs
from enough.errors import ConfigError
from enough.run_folders import first_difference, held_folder, read_json, write_json, write_whole

PAGE, KEY = "page.html", "key.json"


def export_pairs(drawn: DrawnPairs, folder: Path) -> Key:
    """Write page and key.

    Raises:
        ConfigError: if the folder holds another export.
    """
    page = make_page(drawn)
    key = key_of(drawn, page.digest)
    with held_folder(folder):
        _require_free(folder, key)
        write_json(folder / KEY, plain_key(key))
        write_whole(folder / PAGE, page.html.encode())
    return key


def _require_free(folder: Path, key: Key) -> None:
    advice = "name another folder; annotators may be working on this one"
    if not (folder / KEY).exists():
        if (folder / PAGE).exists():
            raise ConfigError(f"{folder}: holds a page without its key; {advice}")
        return
    if different := first_difference(read_json(folder / KEY), plain_key(key)):
        shown = different if len(different) <= 120 else f"{different[:119]}…"
        raise ConfigError(f"{folder}: holds another export, by {shown}; {advice}")
