"""Settings of a service: from a file, from the environment, and those that are refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from enough.errors import ConfigError, UnknownNameError
from enough.service.config import ServeConfig
from enough.service.environment import load_serve_config
from enough.service.known_tasks import KnownTasks
from enough.service.server import serve
from enough.store.config import StoreConfig


def test_a_file_and_the_environment(tmp_path: Path) -> None:
    file = tmp_path / "serve.toml"
    file.write_text(
        'host = "127.0.0.2"\nport = 1\nopen = false\n[store]\ndatabase = "a.sqlite"\nwait_s = 2\n'
    )
    config = load_serve_config(
        file,
        {
            "ENOUGH_SERVE__PORT": "9000",
            "ENOUGH_SERVE__OPEN": "true",
            "ENOUGH_SERVE__STORE__DATABASE": "postgresql://u:p@h/n",
            "ENOUGH_SERVE__LIMITS__TIMEOUT_S": "5",
            "ENOUGH_SERVE__TASKS": '["a.toml", "b.toml"]',
            "ENOUGH_SERVE__UPSTREAM__URL": "http://h/v1",
            "ENOUGH_SERVE__UPSTREAM__MODEL": "m",
            "ENOUGH_SERVE__CONTROLLER": "lamp",
            "PATH": "x",
        },
    )
    assert (config.host, config.port, config.open) == ("127.0.0.2", 9000, True)
    assert config.store == StoreConfig("postgresql://u:p@h/n", wait_s=2.0)
    assert config.limits.timeout_s == 5.0
    assert config.tasks == (Path("a.toml"), Path("b.toml"))
    assert config.upstream is not None
    assert (config.upstream.model, config.controller) == ("m", Path("lamp"))
    assert load_serve_config(None, {}) == ServeConfig()


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("HOTS", "x", "did you mean 'host'"),
        ("STORE__DATABSE", "x", "did you mean 'database'"),
        ("PORT__X", "1", "not a table"),
        ("PORT", "many", "is not a number"),
        ("PORT", "70000", "at most 65535"),
        ("OPEN", '"yes"', "must be of type bool"),
        ("ANSWERS", "never", "must be one of"),
        ("LIMITS__CONCURRENT", "0", "at least 1"),
        ("RETRIEVAL__RETRIEVER", "bm25", "must be 'dense'"),
        ("UPSTREAM__URL", "ftp://x", "'model' is missing"),
    ],
)
def test_wrong_variables(name: str, value: str, words: str) -> None:
    with pytest.raises((ConfigError, UnknownNameError), match=words):
        load_serve_config(None, {f"ENOUGH_SERVE__{name}": value})


def test_nothing_open_beyond_this_machine(tmp_path: Path) -> None:
    for host in ("0.0.0.0", "::", "192.168.0.7", "example.com"):
        with pytest.raises(ConfigError, match="anybody who reaches"):
            ServeConfig(host=host, open=True)
        store = StoreConfig(str(tmp_path / "enough.sqlite"))
        with pytest.raises(ConfigError, match=r"no API key yet.*keys create"):
            serve(ServeConfig(host=host, store=store))
    for host in ("localhost", "127.0.0.9", "::1"):
        assert ServeConfig(host=host, open=True).is_loopback


def test_tasks_of_ones_own(tmp_path: Path) -> None:
    file = tmp_path / "notes.toml"
    file.write_text('name = "My Notes"\ndescription = "d"\naction_field = "note"\n')
    tasks = KnownTasks([file])
    assert tasks.named("my-notes").action_field == "note"
    assert tasks.named("LAMP_4").name == "LaMP-4"
    with pytest.raises(ConfigError, match="called 'My Notes' already"):
        KnownTasks([file, file])
    with pytest.raises(UnknownNameError):
        tasks.named(str(file))
