"""Completion servers with OpenAI's interface: vLLM's `prompt_logprobs`, or an echo of the prompt.

vLLM takes ids and returns every prompt token's log-probability by id; it computes all of the prompt
each time, since it keeps no logits. Others echo the prompt as text with its tokens' texts and
log-probabilities. Of these, some take ids and some take text only (llama-cpp-python): for them, a
sequence is sent as its text, and only if that text is those ids again.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from enough.errors import ModelError
from enough.generators.remote.client import Ask, Client, Json
from enough.generators.remote.dialects import (
    About,
    SpelledTokenizer,
    Written,
    is_spelled_alike,
    log_probs,
    part,
    require_count,
    rows,
)
from enough.generators.remote.faults import Fault
from enough.protocols import ScoredSequence, Tokens

log = logging.getLogger(__name__)
_PATH = "/v1/completions"
_FACTS = ("id", "root", "max_model_len")
_MOST_STOPS = 4  # texts of the interface
_ID = "token_id:"
_COMPARED = 8  # tokens at the end of a prompt


class VLLM:
    """Implements `Dialect`."""

    def __init__(self, model: str, tokenizer: SpelledTokenizer) -> None:
        self._model = model
        self._ends = sorted(tokenizer.ends.values())

    def about(self, client: Client) -> About:
        """Its model and its version."""
        card = _card(client, self._model)
        version = client.one(Ask("/version", None, dict)).get("version")
        window = card.get("max_model_len")
        facts = {key: card.get(key) for key in _FACTS} | {"version": version}
        return About(window if isinstance(window, int) else None, facts)

    def score(self, sequence: ScoredSequence, *, whole: bool = False) -> Ask[NDArray[np.float64]]:
        """Always computed as a whole."""
        count = sequence.reference_length
        wanted = sequence.tokens[-count:].tolist()

        def read(reply: Json) -> NDArray[np.float64]:
            found = _prompt_entries(reply, len(sequence.tokens))[-count:]
            return log_probs(
                [part(e, str(t), "logprob") for e, t in zip(found, wanted, strict=True)]
            )

        return Ask(_PATH, self._scoring_body(sequence.tokens), read)

    def spelled(self, tokens: Tokens) -> Ask[list[str]]:
        """All but the first, of which nothing is told."""

        def read(reply: Json) -> list[str]:
            found = zip(_prompt_entries(reply, len(tokens))[1:], tokens[1:].tolist(), strict=True)
            return [str(part(entry, str(token), "decoded_token")) for entry, token in found]

        return Ask(_PATH, self._scoring_body(tokens), read)

    def write(self, prompt: Tokens, room: int, *, is_probe: bool = False) -> Ask[Written]:
        """Temperature 0; ends at any token that ends an answer."""
        body: Json = {
            "model": self._model,
            "prompt": prompt.tolist(),
            "max_tokens": room,
            "temperature": 0.0,
            "repetition_penalty": 1.0,  # some models set another one
            "stop_token_ids": self._ends,
        }
        if is_probe:
            body |= {"logprobs": 1, "return_tokens_as_token_ids": True}

        def read(reply: Json) -> Written:
            require_count(part(reply, "usage", "prompt_tokens"), len(prompt))
            found = _written(reply, is_probe)
            if not is_probe:
                return found
            if not all(str(token).startswith(_ID) for token in found.tokens):
                raise Fault(f"tokens written as {found.tokens}, not by their ids")
            ids = tuple(int(str(token).removeprefix(_ID)) for token in found.tokens)
            return Written(found.text, ids, found.log_probs)

        return Ask(_PATH, body, read)

    def _scoring_body(self, tokens: Tokens) -> Json:
        return {
            "model": self._model,
            "prompt": tokens.tolist(),
            "max_tokens": 1,
            "temperature": 0.0,
            "prompt_logprobs": 0,  # of the token itself alone
        }


class Echo:
    """Implements `Dialect`."""

    def __init__(self, model: str, tokenizer: SpelledTokenizer) -> None:
        self._model = model
        self._tokenizer = tokenizer
        self._stops = list(tokenizer.ends)[:_MOST_STOPS]
        self.takes_ids = True

    def about(self, client: Client) -> About:
        """Its model's name; also finds out whether it takes ids."""
        card = _card(client, self._model)
        try:
            client.one(self.write(self._tokenizer.encode("One, two"), 1), attempts=3)
        except ModelError as error:  # some refuse ids, some break on them
            log.info("%s; sending texts instead of ids", error)
            self.takes_ids = False
        return About(None, {"id": card.get("id"), "takes_ids": self.takes_ids})

    def score(self, sequence: ScoredSequence, *, whole: bool = False) -> Ask[NDArray[np.float64]]:
        """The end of the echoed prompt."""
        count = sequence.reference_length
        wanted = sequence.tokens[-count:].tolist()

        def read(reply: Json) -> NDArray[np.float64]:
            texts, values = self._echoed(reply, sequence.tokens, count)
            if len(values) < count:
                raise Fault(f"{len(values)} log-probabilities where {count} were asked for")
            if not self._are_alike(texts[-count:], wanted):
                raise Fault(f"a reply about {texts[-count:]}, not about tokens {wanted}")
            return log_probs(values[-count:])

        return Ask(_PATH, self._body(sequence.tokens, 1) | {"echo": True, "logprobs": 1}, read)

    def spelled(self, tokens: Tokens) -> Ask[list[str]]:
        """All, or all but those that begin a text."""

        def read(reply: Json) -> list[str]:
            return self._echoed(reply, tokens, _COMPARED)[0]

        return Ask(_PATH, self._body(tokens, 1) | {"echo": True, "logprobs": 1}, read)

    def write(self, prompt: Tokens, room: int, *, is_probe: bool = False) -> Ask[Written]:
        """Temperature 0; ends where a token that ends an answer would be written."""
        body = self._body(prompt, room) | {"stop": self._stops}
        if is_probe:
            body["logprobs"] = 1
        return Ask(_PATH, body, lambda reply: _written(reply, is_probe))

    def _body(self, tokens: Tokens, room: int) -> Json:
        return {
            "model": self._model,
            "prompt": tokens.tolist() if self.takes_ids else self._text(tokens),
            "max_tokens": room,
            "temperature": 0.0,
        }

    def _text(self, tokens: Tokens) -> str:
        text = self._tokenizer.spell(tokens.tolist())
        if not np.array_equal(self._tokenizer.encode(text), tokens):
            raise ModelError(
                "a sequence is not what its own text is tokenised to, and this server takes text "
                f"only, so it cannot be scored there: …{text[-80:]!r}"
            )
        return text

    def _echoed(self, reply: Json, sent: Tokens, compared: int) -> tuple[list[str], list[Any]]:
        """Texts and log-probabilities of the prompt's tokens, without what was written after it.

        Where the prompt ends is told by the number of tokens written; but a server may leave out of
        its list a token that begins a text, a written one, too, so the last tokens decide.
        """
        found = part(reply, "choices", 0, "logprobs")
        texts, values = list(map(str, rows(found, "tokens"))), rows(found, "token_logprobs")
        if len(texts) != len(values):
            raise Fault(f"{len(texts)} tokens with {len(values)} log-probabilities")
        usage = reply.get("usage")
        if isinstance(usage, dict):
            require_count(usage.get("prompt_tokens"), len(sent))
            written = int(usage.get("completion_tokens") or 0)
        else:
            written = len(values) - len(sent)
            if written not in (0, 1):
                raise Fault(f"{len(values)} log-probabilities for {len(sent)} prompt tokens")
        end = len(values) - written
        last = sent[-compared:].tolist()
        if not self._are_alike(texts[:end][-compared:], last) and self._are_alike(
            texts[-compared:], last
        ):
            end = len(values)
        return texts[:end], values[:end]

    def _are_alike(self, texts: Sequence[str], tokens: Sequence[int]) -> bool:
        return len(texts) == len(tokens) and all(
            is_spelled_alike(text, token, self._tokenizer)
            for text, token in zip(texts, tokens, strict=True)
        )


