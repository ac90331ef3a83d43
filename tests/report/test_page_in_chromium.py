"""The report as a reader meets it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from enough.report.page import write_report
from enough.report.tables import as_csv
from tests.report.extremes import degenerate, hostile
from tests.report.made_up import fixed_length, made_up_page

if TYPE_CHECKING:
    from playwright.sync_api import Browser

    from tests.browser import Theme, Watched

pytest_plugins = ("tests.browser",)

EVERYWHERE = pytest.mark.parametrize(
    ("width", "theme"), [(390, "light"), (390, "dark"), (1440, "light"), (1440, "dark")]
)
SEEN = "[...document.querySelectorAll('svg.drawing')].filter(s => s.getClientRects().length)"


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("report") / "report.html"
    write_report(path, made_up_page(degenerate(), hostile()))
    return path


@EVERYWHERE
def test_it_is_quiet_and_alone(watched: Watched, report: Path, width: int, theme: Theme) -> None:
    page = watched.open(report, width, theme)
    page.mouse.wheel(0, 5000)
    page.wait_for_timeout(50)
    assert watched.complaints == []
    assert watched.requests == [report.as_uri()]
    assert watched.strangers(report) == []


def test_the_policy_stops_what_is_not_ours(watched: Watched, report: Path, tmp_path: Path) -> None:
    altered = tmp_path / "altered.html"
    foreign = '<img src="https://example.org/x.png"><script>document.title = "taken"</script>'
    text = report.read_text(encoding="utf-8")
    altered.write_text(text.replace("</main>", f"{foreign}</main>"), encoding="utf-8")
    stopped: list[tuple[str, str | None]] = []
    watched.page.on("requestfailed", lambda request: stopped.append((request.url, request.failure)))
    page = watched.open(altered)
    assert page.title() == "How much history is enough?"
    assert watched.strangers(altered) == ["https://example.org/x.png"]
    assert stopped == [("https://example.org/x.png", "csp")]
    assert len(watched.complaints) == 2


@pytest.mark.parametrize(("width", "theme"), [(390, "light"), (1440, "dark")])
def test_every_section_is_reached_from_the_contents(
    watched: Watched, report: Path, width: int, theme: Theme
) -> None:
    from playwright.sync_api import expect

    page = watched.open(report, width, theme)
    sections = page.locator("main section").evaluate_all("all => all.map(s => s.id)")
    links = page.locator("#contents a")
    hrefs = links.evaluate_all("all => all.map(a => a.getAttribute('href'))")
    assert hrefs == [f"#{name}" for name in sections]
    assert len(sections) == len(set(sections)) == 8 + 2
    for i, name in enumerate(sections):
        if width == 390:
            page.locator("#menu").click()
        links.nth(i).click()
        expect(page.locator(f"#{name}")).to_be_in_viewport()
        expect(links.nth(i)).to_have_attribute("aria-current", "true")
        expect(page.locator("#contents a[aria-current]")).to_have_count(1)
        if width == 390:
            expect(links.nth(i)).to_be_hidden()


@EVERYWHERE
def test_nothing_makes_the_page_scroll_sideways(
    watched: Watched, report: Path, width: int, theme: Theme
) -> None:
    page = watched.open(report, width, theme)
    assert page.evaluate("document.documentElement.scrollWidth") == width
    outside = page.evaluate(
        """() => [...document.querySelectorAll('body *')].filter(e => {
            if (e.closest('.table-box, .chart, pre, .skip, .status')) return false;
            const box = e.getBoundingClientRect();
            return box.width && (box.left < -1 || box.right > innerWidth + 1);
        }).map(e => e.outerHTML.slice(0, 80))"""
    )
    assert outside == []


@pytest.mark.parametrize("width", [390, 800, 1440])
def test_every_drawing_can_be_read(watched: Watched, report: Path, width: int) -> None:
    page = watched.open(report, width)
    drawings: list[dict[str, Any]] = page.evaluate(
        f"""() => {SEEN}.map(svg => {{
            const box = svg.getBoundingClientRect();
            const texts = [...svg.querySelectorAll('text')];
            const scale = box.width / svg.viewBox.baseVal.width;
            const marks = [...svg.querySelectorAll('.mark, .bar, .cell')];
            const apart = t => {{
                const r = t.getBoundingClientRect();
                return r.left < box.left - 1 || r.right > box.right + 1
                    || r.top < box.top - 1 || r.bottom > box.bottom + 1;
            }};
            return {{
                title: svg.querySelector('title').textContent,
                size: [box.width, box.height],
                marks: marks.filter(m => !m.closest('.legend')
                    && m.getBoundingClientRect().width > 0).length,
                empty: svg.querySelectorAll('.empty').length,
                letters: Math.min(...texts.map(t => scale * t.getAttribute('font-size'))),
                outside: texts.filter(apart).map(t => t.textContent),
            }};
        }})"""
    )
    charts = sum(len(p.charts) for s in made_up_page(degenerate(), hostile()).sections
                 for p in (*s.panels, *s.paper))  # fmt: skip
    assert len(drawings) == charts
    for drawing in drawings:
        assert min(drawing["size"]) > 0, drawing
        assert drawing["outside"] == [], drawing
        assert drawing["letters"] >= 9.5, drawing
        assert drawing["marks"] > 0 or drawing["empty"] == 1, drawing


@pytest.mark.parametrize("width", [390, 1440])
def test_names_along_an_axis_keep_apart(watched: Watched, report: Path, width: int) -> None:
    page = watched.open(report, width)
    # Turned names have overlapping boxes; what counts is the distance between their lines.
    touching = page.evaluate(
        f"""() => {SEEN}.flatMap(svg => [...svg.querySelectorAll('.axis')].flatMap(axis => {{
            const names = [...axis.querySelectorAll('.tick')];
            return names.slice(1).filter((name, i) => {{
                const a = names[i].getBoundingClientRect(), b = name.getBoundingClientRect();
                const flat = !name.classList.contains('turned');
                if (flat) return a.left < b.right && b.left < a.right
                    && a.top < b.bottom - 1 && b.top < a.bottom - 1;
                const scale = svg.getBoundingClientRect().width / svg.viewBox.baseVal.width;
                const letters = scale * name.getAttribute('font-size');
                return (b.right - a.right) * Math.sin(40 * Math.PI / 180) < letters;
            }}).map(name => name.textContent);
        }}))"""
    )
    assert touching == []


@pytest.mark.parametrize("width", [390, 1440])
def test_other_words_of_a_drawing_keep_apart(watched: Watched, report: Path, width: int) -> None:
    page = watched.open(report, width)
    touching = page.evaluate(
        f"""() => {SEEN}.flatMap(svg => {{
            const words = [...svg.querySelectorAll('text:not(.turned)')];
            const boxes = words.map(t => t.getBoundingClientRect());
            const found = [];
            words.forEach((one, i) => words.slice(0, i).forEach((other, j) => {{
                const a = boxes[i], b = boxes[j];
                if (a.left < b.right - 1 && b.left < a.right - 1
                    && a.top < b.bottom - 3 && b.top < a.bottom - 3)
                    found.push([one.textContent, other.textContent]);
            }}));
            return found;
        }})"""
    )
    assert touching == []


def test_a_table_is_copied_as_csv(watched: Watched, report: Path) -> None:
    page = watched.open(report)
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    button = page.locator("#fixed-length button.copy").first
    button.click()
    page.get_by_text("Copied").first.wait_for()
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied == as_csv(fixed_length().panels[0].table)
    assert copied.startswith("k,Quality,Quality low,Quality high,Tokens,Harm\n0,93.1,")


def test_the_chosen_theme_is_remembered(watched: Watched, report: Path) -> None:
    ground = "getComputedStyle(document.body).backgroundColor"
    page = watched.open(report, theme="dark")
    dark = page.evaluate(ground)
    page.get_by_role("button", name="Light theme").click()
    light = page.evaluate(ground)
    assert light != dark
    page.reload()
    page.get_by_role("button", name="Dark theme").wait_for()
    assert page.evaluate(ground) == light
    page.get_by_role("button", name="Dark theme").click()
    assert page.evaluate(ground) == dark


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_words_stand_out_from_the_ground(watched: Watched, report: Path, theme: Theme) -> None:
    page = watched.open(report, theme=theme)
    ratios: dict[str, float] = page.evaluate(
        """() => {
            const light = c => {
                const part = v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
                const [r, g, b] = c.match(/[\\d.]+/g).map(v => part(v / 255));
                return 0.2126 * r + 0.7152 * g + 0.0722 * b;
            };
            const ground = light(getComputedStyle(document.querySelector('.paper .panel'))
                .backgroundColor);
            const ratio = (selector, key) => {
                const own = light(getComputedStyle(document.querySelector(selector))[key]);
                return (Math.max(own, ground) + 0.05) / (Math.min(own, ground) + 0.05);
            };
            return {
                tick: ratio('.paper .tick', 'fill'),
                caption: ratio('.paper figcaption', 'color'),
                cell: ratio('.paper td', 'color'),
                mark: ratio('.paper .mark', 'fill'),
            };
        }"""
    )
    assert min(ratios["tick"], ratios["caption"], ratios["cell"]) >= 4.5
    assert ratios["mark"] >= 3


def test_hostile_text_stays_text(watched: Watched, report: Path) -> None:
    page = watched.open(report)
    assert page.locator("img").count() == 0
    assert page.locator("script").count() == 1
    assert page.locator("section#hostile-name h2").inner_text().startswith("</script><img")


def test_without_scripts_nothing_is_missing_but_comfort(chromium: Browser, report: Path) -> None:
    context = chromium.new_context(
        java_script_enabled=False, viewport={"width": 390, "height": 900}
    )
    page = context.new_page()
    page.goto(report.as_uri())
    assert page.locator("#contents a").first.is_visible()
    assert page.locator("#fixed-length table").first.is_visible()
    assert not page.locator("button").filter(visible=True).count()
    context.close()


def test_print_has_no_controls_and_whole_tables(watched: Watched, report: Path) -> None:
    page = watched.open(report, 800, "dark")
    page.emulate_media(media="print", color_scheme="dark")
    for hidden in ("#contents", ".strip", "#theme", "button.copy"):
        assert not page.locator(hidden).first.is_visible()
    long = page.locator("#degenerate .table-box").last
    assert long.evaluate("box => box.scrollHeight <= box.clientHeight + 1")
    assert page.evaluate("getComputedStyle(document.body).colorScheme") == "light"
