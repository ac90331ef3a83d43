"""`Enough` from an app's side, with stand-ins for the models."""

from __future__ import annotations

import dataclasses
import json
import logging
import math
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from enough.baselines.fixed import FixedLength
from enough.data.leakage import LeakageControls
from enough.errors import BudgetError, ConfigError, DataError, ModelError, UnknownNameError
from enough.generators.config import GeneratorConfig
from enough.generators.fake import FakeTokenizer
from enough.generators.prompt_side import PromptSide
from enough.online.left_out import Why
from enough.online.personaliser import Enough
from enough.online.selected import Selected
from enough.online.untrained import UntrainedConfig, UntrainedSelector
from enough.prompts.prompter import Prompter
from enough.prompts.template import parse_prompt
from enough.records import Candidate, Record, Request
from enough.retrieval.dense import DenseRetriever
from enough.retrieval.embedding_cache import CachedEncoder
from enough.tasks import LAMP_TASKS
from tests.conftest import make_record, make_request
from tests.online.stand_ins import (
    FOR_FREE,
    TWEETS,
    asking,
    controlled,
    saved_controller,
    tweet,
    untrained,
)
from tests.retrieval.tiny import BagEncoder

WORDS = ("late", "bus", "train", "coffee", "rain", "home", "tea", "walk", "night", "omg")
TEXTS = [" ".join(WORDS[(i * k) % 10] for k in (1, 3, 7)) + f" {i}" for i in range(30)]
HISTORY = [tweet(f"t{i}", text, f"2020-01-{i + 1:02d}") for i, text in enumerate(TEXTS)]


def accounted(selected: Selected, history: list[Record]) -> None:
    """Every record is in the profile or left out, once."""
    names = [r.id for r in selected.records] + [one.record.id for one in selected.left_out]
    assert Counter(names) == Counter(record.id for record in history)
    assert {id(r) for r in selected.records} <= {id(r) for r in history}  # as they were given
    assert [one.record for one in selected.left_out] == [
        r for r in history if r not in selected.records
    ]


def test_what_comes_back() -> None:
    selected = untrained(UntrainedConfig(0.3, 0.1, 0.5)).select(asking("late bus home"), HISTORY)
    assert 0 < len(selected.records) < 10
    accounted(selected, HISTORY)
    assert (selected.policy, selected.reason) == ("untrained", "enough")
    parsed = parse_prompt(selected.prompt)
    assert [one.action for one in parsed.records] == [r.action for r in selected.records]
    assert parsed.request == "Paraphrase: late bus home"
    prompter = Prompter(FakeTokenizer())
    whole = prompter.prompt(selected.request, selected.records)
    assert selected.tokens == whole.profile_tokens
    assert (
        selected.prompt_tokens
        == len(whole.tokens)
        == selected.tokens + len(prompter.prompt(selected.request).tokens)
    )
    system, user = selected.messages
    assert (system["role"], user["role"]) == ("system", "user")
    assert system["content"] in selected.prompt
    assert user["content"] in selected.prompt
    assert user["content"].startswith("<TASK>")


class WithoutSystemRole(FakeTokenizer):
    """As a model whose chat form has no system role, or no chat form at all."""

    def chat_frame(self, system: str) -> tuple[str, str]:
        return f"<|user|>{system}\n\n", "<|end|>\n"


def test_messages_for_a_model_without_a_system_role() -> None:
    encoder = BagEncoder()
    app = Enough(
        UntrainedSelector(encoder, FOR_FREE),
        LeakageControls(encoder),
        DenseRetriever(encoder),
        WithoutSystemRole(),
        window=2000,
    )
    selected = app.select(asking("late bus home"), HISTORY[:4])
    (message,) = selected.messages
    assert message["role"] == "user"
    assert f"<|user|>{message['content']}<|end|>\n" == selected.prompt


