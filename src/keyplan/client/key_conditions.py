"""Builds the key conditions of a call: equality for the partition key, and an interval of sort keys.

An interval is exact in the order of stored strings. If DynamoDB has no operator for a bound (an exclusive upper bound
with a lower bound), the query includes the bound and the readers drop items equal to it.
"""

from __future__ import annotations

import base64
import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from decimal import Decimal
from functools import lru_cache
from typing import Any

from keyplan.dynamodb.limits import PARTITION_KEY_BYTES_MAX, SORT_KEY_BYTES_MAX
from keyplan.errors import ArgumentError, KeyFieldError
from keyplan.model.compiled.plans import KeyMatch, QueryPlan, SortPart
from keyplan.model.compiled.signatures import ParameterKind
from keyplan.model.declared.entity import Entity
from keyplan.model.declared.parameters import InvalidItem, Range
from keyplan.model.stored.key_formats import Format, IntegerFormat, PartsFormat, StoredFormat
from keyplan.model.stored.key_templates import DELIMITER, Variable, escape
from keyplan.model.stored.stored_entity import CompiledEntity
from keyplan.model.stored.stored_keys import CompiledKey, checked


@dataclass(frozen=True, slots=True)
class Interval:
    """Sort keys from ``low`` to ``high``, inclusive. ``prefix``: whether the interval has all keys with a prefix."""

    low: str | None = None
    high: str | None = None
    prefix: str | None = None
    kind: str = "S"
    """The attribute's type: S, N or B."""
    value_at: int = 0
    ends: str = ""
    """For a prefix of an unescaped value: the value's position in the string, and the value's terminator."""

    @property
    def empty(self) -> bool:
        if self.low is None or self.high is None:
            return False
        return bool(order_of(self.low, self.kind) > order_of(self.high, self.kind))

    def holds(self, text: str) -> bool:
        if self.prefix is not None:
            is_within = not self.ends or (text + self.ends).find(self.ends, self.value_at) >= len(self.prefix)
            return text.startswith(self.prefix) and is_within
        place = order_of(text, self.kind)
        return (self.low is None or bool(order_of(self.low, self.kind) <= place)) and (
            self.high is None or bool(place <= order_of(self.high, self.kind))
        )

    def before(self, other: Interval, *, forward: bool) -> bool:
        """Whether the whole interval precedes the ``other`` interval in the given direction."""
        interval, two = (self, other) if forward else (other, self)
        if interval.high is None or two.low is None:
            return False
        return bool(order_of(interval.high, self.kind) < order_of(two.low, self.kind))

    def cut(self, bound: str, *, forward: bool) -> Interval:
        """The part of the interval from ``bound`` on (``forward``) or up to ``bound``, inclusive."""

        def order(text: str) -> Any:
            return order_of(text, self.kind)

        if forward:
            low = bound if self.low is None else max(self.low, bound, key=order)
            return Interval(low, self.high, kind=self.kind)
        high = bound if self.high is None else min(self.high, bound, key=order)
        return Interval(self.low, high, kind=self.kind)


NOTHING = Interval("b", "a")
"""The empty interval."""
_EMPTY: tuple[Any, ...] = ("", (), b"")


ORDERS: Mapping[str, Callable[[str], Any]] = {"S": str, "N": Decimal, "B": base64.b64decode}
"""Functions by key attribute type that convert a string into its sort value."""


def order_of(text: str, kind: str) -> Any:
    """The sort value of a key attribute's string: its UTF-8 bytes, its number, or its binary value, by type."""
    return ORDERS[kind](text)


def text_of(ordered: Any, kind: str) -> str:
    """The string of a sort value; the inverse of ``order_of``."""
    if kind == "B":
        return base64.b64encode(ordered).decode("ascii")
    return str(ordered)


@dataclass(frozen=True, slots=True)
class KeyText:
    """A key condition: an expression, and values by placeholder."""

    text: str
    names: dict[str, str]
    values: dict[str, dict[str, str]]


def interval_of(part: SortPart, values: Mapping[str, Any]) -> Interval:
    """The interval of a sort key attribute for the values of a call. Raises KeyFieldError."""
    try:
        interval = _interval(part, values)
        for bound in (interval.low, interval.high):
            if bound is not None and interval.kind == "S":
                checked(bound, SORT_KEY_BYTES_MAX, part.attribute)
    except KeyFieldError as error:
        place = error.place or (None if part.condition is None else part.condition.field)
        raise KeyFieldError(error.message, place=place, hint=error.hint) from None
    return interval


def _interval(part: SortPart, values: Mapping[str, Any]) -> Interval:
    kind = part.attribute.type
    start = part.start(values)
    if part.complete:
        return Interval(start, start, kind=kind)
    condition = part.condition
    given = None if condition is None else values.get(condition.field)
    if condition is None or given is None:
        return _beginning(start, kind=kind)
    if part.condition_kind is ParameterKind.PREFIX:
        beginning = _beginning(start + condition.prefix_text(given), kind=kind)
        return replace(beginning, value_at=len(start), ends=condition.ends) if condition.is_open else beginning
    return _range(part, start, given, kind=kind)


