"""The graph of a BERT: the module's vectors to within rounding, the same bits every time."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from transformers import AutoModel, BertConfig, BertModel

from enough.errors import ModelError
from enough.retrieval.bert_graph import bert_graph, fits, is_exact_together
from enough.retrieval.encoders import load_encoder
from enough.retrieval.transformer_encoder import TransformerEncoder, pool
from tests.retrieval.tiny import save_bert, save_qwen

LENGTHS = [1, 2, 3, 7, 16, 17, 31, 33, 64]


@pytest.fixture(scope="module")
def bert(tmp_path_factory: pytest.TempPathFactory) -> Any:
    return AutoModel.from_pretrained(save_bert(tmp_path_factory.mktemp("bert"))).eval()


def rows(vocabulary: int, lengths: list[int]) -> list[torch.Tensor]:
    rng = np.random.default_rng(0)
    return [torch.tensor(rng.integers(0, vocabulary, length)) for length in lengths]


def by_module(model: Any, ids: torch.Tensor, pooling: Any, normalise: bool) -> torch.Tensor:
    mask = torch.ones_like(ids)[None]
    with torch.inference_mode():
        hidden = model(input_ids=ids[None], attention_mask=mask).last_hidden_state
        vector = pool(hidden, mask, pooling)[0]
    return torch.nn.functional.normalize(vector, dim=0) if normalise else vector


@pytest.mark.parametrize("normalise", [True, False])
@pytest.mark.parametrize("pooling", ["mean", "cls", "last"])
def test_vectors_are_the_modules(bert: Any, pooling: Any, normalise: bool) -> None:
    graph = bert_graph(bert, pooling, normalise=normalise)
    with torch.inference_mode():
        for ids in rows(bert.config.vocab_size, LENGTHS):
            expected = by_module(bert, ids, pooling, normalise)
            torch.testing.assert_close(graph([ids])[0], expected, atol=2e-5, rtol=1e-4)


def test_vectors_are_the_modules_without_onednn(bert: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("enough.retrieval.bert_graph._has_onednn", lambda: False)
    graph = bert_graph(bert, "mean", normalise=True)
    with torch.inference_mode():
        for ids in rows(bert.config.vocab_size, LENGTHS):
            expected = by_module(bert, ids, "mean", True)
            torch.testing.assert_close(graph([ids])[0], expected, atol=2e-5, rtol=1e-4)


def test_bits_are_the_same_every_time_and_in_every_thread(bert: Any) -> None:
    """A graph is rewritten after its first calls; that must not show."""
    graph = bert_graph(bert, "mean", normalise=True)
    some = rows(bert.config.vocab_size, LENGTHS)
    found: list[list[torch.Tensor]] = []

    @torch.inference_mode()
    def work() -> None:
        found.append([graph([ids])[0] for ids in some])
        found.append(graph(some))  # company changes nothing

    for _ in range(3):
        work()
    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 14
    for vectors in found[1:]:
        assert all(map(torch.equal, found[0], vectors))


def test_where_company_changes_a_bit_texts_go_alone(
    bert: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    some = rows(bert.config.vocab_size, LENGTHS)
    graph = bert_graph(bert, "mean", normalise=True)
    assert is_exact_together(graph, some)

    def rounded_otherwise(given: list[torch.Tensor]) -> list[torch.Tensor]:
        return [vector + (len(given) > 3) * 1e-7 for vector in graph(given)]

    assert is_exact_together(rounded_otherwise, some[:3])
    assert not is_exact_together(rounded_otherwise, some)
    with torch.inference_mode():
        monkeypatch.setattr("torch.jit.freeze", lambda _: rounded_otherwise)
        careful = bert_graph(bert, "mean", normalise=True)(some)
        assert all(map(torch.equal, careful, (graph([row])[0] for row in some)))


def test_which_models_it_can_stand_for(bert: Any, tmp_path: Path) -> None:
    assert fits(bert)
    assert not fits(AutoModel.from_pretrained(save_qwen(tmp_path)))
    small: dict[str, Any] = {
        "vocab_size": 20,
        "hidden_size": 8,
        "num_hidden_layers": 1,
        "num_attention_heads": 2,
        "intermediate_size": 16,
    }
    assert fits(BertModel(BertConfig(**small)))
    assert not fits(BertModel(BertConfig(**small, hidden_act="relu")))
    assert not fits(BertModel(BertConfig(**small, is_decoder=True)))
    assert not fits(BertModel(BertConfig(**small)).to(torch.bfloat16))


def test_the_default_encoder_is_its_module(monkeypatch: pytest.MonkeyPatch) -> None:
    try:
        fast = load_encoder(device="cpu")
        monkeypatch.setattr("enough.retrieval.transformer_encoder.fits", lambda _: False)
        plain = load_encoder(device="cpu")
    except ModelError as error:
        pytest.skip(f"the weights cannot be had here: {error}")
    assert isinstance(fast, TransformerEncoder) and isinstance(plain, TransformerEncoder)
    assert fast._graph is not None and plain._graph is None
    rng = np.random.default_rng(0)
    letters = np.array(list("etaoin shrdlu,.'ßé中🦊\u202e\n"))
    texts = ["".join(rng.choice(letters, rng.integers(1, 400))) for _ in range(24)]
    texts += ["", " ", "\ud800", "word " * 5000, "x" * 10_000, "[SEP] [MASK]"]
    found, expected = (encoder.encode(texts, "query") for encoder in (fast, plain))
    np.testing.assert_allclose(found, expected, atol=1e-6, rtol=0)
    assert np.abs((found * expected).sum(axis=1) - 1).max() < 1e-5
    assert fast.fingerprint == plain.fingerprint


_EVERY_LENGTH = """
import re, torch
from transformers import BertConfig, BertModel
from enough.retrieval.bert_graph import bert_graph

def held():
    with open("/proc/self/status") as status:
        return int(re.search(r"VmRSS:\\s+(\\d+)", status.read())[1]) / 1000

torch.manual_seed(0)
torch.set_num_threads(1)
model = BertModel(BertConfig(vocab_size=50, hidden_size=384, num_hidden_layers=1,
                             num_attention_heads=12, intermediate_size=1536)).eval()
graph = bert_graph(model, "mean", normalise=True)
with torch.inference_mode():
    for length in (8, 16, 256):
        for _ in range(3):
            graph([torch.zeros(length, dtype=torch.int64)])
    before = held()
    for _ in range(2):
        for length in range(3, 257):
            graph([torch.zeros(length, dtype=torch.int64)])
print(held() - before)
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="reads Linux's /proc")
def test_texts_of_all_lengths_do_not_fill_the_memory() -> None:
    """Code for every length is kept by default, 600 MB in all."""
    given = {k: v for k, v in os.environ.items() if not k.endswith("CACHE_CAPACITY")}
    done = subprocess.run(
        [sys.executable, "-c", _EVERY_LENGTH], capture_output=True, text=True, check=True, env=given
    )
    assert float(done.stdout) < 250
