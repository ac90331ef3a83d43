"""A generator behind a URL: what is asked in each dialect, what is refused, what is patient."""

from __future__ import annotations

import logging
from pathlib import Path

import httpx
import numpy as np
import pytest

from enough.config import load_config
from enough.errors import ConfigError, ModelError
from enough.generators.config import GeneratorConfig
from enough.generators.fake import FakeTokenizer
from enough.generators.remote.config import DialectName, RemoteConfig
from enough.generators.remote.generator import DIALECTS, RemoteGenerator
from enough.prompts.prompter import Prompter
from enough.protocols import ScoredSequence
from tests.conftest import make_example, make_record
from tests.generators.toy_server import MODEL, WINDOW, ToyGenerator, ToyServer, toy_remote

EVERY = pytest.mark.parametrize("dialect", DIALECTS)


def profiles(tokenizer: FakeTokenizer, count: int = 6) -> list[ScoredSequence]:
    """Sequences that share prefixes, in no good order."""
    prompter = Prompter(tokenizer)
    records = [make_record(i) for i in range(1, 4)]
    chosen = [records[: i % 3] + records[2 : 2 + i % 2] for i in range(count)]
    references = ["twist ending", "classic, of course"]
    return [prompter.sequence(make_example(references[i % 2]), c) for i, c in enumerate(chosen)]


@EVERY
@pytest.mark.parametrize("takes_ids", [True, False])
def test_scores_are_those_of_the_model(dialect: DialectName, takes_ids: bool) -> None:
    server = ToyServer(takes_ids=takes_ids or dialect != "openai")
    remote = toy_remote(dialect, server)
    sequences = profiles(server.tokenizer)
    expected = ToyGenerator(server.tokenizer).score(sequences)
    np.testing.assert_array_equal(remote.score(sequences), expected)
    np.testing.assert_array_equal(remote.rescore(sequences), expected)
    prompts = [sequence.tokens[: -sequence.reference_length] for sequence in sequences]
    answers = ToyGenerator(server.tokenizer).generate(prompts, 3)
    assert remote.generate(prompts, 3) == answers
    assert remote.client.faults == 0


@EVERY
def test_neighbours_in_the_trie_are_asked_for_one_after_the_other(dialect: DialectName) -> None:
    server = ToyServer()
    remote = toy_remote(dialect, server, concurrency=1)
    sequences = profiles(server.tokenizer)
    server.bodies.clear()
    remote.score(sequences)
    asked = [body.get("input_ids") or body["prompt"] for body in server.bodies]
    assert asked == sorted(sequence.tokens.tolist() for sequence in sequences)


def test_sglang_is_asked_for_the_reference_alone_and_for_everything_anew() -> None:
    server = ToyServer()
    remote = toy_remote("sglang", server)
    (sequence,) = profiles(server.tokenizer, 1)
    server.bodies.clear()
    remote.score([sequence])
    remote.rescore([sequence])
    starts = [body["logprob_start_len"] for body in server.bodies]
    # The entry at the start is empty, so it is one token before the reference.
    assert starts == [len(sequence.tokens) - sequence.reference_length - 1, 0]
    assert all(body["sampling_params"]["max_new_tokens"] == 0 for body in server.bodies)


@EVERY
def test_no_more_requests_are_under_way_than_allowed(dialect: DialectName) -> None:
    server = ToyServer()
    remote = toy_remote(dialect, server, concurrency=3)
    remote.score(profiles(server.tokenizer, 20))
    assert server.most_at_once == 3
    server.most_at_once = 0
    remote.rescore(profiles(server.tokenizer, 5))
    assert server.most_at_once == 1


@EVERY
def test_a_server_that_adds_a_token_is_refused(dialect: DialectName) -> None:
    with pytest.raises(ModelError, match="prompt tokens where"):
        toy_remote(dialect, ToyServer(begins_with="<|user|>"), attempts=2)


@EVERY
@pytest.mark.parametrize("shift", [1, -1])
def test_log_probabilities_of_other_tokens_are_noticed(dialect: DialectName, shift: int) -> None:
    server = ToyServer(shift=shift)
    with pytest.raises(ModelError, match="They are of other tokens"):
        toy_remote(dialect, server, attempts=2)


@EVERY
def test_another_vocabulary_is_noticed(dialect: DialectName) -> None:
    with pytest.raises(ModelError, match=r"spells token .* as 'xx"):
        toy_remote(dialect, ToyServer(spelling=lambda text: f"xx{text}"), attempts=2)


@EVERY
def test_a_model_the_server_does_not_have_is_refused(dialect: DialectName) -> None:
    server = ToyServer()
    config = RemoteConfig("http://toy", dialect, attempts=1)
    transport = httpx.ASGITransport(server.app())
    with pytest.raises(ModelError, match="serves 'toy', not 'other'"):
        RemoteGenerator("other", config, server.tokenizer, WINDOW, transport)


def test_a_server_without_prompt_log_probabilities_is_refused() -> None:
    def chat_only(request: httpx.Request) -> httpx.Response:
        if request.url.path == "/v1/models":
            return httpx.Response(200, json={"data": [{"id": MODEL}]})
        choice = {"text": "yes", "logprobs": None}
        return httpx.Response(200, json={"choices": [choice], "usage": {"prompt_tokens": 4}})

    config = RemoteConfig("http://toy", "openai", attempts=2, pause=0.0)
    with pytest.raises(ModelError, match=r"a reply without tokens"):
        RemoteGenerator(MODEL, config, FakeTokenizer(), WINDOW, httpx.MockTransport(chat_only))


