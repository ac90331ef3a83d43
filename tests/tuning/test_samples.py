"""What the adapter is fitted on: sizes, sources, whole records, nobody else's words."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from enough.records import Candidate
from enough.tuning.samples import draw_profile
from tests.conftest import make_record
from tests.tuning.toys import WORDS, toy_pools, toy_samples, toy_tokenizer

POOL = tuple(Candidate(make_record(i), -float(i)) for i in range(1, 9))
DRAWS = 6000


def test_sizes_are_uniform_and_half_of_the_profiles_are_the_retrievers() -> None:
    rng = np.random.default_rng(0)
    drawn = [draw_profile(POOL, 5, rng) for _ in range(DRAWS)]
    sizes = Counter(map(len, drawn))
    assert sorted(sizes) == [0, 1, 2, 3, 4, 5]
    for count in sizes.values():
        assert count == pytest.approx(DRAWS / 6, rel=0.15)
    ranked = tuple(candidate.record for candidate in POOL)
    long = [profile for profile in drawn if len(profile) >= 3]
    by_retriever = sum(profile == ranked[: len(profile)] for profile in long)
    assert by_retriever / len(long) == pytest.approx(0.5, abs=0.03)
    others = [profile for profile in long if profile != ranked[: len(profile)]]
    assert {record for profile in others for record in profile} == set(ranked)
    assert any(list(p) != sorted(p, key=ranked.index) for p in others), "in any order"
    assert all(len(set(profile)) == len(profile) for profile in drawn)


def test_a_small_pool_gives_what_it_has() -> None:
    rng = np.random.default_rng(0)
    sizes = Counter(len(draw_profile(POOL[:2], 5, rng)) for _ in range(DRAWS))
    assert sorted(sizes) == [0, 1, 2]
    assert sizes[2] / DRAWS == pytest.approx(4 / 6, abs=0.03)
    assert draw_profile((), 5, rng) == ()


def test_a_sequence_is_the_prompt_the_reference_and_the_end_of_the_turn() -> None:
    pools = toy_pools()
    samples = toy_samples(pools)
    tokenizer = toy_tokenizer()
    for place, pooled in enumerate(pools):
        found = samples.sequence(place, epoch=0)
        written = tokenizer.decode(found.tokens[-found.reference_length :])
        assert written.split() == [pooled.example.reference, "<|im_end|>"]
        prompt = tokenizer.decode(found.tokens[: -found.reference_length])
        assert prompt.rstrip().endswith("<|im_start|> other"), "where the assistant begins"


def test_every_epoch_draws_anew_and_every_run_the_same() -> None:
    samples, again = toy_samples(toy_pools()), toy_samples(toy_pools())
    first = [samples.profile(place, 0) for place in range(len(samples))]
    assert first == [again.profile(place, 0) for place in range(len(samples))]
    assert first != [samples.profile(place, 1) for place in range(len(samples))]


def test_nobody_elses_records_or_references_are_in_it() -> None:
    pools = toy_pools(users=20, requests=2)
    samples = toy_samples(pools)
    ids = dict(zip(WORDS, toy_tokenizer().convert_tokens_to_ids(WORDS), strict=True))
    for epoch in range(4):
        for place, pooled in enumerate(pools):
            user = pooled.example.request.user
            assert {record.owner for record in samples.profile(place, epoch)} <= {user}
            said = set(samples.sequence(place, epoch).tokens.tolist()) & set(ids.values())
            assert said == {ids[pooled.example.reference]}


def test_records_that_do_not_fit_are_left_out_whole() -> None:
    pools = toy_pools()
    roomy = toy_samples(pools, max_records=6)
    shortest = min(len(roomy.sequence(p, e).tokens) for p in range(10) for e in range(9))
    longest = max(len(roomy.sequence(p, e).tokens) for p in range(10) for e in range(9))
    limit = (shortest + longest) // 2
    tight = toy_samples(pools, max_tokens=limit, max_records=6)
    fewer = 0
    for place in range(10):
        for epoch in range(9):
            kept, drawn = tight.profile(place, epoch), roomy.profile(place, epoch)
            assert kept == drawn[: len(kept)]  # toy records are all of one length
            assert len(tight.sequence(place, epoch).tokens) <= limit
            fewer += len(kept) < len(drawn)
    assert fewer > 0


def test_requests_that_do_not_fit_are_left_out_and_named(
    caplog: pytest.LogCaptureFixture,
) -> None:
    samples = toy_samples(toy_pools(users=2), max_tokens=10)
    assert len(samples) == 0
    assert samples.left_out == 2
    assert "'q0-0' takes" in caplog.text
