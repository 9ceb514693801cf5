"""Whether primary keys or claims of two entities can have the same text, judged by their templates.

A template is a sequence of segments between delimiters, which values never contain. Two templates can collide if their
segments can, pairwise.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from keyplan.model.compiled.plans import KeyMatch, QueryPlan
from keyplan.model.stored.key_formats import IntegerFormat, PartsFormat
from keyplan.model.stored.key_templates import DELIMITER, Literal_, Template, Variable
from keyplan.model.stored.stored_entity import CompiledEntity
from keyplan.model.stored.stored_keys import CompiledKey, literal_start

__all__ = ["can_collide", "neighbours"]

Segment = tuple[str, "Variable | None"]


def can_collide(key: CompiledKey, other: CompiledKey) -> bool:
    """Whether items of two keys can have the same key."""
    pairs = zip(key.attributes, other.attributes, strict=True)
    first = True
    for (_, left), (_, right) in pairs:
        if _is_raw(left) or _is_raw(right):
            if not _begin_alike(left, right):
                return False
        elif not _meet(_segments(left, key.shards if first else 1), _segments(right, other.shards if first else 1)):
            return False
        first = False
    return True


def _is_raw(template: Template) -> bool:
    """Whether its values can contain delimiters."""
    return any(variable.style.raw for variable in template.variables)


def _begin_alike(left: Template, right: Template) -> bool:
    """Whether two templates, one of which has unescaped values, can have the same key, judged by their constant
    prefixes.
    """
    text, other = literal_start(left), literal_start(right)
    if not left.variables or not right.variables:
        fixed, pattern = (left.source, right.regex) if not left.variables else (right.source, left.regex)
        return pattern.fullmatch(fixed) is not None
    return text.startswith(other) or other.startswith(text)


def _segments(template: Template, shards: int) -> list[Segment]:
    """The template's segments: constant text, then an optional variable."""
    segments: list[Segment] = [("", None)]
    for part in template.parts:
        if isinstance(part, Literal_):
            first, *more = part.text.split(DELIMITER)
            text, _ = segments[-1]
            if first:
                segments[-1] = (text + first, None)
            segments.extend((word, None) for word in more)
        else:
            segments[-1] = (segments[-1][0], part)
    if shards > 1:
        width = len(str(shards - 1))
        segments.append(("", Variable("shard", IntegerFormat(width), last=True, bare=False)))
    return segments


def _meet(left: Sequence[Segment], right: Sequence[Segment]) -> bool:
    for position in range(max(len(left), len(right))):
        element = left[position] if position < len(left) else None
        other = right[position] if position < len(right) else None
        if (element and _open(element)) or (other and _open(other)):
            return element is not None and other is not None
        if element is None or other is None or not _segment_meets(element, other):
            return False
    return True


def _open(segment: Segment) -> bool:
    """Whether the segment can contain delimiters: a template of one variable, or a tuple's parts."""
    variable = segment[1]
    return variable is not None and (variable.bare or isinstance(variable.format, PartsFormat))


def _segment_meets(segment: Segment, other: Segment) -> bool:
    (left_text, left), (right_text, right) = segment, other
    if left is None and right is None:
        return left_text == right_text
    if left is None:
        return _literal_meets(left_text, right_text, right)
    if right is None:
        return _literal_meets(right_text, left_text, left)
    return left_text.startswith(right_text) or right_text.startswith(left_text)


def _literal_meets(text: str, start: str, variable: Variable | None) -> bool:
    if variable is None or not text.startswith(start):
        return False
    return re.fullmatch(variable.pattern, text[len(start) :], re.DOTALL) is not None


def neighbours(plan: QueryPlan, entities: Iterable[CompiledEntity]) -> Iterator[tuple[CompiledEntity, CompiledKey]]:
    """The other entities, with their keys, whose items a query also reads."""
    asked = {match.entity.name for match in plan.matches}
    for entity in entities:
        if entity.name in asked:
            continue
        for key in entity.keys:
            if same_partition(plan.key, key) and _lies_in(key, plan.matches):
                yield entity, key


def start_of(match: KeyMatch) -> str:
    """The constant prefix of an entity's sort keys in a query's range."""
    known = match.sort[0].known if match.sort else ()
    return known[0].text if known and isinstance(known[0], Literal_) else ""


def same_partition(key: CompiledKey, other: CompiledKey) -> bool:
    """Whether items of both keys can be in one partition of the same table or index."""
    if key.place != other.place:
        return False
    return can_collide(replace(key, sort=()), replace(other, sort=()))


def _lies_in(key: CompiledKey, matches: Sequence[KeyMatch]) -> bool:
    """Whether items with a key of the same partition can be in a query's range: with a common prefix, with an identical
    constant key, or between the first and the last of several ranges.
    """
    own = literal_start(key.sort[0][1]) if key.sort else ""
    opened = [start_of(match) for match in matches if not match.full]
    if any(own.startswith(start) or (start.startswith(own) and own != start) for start in opened):
        return True
    if any(can_collide(match.key, key) for match in matches if match.full):
        return True
    starts = [start_of(match) for match in matches]
    return len(set(starts)) > 1 and min(starts) <= own <= max(starts)
