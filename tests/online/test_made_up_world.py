"""`Enough` with the real encoder and the real tokenizer, on users whose truth is known."""

from __future__ import annotations

import dataclasses
import json
from collections import Counter
from pathlib import Path

import pytest

from enough.controller.checkpoint import Trained, save_controller
from enough.data.synthetic import World, WorldConfig, make_world
from enough.errors import ModelError
from enough.generators.config import DEFAULT_GENERATOR
from enough.generators.prompt_side import load_prompt_side
from enough.generators.weights import locate_model
from enough.labels.tree_files import Fingerprints
from enough.online.personaliser import Enough
from enough.online.selected import Selected
from enough.online.untrained import UntrainedConfig
from enough.records import Dataset, Example
from enough.retrieval.encoders import load_encoder
from enough.teacher.components import TargetConfig
from tests.controller.toy import controller

pytestmark = pytest.mark.lm

TASKS = ("LaMP-1", "LaMP-7")


@pytest.fixture(scope="module")
def world() -> World:
    return make_world(WorldConfig(seed=0, users=6, tasks=TASKS))


@pytest.fixture(scope="module")
def app() -> Enough:
    return Enough.load(untrained=UntrainedConfig())


def selections(app: Enough, dataset: Dataset) -> list[tuple[Example, Selected]]:
    examples = dataset.splits["train"]
    pairs = [(example.request, dataset.history(example.request)) for example in examples]
    return list(zip(examples, app.select_many(pairs), strict=True))


def test_every_record_is_accounted_for(world: World, app: Enough) -> None:
    for dataset in world.datasets.values():
        for example, selected in selections(app, dataset):
            history = dataset.history(example.request)
            found = [r.id for r in selected.records] + [o.record.id for o in selected.left_out]
            assert Counter(found) == Counter(record.id for record in history)
            json.dumps(selected.as_dict(), allow_nan=False)
            assert example.reference not in {one.action for one in selected.trace[0].records}


def test_it_does_better_than_chance(world: World, app: Enough) -> None:
    """Of what it takes, more is of use than of what was there to take; and it does stop at zero."""
    taken: Counter[bool] = Counter()
    there: Counter[bool] = Counter()
    sizes = set()
    for dataset in world.datasets.values():
        for example, selected in selections(app, dataset):
            shown = world.truth.asked[example.request.id].shown
            taken.update(bool(shown.get(record.id)) for record in selected.records)
            there.update(bool(shown.get(value.action)) for value in selected.trace[0].records)
            sizes.add(len(selected.records))
    assert taken[True] / taken.total() > 3 * there[True] / there.total()
    assert {0, 1} <= sizes


def test_the_bundled_controller_decides_for_whoever_brings_none(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    bundled = Enough.load()
    for dataset in world.datasets.values():
        for _, selected in selections(bundled, dataset)[:3]:
            assert selected.policy == "controller"
            assert len(selected.records) <= 10
    assert caplog.messages == []
    example = world.datasets["LaMP-7"].splits["train"][0]
    history = world.datasets["LaMP-7"].history(example.request)
    own = dataclasses.replace(example.request.task, name="mail")
    strange = dataclasses.replace(example.request, task=own)
    for _ in range(2):
        assert bundled.select(strange, history).policy == "controller"
    assert len(caplog.messages) == 1, "said once"
    assert "no training on the task 'mail'" in caplog.messages[0]


def test_messages_in_the_models_own_form_are_the_prompt(world: World, app: Enough) -> None:
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(locate_model(DEFAULT_GENERATOR))
    for _, selected in selections(app, world.datasets["LaMP-7"])[:4]:
        rendered = tokenizer.apply_chat_template(
            selected.messages, tokenize=False, add_generation_prompt=True
        )
        assert rendered == selected.prompt
        assert len(tokenizer(selected.prompt)["input_ids"]) == selected.prompt_tokens


def test_a_controller_made_for_these_models(world: World, tmp_path: Path) -> None:
    encoder = load_encoder().fingerprint
    tokenizer = load_prompt_side(DEFAULT_GENERATOR).tokenizer.fingerprint
    model = controller(TASKS, dim=384)
    for name, made_with in (
        ("right", Fingerprints("", tokenizer, encoder)),
        ("wrong", Fingerprints("", "another", encoder)),
    ):
        trained = Trained(model, TargetConfig(0.4, 0.1), 1.0, {}, made_with, {})
        save_controller(tmp_path / name, trained)
    app = Enough.load(tmp_path / "right")
    example, selected = selections(app, world.datasets["LaMP-7"])[0]
    assert selected.policy == "controller"
    assert selected.request == example.request
    with pytest.raises(ModelError, match=f"another tokenizer .another, not {tokenizer}"):
        Enough.load(tmp_path / "wrong")