@pytest.mark.parametrize("window", [2000, 400])
def test_tokens_saved_are_those_of_the_first_five(window: int) -> None:
    app = untrained(FOR_FREE, window=window, max_records=8)
    selected = app.select(asking("late bus home"), HISTORY)
    pool = tuple(
        Candidate(next(r for r in HISTORY if r.id == value.action), 0.0)
        for value in selected.trace[0].records
    )
    prompter = Prompter(FakeTokenizer())
    budget = prompter.budget(selected.request, pool, window, 20)
    five = FixedLength(5).select(selected.request, pool, budget).records
    cost = prompter.prompt(selected.request, five).profile_tokens
    assert selected.tokens_saved == cost - selected.tokens
    if window == 2000:
        assert len(selected.records) == 8
        assert selected.tokens_saved < 0


@pytest.mark.parametrize("app", [controlled(), controlled(single_head=True), untrained(FOR_FREE)])
def test_the_trace_says_what_was_decided(app: Enough) -> None:
    selected = app.select(asking("late bus home"), HISTORY)
    taken = [step.taken for step in selected.trace if step.taken is not None]
    assert taken == [record.id for record in selected.records]
    for number, step in enumerate(selected.trace):
        assert len(step.records) == 20
        nets = {one.action: one.net for one in step.records if one.net is not None}
        assert not set(taken[:number]) & set(nets)  # never twice
        best = max(nets, key=lambda name: nets[name])
        assert step.stop.net is not None
        assert step.margin == pytest.approx(step.stop.net - nets[best])
        assert (step.taken == best) == (nets[best] > step.stop.net)
        if selected.policy == "controller":
            assert step.margin is not None
            assert step.stop_probability == pytest.approx(1 / (1 + math.exp(-step.margin / 0.5)))
        else:
            assert step.stop_probability is None


def test_parts_have_names() -> None:
    request = asking("late bus home")
    assert controlled().select(request, HISTORY).parts == ("gain", "specificity", "cost")
    assert controlled(single_head=True).select(request, HISTORY).parts == ()
    assert untrained().select(request, HISTORY).parts == ("relevance", "repetition", "cost")


def test_the_parts_of_a_controller_make_its_net_value() -> None:
    selected = controlled().select(asking("late bus home"), HISTORY)
    assert selected.trace
    for step in selected.trace:
        for value in (step.stop, *step.records):
            if value.net is not None:
                gain, specificity, cost = (part or 0.0 for part in value.parts)
                assert value.net == pytest.approx(gain + 0.4 * specificity - 0.1 * cost, abs=1e-5)


def test_json_holds_finite_numbers_only() -> None:
    for app in (controlled(), controlled(single_head=True), untrained(), untrained(FOR_FREE)):
        selected = app.select(asking("late bus home", "2020-01-20"), HISTORY)
        plain = json.loads(json.dumps(selected.as_dict(), allow_nan=False))
        assert plain["prompt"] == selected.prompt
        assert plain["messages"] == selected.messages
        assert [r["id"] for r in plain["records"]] == [r.id for r in selected.records]
        assert len(plain["left_out"]) + len(plain["records"]) == len(HISTORY)
        assert len(plain["trace"]) == len(selected.trace)
        for line in plain["trace"][0]["records"]:
            assert set(line) == {"id", *selected.parts, "net"}


def test_the_explanation() -> None:
    text = controlled(max_records=2).select(asking("late bus", "2020-01-29"), HISTORY).explain()
    assert "policy: controller\n" in text
    assert "step 1: take " in text
    assert "gain +" in text or "gain -" in text
    assert "STOP" in text
    assert "stop probability" in text
    assert "left out, not legal: t28 (not strictly earlier: 2020-01-29, the request" in text
    assert "not among the retriever's first 20: 8 records" in text
    assert len(text.splitlines()) < 25
    fallback = untrained().select(asking("late bus"), HISTORY).explain()
    assert "policy: untrained (nothing personal is learnt)" in fallback
    assert "not calibrated" in fallback


