"""The grammar of the made-up world: choices, bound names, seeds and mistakes."""

from __future__ import annotations

from random import Random

import pytest

from enough.data.synthetic.grammar import Grammar, Scope, sentences, tidy
from enough.errors import ConfigError

RULES = {
    "greeting": ["hello {@name}", "good [morning|evening], {@name}"],
    "name": ["Ada", "Bo", "Cy"],
    "pair": ["{name} and {name}"],
    "animal.farm": ["cow", "hen"],
}


def _texts(template: str, count: int = 200) -> set[str]:
    grammar = Grammar(RULES)
    return {grammar.write(template, Scope(Random(seed))) for seed in range(count)}


def test_every_alternative_is_reached() -> None:
    names = ("Ada", "Bo", "Cy")
    starts = ("hello ", "good morning, ", "good evening, ")
    assert _texts("{greeting}") == {start + name for start in starts for name in names}


def test_choices_nest_and_may_be_empty() -> None:
    assert _texts("a[|b[c|d]]!") == {"a!", "abc!", "abd!"}


def test_bound_names_stay_and_fresh_ones_differ() -> None:
    assert all(text.split()[0] == text.split()[1] for text in _texts("{@name} {@name}"))
    assert all(text.split()[0] != text.split()[2] for text in _texts("{pair}"))


def test_values_and_aliases_of_a_scope() -> None:
    scope = Scope(Random(1), values={"name": "Zed"}, aliases={"animal": "animal.farm"})
    assert Grammar(RULES).write("{@name}'s {animal}", scope) in {"Zed's cow", "Zed's hen"}


def test_same_seed_same_text() -> None:
    grammar = Grammar(RULES)
    one, two = (grammar.write("{greeting} {pair}", Scope(Random("x"))) for _ in range(2))
    assert one == two


@pytest.mark.parametrize("template", ["[a|b", "a|b", "a]", "{nobody}"])
def test_mistakes_are_named(template: str) -> None:
    with pytest.raises(ConfigError):
        Grammar(RULES).write(template, Scope(Random(0)))


def test_tidy_puts_articles_and_spaces_right() -> None:
    assert tidy(" a  old one , a union , a hour . ") == "an old one, a union, an hour."


def test_sentences_get_capitals() -> None:
    text = sentences(["one. two!", '"three," said he. he: "four."'])
    assert text == 'One. Two! "Three," said he. He: "Four."'
