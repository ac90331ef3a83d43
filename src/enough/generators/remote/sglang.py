"""SGLang's own endpoint, `/generate`: ids go in, log-probabilities of the reference come out.

`logprob_start_len` says from where on they are wanted, and all that lies before it may come from
the radix cache: of a teacher call only what no earlier call had is computed. The entry at the start
itself is empty (its logits belong to the token before), so it is set one token early.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from enough.errors import ModelError
from enough.generators.remote.client import Ask, Client, Json, Refused
from enough.generators.remote.dialects import (
    About,
    SpelledTokenizer,
    Written,
    log_probs,
    part,
    require_count,
    rows,
)
from enough.generators.remote.faults import Fault
from enough.protocols import ScoredSequence, Tokens

_PATH = "/generate"
_OF_THE_MODEL = ("model_path", "served_model_name", "weight_version")
_OF_THE_SERVER = ("version", "dtype", "quantization", "kv_cache_dtype", "tp_size")


class SGLang:
    """Implements `Dialect`."""

    def __init__(self, model: str, tokenizer: SpelledTokenizer) -> None:
        self._model = model
        self._ends = sorted(tokenizer.ends.values())

    def about(self, client: Client) -> About:
        """Its model, and the parts of its settings that arithmetic depends on."""
        model = _first_found(client, "/model_info", "/get_model_info")
        server = _first_found(client, "/server_info", "/get_server_info")
        names = [model.get("model_path"), model.get("served_model_name")]
        if self._model not in names:
            raise ModelError(
                f"{client.url}: serves {names[0]!r}, not {self._model!r}; write its model_path or "
                "its served name as [generator] model"
            )
        facts = {key: model.get(key) for key in _OF_THE_MODEL}
        facts |= {key: server.get(key) for key in _OF_THE_SERVER}
        window = server.get("context_length")
        return About(window if isinstance(window, int) else None, facts)

    def score(self, sequence: ScoredSequence, *, whole: bool = False) -> Ask[NDArray[np.float64]]:
        """A start of 0 leaves the cache out: everything is computed."""
        count = sequence.reference_length
        start = 0 if whole else len(sequence.tokens) - count - 1
        wanted = sequence.tokens[-count:].tolist()

        def read(reply: Json) -> NDArray[np.float64]:
            found = _entries(reply, len(sequence.tokens), start)[-count:]
            if [part(entry, 1) for entry in found] != wanted:
                raise Fault("a reply about other tokens than were sent")
            return log_probs([part(entry, 0) for entry in found])

        return Ask(_PATH, self._body(sequence.tokens, start), read)

    def spelled(self, tokens: Tokens) -> Ask[list[str]]:
        """All of them."""

        def read(reply: Json) -> list[str]:
            return [str(part(entry, 2)) for entry in _entries(reply, len(tokens), 0)]

        return Ask(_PATH, self._body(tokens, 0) | {"return_text_in_logprobs": True}, read)

    def write(self, prompt: Tokens, room: int, *, is_probe: bool = False) -> Ask[Written]:
        """Temperature 0; ends at any token that ends an answer."""
        body: Json = {
            "input_ids": prompt.tolist(),
            "sampling_params": {
                "max_new_tokens": room,
                "temperature": 0.0,
                "repetition_penalty": 1.0,  # some models set another one
                "stop_token_ids": self._ends,
            },
            "return_logprob": is_probe,
        }

        def read(reply: Json) -> Written:
            require_count(part(reply, "meta_info", "prompt_tokens"), len(prompt))
            text = str(part(reply, "text"))
            if not is_probe:
                return Written(text)
            entries = rows(reply, "meta_info", "output_token_logprobs")
            values = log_probs([part(entry, 0) for entry in entries]).tolist()
            return Written(text, tuple(int(part(entry, 1)) for entry in entries), tuple(values))

        return Ask(_PATH, body, read)

    @staticmethod
    def _body(tokens: Tokens, start: int) -> Json:
        return {
            "input_ids": tokens.tolist(),
            "sampling_params": {"max_new_tokens": 0, "temperature": 0.0},
            "return_logprob": True,
            "logprob_start_len": start,
        }


def _entries(reply: Json, sent: int, start: int) -> list[Any]:
    require_count(part(reply, "meta_info", "prompt_tokens"), sent)
    found = rows(reply, "meta_info", "input_token_logprobs")
    if len(found) != sent - start:
        raise Fault(f"{len(found)} log-probabilities where {sent - start} were asked for")
    return found


def _first_found(client: Client, *paths: str) -> Json:
    """The reply of the first path that is there: names changed between versions."""
    for path in paths[:-1]:
        try:
            return client.one(Ask(path, None, dict))
        except Refused as refused:
            if refused.status != 404:
                raise
    return client.one(Ask(paths[-1], None, dict))