def why(selected: Selected) -> dict[str, Why]:
    return {one.record.id: one.why for one in selected.left_out}


def test_every_reason() -> None:
    history = [
        *HISTORY[:8],
        tweet("copy", "omg what a long way home it is"),
        tweet("later", "late bus home", "2021-06-01"),
        tweet("long", "late bus home " * 900, "2019-01-01"),
    ]
    request = asking("omg what a long way home it is", "2021-01-01")
    config = UntrainedConfig(0.0, 0.5, 0.0)
    selected = untrained(config, pool=6, window=1500).select(request, history)
    accounted(selected, history)
    reasons = why(selected)
    assert (reasons["copy"], reasons["later"]) == (Why.NOT_LEGAL, Why.NOT_LEGAL)
    assert reasons["long"] is Why.DOES_NOT_FIT
    assert Counter(reasons.values())[Why.NOT_RETRIEVED] == 3
    assert Why.BELOW_STOPPING in reasons.values()
    last = {one.action: one.net for one in selected.trace[-1].records}
    for one in selected.left_out:
        if one.why is Why.BELOW_STOPPING:
            assert one.below == pytest.approx(-(last[one.record.id] or 0.0))
        else:
            assert one.below is None
            assert one.detail
    assert "exact duplicate" in next(o.detail for o in selected.left_out if o.record.id == "copy")


def test_the_horizon_is_a_reason_of_its_own() -> None:
    selected = untrained(FOR_FREE, max_records=2).select(asking("late bus home"), HISTORY[:6])
    assert len(selected.records) == 2
    assert set(why(selected).values()) == {Why.HORIZON}
    nothing = untrained(max_records=0).select(asking("late bus home"), HISTORY[:6])
    assert (nothing.records, nothing.tokens) == ((), 0)
    assert set(why(nothing).values()) == {Why.HORIZON}


def test_small_histories() -> None:
    app, request = untrained(), asking("late bus home")
    nothing = app.select(request, [])
    assert (nothing.records, nothing.left_out, nothing.trace) == ((), (), ())
    assert (nothing.tokens, nothing.tokens_saved, nothing.reason) == (
        0,
        0,
        "nothing to choose from",
    )
    assert parse_prompt(nothing.prompt).records == ()
    json.dumps(nothing.as_dict(), allow_nan=False)
    assert nothing.explain()
    one = app.select(request, [tweet("a", "omg the bus was late")])
    assert [record.id for record in one.records] == ["a"]
    assert controlled().select(request, []).reason == "nothing to choose from"


def test_a_record_longer_than_the_window() -> None:
    long = tweet("long", "late bus home " * 5000)
    selected = untrained(FOR_FREE, window=600).select(asking("late bus home"), [long])
    assert (selected.records, why(selected)) == ((), {"long": Why.DOES_NOT_FIT})
    with pytest.raises(BudgetError, match="request 'now' needs"):
        untrained(window=20).select(asking("late bus home"), [])


@settings(max_examples=40)
@given(
    texts=st.lists(st.text(max_size=60), max_size=12),
    window=st.integers(300, 600),
    max_records=st.integers(0, 12),
    pool=st.integers(1, 12),
)
def test_nothing_is_ever_repeated_or_cut(
    texts: list[str], window: int, max_records: int, pool: int
) -> None:
    history = [tweet(f"t{i}", text or "x") for i, text in enumerate(texts)]
    for app in (
        untrained(FOR_FREE, window=window, pool=pool, max_records=max_records),
        untrained(UntrainedConfig(0.05, 0.1, 0.1), window=window, max_records=max_records),
    ):
        selected = app.select(asking("late bus home"), history)
        accounted(selected, history)
        assert len(selected.records) <= max_records
        assert selected.prompt_tokens + TWEETS.max_answer_tokens <= window
        json.dumps(selected.as_dict(), allow_nan=False)


