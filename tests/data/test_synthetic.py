"""The made-up world: the same each time, legal, official in form, true to its habits."""

from __future__ import annotations

import hashlib
import math
import os
import re
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from functools import cache

import numpy as np
import pytest

from enough.data.leakage import LeakageControls
from enough.data.synthetic import Kind, Role, World, WorldConfig, make_world
from enough.data.synthetic.domain import Facet
from enough.data.synthetic.world import DOMAINS
from enough.errors import ConfigError, UnknownNameError
from enough.moment import parse_moment, strictly_before
from enough.records import Dataset, Example, Record
from enough.tasks import LAMP_TASKS

TASKS = tuple(LAMP_TASKS)
INPUTS = {
    "LaMP-1": r"For an author who has written the paper with the title \"[^\"]+\", which reference"
    r" is related\? Just answer with \[1\] or \[2\] without explanation\."
    r" \[1\]: \"[^\"]+\" \[2\]: \"[^\"]+\"",
    "LaMP-2": r"Which tag does this movie relate to among the following tags\? Just answer with the"
    r" tag name without further explanation\. tags: \[sci-fi, based on a book, comedy, action,"
    r" twist ending, dystopia, dark comedy, classic, psychology, fantasy, romance,"
    r" thought-provoking, social commentary, violence, true story\] description: \S.*",
    "LaMP-3": r"What is the score of the following review on a scale of 1 to 5\? just answer with"
    r" 1, 2, 3, 4, or 5 without further explanation\. review: \S.*",
    "LaMP-4": r"Generate a headline for the following article: \S.*",
    "LaMP-5": r"Generate a title for the following abstract of a paper: \S.*",
    "LaMP-7": r"Paraphrase the following tweet without any explanation before or after it: \S.*",
}
LENGTHS = {"LaMP-1": (5, 14), "LaMP-2": (35, 65), "LaMP-3": (30, 65)}
LENGTHS |= {"LaMP-4": (20, 45), "LaMP-5": (55, 100), "LaMP-7": (8, 28)}


@cache
def _large() -> World:
    return make_world(WorldConfig(users=200))


@pytest.fixture(scope="module")
def large() -> World:
    """Many users, made once for all tests that measure."""
    return _large()


@pytest.fixture(scope="module")
def world() -> World:
    return make_world(WorldConfig(users=12, seed=5))


def _examples(world: World, task: str) -> Iterator[tuple[Dataset, Example]]:
    dataset = world.datasets[task]
    for split in dataset.splits.values():
        for example in split:
            yield dataset, example


def _legal(world: World, dataset: Dataset, example: Example) -> list[Record]:
    roles = world.truth.asked[example.request.id].roles
    return [record for record in dataset.history(example.request) if record.id in roles]


def _of_role(world: World, dataset: Dataset, example: Example, *roles: Role) -> list[Record]:
    legal = _legal(world, dataset, example)
    return [r for r in legal if world.truth.role_of(example.request.id, r.id) in roles]


def _digest(world: World) -> str:
    return hashlib.sha256(repr((world.datasets, world.truth)).encode()).hexdigest()


# --- determinism -------------------------------------------------------------------------------


