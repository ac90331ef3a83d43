from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from enough.data.check import check_dataset, removal_lines
from enough.data.duplicates import folded
from enough.data.leakage import LeakageControls, LegalHistory, Reason, Recognised
from enough.data.logs import read_log_folder
from enough.errors import ConfigError
from enough.records import Dataset, Example, History, Record, Request
from enough.tasks import LAMP_TASKS, Task
from tests.data.world import (
    MOVIES,
    PAPERS,
    TWEETS,
    TableEncoder,
    movie_input,
    paper_input,
    record,
    request,
    tweet_input,
)

DOG = "A dog travels home across the whole of Canada."
CAT = "A cat refuses to leave the house for three winters."
ABSTRACT = "We parse Polish with a grammar of some nine thousand rules."
TITLE = "A Very Large Grammar of Polish"


def reasons(left: LegalHistory) -> dict[str, str]:
    return {removal.record.id: removal.reason.value for removal in left.removals}


def apply(
    asked: Request, *history: Record, reference: str | None = None
) -> tuple[list[str], dict[str, str]]:
    left = LeakageControls().legal(asked, history, reference)
    return [r.id for r in left.records], reasons(left)


def test_the_target_and_records_of_its_source_go() -> None:
    kept, gone = apply(
        request(MOVIES, movie_input(DOG), source_id="m1"),
        record("m1", DOG),
        record("copy", "Another text.", source_id="m1"),
        record("m2", CAT, source_id="x"),
        record("m3", CAT),
    )
    assert gone == {"m1": "target", "copy": "source id"}
    assert kept == ["m2", "m3"]


def test_what_is_recognised_of_a_record_is_of_one_task() -> None:
    """Whether an answer alone makes a copy depends on the task's labels."""
    memory = Recognised()
    controls = LeakageControls(recognised=memory)
    posts = replace(TWEETS, name="posts", labels=("a tweet",))
    one = record("t", "", action="a tweet")
    for task in (TWEETS, posts):
        asked = request(task, tweet_input("something else"))
        alone = LeakageControls().legal(asked, (one,), "a tweet")
        assert controls.legal(asked, (one,), "a tweet") == alone
    assert {len(known) for known in memory.records.values()} == {1}
    assert memory.records.keys() == {"LaMP-7", "posts"}


def test_without_a_source_id_no_record_is_taken_for_the_target() -> None:
    kept, _ = apply(request(MOVIES, movie_input(DOG)), record("1", CAT), record("2", CAT))
    assert kept == ["1", "2"]


@pytest.mark.parametrize(
    ("date", "asked", "is_legal"),
    [
        ("2011-05-01", "2011-05-02", True),
        ("2011-05-02", "2011-05-02", False),
        ("2011-05-03", "2011-05-02", False),
        ("2011", "2012", True),
        ("2011", "2011-05-02", False),
        ("2011-05-02 10:00:00", "2011-05-02", False),
        (None, "2011-05-02", True),
        ("2031", None, True),
        (None, None, True),
    ],
)
def test_only_strictly_earlier_records_are_legal(
    date: str | None, asked: str | None, is_legal: bool
) -> None:
    kept, gone = apply(request(MOVIES, movie_input(DOG), date=asked), record("1", CAT, date=date))
    assert bool(kept) is is_legal
    assert gone == ({} if is_legal else {"1": "not strictly earlier"})


def test_the_first_rule_counts() -> None:
    asked = request(MOVIES, movie_input(DOG), date="2011", source_id="1")
    _, gone = apply(asked, record("1", DOG, date="2012"), record("2", DOG, date="2012"))
    assert gone == {"1": "target", "2": "not strictly earlier"}


def test_the_same_context_in_another_dress_is_the_same_interaction() -> None:
    dressed = "a DOG travels home—across the  whole of Canada !"
    kept, gone = apply(
        request(MOVIES, movie_input(DOG)), record("1", dressed, "classic"), record("2", CAT)
    )
    assert gone == {"1": "exact duplicate"}
    assert kept == ["2"]


