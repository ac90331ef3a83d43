"""A whole run on a toy: held-out users' useful records come first, and the folder is an encoder."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from enough.data.leakage import LeakageControls
from enough.encoder_tuning.config import EncoderTuneConfig
from enough.encoder_tuning.run import EncoderTuneRun
from enough.errors import ConfigError, DataError, UnknownNameError
from enough.generators.config import GeneratorConfig
from enough.generators.fake import FakeGenerator
from enough.records import Dataset, Example, Record, Request
from enough.retrieval.encoders import encoder_spec, load_encoder
from enough.retrieval.pools import RetrievalConfig
from enough.retrieval.recency import RecencyRetriever
from enough.tasks import Task
from tests.retrieval.tiny import WORDS, save_bert

TASK = Task(name="Toy", description="Say the word.", context_field="about", action_field="text")


def world(users: int = 40) -> Dataset:
    """Asked about w(i), a user answers with a secret word, which one record with w(i + 20) says."""
    rng = np.random.default_rng(0)
    histories, examples = {}, []
    for n in range(users):
        user, secret = f"u{n}", f"s{rng.integers(1000)}"
        asked = int(rng.integers(20))
        others = [int(i) for i in rng.permutation(20) if i != asked][:4]
        places = rng.permutation([asked, *others])
        histories[user] = tuple(
            Record(f"{user}-{i}", user, f"{WORDS[i + 20]}", secret if i == asked else f"o{n}{i}")
            for i in map(int, places)
        )
        examples.append(Example(Request(f"q{n}", user, TASK, f"{WORDS[asked]}"), secret))
    return Dataset(TASK, histories, {"train": tuple(examples), "tune": tuple(examples)})


def config(base: Path, **changes: Any) -> EncoderTuneConfig:
    values: dict[str, Any] = {
        "epochs": 30,
        "learning_rate": 3e-3,
        "held_out": 0.3,
        "max_length": 20,
        "retrieval": RetrievalConfig(retriever="recency", encoder=str(base)),
    }
    return EncoderTuneConfig(**(values | changes))


def tune(base: Path, out: Path, dataset: Dataset | None = None, **changes: Any) -> dict[str, Any]:
    run = EncoderTuneRun([dataset or world()], config(base, **changes), out, "toys")
    return run.run(lambda: (LeakageControls(), RecencyRetriever()), FakeGenerator)


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_bert(tmp_path_factory.mktemp("bert"))


@pytest.fixture(scope="module")
def tuned(base: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any]]:
    out = tmp_path_factory.mktemp("tuned") / "encoder"
    return out, tune(base, out, world(160))


def test_held_out_users_are_better_served(tuned: tuple[Path, dict[str, Any]]) -> None:
    _, about = tuned
    before, after = (about["measured"][when][-1] for when in ("before", "after"))
    assert after["requests"] == about["requests"]["held_out"]["Toy"] == 48
    assert after["best"] == before["best"]
    assert after["gain"] - after["typical"] > 0.5 * (after["best"] - after["typical"])
    assert before["gain"] - before["typical"] < 0.3 * (before["best"] - before["typical"])
    assert min(about["loss"]) < about["loss"][0]
    assert len(about["loss"]) == 31


def test_the_folder_is_an_encoder(tuned: tuple[Path, dict[str, Any]], base: Path) -> None:
    out, _ = tuned
    names = {path.name for path in out.iterdir()}
    assert names >= {"config.json", "model.safetensors", "tokenizer.json", "encoder.json",
                     "tuning.json", "README.md"}  # fmt: skip
    spec = encoder_spec(str(out))
    assert (spec.max_length, spec.normalise, spec.pooling) == (20, True, "mean")
    encoder = load_encoder(str(out), "cpu")
    assert encoder.fingerprint != load_encoder(str(base), "cpu").fingerprint
    assert encoder.encode(["w1 w2"], "query").shape == (1, 16)
    for path in out.iterdir():
        assert b"/tmp" not in path.read_bytes(), path.name
        assert path.stat().st_mode & 0o777 == 0o644, path.name  # a service is another user
    assert not out.with_name("encoder.unfinished").exists()


def test_another_base_of_the_same_name_is_another_setting(tmp_path: Path) -> None:
    bases = [save_bert(tmp_path / name / "bert", seed) for seed, name in enumerate("ab")]
    tune(bases[0], tmp_path / "out", epochs=1)
    with pytest.raises(ConfigError, match=r"another setting of made_from\.encoder.*another folder"):
        tune(bases[1], tmp_path / "out", epochs=1)


def test_another_adapter_of_the_same_name_is_another_setting(
    base: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    adapters = [tmp_path / name / "adapter" for name in "ab"]
    for number, adapter in enumerate(adapters):
        adapter.mkdir(parents=True)
        (adapter / "adapter_config.json").write_text(f'{{"r": {number}}}')
    monkeypatch.chdir(tmp_path)
    tune(base, tmp_path / "out", epochs=1, generator=GeneratorConfig(adapter=Path("a/adapter")))
    with pytest.raises(ConfigError, match=r"another setting of made_from\.adapter"):
        tune(base, tmp_path / "out", epochs=1, generator=GeneratorConfig(adapter=Path("b/adapter")))


def test_the_same_run_finds_it_and_another_one_is_refused(
    tuned: tuple[Path, dict[str, Any]], base: Path, tmp_path: Path
) -> None:
    out, about = tuned
    assert tune(base, out, world(160)) == about
    with pytest.raises(ConfigError, match=r"another setting of config\.epochs"):
        tune(base, out, world(160), epochs=2)
    with pytest.raises(ConfigError, match=r"another setting of data\.Toy"):
        tune(base, out, world(20))
    (tmp_path / "full").mkdir()
    with pytest.raises(ConfigError, match="no encoder of ours"):
        tune(base, tmp_path / "full")


def test_equal_runs_have_equal_weights(base: Path, tmp_path: Path) -> None:
    torch.manual_seed(5)
    first = tune(base, tmp_path / "a", epochs=2)
    torch.rand(3)
    second = tune(base, tmp_path / "b", epochs=2)
    assert first == second
    weights = [(tmp_path / one / "model.safetensors").read_bytes() for one in "ab"]
    assert weights[0] == weights[1]


def test_no_histories_teach_nothing(base: Path, tmp_path: Path) -> None:
    bare = world(12)
    bare = Dataset(TASK, dict.fromkeys(bare.histories, ()), bare.splits)
    with pytest.raises(DataError, match="no request is left"):
        tune(base, tmp_path / "out", bare)
    assert list(tmp_path.iterdir()) == []


def test_a_damaged_spec_is_named(tuned: tuple[Path, dict[str, Any]], tmp_path: Path) -> None:
    folder = tmp_path / "encoder"
    folder.mkdir()
    (folder / "encoder.json").write_text(json.dumps({"poling": "mean"}))
    with pytest.raises(UnknownNameError, match="poling"):
        load_encoder(str(folder))
