"""Before a server is believed: are its tokens ours, and its log-probabilities where they belong?

In: a dialect and the local tokenizer. Out: nothing, or a `ModelError` with the reason. A few short
texts are asked about. Their tokens must be as many as were sent and spelled as here, so neither
another vocabulary nor an added token goes unnoticed. Then the server writes a few tokens and has to
give them, as the end of a prompt, the log-probabilities it wrote them with: a value that is shifted
by a token, or stale from a cache, is another one.
"""

from __future__ import annotations

import logging

import numpy as np

from enough.errors import ModelError
from enough.generators.remote.client import Client
from enough.generators.remote.dialects import Dialect, SpelledTokenizer, Written, is_spelled_alike
from enough.protocols import ScoredSequence, Tokens

log = logging.getLogger(__name__)
TOLERANCE = 0.25
"""How far a token's log-probability as written may be from the same as read: other kernels and half
precision stay well below, a value of another token is mostly off by more."""

_WRITTEN = 3  # tokens
_ATTEMPTS = 3  # what is wrong with a server mostly stays wrong
_SYSTEM = "Answer with one word."
_PROBES = (
    "Which word comes next: one, two, three, four,",
    "The capital of France is which city? Naïve façade, 13 dogs; it's 3.14.",
    "Repeat after me: hello. 東京 Łódź",
)


def require_aligned(client: Client, dialect: Dialect, tokenizer: SpelledTokenizer) -> None:
    """Ask about every probe.

    Raises:
        ModelError: if the server cannot give what is needed.
    """
    before, after = tokenizer.chat_frame(_SYSTEM)
    compared = 0
    for probe in _PROBES:
        _require_same_tokens(client, dialect, tokenizer, tokenizer.encode(probe))
        prompt = tokenizer.encode(f"{before}{probe}{after}")
        written = client.one(dialect.write(prompt, _WRITTEN, is_probe=True), _ATTEMPTS)
        tokens = _tokens_of(written, tokenizer)
        if not len(tokens):
            continue  # it ended at once, or wrote part of a character
        sequence = ScoredSequence(np.concatenate([prompt, tokens]), len(tokens))
        read = client.one(dialect.score(sequence), _ATTEMPTS)
        wrote = np.array(written.log_probs[: len(tokens)])
        if np.abs(read - wrote).max() > TOLERANCE:
            raise ModelError(
                f"{client.url}: wrote {written.text!r} with log-probabilities of "
                f"{wrote.round(3).tolist()}, but gives {read.round(3).tolist()} for the same "
                "tokens in a prompt. They are of other tokens, so nothing can be scored with it"
            )
        compared += 1
    if not compared:
        log.warning(
            "%s: ended every probe at once, so where its log-probabilities belong is not checked",
            client.url,
        )


def _require_same_tokens(
    client: Client, dialect: Dialect, tokenizer: SpelledTokenizer, tokens: Tokens
) -> None:
    said = client.one(dialect.spelled(tokens), _ATTEMPTS)
    ours = tokens[len(tokens) - len(said) :].tolist()
    for text, token in zip(said, ours, strict=True):
        if not is_spelled_alike(text, token, tokenizer):
            raise ModelError(
                f"{client.url}: spells token {token} as {text!r}, the local tokenizer as "
                f"{tokenizer.spell([token])!r}; name the served model's tokenizer in "
                "[generator.remote]"
            )


def _tokens_of(written: Written, tokenizer: SpelledTokenizer) -> Tokens:
    """Ids of what was written, up to a token whose text is not one token again."""
    found: list[int] = []
    for token in written.tokens:
        ids = [token] if isinstance(token, int) else tokenizer.encode(token).tolist()
        if len(ids) != 1:
            break
        found += ids
    return np.array(found, np.int32)
