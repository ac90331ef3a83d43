"""A run: from data sets, a frozen generator and an encoder to a tuned encoder on disk.

In: data sets and settings. Out: the folder described in `folder`. Likelihoods are kept in the
user's cache, so a run that was killed finds them there and only fits again, which takes minutes.
"""

from __future__ import annotations

import dataclasses
import hashlib
import logging
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from enough.data.folders import require_one_per_task
from enough.data.leakage import LeakageControls
from enough.encoder_tuning.config import EncoderTuneConfig
from enough.encoder_tuning.distilling import Reader, likenesses
from enough.encoder_tuning.fit import fit
from enough.encoder_tuning.folder import FORMAT, TUNING_FILE, write_encoder
from enough.encoder_tuning.lessons import Lesson, in_units, rate, typical_gains
from enough.encoder_tuning.measure import FirstRecord, first_records
from enough.errors import ConfigError, DataError
from enough.generators.config import locate_adapter
from enough.model_names import model_name
from enough.progress import OnStep, silent
from enough.protocols import Generator, Retriever
from enough.records import Dataset, Example
from enough.retrieval.encoders import DEFAULT_ENCODER, encoder_spec
from enough.retrieval.pools import collect_pools
from enough.run_folders import first_difference, held_folder, read_json
from enough.tuning.adapter_files import versions
from enough.tuning.fit import keep_sums_in_order
from enough.tuning.people import deal_out

log = logging.getLogger(__name__)
_BLOCK = 1 << 20  # bytes read at a time
_FEWEST_TO_JUDGE = 30  # held-out requests


@dataclass(frozen=True, slots=True)
class _Teacher:
    """What lessons are made with."""

    controls: LeakageControls
    retriever: Retriever
    generator: Generator
    pool: int

    def lessons(
        self, dataset: Dataset, examples: Sequence[Example], on_step: OnStep
    ) -> list[Lesson]:
        """Of some requests of a task."""
        pools = collect_pools(
            dataset, examples, self.controls, self.retriever, self.pool, on_step=on_step
        )
        return rate(dataset.task.name, pools, self.generator, on_step)


