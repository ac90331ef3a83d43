"""Who is tuned on: people of their own, and some of them only measured."""

from __future__ import annotations

from pathlib import Path

import pytest

from enough.config import load_config
from enough.data.splits import SliceConfig, study_slices
from enough.data.synthetic import WorldConfig, make_world
from enough.errors import ConfigError, DataError, UnknownNameError
from enough.generators.config import GeneratorConfig
from enough.model_names import model_name
from enough.records import Dataset
from enough.tuning.config import LoraSettings, TuneConfig
from enough.tuning.people import deal_out, described, made_up_people, made_up_users
from tests.tuning.toys import toy_dataset


def users(dataset: Dataset) -> set[str]:
    return set(dataset.histories)


def test_made_up_people_are_nobody_of_another_seed() -> None:
    people = made_up_people(made_up_users(["12"]))
    assert len(people) == 6
    for seed in (0, 1, 2):
        world = make_world(WorldConfig(seed=seed, users=12))
        for dataset in people:
            assert not users(dataset) & users(world.datasets[dataset.task.name])
    for dataset in people:
        asked = {example.request.user for example in dataset.splits["tune"]}
        assert asked == users(dataset), "all of them are there to be tuned on"


def test_one_task_may_have_more_of_them() -> None:
    counts = made_up_users(["LaMP-1=9", "4"])
    assert counts == {"LaMP-1": 9} | dict.fromkeys(list(counts)[1:], 4)
    assert len(counts) == 6
    assert made_up_users(["LaMP-3=5"]) == {"LaMP-3": 5}
    few, many = (made_up_people({"LaMP-1": number})[0] for number in (4, 9))
    assert users(few) < users(many), "more users change nobody"
    assert described(made_up_users(["4"])).endswith("4 users per task")
    assert described({"LaMP-1": 9, "LaMP-3": 4}).endswith("users: LaMP-1 9, LaMP-3 4")


@pytest.mark.parametrize(
    ("given", "match"),
    [
        (["x"], "--users x: give a number"),
        (["0"], "at least 1"),
        (["LaMP-1="], "TASK=NUMBER"),
        (["3", "4"], "every task has a number already"),
        (["LaMP-1=3", "LaMP-1=4"], "LaMP-1 has a number already"),
    ],
)
def test_what_users_are_called_for_is_checked(given: list[str], match: str) -> None:
    with pytest.raises(ConfigError, match=match):
        made_up_users(given)


def test_unknown_made_up_tasks_are_named() -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'LaMP-1'"):
        made_up_users(["LaMP1=3"])


def test_held_out_users_are_never_tuned_on() -> None:
    dealt = deal_out(toy_dataset(), TuneConfig(held_out=0.3))
    fitted = {example.request.user for example in dealt.fitted}
    held = {example.request.user for example in dealt.held_out}
    assert not fitted & held
    assert len(fitted | held) == 40
    assert len(held) == 12


def test_the_slice_for_tuning_leaves_the_others_alone() -> None:
    dataset = make_world(WorldConfig(tasks=("LaMP-3",), users=80)).datasets["LaMP-3"]
    dealt = deal_out(dataset, TuneConfig())
    tuned = {e.request.user for e in (*dealt.fitted, *dealt.held_out)}
    slices = study_slices(dataset, SliceConfig().shares, 0)
    assert tuned == {example.request.user for example in slices.pop("tune")}
    assert not tuned & {e.request.user for found in slices.values() for e in found}


def test_too_few_users_are_refused() -> None:
    with pytest.raises(DataError, match=r"Toy has 2 users in 'tune'; tuning needs at least 3"):
        deal_out(toy_dataset(users=2), TuneConfig())
    dealt = deal_out(toy_dataset(users=3), TuneConfig(held_out=0.01))
    assert len({example.request.user for example in dealt.held_out}) == 2


def test_the_digest_changes_with_the_data() -> None:
    config = TuneConfig(held_out=0.3)
    first = deal_out(toy_dataset(), config).digest
    assert first == deal_out(toy_dataset(), config).digest
    assert first != deal_out(toy_dataset(records=5), config).digest
    assert first != deal_out(toy_dataset(requests=1), config).digest


def test_settings_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "tune.toml"
    path.write_text(
        'split = "train"\nlearning_rate = 3e-4\n[lora]\nrank = 4\nmodules = ["q_proj"]\n'
        "[slices]\ntune = 0.1\n[generator]\ndevice = 'cpu'\n"
    )
    config = load_config(path, TuneConfig)
    assert (config.split, config.learning_rate, config.slices.tune) == ("train", 3e-4, 0.1)
    assert config.lora == LoraSettings(rank=4, modules=("q_proj",))
    path.write_text("epoch = 2\n")
    with pytest.raises(UnknownNameError, match="did you mean 'epochs'"):
        load_config(path, TuneConfig)
    path.write_text('split = "dev"\n')
    with pytest.raises(ConfigError, match="split must be one of 'tune', 'train'"):
        load_config(path, TuneConfig)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"batch": 0}, "batch must be at least 1"),
        ({"held_out": 1.0}, "held_out must be"),
        ({"warmup": 1.5}, "warmup must be"),
        ({"learning_rate": 0.0}, "learning_rate must be above 0"),
        ({"generator": GeneratorConfig(adapter=Path("x"))}, "without an adapter"),
        ({"generator": GeneratorConfig(dtype="float16")}, "not float16"),
    ],
)
def test_impossible_settings(changes: dict[str, object], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        TuneConfig(**changes)  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match=r"lora\.rank"):
        LoraSettings(rank=0)
    with pytest.raises(ConfigError, match=r"lora\.dropout"):
        LoraSettings(dropout=1.0)


def test_settings_name_no_folder_of_this_machine(tmp_path: Path) -> None:
    (tmp_path / "my-model").mkdir()
    config = TuneConfig(generator=GeneratorConfig(model=str(tmp_path / "my-model")))
    assert str(tmp_path) not in str(config.of_result)
    assert config.of_result["generator"]["model"] == "my-model"
    assert model_name("meta-llama/Llama-3.1-8B-Instruct") == "meta-llama/Llama-3.1-8B-Instruct"