def _card(client: Client, model: str) -> Json:
    """What the server tells of the model."""
    cards = client.one(Ask("/v1/models", None, lambda reply: rows(reply, "data")))
    named = {str(part(card, "id")): card for card in cards}
    if model not in named:
        raise ModelError(
            f"{client.url}: serves {', '.join(map(repr, named)) or 'nothing'}, not {model!r}; "
            "write one of its names as [generator] model"
        )
    found: Json = named[model]
    return found


def _prompt_entries(reply: Json, sent: int) -> list[Any]:
    require_count(part(reply, "usage", "prompt_tokens"), sent)
    found = rows(reply, "choices", 0, "prompt_logprobs")
    if len(found) != sent:
        raise Fault(f"{len(found)} log-probabilities where {sent} were asked for")
    return found


def _written(reply: Json, is_probe: bool) -> Written:
    text = str(part(reply, "choices", 0, "text"))
    if not is_probe:
        return Written(text)
    found = part(reply, "choices", 0, "logprobs")
    tokens, values = rows(found, "tokens"), log_probs(rows(found, "token_logprobs")).tolist()
    if len(tokens) != len(values):
        raise Fault(f"{len(tokens)} tokens with {len(values)} log-probabilities")
    return Written(text, tuple(map(str, tokens)), tuple(values))
