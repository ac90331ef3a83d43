"""Domains with a closed set of answers: what is cited, which tag, how many stars."""

from __future__ import annotations

import re
from collections.abc import Mapping
from random import Random

from enough.data.synthetic.domain import Domain, Facet, Item, Written
from enough.data.synthetic.grammar import Scope, sentences, tidy


class Citations(Domain):
    """LaMP-1: of two papers on the problem, the author cites the one with the author's method."""

    task_name, file = "LaMP-1", "citation.toml"

    def write(self, item: Item, habits: Mapping[Facet, str], rng: Random) -> Written:
        """A paper; and two references of which it would cite one."""
        scope = self.scope(item, rng)
        facet = item.facets[0] if item.facets else rng.choice(sorted(self.options))
        mine = habits[facet] if item.facets else rng.choice(self.options[facet])
        self._point(scope, facet, mine)
        own = "{asked}" if item.asked else "{own}" if item.facets else "{side}"
        title = tidy(self.grammar.write(own, scope))
        scope.values["lower"] = self.grammar.write("{problem}", scope).lower()
        scope.values["lowdata"] = self.grammar.write("{data}", scope)
        abstract = ""
        if (item.facets or item.asked) and rng.random() < 0.3:
            abstract = sentences([self.grammar.write("{abstract}", scope)])
        cited = tidy(self.grammar.write("{reference}", scope))
        if item.facets:
            self._point(scope, facet, item.rival or mine)
        else:
            other = rng.choice(sorted(set(self.options) - {facet}))
            self._point(scope, other, rng.choice(self.options[other]))
        passed_over = tidy(self.grammar.write("{reference}", scope))
        first = rng.random() < 0.5
        pair = (cited, passed_over) if first else (passed_over, cited)
        question = self.table["input"].format(title, *pair)
        return Written(abstract, title, question, "[1]" if first else "[2]")

    @staticmethod
    def _point(scope: Scope, problem: Facet, method: str) -> None:
        scope.aliases |= {
            "problem": f"problem.{problem[1]}",
            "adjective": f"adjective.{method}",
            "method": f"method.{method}",
        }


class Movies(Domain):
    """LaMP-2: the tag is the habit for the film's world, if there is one, else for its story."""

    task_name, file = "LaMP-2", "movies.toml"

    def write(self, item: Item, habits: Mapping[Facet, str], rng: Random) -> Written:
        """A description with its tag."""
        scope = self.scope(item, rng)
        _cast(self, scope)
        marks = [self.grammar.write(f"{{{d}.{aspect}}}", scope) for d, aspect in item.facets]
        elsewhere = any(dimension == self.overriding for dimension, _ in item.facets)
        if item.facets:
            decisive = self.decisive(item.facets, habits)
            tag = next(habits[facet] for facet in decisive if habits[facet])
        else:
            aspect = rng.choice(sorted(self.clear))
            tag = self.clear[aspect]
            marks = [self.grammar.write(f"{{clear.{aspect}}}", scope)]
        if len(marks) == 1:
            marks.append(self.grammar.write("{company}" if elsewhere else "{plain}", scope))
        rng.shuffle(marks)
        opening = self.grammar.write("{uprooted}" if elsewhere else "{opening}", scope)
        marks.insert(rng.choice((0, 0, 1)), opening)
        text = sentences(marks)
        for who in ("first", "other"):
            if rng.random() < 0.4:
                full = self.grammar.write(f"{scope.values[who]} {{surname}}", scope)
                text = re.sub(rf"\b{scope.values[who]}\b", full, text, count=1)
        return Written(text, tag, self.table["input"].format(text), tag)


def _cast(domain: Domain, scope: Scope) -> None:
    """Bind the lead with pronouns, and a second person with words for what they are to the lead."""
    lead, second = (scope.rng.choice(("woman", "man")) for _ in range(2))
    names = {"woman": "{women}", "man": "{men}"}
    first = other = domain.grammar.write(names[lead], scope)
    while other == first:
        other = domain.grammar.write(names[second], scope)
    pronouns = ("she", "her", "her") if lead == "woman" else ("he", "his", "him")
    scope.values |= {"first": first, "other": other}
    scope.values |= dict(zip(("they", "their", "them"), pronouns, strict=True))
    scope.aliases |= {name: f"{name}.{second}" for name in ("tie", "child", "kid")}


class Ratings(Domain):
    """LaMP-3: the score is the habit for the grumble; of two, the worse."""

    task_name, file = "LaMP-3", "ratings.toml"

    def write(self, item: Item, habits: Mapping[Facet, str], rng: Random) -> Written:
        """A review with its score."""
        scope = self.scope(item, rng)
        if item.facets:
            score = min(habits[facet] for facet in item.facets)
            body = [self.grammar.write(f"{{{d}.{aspect}}}", scope) for d, aspect in item.facets]
            body.append(self.grammar.write("{works}", scope))
        else:
            aspect = rng.choice(sorted(self.clear))
            score = self.clear[aspect]
            body = [self.grammar.write(f"{{clear.{aspect}}}", scope)]
        rng.shuffle(body)
        opening, ending = (self.grammar.write(name, scope) for name in ("{opening}", "{ending}"))
        text = _sloppy(sentences([opening, *body, ending]), rng)
        return Written(text, score, self.table["input"].format(text), score)


def _sloppy(text: str, rng: Random) -> str:
    """The way people type reviews: now and then no capitals, no apostrophes, or a slip."""
    if rng.random() < 0.2:
        text = text.lower()
    if rng.random() < 0.2:
        text = text.replace("'", "")
    if rng.random() < 0.15:
        at = rng.randrange(len(text) - 2)
        if text[at : at + 2].isalpha():
            text = text[:at] + text[at + 1] + text[at] + text[at + 2 :]
    return text