def test_same_seed_same_world_whatever_the_hash_seed() -> None:
    code = (
        "import hashlib, sys; from enough.data.synthetic import *;"
        "w = make_world(WorldConfig(users=3, seed=9));"
        "assert not {'torch', 'transformers'} & set(sys.modules);"
        "print(hashlib.sha256(repr((w.datasets, w.truth)).encode()).hexdigest())"
    )
    here = _digest(make_world(WorldConfig(users=3, seed=9)))
    for hash_seed in ("1", "2"):
        env = os.environ | {"PYTHONHASHSEED": hash_seed}
        run = subprocess.run(
            [sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True
        )
        assert run.stdout.strip() == here


def test_more_users_keep_the_first_ones_and_other_seeds_differ() -> None:
    few = make_world(WorldConfig(users=4, seed=1))
    more = make_world(WorldConfig(users=7, seed=1))
    other = make_world(WorldConfig(users=4, seed=2))
    for task in TASKS:
        assert few.datasets[task].histories.items() <= more.datasets[task].histories.items()
        for split, examples in few.datasets[task].splits.items():
            assert more.datasets[task].splits[split][: len(examples)] == examples
        assert not few.datasets[task].histories.keys() & other.datasets[task].histories.keys()
    assert few.truth.asked.items() <= more.truth.asked.items()


def test_a_task_alone_is_the_same_as_among_others(world: World) -> None:
    alone = make_world(WorldConfig(users=12, seed=5, tasks=("LaMP-4",)))
    assert list(alone.datasets) == ["LaMP-4"]
    assert alone.datasets["LaMP-4"] == world.datasets["LaMP-4"]


# --- structure ---------------------------------------------------------------------------------


@pytest.mark.parametrize("task", TASKS)
def test_structure(world: World, task: str) -> None:
    dataset = world.datasets[task]
    assert dataset.task is LAMP_TASKS[task]
    assert list(dataset.splits) == ["train", "dev"]
    assert [len(s) for s in dataset.splits.values()] == [9 * 4, 3 * 4]
    users = [{e.request.user for e in split} for split in dataset.splits.values()]
    assert not users[0] & users[1]
    assert users[0] | users[1] == set(dataset.histories)
    requests = [e.request.id for _, e in _examples(world, task)]
    records = [r for history in dataset.histories.values() for r in history]
    assert len(set(requests)) == len(requests)
    assert len({r.id for r in records}) == len(records)
    for user, history in dataset.histories.items():
        assert 12 <= len(history) <= 36
        assert [r.moment for r in history] == sorted(r.moment for r in history if r.moment)
        assert {r.owner for r in history} == {user}


@pytest.mark.parametrize("task", TASKS)
def test_records_fit_the_schema(world: World, task: str) -> None:
    schema = LAMP_TASKS[task]
    for history in world.datasets[task].histories.values():
        for record in history:
            assert record.action.strip() == record.action != ""
            assert record.context.strip() == record.context
            assert not re.search(r"[{}\[\]~<>@]\w*[}\]>]|  |\n", record.context + record.action)
            if schema.context_required:
                assert record.context
            if not schema.context_field:
                assert record.context == ""
            if schema.labels and task != "LaMP-1":
                assert record.action in schema.labels
            assert record.moment == parse_moment(record.date) is not None


@pytest.mark.parametrize("task", TASKS)
def test_inputs_are_official_and_references_answers(world: World, task: str) -> None:
    for dataset, example in _examples(world, task):
        request = example.request
        assert re.fullmatch(INPUTS[task], request.input)
        assert request.query in request.input or task == "LaMP-1"
        target = next(r for r in dataset.history(request) if r.id == request.source_id)
        assert (target.date, target.moment) == (request.date, request.moment)
        if dataset.task.labels:
            assert example.reference in dataset.task.labels
        if task == "LaMP-1":
            assert f'title "{target.action}"' in request.input
        else:
            assert example.reference == target.action
            assert target.context in request.input


# --- legality ----------------------------------------------------------------------------------


@pytest.mark.parametrize("task", TASKS)
def test_leakage_controls_leave_exactly_what_has_a_role(large: World, task: str) -> None:
    controls = LeakageControls()
    for dataset, example in list(_examples(large, task))[:120]:
        request = example.request
        left = controls.legal(request, dataset.history(request), example.reference).records
        assert [r.id for r in left] == [r.id for r in _legal(large, dataset, example)]
        assert request.moment is not None
        assert all(r.moment and strictly_before(r.moment, request.moment) for r in left)


@pytest.mark.parametrize("task", TASKS)
def test_raw_logs_hold_what_leakage_controls_must_remove(large: World, task: str) -> None:
    later = earlier_copies = 0
    for dataset, example in _examples(large, task):
        request, history = example.request, dataset.history(example.request)
        target = next(r for r in history if r.id == request.source_id)
        assert target.moment is not None
        with pytest.raises(KeyError):
            large.truth.role_of(request.id, target.id)
        later += any(r.moment and strictly_before(target.moment, r.moment) for r in history)
        same = (target.context, target.action)
        copies = [r for r in history if (r.context, r.action) == same and r is not target]
        earlier_copies += any(r.moment and strictly_before(r.moment, target.moment) for r in copies)
    assert later > 600
    assert 15 < earlier_copies < 90


# --- truth -------------------------------------------------------------------------------------


def _habit(world: World, user: str, facet: Facet, tick: int) -> str:
    past = [habit for since, habit in world.truth.habits[user].turns[facet] if since <= tick]
    return past[-1]


def _turning(world: World, user: str, tick: int, facets: tuple[Facet, ...]) -> set[Facet]:
    """The facets an answer turns on: a film's world, if the user tags by it, hides its story."""
    worlds = {f for f in facets if f[0] == "world" and _habit(world, user, f, tick)}
    return worlds or set(facets)


@pytest.mark.parametrize("task", TASKS)
def test_roles_follow_from_the_latent_habits(world: World, task: str) -> None:
    for dataset, example in _examples(world, task):
        request = example.request
        user, truth = request.user, world.truth
        tick, item = truth.items[request.source_id or ""]
        needed = _turning(world, user, tick, item.facets)
        now = {f: _habit(world, user, f, tick) for f in needed}
        shown_now: dict[Facet, set[str]] = defaultdict(set)
        stale = set()
        for record in _legal(world, dataset, example):
            when, about = truth.items[record.id]
            for facet in _turning(world, user, when, about.facets) & needed:
                if _habit(world, user, facet, when) == now[facet]:
                    shown_now[facet].add(record.id)
                else:
                    stale.add(record.id)
        by_role = {role: {r.id for r in _of_role(world, dataset, example, role)} for role in Role}
        assert set(truth.asked[request.id].needed) == needed
        assert by_role[Role.CONFLICTING] == stale
        helpful = by_role[Role.USEFUL] | by_role[Role.REDUNDANT]
        assert helpful == set().union(*shown_now.values())
        for showing in shown_now.values():
            assert len(showing & by_role[Role.USEFUL]) == 1
        kind = truth.kind_of(request.id)
        assert len(by_role[Role.USEFUL]) == {Kind.SEVERAL: 2}.get(kind, int(kind.has_useful))
        assert bool(stale) == (kind is Kind.CHANGED)
        assert bool(needed) == (kind is not Kind.CLEAR)


def test_roles_given_a_profile(world: World) -> None:
    truth = world.truth
    several = [q for q, asked in truth.asked.items() if asked.kind is Kind.SEVERAL]
    assert several
    for request in several:
        roles = truth.asked[request].roles
        useful = [r for r, role in roles.items() if role is Role.USEFUL]
        redundant = [r for r, role in roles.items() if role is Role.REDUNDANT]
        irrelevant = [r for r, role in roles.items() if role is Role.IRRELEVANT]
        first, second = useful
        assert truth.role_of(request, second, given=[first, irrelevant[0]]) is Role.USEFUL
        assert truth.role_of(request, irrelevant[0], given=[]) is Role.IRRELEVANT
        for record in redundant:
            assert truth.role_of(request, record, given=[]) is Role.USEFUL
            assert truth.role_of(request, record, given=useful) is Role.REDUNDANT


@pytest.mark.parametrize("task", TASKS)
def test_shares_of_kinds_are_about_as_configured(large: World, task: str) -> None:
    kinds = Counter(large.truth.kind_of(e.request.id) for _, e in _examples(large, task))
    share = {kind: count / kinds.total() for kind, count in kinds.items()}
    assert 0.2 <= share[Kind.CLEAR] + share[Kind.UNSEEN] <= 0.3
    assert 0.15 <= share[Kind.CHANGED] <= 0.25
    if task != "LaMP-1":  # a choice of two turns on one habit
        assert 0.14 <= share[Kind.SEVERAL] <= 0.26


def test_shares_can_be_set() -> None:
    config = WorldConfig(users=3, one=0, several=0, changed=0, clear=0, unseen=1)
    assert {a.kind for a in make_world(config).truth.asked.values()} == {Kind.UNSEEN}


# --- what useful records are good for ----------------------------------------------------------


def _endings(task: str, dimension: str) -> set[str]:
    domain = next(domain for domain in DOMAINS if domain.task_name == task)()
    options = [habits for facet, habits in domain.options.items() if facet[0] == dimension]
    return {habit.lower() for habits in options for habit in habits}


def _ending(text: str, endings: set[str]) -> str:
    bare = text.lower().rstrip("?")
    return max((e for e in endings if bare.endswith(e)), key=len, default="")


def _form(text: str, endings: set[str]) -> str:
    """The shape of a headline, title or tweet: its fixed words and its case, not its content."""
    text = re.sub(r"^@\S+ ", "", text)
    body = text.rstrip("?")
    body = body[: len(body) - len(_ending(text, endings))]
    if body.isupper():
        return "shout"
    fixed = r"^(Should|Here's Why|and so|Is There|Towards|How We Use|On|Mind the Gap|Rethinking"
    fixed += r"|omg|ok so|y'all|ahhhh)\b"
    if opener := re.match(fixed, body):
        return opener[0]
    ends = re.search(r"(: What It Means For|: A Closer Look|\.\.\.$)", body)
    head = re.match(r"('|\d[\d,]* |\w[\w -]*: |Preface|Overview|A Tutorial)", body)
    return (ends[0] if ends else "") + (re.sub(r"[\w ,-]+", "w", head[0]) if head else "")


@pytest.mark.parametrize("task", ["LaMP-2", "LaMP-3"])
def test_labels_follow_from_useful_records(large: World, task: str) -> None:
    for dataset, example in _examples(large, task):
        useful = [r.action for r in _of_role(large, dataset, example, Role.USEFUL)]
        kind = large.truth.kind_of(example.request.id)
        if task == "LaMP-3" and useful:
            assert example.reference == min(useful)
        elif kind in (Kind.ONE, Kind.CHANGED):
            assert useful == [example.reference]
        elif kind is Kind.SEVERAL:
            assert example.reference in useful
        for record in _of_role(large, dataset, example, Role.CONFLICTING):
            assert record.action != example.reference


def test_the_cited_reference_has_the_method_of_the_useful_record(large: World) -> None:
    domain = next(domain for domain in DOMAINS if domain.task_name == "LaMP-1")()
    rules = domain.table["rules"]
    words = {m: rules["adjective"][m] + rules["method"][m] for m in rules["method"]}

    def methods(title: str) -> set[str]:
        return {m for m, ones in words.items() if any(one in title for one in ones)}

    for dataset, example in _examples(large, "LaMP-1"):
        pair = re.search(r'\[1\]: "(.*)" \[2\]: "(.*)"', example.request.input)
        assert pair is not None
        cited, other = (pair[1], pair[2]) if example.reference == "[1]" else (pair[2], pair[1])
        for record in _of_role(large, dataset, example, Role.USEFUL, Role.REDUNDANT):
            assert methods(record.action) & methods(cited)
            assert not methods(record.action) & methods(other)
        for record in _of_role(large, dataset, example, Role.CONFLICTING):
            assert methods(record.action) & methods(other)


@pytest.mark.parametrize(
    ("task", "form", "phrase"),
    [("LaMP-4", "form", "phrase"), ("LaMP-5", "form", "phrase"), ("LaMP-7", "voice", "signoff")],
)
def test_form_and_phrase_follow_from_useful_records(
    large: World, task: str, form: str, phrase: str
) -> None:
    endings = _endings(task, phrase)
    forms_seen = set()
    for dataset, example in _examples(large, task):
        asked = large.truth.asked[example.request.id]
        for record in _of_role(large, dataset, example, Role.USEFUL, Role.REDUNDANT):
            for dimension, _ in asked.shown[record.id]:
                if dimension == form:
                    assert _form(record.action, endings) == _form(example.reference, endings)
                    forms_seen.add(_form(record.action, endings))
                else:
                    assert dimension == phrase
                    assert _ending(record.action, endings) == _ending(example.reference, endings)
                    assert _ending(record.action, endings)
    assert len(forms_seen) >= 6


@pytest.mark.parametrize("task", TASKS)
def test_habits_are_balanced_in_the_population(large: World, task: str) -> None:
    """Without history there is nothing to go by: every habit is about as common as the others."""
    domain = next(domain for domain in DOMAINS if domain.task_name == task)()
    counts: dict[Facet, Counter[str]] = defaultdict(Counter)
    for user in large.datasets[task].histories:
        for facet, turns in large.truth.habits[user].turns.items():
            counts[facet][turns[-1][1]] += 1
    for facet, options in domain.options.items():
        total = sum(counts[facet][option] for option in options)
        assert all(0.55 < counts[facet][o] * len(options) / total < 1.5 for o in options)


# --- no side channel ---------------------------------------------------------------------------


def _auc(scores: np.ndarray, positive: np.ndarray) -> float:
    _, place, counts = np.unique(scores, return_inverse=True, return_counts=True)
    ranks = (counts.cumsum() - (counts - 1) / 2)[place]
    n = positive.sum()
    return float((ranks[positive].sum() - n * (n + 1) / 2) / (n * (len(scores) - n)))


def _surface(record: Record, place: int, count: int, example: Example) -> list[float]:
    """All there is about a record besides its text."""
    moment, now = record.moment or (0,), example.request.moment or (0,)
    month = moment[1] if len(moment) > 1 else 0
    day = moment[2] if len(moment) > 2 else 0
    hour = moment[3] if len(moment) > 3 else 0
    years = (now[0] - moment[0]) + ((now[1] - moment[1]) / 12 if len(moment) > 1 else 0)
    digits = [int(c, 16) for c in record.id]
    spot = place / count
    features = [spot, spot**2, place, count - place, years, month, day, hour]
    return [1.0, *features, *digits, sum(digits), int(record.id, 16) / 16**12]


@pytest.mark.parametrize("task", TASKS)
def test_nothing_but_text_tells_the_useful_records(large: World, task: str) -> None:
    rows: dict[str, list[list[float]]] = {"train": [], "dev": []}
    roles: dict[str, list[Role]] = {"train": [], "dev": []}
    dataset = large.datasets[task]
    for split, examples in dataset.splits.items():
        for example in examples:
            legal = _legal(large, dataset, example)
            for place, record in enumerate(legal):
                assert record.metadata == ()
                assert record.source_id is None
                assert re.fullmatch("[0-9a-f]{12}", record.id)
                rows[split].append(_surface(record, place, len(legal), example))
                roles[split].append(large.truth.role_of(example.request.id, record.id))
    x, held_out = np.array(rows["train"]), np.array(rows["dev"])
    ids = held_out[:, -1]
    for role in Role:
        y = np.array([one is role for one in roles["train"]])
        truth = np.array([one is role for one in roles["dev"]])
        weights, *_ = np.linalg.lstsq(x, y.astype(float), rcond=None)
        assert 0.4 < _auc(ids, truth) < 0.6
        if role is not Role.CONFLICTING:  # those are older by nature; being old is not enough:
            assert _auc(held_out @ weights, truth) < 0.6
        else:
            assert _auc(held_out @ weights, truth) < 0.78


# --- texts -------------------------------------------------------------------------------------


def _text(record: Record) -> str:
    return f"{record.action} {record.context}" if not record.context else record.context


@pytest.mark.parametrize("task", TASKS)
def test_texts_are_hardly_ever_repeated(large: World, task: str) -> None:
    dataset = large.datasets[task]
    copied = {
        (r.owner, r.context, r.action): _text(r) for h in dataset.histories.values() for r in h
    }
    texts = Counter(copied.values())
    assert 1 - len(texts) / texts.total() < 0.02
    lengths = sorted(len(text.split()) for text in texts if text)
    low, high = LENGTHS[task]
    assert low <= lengths[len(lengths) // 10]
    assert lengths[-len(lengths) // 10] <= high


@pytest.mark.parametrize("task", TASKS)
def test_train_and_dev_share_few_long_sentences(large: World, task: str) -> None:
    dataset = large.datasets[task]
    dev = {example.request.user for example in dataset.splits["dev"]}
    long: dict[bool, list[str]] = {True: [], False: []}
    for user, history in dataset.histories.items():
        for record in history:
            sentences = re.split(r"(?<=[.!?])\s+", _text(record).lower())
            long[user in dev] += [s for s in sentences if len(s.split()) >= 8]
    known = set(long[False])
    assert len(long[True]) > 500
    assert sum(s in known for s in long[True]) / len(long[True]) < 0.1


@pytest.mark.parametrize("task", TASKS)
def test_word_overlap_finds_useful_records_but_not_first(large: World, task: str) -> None:
    firsts, found, asked = 0, 0, 0
    for dataset, example in list(_examples(large, task))[:300]:
        useful = {r.id for r in _of_role(large, dataset, example, Role.USEFUL)}
        if not useful:
            continue
        query = set(re.findall(r"\w+", example.request.query.lower()))
        legal = _legal(large, dataset, example)
        bags = {
            r.id: set(
                re.findall(
                    r"\w+",
                    dataset.task.retrieval_text.format(context=r.context, action=r.action).lower(),
                )
            )
            for r in legal
        }
        common = Counter(word for bag in bags.values() for word in bag)
        scores = {
            one: sum(math.log(1 + len(legal) / common[w]) for w in bag & query) / len(bag) ** 0.5
            for one, bag in bags.items()
        }
        ranked = sorted(scores, key=lambda one: -scores[one])
        asked += 1
        firsts += ranked[0] in useful
        found += bool(useful & set(ranked[:20]))
    assert found / asked > 0.95
    assert 0.1 < firsts / asked < 0.7


# --- configuration -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "wrong",
    [
        {"users": 0},
        {"requests_per_user": 0},
        {"requests_per_user": 7},
        {"dev_share": 1.5},
        {"history": (9, 3)},
        {"one": -1.0},
        {"one": 0.0, "several": 0.0, "changed": 0.0, "clear": 0.0, "unseen": 0.0},
    ],
)
def test_impossible_settings_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(ConfigError):
        WorldConfig(**wrong)  # type: ignore[arg-type]


def test_unknown_task_is_refused() -> None:
    with pytest.raises(UnknownNameError, match="LaMP-6"):
        WorldConfig(tasks=("LaMP-6",))


def test_most_requests_can_be_asked() -> None:
    config = WorldConfig(
        users=6,
        requests_per_user=6,
        history=(12, 40),
        one=0,
        several=1,
        changed=0,
        clear=0,
        unseen=0,
    )
    world = make_world(config)
    assert all(len(d.splits["train"]) + len(d.splits["dev"]) == 36 for d in world.datasets.values())
