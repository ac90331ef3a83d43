"""The frozen generator on transformers, CPU or CUDA, with an optional LoRA adapter.

In: a model name (the bundled default, a local folder or a hub name). Out: an `OpenGenerator`.
The fastest scorer that is exact for the architecture is chosen from its configuration.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from transformers import AutoModelForCausalLM

from enough.checkpoints import fingerprint, load_checkpoint
from enough.errors import MissingExtraError, ModelError
from enough.generators.attention_reading import AttentionReader
from enough.generators.causal_lm import CausalLM
from enough.generators.config import GeneratorConfig, ScorerName, locate_adapter
from enough.generators.decoding_batches import decoded_together, distinct_prompts
from enough.generators.hf_tokenizer import TURN_ENDS, HFTokenizer
from enough.generators.naive import NaiveScorer
from enough.generators.prompt_side import window_of
from enough.generators.scorer_choice import batch_tokens, build_scorer, compiled_scorer
from enough.generators.steering import SteeredScores
from enough.generators.token_trie import require_fitting
from enough.generators.weights import locate_model
from enough.protocols import OnBatch, ScoredSequence, Steered, Tokens

_GENERATION_TOKENS = {"cpu": 8192, "cuda": 131_072}  # prompt tokens decoded together


class HFGenerator:
    """A frozen causal language model. Implements `protocols.OpenGenerator`."""

    def __init__(
        self, model: Any, tokenizer: Any, scorer: ScorerName = "auto", *, is_compiled: bool = False
    ) -> None:
        self.lm = CausalLM(model)
        self.tokenizer = HFTokenizer(tokenizer)
        self.window = window_of(self.lm.config)
        self.batch_tokens = batch_tokens(self.lm)
        self.scorer = build_scorer(self.lm, scorer)
        if is_compiled:
            self.scorer = compiled_scorer(self.lm, self.scorer)
        self._end_tokens = _end_tokens(model, tokenizer)
        self.turn_end = _turn_end(tokenizer, self._end_tokens)
        # In half precision scorers differ by rounding, so their scores are kept apart.
        exact = self.lm.dtype == torch.float32
        kind = type(self.scorer).__name__ + ("-compiled" if is_compiled else "")
        way = "" if exact else f"-{kind}-{self.lm.device.type}"
        self.fingerprint = fingerprint(model, tokenizer) + way
        self._lock = threading.Lock()  # scoring hooks into the model

    @classmethod
    def load(cls, config: GeneratorConfig | None = None) -> HFGenerator:
        """Load a model, its tokenizer and perhaps a LoRA adapter."""
        config = config or GeneratorConfig()
        checkpoint = load_checkpoint(
            locate_model(config.model), AutoModelForCausalLM, config.dtype, config.device
        )
        model = checkpoint.model
        if config.adapter is not None:
            model = _with_adapter(model, config.adapter)
        return cls(model, checkpoint.tokenizer, config.scorer, is_compiled=config.compile)

    def score(
        self, sequences: Sequence[ScoredSequence], on_batch: OnBatch | None = None
    ) -> NDArray[np.float64]:
        """Mean log-likelihood of each reference's tokens."""
        require_fitting(sequences, self.window)
        with self._lock:
            return self.scorer.score(sequences, on_batch)

    def rescore(self, sequences: Sequence[ScoredSequence]) -> NDArray[np.float64]:
        """One sequence at a time by the plain scorer: other shapes, other kernels."""
        with self._lock:
            return NaiveScorer(self.lm, max_tokens=1).score(sequences)

    def generate(self, prompts: Sequence[Tokens], max_new_tokens: int) -> list[str]:
        """One greedy answer per prompt; equal prompts are answered once."""
        distinct = distinct_prompts(prompts, max_new_tokens, self.window)
        written: dict[bytes, str] = {}
        for batch in decoded_together([[prompt] for prompt in distinct], self._room):
            texts = self._decode([distinct[place] for place in batch], max_new_tokens)
            for place, text in zip(batch, texts, strict=True):
                written[distinct[place].tobytes()] = text
        return [written[prompt.tobytes()] for prompt in prompts]

    def steer(self, answers: Sequence[Steered], max_new_tokens: int) -> list[str]:
        """Many answers at once, each to all of its prompts. No steering may call this generator."""
        for answer in answers:
            lengths = [len(prompt) for prompt in answer.prompts]
            if not lengths or min(lengths) == 0 or max(lengths) + max_new_tokens > self.window:
                raise ModelError(
                    f"prompts of {lengths} tokens and an answer of {max_new_tokens} cannot be "
                    f"written in a window of {self.window}"
                )
        written: dict[int, str] = {}
        for batch in decoded_together([answer.prompts for answer in answers], self._room):
            some = [answers[place] for place in batch]
            streams = [prompt for answer in some for prompt in answer.prompts]
            scores = SteeredScores(some, self._end_tokens)
            texts = self._decode(streams, max_new_tokens, [scores])
            firsts = np.cumsum([0, *(len(answer.prompts) for answer in some[:-1])])
            written |= {place: texts[first] for place, first in zip(batch, firsts, strict=True)}
        return [written[place] for place in range(len(answers))]

    def attention(self, prefix: Tokens, suffixes: Sequence[Tokens]) -> list[NDArray[np.float64]]:
        """What every suffix pays to each token of the prefix."""
        lengths = [len(suffix) for suffix in suffixes]
        if not lengths:
            return []
        if len(prefix) == 0 or min(lengths) == 0 or len(prefix) + max(lengths) > self.window:
            raise ModelError(
                f"a prefix of {len(prefix)} tokens and suffixes of {lengths} cannot be read in a "
                f"window of {self.window}"
            )
        with self._lock:
            return self._reader.read(prefix, suffixes)

    @property
    def _room(self) -> int:
        """Prompt tokens, padding included, that are decoded together."""
        return _GENERATION_TOKENS.get(self.lm.device.type, _GENERATION_TOKENS["cpu"])

    @cached_property
    def _reader(self) -> AttentionReader:
        return AttentionReader(self.lm)

    @torch.inference_mode()
    def _decode(
        self, batch: Sequence[Tokens], max_new_tokens: int, processors: Sequence[SteeredScores] = ()
    ) -> list[str]:
        longest = max(map(len, batch))
        ids = torch.full((len(batch), longest), self._end_tokens[0])
        mask = torch.zeros_like(ids)
        for i, prompt in enumerate(batch):  # padded on the left: answers start in one column
            ids[i, longest - len(prompt) :] = torch.from_numpy(prompt.astype(np.int64))
            mask[i, longest - len(prompt) :] = 1
        with self._lock:
            self.lm.forward_passes += 1
            output = self.lm.model.generate(
                input_ids=ids.to(self.lm.device),
                attention_mask=mask.to(self.lm.device),
                max_new_tokens=max_new_tokens,
                do_sample=False,
                num_beams=1,
                repetition_penalty=1.0,  # some models set another one
                logits_processor=list(processors),
                eos_token_id=self._end_tokens,
                pad_token_id=self._end_tokens[0],
            )
        return [self.tokenizer.decode(row).strip() for row in output[:, longest:].tolist()]


