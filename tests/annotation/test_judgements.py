"""Annotators' files: read whole, or refused with the file and what is wrong in it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from enough.annotation.judgements import Judgement, read_judgements
from enough.annotation.key import Key, key_of
from enough.errors import DataError
from tests.annotation.made_up import drawn


@pytest.fixture(scope="module")
def key() -> Key:
    return key_of(drawn(), "digest")


def saved(**changes: Any) -> dict[str, Any]:
    answers = {"faithfulness": "left", "style": "tie", "overall": "right"}
    judgements = [
        {"pair": "pair-1", "answers": answers, "seconds": 12.5},
        {"pair": "pair-3", "answers": {"style": "left"}, "seconds": 4},
    ]
    plain = {"format": 1, "page": "digest", "annotator": "Ann", "judgements": judgements}
    return plain | changes


def write(path: Path, plain: object) -> Path:
    path.write_text(json.dumps(plain))
    return path


def test_a_file_with_unfinished_pairs(tmp_path: Path, key: Key) -> None:
    path = write(tmp_path / "judgements-Ann.json", saved(annotator="  Ann   Lee "))
    (found,) = read_judgements([path], key)
    assert found.annotator == "Ann Lee"
    assert found.finished == 1
    assert found.seconds == 16.5
    assert found.judgements == (
        Judgement("pair-1", "faithfulness", "left"),
        Judgement("pair-1", "style", "tie"),
        Judgement("pair-1", "overall", "right"),
        Judgement("pair-3", "style", "left"),
    )


def test_one_file_per_annotator(tmp_path: Path, key: Key) -> None:
    paths = [
        write(tmp_path / "a.json", saved()),
        write(tmp_path / "b.json", saved(annotator="Bob")),
        write(tmp_path / "c.json", saved(annotator=" ANN")),
    ]
    assert [one.annotator for one in read_judgements(paths[:2], key)] == ["Ann", "Bob"]
    with pytest.raises(DataError, match=r"c\.json: is by 'ANN', as .*a\.json is"):
        read_judgements(paths, key)


Change = Callable[[dict[str, Any]], object]
WRONG: list[tuple[Change, str]] = [
    (lambda p: p.update(page="other"), r"belongs to another page \('other', the key's is 'digest'"),
    (lambda p: p.update(format=2), r"is of another version \(field 'format'\)"),
    (lambda p: p.pop("format"), r"is missing \(field 'format'\)"),
    (lambda p: p.pop("page"), r"is missing \(field 'page'\)"),
    (lambda p: p.pop("annotator"), r"is missing \(field 'annotator'\)"),
    (lambda p: p.update(annotator=" "), r"does not say who judged \(field 'annotator'\)"),
    (lambda p: p.update(judgements={}), r"must be of type list \(field 'judgements'\)"),
    (lambda p: p.update(judgements=[3]), r"must be an object \(field 'judgements\[0\]'\)"),
    (lambda p: p["judgements"][1].update(pair="x"), r"no pair 'x' \(field 'judgements\[1\]\.pair'"),
    (lambda p: p["judgements"][1].update(pair="pair-1"), r"judges 'pair-1' twice"),
    (lambda p: p["judgements"][1].pop("answers"), r"is missing \(field 'judgements\[1\]\.answers'"),
    (lambda p: p["judgements"][1].pop("seconds"), r"is missing \(field 'judgements\[1\]\.seconds'"),
    (lambda p: p["judgements"][1].update(seconds="4"), r"must be of type int"),
    (lambda p: p["judgements"][1].update(seconds=-1), r"cannot be -1\.0 \(field .*seconds'\)"),
    (lambda p: p["judgements"][1].update(seconds=float("nan")), r"cannot be nan"),
    (
        lambda p: p["judgements"][0]["answers"].update(style="both"),
        r"unknown answer 'both'; it must be one of left, tie, right "
        r"\(field 'judgements\[0\]\.answers\.style'\)",
    ),
    (
        lambda p: p["judgements"][0]["answers"].update(style=["left"]),
        r"unknown answer \['left'\]",
    ),
    (
        lambda p: p["judgements"][0]["answers"].update(taste="left"),
        r"unknown criterion; there are faithfulness, overall, style",
    ),
]


@pytest.mark.parametrize(("change", "message"), WRONG, ids=[message for _, message in WRONG])
def test_what_is_wrong_is_named(tmp_path: Path, key: Key, change: Change, message: str) -> None:
    plain = saved()
    change(plain)
    path = write(tmp_path / "bad.json", plain)
    with pytest.raises(DataError, match=rf"bad\.json: .*{message}"):
        read_judgements([path], key)


def test_what_is_no_json(tmp_path: Path, key: Key) -> None:
    path = tmp_path / "bad.json"
    with pytest.raises(DataError, match=r"bad\.json: cannot be read \(No such file"):
        read_judgements([path], key)
    for content in (b"{", b"\xff\xfe"):
        path.write_bytes(content)
        with pytest.raises(DataError, match=r"bad\.json: is not JSON"):
            read_judgements([path], key)
    path.write_text("[]")
    with pytest.raises(DataError, match="must hold one JSON object"):
        read_judgements([path], key)