def test_a_shared_label_is_not_a_shared_interaction() -> None:
    asked = request(MOVIES, movie_input(DOG), source_id="t")
    kept, _ = apply(
        asked, record("t", DOG, "thought-provoking"), record("1", CAT, "thought-provoking")
    )
    assert kept == ["1"]
    kept, _ = apply(asked, record("1", CAT, "comedy"), reference="comedy")
    assert kept == ["1"]


def test_records_that_are_nothing_but_a_label_are_never_duplicates() -> None:
    scores = Task("scores", "d", "score", labels=("a long label of more than twenty letters",))
    label = scores.labels[0]
    asked = request(scores, label, source_id="t")
    kept, _ = apply(asked, record("t", "", label), record("1", "", label), reference=label)
    assert kept == ["1"]


def test_a_context_that_happens_to_be_the_answers_label_is_not_the_answer() -> None:
    label = "not what I had hoped for at all"
    own = Task("own", "d", "score", "text", labels=("good", label))
    kept, _ = apply(request(own, DOG), record("1", label, "good"), reference=label)
    assert kept == ["1"]


def test_short_texts_identify_nothing_on_their_own() -> None:
    reviews = LAMP_TASKS["LaMP-3"]
    asked = request(reviews, "review: Works great!", source_id="t")
    kept, gone = apply(
        asked,
        record("t", "Works great!", "5"),
        record("other score", "works great", "4"),
        record("same all over", "works great", "5"),
        record("dots", "...", "5"),
    )
    assert kept == ["other score", "dots"]
    assert gone == {"t": "target", "same all over": "exact duplicate"}


def test_texts_that_fold_to_nothing_are_not_alike() -> None:
    kept, _ = apply(
        request(TWEETS, tweet_input("?!"), source_id="t"),
        record("t", "", "..."),
        record("1", "", "!!!"),
        reference="--",
    )
    assert kept == ["1"]


def test_a_paper_listed_twice_is_found_by_its_title_though_its_abstract_is_missing() -> None:
    """As in the real LaMP-5 folder: a person's paper under two ids."""
    asked = request(PAPERS, paper_input(ABSTRACT), date="2012", source_id="W12-1")
    kept, gone = apply(
        asked,
        record("W12-1", ABSTRACT, TITLE, "2012"),
        record("J11-9", "", f"{TITLE}.", "2011"),
        record("J10-2", "", "Another grammar of Polish", "2010"),
    )
    assert gone == {"W12-1": "target", "J11-9": "exact duplicate"}
    assert kept == ["J10-2"]


def test_an_answer_that_stands_in_the_history_is_found_by_the_reference_alone() -> None:
    """As in the real LaMP-7: no source id, and the query only paraphrases the tweet."""
    tweet = "@ann got a busy day today.. but i'm bored right now"
    asked = request(TWEETS, tweet_input("Although I have a lot to do, I feel unoccupied."))
    history = (record("1", "", tweet), record("2", "", "good night everyone, see you"))
    assert apply(asked, *history)[0] == ["1", "2"]
    assert apply(asked, *history, reference=f"{tweet} ")[1] == {"1": "exact duplicate"}


def test_the_query_itself_in_a_history_without_contexts() -> None:
    asked = request(TWEETS, tweet_input("thank you"))
    assert apply(asked, record("1", "", "Thank you!"), record("2", "", "Thanks")) == (
        ["2"],
        {"1": "exact duplicate"},
    )


NEAR = "A dog travels back home across the whole of Canada."


def near(cosine: float, text: str = NEAR) -> TableEncoder:
    """An unnormalised encoder in which `text` has this cosine with DOG."""
    return TableEncoder({DOG: (3.0, 0.0), text: (5 * cosine, 5 * (1 - cosine**2) ** 0.5)})


