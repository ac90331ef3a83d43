"""A small log and its settings, for commands that label."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tests.data.world import write_tweet_log

WORDS = ("amber", "birch", "cedar", "dune", "ember", "fjord", "grove", "heath")
SETTINGS = """
chunk = 4
[engine]
workers = 1
[retrieval]
retriever = "recency"
[matching]
controls = 2
[search]
max_records = 4
actions = 3
width = 2
[calibration]
requests = 10
"""


def write_small_log(folder: Path) -> Path:
    """Ten users with two to eleven records each; settings.toml lies beside it."""
    tweets = {
        f"u{n}": [f"{WORDS[(n + i) % 8]} {WORDS[(n * i) % 8]} {n} {i}" for i in range(2 + n)]
        for n in range(10)
    }
    answers = [
        (f"u{n % 10}", f"{WORDS[n % 8]} and {WORDS[(n + 3) % 8]} along the way") for n in range(20)
    ]
    (folder / "settings.toml").write_text(SETTINGS)
    return write_tweet_log(folder / "LaMP_7", tweets, answers)


def write_talkers_log(folder: Path, words: Sequence[str]) -> Path:
    """Twenty users with four records and one request each; everybody has a word of their own."""
    tweets = {f"u{n}": [f"{words[n]} about {i}" for i in range(4)] for n in range(20)}
    answers = [(f"u{n}", f"{words[n]} say") for n in range(20)]
    return write_tweet_log(folder / "LaMP_7", tweets, answers)
