"""One suite for every generator: what `protocols.Generator` promises."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from enough.generators.fake import FakeGenerator
from enough.generators.loading import ClosedGenerator
from enough.generators.score_cache import CachedGenerator
from enough.prompts.prompter import Prompter
from enough.protocols import Generator
from tests.conftest import make_example, make_record, make_request
from tests.generators.toy_server import ToyServer, toy_remote
from tests.generators.toy_vllm import toy_vllm

BUILT: dict[str, Callable[[Path], Generator]] = {
    "fake": lambda _: FakeGenerator(),
    "cached": lambda folder: CachedGenerator(FakeGenerator(), folder / "s"),
    "closed": lambda _: ClosedGenerator(FakeGenerator()),
    "remote-sglang": lambda _: toy_remote("sglang"),
    "remote-vllm": lambda _: toy_remote("vllm"),
    "remote-openai": lambda _: toy_remote("openai"),
    "remote-text": lambda _: toy_remote("openai", ToyServer(takes_ids=False)),
    "vllm": lambda _: toy_vllm(),
}
NAMES = (*BUILT, pytest.param("default", marks=pytest.mark.lm))


@pytest.fixture(params=NAMES)
def generator(request: pytest.FixtureRequest, tmp_path: Path) -> Generator:
    if request.param == "default":
        model: Any = request.getfixturevalue("default_generator")
        return model  # type: ignore[no-any-return]
    return BUILT[request.param](tmp_path)


def test_scores_are_mean_log_likelihoods_in_order(generator: Generator) -> None:
    prompter = Prompter(generator.tokenizer)
    sequences = [
        prompter.sequence(make_example(reference), profile)
        for reference in ("twist ending", "classic")
        for profile in ([], [make_record(1)], [make_record(1), make_record(2)])
    ]
    together = generator.score(sequences)
    assert together.shape == (6,)
    assert (together < 0).all()
    alone = [generator.score([sequence])[0] for sequence in sequences]
    np.testing.assert_allclose(together, alone, atol=1e-3)
    assert generator.score([]).shape == (0,)


def test_every_score_is_announced_once(generator: Generator) -> None:
    prompter = Prompter(generator.tokenizer)
    sequences = [prompter.sequence(make_example(), [make_record(i)]) for i in range(1, 5)]
    told: list[int] = []
    generator.score(sequences, lambda where, _: told.extend(where.tolist()))
    assert sorted(told) == [0, 1, 2, 3]


def test_another_way_of_computing_gives_the_same_up_to_noise(generator: Generator) -> None:
    prompter = Prompter(generator.tokenizer)
    sequences = [prompter.sequence(make_example(), [make_record(i)]) for i in range(1, 4)]
    np.testing.assert_allclose(generator.rescore(sequences), generator.score(sequences), atol=1e-3)
    assert generator.rescore([]).shape == (0,)
    assert generator.batch_tokens > 0


def test_one_answer_per_prompt(generator: Generator) -> None:
    prompter = Prompter(generator.tokenizer)
    prompts = [prompter.prompt(make_request(), [make_record(1)] * k).tokens for k in (0, 1, 1)]
    answers = generator.generate(prompts, 6)
    assert len(answers) == 3
    assert answers[1] == answers[2]
    assert answers == generator.generate(prompts, 6)
    assert generator.generate([], 6) == []


def test_tokens_come_back_as_text(generator: Generator) -> None:
    text = 'Rated "5/5", naïve 你好.'
    assert generator.tokenizer.decode(generator.tokenizer.encode(text).tolist()) == text
    assert generator.tokenizer.encode("").shape == (0,)


def test_control_tokens_are_single_tokens(generator: Generator) -> None:
    for token in generator.tokenizer.control_tokens:
        assert len(generator.tokenizer.encode(token)) == 1
