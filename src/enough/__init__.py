"""Put the few records of a user's history that are worth their tokens into the prompt, and stop.

These names are the public interface; each is imported when it is first used, so that `import
enough` costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from enough.baselines.fixed import FixedLength
    from enough.data.folders import read_folder
    from enough.data.leakage import LeakageControls
    from enough.errors import EnoughError
    from enough.generators.config import GeneratorConfig
    from enough.generators.hf import HFGenerator
    from enough.generators.score_cache import CachedGenerator
    from enough.labels.config import LabelConfig
    from enough.labels.run import LabelRun
    from enough.labels.target_files import read_targets
    from enough.online.personaliser import Enough
    from enough.prompts.prompter import Prompter
    from enough.records import Dataset, Example, Record, Request, Selection
    from enough.retrieval.pools import RetrievalConfig
    from enough.retrieval.registry import build_retriever
    from enough.tasks import Task, load_task, task_named
    from enough.teacher.components import TargetConfig

_HOMES = {
    "CachedGenerator": "enough.generators.score_cache",
    "Dataset": "enough.records",
    "Enough": "enough.online.personaliser",
    "EnoughError": "enough.errors",
    "Example": "enough.records",
    "FixedLength": "enough.baselines.fixed",
    "GeneratorConfig": "enough.generators.config",
    "HFGenerator": "enough.generators.hf",
    "LabelConfig": "enough.labels.config",
    "LabelRun": "enough.labels.run",
    "LeakageControls": "enough.data.leakage",
    "Prompter": "enough.prompts.prompter",
    "Record": "enough.records",
    "Request": "enough.records",
    "RetrievalConfig": "enough.retrieval.pools",
    "Selection": "enough.records",
    "TargetConfig": "enough.teacher.components",
    "Task": "enough.tasks",
    "build_retriever": "enough.retrieval.registry",
    "load_task": "enough.tasks",
    "read_folder": "enough.data.folders",
    "read_targets": "enough.labels.target_files",
    "task_named": "enough.tasks",
}

__all__ = [
    "CachedGenerator",
    "Dataset",
    "Enough",
    "EnoughError",
    "Example",
    "FixedLength",
    "GeneratorConfig",
    "HFGenerator",
    "LabelConfig",
    "LabelRun",
    "LeakageControls",
    "Prompter",
    "Record",
    "Request",
    "RetrievalConfig",
    "Selection",
    "TargetConfig",
    "Task",
    "build_retriever",
    "load_task",
    "read_folder",
    "read_targets",
    "task_named",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'enough' has no attribute {name!r}")
    try:
        return getattr(import_module(_HOMES[name]), name)
    except ModuleNotFoundError as error:
        if error.name not in ("torch", "transformers", "safetensors"):
            raise
        from enough.errors import MissingExtraError  # noqa: PLC0415 (only to say so)

        raise MissingExtraError(f"enough.{name}", "hf") from error


def __dir__() -> list[str]:
    return __all__
