"""The shape of the package: imports follow the data flow, heavy things load late."""

from __future__ import annotations

import ast
import subprocess
import sys
import time
from pathlib import Path

import pytest

import enough

SOURCE = Path(enough.__file__).parent
FLOW = [
    "data",
    "retrieval",
    "matching",
    "prompts",
    "generators",
    "tuning",
    "encoder_tuning",
    "teacher",
    "fleet",
    "labels",
    "controller",
    "online",
    "integrations",
    "baselines",
    "evaluation",
    "annotation",
    "diagnostics",
    "report",
    "results",
    "demo",
    "store",
    "service",
    "bench",
    "cli",
]
FORBIDDEN = {"utils", "common", "helpers", "base", "manager", "misc"}
HEAVY = (
    "ray",
    "torch",
    "transformers",
    "numpy",
    "httpx",
    "fastapi",
    "sqlalchemy",
    "prometheus_client",
)


def modules() -> list[Path]:
    return sorted(SOURCE.rglob("*.py"))


def imported(path: Path) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module)
        elif isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
    return names


def room(path: Path) -> str:
    first = path.relative_to(SOURCE).parts[0]
    return first if first in FLOW else ""


@pytest.mark.parametrize("path", modules(), ids=lambda p: str(p.relative_to(SOURCE)))
def test_a_package_imports_only_from_those_before_it(path: Path) -> None:
    if path.name in ("__init__.py", "__main__.py") and path.parent == SOURCE:
        pytest.skip("names the public interface")
    own = FLOW.index(room(path)) if room(path) else -1
    for name in imported(path):
        parts = name.split(".")
        if parts[0] == "enough" and len(parts) > 1 and parts[1] in FLOW:
            assert FLOW.index(parts[1]) <= own, f"{path.name} imports {name}"


def test_every_package_is_in_the_flow() -> None:
    packages = {p.name for p in SOURCE.iterdir() if p.is_dir() and (p / "__init__.py").exists()}
    assert packages == set(FLOW)


def test_names_say_something() -> None:
    assert not {path.stem for path in modules()} & FORBIDDEN


def test_modules_stay_readable() -> None:
    lengths = {p: len(p.read_text(encoding="utf-8").splitlines()) for p in modules()}
    assert max(lengths.values()) <= 300
    assert sum(n > 200 for n in lengths.values()) <= len(lengths) / 10


def test_nothing_heavy_is_imported_before_it_is_needed() -> None:
    code = f"import sys, enough, enough.cli; print([m for m in {HEAVY} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_help_is_instant() -> None:
    """0.4 s, or six bare starts with Typer where the machine is busy."""

    def seconds(*arguments: str) -> float:
        started = time.perf_counter()
        subprocess.run([sys.executable, *arguments], capture_output=True, check=True)
        return time.perf_counter() - started

    turns = [
        (seconds("-c", "import rich.panel, typer"), seconds("-m", "enough", "--help"))
        for _ in range(5)
    ]
    bare, ours = (min(times) for times in zip(*turns, strict=True))
    assert ours < max(0.4, 6 * bare)


def test_the_public_interface() -> None:
    assert enough.__all__ == sorted(enough._HOMES)
    for name in enough.__all__:
        assert getattr(enough, name).__name__ == name
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        enough.nothing  # noqa: B018