def _with_adapter(model: Any, adapter: Path) -> Any:
    try:
        from peft import PeftModel  # noqa: PLC0415 (an extra)
    except ImportError:
        raise MissingExtraError("a LoRA adapter", "lora") from None
    return PeftModel.from_pretrained(model, locate_adapter(adapter)).merge_and_unload()


def _end_tokens(model: Any, tokenizer: Any) -> list[int]:
    """Every token that ends an answer: the model's own and the chat template's end of turn."""
    configured = model.generation_config.eos_token_id
    ends = list(configured) if isinstance(configured, list) else [configured]
    ends += [tokenizer.get_added_vocab().get(token) for token in TURN_ENDS]
    ends += [tokenizer.eos_token_id]
    found = list(dict.fromkeys(end for end in ends if end is not None))
    if not found:
        raise ModelError("the model names no end-of-text token, so its answers would never end")
    return found


def _turn_end(tokenizer: Any, ends: Sequence[int]) -> int:
    """The one of them that a tuned model should learn to end an answer with.

    The chat template's, where it has one: what a tokenizer calls its end differs between releases.
    """
    vocabulary = tokenizer.get_added_vocab()
    named = [vocabulary[token] for token in TURN_ENDS if token in vocabulary]
    return int((named or list(ends))[0])
