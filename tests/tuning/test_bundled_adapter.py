"""Adapters by name; and with the bundled one, useful records help and the others do not."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from enough.data.synthetic import Role, World, WorldConfig, make_world
from enough.errors import ModelError, UnknownNameError
from enough.generators.config import GeneratorConfig, bundled_adapters, locate_adapter
from enough.generators.hf import HFGenerator
from enough.prompts.prompter import Prompter
from enough.protocols import ScoredSequence
from enough.records import Dataset, Example, Record

OTHERS = 2  # irrelevant or conflicting records of each request, for all are ten minutes


def empty_adapter(folder: Path) -> Path:
    folder.mkdir(parents=True)
    (folder / "adapter_config.json").write_text("{}")
    return folder


def test_a_folder_or_a_bundled_name(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    bundled = empty_adapter(tmp_path / "package" / "adapters" / "made-for-this")
    monkeypatch.setattr("enough.generators.config.resources.files", lambda _: tmp_path / "package")
    assert bundled_adapters() == {"made-for-this": bundled}
    assert locate_adapter(Path("made-for-this")) == bundled
    mine = empty_adapter(tmp_path / "mine")
    assert locate_adapter(mine) == mine
    monkeypatch.chdir(tmp_path)
    assert locate_adapter(Path("mine")) == Path("mine")
    assert caplog.text == ""
    empty_adapter(tmp_path / "made-for-this")
    assert locate_adapter(Path("made-for-this")) == bundled
    assert "taking the bundled adapter" in caplog.text


def test_names_and_folders_that_are_not_there(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("enough.generators.config.resources.files", lambda _: tmp_path)
    with pytest.raises(UnknownNameError, match=r"no such folder\) 'synthetic'. Known: none"):
        locate_adapter(Path("synthetic"))
    empty_adapter(tmp_path / "adapters" / "synthetic")
    with pytest.raises(UnknownNameError, match="did you mean 'synthetic'"):
        locate_adapter(Path("synthetik"))
    with pytest.raises(ModelError, match="not an adapter folder"):
        locate_adapter(tmp_path / "synthetic")
    (tmp_path / "no-adapter").mkdir()
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ModelError, match="not an adapter folder"):
        locate_adapter(Path("no-adapter"))


def chosen_records(world: World, dataset: Dataset, example: Example) -> list[tuple[Record, bool]]:
    """All useful records of a request, and some of those that are of no use."""
    found: list[tuple[Record, bool]] = []
    legal = world.truth.asked[example.request.id].roles
    for record in dataset.history(example.request):
        if record.id in legal:
            role = world.truth.role_of(example.request.id, record.id, given=())
            if role is not Role.REDUNDANT:
                found.append((record, role is Role.USEFUL))
    others = [one for one in found if not one[1]]
    rng = np.random.default_rng(len(found))
    kept = [others[i] for i in rng.permutation(len(others))[:OTHERS]]
    return [*(one for one in found if one[1]), *kept]


def auc(useful: NDArray[np.float64], others: NDArray[np.float64]) -> float:
    """How often a useful record gains more than another one."""
    above = useful[:, None] - others[None, :]
    return float(((above > 0) + 0.5 * (above == 0)).mean())


@pytest.mark.lm
def test_useful_records_help_and_others_do_not() -> None:
    if "synthetic" not in bundled_adapters():
        pytest.skip("the adapter 'synthetic' is not in this tree")
    pytest.importorskip("peft")
    generator = HFGenerator.load(GeneratorConfig(adapter=Path("synthetic"), dtype="float32"))
    prompter = Prompter(generator.tokenizer)
    world = make_world(WorldConfig())  # seed 0: nobody here was tuned on
    sequences: list[ScoredSequence] = []
    is_useful: list[bool] = []
    starts: list[int] = []
    for dataset in world.datasets.values():
        asked = [
            example
            for example in dataset.splits["dev"]
            if world.truth.kind_of(example.request.id).has_useful
        ]
        for example in asked:
            records = chosen_records(world, dataset, example)
            starts.append(len(sequences))
            sequences.append(prompter.sequence(example))
            sequences += [prompter.sequence(example, [record]) for record, _ in records]
            is_useful += [useful for _, useful in records]
    scores = generator.score(sequences)
    sizes = np.diff([*starts, len(sequences)]) - 1
    alone = np.repeat(scores[starts], sizes)
    gains = np.delete(scores, starts) - alone  # g(d) = ℓ((d)) − ℓ(∅)
    useful, others = gains[np.array(is_useful)], gains[~np.array(is_useful)]
    assert len(useful) >= 200
    # Of all others, not two of each request, it is .816 (studies/adapter_auc.py).
    assert auc(useful, others) >= 0.8
    assert others.mean() < max(0.05, 0.2 * useful.mean()), "near zero, or negative"
