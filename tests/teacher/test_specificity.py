"""Which counterfactuals are asked for: in-place swaps, the gate, look-ups, one slot or all."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from enough.prompts.profile_sequences import Profile
from enough.teacher.components import Components, raw_components
from enough.teacher.proposals import SearchConfig
from enough.teacher.scored_tree import assemble
from enough.teacher.search import converse
from enough.teacher.specificity import SlotScores, SpecificityConfig, score_slots
from enough.teacher.supervision import Subject, TeacherConfig
from tests.teacher.cases import RandomScores, make_case, make_subject, supervised

NODES: dict[Profile, float] = {(): -4.0, (0,): -3.0, (1,): -5.0, (0, 1): -2.0, (0, 1, 2): -1.0}
ORDER = list(NODES)


def asked_of(
    subject: Subject, config: SpecificityConfig, seed: int = 0
) -> tuple[SlotScores, list[Profile]]:
    asked: list[Profile] = []

    def answer(wanted: list[Profile]) -> dict[Profile, float]:
        asked.extend(wanted)
        return dict.fromkeys(wanted, -3.5)

    found, _ = converse(score_slots(subject.space, NODES, ORDER, config, seed), answer)
    return found, asked


def test_a_replacement_goes_into_the_slot_it_replaces() -> None:
    subject = make_subject(make_case(3, controls=2))
    _, asked = asked_of(subject, SpecificityConfig("all"))
    # controls are numbered after the pool: 3, 4 for record 0; 5, 6 for record 1; 7, 8 for record 2
    assert (0, 5, 2) in asked
    assert (0, 6, 2) in asked
    assert (3, 1, 2) in asked
    assert (0, 1, 8) in asked


def test_a_profile_without_gain_is_not_looked_at() -> None:
    subject = make_subject(make_case(3))
    found, asked = asked_of(subject, SpecificityConfig("all"))
    assert ORDER.index((1,)) not in found.node
    assert not {(5,), (6,)} & set(asked)  # the controls of record 1 alone


def test_what_is_a_node_is_looked_up() -> None:
    subject = make_subject(make_case(3))
    found, asked = asked_of(subject, SpecificityConfig("all"))
    assert not set(asked) & set(NODES)
    node = ORDER.index((0, 1))
    assert found.without[(found.node == node) & (found.slot == 1)].tolist() == [NODES[0,]]
    assert len(asked) == len(set(asked))


def test_one_slot_is_drawn_uniformly() -> None:
    """Over many seeds every slot comes as often as the others; that makes it unbiased."""
    subject = make_subject(make_case(3))
    drawn = Counter[int]()
    seeds = 600
    for seed in range(seeds):
        found, _ = asked_of(subject, SpecificityConfig("one", audited=0), seed)
        drawn.update(found.slot[found.node == ORDER.index((0, 1, 2))].tolist())
    assert sum(drawn.values()) == seeds
    expected = seeds / 3
    chi_square = sum((drawn[slot] - expected) ** 2 / expected for slot in range(3))
    assert chi_square < 13.8  # 0.1% of uniform draws exceed it, two degrees of freedom


def components_of(
    subject: Subject, config: SpecificityConfig, seed: int
) -> tuple[Components, SlotScores]:
    """Through everything that labels go through, with a made-up ℓ for every counterfactual."""
    scores = RandomScores(3)

    def answer(wanted: list[Profile]) -> dict[Profile, float]:
        return {profile: scores[profile] for profile in wanted}

    found, _ = converse(score_slots(subject.space, NODES, ORDER, config, seed), answer)
    tree = assemble(subject.describe(), NODES, ORDER, frozenset(ORDER), found)
    return raw_components(tree), found


@pytest.mark.parametrize("unmatched", [0, 1, 2])
@pytest.mark.parametrize("audited", [0, 2])
def test_one_slot_is_unbiased(unmatched: int, audited: int) -> None:
    """Exhaustively: the mean over every slot that can be drawn is what all slots give."""
    subject = make_subject(make_case(3, unmatched=(unmatched,)))
    node = ORDER.index((0, 1, 2))
    every, _ = components_of(subject, SpecificityConfig("all"), 0)
    estimates: dict[int, float] = {}
    for seed in range(60):
        one, found = components_of(subject, SpecificityConfig("one", audited), seed)
        (drawn,) = found.slot[(found.node == node) & found.counts_for].tolist()
        value = float(one.specificity[node])
        assert estimates.setdefault(drawn, value) == value
    assert set(estimates) == {0, 1, 2} - {unmatched}
    assert len(set(estimates.values())) == 2  # else the mean would say nothing
    assert np.mean(list(estimates.values())) == pytest.approx(every.specificity[node])
    assert every.gain[node] > 0


def test_audits_look_at_all_slots_without_changing_the_estimate() -> None:
    subject = make_subject(make_case(5), max_records=3)
    search = SearchConfig(max_records=3, roots=())
    scores = RandomScores(1)
    plain, _ = supervised(subject, TeacherConfig(search, SpecificityConfig("one", 0)), scores)
    audited, _ = supervised(subject, TeacherConfig(search, SpecificityConfig("one", 4)), scores)
    more = audited.tree.slots
    assert (~more.counts_for).any()
    assert (
        raw_components(plain.tree).specificity == raw_components(audited.tree).specificity
    ).all()
    for node in set(more.node[~more.counts_for].tolist()):
        assert (more.node == node).sum() == audited.tree.lengths[node]


def test_unmatched_records_have_no_slot_and_no_credit() -> None:
    subject = make_subject(make_case(3, unmatched=(0, 1, 2)))
    found, asked = asked_of(subject, SpecificityConfig("all"))
    assert not asked
    assert not len(found.node)


def test_unmatched_slots_are_left_out_of_the_draw() -> None:
    subject = make_subject(make_case(3, unmatched=(1,)))
    for seed in range(20):
        found, _ = asked_of(subject, SpecificityConfig("one"), seed)
        assert not ((found.node == ORDER.index((0, 1, 2))) & (found.slot == 1)).any()


@pytest.mark.parametrize("slots", ["one", "all"])
def test_calls_are_counted(slots: str) -> None:
    config = TeacherConfig(
        SearchConfig(max_records=3),
        SpecificityConfig(slots),  # type: ignore[arg-type]
    )
    result, asked = supervised(make_subject(make_case(5), 3), config, RandomScores(2))
    assert result.calls == sum(map(len, asked))
    gains = raw_components(result.tree).gain
    assert result.savings.gated == int((gains[1:] <= 0).sum())
    assert np.isin(np.flatnonzero(gains > 0), result.tree.slots.node).all()