class EncoderTuneRun:
    """One run into one folder."""

    def __init__(
        self,
        datasets: Sequence[Dataset],
        config: EncoderTuneConfig,
        out: Path,
        source: str = "own logs",
    ) -> None:
        require_one_per_task(datasets)
        self.config = config
        self.out = out
        self._source = source
        self._dealt = [deal_out(dataset, config) for dataset in datasets]
        self._settings = {
            "format": FORMAT,
            "config": config.of_result,
            "made_from": _made_from(config),
            "data": {one.dataset.task.name: one.digest for one in self._dealt},
        }

    def run(
        self,
        stages: Callable[[], tuple[LeakageControls, Retriever]],
        load: Callable[[], Generator],
        on_step: OnStep = silent,
    ) -> dict[str, Any]:
        """Tune and write the encoder, or find it there; returns the content of its tuning.json.

        Args:
            stages: loads leakage controls and retriever; not called if the encoder is there.
            load: loads the generator; likewise.
            on_step: told how far it is.
        """
        if self.out.exists():
            return self._finished()
        unfinished = self.out.with_name(f"{self.out.name}.unfinished")
        with held_folder(unfinished):  # before anything slow: it may be another run's
            try:
                if self.out.exists():  # another run has just made it
                    return self._finished()
                return self._made(stages, load, on_step)
            finally:
                shutil.rmtree(unfinished)

    def _made(
        self,
        stages: Callable[[], tuple[LeakageControls, Retriever]],
        load: Callable[[], Generator],
        on_step: OnStep,
    ) -> dict[str, Any]:
        keep_sums_in_order()
        controls, retriever = stages()
        teacher = _Teacher(controls, retriever, load(), self.config.retrieval.pool)
        fitted = [teacher.lessons(d.dataset, d.fitted, on_step) for d in self._dealt]
        held = [teacher.lessons(d.dataset, d.held_out, on_step) for d in self._dealt]
        about = {
            "generator": teacher.generator.fingerprint,
            "requests": {"fitted": self._counted(fitted), "held_out": self._counted(held)},
        }
        return self._tune(
            [one for ones in fitted for one in ones],
            [one for ones in held for one in ones],
            about,
            on_step,
        )

    def _finished(self) -> dict[str, Any]:
        if not (self.out / TUNING_FILE).exists():
            raise ConfigError(f"{self.out}: is there, but no encoder of ours; name another folder")
        about = read_json(self.out / TUNING_FILE)
        if (name := first_difference(about["settings"], self._settings)) is not None:
            raise ConfigError(
                f"{self.out}: was tuned with another setting of {name}; name another folder"
            )
        return about

    def _counted(self, lessons: Sequence[Sequence[Lesson]]) -> dict[str, int]:
        names = [dealt.dataset.task.name for dealt in self._dealt]
        return dict(zip(names, map(len, lessons), strict=True))

    def _tune(
        self,
        fitted: Sequence[Lesson],
        held: Sequence[Lesson],
        about: dict[str, Any],
        on_step: OnStep,
    ) -> dict[str, Any]:
        if not fitted or not held:
            raise DataError("no request is left to tune on or to measure: no record fits a prompt")
        config = self.config
        base = config.retrieval.encoder or DEFAULT_ENCODER
        units = typical_gains([*fitted, *held])
        reader, tokenizer = self._reader(base, sorted(units))
        before = self._measured(reader, held)
        losses = fit(reader, in_units(fitted, units), in_units(held, units), config, on_step)
        after = self._measured(reader, held)
        if len(held) < _FEWEST_TO_JUDGE:
            log.warning("measured on %d requests: too few to tell whether it helps", len(held))
        if after[-1].gain <= before[-1].gain:
            log.warning(
                "tuned, the record most like the request is worth %+.3f to users it was not tuned "
                "on, before %+.3f: keep the encoder you have",
                after[-1].gain,
                before[-1].gain,
            )
        about |= {
            "base": config.base,
            "generator_model": model_name(config.generator.model),
            "source": self._source,
            "settings": self._settings,
            "loss": losses,
            "typical_gain": units,
            "measured": {
                "before": [dataclasses.asdict(row) for row in before],
                "after": [dataclasses.asdict(row) for row in after],
            },
            "versions": versions(),
        }
        write_encoder(self.out, reader.model, tokenizer, reader.spec, about)
        return read_json(self.out / TUNING_FILE)

    def _measured(self, reader: Reader, held: Sequence[Lesson]) -> list[FirstRecord]:
        found = likenesses(reader, held, self.config.texts)
        return first_records(held, [one.float().cpu().numpy() for one in found])

    def _reader(self, base: str, tasks: Sequence[str]) -> tuple[Reader, Any]:
        from transformers import AutoModel  # noqa: PLC0415 (heavy)

        from enough.checkpoints import load_checkpoint  # noqa: PLC0415 (heavy)

        spec = encoder_spec(base)
        checkpoint = load_checkpoint(spec.source, AutoModel, "float32", None)
        length = checkpoint.max_length(self.config.max_length)
        checkpoint.model.requires_grad_(True)
        spec = dataclasses.replace(spec, max_length=length, normalise=True)
        torch.manual_seed(self.config.seed)
        reader = Reader(checkpoint.model, checkpoint.tokenizer, spec, tasks)
        return reader.to(checkpoint.device), checkpoint.tokenizer


def _made_from(config: EncoderTuneConfig) -> dict[str, str | None]:
    """Digests of what lies in folders here, whose names do not say what is in them."""
    encoder, adapter = config.retrieval.encoder, config.generator.adapter
    return {
        "encoder": None if encoder is None else _digest(Path(encoder)),
        "adapter": None if adapter is None else _digest(locate_adapter(adapter)),
    }


def _digest(folder: Path) -> str | None:
    """Of a model's own files, in the order of their names; None for a name that is no folder."""
    if not folder.is_dir():
        return None
    found = hashlib.blake2b(digest_size=16)
    for path in sorted(folder.iterdir()):
        if path.suffix in {".json", ".safetensors", ".bin", ".txt"}:
            found.update(f"{path.name}\0{path.stat().st_size}\0".encode())
            with path.open("rb") as file:
                while block := file.read(_BLOCK):
                    found.update(block)
    return found.hexdigest()
