"""The controls against a slow second writing of the rules, on histories made to collide."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import date
from typing import Literal

import numpy as np
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from enough.data.leakage import LeakageControls
from enough.moment import parse_moment
from enough.protocols import Floats
from enough.records import History, Record, Request
from enough.tasks import LAMP_TASKS, Task
from tests.data.world import MOVIES, PAPERS, TWEETS, movie_input, paper_input, tweet_input

THRESHOLD = 0.95
OWN = Task("own", "d", "score", "text", labels=("good", "not what I had hoped for at all"))
INPUT: dict[Task, Callable[[str], str]] = {
    MOVIES: movie_input,
    PAPERS: paper_input,
    TWEETS: tweet_input,
    LAMP_TASKS["LaMP-3"]: lambda text: f"review: {text}",
    OWN: lambda text: text,
}


class LetterCounts:
    """How often each letter occurs: close for texts that are nearly the same, not normalised."""

    fingerprint = "letters"

    def encode(self, texts: Sequence[str], kind: Literal["query", "document"]) -> Floats:
        return np.array([letter_counts(text) for text in texts], np.float32)


def letter_counts(text: str) -> list[int]:
    return [text.lower().count(letter) for letter in "abcdefghijklmnopqrstuvwxyz"]


# ---- the second writing -------------------------------------------------------------------------


def letters_only(text: str) -> str:
    words, word = [], ""
    for character in unicodedata.normalize("NFKC", text).casefold() + " ":
        if unicodedata.category(character)[0] in "PZC":
            words += [word] if word else []
            word = ""
        else:
            word += character
    return " ".join(words)


def is_long(plain: str) -> bool:
    return sum(character != " " for character in plain) >= 20


def is_label(text: str, task: Task) -> bool:
    return any(letters_only(text) == letters_only(label) for label in task.labels)


def says_something(record: Record, task: Task) -> bool:
    if letters_only(record.context):
        return True
    return bool(letters_only(record.action)) and not is_label(record.action, task)


def retrieval(record: Record, task: Task) -> str:
    text = task.retrieval_text.replace("{context}", record.context)
    return text.replace("{action}", record.action)


def is_earlier(record: Record, request: Request) -> bool:
    """By the last day the record can mean and the first day the request can mean."""
    if record.date is None or request.date is None:
        return True
    last = record.date if len(record.date) > 4 else f"{record.date}-12-31"
    first = request.date if len(request.date) > 4 else f"{request.date}-01-01"
    return date.fromisoformat(last) < date.fromisoformat(first)


def target_records(request: Request, history: History) -> list[Record]:
    named = [r for r in history if request.source_id is not None and r.id == request.source_id]
    about = [
        r for r in history if request.source_id is not None and r.source_id == request.source_id
    ]
    return [r for r in named or about if says_something(r, request.task)]


def is_same(record: Record, request: Request, reference: str | None, targets: list[Record]) -> bool:
    task = request.task
    told = [t for t in (request.query, reference) if t is not None and not is_label(t, task)]
    context, action = letters_only(record.context), letters_only(record.action)
    if any((letters_only(t.context), letters_only(t.action)) == (context, action) for t in targets):
        return True
    if not context and any(action == letters_only(text) for text in told):
        return True

    def texts(some: Record) -> set[str]:
        sides = [some.context, retrieval(some, task)]
        return {
            letters_only(s)
            for s in (sides if is_label(some.action, task) else [*sides, some.action])
        }

    known = {letters_only(text) for text in told}.union(*map(texts, targets))
    return any(is_long(text) and text in known for text in texts(record))


def is_near(record: Record, request: Request, reference: str | None, targets: list[Record]) -> bool:
    task = request.task
    told = [request.query] + ([reference] if reference and not task.context_field else [])
    known = [text for text in told if not is_label(text, task)]
    known += [retrieval(target, task) for target in targets]
    mine = retrieval(record, task)
    for other in known:
        if not (is_long(letters_only(mine)) and is_long(letters_only(other))):
            continue
        if wording(mine, other) >= 0.5:
            cosine = angle(letter_counts(mine), letter_counts(other))
            assume(abs(cosine - THRESHOLD) > 1e-5)  # the two may round differently
            if cosine > THRESHOLD:
                return True
    return False


def wording(some: str, others: str) -> float:
    some, others = (letters_only(text).replace(" ", "") for text in (some, others))
    ours = {some[i : i + 5] for i in range(len(some) - 4)}
    theirs = {others[i : i + 5] for i in range(len(others) - 4)}
    return sum(piece in theirs for piece in ours) / min(len(ours), len(theirs))


def angle(some: list[int], others: list[int]) -> float:
    product = sum(a * b for a, b in zip(some, others, strict=True))
    return product / (math.hypot(*some) * math.hypot(*others) or 1)


def is_legal(record: Record, request: Request, history: History, reference: str | None) -> bool:
    if request.source_id is not None and request.source_id in (record.id, record.source_id):
        return False
    if not is_earlier(record, request):
        return False
    if not says_something(record, request.task):
        return True
    targets = target_records(request, history)
    return not (
        is_same(record, request, reference, targets) or is_near(record, request, reference, targets)
    )


# ---- histories that collide ---------------------------------------------------------------------

_LONG = (
    "A dog travels home across the whole of Canada",
    "a dog travels home -- across the whole of CANADA!",
    "A dog travels back home across the whole of Canada.",
    "A dog travels home across the whole of Canada and finds his people at the lake again",
    "Nine films about lighthouses, and only one of them was any good",
    "Nine films about lighthouses, and only two of them were any good",
    "not what I had hoped for at all",
    "狗穿越整个加拿大回到家里去找它的主人们还有湖边的房子",
)
_SHORT = ("Works great", "works great!", "Good", "lol", "5", "...", "!", "thank you")
TEXTS = st.sampled_from((*_LONG, *_SHORT))
DATES = st.sampled_from((None, "2010", "2011", "2011-05-01", "2011-05-02", "2012"))
IDS = st.sampled_from((None, "0", "1", "item"))


@st.composite
def cases(draw: st.DrawFn) -> tuple[Request, History, str | None]:
    task = draw(st.sampled_from(list(INPUT)))
    actions = st.one_of(TEXTS, st.sampled_from(task.labels)) if task.labels else TEXTS
    contexts = st.one_of(st.just(""), TEXTS) if task.context_field else st.just("")
    history = []
    for number in range(draw(st.integers(0, 6))):
        when = draw(DATES)
        history.append(
            Record(
                str(number),
                "ann",
                draw(contexts),
                draw(actions),
                when,
                parse_moment(when),
                source_id=draw(IDS),
            )
        )
    when = draw(DATES)
    request = Request("q", "ann", task, INPUT[task](draw(TEXTS)), when, parse_moment(when))
    request = replace(request, source_id=draw(IDS))
    return request, tuple(history), draw(st.one_of(st.none(), actions))


@settings(max_examples=400, deadline=None)
@given(cases())
def test_exactly_the_legal_records_are_left(case: tuple[Request, History, str | None]) -> None:
    request, history, reference = case
    expected = [r for r in history if is_legal(r, request, history, reference)]
    left = LeakageControls(LetterCounts(), THRESHOLD).legal(request, history, reference)
    assert list(left.records) == expected
    # Nothing is lost, nothing is there twice, and both parts keep the order of the history.
    removed = [removal.record for removal in left.removals]
    assert sorted([*left.records, *removed], key=history.index) == list(history)
    assert removed == sorted(removed, key=history.index)


@settings(max_examples=300, deadline=None)
@given(cases())
def test_what_a_search_has_shown_to_be_unlike_need_not_be_compared(
    case: tuple[Request, History, str | None],
) -> None:
    request, history, _ = case
    query = letter_counts(request.query)
    unlike = {
        record.id
        for record in history
        if angle(letter_counts(retrieval(record, request.task)), query) < THRESHOLD - 1e-5
    }
    controls = LeakageControls(LetterCounts(), THRESHOLD)
    assert controls.legal(*case, unlike=unlike) == controls.legal(*case)


@settings(max_examples=100, deadline=None)
@given(st.lists(cases(), max_size=4))
def test_many_at_once_are_as_one_by_one(cases: list[tuple[Request, History, str | None]]) -> None:
    controls = LeakageControls(LetterCounts(), THRESHOLD)
    together = controls.legal_many(
        [request for request, _, _ in cases],
        [history for _, history, _ in cases],
        [reference for _, _, reference in cases],
    )
    assert together == [controls.legal(*case) for case in cases]
