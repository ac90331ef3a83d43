"""One Ray of two CPUs for all tests that need it; it is gone afterwards."""

from __future__ import annotations

import gc
import logging
import warnings
from collections.abc import Iterator
from typing import Any

import pytest


@pytest.fixture(scope="package")
def two_cpus(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    ray = pytest.importorskip("ray")
    quiet = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_AUTH_MODE": "disabled", "OMP_NUM_THREADS": "1"}
    with pytest.MonkeyPatch.context() as patch:
        # Workers have the environment Ray was started in: caches of their own, as on a cluster.
        patch.setenv("ENOUGH_CACHE", str(tmp_path_factory.mktemp("cache of workers")))
        for name, value in quiet.items():
            patch.setenv(name, value)
        _start(ray)
        yield
        ray.shutdown()


def _start(ray: Any) -> None:
    """Ray gives itself 30 seconds, which a crowded machine may not have; so three times."""
    for _ in range(3):
        if _is_started(ray):
            return
        with warnings.catch_warnings():  # of the processes of a start that failed
            warnings.simplefilter("ignore", ResourceWarning)
            gc.collect()
    pytest.skip("Ray did not start within three times 30 seconds: this machine is too busy")


def _is_started(ray: Any) -> bool:
    try:
        ray.init(
            address="local",
            num_cpus=2,
            num_gpus=0,
            include_dashboard=False,
            log_to_driver=False,
            logging_level=logging.ERROR,
            object_store_memory=100_000_000,
        )
    except Exception as error:  # Ray has no better name for it
        ray.shutdown()
        if "timed out during startup" not in str(error):
            raise
        return False
    return True