@pytest.mark.parametrize(("cosine", "is_legal"), [(0.97, False), (0.93, True)])
def test_a_close_embedding_makes_a_near_duplicate(cosine: float, is_legal: bool) -> None:
    controls = LeakageControls(near(cosine), near_duplicate_threshold=0.95)
    left = controls.legal(request(MOVIES, movie_input(DOG)), (record("1", NEAR), record("2", CAT)))
    assert reasons(left) == ({} if is_legal else {"1": "near duplicate"})
    if not is_legal:
        assert left.removals[0].detail == "cosine 0.970"


def test_a_close_embedding_of_other_words_is_not_a_duplicate() -> None:
    asked = request(MOVIES, movie_input(DOG))
    encoder = near(0.99, CAT)
    assert LeakageControls(encoder).legal(asked, (record("1", CAT),)).removals == ()
    assert encoder.seen == []
    by_meaning_alone = LeakageControls(encoder, shared_wording=0)
    assert reasons(by_meaning_alone.legal(asked, (record("1", CAT),))) == {"1": "near duplicate"}


def test_a_text_inside_a_longer_one_shares_its_wording() -> None:
    """As in the real LaMP-3: somebody's old review with a paragraph before it."""
    longer = f"Since I wrote this I have seen it twice more and changed my mind. {DOG} {CAT}"
    asked = request(MOVIES, movie_input(DOG))
    left = LeakageControls(near(0.96, longer)).legal(asked, (record("1", longer),))
    assert reasons(left) == {"1": "near duplicate"}


def test_short_texts_are_never_near_duplicates() -> None:
    encoder = TableEncoder(
        {"Works great!": (1.0,), "Works great": (1.0,), "It works great": (1.0,)}
    )
    asked = request(LAMP_TASKS["LaMP-3"], "review: Works great!")
    history = (record("1", "It works great", "5"),)
    assert LeakageControls(encoder, shared_wording=0).legal(asked, history).records == history


def test_a_text_without_a_direction_is_near_nothing() -> None:
    encoder = TableEncoder({DOG: (0.0,), NEAR: (0.0,)})
    asked = request(MOVIES, movie_input(DOG))
    assert LeakageControls(encoder, 0.1).legal(asked, (record("1", NEAR),)).removals == ()


def test_near_copies_of_an_answer_count_where_records_have_no_context() -> None:
    """The same message to somebody else; but a weekly headline is not the same column."""
    message, copy = f"@ann {DOG}", f"@bob {DOG}"
    encoder = TableEncoder({message: (1.0,), copy: (1.0,)})
    asked = request(TWEETS, tweet_input("A pet finds its way."))
    left = LeakageControls(encoder).legal(asked, (record("1", "", copy),), message)
    assert reasons(left) == {"1": "near duplicate"}
    headline = record("1", "Nine new films, none with a dog.", copy)
    encoder = TableEncoder({message: (1.0,), f"{copy} {headline.context}": (1.0,)})
    asked = request(LAMP_TASKS["LaMP-4"], "article: A pet finds its way.")
    assert LeakageControls(encoder).legal(asked, (headline,), message).records == (headline,)


def test_many_requests_give_what_each_gives_alone_and_embed_every_text_once() -> None:
    vectors = {DOG: (3.0, 0.0), NEAR: (4.9, 0.5), CAT: (0.0, 1.0)}
    histories: list[History] = [
        (record("1", NEAR), record("2", CAT), record("3", DOG)),
        (record("1", NEAR, owner="bob"), record("9", CAT, owner="bob", date="2020")),
        (record("1", NEAR), record("2", CAT)),
    ]
    requests = [
        request(MOVIES, movie_input(DOG), source_id="3"),
        request(MOVIES, movie_input(DOG), user="bob", date="2019"),
        request(MOVIES, movie_input(CAT)),
    ]
    encoder = TableEncoder(vectors)
    together = LeakageControls(encoder).legal_many(requests, histories)
    assert sorted(encoder.seen) == sorted(set(encoder.seen)) == sorted([DOG, NEAR])
    alone = [
        LeakageControls(TableEncoder(vectors)).legal(r, h)
        for r, h in zip(requests, histories, strict=True)
    ]
    assert together == alone
    assert [reasons(left) for left in together] == [
        {"1": "near duplicate", "3": "target"},
        {"1": "near duplicate", "9": "not strictly earlier"},
        {"2": "exact duplicate"},
    ]


