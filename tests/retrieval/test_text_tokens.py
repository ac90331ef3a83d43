"""Rows of tokens are those that transformers would give, whatever the text."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from transformers import AutoTokenizer

from enough.bundled_models import bundled_folder
from enough.errors import ModelError
from enough.retrieval.text_tokens import TextTokens
from tests.retrieval.tiny import save_tokenizer

LENGTH = 12
TEXTS = [
    "",
    "a short one",
    "one that has far more words than there is room for in so few tokens as these are",
    "[CLS] a text [SEP] that looks [MASK] special",
    "naïve 東京 🙂 e\u0301",
]


@pytest.fixture(scope="module")
def minilm() -> Any:
    try:
        return AutoTokenizer.from_pretrained(bundled_folder("all-MiniLM-L6-v2"))
    except ModelError as error:
        pytest.skip(f"the tokenizer cannot be had here: {error}")


def expected(tokenizer: Any, texts: list[str]) -> list[list[int]]:
    found: list[list[int]] = tokenizer(
        texts, truncation=True, max_length=LENGTH, split_special_tokens=True
    )["input_ids"]
    return found


def test_the_same_as_transformers_alone_and_together(minilm: Any) -> None:
    tokens = TextTokens(minilm, LENGTH)
    wanted = expected(minilm, TEXTS)
    assert tokens.rows(TEXTS) == wanted
    assert [tokens.rows([text])[0] for text in TEXTS] == wanted
    assert tokens.rows([]) == []


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=80))
def test_any_text(minilm: Any, text: str) -> None:
    assert TextTokens(minilm, LENGTH).rows([text]) == expected(minilm, [text])


def test_half_a_character_is_a_question_mark(minilm: Any) -> None:
    tokens = TextTokens(minilm, LENGTH)
    assert tokens.rows(["a \ud83d b"]) == tokens.rows(["a ? b"])


def test_what_others_do_to_the_tokenizer_changes_nothing(minilm: Any) -> None:
    tokens = TextTokens(minilm, LENGTH)
    before = tokens.rows(TEXTS)
    minilm(TEXTS, padding="max_length", truncation=True, max_length=5)
    assert tokens.rows(TEXTS) == before


@pytest.mark.parametrize("text", ["", "   "])
def test_a_text_without_tokens_has_one(tmp_path: Path, text: str) -> None:
    bare = save_tokenizer(tmp_path, before="", after="")
    assert [len(row) for row in TextTokens(bare, LENGTH).rows([text, "w1"])] == [1, 1]
