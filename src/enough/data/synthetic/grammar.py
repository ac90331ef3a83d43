"""A small seeded grammar: text templates with choices in, one of their many sentences out.

`{name}` is replaced by one of the rule's alternatives, afresh each time; `{@name}` is drawn once
per scope and repeated; `[a|b|]` picks one of its parts, which may nest. All else stands as it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from random import Random

from enough.errors import ConfigError

_TOKEN = re.compile(r"[\[\]|]|\{[^{}]*\}|[^\[\]|{}]+")
_VOWEL = re.compile(
    r"\b([Aa]) (?=(?:[aeioAEIO](?!ne\b|nce\b|uro)|[uU](?!ni|s[ei]|ti))\w|hour|heir|honest)"
)
_SENTENCE = re.compile(r"((?:^|[.!?]['\"]? )['\"]?|: \")([a-z])")


@dataclass(frozen=True, slots=True)
class _Rule:
    name: str
    bound: bool


@dataclass(frozen=True, slots=True)
class _Choice:
    parts: tuple[_Sequence, ...]


_Sequence = tuple[str | _Rule | _Choice, ...]


@cache
def _parse(template: str) -> _Sequence:
    tokens = iter(_TOKEN.findall(template))
    parts, closed = _parts(tokens)
    if closed or len(parts) > 1:
        raise ConfigError(f"unbalanced brackets in the template {template!r}")
    return parts[0]


def _parts(tokens: Iterator[str]) -> tuple[tuple[_Sequence, ...], bool]:
    """Alternatives up to the closing bracket or the end; and whether a bracket closed them."""
    done: list[_Sequence] = []
    here: list[str | _Rule | _Choice] = []
    for token in tokens:
        if token == "]":
            return (*done, tuple(here)), True
        if token == "[":
            inner, closed = _parts(tokens)
            if not closed:
                raise ConfigError("a '[' in a template is never closed")
            here.append(_Choice(inner))
        elif token == "|":
            done.append(tuple(here))
            here = []
        elif token[0] == "{":
            here.append(_Rule(token[1:-1].removeprefix("@"), token[1:2] == "@"))
        else:
            here.append(token)
    return (*done, tuple(here)), False


@dataclass
class Scope:
    """What one text has fixed so far.

    Attributes:
        rng: the source of every choice.
        values: bound names and their text.
        aliases: names that stand for another rule, e.g. "job" for "job.railway".
        last: the alternative each rule was last given; it is not taken twice in a row.
    """

    rng: Random
    values: dict[str, str] = field(default_factory=dict)
    aliases: dict[str, str] = field(default_factory=dict)
    last: dict[str, str] = field(default_factory=dict)


class Grammar:
    """Rules by name; `write` turns a template into text."""

    def __init__(self, rules: Mapping[str, Sequence[str]]) -> None:
        self._rules = {name: tuple(alternatives) for name, alternatives in rules.items()}

    def write(self, template: str, scope: Scope) -> str:
        """One text of the template; names bound in the scope keep their text."""
        return "".join(self._expand(_parse(template), scope))

    def _expand(self, sequence: _Sequence, scope: Scope) -> Iterator[str]:
        for node in sequence:
            if isinstance(node, str):
                yield node
            elif isinstance(node, _Choice):
                yield from self._expand(scope.rng.choice(node.parts), scope)
            elif not node.bound:
                yield self._draw(node.name, scope)
            else:
                if node.name not in scope.values:
                    scope.values[node.name] = self._draw(node.name, scope)
                yield scope.values[node.name]

    def _draw(self, name: str, scope: Scope) -> str:
        rule = scope.aliases.get(name, name)
        if rule not in self._rules:
            raise ConfigError(f"no rule {rule!r} in the grammar")
        alternatives = self._rules[rule]
        drawn = scope.rng.choice(alternatives)
        while len(alternatives) > 1 and drawn == scope.last.get(rule):
            drawn = scope.rng.choice(alternatives)
        scope.last[rule] = drawn
        return self.write(drawn, scope)


def tidy(text: str) -> str:
    """Spaces and articles put right."""
    text = re.sub(r"\s+", " ", text).strip()
    text = re.sub(r"[ ,](?=[,.;:!?])", "", text)
    return _VOWEL.sub(r"\1n ", text)


def sentences(parts: Sequence[str]) -> str:
    """Parts joined to prose: tidy, every sentence with a capital."""
    return _SENTENCE.sub(lambda m: m[1] + m[2].upper(), tidy(" ".join(parts)))
