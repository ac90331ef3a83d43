"""The page about integrations runs as it stands there."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

PAGE = Path(__file__).parent.parent.parent / "docs" / "integrations.md"


@pytest.mark.lm
def test_its_code_runs(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("langchain_core", reason="needs the extra 'langchain'")
    pytest.importorskip("llama_index.core", reason="needs the extra 'llama-index'")
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert len(blocks) == 4
    names: dict[str, Any] = {}
    kept = []
    for block in blocks:
        exec(compile(block, str(PAGE), "exec"), names)
        kept.append(names.get("kept"))
    assert "policy: controller" in capsys.readouterr().out
    assert (names["user"], names["history"][0].action) == ("ann", "Writes omg when trains are late")
    for found in kept[2:]:
        assert isinstance(found, list)
        assert all("enough" in one.metadata for one in found)
