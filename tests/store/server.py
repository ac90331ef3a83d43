"""A throw-away PostgreSQL server on a unix socket, as the store's tests need it.

Where there are no server binaries, or nobody they would run as, tests are skipped and say why.
"""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
from pathlib import Path

import psycopg
import pytest


class Server:
    """One server in one temporary folder; every test gets a schema of its own."""

    def __init__(self, binaries: Path, user: pwd.struct_passwd | None) -> None:
        # Not pytest's folder: the path of a socket must be short, and another user has to reach it.
        self.folder = Path(tempfile.mkdtemp(prefix="enough-pg-", dir="/tmp"))
        self._binaries, self._user, self._count = binaries, user, 0
        if user is not None:
            os.chown(self.folder, user.pw_uid, user.pw_gid)
        self._run("initdb", "--auth=trust", "--username=enough", "--no-sync", "--encoding=UTF8")
        self.start()

    def start(self) -> None:
        options = f"-k {self.folder} -c listen_addresses='' -c fsync=off -c max_connections=60"
        self._run("pg_ctl", "-w", "-l", str(self.folder / "log"), "-o", options, "start")

    def stop(self) -> None:
        self._run("pg_ctl", "-w", "-m", "fast", "stop")

    def remove(self) -> None:
        self._run("pg_ctl", "-w", "-m", "immediate", "stop")
        shutil.rmtree(self.folder)

    def new_database(self) -> str:
        """The URL of an empty one: a schema, which takes less time than a database."""
        self._count += 1
        name = f"test{self._count}"
        url = f"postgresql://enough@/postgres?host={self.folder}"
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute(f"CREATE SCHEMA {name}".encode())
        return f"{url}&options=-csearch_path%3D{name}"

    def files(self) -> list[Path]:
        """All tables and indexes of all databases."""
        return [path for path in (self.folder / "data" / "base").rglob("*") if path.is_file()]

    def _run(self, command: str, *arguments: str) -> None:
        as_user: dict[str, object] = {}
        if self._user is not None:
            as_user = {"user": self._user.pw_uid, "group": self._user.pw_gid, "extra_groups": []}
        done = subprocess.run(
            [self._binaries / command, "-D", self.folder / "data", *arguments],
            cwd="/",
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            check=False,
            **as_user,  # type: ignore[call-overload]
        )
        if done.returncode:
            raise RuntimeError(f"{command}: {done.stderr.decode(errors='replace')}")


def started() -> Server:
    """A running server; skips the test where there can be none."""
    places = [Path(found).parent] if (found := shutil.which("initdb")) else []
    places += sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    binaries = next((place for place in places if (place / "initdb").exists()), None)
    if binaries is None:
        pytest.skip("needs a PostgreSQL server: apt-get install postgresql, or make postgres")
    if os.getuid() != 0:
        return Server(binaries, None)
    for name in ("postgres", "nobody"):  # the server refuses to run as root
        try:
            return Server(binaries, pwd.getpwnam(name))
        except KeyError:
            continue
    pytest.skip("a PostgreSQL server does not run as root, and there is no user 'nobody'")
