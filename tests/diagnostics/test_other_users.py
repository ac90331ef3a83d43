"""Records of others are legal: other owners, strictly earlier, of the split, not the target."""

from __future__ import annotations

import numpy as np

from enough.data.leakage import LeakageControls
from enough.diagnostics.personal.other_users import OtherUsers
from enough.records import Dataset, Example, Record
from enough.tasks import LAMP_TASKS
from tests.conftest import make_record, make_request

TASK = LAMP_TASKS["LaMP-2"]
STORY = "A sailor loses a compass and finds a map of the northern coast."


def a_record(owner: str, number: int, context: str = "", name: str = "") -> Record:
    text = context or f"film {owner} {number} about {owner}s and their {number} houses"
    return make_record(number, owner=owner, id=name or f"{owner}{number}", context=text)


def a_dataset() -> tuple[Dataset, Example]:
    request = make_request(
        id="q",
        date="2020-01-05",
        moment=(2020, 1, 5),
        input=f"tags: [comedy] description: {STORY}",
    )
    mine = a_record("ann", 1)
    histories = {
        "ann": (mine, a_record("ann", 2)),
        "ben": tuple(a_record("ben", n) for n in range(1, 9)),
        "cat": (a_record("cat", 1), a_record("cat", 2, STORY), a_record("cat", 3)),
        "dan": tuple(a_record("dan", n) for n in range(1, 5)),
        # The same thing as one of Ann's, under the same id.
        "eve": (a_record("eve", 1, mine.context, mine.id), a_record("eve", 2)),
    }
    dev = tuple(
        Example(make_request(id=f"q-{user}", user=user), "comedy") for user in ("ben", "cat", "eve")
    )
    train = (Example(make_request(id="q-dan", user="dan"), "comedy"),)
    example = Example(request, "twist ending")
    return Dataset(TASK, histories, {"train": train, "dev": (example, *dev)}), example


def test_what_may_not_be_given_is_never_drawn() -> None:
    dataset, example = a_dataset()
    others = OtherUsers(dataset, LeakageControls(None))
    found = others.drawn(example, 100, np.random.default_rng(0))
    # Before the 5th: four of Ben's, Cat's but the target's own text, Eve's but what Ann has, too.
    # Dan is of another split.
    assert {record.id for record in found} == {
        "ben1",
        "ben2",
        "ben3",
        "ben4",
        "cat1",
        "cat3",
        "eve2",
    }


def test_owners_take_turns() -> None:
    dataset, example = a_dataset()
    others = OtherUsers(dataset, LeakageControls(None))
    for seed in range(5):
        found = others.drawn(example, 3, np.random.default_rng(seed))
        again = others.drawn(example, 3, np.random.default_rng(seed))
        assert found == again and len(found) == 3
    seen = {others.drawn(example, 1, np.random.default_rng(seed))[0].owner for seed in range(20)}
    assert seen == {"ben", "cat", "eve"}


def test_a_whole_profile_is_of_one_user_who_has_enough_in_the_order_of_the_log() -> None:
    dataset, example = a_dataset()
    others = OtherUsers(dataset, LeakageControls(None))
    for seed in range(5):
        found = others.of_one(example, 3, np.random.default_rng(seed))
        assert {record.owner for record in found} == {"ben"}  # nobody else has three
        assert list(found) == sorted(found, key=lambda record: record.moment or ())
    assert others.of_one(example, 5, np.random.default_rng(0)) == ()
