from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import Any

import pytest

from enough.data.folders import read_folder
from enough.data.lamp import read_lamp_folder
from enough.data.lamp_files import stream_questions
from enough.data.logs import read_log_folder, write_log_folder
from enough.errors import DataError
from tests.data.world import MOVIES, TWEETS, movie_input, tweet_input

NEWS = (
    "Which category does this article relate to among the following categories? Just answer with "
    "the category name without further explanation. categories: [women, religion] article: Rain."
)


def film(film_id: str, description: str, tag: str = "comedy", date: str = "2009-01-02") -> Any:
    return {"id": film_id, "description": description, "tag": tag, "date": date}


def question(question_id: str, profile: list[Any], **more: Any) -> dict[str, Any]:
    text = movie_input(f"The film that {question_id} asks about.")
    return {"id": question_id, "input": text, "profile": profile, **more}


def lamp_folder(tmp_path: Path, name: str = "LaMP_2", **splits: list[dict[str, Any]]) -> Path:
    folder = tmp_path / name
    folder.mkdir(parents=True, exist_ok=True)
    for split, questions in splits.items():
        golds = [{"id": q["id"], "output": "classic"} for q in reversed(questions)]
        (folder / f"{split}_questions.json").write_text(json.dumps(questions))
        (folder / f"{split}_outputs.json").write_text(json.dumps({"task": name, "golds": golds}))
    return folder


def test_a_user_split_gives_every_question_its_own_user(tmp_path: Path) -> None:
    shared = [film("1", "A dog."), film("2", "A cat.")]
    folder = lamp_folder(tmp_path, dev=[question("110", shared), question("111", shared[:1])])
    dataset = read_folder(folder)
    assert {user: len(h) for user, h in dataset.histories.items()} == {"user-110": 2, "user-111": 1}
    assert [e.request.id for e in dataset.splits["dev"]] == ["110", "111"]
    assert dataset.visible == {}


def test_a_later_profile_of_the_same_user_stays_hidden_from_the_earlier_question(
    tmp_path: Path,
) -> None:
    early, target, late = (
        film("1", "Early.", date="2007-01-01"),
        film("2", "What 100 asks about.", date="2008-01-01"),
        film("3", "Late.", date="2009-01-01"),
    )
    folder = lamp_folder(
        tmp_path,
        train=[question("100", [early], user_id="7")],
        dev=[question("110", [late, target, early], user_id="7")],
    )
    dataset = read_lamp_folder(folder)
    train, dev = (dataset.splits[split][0].request for split in ("train", "dev"))
    assert train.user == dev.user == "7"
    assert [r.id for r in dataset.history(train)] == ["1"]
    assert [r.id for r in dataset.history(dev)] == ["1", "2", "3"]
    write_log_folder(dataset, tmp_path / "log")
    assert read_log_folder(tmp_path / "log") == dataset


def test_one_id_for_two_films_keeps_both_and_repeats_are_kept_once(tmp_path: Path) -> None:
    twice = [film("1", "A dog.", "comedy"), film("1", "A dog.", "classic"), film("1", "A dog.")]
    folder = lamp_folder(tmp_path, dev=[question("110", twice)])
    (history,) = read_lamp_folder(folder).histories.values()
    assert [(r.id, r.action) for r in history] == [("1", "comedy"), ("1~2", "classic")]


def test_outputs_are_joined_by_id(tmp_path: Path) -> None:
    folder = lamp_folder(tmp_path, dev=[question("a", []), question("b", [])])
    golds = [{"id": "b", "output": "action"}, {"id": "a", "output": "classic"}]
    (folder / "dev_outputs.json").write_text(json.dumps({"task": "LaMP_2", "golds": golds}))
    examples = read_lamp_folder(folder).splits["dev"]
    assert [(e.request.id, e.reference) for e in examples] == [("a", "classic"), ("b", "action")]


@pytest.mark.parametrize(
    ("questions", "golds", "told"),
    [
        (["a", "b"], ["a"], "no output for question b"),
        (["a"], ["a", "b", "c"], "no question for output b, c"),
        (list("abcdefgh"), ["h"], "no output for question a, b, c, d, e and 2 more"),
        (["a"], ["a", "a"], "a second output for question 'a'"),
        (["a", "a"], ["a"], "a second question 'a'"),
    ],
)
def test_ids_that_do_not_match_are_named(
    tmp_path: Path, questions: list[str], golds: list[str], told: str
) -> None:
    folder = lamp_folder(tmp_path, dev=[question(name, []) for name in questions])
    outputs = {"task": "LaMP_2", "golds": [{"id": n, "output": "classic"} for n in golds]}
    (folder / "dev_outputs.json").write_text(json.dumps(outputs))
    with pytest.raises(DataError, match=told):
        read_lamp_folder(folder)


def test_the_same_question_in_two_splits_is_an_error(tmp_path: Path) -> None:
    folder = lamp_folder(tmp_path, train=[question("a", [])], dev=[question("a", [])])
    with pytest.raises(DataError, match="a second question 'a'"):
        read_lamp_folder(folder)


