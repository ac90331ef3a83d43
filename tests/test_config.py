from __future__ import annotations

from dataclasses import asdict, dataclass, field
from pathlib import Path

import pytest

from enough.config import LATER, as_table, load_config, plain
from enough.errors import ConfigError, UnknownNameError
from enough.evaluation.lengths import LengthConfig


def write(path: Path, text: str) -> Path:
    file = path / "study.toml"
    file.write_text(text)
    return file


def test_a_whole_file(tmp_path: Path) -> None:
    file = write(
        tmp_path,
        """
        lengths = [0, 2]
        requests = 7
        [retrieval]
        retriever = "bm25"
        near_duplicate_threshold = 1
        [generator]
        model = "some/model"
        adapter = "an/adapter"
        dtype = "float32"
        """,
    )
    config = load_config(file, LengthConfig)
    assert config.lengths == (0, 2)
    assert config.requests == 7
    assert config.retrieval.retriever == "bm25"
    assert config.retrieval.near_duplicate_threshold == 1.0
    assert config.retrieval.pool == 20  # the default
    assert config.generator.adapter == Path("an/adapter")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("length = [1]", "unknown key in .*study.toml 'length'; did you mean 'lengths'"),
        ("[retrieval]\nretreiver = 'bm25'", "study.toml: retrieval 'retreiver'; did you mean"),
        ("requests = 'many'", "requests must be of type int, not 'many'"),
        ("requests = true", "requests must be of type int, not True"),
        ("lengths = [1, 'two']", r"lengths\[1\] must be of type int"),
        ("lengths = 3", "lengths must be of type"),
        ("lengths = []", "at least one number"),
        ("requests = -1", "must not be negative"),
        ("[generator]\ndtype = 'int4'", "dtype must be one of 'auto'"),
        ("retrieval = 3", "retrieval must be of type RetrievalConfig"),
        ("[retrieval]\npool = 0", "retrieval.pool must be at least 1"),
        ("lengths = [", "study.toml: "),
    ],
)
def test_what_is_wrong_is_named(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises((ConfigError, UnknownNameError), match=message):
        load_config(write(tmp_path, text), LengthConfig)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"nowhere\.toml"):
        load_config(tmp_path / "nowhere.toml", LengthConfig)


@dataclass(frozen=True)
class _Older:
    lambda_: float = 1.0
    parts: tuple[int, ...] = (1,)


@dataclass(frozen=True)
class _Newer(_Older):
    inner: _Older | None = field(default=None, metadata=LATER)


def test_a_field_that_came_later_is_not_there_until_it_is_used() -> None:
    assert as_table(_Newer()) == asdict(_Older())
    assert as_table(_Newer(inner=_Older())) == asdict(_Newer(inner=_Older()))
    assert plain(_Newer(inner=_Older(2.0))) == {
        "lambda": 1.0, "parts": [1], "inner": {"lambda": 2.0, "parts": [1]}
    }  # fmt: skip
