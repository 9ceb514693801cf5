"""Whether two entities' primary keys, or claims, can be the same text: judged on the templates alone.

A template is a run of segments between delimiters, since a value never holds one. Two templates can meet when their
segments can, one by one.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from keyplan.model.stored.key_formats import IntegerFormat, PartsFormat
from keyplan.model.stored.key_templates import DELIMITER, Literal_, Template, Variable
from keyplan.model.stored.stored_keys import CompiledKey, literal_start

__all__ = ["can_collide"]

Segment = tuple[str, "Variable | None"]


def can_collide(key: CompiledKey, other: CompiledKey) -> bool:
    """Whether some item of one key and some item of the other can have the same key."""
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
    """Whether a value in it may hold delimiters."""
    return any(variable.style.raw for variable in template.variables)


def _begin_alike(left: Template, right: Template) -> bool:
    """Whether two templates, one of which has values without escapes, can be one key, by the fixed texts that they
    begin with.
    """
    text, other = literal_start(left), literal_start(right)
    if not left.variables or not right.variables:
        fixed, pattern = (left.source, right.regex) if not left.variables else (right.source, left.regex)
        return pattern.fullmatch(fixed) is not None
    return text.startswith(other) or other.startswith(text)


def _segments(template: Template, shards: int) -> list[Segment]:
    """The template's segments: fixed text, then possibly one variable."""
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
    """Whether the segment can hold delimiters: a bare variable, or a tuple's parts."""
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
