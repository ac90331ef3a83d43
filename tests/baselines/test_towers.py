"""A trained retriever: it starts as the frozen one, and its files are checked."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from enough.baselines.feedback import rate_records
from enough.baselines.fitting import weights_of
from enough.baselines.method_files import SETTINGS, WEIGHTS, Learned, load_learned, save_learned
from enough.baselines.towers import EVERY, Taught, Towers, TrainedRetriever
from enough.errors import ModelError
from enough.retrieval.dense import DenseRetriever
from tests.baselines.lessons import lesson, trained
from tests.baselines.stand_ins import make_tools
from tests.conftest import make_record
from tests.retrieval.tiny import BagEncoder

FOUND = {"temperature": 0.5, "fit": {"steps": 3}}


def random_towers(temperature: float = 0.5) -> Towers:
    towers = Towers(64, temperature)
    torch.manual_seed(1)
    for parameter in towers.parameters():
        torch.nn.init.normal_(parameter, std=0.1)
    return towers


def test_untrained_it_is_the_frozen_retriever() -> None:
    tools = make_tools()
    asked = lesson(3, tools).asked
    untrained = TrainedRetriever(weights_of(Towers(64, 1.0)), tools.encoder, 1.0)
    expected = DenseRetriever(tools.encoder).retrieve(asked.request, asked.history, 3)
    assert untrained.retrieve(asked.request, asked.history, 3) == expected
    assert untrained.retrieve(asked.request, (), 3) == ()


def test_it_scores_as_the_module_that_was_trained() -> None:
    tools = make_tools()
    rated = rate_records([lesson(0, tools, 4), lesson(1, tools, 2)], "likelihood", tools)
    towers = random_towers()
    scores = Taught.of(rated, tools.encoder).scores(towers, EVERY).detach().numpy()
    assert np.isneginf(scores[1, 2:]).all()
    retriever = TrainedRetriever(weights_of(towers), tools.encoder, 0.5)
    for row, one in zip(scores, rated, strict=True):
        records = tuple(candidate.record for candidate in one.pool)
        found = retriever.retrieve(one.lesson.asked.request, records, 10)
        by_id = {candidate.record.id: candidate.score for candidate in found}
        assert [c.score for c in found] == sorted(by_id.values(), reverse=True)
        np.testing.assert_allclose(
            [by_id[record.id] for record in records], row[: len(records)], rtol=1e-4
        )


def test_equal_texts_stay_in_the_order_of_the_history() -> None:
    tools = make_tools()
    request = lesson(0, tools).asked.request
    history = tuple(make_record(i, context="a plain storm") for i in range(1, 9))
    retriever = TrainedRetriever(weights_of(random_towers()), tools.encoder, 0.5)
    found = retriever.retrieve(request, history, 5)
    assert [candidate.record for candidate in found] == list(history[:5])


def saved(folder: Path) -> Learned:
    learned = Learned("ropg-kd", FOUND, weights_of(random_towers()), {"loss": 1.5})
    save_learned(folder, learned, make_tools())
    return learned


def test_round_trip(tmp_path: Path) -> None:
    learned = saved(tmp_path / "m")
    found = load_learned(tmp_path / "m", "ropg-kd", FOUND, make_tools())
    assert found.report == learned.report
    assert found.weights.keys() == learned.weights.keys()
    for name, values in found.weights.items():
        np.testing.assert_array_equal(values, learned.weights[name])
    about = json.loads((tmp_path / "m" / SETTINGS).read_text())
    assert about["encoder"] == "bag"
    assert about["generator"] == "fake-1"
    assert "torch" in about["versions"]


def cut_weights(folder: Path) -> None:
    raw = (folder / WEIGHTS).read_bytes()
    (folder / WEIGHTS).write_bytes(raw[:-1] + bytes([raw[-1] ^ 1]))


def other_report(folder: Path) -> None:
    text = (folder / SETTINGS).read_text()
    (folder / SETTINGS).write_text(text.replace("1.5", "0.5"))


def no_json(folder: Path) -> None:
    (folder / SETTINGS).write_text("[]")


def no_weights(folder: Path) -> None:
    (folder / WEIGHTS).unlink()


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (cut_weights, "altered"),
        (other_report, "altered"),
        (no_json, "not a trained method"),
        (no_weights, "not a trained method"),
    ],
)
def test_altered_files_are_refused(
    tmp_path: Path, change: Callable[[Path], None], problem: str
) -> None:
    saved(tmp_path)
    change(tmp_path)
    with pytest.raises(ModelError, match=problem):
        load_learned(tmp_path, "ropg-kd", FOUND, make_tools())


def test_what_belongs_to_something_else_is_refused(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    saved(tmp_path)
    tools = make_tools()
    with pytest.raises(ModelError, match=r"'ropg-kd', not 'replug'"):
        load_learned(tmp_path, "replug", FOUND, tools)
    with pytest.raises(ModelError, match=r"fit.steps \(3, now 4\)"):
        load_learned(tmp_path, "ropg-kd", FOUND | {"fit": {"steps": 4}}, tools)
    with pytest.raises(ModelError, match="another encoder"):
        load_learned(tmp_path, "ropg-kd", FOUND, make_tools(encoder=BagEncoder("other")))
    other = replace(trained(tools, tmp_path))
    other.generator.fingerprint = "other"  # type: ignore[misc]
    load_learned(tmp_path, "ropg-kd", FOUND, other)
    assert "another generator" in caplog.text
