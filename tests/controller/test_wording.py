"""Words in common, by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from enough.controller import wording
from enough.controller.wording import stems
from enough.protocols import Floats


def shared_words(query: str, texts: list[str]) -> Floats:
    return wording.shared_words(query, [stems(text) for text in texts])


def test_by_hand() -> None:
    found = shared_words("Parsing a river", ["parse rivers", "the river", "nothing here"])
    # Of three texts "river" is in two, "parsi" of the query is not "parse" of the first.
    river = math.log1p((3 - 2 + 0.5) / (2 + 0.5))
    assert found == pytest.approx([river / math.sqrt(3), river / math.sqrt(3), 0], abs=1e-6)


def test_a_rare_word_weighs_more_than_a_common_one() -> None:
    rare, common, _ = shared_words("harbour night", ["harbour", "night", "night"])
    assert rare > common > 0


def test_forms_of_a_word_are_one() -> None:
    assert np.array_equal(stems("Translation, translated"), stems("TRANSLATING"))


def test_no_texts_and_no_words() -> None:
    assert shared_words("anything", []).shape == (0,)
    assert shared_words("anything", ["", "…"]).tolist() == [0, 0]
    assert shared_words("", ["a text"]).tolist() == [0]


@given(st.text(max_size=40), st.lists(st.text(max_size=40), max_size=6))
def test_the_order_of_texts_does_not_matter(query: str, texts: list[str]) -> None:
    order = np.random.default_rng(0).permutation(len(texts))
    found = shared_words(query, texts)
    assert np.isfinite(found).all()
    assert (found >= 0).all()
    again = shared_words(query, [texts[i] for i in order])
    assert again == pytest.approx(found[order], abs=1e-6)
