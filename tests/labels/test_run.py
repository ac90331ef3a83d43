"""A labelling run: the same bytes whoever works on it, and nothing is computed twice."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from enough.errors import ConfigError, DataError, EnoughError, ModelError
from enough.generators.config import GeneratorConfig
from enough.generators.remote.config import RemoteConfig
from enough.generators.vllm_config import VLLMConfig
from enough.labels.config import LabelConfig
from enough.labels.folder import LabelFolder
from enough.labels.run import LabelRun
from enough.labels.scoring_calls import CallReport
from enough.labels.target_files import read_targets
from enough.labels.workers import Processes
from enough.labels.workplace import Event
from enough.protocols import OnBatch, ScoredSequence
from enough.records import Example
from enough.run_folders import held_folder, read_json
from enough.teacher.backup import back_up
from enough.teacher.calibration import CalibrationConfig
from enough.teacher.components import TargetConfig, scaled_components
from enough.teacher.proposals import SearchConfig
from tests.labels.runs import (
    SlowGenerator,
    digest,
    small_config,
    small_dataset,
    small_run,
    small_stages,
)


def run(
    folder: Path, config: LabelConfig | None = None, workers: int = 1
) -> tuple[dict[str, Any], list[Event]]:
    config = config or small_config()
    events: list[Event] = []
    made = small_run(folder, config).run(
        partial(small_stages, config), SlowGenerator, Processes(workers), events.append
    )
    return made, events


def test_settings_come_back_as_they_were(tmp_path: Path) -> None:
    plain = small_config()
    for config in (
        plain,
        dataclasses.replace(plain, generator=GeneratorConfig(vllm=VLLMConfig())),
        dataclasses.replace(plain, generator=GeneratorConfig(remote=RemoteConfig("http://x"))),
    ):
        folder = tmp_path / f"{len(list(tmp_path.iterdir()))}"
        run(folder, config)
        found = LabelConfig.of_folder(LabelFolder(folder))
        assert found.of_likelihoods == config.of_likelihoods


def calls(events: list[Event]) -> int:
    return sum(isinstance(event, CallReport) and not event.from_journal for event in events)


def test_the_same_bytes_with_one_worker_or_several(tmp_path: Path) -> None:
    run(tmp_path / "one")
    run(tmp_path / "again")
    run(tmp_path / "two", workers=2)
    assert digest(tmp_path / "one") == digest(tmp_path / "again") == digest(tmp_path / "two")


def test_another_lambda_needs_no_generator_call(tmp_path: Path) -> None:
    def nothing() -> Any:
        raise AssertionError("neither encoder nor generator is needed")

    _, events = run(tmp_path / "both")
    assert calls(events) > 0
    again = small_run(tmp_path / "both", small_config(lambda_=1.0))
    events = []
    manifest = again.run(nothing, nothing, Processes(1), events.append)
    assert calls(events) == 0
    assert manifest["lambda"] == 1.0
    # and what comes of it is what a run of its own would have given
    run(tmp_path / "alone", small_config(lambda_=1.0))
    name = "targets/beta-0.4-lambda-1.0"
    assert digest(tmp_path / "both" / name) == digest(tmp_path / "alone" / name)


def test_targets_on_disk_are_those_of_the_trees(tmp_path: Path) -> None:
    run(tmp_path)
    scales = LabelFolder(tmp_path).scales()
    point = TargetConfig()
    labelled = list(read_targets(tmp_path, point))
    assert [one.tree.of.request for one in labelled] == [f"q{n}" for n in range(6)]
    for one in labelled:
        components = scaled_components(one.tree, scales[one.tree.of.task])
        expected = back_up(one.tree, components, point)
        for field in dataclasses.fields(expected):
            found, wanted = getattr(one.targets, field.name), getattr(expected, field.name)
            np.testing.assert_array_equal(found, wanted, err_msg=field.name)


def test_a_finished_run_makes_no_call(tmp_path: Path) -> None:
    run(tmp_path)
    before = digest(tmp_path)
    _, events = run(tmp_path)
    assert calls(events) == 0
    assert digest(tmp_path) == before


def test_a_lost_part_is_made_again_and_only_that(tmp_path: Path) -> None:
    _, events = run(tmp_path)
    before, all_calls = digest(tmp_path), calls(events)
    LabelFolder(tmp_path).parts()[1].unlink()
    _, events = run(tmp_path)
    assert 0 < calls(events) < all_calls
    assert digest(tmp_path) == before


def test_an_altered_part_is_noticed(tmp_path: Path) -> None:
    run(tmp_path)
    before = digest(tmp_path)
    path = LabelFolder(tmp_path).parts()[0]
    raw = bytearray(path.read_bytes())
    raw[-1] ^= 1
    path.write_bytes(bytes(raw))
    with pytest.raises(DataError, match=r"LaMP-7-00000\.safetensors: changed since"):
        run(tmp_path)
    path.unlink()
    run(tmp_path)
    assert digest(tmp_path) == before


def test_other_settings_are_refused_and_named(tmp_path: Path) -> None:
    run(tmp_path)
    other = dataclasses.replace(small_config(), search=SearchConfig(max_records=2))
    with pytest.raises(ConfigError, match=r"another setting of config\.search\.actions"):
        run(tmp_path, other)


def test_other_data_are_refused(tmp_path: Path) -> None:
    run(tmp_path)
    config = small_config()
    changed = LabelRun([small_dataset(requests=5)], config, tmp_path)
    with pytest.raises(ConfigError, match=r"data\.LaMP-7"):
        changed.run(partial(small_stages, config), SlowGenerator, Processes(1))


def test_another_generator_is_refused(tmp_path: Path) -> None:
    class Other(SlowGenerator):
        def __init__(self) -> None:
            super().__init__()
            self.fingerprint = "another"

    run(tmp_path)
    LabelFolder(tmp_path).parts()[0].unlink()
    config = small_config()
    with pytest.raises(EnoughError, match="not the one that made the labels"):
        small_run(tmp_path, config).run(partial(small_stages, config), Other, Processes(1))


def test_an_error_in_a_worker_is_told_and_keeps_what_is_finished(tmp_path: Path) -> None:
    config = small_config()
    with pytest.raises(EnoughError, match="no such thing as a generator"):
        small_run(tmp_path, config).run(partial(small_stages, config), _missing, Processes(2))
    run(tmp_path)


def _missing() -> Any:
    raise EnoughError("no such thing as a generator")


def test_only_one_run_at_a_time(tmp_path: Path) -> None:
    with (
        held_folder(tmp_path),
        pytest.raises(ConfigError, match="another run"),
    ):
        run(tmp_path)


def test_reading_what_is_not_there(tmp_path: Path) -> None:
    run(tmp_path)
    with pytest.raises(DataError, match="no targets for beta"):
        list(read_targets(tmp_path, TargetConfig(lambda_=7)))
    (tmp_path / "manifest.json").unlink()
    with pytest.raises(DataError, match="not finished"):
        list(LabelFolder(tmp_path).read())


def test_targets_of_other_scales_are_refused(tmp_path: Path) -> None:
    run(tmp_path)
    fewer = dataclasses.replace(
        small_config(lambda_=1.0), calibration=CalibrationConfig(requests=1)
    )
    run(tmp_path, fewer)
    assert list(read_targets(tmp_path, TargetConfig(lambda_=1)))  # 1 is 1.0
    with pytest.raises(DataError, match="made with other scales"):
        list(read_targets(tmp_path, TargetConfig()))
    run(tmp_path, dataclasses.replace(fewer, targets=TargetConfig()))
    assert list(read_targets(tmp_path, TargetConfig()))


def test_a_lost_part_is_noticed_when_reading(tmp_path: Path) -> None:
    run(tmp_path)
    LabelFolder(tmp_path).parts()[1].unlink()
    with pytest.raises(DataError, match=r"00001\.safetensors is missing; run"):
        list(read_targets(tmp_path, TargetConfig()))


def test_tasks_with_odd_names_keep_their_own_files(tmp_path: Path) -> None:
    folder = LabelFolder(tmp_path)
    names = ["новости", "подкаст", "a b", "a/b", "LaMP-7"]
    assert len({folder.part(name, 0) for name in names}) == 5
    assert folder.part("LaMP-7", 0).name == "LaMP-7-00000.safetensors"
    assert all(folder.part(name, 0).parent == tmp_path / "trees" for name in names)


def test_half_characters_in_ids_do_no_harm(tmp_path: Path) -> None:
    dataset = small_dataset()
    first, *others = dataset.splits["train"]
    odd = Example(dataclasses.replace(first.request, id="q\ud800"), first.reference)
    changed = dataclasses.replace(dataset, splits={"train": (odd, *others)})
    config = small_config()
    LabelRun([changed], config, tmp_path).run(
        partial(small_stages, config), SlowGenerator, Processes(1)
    )
    assert next(read_targets(tmp_path, TargetConfig())).tree.of.request == "q\ud800"


def test_likelihoods_that_are_not_finite_are_refused(tmp_path: Path) -> None:
    class Broken(SlowGenerator):
        def score(
            self, sequences: Sequence[ScoredSequence], on_batch: OnBatch | None = None
        ) -> NDArray[np.float64]:
            scores = super().score(sequences, on_batch)
            scores[0] = np.nan
            return scores

    config = small_config()
    with pytest.raises(ModelError, match="are not finite"):
        small_run(tmp_path, config).run(partial(small_stages, config), Broken, Processes(1))
    run(tmp_path)  # nothing of it was kept


def test_a_run_that_did_nothing_yet_binds_nobody(tmp_path: Path) -> None:
    config = small_config()
    with pytest.raises(EnoughError, match="no such thing"):
        small_run(tmp_path, config).run(partial(small_stages, config), _missing, Processes(1))
    run(tmp_path, dataclasses.replace(config, chunk=3))


def test_the_manifest_counts(tmp_path: Path) -> None:
    manifest, events = run(tmp_path)
    trees = read_json(tmp_path / "manifest.json")
    made = sum(event.profiles for event in events if isinstance(event, CallReport))
    assert trees["counts"]["calls"] == made
    assert trees["counts"]["profiles"] == manifest["counts"]["states"]
    assert manifest["counts"]["actions"] < manifest["counts"]["states"]
    assert manifest["bytes_per_state"] > 0
    assert trees["requests"] == {"LaMP-7": 6}
    assert trees["calibration"]["LaMP-7"]["noise"] > 0