def test_many_requests_give_what_each_gives_alone() -> None:
    app = untrained(UntrainedConfig(0.1, 0.1, 0.5))
    pairs = [
        (asking("late bus home"), HISTORY),
        (asking("tea walk night"), HISTORY[:5]),
        (asking("rain"), []),
    ]
    together = app.select_many(iter(pairs))
    assert [one.as_dict() for one in together] == [app.select(*pair).as_dict() for pair in pairs]


def test_records_are_embedded_once(tmp_path: Path) -> None:
    bag = BagEncoder()
    app = untrained(encoder=CachedEncoder(bag, tmp_path / "e.sqlite"))
    app.select(asking("late bus home"), HISTORY)
    bag.seen.clear()
    app.select(asking("tea walk night"), HISTORY)
    assert bag.seen == ["tea walk night"]


def test_dates_as_text_count() -> None:
    request = asking("late bus home", "2020-01-10")
    selected = untrained().select(request, HISTORY)
    later = [one.record.id for one in selected.left_out if one.why is Why.NOT_LEGAL]
    assert later == [record.id for record in HISTORY[9:]]
    with pytest.raises(DataError, match=r"record 'x': not a time: .*yesterday.*'date'"):
        untrained().select(request, [tweet("x", "late", "yesterday")])


def test_what_is_handed_in_is_checked() -> None:
    app, request = untrained(), asking("late bus home")
    with pytest.raises(DataError, match="record 'b' belongs to user 'bob', but request 'now' to"):
        app.select(request, [tweet("a", "late"), tweet("b", "late", owner="bob")])
    with pytest.raises(DataError, match="two records of user 'ann' have the id 'a'"):
        app.select(request, [tweet("a", "late"), tweet("a", "bus")])
    formless = Request(id="now", user="ann", task=TWEETS, input="no colon")
    with pytest.raises(DataError, match=r"does not have the form of LaMP-7.*must match"):
        app.select(formless, [])


def test_a_task_the_controller_does_not_know() -> None:
    with pytest.raises(UnknownNameError, match=r"task of this controller 'LaMP-2'.*LaMP-4"):
        controlled().select(make_request(LAMP_TASKS["LaMP-2"]), [make_record(1)])
    assert untrained().select(make_request(LAMP_TASKS["LaMP-2"]), [make_record(1)])


