"""Reads drawings back: elements by class, and the numbers of their attributes."""

from __future__ import annotations

import re
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

SVG = "{http://www.w3.org/2000/svg}"


def parsed(drawing: str) -> Element:
    return ElementTree.fromstring(drawing)


def having(root: Element, name: str) -> list[Element]:
    """Elements of a class outside of the legend, in drawing order."""
    legend = {each for group in _of_class(root, "legend") for each in group.iter()}
    return [each for each in _of_class(root, name) if each not in legend]


def numbers(element: Element, *names: str) -> tuple[float, ...]:
    return tuple(float(element.get(name, "nan")) for name in names)


def along(element: Element) -> list[float]:
    """The numbers of a path."""
    return [float(n) for n in re.findall(r"-?\d+\.?\d*", element.get("d", ""))]


def said(root: Element, name: str = "") -> list[str]:
    """Texts, of one class or all."""
    found = _of_class(root, name) if name else list(root.iter(f"{SVG}text"))
    return ["".join(t for t in _own_text(each)) for each in found if each.tag == f"{SVG}text"]


def hints(root: Element) -> list[str]:
    """What is told when a pointer rests on something; the drawing's own title is not among them."""
    inner = (e for child in root if child.tag != f"{SVG}title" for e in child.iter(f"{SVG}title"))
    return [each.text or "" for each in inner]


def _own_text(element: Element) -> list[str]:
    parts = [element.text or ""]
    parts += [child.text or "" for child in element if child.tag == f"{SVG}tspan"]
    return parts


def _of_class(root: Element, name: str) -> list[Element]:
    return [each for each in root.iter() if name in (each.get("class") or "").split()]
