"""Whose examples an adapter is tuned on, and whose it is only measured on.

In: data sets and settings, or nothing but a number of made-up users. Out: for every task the
examples to fit and those of users who are held out. Nobody is in both.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from enough.data.splits import SliceConfig, draw_examples
from enough.data.synthetic import WorldConfig, make_world
from enough.errors import ConfigError, DataError, UnknownNameError
from enough.records import Dataset, Example

TUNING_SEED = 1_000_003
"""Of the made-up world that adapters are tuned on; studies use other seeds, so other people."""

FURTHER_SEED = 1_000_103
"""Of those that runs are tuned on which go on from an adapter: nobody it was tuned on."""

_FEWEST = 2  # held out: each is compared with records of another one
_HELD_OUT = 4  # a stream of random numbers of its own; see `samples`


class Dealing(Protocol):
    """The settings of a run that say whose examples it takes; see `TuneConfig`."""

    @property
    def split(self) -> str: ...  # noqa: D102

    @property
    def requests(self) -> int: ...  # noqa: D102

    @property
    def seed(self) -> int: ...  # noqa: D102

    @property
    def held_out(self) -> float: ...  # noqa: D102

    @property
    def slices(self) -> SliceConfig: ...  # noqa: D102


@dataclass(frozen=True, slots=True)
class Dealt:
    """The examples of one task.

    Attributes:
        dataset: where their histories are.
        fitted: examples to tune on.
        held_out: examples of other users, to measure on.
    """

    dataset: Dataset
    fitted: tuple[Example, ...]
    held_out: tuple[Example, ...]

    @property
    def digest(self) -> str:
        """Changes with any request, reference or record that the run may see."""
        found = hashlib.blake2b(repr(self.dataset.task).encode(), digest_size=16)
        for example in (*self.fitted, *self.held_out):
            seen = (example, self.dataset.history(example.request))
            found.update(repr(seen).encode("utf-8", "surrogatepass"))
        return found.hexdigest()


def made_up_users(given: Sequence[str]) -> dict[str, int]:
    """Task -> how many, from what a command line says: "240" of every task, "LaMP-1=960" of one.

    Raises:
        ConfigError: if that is neither, or says something twice.
    """
    found: dict[str, int] = {}
    for one in given:
        task, _, number = one.rpartition("=")
        if not number.isdecimal() or not int(number):
            raise ConfigError(f"--users {one}: give a number, or TASK=NUMBER, of at least 1")
        if task and task not in WorldConfig().tasks:
            raise UnknownNameError("task of the made-up world", task, WorldConfig().tasks)
        if task in found:
            raise ConfigError(f"--users {one}: {task or 'every task'} has a number already")
        found[task] = int(number)
    if (every := found.pop("", 0)) == 0:
        return found
    return {task: found.get(task, every) for task in WorldConfig().tasks}


def made_up_people(users: Mapping[str, int], seed: int = TUNING_SEED) -> list[Dataset]:
    """So many users of each task, of a world of their own; all are there to be tuned on."""
    found = []
    for task, count in users.items():
        config = WorldConfig(seed=seed, users=count, tasks=(task,), dev_share=0.0)
        dataset = make_world(config).datasets[task]
        splits = dict.fromkeys(("tune", "train"), dataset.splits["train"])
        found.append(replace(dataset, splits=splits))
    return found


def described(users: Mapping[str, int], seed: int = TUNING_SEED) -> str:
    """Where they come from, in words."""
    counts = set(users.values())
    each = (
        f"{counts.pop()} users per task"
        if len(counts) == 1
        else "users: " + ", ".join(f"{task} {count}" for task, count in users.items())
    )
    return f"a made-up world (seed {seed}), {each}"


def deal_out(dataset: Dataset, config: Dealing) -> Dealt:
    """Draw the examples of a task and hold some of their users out.

    Raises:
        DataError: if there are too few users for that.
    """
    drawn = draw_examples(dataset, config.split, config.requests, config.seed, config.slices)
    users = sorted({example.request.user for example in drawn})
    if len(users) <= _FEWEST:
        raise DataError(
            f"{dataset.task.name} has {len(users)} users in {config.split!r}; tuning needs at "
            f"least {_FEWEST + 1}, of whom {_FEWEST} are held out; give more users"
            + (f", or draw more than requests = {config.requests}" if config.requests else "")
        )
    count = min(max(_FEWEST, round(config.held_out * len(users))), len(users) - 1)
    rng = np.random.default_rng((_HELD_OUT, config.seed))
    held = {users[place] for place in rng.permutation(len(users))[:count]}
    return Dealt(
        dataset,
        fitted=tuple(example for example in drawn if example.request.user not in held),
        held_out=tuple(example for example in drawn if example.request.user in held),
    )
