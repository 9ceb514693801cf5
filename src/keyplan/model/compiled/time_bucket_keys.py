"""Time-bucketed partition keys (``{at:%Y%m}``), and the partitions of a time range. ``keyplan.client.time_buckets``
reads the partitions.

A time format must contain all units from the year down: with ``%m`` alone, the same month of all years would share a
partition.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Any, NamedTuple

from keyplan.errors import ArgumentError, KeyFieldError
from keyplan.model.declared.parameters import Range
from keyplan.model.stored.key_formats import DateFormat, TimeFormat, as_utc
from keyplan.model.stored.stored_keys import CompiledKey

BUCKETS_MAX = 1000
"""Maximum number of buckets per call: each is at least one request."""
BUCKET = " bucket"
"""The name of the bucket in a call's values; no field has this name."""

_EPOCH = datetime.min.replace(tzinfo=UTC)
_UNITS = ("year", "month", "day", "hour", "minute", "second")
_LETTERS = {"Y": "year", "m": "month", "d": "day", "H": "hour", "M": "minute", "S": "second"}
_STEPS = {
    "year": timedelta(days=365),
    "month": timedelta(days=28),
    "day": timedelta(days=1),
    "hour": timedelta(hours=1),
    "minute": timedelta(minutes=1),
    "second": timedelta(seconds=1),
}


class Span(NamedTuple):
    """One bucket of a range: its first time (or day), and whether the whole bucket is in the range."""

    start: Any
    whole: bool


@dataclass(frozen=True, slots=True)
class Buckets:
    """The time buckets of a field. Each bucket is one partition, or several partitions with shards or ``Each``."""

    field: str
    unit: str
    days: bool = False
    """Whether the field is a date rather than a datetime."""
    default: Range[Any] | None = None
    """The default range in the signature, used for missing bounds."""

    def sets(self, values: Mapping[str, Any], *, ascending: bool = True) -> Sequence[tuple[str, Mapping[str, Any]]]:
        """The string and the values of each bucket in a call's range, in order. The values omit the range if the whole
        bucket is in the range. Raises ArgumentError, and KeyFieldError for a datetime without a time zone.
        """
        asked = self._bounded(values[self.field])
        spans = list(self._spans(asked))
        if not ascending:
            spans.reverse()
        return [
            (span.start.isoformat(), {**values, BUCKET: span.start, self.field: None if span.whole else asked})
            for span in spans
        ]

    def count(self, asked: Range[Any] | None) -> int | None:
        given = [bounds for bounds in (asked, self.default) if bounds is not None]
        if all(bounds.lower is None for bounds in given) or all(bounds.upper is None for bounds in given):
            return None
        return len(list(self._spans(self._bounded(asked))))

    def placed(self, values: Mapping[str, Any]) -> Mapping[str, Any]:
        return {**values, self.field: values[BUCKET]}

    def _bounded(self, asked: Range[Any] | None) -> Range[Any]:
        default = self.default
        given = asked if asked is not None else default
        if given is not None and default is not None:
            lower = given if given.lower is not None else default
            upper = given if given.upper is not None else default
            bounds = {"ge": lower.ge, "gt": lower.gt, "le": upper.le, "lt": upper.lt}
            given = Range(**{name: bound for name, bound in bounds.items() if bound is not None})
        if given is None or given.lower is None or given.upper is None:
            end = "beginning" if given is None or given.lower is None else "end"
            raise ArgumentError(
                f"the partitions of {self.field} are read {self.unit} by {self.unit}, but the range has no {end}",
                place=self.field,
                hint="pass both bounds: Range(ge=..., lt=...)",
            )
        return given

    def _spans(self, asked: Range[Any]) -> Iterator[Span]:
        try:
            first, last = self._least(asked), self._most(asked)
        except OverflowError:
            return  # a bound excludes the last datetime of the calendar, so the range is empty
        if first > last:
            return
        begin, end = self._number(first), self._number(last)
        if end - begin + 1 > BUCKETS_MAX:
            raise ArgumentError(
                f"the range of {self.field} covers {end - begin + 1:,} {self.unit}s; the maximum is {BUCKETS_MAX:,}",
                place=self.field,
                hint="read a shorter range per call",
            )
        for number in range(begin, end + 1):
            cut = (number == begin and first > self._start(begin)) or (number == end and last < self._last(end))
            yield Span(self._start(number), not cut)

    # Datetimes and dates as bucket numbers

    @property
    def step(self) -> timedelta:
        return _STEPS[self.unit]

    @property
    def _resolution(self) -> timedelta:
        return timedelta(days=1) if self.days else timedelta(microseconds=1)

    def _least(self, asked: Range[Any]) -> Any:
        return self._own(asked.ge) if asked.gt is None else self._own(asked.gt) + self._resolution

    def _most(self, asked: Range[Any]) -> Any:
        return self._own(asked.le) if asked.lt is None else self._own(asked.lt) - self._resolution

    def _own(self, value: Any) -> Any:
        if self.days:
            return value
        try:
            return as_utc(value)
        except KeyFieldError as error:
            raise KeyFieldError(error.message, place=self.field, hint=error.hint) from None

    def _number(self, value: Any) -> int:
        """The number of a time's bucket; consecutive buckets have consecutive numbers."""
        if self.unit == "year":
            return int(value.year)
        if self.unit == "month":
            return int(value.year) * 12 + int(value.month) - 1
        if self.days:
            return int(value.toordinal()) - 1
        return int((value - _EPOCH) // _STEPS[self.unit])

    def _start(self, number: int) -> Any:
        """The first time of a bucket. Raises OverflowError after the last one."""
        if self.unit in {"year", "month"}:
            year, month = (number, 0) if self.unit == "year" else divmod(number, 12)
            if year > date.max.year:
                raise OverflowError
            return date(year, month + 1, 1) if self.days else datetime(year, month + 1, 1, tzinfo=UTC)
        return date.fromordinal(number + 1) if self.days else _EPOCH + number * _STEPS[self.unit]

    def _last(self, number: int) -> Any:
        try:
            return self._start(number + 1) - self._resolution
        except (OverflowError, ValueError):
            return date.max if self.days else datetime.max.replace(tzinfo=UTC)


def buckets_of(key: CompiledKey, name: str, default: Range[Any] | None) -> Buckets | str:
    """The time buckets of a field in a partition key, or the reason why the field has no buckets."""
    variables = [variable for _, template in key.partition for variable in template.variables if variable.field == name]
    forms = [variable.format for variable in variables]
    letters = {letter for form in forms if isinstance(form, TimeFormat | DateFormat) for letter in form.letters}
    if not all(isinstance(form, TimeFormat | DateFormat) for form in forms):
        return f"{name} is in the partition key; a range requires whole time units, as in {{at:%Y%m}}"
    if "f" in letters:
        return f"{name} is in the partition key as a whole, but a range requires time units, as in {{{name}:%Y%m}}"
    days = all(isinstance(form, DateFormat) for form in forms)
    if "j" in letters:
        letters = (letters - {"j"}) | {"m", "d"}
    units = [_LETTERS[letter] for letter in _LETTERS if letter in letters]
    if units != list(_UNITS[: len(units)]):
        above = next(unit for unit in _UNITS if unit not in units)
        return f"the {units[-1]}s of {name} in the partition key repeat in each {above}, which the key omits"
    return Buckets(name, units[-1], days, default)
