from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from enough.report.lettering import cut, longest_piece, width_of, wrapped


def test_width_grows_with_letters_and_size() -> None:
    assert width_of("", 12) == 0
    assert width_of("mm", 12) > width_of("ii", 12)
    assert width_of("ab", 24) == 2 * width_of("ab", 12)
    assert width_of("漢字", 10) > width_of("ab", 10)


def test_lines_break_between_words_and_after_hyphens() -> None:
    assert wrapped("one two three", width_of("one two ", 12), 12) == ["one two", "three"]
    assert wrapped("cost-not-worth", width_of("cost-not-", 12), 12) == ["cost-not-", "worth"]
    assert longest_piece("LaMP-4 tasks", 12) == width_of("LaMP-4", 12)


def test_what_does_not_fit_keeps_both_ends() -> None:
    assert cut("short", 100, 12) == "short"
    one, other = (cut(f"the same long beginning {i}", 90, 12) for i in (1, 2))
    assert one.startswith("the")
    assert one.endswith("1")
    assert other.endswith("2")


@given(st.text(max_size=60), st.integers(30, 300), st.integers(1, 4))
def test_lines_fit(text: str, width: int, most: int) -> None:
    lines = wrapped(text, width, 12, most)
    assert 1 <= len(lines) <= most
    assert all(width_of(line, 12) <= width for line in lines)
    if "…" not in "".join(lines):
        assert "".join("".join(lines).split()) == "".join(text.split())