def _beginning(start: str, *, kind: str) -> Interval:
    return Interval(prefix=start, low=start, high=_successor(start)) if start else Interval(kind=kind)


def _successor(text: str) -> str | None:
    """The smallest string after all strings with the prefix ``text``."""
    return text[:-1] + chr(ord(text[-1]) + 1) if text else None


def _range(part: SortPart, start: str, given: Range[Any], *, kind: str) -> Interval:
    condition = part.condition
    if condition is None:  # pragma: no cover - the caller passes a bound
        raise AssertionError
    least, most = _held(condition.format, given.lower), _held(condition.format, given.upper)
    if most is not None and most in _EMPTY:
        return NOTHING  # values in keys aren't empty, so they sort after an empty bound
    lower, upper = None if least in _EMPTY else _text(condition, least), _text(condition, most)
    # An adjusted bound is inclusive; the readers then compare items with the original bound
    lower_out = given.gt is not None and least == given.gt
    upper_out = given.lt is not None and most == given.lt
    if condition.format.descending:
        lower, upper, lower_out, upper_out = upper, lower, upper_out, lower_out
    if kind != "S":
        return Interval(lower, upper, kind=kind)
    low = start or None
    if lower is not None:
        after = ("\0" if condition.last else _after(condition)) if lower_out else ""
        low = start + lower + after
    high = _successor(start)
    if upper is not None:
        high = start + upper + ("" if condition.last or upper_out else _after(condition))
    return Interval(low, high)


def _after(condition: Variable) -> str:
    """The character after the value's terminator, which sorts after every string of a value and its terminator."""
    return chr(ord(condition.ends[0]) + 1)


def _held(form: Format, value: Any) -> Any:
    """The bound, or the nearest value that the format can represent. No item has a value between the two."""
    if isinstance(form, StoredFormat) and isinstance(value, datetime):
        return form.nearest(value)
    if not isinstance(value, int) or not isinstance(form, IntegerFormat) or form.width is None:
        return value  # only padded integers have a limited range
    return min(max(value, 0), 10**form.width - 1)


def _text(variable: Variable, value: Any) -> str | None:
    if value is None:
        return None
    if isinstance(variable.format, PartsFormat):  # unlike a value, a bound can have empty parts
        return DELIMITER.join(escape(part, last=False) for part in value)
    return variable.text(value)


def hull(intervals: Sequence[Interval]) -> Interval:
    first = intervals[0]
    if all(interval == first for interval in intervals):
        return first

    def order(text: str) -> Any:
        return order_of(text, first.kind)

    lows = [interval.low for interval in intervals if interval.low is not None]
    highs = [interval.high for interval in intervals if interval.high is not None]
    low = min(lows, key=order) if len(lows) == len(intervals) else None
    high = max(highs, key=order) if len(highs) == len(intervals) else None
    return Interval(low, high, kind=first.kind)


def partition_texts(match: KeyMatch, values: Mapping[str, Any], suffix: str = "") -> list[str]:
    """The strings of the partition key attributes. Raises KeyFieldError."""
    if match.buckets is not None:
        values = match.buckets.placed(values)
    texts: list[str] = []
    for attribute, template in match.key.partition:
        try:
            texts.append(checked(template.text(values) + suffix, PARTITION_KEY_BYTES_MAX, attribute))
        except KeyFieldError as error:
            place = error.place or ", ".join(template.fields)
            raise KeyFieldError(error.message, place=place, hint=error.hint) from None
    return texts


def key_condition(
    plan: QueryPlan,
    values: Mapping[str, Any],
    partition: Sequence[str],
    cut: str | None = None,
    reach: str | None = None,
) -> KeyText | None:
    """The key condition of a query, or None if nothing can match. ``cut`` is the first and ``reach`` the last sort key,
    inclusive; both require an index or table with one sort key attribute.
    """
    key = plan.key
    result: dict[str, dict[str, str]] = {}
    for number, ((attribute, _), text) in enumerate(zip(key.partition, partition, strict=True)):
        result[f":p{number}"] = {attribute.type: text}
    clauses: list[str] = []
    for number, (attribute, _) in enumerate(key.sort):
        parts = [match.sort[number] for match in plan.matches if number < len(match.sort)]
        if len(parts) < len(plan.matches):
            if cut is None and reach is None:
                break
            parts = []
        interval = hull([interval_of(part, values) for part in parts]) if parts else Interval(kind=attribute.type)
        if cut is not None:
            interval = interval.cut(cut, forward=plan.forward)
        if reach is not None:
            interval = interval.cut(reach, forward=not plan.forward)
        if interval.empty:
            return None
        clauses.append(_clause(interval, f"s{number}", attribute.type, result))
    text, names = _written(key, tuple(clauses))
    return KeyText(text, names, result)