def test_the_damaged_item_110_is_mended_and_only_where_it_is_damaged(tmp_path: Path) -> None:
    damaged = question("110", []) | {"input": "x Overwhelmed by her suffocating schedule, ..."}
    (example,) = read_lamp_folder(lamp_folder(tmp_path / "a", dev=[damaged])).splits["dev"]
    assert example.request.query.startswith("Overwhelmed by her suffocating schedule, touring")
    assert example.request.input.startswith(movie_input("Overwhelmed by her"))

    (example,) = read_lamp_folder(lamp_folder(tmp_path / "b", dev=[question("110", [])])).splits[
        "dev"
    ]
    assert example.request.query == "The film that 110 asks about."

    with pytest.raises(DataError, match="question '111': the input does not have the form"):
        read_lamp_folder(lamp_folder(tmp_path / "c", dev=[damaged | {"id": "111"}]))


def test_the_retired_news_task_is_refused(tmp_path: Path) -> None:
    item = {"id": "1", "text": "Rain.", "title": "Weather", "category": "women"}
    old = {"id": "1", "input": NEWS, "profile": [item]}
    folder = lamp_folder(tmp_path, dev=[old])
    outputs = {"task": "LaMP_2", "golds": [{"id": "1", "output": "women"}]}
    (folder / "dev_outputs.json").write_text(json.dumps(outputs))
    with pytest.raises(DataError, match=r"retired LaMP-2, news categorisation.*'new'"):
        read_lamp_folder(folder)
    with pytest.raises(DataError, match="retired LaMP-2"):  # its input would pass for LaMP-4's
        read_lamp_folder(lamp_folder(tmp_path, "LaMP_4", dev=[old]))


def test_counts_of_the_time_split_are_compared_with_the_paper(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        read_lamp_folder(lamp_folder(tmp_path / "user", dev=[question("1", [])]))
        assert not caplog.records
        read_lamp_folder(lamp_folder(tmp_path / "time", dev=[question("1", [], user_id="7")]))
    assert "1 questions; the paper's time split has 1410" in caplog.text


def test_questions_without_outputs_are_left_out_but_can_be_streamed(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    folder = lamp_folder(tmp_path, dev=[question("1", [])], test=[question("2", [film("1", "A")])])
    (folder / "test_outputs.json").unlink()
    with caplog.at_level(logging.WARNING):
        assert set(read_lamp_folder(folder).splits) == {"dev"}
    assert "no test_outputs.json" in caplog.text
    (streamed,) = stream_questions(folder / "test_questions.json", "test", MOVIES)
    assert (streamed.request.id, len(streamed.profile)) == ("2", 1)
    (folder / "dev_outputs.json").unlink()
    with pytest.raises(DataError, match="no questions with outputs for train, dev, test"):
        read_lamp_folder(folder)


def test_empty_items_and_odd_dates_of_millions_are_told_and_not_fatal(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    profile = [film("1", "A dog.", tag=""), film("2", "A cat.", date="unknown"), film("3", "")]
    with caplog.at_level(logging.WARNING):
        dataset = read_lamp_folder(lamp_folder(tmp_path, dev=[question("1", profile)]))
    (record,) = dataset.histories["user-1"]
    assert (record.id, record.moment) == ("2", None)
    assert "left out 2 profile items" in caplog.text
    assert "1 profile items have a date that is not a time" in caplog.text


@pytest.mark.parametrize(
    ("file", "content", "told"),
    [
        ("dev_questions.json", '[{"id": "1", "input": "x', "the JSON is cut off or damaged"),
        ("dev_questions.json", "[]", "there is no question in it"),
        ("dev_questions.json", '[["1"]]', "question 1: expected an object"),
        ("dev_questions.json", '[{"input": "x"}]', "the field is missing (field 'id')"),
        ("dev_outputs.json", '{"task": "LaMP_4", "golds": []}', "outputs of LaMP_4, not of LaMP-2"),
        (
            "dev_outputs.json",
            '{"task": "LaMP_2", "golds": [{"id": "1", "output": "horror"}]}',
            "output of '1': 'horror' is not an answer of LaMP-2",
        ),
    ],
)
def test_a_damaged_file_is_named(tmp_path: Path, file: str, content: str, told: str) -> None:
    folder = lamp_folder(tmp_path, dev=[question("1", [])])
    (folder / file).write_text(content)
    with pytest.raises(DataError) as caught:
        read_lamp_folder(folder)
    assert str(folder / file) in str(caught.value)
    assert told in str(caught.value)


def test_files_may_lie_as_on_the_server(tmp_path: Path) -> None:
    folder = lamp_folder(tmp_path, dev=[question("1", [])])
    (folder / "dev").mkdir()
    for name in ("dev_questions.json", "dev_outputs.json"):
        (folder / name).rename(folder / "dev" / name)
    assert len(read_folder(folder).splits["dev"]) == 1


def test_a_folder_of_neither_format(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"neither a log .* nor official LaMP files"):
        read_folder(tmp_path)
    with pytest.raises(DataError, match="there is no such folder"):
        read_folder(tmp_path / "nowhere")


def test_a_large_file_is_never_held_whole(tmp_path: Path) -> None:
    """Question after question is there before the rest of the file has been looked at."""
    path = tmp_path / "train_questions.json"
    good = {"id": "1", "input": tweet_input("hi"), "profile": [{"id": "1", "text": "yo"}]}
    path.write_text(f"[{json.dumps(good)}, " + " " * 200_000 + "broken")
    questions = stream_questions(path, "train", TWEETS)
    assert next(questions).request.query == "hi"
    with pytest.raises(DataError, match="cut off"):
        next(questions)