def test_settings_out_of_range() -> None:
    with pytest.raises(ConfigError, match="near_duplicate_threshold must be between 0 and 1"):
        LeakageControls(None, 1.5)
    with pytest.raises(ConfigError, match="shared_wording"):
        LeakageControls(None, 0.9, -1)


@pytest.mark.parametrize(
    ("some", "others"),
    [
        ("Straße", "STRASSE"),
        ("ﬁne ｆｉｎｅ", "fine fine"),
        ("well-known", "well known"),
        ("zero\u200bwidth", "zerowidth"),
        (" a\n\tb ", "A b."),
        ("“Quoted”", '"quoted"'),
    ],
)
def test_folding(some: str, others: str) -> None:
    assert folded(some) == folded(others)


def test_folding_keeps_what_makes_words_different() -> None:
    assert len({folded(text) for text in ("कि", "की", "C++", "C", "😀", "😡", "1", "2")}) == 8


def test_a_check_counts_per_split() -> None:
    asked = request(MOVIES, movie_input(DOG), source_id="1")
    history = (record("1", DOG), record("2", CAT), record("3", CAT))
    splits = {"train": (Example(asked, "comedy"),), "dev": ()}
    dataset = Dataset(MOVIES, {"ann": history, "bob": ()}, splits)
    check = check_dataset(dataset, LeakageControls())
    train, dev = check.splits
    assert (check.users, check.records) == (2, 3)
    assert (train.requests, train.users, train.median_legal, train.without_history) == (1, 1, 2, 0)
    assert {reason: n for reason, n in train.removals.items() if n} == {Reason.TARGET: 1}
    assert (dev.requests, dev.median_legal) == (0, 0)
    assert list(removal_lines(dataset, check)) == [
        {
            "split": "train",
            "request": "q",
            "user": "ann",
            "record": "1",
            "reason": "target",
            "detail": "record 1",
        }
    ]


@pytest.mark.parametrize(
    ("name", "median", "exact"),
    [("LaMP_1", 11, 9), ("LaMP_2", 6, 0), ("LaMP_5", 11, 1), ("LaMP_7", 13, 56)],
)
def test_real_histories(real_data: Path, name: str, median: float, exact: int) -> None:
    """The medians are those of the data's own description; the duplicates are pinned."""
    dataset = read_log_folder(real_data / name)
    train = check_dataset(dataset, LeakageControls()).splits[0]
    assert train.median_legal == median
    assert train.removals[Reason.EXACT_DUPLICATE] == exact


def test_what_was_probably_not_meant_is_noted() -> None:
    task = replace(MOVIES, name="films", metadata_fields=("mood",))
    histories: dict[str, History] = {"ann": (record("m1", CAT), record("m2", DOG, date="2020"))}
    asked = [
        request(task, movie_input("One."), date="2021", source_id="m1"),
        request(task, movie_input("Two."), date="2021", source_id="m9"),
        request(task, movie_input("Three."), user="bob"),
    ]
    examples = tuple(Example(replace(one, id=str(n)), "comedy") for n, one in enumerate(asked))
    notes = check_dataset(Dataset(task, histories, {"dev": examples}), LeakageControls()).notes
    assert [note.split(" ")[:3] for note in notes] == [
        ["1", "of", "2"],  # records without a date
        ["1", "of", "3"],  # requests without one
        ["1", "of", "3"],  # of an unknown user
        ["1", "of", "2"],
        ["no", "record", "has"],
    ]
    fine: dict[str, History] = {"ann": (record("m1", CAT, date="2020"),)}
    whole = Dataset(MOVIES, fine, {"dev": examples[:1]})
    assert check_dataset(whole, LeakageControls()).notes == ()
