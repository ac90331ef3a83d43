"""The page in a real browser: ten pairs judged by hand, saved, imported and scored."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from enough.annotation.agreement import POOLED, Verdict, verdicts
from enough.annotation.criteria import CHOICES, CRITERIA, Choice
from enough.annotation.export import export_pairs
from enough.annotation.judgements import read_judgements
from enough.annotation.key import Key
from enough.annotation.pairs import DrawnPairs, draw_pairs
from tests.annotation import made_up

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page

pytest_plugins = ("tests.browser",)

PAIRS = 10
NAMES = [criterion.name for criterion in CRITERIA]
WIDTHS = {390: 844, 1440: 900}
LONG = "Asubstantiallylongwordthatcannotbebroken" * 6
NASTY = "<img src=x onerror=alert(1)></script><b>bold?</b> & \u202eתגובה"


@pytest.fixture(scope="module")
def key(tmp_path_factory: pytest.TempPathFactory) -> Key:
    return export_pairs(_ten_pairs(), _folder(tmp_path_factory))


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory, key: Key) -> str:
    return (_folder(tmp_path_factory) / "page.html").as_uri()


def _folder(factory: pytest.TempPathFactory) -> Path:
    return factory.getbasetemp() / "annotation study"


def _ten_pairs() -> DrawnPairs:
    """Five requests of each task; one answer is hostile, one cannot be broken."""
    rows = [row for row in made_up.rows() if row.request_id != "tweet-0"]
    texts = {"tweet-1": NASTY, "tweet-2": LONG, "tweet-3": ""}
    rows = [
        replace(row, answer=texts[row.request_id])
        if row.method == made_up.THEIRS and row.request_id in texts
        else row
        for row in rows
    ]
    drawn = draw_pairs(rows, made_up.datasets(), made_up.CONTROLS, made_up.config(history=2))
    assert len(drawn.pairs) == PAIRS
    return drawn


@contextmanager
def opened(
    chromium: Browser, url: str, width: int = 1440, **options: Any
) -> Iterator[tuple[BrowserContext, Page]]:
    """A page of a fresh visitor; at the end, nothing may have gone wrong or out."""
    context = chromium.new_context(viewport={"width": width, "height": WIDTHS[width]}, **options)
    page = context.new_page()
    wrong: list[str] = []
    requested: list[str] = []
    page.on("console", lambda message: wrong.append(f"{message.type}: {message.text}"))
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("request", lambda request: requested.append(request.url))
    page.goto(url)
    yield context, page
    context.close()
    assert wrong == []
    assert {one for one in requested if not one.startswith("blob:")} == {url}


def begin(page: Page, name: str) -> None:
    page.get_by_label("Your name or code").fill(name)
    page.get_by_role("button", name="Begin").click()


def choice_of(annotator: int, place: int, criterion: int) -> Choice:
    """What is chosen where, so that every choice occurs and annotators differ now and then."""
    return CHOICES[(place + criterion + (annotator if place % 4 == 0 else 0)) % 3]


def judge(page: Page, annotator: int, place: int) -> None:
    """By mouse on even places, by keyboard on odd ones."""
    for number, name in enumerate(NAMES):
        choice = choice_of(annotator, place, number)
        if place % 2:
            page.keyboard.press(str(3 * number + CHOICES.index(choice) + 1))
        else:
            page.locator(f"[data-criterion={name}][data-choice={choice}]").click()


def pressed(page: Page) -> list[tuple[str | None, str | None]]:
    found = page.locator(".choice[aria-pressed=true]").all()
    return [
        (one.get_attribute("data-criterion"), one.get_attribute("data-choice")) for one in found
    ]


def wanted(annotator: int, place: int) -> list[tuple[str, str]]:
    return [(name, choice_of(annotator, place, number)) for number, name in enumerate(NAMES)]


def saved(page: Page, folder: Path) -> Path:
    with page.expect_download() as waiting:
        page.get_by_role("button", name="Save").click()
    path = folder / waiting.value.suggested_filename
    waiting.value.save_as(path)
    return path


def reload(page: Page) -> None:
    """Until the page has its storage: on a busy machine Chromium was seen to open it too late."""
    from playwright.sync_api import TimeoutError

    for patience in (5_000, 5_000, 30_000):
        page.reload()
        try:
            page.locator("#judge").wait_for(timeout=patience)
            return
        except TimeoutError:
            continue
    pytest.fail("nobody is named after three reloads")


def judge_all(chromium: Browser, url: str, annotator: int, name: str, folder: Path) -> Path:
    with opened(chromium, url) as (_, page):
        begin(page, name)
        for place in range(PAIRS):
            assert page.locator("#place").inner_text() == f"Pair {place + 1} of {PAIRS}"
            judge(page, annotator, place)
            assert pressed(page) == wanted(annotator, place)
            if place == 5:
                reload(page)  # in the middle: name, place and all answers are still there
                assert page.locator("#who").inner_text() == name
                assert page.locator("#done-text").inner_text() == f"6 of {PAIRS} judged"
                assert page.locator("#place").inner_text() == f"Pair 6 of {PAIRS}"
                assert pressed(page) == wanted(annotator, place)
            page.keyboard.press("ArrowRight")
        assert page.locator("#done-text").inner_text() == f"{PAIRS} of {PAIRS} judged"
        assert "All pairs are judged" in page.locator("#status").inner_text()
        page.keyboard.press("ArrowLeft")
        assert pressed(page) == wanted(annotator, PAIRS - 2)
        return saved(page, folder)


def by_hand(key: Key, task: str, criterion: int) -> tuple[dict[str, float], list[list[int]]]:
    """Shares, and how many of three said win, tie and loss of each pair, from what was clicked."""
    counts = []
    for place, line in enumerate(key.lines.values()):
        if task in (POOLED, line.task):
            chosen = [choice_of(annotator, place, criterion) for annotator in range(3)]
            sides = {"left": line.left, "right": line.right, "tie": "tie"}
            said = [sides[one] for one in chosen]
            counts.append([said.count(one) for one in (made_up.OURS, "tie", made_up.THEIRS)])
    total = sum(map(sum, counts))
    of = zip(*counts, strict=True)
    return dict(zip(("win", "tie", "loss"), (sum(one) / total for one in of), strict=True)), counts


def kappa_by_hand(counts: list[list[int]]) -> float:
    agreeing: float = sum(sum(n * (n - 1) for n in one) for one in counts) / (6 * len(counts))
    chance: float = sum((sum(one) / (3 * len(counts))) ** 2 for one in zip(*counts, strict=True))
    return (agreeing - chance) / (1 - chance)


def test_ten_pairs_judged_saved_imported_and_scored(
    chromium: Browser, url: str, key: Key, tmp_path: Path
) -> None:
    names = ["Ann Lee", "bob/../x", "Çelik"]
    files = [judge_all(chromium, url, i, name, tmp_path) for i, name in enumerate(names)]
    assert [path.name for path in files] == [
        "judgements-Ann_Lee.json",
        "judgements-bob_x.json",
        "judgements-Çelik.json",
    ]
    read = read_judgements(files, key)
    assert [one.annotator for one in read] == names
    assert [one.finished for one in read] == [PAIRS] * 3
    assert all(0 < one.seconds < 60 for one in read)
    found: dict[tuple[str, str], Verdict] = {
        (one.task, one.criterion): one for one in verdicts(read, key)
    }
    assert len(found) == 9
    for task, pairs in (("LaMP-4", 5), ("LaMP-7", 5), (POOLED, 10)):
        for number, criterion in enumerate(CRITERIA):
            one = found[task, criterion.title]
            shares, counts = by_hand(key, task, number)
            assert {"win": one.win.mean, "tie": one.tie.mean, "loss": one.loss.mean} == (
                pytest.approx(shares)
            )
            assert one.agreement.kappa == pytest.approx(kappa_by_hand(counts))
            assert (one.pairs, one.judgements, one.agreement.items) == (pairs, 3 * pairs, pairs)


def test_unfinished_work_can_be_saved_and_gone_on_with(
    chromium: Browser, url: str, key: Key, tmp_path: Path
) -> None:
    with opened(chromium, url) as (_, page):
        begin(page, "Dan")
        judge(page, 0, 0)
        page.get_by_role("button", name="Next").click()
        page.get_by_role("button", name="Next").click()
        page.keyboard.press("5")  # style: tie
        assert page.locator("#done-text").inner_text() == f"1 of {PAIRS} judged"
        page.keyboard.press("u")
        assert page.locator("#place").inner_text() == f"Pair 2 of {PAIRS}"
        path = saved(page, tmp_path)
        assert f"{PAIRS - 1} still to judge" in page.locator("#status").inner_text()
        # Somebody else on the same computer begins with nothing, and finds nothing of Dan's.
        page.get_by_role("button", name="change").click()
        begin(page, "Eve")
        assert page.locator("#done-text").inner_text() == f"0 of {PAIRS} judged"
        page.get_by_role("button", name="change").click()
        begin(page, "dan")
        assert page.locator("#done-text").inner_text() == f"1 of {PAIRS} judged"
    plain = json.loads(path.read_text())
    assert [(one["pair"], one["answers"]) for one in plain["judgements"]] == [
        ("pair-1", dict(wanted(0, 0))),
        ("pair-3", {"style": "tie"}),
    ]
    (read,) = read_judgements([path], key)
    assert read.finished == 1


def test_without_storage_it_says_so_and_works(
    chromium: Browser, url: str, key: Key, tmp_path: Path
) -> None:
    with opened(chromium, url) as (context, page):
        context.add_init_script(
            "Object.defineProperty(window, 'localStorage', { get() { throw new Error('no'); } })"
        )
        page.reload()
        page.locator("#start [data-without-storage]").wait_for()
        begin(page, "Fay")
        judge(page, 0, 0)
        assert page.locator("#judge [data-without-storage]").is_visible()
        (read,) = read_judgements([saved(page, tmp_path)], key)
        assert read.finished == 1


def test_keys_typed_into_the_name_judge_nothing(chromium: Browser, url: str) -> None:
    with opened(chromium, url) as (_, page):
        page.get_by_label("Your name or code").press_sequentially("us19")
        page.keyboard.press("Enter")
        assert page.locator("#who").inner_text() == "us19"
        assert pressed(page) == []


def test_texts_are_shown_as_text(chromium: Browser, url: str) -> None:
    with opened(chromium, url) as (_, page):
        begin(page, "Gil")
        shown, notes = [], set()
        for _ in range(PAIRS):
            notes.add(page.locator("#history-note").inner_text())
            shown += [page.locator("#left").inner_text(), page.locator("#right").inner_text()]
            page.keyboard.press("ArrowRight")
        assert NASTY in shown
        assert "(an answer without text)" in shown
        assert page.locator("img").count() == 0
        assert notes == {"the newest 2 of 3", "one record"}


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", WIDTHS)
def test_it_fits_the_screen(chromium: Browser, url: str, width: int, scheme: str) -> None:
    """Set ANNOTATION_SHOTS to a folder to get pictures of what is measured here."""
    shots = os.environ.get("ANNOTATION_SHOTS")
    with opened(chromium, url, width, color_scheme=scheme) as (_, page):
        for place in range(-1, PAIRS):
            if place == 0:
                begin(page, "Ann")
            elif place > 0:
                page.keyboard.press("ArrowRight")
            overflow = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
            assert page.evaluate(overflow) <= 0, f"pair {place + 1}"
            if place == 2:
                judge(page, 0, 1)
            if shots:
                page.screenshot(
                    path=f"{shots}/{scheme}-{width}-{place + 1:02d}.png", full_page=True
                )