@pytest.fixture
def models(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("ENOUGH_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr("enough.retrieval.pools.load_encoder", BagEncoder)
    side = PromptSide(FakeTokenizer(), 2000)
    monkeypatch.setattr("enough.generators.prompt_side.load_prompt_side", lambda _name: side)


class Untouchable(ModuleType):
    """In the place of the module with the generator in it."""

    def __getattr__(self, name: str) -> object:
        raise AssertionError(f"the generator was touched: {name}")


@pytest.fixture
def untouchable_generator(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("enough.generators.hf", "enough.generators.causal_lm"):
        monkeypatch.setitem(sys.modules, name, Untouchable(name))

    def touched(*_: object, **__: object) -> None:
        raise AssertionError("the generator was touched")

    for method in ("__init__", "score", "rescore", "generate"):
        monkeypatch.setattr(f"enough.generators.fake.FakeGenerator.{method}", touched)


@pytest.mark.usefixtures("models", "untouchable_generator")
def test_loading_and_selecting_touch_no_generator(tmp_path: Path) -> None:
    for controller in (None, saved_controller(tmp_path / "c")):
        selected = Enough.load(controller).select(asking("late bus home"), HISTORY)
        assert selected.policy == ("controller" if controller else "untrained")


def test_no_generator_is_imported() -> None:
    code = (
        "import sys; from tests.online.stand_ins import *; "
        "untrained(FOR_FREE).select(asking('late bus'), [tweet('a', 'late bus train')]); "
        "controlled().select(asking('late bus'), [tweet('a', 'late bus train')]); "
        "print([m for m in sys.modules if m in ('enough.generators.hf', 'transformers')])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.usefixtures("models")
def test_without_a_controller_it_says_so(caplog: pytest.LogCaptureFixture, tmp_path: Path) -> None:
    with caplog.at_level(logging.WARNING):
        Enough.load(saved_controller(tmp_path / "c"))
        assert caplog.messages == []
        Enough.load(untrained=FOR_FREE)  # that is what was asked for
        assert caplog.messages == []
        Enough.load()
    (message,) = caplog.messages
    assert "another encoder or tokenizer than minilm and that of SmolLM2" in message
    assert "The untrained fallback selects" in message


@pytest.mark.usefixtures("models")
def test_settings_reach_what_they_are_for(tmp_path: Path) -> None:
    app = Enough.load(untrained=FOR_FREE, window=400, max_records=3)
    selected = app.select(asking("late bus home"), HISTORY)
    assert len(selected.records) == 3
    with pytest.raises(BudgetError, match="the window has 50"):
        Enough.load(window=50).select(asking("late bus home"), HISTORY)
    for wrong in ({"window": 0}, {"max_records": -1}):
        with pytest.raises(ConfigError, match="must be at least"):
            Enough.load(**wrong)  # type: ignore[arg-type]


@pytest.mark.usefixtures("models")
def test_a_controller_of_other_models_is_refused(tmp_path: Path) -> None:
    other = saved_controller(tmp_path / "a", encoder="minilm")
    with pytest.raises(ModelError, match=r"another encoder \(minilm, not bag\); name that one"):
        Enough.load(other)
    other = saved_controller(tmp_path / "b", tokenizer="qwen")
    with pytest.raises(ModelError, match=r"another tokenizer \(qwen, not fake-words-1\); name the"):
        Enough.load(str(other))


@pytest.mark.usefixtures("models")
def test_a_damaged_controller_is_refused(tmp_path: Path) -> None:
    folder = saved_controller(tmp_path / "c")
    weights = folder / "controller.safetensors"
    weights.write_bytes(weights.read_bytes()[:-8])
    with pytest.raises(ModelError, match="altered since it was written"):
        Enough.load(folder)
    (folder / "controller.json").write_text("[]")
    with pytest.raises(ModelError, match=r"controller.json: damaged"):
        Enough.load(folder)
    with pytest.raises(ModelError, match="not a controller"):
        Enough.load(tmp_path / "nowhere")


def test_a_generator_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="cannot load the tokenizer of"):
        Enough.load(generator=GeneratorConfig(model=str(tmp_path / "nowhere")))


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"task": "LaMP-7"}, "the task is a Task, not 'LaMP-7'; enough.task_named gives it"),
        ({"input": None}, "request 'now': must be text, not NoneType (field 'input')"),
        ({"date": 20240301}, "request 'now': must be text, not int (field 'date')"),
    ],
)
def test_requests_of_other_types_are_named(changes: dict[str, Any], words: str) -> None:
    request = dataclasses.replace(asking("late bus home"), id="now", **changes)
    with pytest.raises(DataError, match=re.escape(words)):
        untrained().select(request, [])


@pytest.mark.parametrize(
    ("record", "words"),
    [
        ({"id": "a"}, "number 1 is no enough.Record but dict; enough.integrations.plain"),
        (Record("a", "ann", 5, "late"), "record 'a': must be text, not int"),  # type: ignore[arg-type]
        (Record("a", "ann", "", None), "record 'a': must be text, not NoneType"),  # type: ignore[arg-type]
    ],
)
def test_records_of_other_types_are_named(record: Any, words: str) -> None:
    request = asking("late bus home")
    if isinstance(record, Record):
        record = dataclasses.replace(record, owner=request.user)
    with pytest.raises(DataError, match=re.escape(words)):
        untrained().select(request, [tweet("first", "omg"), record])


def test_a_horizon_of_none_is_said_to_be_one() -> None:
    found = untrained(max_records=0).select(asking("late bus home"), HISTORY[:6])
    assert found.reason == "as many as may be"
