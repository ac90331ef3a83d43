"""A whole tuning run on a toy: what changes, what is written, what a kill costs (nothing)."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
import time
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from enough.errors import ConfigError, DataError, MissingExtraError, ModelError
from enough.generators.compiled_layers import CompiledLayers
from enough.generators.config import GeneratorConfig
from enough.generators.hf import HFGenerator
from enough.prompts.prompter import Prompter
from enough.tuning.config import LoraSettings
from enough.tuning.lora import Lora
from enough.tuning.run import TuneRun, load_for_tuning
from tests.tuning.toys import toy_config, toy_dataset, toy_pools, toy_stages, tune_toy

ROOT = Path(__file__).parent.parent.parent
FILES = ["README.md", "adapter_config.json", "adapter_model.safetensors", "tuning.json"]


class Stopped(Exception):
    pass


def stop_after(step: int) -> Any:
    def on_step(name: str, done: int, total: int, note: str = "") -> None:
        if name == "tuning" and done == (step or total):
            raise Stopped

    return on_step


def content(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


@pytest.fixture(scope="module")
def tuned(toy_model: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Any, Any]:
    out = tmp_path_factory.mktemp("tuned") / "adapter"
    about, generator = tune_toy(toy_model, out, epochs=12)
    return out, about, generator


def test_the_loss_goes_down_and_not_only_for_those_it_was_tuned_on(
    tuned: tuple[Path, Any, Any],
) -> None:
    _, about, _ = tuned
    assert about["loss"]["last_tenth"] < about["loss"]["first_tenth"] - 1
    row = about["measured"]["after"][-1]
    assert row["task"] == "all"
    assert row["requests"] == min(6, about["requests"]["held_out"]["Toy"])
    assert row["empty"] < about["measured"]["before"][-1]["empty"]
    assert about["steps"] == 12 * -(-about["requests"]["fitted"]["Toy"] // 8)


def test_reloaded_it_scores_like_the_model_in_memory(
    toy_model: Path, tuned: tuple[Path, Any, Any]
) -> None:
    out, _, generator = tuned
    plain = HFGenerator.load(GeneratorConfig(model=str(toy_model), device="cpu", dtype="float32"))
    again = HFGenerator.load(
        GeneratorConfig(model=str(toy_model), adapter=out, device="cpu", dtype="float32")
    )
    prompter = Prompter(generator.tokenizer)
    sequences = [
        prompter.sequence(pooled.example, [c.record for c in pooled.pool[:k]])
        for pooled in toy_pools(users=4)
        for k in (0, 1, 3)
    ]
    found = again.score(sequences)
    np.testing.assert_allclose(found, generator.score(sequences), atol=1e-4)
    assert np.abs(found - plain.score(sequences)).max() > 0.1
    assert again.fingerprint != plain.fingerprint


def test_what_is_in_the_folder(tuned: tuple[Path, Any, Any], tmp_path: Path) -> None:
    out, about, _ = tuned
    assert [path.name for path in sorted(out.iterdir())] == FILES
    assert not out.with_name("adapter.unfinished").exists()
    shape = json.loads((out / "adapter_config.json").read_text())
    assert shape["base_model_name_or_path"] == "toy"
    linear = ["down_proj", "gate_proj", "k_proj", "o_proj", "q_proj", "up_proj", "v_proj"]
    assert shape["target_modules"] == linear
    assert about["settings"]["config"]["lora"]["rank"] == 4
    assert about["generator"]
    assert set(about["versions"]) >= {"peft", "torch", "transformers"}
    for name, raw in content(out).items():
        assert b"/tmp" not in raw, name
        assert str(tmp_path.parent).encode() not in raw, name
    from safetensors.torch import load_file

    weights = load_file(out / "adapter_model.safetensors")
    assert {weight.dtype for weight in weights.values()} == {torch.bfloat16}
    assert sum(weight.numel() for weight in weights.values()) == about["weights"]
    card = (out / "README.md").read_text()
    assert "toys" in card
    assert "Licence" in card


def test_only_the_adapter_changes(toy_model: Path, tuned: tuple[Path, Any, Any]) -> None:
    _, _, generator = tuned
    before = HFGenerator.load(GeneratorConfig(model=str(toy_model), device="cpu", scorer="naive"))
    frozen = before.lm.model.state_dict()
    names = set()
    for name, weight in generator.lm.model.state_dict().items():
        if "lora_" not in name:
            plain = name.replace(".base_layer", "")
            assert torch.equal(weight, frozen[plain]), name
            names.add(plain)
    assert names == set(frozen)
    assert all("lora_" in n for n, w in generator.lm.model.named_parameters() if w.requires_grad)


def test_a_run_goes_on_from_an_adapter(
    toy_model: Path, tuned: tuple[Path, Any, Any], tmp_path: Path
) -> None:
    first, before, _ = tuned
    about, _ = tune_toy(toy_model, tmp_path / "more", start=first, learning_rate=1e-9, epochs=1)
    # Hardly a step was made: what it was measured at is what the first run ended with.
    assert about["measured"]["before"] == before["measured"]["after"]
    ends = [row["own"] for row in about["measured"]["after"]]
    np.testing.assert_allclose(ends, [row["own"] for row in before["measured"]["after"]], atol=1e-3)
    assert about["begun_with"] == "adapter"
    assert str(first) not in (tmp_path / "more" / "tuning.json").read_text()
    assert "Begun with** the adapter `adapter`" in (tmp_path / "more" / "README.md").read_text()
    assert "start" not in before["settings"]
    assert "start" not in before["settings"]["config"]


def test_it_goes_on_from_the_same_weights_or_not_at_all(
    toy_model: Path, tuned: tuple[Path, Any, Any], tmp_path: Path
) -> None:
    first = tmp_path / "first"
    shutil.copytree(tuned[0], first)
    with pytest.raises(Stopped):
        tune_toy(toy_model, tmp_path / "more", stop_after(3), start=first)
    raw = (first / "adapter_model.safetensors").read_bytes()
    (first / "adapter_model.safetensors").write_bytes(raw[:-1] + bytes([raw[-1] ^ 1]))
    with pytest.raises(ConfigError, match=r"was begun with another setting of start"):
        tune_toy(toy_model, tmp_path / "more", start=first)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"lora": LoraSettings(rank=2, alpha=8)}, "start: adapter has r 4, this run 2"),
        (
            {"lora": LoraSettings(rank=4, alpha=8, modules=("q_proj",))},
            "start: adapter has updates of",
        ),
    ],
)
def test_an_adapter_of_another_shape_is_no_start(
    toy_model: Path,
    tuned: tuple[Path, Any, Any],
    tmp_path: Path,
    changes: dict[str, Any],
    message: str,
) -> None:
    with pytest.raises(ConfigError, match=message):
        tune_toy(toy_model, tmp_path / "more", start=tuned[0], **changes)
    assert [path.name for path in tmp_path.iterdir()] == []  # another try is not held up by it


@pytest.mark.parametrize("name", ["use_rslora", "alpha_pattern"])
def test_what_tuning_has_not_is_no_start(
    toy_model: Path, tuned: tuple[Path, Any, Any], tmp_path: Path, name: str
) -> None:
    first = tmp_path / "first"
    shutil.copytree(tuned[0], first)
    about = json.loads((first / "adapter_config.json").read_text())
    about[name] = {"q_proj": 3} if name == "alpha_pattern" else True
    (first / "adapter_config.json").write_text(json.dumps(about))
    with pytest.raises(ConfigError, match=f"start: first has {name}"):
        tune_toy(toy_model, tmp_path / "more", start=first)


def test_a_finished_run_does_not_need_its_start_any_more(
    toy_model: Path, tuned: tuple[Path, Any, Any], tmp_path: Path
) -> None:
    first = tmp_path / "first"
    shutil.copytree(tuned[0], first)
    about, _ = tune_toy(toy_model, tmp_path / "more", start=first, epochs=1)
    shutil.rmtree(first)
    again, loaded = tune_toy(toy_model, tmp_path / "more", start=first, epochs=1)
    assert (again, loaded) == (about, None)
    with pytest.raises(ModelError, match="not an adapter folder"):
        tune_toy(toy_model, tmp_path / "other", start=first, epochs=1)


def test_a_start_that_cannot_be_read_is_named(
    toy_model: Path, tuned: tuple[Path, Any, Any], tmp_path: Path
) -> None:
    first = tmp_path / "first"
    shutil.copytree(tuned[0], first)
    (first / "adapter_model.safetensors").write_bytes(b"torn")
    with pytest.raises(DataError, match=r"adapter_model\.safetensors: cannot be read"):
        tune_toy(toy_model, tmp_path / "more", start=first)
    (first / "adapter_model.safetensors").unlink()
    with pytest.raises(DataError, match=r"adapter_model\.safetensors: cannot be read"):
        tune_toy(toy_model, tmp_path / "more", start=first)
    assert [path.name for path in tmp_path.iterdir()] == ["first"]


def test_the_same_seed_gives_the_same_bytes(toy_model: Path, tmp_path: Path) -> None:
    for name in ("one", "two"):
        torch.manual_seed(hash(name))  # nobody else's random numbers matter
        tune_toy(toy_model, tmp_path / name)
    assert content(tmp_path / "one") == content(tmp_path / "two")
    tune_toy(toy_model, tmp_path / "three", seed=1)
    assert content(tmp_path / "one") != content(tmp_path / "three")


@pytest.mark.parametrize("steps", [(1,), (3,), (4, 11), (0,)])
def test_a_stopped_run_goes_on_to_the_same_bytes(
    toy_model: Path, tmp_path: Path, steps: tuple[int, ...]
) -> None:
    tune_toy(toy_model, tmp_path / "whole")
    for step in steps:
        with pytest.raises(Stopped):
            tune_toy(toy_model, tmp_path / "stopped", stop_after(step))
        assert not (tmp_path / "stopped").exists()
    first: list[int] = []

    def note(name: str, done: int, total: int, note: str = "") -> None:
        if name == "tuning":
            first.append(done)

    tune_toy(toy_model, tmp_path / "stopped", note)
    assert first[:1] == ([] if steps == (0,) else [steps[-1] // 3 * 3 + 1]), "0: after the last one"
    assert content(tmp_path / "stopped") == content(tmp_path / "whole")


def test_killed_for_good(toy_model: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tests.tuning.toys", str(toy_model)]
    process = subprocess.Popen([*command, str(tmp_path / "killed"), "5"], cwd=ROOT)
    state = tmp_path / "killed.unfinished" / "state.safetensors"
    deadline = time.monotonic() + 60
    while not state.exists() and process.poll() is None:
        assert time.monotonic() < deadline
        time.sleep(0.005)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert not (tmp_path / "killed").exists()
    for name in ("killed", "whole"):
        subprocess.run([*command, str(tmp_path / name), "5"], cwd=ROOT, check=True)
    assert content(tmp_path / "killed") == content(tmp_path / "whole")


def test_a_finished_run_is_found(toy_model: Path, tuned: tuple[Path, Any, Any]) -> None:
    out, about, _ = tuned
    before = content(out)
    again, generator = tune_toy(toy_model, out, epochs=12)
    assert generator is None, "nothing was loaded"
    assert again == about
    assert content(out) == before
    with pytest.raises(ConfigError, match=r"another setting of config\.epochs \(12, now 5\)"):
        tune_toy(toy_model, out, epochs=5)


def test_an_unfinished_run_goes_on_with_its_own_settings_only(
    toy_model: Path, tmp_path: Path
) -> None:
    with pytest.raises(Stopped):
        tune_toy(toy_model, tmp_path / "a", stop_after(3))
    with pytest.raises(ConfigError, match=r"another setting of config\.batch"):
        tune_toy(toy_model, tmp_path / "a", batch=4)
    with pytest.raises(ConfigError, match=r"data\.Toy"):
        config = toy_config(toy_model)
        TuneRun([toy_dataset(records=3)], config, tmp_path / "a").run(
            toy_stages, lambda: load_for_tuning(config.generator)
        )
    with pytest.raises(ConfigError, match="other weights or another precision"):
        moved = load_for_tuning(toy_config(toy_model).generator)
        moved.fingerprint = "another"
        TuneRun([toy_dataset()], toy_config(toy_model), tmp_path / "a").run(
            toy_stages, lambda: moved
        )
    state = tmp_path / "a.unfinished" / "state.safetensors"
    state.write_bytes(state.read_bytes()[:100])
    with pytest.raises(DataError, match=r"state\.safetensors: cannot be read"):
        tune_toy(toy_model, tmp_path / "a")


def test_folders_that_cannot_be_tuned_into(toy_model: Path, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    with pytest.raises(ConfigError, match="no adapter of ours"):
        tune_toy(toy_model, tmp_path / "mine")
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigError, match="cannot be written"):
        tune_toy(toy_model, tmp_path / "file" / "inside")
    with pytest.raises(DataError, match="see max_tokens"):
        tune_toy(toy_model, tmp_path / "out", max_tokens=5)


def test_layers_by_name(toy_model: Path) -> None:
    def lora(*modules: str) -> Lora:
        generator = load_for_tuning(toy_config(toy_model).generator)
        return Lora(generator.lm, LoraSettings(rank=2, modules=modules), 0)

    assert lora("q_proj", "v_proj").modules == ("q_proj", "v_proj")
    with pytest.raises(ConfigError, match=r"no layer 'z_proj'"):
        lora("q_proj", "z_proj")
    with pytest.raises(ConfigError, match=r"lora\.modules"):
        lora("z_proj")
    with pytest.raises(ConfigError, match="output layer"):
        lora("lm_head")


def test_the_missing_extra_is_told_at_once(
    monkeypatch: pytest.MonkeyPatch, toy_model: Path, tmp_path: Path
) -> None:
    monkeypatch.setattr("enough.tuning.lora.find_spec", lambda name: None)
    with pytest.raises(MissingExtraError, match="extra 'lora'"):
        tune_toy(toy_model, tmp_path / "out")
    assert not list(tmp_path.iterdir())


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
def test_on_a_gpu(toy_model: Path, tmp_path: Path) -> None:
    generator = GeneratorConfig(model=str(toy_model), device="cuda")
    about, _ = tune_toy(toy_model, tmp_path / "whole", generator=generator, epochs=6)
    assert about["loss"]["last_tenth"] < about["loss"]["first_tenth"] - 1
    with pytest.raises(Stopped):
        tune_toy(toy_model, tmp_path / "a", stop_after(7), generator=generator, epochs=6)
    tune_toy(toy_model, tmp_path / "a", generator=generator, epochs=6)
    assert content(tmp_path / "a") == content(tmp_path / "whole")


@pytest.mark.skipif(shutil.which("g++") is None, reason="needs a C++ compiler")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # the compiler's own
@pytest.mark.filterwarnings("ignore::FutureWarning")
@pytest.mark.filterwarnings("ignore:.*falling back:UserWarning")
@pytest.mark.filterwarnings("ignore:The .grad attribute:UserWarning")
def test_compiled_layers_learn_the_same(
    toy_model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    losses, inner, compiled_layers = {}, CompiledLayers.in_place, []

    def in_place(self: CompiledLayers) -> AbstractContextManager[None]:
        compiled_layers.append(len(self._forwards))
        return inner(self)

    monkeypatch.setattr(CompiledLayers, "in_place", in_place)
    for compiled in (False, True):
        generator = GeneratorConfig(model=str(toy_model), device="cpu", compile=compiled)
        about, tuned = tune_toy(
            toy_model,
            tmp_path / f"{compiled}",
            generator=generator,
            lora=LoraSettings(rank=4, alpha=8),  # compiled dropout draws otherwise
        )
        losses[compiled] = about["loss"]
        assert tuned is not None
        assert not any("forward" in vars(layer) for layer in tuned.lm.decoder.layers)
    assert compiled_layers == [3]  # once, all of them
    assert losses[True] == pytest.approx(losses[False], abs=1e-3)
    assert losses[True]["last_tenth"] < losses[True]["first_tenth"]
