"""What a dialect has to say: how likelihoods and answers are asked for, and how replies are read.

In: token ids. Out: an `Ask` whose reply is checked while it is read: as many log-probabilities as
asked for, of the tokens that were sent, finite and not above zero. Anything else is a `Fault`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from enough.generators.remote.client import Ask, Client, Json
from enough.generators.remote.faults import Fault
from enough.protocols import ScoredSequence, Tokenizer, Tokens

_ROUNDING = 1e-3  # a probability of one, computed in half precision
_AS_GOOD_AS_NEVER = -9000.0  # some servers write -9999 for minus infinity


class SpelledTokenizer(Tokenizer, Protocol):
    """A local tokenizer that can also write ids out as they would stand in a text."""

    @property
    def ends(self) -> Mapping[str, int]:
        """Tokens that end an answer."""
        ...

    def spell(self, tokens: Sequence[int]) -> str:
        """The text of these ids, control tokens included."""
        ...


@dataclass(frozen=True, slots=True)
class About:
    """What a server says of itself.

    Attributes:
        window: tokens of prompt and answer together; None where it does not say.
        facts: everything a likelihood may depend on; part of the fingerprint.
    """

    window: int | None
    facts: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Written:
    """An answer, and its tokens with their log-probabilities if these were asked for.

    Attributes:
        tokens: their ids, or their texts where the server tells no ids.
    """

    text: str
    tokens: tuple[int | str, ...] = ()
    log_probs: tuple[float, ...] = ()


class Dialect(Protocol):
    """One way to ask a server."""

    def about(self, client: Client) -> About:
        """What it says of itself; a server without the model is refused."""
        ...

    def score(self, sequence: ScoredSequence, *, whole: bool = False) -> Ask[NDArray[np.float64]]:
        """Log-probabilities of the reference's tokens; `whole` wants the prompt computed anew."""
        ...

    def spelled(self, tokens: Tokens) -> Ask[list[str]]:
        """The last of these tokens as the server spells them, as many as it tells."""
        ...

    def write(self, prompt: Tokens, room: int, *, is_probe: bool = False) -> Ask[Written]:
        """A greedy answer; a probe tells its tokens."""
        ...


def log_probs(values: Sequence[Any]) -> NDArray[np.float64]:
    """Values of a reply as log-probabilities, if that is what they are."""
    for value in values:
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise Fault(f"a log-probability of {value!r}")
        if not math.isfinite(value) or not _AS_GOOD_AS_NEVER < value <= _ROUNDING:
            raise Fault(f"a log-probability of {value}")
    return np.array(values, np.float64)


def part(reply: Any, *keys: str | int) -> Any:
    """What lies at the end of these keys in a reply."""
    found = reply
    for key in keys:
        try:
            found = found[key]
        except (KeyError, IndexError, TypeError):
            raise Fault(f"a reply without {'.'.join(map(str, keys))}") from None
    return found


def rows(reply: Json, *keys: str | int) -> list[Any]:
    """A list at the end of these keys."""
    found = part(reply, *keys)
    if not isinstance(found, list):
        raise Fault(f"a reply whose {'.'.join(map(str, keys))} is no list")
    return found


def require_count(said: Any, sent: int) -> None:
    """Refuse a reply about another number of prompt tokens than were sent."""
    if said != sent:
        raise Fault(f"a reply about {said} prompt tokens where {sent} were sent")


def is_spelled_alike(said: str, token: int, tokenizer: SpelledTokenizer) -> bool:
    """Whether a server's text of a token is ours; parts of characters are spelled in many ways."""
    ours = tokenizer.spell([token])
    if "\ufffd" in ours or ours in tokenizer.control_tokens:
        return True
    return said.strip() == ours.strip()
