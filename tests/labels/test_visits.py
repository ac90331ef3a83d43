"""A second round: its trees hold the first round's, and nothing is scored twice."""

from __future__ import annotations

import dataclasses
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from enough.errors import ConfigError, DataError
from enough.labels.config import LabelConfig
from enough.labels.folder import LabelFolder
from enough.labels.run import LabelRun
from enough.labels.scoring_calls import CallReport
from enough.labels.visits import Visits, prefixes
from enough.labels.workers import Processes
from enough.labels.workplace import Event
from enough.prompts.profile_sequences import Profile
from enough.run_folders import read_json
from enough.teacher.proposals import SearchConfig
from enough.teacher.scored_tree import ScoredTree
from tests.labels.runs import SlowGenerator, digest, small_config, small_dataset, small_stages

VISITED = {"LaMP-7/q0": ((4,), (4, 2)), "LaMP-7/q3": ((1,), (1, 3), (1, 3, 0)), "LaMP-7/q4": ()}


def run(
    folder: Path, config: LabelConfig | None = None, visits: Visits | None = None, workers: int = 1
) -> tuple[dict[str, Any], int]:
    config = config or small_config()
    events: list[Event] = []
    made = LabelRun([small_dataset()], config, folder, visits).run(
        partial(small_stages, config), SlowGenerator, Processes(workers), events.append
    )
    return made, sum(event.profiles for event in events if isinstance(event, CallReport))


def trees(folder: Path) -> dict[str, ScoredTree]:
    return Visits(folder, {}).trees()


def test_prefixes_of_profiles() -> None:
    assert prefixes([(3, 1, 2), (3, 0), ()]) == ((3,), (3, 1), (3, 1, 2), (3, 0))


def test_the_union_of_both_rounds(tmp_path: Path) -> None:
    _, scored = run(tmp_path / "one")
    made, added = run(tmp_path / "two", visits=Visits(tmp_path / "one", VISITED))
    assert 0 < added < scored / 2, "only what is new is scored"
    before, after = trees(tmp_path / "one"), trees(tmp_path / "two")
    for name, tree in before.items():
        old = dict(zip(tree.profiles, tree.log_likelihood.tolist(), strict=True))
        grown = dict(zip(after[name].profiles, after[name].log_likelihood.tolist(), strict=True))
        assert old.items() <= grown.items()
        new = VISITED.get(name, ())
        assert set(new) <= grown.keys()
        for state in new:  # expanded like any root: every feasible action has a child
            length = min(3, len(state) + 1)
            children = [p for p in grown if len(p) == length and p[:-1] == state]
            assert len(state) == 3 or len(children) == 5 - len(state)
    assert len(after["LaMP-7/q0"].lengths) > len(before["LaMP-7/q0"].lengths)
    assert after["LaMP-7/q4"].profiles == before["LaMP-7/q4"].profiles
    assert (
        made["scales"]
        == read_json(tmp_path / "one" / "targets" / _point() / "manifest.json")["scales"]
    ), "a unit stays what it was"


def test_levels_below_visited_states_are_part_of_the_settings(tmp_path: Path) -> None:
    _, scored = run(tmp_path / "one")
    _, everything = run(tmp_path / "two", visits=Visits(tmp_path / "one", VISITED))
    _, shallow = run(tmp_path / "three", visits=Visits(tmp_path / "one", VISITED, levels=1))
    assert 0 < shallow < everything < scored
    with pytest.raises(ConfigError, match=r"another setting of visits\.levels"):
        run(tmp_path / "three", visits=Visits(tmp_path / "one", VISITED))


def test_few_actions_are_tried_at_visited_states(tmp_path: Path) -> None:
    run(tmp_path / "one")
    visits = Visits(tmp_path / "one", {"LaMP-7/q3": ((1,), (1, 3))}, levels=1, actions=2)
    run(tmp_path / "two", visits=visits)
    before, after = (trees(tmp_path / name)["LaMP-7/q3"].profiles for name in ("one", "two"))
    below = [[p for p in profiles if p[:-1] == (1, 3)] for profiles in (before, after)]
    assert list(map(len, below)) == [0, 2], "of three that fit"
    assert (1, 3) in after
    with pytest.raises(ConfigError, match=r"another setting of visits\.actions"):
        run(tmp_path / "two", visits=dataclasses.replace(visits, actions=0))


def _point() -> str:
    return "beta-0.4-lambda-0.1"


def counted_slots(tree: ScoredTree) -> dict[tuple[Profile, int], list[float]]:
    slots = tree.slots
    rows = zip(slots.node, slots.slot, slots.controls, slots.counts_for, strict=True)
    return {
        (tree.profiles[node], int(slot)): controls.tolist()
        for node, slot, controls, counts in rows
        if counts
    }


def test_specificity_of_old_nodes_stays(tmp_path: Path) -> None:
    run(tmp_path / "one")
    run(tmp_path / "two", visits=Visits(tmp_path / "one", VISITED))
    grown = trees(tmp_path / "two")
    for name, tree in trees(tmp_path / "one").items():
        assert counted_slots(tree).items() <= counted_slots(grown[name]).items()


def test_the_same_bytes_whoever_works_and_however_often(tmp_path: Path) -> None:
    run(tmp_path / "one")
    visits = Visits(tmp_path / "one", VISITED)
    run(tmp_path / "two", visits=visits)
    run(tmp_path / "three", visits=visits, workers=2)
    assert digest(tmp_path / "two") == digest(tmp_path / "three")
    assert run(tmp_path / "two", visits=visits)[1] == 0


def test_no_visits_give_the_first_round(tmp_path: Path) -> None:
    run(tmp_path / "one")
    _, added = run(tmp_path / "two", visits=Visits(tmp_path / "one", {}))
    assert added == 0
    pairs = zip(trees(tmp_path / "one").values(), trees(tmp_path / "two").values(), strict=True)
    for old, new in pairs:
        np.testing.assert_array_equal(old.log_likelihood, new.log_likelihood)
        np.testing.assert_array_equal(old.slots.controls, new.slots.controls)


def test_another_teacher_or_other_states_are_refused(tmp_path: Path) -> None:
    run(tmp_path / "one")
    visits = Visits(tmp_path / "one", VISITED)
    wider = dataclasses.replace(small_config(), search=SearchConfig(max_records=3, width=3))
    with pytest.raises(ConfigError, match=r"config.search.actions .*needs the same teacher"):
        run(tmp_path / "two", wider, visits)
    run(tmp_path / "two", visits=visits)
    with pytest.raises(ConfigError, match=r"another setting of visits.states"):
        run(tmp_path / "two", visits=Visits(tmp_path / "one", {"LaMP-7/q0": ((2,),)}))
    with pytest.raises(DataError, match="no such folder"):
        run(tmp_path / "four", visits=Visits(tmp_path / "nowhere", VISITED))


def test_settings_come_back_from_the_folder(tmp_path: Path) -> None:
    run(tmp_path / "one")
    config = LabelConfig.of_folder(LabelFolder(tmp_path / "one"))
    assert config.of_likelihoods == small_config().of_likelihoods
