"""Pages in a real browser: what they log, what they ask for, what a reader sees.

A test module names this one in `pytest_plugins` and takes the fixture `watched`. Where there is no
Chromium or no Playwright, its tests are skipped and say why.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page

NAMES = ("chromium", "chromium-browser", "google-chrome")
QUIET = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
Theme = Literal["light", "dark"]


@dataclass
class Watched:
    """A page, and everything it complained about or asked for since it was made."""

    page: Page
    complaints: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.on("dialog", lambda dialog: self.complaints.append(dialog.message))
        self.page.on(
            "console",
            lambda said: (
                self.complaints.append(said.text) if said.type in ("error", "warning") else None
            ),
        )

    def open(self, path: Path, width: int = 1440, theme: Theme = "light") -> Page:
        """Show a file at this width, in the theme the system asks for, without slow scrolling."""
        self.page.set_viewport_size({"width": width, "height": 900})
        self.page.emulate_media(color_scheme=theme, reduced_motion="reduce")
        self.page.goto(path.as_uri())
        return self.page

    def strangers(self, path: Path) -> list[str]:
        """Requests for anything but the file itself and what lies inside it."""
        inside = (path.as_uri(), "data:", "blob:")
        return [url for url in self.requests if not url.startswith(inside)]


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    """One browser for a module; not longer, since its event loop would be in others' way."""
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        pytest.skip("needs Playwright: pip install playwright")
    found = next(filter(None, map(shutil.which, NAMES)), None)
    if found is None:
        pytest.skip(f"needs a browser on the path: {', '.join(NAMES)}")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=list(QUIET))
        yield browser
        browser.close()


@pytest.fixture
def context(chromium: Browser) -> Iterator[BrowserContext]:
    """A profile of its own: no memory of other tests; files it saves may be read by the test."""
    made = chromium.new_context(accept_downloads=True)
    made.set_default_timeout(10_000)
    yield made
    made.close()


@pytest.fixture
def watched(context: BrowserContext) -> Watched:
    """An empty page that is watched from the start."""
    return Watched(context.new_page())