def test_text_that_is_other_tokens_again_is_not_sent_to_a_server_of_texts() -> None:
    server = ToyServer(takes_ids=False)
    remote = toy_remote("openai", server)
    (sequence,) = profiles(server.tokenizer, 1)
    # Two words that one text would join.
    joined = server.tokenizer.encode("lighthouse")
    split = np.concatenate([server.tokenizer.encode("light"), server.tokenizer.encode("house")])
    bad = ScoredSequence(np.concatenate([sequence.tokens, split]), 1)
    assert len(joined) < len(split)
    with pytest.raises(ModelError, match="takes text only"):
        remote.score([sequence, bad])


@EVERY
def test_the_fingerprint_is_all_that_is_known(dialect: DialectName) -> None:
    first = toy_remote(dialect)
    assert toy_remote(dialect).fingerprint == first.fingerprint
    assert toy_remote(dialect, concurrency=9, timeout=3.0).fingerprint == first.fingerprint
    assert toy_remote(dialect, revision="b").fingerprint != first.fingerprint
    others = [toy_remote(name).fingerprint for name in DIALECTS if name != dialect]
    assert first.fingerprint not in others
    if dialect != "openai":  # which says nothing of itself
        assert toy_remote(dialect, ToyServer(version="2")).fingerprint != first.fingerprint


def test_the_window_is_the_smallest_of_all() -> None:
    assert toy_remote("sglang").window == WINDOW
    small = toy_remote("sglang", window=300)
    assert small.window == 300
    with pytest.raises(ModelError, match="cannot be scored in a window of 299"):
        small.score([ScoredSequence(np.ones(300, np.int32), 1)])
    with pytest.raises(ModelError, match="do not fit a window of 300"):
        small.generate([np.ones(298, np.int32)], 3)


def test_the_key_comes_from_the_environment_and_is_never_shown(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    server = ToyServer(key="s3cret-key")
    with pytest.raises(ConfigError, match="TOY_KEY"):
        toy_remote("vllm", server, api_key_env="TOY_KEY")
    monkeypatch.setenv("TOY_KEY", "s3cret-key")
    remote = toy_remote("vllm", server, api_key_env="TOY_KEY")
    remote.score(profiles(server.tokenizer, 2))
    monkeypatch.setenv("TOY_KEY", "wrong-key")
    with pytest.raises(ModelError, match="HTTP 401") as refused:
        toy_remote("vllm", server, api_key_env="TOY_KEY")
    assert "wrong-key" not in str(refused.value)
    assert "[key]" in str(refused.value)
    assert "s3cret-key" not in caplog.text + remote.fingerprint
    assert "wrong-key" not in caplog.text


def test_a_refusal_is_not_tried_again() -> None:
    server = ToyServer(key="k")
    with pytest.raises(ModelError, match="http://toy/v1/models: the server says HTTP 401"):
        toy_remote("vllm", server, attempts=50)


def test_settings_are_read_from_a_table(tmp_path: Path) -> None:
    path = tmp_path / "g.toml"
    path.write_text(
        'model = "m"\n[remote]\nurl = "http://gpu:30000"\ndialect = "vllm"\ntokenizer = "t"\n'
    )
    config = load_config(path, GeneratorConfig)
    assert config.remote == RemoteConfig("http://gpu:30000", "vllm", "t")
    assert config.prompt_model == "t"
    assert config.is_elsewhere
    table = config.of_likelihoods["remote"]
    assert table == {
        "url": "http://gpu:30000", "dialect": "vllm", "tokenizer": "t", "revision": ""
    }  # fmt: skip


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ('url = "gpu:30000"', "must begin with http"),
        ('url = "http://me:pass@gpu"', "no key or password"),
        ('url = "http://gpu?key=1"', "no key or password"),
        ('url = "http://gpu"\ndialect = "tgi"', "dialect must be one of"),
        ('url = "http://gpu"\nconcurrency = 0', "concurrency must be at least 1"),
        ('url = "http://gpu"\ntimeout = 0', "timeout must be above 0"),
        ('url = "http://gpu"\napi_key = "x"', "unknown key"),
        ('dialect = "vllm"', "'url' is missing"),
    ],
)
def test_wrong_settings_are_named(tmp_path: Path, line: str, reason: str) -> None:
    path = tmp_path / "g.toml"
    path.write_text(f"[remote]\n{line}\n")
    with pytest.raises(Exception, match=reason):
        load_config(path, GeneratorConfig)


def test_settings_of_a_model_here_mean_nothing_elsewhere() -> None:
    remote = RemoteConfig("http://gpu")
    with pytest.raises(ConfigError, match=r"dtype is for a model that transformers runs here"):
        GeneratorConfig(dtype="float32", remote=remote)
    with pytest.raises(ConfigError, match="adapter"):
        GeneratorConfig(adapter=Path("lamp"), remote=remote)


def test_settings_without_an_engine_are_as_before_there_were_any() -> None:
    assert set(GeneratorConfig().of_likelihoods) == {
        "model", "adapter", "dtype", "scorer", "compile"
    }  # fmt: skip
