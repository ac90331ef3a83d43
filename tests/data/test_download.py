from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from enough.data.download import download_lamp, lamp_url
from enough.data.fetch import Patience
from enough.data.folders import read_folder
from enough.errors import DownloadError, UnknownNameError
from enough.tasks import LAMP_TASKS, Task
from tests.data.lamp_server import Server, running, serve_split
from tests.data.world import MOVIES

QUICK = Patience(attempts=3, wait=0.001, timeout=5)
NAME = "/time/LaMP_2/new/dev/dev_questions.json"


@pytest.fixture
def server() -> Iterator[Server]:
    with running() as state:
        yield state


def download(server: Server, folder: Path, **options: Any) -> Path:
    defaults: dict[str, Any] = {"splits": ["dev"], "patience": QUICK, "base_url": server.url}
    (path,) = download_lamp(folder, [MOVIES], **defaults | options)
    return path


def test_what_is_downloaded_can_be_read(server: Server, tmp_path: Path) -> None:
    serve_split(server)
    path = download(server, tmp_path)
    assert path == tmp_path / "time" / "LaMP_2"
    assert sorted(p.name for p in path.iterdir()) == ["dev_outputs.json", "dev_questions.json"]
    assert len(read_folder(path).histories["7"]) == 50


@pytest.mark.parametrize(
    ("task", "protocol", "expected"),
    [
        ("LaMP-2", "time", "base/time/LaMP_2/new/train/train_outputs.json"),
        ("LaMP-2", "user", "base/LaMP_2/new/train/train_outputs.json"),
        ("LaMP-7", "time", "base/time/LaMP_7/train/train_outputs.json"),
        ("LaMP-7", "user", "base/LaMP_7/train/train_outputs.json"),
    ],
)
def test_where_the_files_lie(task: str, protocol: Any, expected: str) -> None:
    assert lamp_url(LAMP_TASKS[task], "train", "outputs", protocol, "base/") == expected


def test_names_that_are_unknown(tmp_path: Path) -> None:
    wrong: Any = "random"
    with pytest.raises(UnknownNameError, match="unknown protocol 'random'"):
        download_lamp(tmp_path, [MOVIES], protocol=wrong)
    with pytest.raises(UnknownNameError, match="unknown split 'validation'"):
        download_lamp(tmp_path, [MOVIES], ["validation"])
    with pytest.raises(UnknownNameError, match="unknown LaMP task 'own'"):
        download_lamp(tmp_path, [Task("own", "d", "a")])


def test_a_whole_file_is_not_fetched_again(server: Server, tmp_path: Path) -> None:
    serve_split(server)
    download(server, tmp_path)
    server.asked.clear()
    download(server, tmp_path)
    assert server.asked == []


def test_a_cut_connection_is_resumed_where_it_broke(server: Server, tmp_path: Path) -> None:
    serve_split(server)
    server.cut_after = [1000, 500]
    path = download(server, tmp_path)
    assert server.asked_for(NAME) == [None, "bytes=1000-", "bytes=1500-"]
    assert (path / "dev_questions.json").read_bytes() == server.files[NAME]


def test_a_later_run_resumes_what_an_earlier_one_left(server: Server, tmp_path: Path) -> None:
    serve_split(server)
    server.cut_after = [100, 100, 100]
    with pytest.raises(DownloadError, match=r"dev_questions.json: not fetched whole in 3 attempts"):
        download(server, tmp_path)
    assert not (tmp_path / "time/LaMP_2/dev_questions.json").exists()
    server.asked.clear()
    path = download(server, tmp_path)
    assert server.asked_for(NAME) == ["bytes=300-"]
    assert (path / "dev_questions.json").read_bytes() == server.files[NAME]
    assert not list(path.glob("*.part*"))


@pytest.mark.parametrize("tag", ['"one"', 'W/"weak"', None])
def test_a_file_that_changed_meanwhile_comes_anew(
    server: Server, tmp_path: Path, tag: str | None
) -> None:
    serve_split(server)
    server.tag = tag
    server.cut_after = [300] * QUICK.attempts
    with pytest.raises(DownloadError):
        download(server, tmp_path)
    if tag == '"one"':
        server.files[NAME] = server.files[NAME].replace(b"Film", b"Movie")
        server.tag = '"two"'
    path = download(server, tmp_path)
    assert (path / "dev_questions.json").read_bytes() == server.files[NAME]


