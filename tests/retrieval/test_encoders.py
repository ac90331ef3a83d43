"""Frozen encoders on tiny random models: pooling by hand, padding, templates, hostile texts."""

from __future__ import annotations

import builtins
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file
from transformers import AutoModel, AutoTokenizer

from enough.errors import ConfigError, MissingExtraError, ModelError, UnknownNameError
from enough.precision import choose_dtype, cpu_has_usable_amx
from enough.retrieval.encoders import (
    ENCODERS,
    EncoderSpec,
    encoder_spec,
    load_encoder,
    located_encoder,
)
from enough.retrieval.transformer_encoder import TransformerEncoder, pool
from tests.retrieval.tiny import save_bert, save_qwen

SHORT, LONG = "w1 w2", "w3 w4 w5 w6, w7 w8!"


@pytest.fixture(scope="module")
def bert(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_bert(tmp_path_factory.mktemp("bert"))


@pytest.fixture(scope="module")
def qwen(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_qwen(tmp_path_factory.mktemp("qwen"))


def hidden_states(folder: Path, text: str) -> torch.Tensor:
    """[tokens, dim] of one text alone, straight from transformers."""
    ids = AutoTokenizer.from_pretrained(folder)(text, return_tensors="pt")["input_ids"]
    with torch.inference_mode():
        hidden: torch.Tensor = AutoModel.from_pretrained(folder)(input_ids=ids).last_hidden_state[0]
    return hidden


def encode(folder: Path, texts: list[str], kind: Any = "document", **spec: Any) -> Any:
    encoder = load_encoder(str(folder), "cpu", spec=EncoderSpec(**spec), precision="float32")
    return encoder.encode(texts, kind)


@pytest.mark.parametrize("normalise", [True, False])
@pytest.mark.parametrize("pooling", ["mean", "cls", "last"])
@pytest.mark.parametrize("padding", ["left", "right"])
def test_pooling_equals_hand_computed_vectors(
    bert: Path, qwen: Path, pooling: Any, padding: Any, normalise: bool
) -> None:
    # BERT has absolute positions, so it is only ever padded on the right.
    folder = qwen if padding == "left" else bert
    found = encode(folder, [SHORT, LONG], pooling=pooling, padding=padding, normalise=normalise)
    for text, vector in zip([SHORT, LONG], found, strict=True):
        hidden = hidden_states(folder, text).numpy()
        expected = {"mean": hidden.mean(axis=0), "cls": hidden[0], "last": hidden[-1]}[pooling]
        if normalise:
            expected = expected / np.linalg.norm(expected)
        np.testing.assert_allclose(vector, expected, atol=2e-5)


def test_pool_skips_padding_on_both_sides() -> None:
    hidden = torch.tensor([[[9.0], [1.0], [3.0]], [[1.0], [5.0], [9.0]]])
    mask = torch.tensor([[0, 1, 1], [1, 1, 0]])
    assert pool(hidden, mask, "mean").tolist() == [[2.0], [3.0]]
    assert pool(hidden, mask, "cls").tolist() == [[1.0], [1.0]]
    assert pool(hidden, mask, "last").tolist() == [[3.0], [5.0]]


def test_last_token_is_the_end_token_that_the_tokenizer_appends(qwen: Path) -> None:
    tokenizer = AutoTokenizer.from_pretrained(qwen)
    assert tokenizer(SHORT)["input_ids"][-1] == tokenizer.sep_token_id
    cut = encode(qwen, [" ".join(["w1"] * 50)], pooling="last", padding="left", max_length=10)
    same = encode(qwen, [" ".join(["w1"] * 9)], pooling="last", padding="left")
    np.testing.assert_allclose(cut, same, atol=1e-6)  # truncation keeps the end token


def test_a_vector_does_not_depend_on_its_neighbours(bert: Path, qwen: Path) -> None:
    texts = [" ".join(f"w{(i * j) % 40}" for j in range(1, i + 1)) for i in range(1, 40)]
    for folder, spec in ((bert, EncoderSpec()), (qwen, ENCODERS["qwen3-embedding"])):
        encoder = load_encoder(str(folder), "cpu", spec=spec, precision="float32")
        together = encoder.encode(texts, "document")
        alone = np.concatenate([encoder.encode([text], "document") for text in texts])
        np.testing.assert_allclose(together, alone, atol=2e-5)
        assert np.array_equal(encoder.encode(texts[::-1], "document")[::-1], together)
        twice = encoder.encode([texts[3], texts[30], texts[3]], "document")
        assert np.array_equal(twice[0], twice[2])


def _keep(found: list[Any], work: Any) -> None:
    found.append(work())


def test_many_threads_encode_the_same_bits(bert: Path, qwen: Path) -> None:
    texts = [" ".join(f"w{(i * j) % 40}" for j in range(1, i + 1)) for i in range(1, 20)]
    for folder in (bert, qwen):
        encoder = load_encoder(str(folder), "cpu")
        assert isinstance(encoder, TransformerEncoder)
        assert (encoder.batch_rows, encoder.lanes) == (1, torch.get_num_threads())
        found: list[Any] = []
        work = partial(encoder.encode_here, texts, "query")
        threads = encoder.start_threads(partial(_keep, found, work))
        assert len(threads) == encoder.lanes
        for thread in threads:
            thread.join()
        expected = encoder.encode(texts, "query")
        assert len(found) == encoder.lanes
        assert all(np.array_equal(one, expected) for one in found)


def test_templates(bert: Path) -> None:
    spec = {"query_template": "w9 w9:{text}", "document_template": "{text} w8"}
    query, document = encode(bert, [SHORT], "query", **spec), encode(bert, [SHORT], **spec)
    np.testing.assert_allclose(query, encode(bert, [f"w9 w9:{SHORT}"]), atol=1e-6)
    np.testing.assert_allclose(document, encode(bert, [f"{SHORT} w8"]), atol=1e-6)
    braces = encode(bert, ["{text} {0} w1"], "query", **spec)
    np.testing.assert_allclose(braces, encode(bert, ["w9 w9:{text} {0} w1"]), atol=1e-6)
    with pytest.raises(ConfigError, match="once"):
        EncoderSpec(query_template="query: ")


def test_the_table_says_what_the_authors_say() -> None:
    assert not ENCODERS["contriever"].normalise
    assert ENCODERS["contriever"].pooling == "mean"
    qwen = ENCODERS["qwen3-embedding"]
    assert (qwen.pooling, qwen.padding) == ("last", "left")
    assert qwen.query_template.startswith("Instruct: Given a web search query, ")
    assert qwen.query_template.endswith("\nQuery:{text}")
    assert qwen.document_template == "{text}"
    assert (ENCODERS["bge-m3"].pooling, ENCODERS["bge-m3"].max_length) == ("cls", 512)
    assert ENCODERS["minilm"].max_length == 256


@pytest.mark.parametrize(
    "text", ["", " ", "\ud800 w1 \udfff", "\x00", "w1 " * 350_000, "x" * 1_000_000, "{", "🦊" * 99]
)
def test_hostile_texts_give_finite_vectors(bert: Path, qwen: Path, text: str) -> None:
    for folder in (bert, qwen):
        vectors = encode(folder, [text, SHORT])
        assert vectors.shape == (2, 16)
        assert np.isfinite(vectors).all()


def test_a_user_cannot_write_special_tokens(bert: Path) -> None:
    forged = encode(bert, ["w1 [SEP] w2"])
    spelled = encode(bert, ["w1 [ SEP ] w2"])
    np.testing.assert_allclose(forged, spelled, atol=1e-6)


def test_a_tokenizer_without_special_tokens_and_an_empty_text(tmp_path: Path) -> None:
    from tests.retrieval.tiny import save_tokenizer

    save_bert(tmp_path)
    save_tokenizer(tmp_path, before="", after="")
    assert np.isfinite(encode(tmp_path, ["", "w1"])).all()


def test_no_texts(bert: Path) -> None:
    assert encode(bert, []).shape == (0, 16)


def test_length_is_capped_by_the_models_positions(bert: Path) -> None:
    long = " ".join(["w1"] * 500)  # the tiny BERT has 64 positions
    np.testing.assert_array_equal(
        encode(bert, [long], max_length=512), encode(bert, [long], max_length=64)
    )


def test_fingerprint_follows_weights_reading_and_dtype_but_not_the_folder(
    bert: Path, tmp_path: Path
) -> None:
    def fingerprint(folder: Path, spec: EncoderSpec | None = None, **options: Any) -> str:
        return load_encoder(str(folder), "cpu", spec=spec, **options).fingerprint

    plain = fingerprint(bert, precision="float32")
    assert plain == fingerprint(bert, precision="float32")
    assert plain == fingerprint(save_bert(tmp_path / "copy"), precision="float32")
    others = {
        fingerprint(save_bert(tmp_path / "other", seed=1), precision="float32"),
        fingerprint(bert, precision="bfloat16"),
        *(
            fingerprint(bert, replace(EncoderSpec(), **change), precision="float32")
            for change in (
                {"pooling": "cls"},
                {"normalise": False},
                {"query_template": "q: {text}"},
                {"max_length": 32},
            )
        ),
    }
    assert len(others | {plain}) == 7


def test_names(bert: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'minilm'"):
        load_encoder("minlm")
    with pytest.raises(ModelError, match="no such folder"):
        load_encoder("/nowhere/at/all")
    monkeypatch.chdir(bert.parent)
    assert (
        load_encoder(bert.name, "cpu", precision="float32").encode(["w1"], "query").shape[1] == 16
    )


def test_a_model_that_cannot_be_downloaded(monkeypatch: pytest.MonkeyPatch) -> None:
    def offline(*_: object, **__: object) -> None:
        raise OSError("We couldn't connect to the hub\nsecond line")

    monkeypatch.setattr(AutoTokenizer, "from_pretrained", offline)
    advice = r"'facebook/contriever'.*connect.*copy the folder"
    with pytest.raises(ModelError, match=advice) as caught:
        load_encoder("contriever")
    assert "second line" not in str(caught.value)


def test_damaged_and_unsuitable_checkpoints(tmp_path: Path) -> None:
    cut = save_bert(tmp_path / "cut") / "model.safetensors"
    cut.write_bytes(cut.read_bytes()[:1000])
    with pytest.raises(ModelError, match="cannot load"):
        load_encoder(str(cut.parent))
    (tmp_path / "empty").mkdir()
    with pytest.raises(ModelError, match=r"config\.json"):
        load_encoder(str(tmp_path / "empty"))


def test_without_torch_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    real = builtins.__import__

    def no_torch(name: str, *args: Any, **options: Any) -> Any:
        if name.partition(".")[0] in ("torch", "transformers"):
            raise ImportError(name)
        return real(name, *args, **options)

    for module in ("checkpoints", "transformer_encoder", "late_interaction"):
        monkeypatch.delitem(sys.modules, f"enough.retrieval.{module}", raising=False)
    monkeypatch.setattr(builtins, "__import__", no_torch)
    with pytest.raises(MissingExtraError, match=r"enough\[hf\]"):
        load_encoder()
    from enough.retrieval.registry import build_retriever

    with pytest.raises(MissingExtraError, match=r"enough\[hf\]"):
        build_retriever("colbert")


def test_precision(tmp_path: Path) -> None:
    def cpu(flags: str, level: int) -> Path:
        path = tmp_path / "cpuinfo"
        path.write_text(f"processor : 0\nflags\t\t: fpu {flags}\ncpuid level\t: {level}\n\n")
        return path

    assert cpu_has_usable_amx(cpu("amx_tile amx_bf16", 32))
    assert not cpu_has_usable_amx(cpu("amx_tile amx_bf16", 28))  # announced, but not described
    assert not cpu_has_usable_amx(cpu("avx512_bf16", 32))
    assert not cpu_has_usable_amx(tmp_path / "missing")
    assert choose_dtype("auto", "cuda:1") == "bfloat16"
    assert choose_dtype("float32", "cuda") == "float32"
    with pytest.raises(UnknownNameError, match="precision"):
        choose_dtype("float8", "cpu")  # type: ignore[arg-type]


def test_a_checkpoint_without_a_pooler_is_the_same_at_every_load(tmp_path: Path) -> None:
    folder = save_bert(tmp_path)
    weights = load_file(folder / "model.safetensors")
    kept = {name: tensor for name, tensor in weights.items() if not name.startswith("pooler.")}
    assert len(kept) < len(weights)
    save_file(kept, folder / "model.safetensors", {"format": "pt"})
    found = {load_encoder(str(folder), "cpu").fingerprint for _ in range(3)}
    assert len(found) == 1


def test_a_folder_without_a_tokenizer(tmp_path: Path) -> None:
    folder = save_bert(tmp_path)
    (folder / "tokenizer.json").unlink()
    with pytest.raises(ModelError, match=r"needs a tokenizer\.json; this one has none"):
        load_encoder(str(folder), "cpu")


def test_a_folder_named_like_a_known_encoder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "minilm").mkdir()
    save_bert(tmp_path / "minilm")
    monkeypatch.chdir(tmp_path)
    assert encoder_spec("minilm") == ENCODERS["minilm"]
    assert "taking the encoder minilm, not the folder" in caplog.text


def test_where_an_encoder_lies(tmp_path: Path) -> None:
    assert located_encoder(None) is located_encoder("minilm") is None
    assert located_encoder("bge-m3") == "bge-m3"
    assert located_encoder(tmp_path) == str(tmp_path)
    with pytest.raises(ConfigError, match="a name or a folder, not 3"):
        located_encoder(3)  # type: ignore[arg-type]
