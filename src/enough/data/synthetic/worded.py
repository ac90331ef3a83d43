"""Domains whose answer is a text: headlines, titles of papers, tweets."""

from __future__ import annotations

import re
from collections.abc import Mapping
from random import Random
from typing import Any

from enough.data.synthetic.domain import Domain, Facet, Item, Written
from enough.data.synthetic.grammar import Scope, sentences, tidy


class Headlines(Domain):
    """LaMP-4: a form by kind of step, a pet phrase by the people affected."""

    task_name, file = "LaMP-4", "headlines.toml"

    def write(self, item: Item, habits: Mapping[Facet, str], rng: Random) -> Written:
        """An article with its headline."""
        scope = self.scope(item, rng)
        aspects = dict(item.facets)
        if "form" in aspects:
            form = habits["form", aspects["form"]]
            parts, title = self._step(aspects["form"], form, scope)
            if "phrase" in aspects or rng.random() < 0.5:
                del parts[1]
        else:
            event = rng.choice(sorted(self.clear))
            parts = [self.grammar.write(f"{{clear.{event}}}", scope)]
            form, title = "plain", self.grammar.write(self.clear[event], scope)
        if "phrase" in aspects:
            parts.append(self.grammar.write(f"{{group.{aspects['phrase']}}}", scope))
            title = _with_phrase(title, habits["phrase", aspects["phrase"]])
        text, title = sentences(parts), tidy(title)
        title = title.lower() if form == "lower" else _headline_case(title)
        return Written(text, title, self.table["input"].format(text), title)

    def _step(self, aspect: str, form: str, scope: Scope) -> tuple[list[str], str]:
        for name in ("verb", "figure", "tail", "reason"):
            scope.aliases[name] = f"{name}.{aspect}"
        base, third, past, gerund = self.grammar.write("{@verb}", scope).split("/")
        scope.values["past"] = past
        parts = [self.grammar.write(name, scope) for name in ("{lead}", "{reason}", "{said}")]
        words = {"base": base, "third": third, "gerund": gerund} | {
            name: self.grammar.write(f"{{@{name}}}", scope)
            for name in ("org", "thing", "town", "figure", "quote")
        }
        return parts, self.table["forms"][form].format(**words)


def _with_phrase(title: str, phrase: str) -> str:
    """The phrase at the end, but inside a question."""
    return f"{title[:-1]}{phrase}?" if title.endswith("?") else title + phrase


def _headline_case(text: str) -> str:
    return re.sub(r"(^|\s)(['(]?)([a-z])", lambda m: m[1] + m[2] + m[3].upper(), text)


class Titles(Domain):
    """LaMP-5: a form by kind of contribution, a turn of phrase by setting."""

    task_name, file = "LaMP-5", "titles.toml"

    def write(self, item: Item, habits: Mapping[Facet, str], rng: Random) -> Written:
        """An abstract with its title."""
        scope = self.scope(item, rng)
        words = {
            name: self.grammar.write(f"{{@{name}}}", scope)
            for name in ("problem", "approach", "coin")
        }
        scope.values["lower"] = words["problem"].lower()
        scope.values["lowapproach"] = words["approach"].lower()
        aspects = dict(item.facets)
        if "form" in aspects:
            form = aspects["form"]
            names = ["background", "gap", f"form.{form}", f"evidence.{form}", "outlook", "closing"]
            title = self.table["forms"][habits["form", form]].format(**words)
            if rng.random() < 0.3:
                del names[1]
        else:
            kind = rng.choice(sorted(self.clear))
            names = ["background", f"clear.{kind}"]
            title = self.grammar.write(self.clear[kind], scope)
        if "phrase" in aspects:
            names.insert(-1 if len(names) > 2 else 2, f"setting.{aspects['phrase']}")
            title = _with_phrase(title, habits["phrase", aspects["phrase"]])
        text = sentences([self.grammar.write(f"{{{name}}}", scope) for name in names])
        return Written(text, title, self.table["input"].format(text), title)


class Tweets(Domain):
    """LaMP-7: a voice by mood, a sign-off by occasion; the request says it in plain words."""

    task_name, file = "LaMP-7", "tweets.toml"

    def write(self, item: Item, habits: Mapping[Facet, str], rng: Random) -> Written:
        """A tweet, and the same said formally."""
        scope = self.scope(item, rng)
        aspects = dict(item.facets)
        scope.aliases["mood"] = f"mood.{aspects.get('voice', 'plain')}"
        scope.aliases["when"] = f"when.{aspects.get('signoff', '')}"
        body = self.grammar.write("{timed}" if "signoff" in aspects else "{body}", scope)
        voice = habits["voice", aspects["voice"]] if "voice" in aspects else "plain"
        tweet = _voiced(tidy(_register(body, 1).lower()), self.table["voices"][voice])
        tweet += habits["signoff", aspects["signoff"]] if "signoff" in aspects else ""
        formal = sentences([_register(body, 0) + "."])
        if rng.random() < 0.15:
            handle = self.grammar.write("{handle}", scope)
            tweet, formal = f"{handle} {tweet}", f"{handle} {formal}"
        return Written("", tweet, self.table["input"].format(formal), tweet)


def _register(text: str, which: int) -> str:
    """The formal (0) or the casual (1) side of every <formal~casual>, inner ones first."""
    pair = re.compile(r"<([^<>~]*)~([^<>~]*)>")
    while pair.search(text):
        text = pair.sub(lambda m: m[which + 1], text)
    return text


def _voiced(text: str, voice: Mapping[str, Any]) -> str:
    swap: dict[str, str] = voice.get("swap", {})
    text = re.sub(r"[a-z]+", lambda m: swap.get(m[0], m[0]), text)
    text = voice.get("before", "") + text.replace(". ", voice.get("stop", ". "))
    return (text.upper() if voice.get("upper") else text) + str(voice.get("after", ""))