def test_a_server_without_ranges_is_asked_from_the_start(server: Server, tmp_path: Path) -> None:
    serve_split(server)
    server.ranges = False
    server.cut_after = [1000]
    path = download(server, tmp_path)
    assert server.asked_for(NAME) == [None, "bytes=1000-"]
    assert (path / "dev_questions.json").read_bytes() == server.files[NAME]


def test_a_server_that_sends_another_part_is_not_believed(server: Server, tmp_path: Path) -> None:
    serve_split(server)
    server.shifted = True
    server.cut_after = [1000]
    path = download(server, tmp_path)
    assert server.asked_for(NAME) == [None, "bytes=1000-", None]
    assert (path / "dev_questions.json").read_bytes() == server.files[NAME]


def test_a_part_of_the_wrong_size_is_thrown_away(server: Server, tmp_path: Path) -> None:
    serve_split(server)
    part = tmp_path / "time/LaMP_2/dev_questions.json.part"
    part.parent.mkdir(parents=True)
    part.write_bytes(b"x" * (len(server.files[NAME]) + 10))
    path = download(server, tmp_path)
    assert (path / "dev_questions.json").read_bytes() == server.files[NAME]


def test_a_part_that_is_already_whole_only_gets_its_name(server: Server, tmp_path: Path) -> None:
    serve_split(server)
    part = tmp_path / "time/LaMP_2/dev_questions.json.part"
    part.parent.mkdir(parents=True)
    part.write_bytes(server.files[NAME])
    path = download(server, tmp_path)
    assert server.asked_for(NAME) == [f"bytes={len(server.files[NAME])}-"]
    assert (path / "dev_questions.json").read_bytes() == server.files[NAME]


def test_a_busy_server_is_asked_again_and_a_refusal_is_final(
    server: Server, tmp_path: Path
) -> None:
    serve_split(server)
    server.statuses = [503, 429]
    download(server, tmp_path)
    assert len(server.asked_for(NAME)) == 3
    server.statuses = [403]
    with pytest.raises(DownloadError, match="the server answered 403"):
        download(server, tmp_path / "again")


def test_a_missing_file_names_its_url_at_once(server: Server, tmp_path: Path) -> None:
    with pytest.raises(DownloadError) as caught:
        download(server, tmp_path)
    assert f"{server.url}{NAME}: the server has no such file" in str(caught.value)
    assert len(server.asked) == 1


def test_missing_test_outputs_are_explained(
    server: Server, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    serve_split(server, "test")
    del server.files["/time/LaMP_2/new/test/test_outputs.json"]
    with caplog.at_level(logging.WARNING):
        path = download(server, tmp_path, splits=["test"])
    assert "test outputs are not public" in caplog.text
    assert [p.name for p in path.iterdir()] == ["test_questions.json"]


def test_a_web_page_instead_of_the_file_is_refused(server: Server, tmp_path: Path) -> None:
    server.files[NAME] = b"<!DOCTYPE html><title>Please log in</title>"
    with pytest.raises(DownloadError, match="not JSON but b'<!DOCTYPE"):
        download(server, tmp_path)
    assert not list((tmp_path / "time/LaMP_2").iterdir())


def test_no_server_at_all(tmp_path: Path) -> None:
    with pytest.raises(DownloadError, match="not fetched whole in 3 attempts"):
        download(Server(url="http://127.0.0.1:9"), tmp_path)


def test_progress_goes_up_to_the_size(server: Server, tmp_path: Path) -> None:
    serve_split(server)
    server.cut_after = [1000]
    reports: list[tuple[str, int, int | None]] = []
    download(
        server, tmp_path, progress=lambda p, done, total: reports.append((p.name, done, total))
    )
    size = len(server.files[NAME])
    of_questions = [(done, total) for name, done, total in reports if "questions" in name]
    assert of_questions[0] == (0, size)
    assert of_questions[-1] == (size, size)
    assert [done for done, _ in of_questions] == sorted(done for done, _ in of_questions)
