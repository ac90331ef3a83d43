"""ColBERT on a tiny random checkpoint with the structure of the real one."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file
from transformers import AutoTokenizer, BertModel

from enough.errors import ConfigError, ModelError
from enough.retrieval.late_interaction import (
    ColbertLengths,
    LateInteractionRetriever,
    max_sim,
)
from tests.conftest import make_record, make_request
from tests.retrieval.tiny import save_bert, save_colbert

LENGTHS = ColbertLengths(query=8, document=12)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_colbert(tmp_path_factory.mktemp("colbert"))


@pytest.fixture
def colbert(folder: Path) -> LateInteractionRetriever:
    return LateInteractionRetriever.load(str(folder), "cpu", LENGTHS, "float32")


def by_hand(folder: Path, ids: list[int], attended: int) -> torch.Tensor:
    """Unit vectors [len(ids), dim] from the checkpoint's own tensors."""
    weights = load_file(folder / "model.safetensors")
    bert = BertModel.from_pretrained(folder, add_pooling_layer=False).eval()
    assert torch.equal(bert.embeddings.word_embeddings.weight, weights[_name(weights)])
    mask = torch.tensor([[1] * attended + [0] * (len(ids) - attended)])
    with torch.inference_mode():
        hidden = bert(input_ids=torch.tensor([ids]), attention_mask=mask).last_hidden_state[0]
        projected = hidden @ weights["linear.weight"].T
    unit: torch.Tensor = projected / projected.norm(dim=-1, keepdim=True)
    return unit


def _name(weights: dict[str, torch.Tensor]) -> str:
    (name,) = [key for key in weights if key.endswith("word_embeddings.weight")]
    assert name.startswith("bert.")  # as in the published checkpoint
    return name


def test_query_and_document_vectors_by_hand(
    folder: Path, colbert: LateInteractionRetriever
) -> None:
    vocabulary = AutoTokenizer.from_pretrained(folder).get_vocab()

    def ids(text: str) -> list[int]:
        return [vocabulary[token] for token in text.split()]

    query = ids("[CLS] [unused0] w1 , w2 [SEP] [MASK] [MASK]")
    np.testing.assert_allclose(
        colbert.query_vectors("w1, w2"), by_hand(folder, query, attended=6), atol=1e-5
    )
    document = ids("[CLS] [unused1] w3 , w4 ! [SEP]")
    expected = by_hand(folder, document, attended=7)[[0, 1, 2, 4, 6]]  # without "," and "!"
    short, found = colbert.document_vectors(["w5", "w3, w4!"])
    np.testing.assert_allclose(found, expected, atol=1e-5)
    assert short.shape == (4, 8)


def test_long_texts_are_cut_with_their_end_token(
    folder: Path, colbert: LateInteractionRetriever
) -> None:
    assert colbert.query_vectors("w1 " * 100).shape == (8, 8)
    (document,) = colbert.document_vectors(["w1 " * 100])
    assert document.shape == (12, 8)
    capped = LateInteractionRetriever.load(str(folder), "cpu", ColbertLengths(9000), "float32")
    assert capped.query_vectors("w1").shape == (256, 8)  # all positions that the model has


def test_max_sim_by_hand() -> None:
    query = torch.tensor([[1.0, 0.0], [0.0, 1.0], [0.6, 0.8]])
    document = torch.tensor([[0.8, 0.6], [0.0, -1.0]])
    assert max_sim(query, document) == pytest.approx(0.8 + 0.6 + 0.96)


def test_ranking_and_memory(
    colbert: LateInteractionRetriever, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = ["w1 w2 w3", "w9 w8", "w1 w2 w3", ""]
    history = tuple(make_record(i + 1, context=text) for i, text in enumerate(texts))
    request = make_request(input="description: w1 w2")
    pool = colbert.retrieve(request, history, 4)
    query = colbert.query_vectors("w1 w2")
    expected = [max_sim(query, vectors) for vectors in colbert.document_vectors(texts)]
    assert {c.record.id: c.score for c in pool} == {
        f"r{i + 1}": pytest.approx(score) for i, score in enumerate(expected)
    }
    places = [c.record.id for c in pool]
    assert places.index("r3") == places.index("r1") + 1

    def forbidden(_rows: object) -> None:
        raise AssertionError("embedded again")

    monkeypatch.setattr(colbert, "_document_batch", forbidden)
    assert colbert.retrieve(request, history, 4) == pool


def test_a_bert_without_projection_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"linear\.weight"):
        LateInteractionRetriever.load(str(save_bert(tmp_path)), "cpu")


def test_lengths_must_leave_room_for_a_token() -> None:
    with pytest.raises(ConfigError, match="room"):
        ColbertLengths(query=3)
