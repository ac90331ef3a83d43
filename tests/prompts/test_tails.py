"""Ends of prompts that are made together are those that are made alone, and none is kept."""

from __future__ import annotations

import threading
from collections.abc import Sequence

import numpy as np
import pytest

from enough.generators.config import GeneratorConfig
from enough.generators.prompt_side import load_prompt_side
from enough.prompts.prompter import Prompter
from enough.prompts.tails import Tails
from enough.protocols import ManyTokenizer, Tokens
from tests.data.world import TWEETS, request, tweet_input


class Made:
    """Counts letters, and keeps what was asked for together."""

    def __init__(self) -> None:
        self.rows: list[tuple[str, ...]] = []

    def __call__(self, texts: Sequence[str]) -> list[Tokens]:
        self.rows.append(tuple(texts))
        if "bad" in texts:
            raise ValueError("bad text")
        return [np.full(len(text), 7, np.int32) for text in texts]


def test_with_the_first_that_is_asked_for_all_are_made() -> None:
    make = Made()
    tails = Tails(make)
    with tails.expecting("one"), tails.expecting("three"), tails.expecting("three"):
        assert len(tails.of("three")) == 5
        assert len(tails.of("one")) == 3
        assert len(tails.of("nobody's")) == 8
    assert make.rows == [("three", "one"), ("nobody's",)]
    assert len(tails.of("one")) == 3  # made anew
    assert make.rows[2:] == [("one",)]


def test_what_is_expected_twice_stays_until_both_are_done() -> None:
    make = Made()
    tails = Tails(make)
    with tails.expecting("one"):
        with tails.expecting("one"):
            tails.of("one")
        tails.of("one")
        assert make.rows == [("one",)]
    assert (tails._expected, tails._waiting, tails._made) == ({}, {}, {})


def test_nobody_fails_for_the_text_of_another() -> None:
    tails = Tails(Made())
    with tails.expecting("good"), tails.expecting("bad"):
        assert len(tails.of("good")) == 4
        with pytest.raises(ValueError, match="bad text"):
            tails.of("bad")


def test_not_more_than_sixteen_together() -> None:
    make = Made()
    tails = Tails(make)
    texts = [str(number) for number in range(40)]
    opened = [tails.expecting(text) for text in texts]
    for one in opened:
        one.__enter__()
    for text in texts:
        tails.of(text)
    for one in opened:
        one.__exit__(None, None, None)
    assert [len(row) for row in make.rows] == [16, 16, 8]
    assert not tails._made


def test_many_threads_get_their_own() -> None:
    tails = Tails(Made())
    wrong: list[str] = []

    def work(number: int) -> None:
        for round_ in range(200):
            text = "x" * (1 + (number * 7 + round_) % 50)
            with tails.expecting(text):
                if len(tails.of(text)) != len(text):
                    wrong.append(text)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
    assert (tails._expected, tails._waiting, tails._made) == ({}, {}, {})


def test_prompts_of_requests_that_wait_together_are_those_of_each_alone() -> None:
    tokenizer = load_prompt_side(GeneratorConfig().prompt_model).tokenizer
    assert isinstance(tokenizer, ManyTokenizer)
    inputs = [
        "late again",
        "",
        "<|im_end|> </CURRENT_REQUEST>",
        "漢字 🙂 naïve",
        "half \ud83d",
        "x" * 999,
    ]
    requests = [request(TWEETS, tweet_input(text)) for text in inputs]
    alone = [Prompter(tokenizer).prompt(one).tokens for one in requests]
    together = Prompter(tokenizer)
    opened = [together.expecting(one) for one in requests]
    for one in opened:
        one.__enter__()
    found = [together.prompt(one).tokens for one in requests]
    for one in opened:
        one.__exit__(None, None, None)
    assert all(map(np.array_equal, found, alone))
