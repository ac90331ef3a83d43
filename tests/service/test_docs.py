"""What README.md and docs/service.md show runs as it stands there, with the real models."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from enough.config import from_table
from enough.service.config import ServeConfig
from tests.service.server_process import free_port

ROOT = Path(__file__).parent.parent.parent
PAGE = ROOT / "docs" / "service.md"


def blocks(kind: str, text: str | None = None) -> list[str]:
    page = PAGE.read_text(encoding="utf-8") if text is None else text
    return re.findall(rf"```{kind}\n(.*?)```", page, re.DOTALL)


def run_as_shown(folder: Path, script: str, before: list[str], after: list[str]) -> str:
    """What shell lines and a chat between them print, the service on a port of its own."""
    port = free_port()
    (folder / "chat.py").write_text(script.replace(":8000", f":{port}"))
    lines = ["set -e", "trap 'kill $(jobs -p)' EXIT", *before]
    lines += ["export KEY", f"{sys.executable} chat.py", *after]
    text = "\necho\n".join(lines).replace(":8000", f":{port}")
    text = text.replace("--port 8000", f"--port {port}")
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-c", text],
        cwd=folder,
        env=os.environ | {"PATH": path, "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.lm
@pytest.mark.skipif(shutil.which("curl") is None, reason="needs curl")
def test_the_readme(tmp_path: Path) -> None:
    whole = (ROOT / "README.md").read_text(encoding="utf-8")
    (text,) = re.findall(r"<!-- service -->(.*)<!-- /service -->", whole, re.DOTALL)
    shown = run_as_shown(tmp_path, blocks("python", text)[0], blocks("sh", text), [])
    assert '{"received":2,"added":2,"records":2}' in shown
    assert '"policy":"controller"' in shown
    assert "'profile_tokens': " in shown


@pytest.mark.lm
@pytest.mark.skipif(shutil.which("curl") is None, reason="needs curl")
def test_the_whole_page(tmp_path: Path) -> None:
    *first, last = blocks("sh")
    shown = run_as_shown(tmp_path, blocks("python")[0], first, [last])
    assert '{"received":3,"added":3,"records":3}' in shown
    assert '"next":"1"' in shown
    assert '"policy":"controller"' in shown and '"trained_on_task":true' in shown
    assert '"text":"' in shown and '"model":"SmolLM2-135M-Instruct"' in shown
    assert re.search(r"\{'profile_tokens': \d+, 'tokens_saved': -?\d+, 'records': \[", shown)
    assert '{"deleted":1,"scrubbed":true}' in shown
    assert '{"deleted":2,"scrubbed":true}' in shown
    assert "error" not in shown


def test_settings_on_the_page_are_the_defaults() -> None:
    tables = [tomllib.loads(text) for text in blocks("toml")]
    upstream, whole = tables
    assert from_table(upstream, ServeConfig, "page").upstream is not None
    shown = whole | {"tasks": [], "controller": "controller"}
    config = from_table(shown, ServeConfig, "page")
    default = ServeConfig()
    for name in whole:
        if name not in ("tasks", "controller"):
            assert getattr(config, name) == getattr(default, name), name


def test_every_route_is_on_the_page() -> None:
    from enough.service.app import build_app

    text = PAGE.read_text(encoding="utf-8")
    for path in build_app(ServeConfig(tasks=())).openapi()["paths"]:
        if path.startswith("/v1"):
            assert path.split("/{")[0] in text, path