@lru_cache(maxsize=1024)
def _written(key: CompiledKey, clauses: tuple[str, ...]) -> tuple[str, dict[str, str]]:
    """The expression and names of a key condition. Cached for each combination of sort key clauses."""
    names = {f"#p{number}": attribute.name for number, (attribute, _) in enumerate(key.partition)}
    texts = [f"#p{number} = :p{number}" for number in range(len(key.partition))]
    for number, clause in enumerate(clauses):
        if clause:
            names[f"#s{number}"] = key.sort[number][0].name
            texts.append(clause)
    return " AND ".join(texts), names


def _clause(interval: Interval, name: str, kind: str, values: dict[str, dict[str, str]]) -> str:
    def value(suffix: str, text: str) -> str:
        values[f":{name}{suffix}"] = {kind: text}
        return f":{name}{suffix}"

    if interval.prefix is not None:
        return f"begins_with(#{name}, {value('', interval.prefix)})"
    if interval.low is not None and interval.low == interval.high:
        return f"#{name} = {value('', interval.low)}"
    if interval.low is not None and interval.high is not None:
        return f"#{name} BETWEEN {value('', interval.low)} AND {value('_', interval.high)}"
    if interval.low is not None:
        return f"#{name} >= {value('', interval.low)}"
    if interval.high is not None:
        return f"#{name} <= {value('', interval.high)}"
    return ""


COMBINATIONS_MAX = 1000
"""Maximum number of combinations of multi-valued parameters. Each combination is a partition or a key to read."""


def value_sets(each: Sequence[str], values: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The values for each partition or key, in parameter order. Raises ArgumentError for too many combinations."""
    if not each:
        return [values]
    if len(each) == 1:
        (name,) = each
        return [{**values, name: value} for value in dict.fromkeys(values[name])]
    lists: list[list[Any]] = [list(dict.fromkeys(values[name])) for name in each]
    count = math.prod(map(len, lists))
    if count > COMBINATIONS_MAX:
        sizes = " × ".join(f"{len(value):,} of {name}" for name, value in zip(each, lists, strict=True))
        raise ArgumentError(
            f"the call has {count:,} combinations of values ({sizes}); the maximum is {COMBINATIONS_MAX:,}",
            place=", ".join(each),
            hint="pass fewer values per call",
        )
    return [{**values, **dict(zip(each, element, strict=True))} for element in itertools.product(*lists)]


Item = Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class AnswerFilter:
    """Selects the items that belong to the result of one call."""

    ranges: tuple[tuple[str, Range[Any]], ...]
    intervals: Mapping[type[Entity], tuple[tuple[str, Interval], ...]]
    readers: Mapping[type[Entity], Callable[[Item], Entity]] = field(default_factory=dict[Any, Any])
    """Functions that read the range fields of views' items, because a view's instances don't contain these fields."""
    ranks: Mapping[str, Callable[[Any], int]] = field(default_factory=dict[str, Any])
    """Sort functions for fields whose Python type has no order."""
    equal: Mapping[type[Entity], tuple[CompiledEntity, Mapping[str, Any]]] = field(default_factory=dict[Any, Any])
    """Fields of unescaped keys, for which different values can result in the same key."""

    def passes(self, instance: Any, item: Item) -> bool:
        """Whether an item of one of the plan's entities belongs to the result."""
        if type(instance) is InvalidItem:
            return True  # the item's fields are unknown, so rely on the key condition
        if type(instance) in self.equal:
            entity, values = self.equal[type(instance)]
            if not entity.holds(item, values):
                return False
        for attribute, interval in self.intervals.get(type(instance), ()):
            if not interval.holds(item[attribute][interval.kind]):
                return False
        if self.readers and self.ranges and type(instance) in self.readers:
            instance = self.readers[type(instance)](item)
        if self.ranks:
            return all(
                bound.ranked(self.ranks[name]).holds(self.ranks[name](getattr(instance, name)))
                if name in self.ranks
                else bound.holds(getattr(instance, name))
                for name, bound in self.ranges
            )
        return all(bound.holds(getattr(instance, name)) for name, bound in self.ranges)


def answer_filter_of(plan: QueryPlan, values: Mapping[str, Any]) -> AnswerFilter | None:
    """The filter for the values of one call; None if the key condition alone selects the right items."""
    equal: dict[type[Entity], tuple[CompiledEntity, Mapping[str, Any]]] = {}
    for match in plan.matches:
        if match.key.is_raw:
            known = [*(v.field for _, template in match.key.partition for v in template.variables)]
            known += [v.field for part in match.sort for v in part.known if isinstance(v, Variable)]
            equal[match.entity.gives] = (match.entity, {name: values[name] for name in known if name in values})
    if plan.one_interval:
        return AnswerFilter((), {}, equal=equal) if equal else None
    ranges = tuple((name, value) for name, value in values.items() if value.__class__ is Range)
    intervals: dict[type[Entity], tuple[tuple[str, Interval], ...]] = {}
    for match in plan.matches:
        own = tuple((part.attribute.name, interval_of(part, values)) for part in match.sort)
        if len(plan.matches) > 1 or any(interval.ends for _, interval in own):
            intervals[match.entity.gives] = own
    return AnswerFilter(ranges, intervals, plan.sifted, plan.ranks, equal) if ranges or intervals or equal else None
