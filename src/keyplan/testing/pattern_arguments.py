"""Arguments to ask a read pattern with: of stored items, of several at once, and of none.

They are made from a number and the store's own rows, not drawn one by one: so a question stays the same while
hypothesis takes away the steps that have nothing to do with it.
"""

from __future__ import annotations

import enum
import re
from collections.abc import Callable, Iterator, Sequence
from random import Random
from typing import Any

from pydantic import TypeAdapter, ValidationError

from keyplan.model.compiled.plans import (
    BatchGetPlan,
    ClaimPlan,
    GetPlan,
    Plan,
    QueryPlan,
    ReadPattern,
    ScanPlan,
    ThroughPlan,
)
from keyplan.model.compiled.signatures import Parameter, ParameterKind
from keyplan.model.compiled.time_bucket_keys import Buckets
from keyplan.model.declared.fields import is_optional
from keyplan.model.declared.parameters import Range
from keyplan.testing.samples import samples
from keyplan.testing.stored_world import Row, World

__all__ = ["Asker", "entities_of_plan"]

FROM_ITEMS = 4
MIXED = 2
BOUNDS_BOTH = (("ge", "le"), ("gt", "lt"), ("ge", "lt"), ("gt", "le"))
BOUNDS = (*BOUNDS_BOTH, ("ge",), ("gt",), ("le",), ("lt",))
BUCKETS_ASKED = 30
"""Over how many buckets of time a range reaches, at the most."""
_COMPARISON = re.compile(
    r"(?P<name>#\w+) (?:[=<>]+|IN|BETWEEN) \(?(?P<value>:\w+)|(?P<first>:\w+) (?:[=<>]+|BETWEEN) (?P<other>#\w+)"
)
"""A comparison of an attribute, within the items themselves, with a parameter."""


def entities_of_plan(plan: Plan) -> tuple[Any, ...]:
    """The compiled entities whose items a plan's question is about, a junction's first."""
    match plan:
        case GetPlan() | ClaimPlan() | BatchGetPlan():
            return (plan.entity,)
        case QueryPlan():
            return tuple(match.entity for match in plan.matches)
        case ScanPlan():
            return plan.entities
        case ThroughPlan():
            links = (entity for way in plan.ways for entity in entities_of_plan(way.junction))
            return (*links, *entities_of_plan(plan.end))


class Asker:
    """Makes arguments for one read pattern."""

    def __init__(self, pattern: ReadPattern) -> None:
        self.pattern = pattern
        self.parameters = [
            parameter
            for parameter in pattern.signature.parameters
            if parameter.kind not in {ParameterKind.LIMIT, ParameterKind.CURSOR}
        ]
        self.entities = [entity.cls for entity in entities_of_plan(pattern.plan)]
        self._adapters: dict[str, TypeAdapter[Any]] = {
            parameter.name: TypeAdapter(parameter.value_type) for parameter in self.parameters
        }
        self._samples = {parameter.name: samples(parameter.value_type) for parameter in self.parameters}
        self._buckets = pattern.buckets
        self._plain = {parameter.name for parameter in self.parameters if not parameter.required}
        if self._buckets is not None:
            self._plain.discard(self._buckets.field)  # its range has both bounds
        self._fields = dict(_compared(pattern.plan))

    def questions(self, world: World, number: int) -> Iterator[dict[str, Any]]:
        """Arguments for each of a few calls, without limit and cursor."""
        rows = world.of(*self.entities)
        if not self.parameters:
            yield {}
            return
        chooser = Random(f"{number}/{self.pattern.name}")  # noqa: S311 - a repeatable choice, not a secret
        sources: list[Row | None] = [*chooser.sample(rows, min(FROM_ITEMS, len(rows))), *[None] * MIXED]
        for position, source in enumerate(sources):
            choice = Random(f"{number}/{self.pattern.name}/{position}")  # noqa: S311
            arguments = self._arguments(world.rows, source, choice)
            if arguments is not None:
                yield arguments

    def _arguments(self, rows: Sequence[Row], source: Row | None, choice: Random) -> dict[str, Any] | None:
        result: dict[str, Any] = {}
        for parameter in self.parameters:
            if parameter.name in self._plain and choice.random() < 0.2:
                continue
            try:
                result[parameter.name] = self._argument(parameter, rows, source, choice)
            except LookupError:
                if parameter.required:
                    return None
        return result

    def _argument(self, parameter: Parameter, rows: Sequence[Row], source: Row | None, choice: Random) -> Any:
        values = self._values(parameter, rows)
        own = self._own(parameter, source)

        def value() -> Any:
            if own is not None and choice.random() < 0.8:
                return own
            stored = values if values and choice.random() < 0.75 else self._samples[parameter.name] or values
            return choice.choice([value for value in stored if value is not None])

        match parameter.kind:
            case ParameterKind.RANGE:
                return self._range(parameter.name, value, choice)
            case ParameterKind.PREFIX:
                text = str(value())
                return text[: choice.randint(0, len(text))]
            case ParameterKind.DIRECTION:
                return choice.random() < 0.5
            case ParameterKind.EACH:
                few = [own] if own is not None else []
                return choice.sample(few + [value() for _ in range(choice.randint(1, 4))], k=len(few) + 1)
            case _:
                if parameter.required and own is None and is_optional(parameter.annotation) and choice.random() < 0.1:
                    return None
                return value()

    def _range(self, name: str, value: Callable[[], Any], choice: Random) -> Range[Any]:
        buckets = self._buckets if self._buckets is not None and self._buckets.field == name else None
        names = choice.choice(BOUNDS if buckets is None else BOUNDS_BOTH)
        bounds = [value() for _ in names]
        if len(names) == 2 and _after(*bounds) and choice.random() < 0.9:
            bounds.reverse()
        if buckets is not None:
            bounds[1] = min(bounds[1], _some_buckets_after(bounds[0], buckets))
        return Range(**dict(zip(names, bounds, strict=True)))

    def _values(self, parameter: Parameter, rows: Sequence[Row]) -> list[Any]:
        """The stored values of every field of that name, whichever entity it is in."""
        result = (self._own(parameter, row) for row in rows)
        return [value for value in result if value is not None]

    def _own(self, parameter: Parameter, row: Row | None) -> Any:
        if row is None:
            return None
        value = row.values.get(self._fields.get(parameter.name, parameter.name))
        if value is None:
            return None
        try:
            return self._adapters[parameter.name].validate_python(value, strict=True)
        except ValidationError:
            return None


def _some_buckets_after(value: Any, buckets: Buckets) -> Any:
    """A moment, or a day, that is no more than some buckets later."""
    try:
        return value + BUCKETS_ASKED * buckets.step
    except OverflowError:
        return value


def _compared(plan: Plan) -> Iterator[tuple[str, str]]:
    """The parameters of a filter, each with a field that it is compared with: most values of its type meet nothing."""
    condition = plan.filter if isinstance(plan, QueryPlan | ScanPlan) else None
    if condition is None:
        return
    fields = {field.attribute: field.name for entity in entities_of_plan(plan) for field in entity.fields.values()}
    for match in _COMPARISON.finditer(condition.text):
        attribute = condition.names[match["name"] or match["other"]]
        value = condition.parameters.get(match["value"] or match["first"])
        if value is not None and attribute in fields:
            yield value.parameter, fields[attribute]


def _after(value: Any, other: Any) -> bool:
    """Whether a value comes after another; those of an enum in the order in which it declares them."""
    if isinstance(value, enum.Enum) and not isinstance(value, int | str):
        members = list(type(value))
        return members.index(value) > members.index(other)
    return bool(value > other)
