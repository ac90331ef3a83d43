"""A tuning run: from data sets and a frozen generator to an adapter on disk.

In: data sets and settings. Out: the folder described in `adapter_files`. While it is worked on, a
folder beside it holds what a killed run goes on from.
"""

from __future__ import annotations

import dataclasses
import logging
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from enough.data.folders import require_one_per_task
from enough.data.leakage import LeakageControls
from enough.errors import ConfigError, DataError, ModelError, UnknownNameError
from enough.generators.config import GeneratorConfig, locate_adapter
from enough.generators.hf import HFGenerator
from enough.model_names import model_name
from enough.progress import OnStep, silent
from enough.prompts.prompter import Prompter
from enough.protocols import Retriever
from enough.records import Dataset, Example
from enough.retrieval.pools import PooledExample, collect_pools
from enough.run_folders import first_difference, held_folder, read_json, write_json
from enough.tuning.adapter_files import (
    FORMAT,
    TUNING_FILE,
    digest_of,
    read_start,
    require_plain,
    versions,
    write_adapter,
)
from enough.tuning.config import TuneConfig
from enough.tuning.fit import fit, keep_sums_in_order
from enough.tuning.held_out import Trio, as_rows, held_out_trios, measure
from enough.tuning.lora import Lora, require_peft
from enough.tuning.people import Dealt, deal_out
from enough.tuning.samples import Samples
from enough.tuning.state_files import UnfinishedRun

log = logging.getLogger(__name__)
_TENTH = 10


class TuneRun:
    """One run into one folder."""

    def __init__(
        self,
        datasets: Sequence[Dataset],
        config: TuneConfig,
        out: Path,
        source: str = "own logs",
        *,
        beside: Sequence[Dataset] = (),
    ) -> None:
        """A run, not begun.

        Args:
            datasets: one per task.
            config: settings.
            out: folder of the adapter.
            source: of the data, in words.
            beside: made-up people of any of these tasks, or of others, who are tuned on, too.
        """
        require_one_per_task(datasets)
        names = [dataset.task.name for dataset in datasets]
        self.config = config
        self.out = out
        self._source = source
        self._dealt = [deal_out(dataset, config) for dataset in (*datasets, *beside)]
        self._names = [*names, *(f"{dataset.task.name}, made up" for dataset in beside)]
        self._settings: dict[str, Any] = {
            "format": FORMAT,
            "config": config.of_result,
            "data": {
                name: dealt.digest for name, dealt in zip(self._names, self._dealt, strict=True)
            },
        }
        if config.start is not None:
            self._settings["start"] = self._digest_of(config.start)

    def run(
        self,
        stages: Callable[[], tuple[LeakageControls, Retriever]],
        load: Callable[[], HFGenerator],
        on_step: OnStep = silent,
    ) -> dict[str, Any]:
        """Tune and write the adapter, or find it there; returns the content of its tuning.json.

        Args:
            stages: loads leakage controls and retriever; not called if the adapter is there.
            load: loads the generator; likewise. LoRA layers are put into its model; its
                fingerprint stays that of the model as it came.
            on_step: told how far it is.
        """
        unfinished = UnfinishedRun(self.out.with_name(f"{self.out.name}.unfinished"))
        if self.out.exists():
            about = self._finished()
            unfinished.remove()  # a kill may have come between the two
            return about
        require_peft()
        if (start := self.config.start) is not None:
            require_plain(start, self.config.lora)
            log.warning("users it is measured on may be among those %s was tuned on", start.name)
        with held_folder(unfinished.path):
            unfinished.require_settings(self._settings)
            generator = load()
            # Before anything slow: it may find that the settings do not suit the model.
            lora = Lora(generator.lm, self.config.lora, self.config.seed)
            if start is not None:
                self._begin(lora, start, unfinished)
            controls, retriever = stages()
            fitted = [self._pools(d, d.fitted, controls, retriever, on_step) for d in self._dealt]
            held = [self._pools(d, d.held_out, controls, retriever, on_step) for d in self._dealt]
            about = self._tune(generator, lora, fitted, held, unfinished, on_step=on_step)
            unfinished.remove()
        return about

    def _digest_of(self, start: Path) -> str:
        """Of the adapter it goes on from; a finished run does not need that any more."""
        try:
            return digest_of(start)
        except (DataError, ModelError, UnknownNameError):
            if not (self.out / TUNING_FILE).exists():
                raise
            return str(read_json(self.out / TUNING_FILE)["settings"].get("start"))

    def _begin(self, lora: Lora, start: Path, unfinished: UnfinishedRun) -> None:
        """Take over the weights of another adapter, which has to be one of this model."""
        try:
            model = model_name(self.config.generator.model)
            lora.begin_with(read_start(locate_adapter(start), lora, model))
        except (ConfigError, DataError):
            if not unfinished.before_file.exists():  # nothing to go on from, so nothing to keep
                unfinished.remove()
            raise

    def _finished(self) -> dict[str, Any]:
        if not (self.out / TUNING_FILE).exists():
            raise ConfigError(f"{self.out}: is there, but no adapter of ours; name another folder")
        about = read_json(self.out / TUNING_FILE)
        if (name := first_difference(about["settings"], self._settings)) is not None:
            raise ConfigError(
                f"{self.out}: was tuned with another setting of {name}; name another folder"
            )
        return about

    def _pools(
        self,
        dealt: Dealt,
        examples: Sequence[Example],
        controls: LeakageControls,
        retriever: Retriever,
        on_step: OnStep,
    ) -> list[PooledExample]:
        limit = self.config.retrieval.pool
        return collect_pools(dealt.dataset, examples, controls, retriever, limit, on_step=on_step)

    def _tune(
        self,
        generator: HFGenerator,
        lora: Lora,
        fitted: Sequence[Sequence[PooledExample]],
        held: Sequence[Sequence[PooledExample]],
        unfinished: UnfinishedRun,
        *,
        on_step: OnStep,
    ) -> dict[str, Any]:
        config = self.config
        prompter = Prompter(generator.tokenizer)
        limit = min(config.max_tokens, generator.window)
        samples = Samples(
            [one for pools in fitted for one in pools],
            prompter,
            generator.turn_end,
            max_records=config.max_records,
            max_tokens=limit,
            seed=config.seed,
        )
        trios = [
            trio
            for name, pools in zip(self._names, held, strict=True)
            for trio in held_out_trios(name, pools, prompter, config, limit)
        ]
        if not len(samples) or not trios:
            raise DataError("no request is left to tune on or to measure; see max_tokens")
        before = _before(unfinished, generator, trios, on_step)
        losses = fit(generator.lm, lora, samples, config, unfinished, on_step=on_step)
        lora.round_off()
        on_step("measuring, tuned", 0, len(trios))
        after = as_rows(measure(generator, trios))
        on_step("measuring, tuned", len(trios), len(trios))
        about = {
            "base_model": model_name(config.generator.model),
            "generator": generator.fingerprint,
            "source": self._source,
            **({} if config.start is None else {"begun_with": config.start.resolve().name}),
            "settings": self._settings,
            "requests": {
                "fitted": dict(zip(self._names, map(len, fitted), strict=True)),
                "held_out": dict(zip(self._names, map(len, held), strict=True)),
            },
            "left_out": samples.left_out,
            "weights": sum(weight.numel() for weight in lora.weights.values()),
            "steps": len(losses),
            "loss": _first_and_last(losses),
            "measured": {"before": before, "after": after},
            "versions": versions(),
        }
        write_adapter(self.out, lora, about)
        return read_json(self.out / TUNING_FILE)


