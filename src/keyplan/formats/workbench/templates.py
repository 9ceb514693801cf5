"""Templates of keys, as the importer finds them in a model: their fields, their form, what was written by them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from keyplan.formats.workbench.declarations import IndexDeclaration, KeyDeclaration
from keyplan.formats.workbench.texts import snake
from keyplan.model.declared.declaration_errors import Problem
from keyplan.model.stored.key_templates import escape, split_template, unescape

__all__ = ["is_escaped", "places_of", "shape_of", "variables", "with_braces"]

_PLACEHOLDER = re.compile(r"\$?[{<\[(]\s*([A-Za-z][\w -]*?)\s*[}>\])]")


def is_escaped(segment: str, *, last: bool) -> bool:
    """Whether a part of a key is as Keyplan would write it."""
    try:
        return escape(unescape(segment), last=last) == segment
    except ValueError:
        return False


def places_of(key: KeyDeclaration, place: IndexDeclaration) -> Iterator[tuple[str, str, str]]:
    """Each key attribute, its type, and the template that the key gives it."""
    for side, templates in ((place.partition, key.partition), (place.sort, key.sort)):
        for (attribute, kind), template in zip(side, templates, strict=True):
            yield attribute, kind, template


def variables(template: str) -> list[tuple[str, str]]:
    """The fields of a template with their formats; none of what is no template."""
    try:
        return [text for text in split_template(template, raw=True) if isinstance(text, tuple)]
    except Problem:
        return []


def with_braces(text: str) -> str:
    """A text whose placeholders are written otherwise (``USER#<userId>``) as a template."""
    return _PLACEHOLDER.sub(lambda match: f"{{{snake(match.group(1))}}}", text)


def shape_of(template: str) -> re.Pattern[str] | None:
    """A regular expression with a group for each variable; None for what is no template."""
    try:
        pieces = split_template(template, raw=True)
    except Problem:
        return None
    parts = ["(.+?)" if isinstance(piece, tuple) else re.escape(piece) for piece in pieces]
    return re.compile(f"{''.join(parts)}\\Z", re.DOTALL)
