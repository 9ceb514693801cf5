"""Detect templates that can give equal keys, and split reads of several entities that have items in one partition.

A template is a sequence of segments between delimiters, which values never contain. The keys of two templates can be
equal if each pair of segments can be equal. A read of several entities is one query from the items of the first entity
to those of the last entity. The query is split if it would also read, and be billed for, many other items.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from keyplan.model.compiled.plans import KeyMatch, QueryPlan
from keyplan.model.stored.key_formats import IntegerFormat, PartsFormat
from keyplan.model.stored.key_templates import DELIMITER, Literal_, Template, Variable
from keyplan.model.stored.stored_entity import CompiledEntity
from keyplan.model.stored.stored_keys import CompiledKey, literal_start

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
    return any(variable.style.raw for variable in template.variables)


def _begin_alike(left: Template, right: Template) -> bool:
    text, other = literal_start(left), literal_start(right)
    if not left.variables or not right.variables:
        fixed, pattern = (left.source, right.regex) if not left.variables else (right.source, left.regex)
        return pattern.fullmatch(fixed) is not None
    return text.startswith(other) or other.startswith(text)


def _segments(template: Template, shards: int) -> list[Segment]:
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
        if (element and _is_open(element)) or (other and _is_open(other)):
            return element is not None and other is not None
        if element is None or other is None or not _segment_meets(element, other):
            return False
    return True


def _is_open(segment: Segment) -> bool:
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
    asked = {match.entity.name for match in plan.matches}
    for entity in entities:
        if entity.name in asked:
            continue
        for key in entity.keys:
            if same_partition(plan.key, key) and _lies_in(key, plan.matches):
                yield entity, key


def start_of(match: KeyMatch) -> str:
    known = match.sort[0].known if match.sort else ()
    return known[0].text if known and isinstance(known[0], Literal_) else ""


def same_partition(key: CompiledKey, other: CompiledKey) -> bool:
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


_Part = Literal_ | Variable


@dataclass
class _Run:
    """Entities with adjacent items. Their sort keys have a common prefix after the parts that all sort keys share."""

    start: str
    matches: list[KeyMatch]
    common: int
    """The number of leading template parts that all sort keys of the pattern share."""

    @property
    def narrowed(self) -> bool:
        """Whether items that the read doesn't return can have the prefix of the run."""
        return any(
            match.sort[0].condition is not None or _open(match.key, match.sort[0].known[self.common + 1 :])
            for match in self.matches
        )

    @property
    def behind(self) -> str:
        """The smallest string that sorts after all items of the run's entities, including items that aren't read."""
        if all(len(match.sort[0].known) == self.common + 1 and match.sort[0].complete for match in self.matches):
            return f"{self.start}\0"
        if all(match.sort[0].complete for match in self.matches):
            return self.start  # there is only one item: its sort key repeats a field of the partition key
        return _successor(self.start)


def read_apart(plan: QueryPlan, entities: Iterable[CompiledEntity]) -> QueryPlan:
    """The plan, split into narrower queries in result order if these cost less."""
    runs = _runs(plan)
    if len(runs) < 2 or plan.buckets is not None:  # each time bucket is read by one query
        return plan
    common = runs[0].matches[0].sort[0].known[: runs[0].common]
    others = list(_others(plan, common, entities))
    groups = [[runs[0]]]
    for before, run in pairwise(runs):
        if before.narrowed or run.narrowed or any(_between(before, run, *other) for other in others):
            groups.append([run])
        else:
            groups[-1].append(run)
    if len(groups) < 2:
        return plan
    names = [{match.entity.name for run in group for match in run.matches} for group in groups]
    parts = [
        replace(
            plan,
            matches=tuple(match for match in plan.matches if match.entity.name in own),
            completed=tuple(entity for entity in plan.completed if entity.name in own),
        )
        for own in (names if plan.forward else names[::-1])
    ]
    return replace(plan, apart=tuple(parts))


def _runs(plan: QueryPlan) -> list[_Run]:
    """The entities of a pattern in sort key order; fewer than two if their items can interleave."""
    matches = plan.matches
    if len(matches) < 2 or not all(match.sort and match.sort[0].attribute.type == "S" for match in matches):
        return []
    common = _common([match.sort[0].known for match in matches])
    starts: list[tuple[str, KeyMatch]] = []
    for match in matches:
        known = match.sort[0].known
        following = known[common] if len(known) > common else None
        if not isinstance(following, Literal_):
            return []
        starts.append((following.text, match))
    runs: list[_Run] = []
    for start, match in sorted(starts, key=lambda pair: pair[0]):
        if runs and start.startswith(runs[-1].start):
            runs[-1].matches.append(match)
        else:
            runs.append(_Run(start, [match], common))
    return runs


def _common(known: Sequence[Sequence[_Part]]) -> int:
    """The number of leading parts that all sort keys share: equal constants, and equal fields and formats."""
    number = 0
    while all(len(parts) > number and _written(parts[number]) == _written(known[0][number]) for parts in known):
        number += 1
    return number


def _written(part: _Part) -> _Part:
    return part if isinstance(part, Literal_) else replace(part, ends="")


def _others(
    plan: QueryPlan, common: Sequence[_Part], entities: Iterable[CompiledEntity]
) -> Iterator[tuple[str, str | None]]:
    """The ranges of sort keys (end None: open) of other entities that can have any number of items."""
    asked = {match.entity.name: match.key for match in plan.matches}
    for entity in entities:
        for key in (*entity.keys, *entity.claims):
            if key is asked.get(entity.name) or not key.sort or not same_partition(plan.key, key):
                continue
            begins = _behind(common, key.sort[0][1])
            if begins is not None and _many(key, begins[1]):
                yield begins[0], _successor(begins[0]) or None


def _behind(common: Sequence[_Part], template: Template) -> tuple[str, Sequence[_Part]] | None:
    """The string and the parts of a template's sort keys after common parts; None if they can't have that prefix."""
    parts = template.parts
    for at, part in enumerate(common):
        own = parts[at] if at < len(parts) else None
        if own is None:
            return None
        if isinstance(part, Literal_) and isinstance(own, Literal_) and part.text != own.text:
            alike = part.text.startswith(own.text) or own.text.startswith(part.text)
            return ("", parts[at:]) if alike else None
        if isinstance(part, Literal_) is not isinstance(own, Literal_):
            return "", parts[at:]
    rest = parts[len(common) :]
    first = rest[0] if rest else None
    return (first.text if isinstance(first, Literal_) else "", rest)


def _many(key: CompiledKey, rest: Sequence[_Part]) -> bool:
    """Whether one partition can have several items of a key, by the rest of its sort key."""
    later = [variable for _, template in key.sort[1:] for variable in template.variables]
    return _open(key, (*rest, *later))


def _open(key: CompiledKey, parts: Sequence[_Part]) -> bool:
    """Whether parts of a key's sort key have fields that its partition key doesn't fix."""
    fixed = {variable.field for _, template in key.partition for variable in template.variables}
    return any(isinstance(part, Variable) and part.field not in fixed for part in parts)


def _between(before: _Run, run: _Run, low: str, high: str | None) -> bool:
    """Whether strings from ``low`` to ``high`` are after one run and before the next."""
    return max(low, before.behind) < (run.start if high is None else min(high, run.start))


def _successor(text: str) -> str:
    """The smallest string after all strings with a prefix; empty if there is none."""
    return text[:-1] + chr(ord(text[-1]) + 1) if text else ""
