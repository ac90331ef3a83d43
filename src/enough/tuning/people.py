"""Whose examples an adapter is tuned on, and whose it is only measured on.

In: data sets and settings, or nothing but a number of made-up users. Out: for every task the
examples to fit and those of users who are held out. Nobody is in both.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace

import numpy as np

from enough.data.splits import draw_examples
from enough.data.synthetic import WorldConfig, make_world
from enough.errors import DataError
from enough.records import Dataset, Example
from enough.tuning.config import TuneConfig

TUNING_SEED = 1_000_003
"""Of the made-up world that adapters are tuned on; studies use other seeds, so other people."""

_FEWEST = 2  # held out: each is compared with records of another one
_HELD_OUT = 4  # a stream of random numbers of its own; see `samples`


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


def made_up_people(users: int) -> list[Dataset]:
    """So many users per task of a world of their own; all of them are there to be tuned on."""
    world = make_world(WorldConfig(seed=TUNING_SEED, users=users, dev_share=0.0))
    return [
        replace(dataset, splits=dict.fromkeys(("tune", "train"), dataset.splits["train"]))
        for dataset in world.datasets.values()
    ]


def deal_out(dataset: Dataset, config: TuneConfig) -> Dealt:
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
        )
    count = min(max(_FEWEST, round(config.held_out * len(users))), len(users) - 1)
    rng = np.random.default_rng((_HELD_OUT, config.seed))
    held = {users[place] for place in rng.permutation(len(users))[:count]}
    return Dealt(
        dataset,
        fitted=tuple(example for example in drawn if example.request.user not in held),
        held_out=tuple(example for example in drawn if example.request.user in held),
    )
