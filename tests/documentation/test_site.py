"""The site builds strictly, says what the program says, and loads nothing from elsewhere."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import enough

if TYPE_CHECKING:
    from tests.browser import Watched

pytest_plugins = ["tests.browser"]

ROOT = Path(__file__).parent.parent.parent
LOADED = re.compile(r'<(?:script|img|iframe|source)[^>]*\ssrc="([^"]*)"|<link[^>]*\shref="([^"]*)"')
ELSEWHERE = ("http:", "https:", "//")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    for needed in ("latex2mathml", "material", "mkdocstrings"):
        pytest.importorskip(needed, reason="needs the extra 'docs'")
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
    environment = os.environ | {"NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return folder


def test_pages_load_nothing_from_elsewhere(site: Path) -> None:
    pages = list(site.rglob("*.html"))
    assert len(pages) > 20
    for page in pages:
        for found in LOADED.findall(page.read_text(encoding="utf-8")):
            address = "".join(found)
            assert not address.startswith(ELSEWHERE), f"{page.name}: {address}"
    for sheet in site.rglob("*.css"):
        text = sheet.read_text(encoding="utf-8")
        assert not re.search(r"(?:url\(|@import)\s*[\"']?(?:https?:)?//", text), sheet.name


def test_equations_are_drawn_by_the_browser_alone(site: Path) -> None:
    text = (site / "method.html").read_text(encoding="utf-8")
    assert text.count('<math xmlns="http://www.w3.org/1998/Math/MathML" display="block"') >= 12
    assert "arithmatex" not in text
    # Browsers know no other: write \mathbf{S}, not \mathbf S.
    assert set(re.findall('mathvariant="([a-z-]*)"', text)) == {"normal"}
    for page in site.rglob("*.html"):
        assert "\\(" not in page.read_text(encoding="utf-8"), page.name


def test_the_command_line_page_is_the_programs_own(site: Path) -> None:
    import typer.main

    from enough.cli import app

    text = (site / "reference" / "cli.html").read_text(encoding="utf-8")
    root: Any = typer.main.get_command(app)
    for name, command in root.commands.items():
        for inner in getattr(command, "commands", {"": command}):
            assert f'id="enough-{name}{f"-{inner}" if inner else ""}"' in text
    assert "<code>--untrained</code>" in text
    assert "Select by relevance, diversity and price alone." in text
    assert "enough select my-log --request q7 --controller controller" in re.sub(
        "<[^>]*>", "", text
    )


def test_every_public_name_is_explained(site: Path) -> None:
    text = (site / "reference" / "api.html").read_text(encoding="utf-8")
    for name in enough.__all__:
        assert f'id="{enough._HOMES[name]}.{name}"' in text, name
    assert 'id="enough.integrations.langchain.EnoughCompressor"' in text
    extending = (site / "reference" / "extending.html").read_text(encoding="utf-8")
    assert 'id="enough.protocols.Selector.select"' in extending


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def address(site: Path) -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=str(site))) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


def test_a_reader_in_a_browser(address: str, watched: Watched) -> None:
    page = watched.page
    page.goto(f"{address}/method.html")
    heights = page.eval_on_selector_all(
        "math", "all => all.map(m => m.getBoundingClientRect().height)"
    )
    assert len(heights) > 30
    assert min(heights) > 5
    page.set_viewport_size({"width": 390, "height": 844})
    for name in ("method", "operations", "reference/cli", "reference/api"):
        page.goto(f"{address}/{name}.html")
        assert page.evaluate("document.documentElement.scrollWidth") <= 390, name
    page.set_viewport_size({"width": 1440, "height": 900})
    page.goto(f"{address}/index.html", wait_until="networkidle")  # the index of words is there
    page.focus("input.md-search__input")
    page.keyboard.type("specificity")
    page.wait_for_selector(".md-search-result__item", timeout=30_000)
    assert watched.complaints == []
    assert [one for one in watched.requests if not one.startswith(address)] == []


def test_an_equation_that_cannot_be_drawn_stops_a_strict_build(
    caplog: pytest.LogCaptureFixture,
) -> None:
    pytest.importorskip("latex2mathml", reason="needs the extra 'docs'")
    from docs_build.equations import on_page_content

    drawn = on_page_content('<p><span class="arithmatex">\\(x &lt; 1\\)</span></p>')
    assert re.sub("<[^>]*>", "", drawn) == "x&#x0003C;1"
    assert caplog.records == []
    on_page_content('<div class="arithmatex">\n\\[\\unheard{x}\\]\n</div>')
    (record,) = caplog.records
    assert (record.levelname, record.name) == ("WARNING", "mkdocs.hooks.equations")