def load_for_tuning(config: GeneratorConfig) -> HFGenerator:
    """The frozen generator, in float32 on a CPU and bfloat16 on a GPU unless told otherwise."""
    keep_sums_in_order()
    device = config.device or ("cuda" if torch.cuda.is_available() else "cpu")
    dtype = config.dtype
    if dtype == "auto" and not device.startswith("cuda"):
        dtype = "float32"  # bfloat16 alone is too coarse for a gradient
    # Padded batches: LoRA layers and gradients go through the model as it is. Compiled is the fit.
    return HFGenerator.load(dataclasses.replace(config, dtype=dtype, scorer="naive", compile=False))


def _before(
    unfinished: UnfinishedRun, generator: HFGenerator, trios: Sequence[Trio], on_step: OnStep
) -> list[dict[str, Any]]:
    """What was measured when the run began, by this same generator: before any step."""
    if unfinished.before_file.exists():
        kept = read_json(unfinished.before_file)
        if kept["generator"] != generator.fingerprint:
            raise ConfigError(
                f"{unfinished.path}: was begun with other weights or another precision; give the "
                "old ones back, or delete it to begin anew"
            )
        rows: list[dict[str, Any]] = kept["measured"]
        return rows
    on_step("measuring, as it comes", 0, len(trios))
    rows = as_rows(measure(generator, trios))
    write_json(unfinished.before_file, {"generator": generator.fingerprint, "measured": rows})
    on_step("measuring, as it comes", len(trios), len(trios))
    return rows


def _first_and_last(losses: NDArray[np.float32]) -> dict[str, float]:
    part = max(1, len(losses) // _TENTH)
    return {"first_tenth": float(losses[:part].mean()), "last_tenth": float(losses[-part:].mean())}
