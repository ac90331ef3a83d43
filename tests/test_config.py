from __future__ import annotations

from pathlib import Path

import pytest

from enough.config import load_config
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
