from __future__ import annotations

import os
import signal
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from enough.disk_cache import DiskCache, cache_root
from enough.generators.answer_cache import RememberingGenerator
from enough.generators.metering import Clocked
from enough.generators.score_cache import CachedGenerator
from enough.protocols import OpenGenerator, ScoredSequence, Steered, Tokens
from tests.generators.open_fake import Broken, OpenFake, Rule


def tokens(*values: int) -> Tokens:
    return np.array(values, np.int32)


PREFIX, SUFFIXES = tokens(5, 6, 7), [tokens(1), tokens(2, 3)]
PROMPTS = [tokens(1, 2), tokens(3), tokens(1, 2, 3, 4)]


def ask_everything(generator: OpenGenerator) -> tuple[list[str], str, list[list[float]]]:
    return (
        generator.generate(PROMPTS, 8),
        generator.steer([Steered([tokens(1, 2), tokens(3, 4)], Rule())], 8)[0],
        [row.tolist() for row in generator.attention(PREFIX, SUFFIXES)],
    )


def test_a_remembered_answer_computes_nothing_and_took_as_long(tmp_path: Path) -> None:
    first = RememberingGenerator(OpenFake(pause=0.02), tmp_path / "a.sqlite")
    said = ask_everything(first)
    assert said == ask_everything(OpenFake())
    assert (first.hits, first.misses) == (0, 5)
    assert first.seconds >= 3 * 0.02
    again = RememberingGenerator(Broken(), tmp_path / "a.sqlite")
    assert ask_everything(again) == said
    assert (again.hits, again.misses) == (5, 0)
    assert again.seconds == pytest.approx(first.seconds, rel=1e-12)
    assert isinstance(again, Clocked)


def test_what_attention_gives_back_can_be_written_to(tmp_path: Path) -> None:
    remembering = RememberingGenerator(OpenFake(), tmp_path / "a")
    for _ in range(2):
        (row, _) = remembering.attention(PREFIX, SUFFIXES)
        assert row.dtype == np.float64
        row[:] = 0.0
    assert remembering.attention(PREFIX, SUFFIXES)[0].tolist() == [5 / 4, 6 / 4, 7 / 4]


def test_the_seconds_of_one_call_are_split_evenly(tmp_path: Path) -> None:
    first = RememberingGenerator(OpenFake(pause=0.03), tmp_path / "a")
    first.generate(PROMPTS, 8)
    again = RememberingGenerator(OpenFake(), tmp_path / "a")
    again.generate(PROMPTS[:1], 8)
    assert again.seconds == pytest.approx(first.seconds / 3)


def test_only_what_is_missing_is_computed_and_equal_prompts_once(tmp_path: Path) -> None:
    class Noting(OpenFake):
        def generate(self, prompts: Sequence[Tokens], max_new_tokens: int) -> list[str]:
            self.asked += [str(prompt.tolist()) for prompt in prompts]
            return super().generate(prompts, max_new_tokens)

    inner = Noting()
    remembering = RememberingGenerator(inner, tmp_path / "a")
    remembering.generate([tokens(3)], 8)
    inner.asked.clear()
    answers = remembering.generate([tokens(9, 9), tokens(3), tokens(9, 9), tokens(4)], 8)
    assert answers == ["é18/8", "é3/8", "é18/8", "é4/8"]
    assert inner.asked == ["[4]", "[9, 9]", "generate"]
    assert remembering.generate([], 8) == []


def test_whatever_is_asked_differently_is_another_entry(tmp_path: Path) -> None:
    inner = OpenFake()
    remembering = RememberingGenerator(inner, tmp_path / "a")
    pair = [tokens(1, 2), tokens(3, 4)]
    remembering.steer([Steered(pair, Rule("one"))], 8)[0]
    assert remembering.steer([Steered(pair, Rule("other"))], 8)[0].startswith("other")
    remembering.steer([Steered(pair[::-1], Rule("one"))], 8)[0]
    remembering.steer([Steered(pair, Rule("one"))], 9)[0]
    remembering.steer([Steered([tokens(1), tokens(2)], Rule("one"))], 8)[0]
    remembering.steer([Steered([tokens(1, 2)], Rule("one"))], 8)[0]
    remembering.generate([tokens(1, 2)], 8)
    remembering.generate([tokens(1, 2)], 9)
    remembering.attention(tokens(1, 2), [])
    remembering.attention(tokens(1), [tokens(2)])
    remembering.attention(tokens(1, 2), [tokens(3), tokens(4)])
    remembering.attention(tokens(1, 2), [tokens(3, 4)])
    assert len(inner.asked) == 12 == remembering.misses
    remembering.steer([Steered(pair, Rule("one"))], 8)[0]
    assert len(inner.asked) == 12


def test_another_model_finds_nothing(tmp_path: Path) -> None:
    ask_everything(RememberingGenerator(OpenFake(), tmp_path / "a"))
    other = OpenFake()
    other.fingerprint = "another"
    ask_everything(RememberingGenerator(other, tmp_path / "a"))
    assert other.asked == ["generate", "steer", "attention"]


def test_scores_are_passed_on_or_left_to_a_cache_of_their_own(tmp_path: Path) -> None:
    inner, sequence = OpenFake(pause=0.01), ScoredSequence(tokens(1, 2, 1), 1)
    remembering = RememberingGenerator(inner, tmp_path / "a")
    assert remembering.score([sequence]) == remembering.rescore([sequence])
    remembering.score([sequence])
    assert inner.asked == ["score", "score"]  # the fake rescores by itself
    assert remembering.seconds >= 2 * 0.01
    inner.asked.clear()
    cached = RememberingGenerator(inner, tmp_path / "a", CachedGenerator(inner, tmp_path / "s"))
    assert cached.score([sequence]) == cached.score([sequence])
    assert inner.asked == ["score"]


def test_it_lies_in_the_cache_folder_by_default(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ENOUGH_CACHE", str(tmp_path))
    RememberingGenerator(OpenFake()).generate([tokens(1)], 8)
    assert len(DiskCache(cache_root() / "answers.sqlite")) == 1


def test_what_fails_leaves_nothing(tmp_path: Path) -> None:
    remembering = RememberingGenerator(Broken(), tmp_path / "a")
    for ask in (
        lambda: remembering.generate(PROMPTS, 8),
        lambda: remembering.steer([Steered(PROMPTS, Rule())], 8),
        lambda: remembering.attention(PREFIX, SUFFIXES),
    ):
        with pytest.raises(AssertionError, match="was computed"):
            ask()
    assert len(DiskCache(tmp_path / "a")) == 0
    assert (remembering.seconds, remembering.misses) == (0.0, 0)


class Mortal(OpenFake):
    """Killed without warning in its second call."""

    def _work(self, what: str) -> None:
        super()._work(what)
        if len(self.asked) == 2:
            os.kill(os.getpid(), signal.SIGKILL)


def test_a_kill_loses_only_what_was_not_done(tmp_path: Path) -> None:
    prompts = [tokens(i) for i in range(1, 101)]
    child = os.fork()
    if child == 0:
        RememberingGenerator(Mortal(), tmp_path / "a").generate(prompts, 8)
        os._exit(0)  # never reached
    _, status = os.waitpid(child, 0)
    assert os.WTERMSIG(status) == signal.SIGKILL
    cache = DiskCache(tmp_path / "a")
    cache.check()
    assert len(cache) == 64
    again = RememberingGenerator(OpenFake(), tmp_path / "a")
    assert again.generate(prompts, 8) == OpenFake().generate(prompts, 8)
    assert (again.hits, again.misses) == (64, 36)
