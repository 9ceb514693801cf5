"""Compares the results of one read pattern with the oracle's results, for every return type and across pages."""

from __future__ import annotations

import enum
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from random import Random
from typing import Any

from pydantic import TypeAdapter, ValidationError

from keyplan.dynamodb.expressions import ExpressionFault
from keyplan.errors import ItemNotFound, KeyFieldError, KeyplanError
from keyplan.model.compiled import plans
from keyplan.model.compiled.return_types import Member, ShapeKind
from keyplan.model.compiled.signatures import Parameter, ParameterKind
from keyplan.model.declared.entity import Entity
from keyplan.model.declared.fields import is_optional
from keyplan.model.declared.parameters import Page, Range
from keyplan.model.stored.stored_entity import shrunk
from keyplan.session.design import Design
from keyplan.testing.oracle import Groups, Oracle, UndecidableError
from keyplan.testing.report import RunningCounts
from keyplan.testing.samples import samples
from keyplan.testing.stored_world import Recorder, Row, World

LIMIT_SMALL = 4
PAGES_MAX = 200
REVERSED_BOUNDS = "The BETWEEN operator requires upper bound to be greater than or equal to lower bound"
"""DynamoDB rejects a filter with such arguments."""


class Checker:
    """Calls one access pattern of an open design, and compares the results with the oracle's."""

    def __init__(
        self, design: Design, pattern: plans.ReadPattern, oracle: Oracle, recorder: Recorder, tally: RunningCounts
    ) -> None:
        self.design = design
        self.pattern = pattern
        self.oracle = oracle
        self.recorder = recorder
        self.tally = tally
        kinds = {parameter.kind: parameter.name for parameter in pattern.signature.parameters}
        self.limit = kinds.get(ParameterKind.LIMIT)
        self.cursor = kinds.get(ParameterKind.CURSOR)

    def check(self, world: World, arguments: dict[str, Any], choice: Random) -> list[tuple[dict[str, Any], Any]]:
        """Call the pattern, compare the results, and return the calls with their results. Raises AssertionError."""
        self.recorder.requests.clear()
        groups: Groups | None = None
        got: Any = "nothing yet"
        try:
            groups = self._expected(world, arguments)
            if self.pattern.shape.kind is ShapeKind.PAGE:
                calls, got = self._pages(arguments, choice)
            else:
                calls, got = self._one(arguments, choice)
            self._judge(groups, got, calls[0][0])
        except KeyFieldError as error:
            if any(groups or ()) and not self._odd_each(world, arguments):
                raise self._failure(arguments, groups, error, f"rejected the arguments: {error}") from error
            self.tally.count(self.pattern.name, answered=False)
            return []
        except (KeyplanError, ExpressionFault) as error:
            if REVERSED_BOUNDS not in str(error):
                raise self._failure(arguments, groups, error, f"failed: {error}") from error
            self.tally.count(self.pattern.name, answered=False)
            return []
        except _WrongError as wrong:
            raise self._failure(arguments, groups, got, str(wrong)) from None
        except Exception as error:
            raise self._failure(arguments, groups, error, f"failed with {error!r}, not a KeyplanError") from error
        items = _count(got) if self.pattern.options.total is None else int(bool(got))
        self.tally.count(self.pattern.name, answered=bool(items), items=items, pages=len(calls) - 1)
        return calls

    def _expected(self, world: World, arguments: Mapping[str, Any]) -> Groups:
        try:
            groups = self.oracle.groups(world, arguments)
        except UndecidableError:
            groups = self.oracle.unordered(world, arguments)
        views: Mapping[Any, Any] = self.pattern.shape.views
        return [[shrunk(entity, views.get(type(entity))) for entity in group] for group in groups] if views else groups

    def _odd_each(self, world: World, arguments: Mapping[str, Any]) -> bool:
        """Whether a value of an Each isn't stored: one that no key can contain may be rejected."""
        return any(
            value not in [row.values.get(name) for row in world.rows]
            for name, kind in self.oracle.parameters.items()
            if kind is ParameterKind.EACH
            for value in arguments.get(name, ())
        )

    # Calling

    def _one(self, arguments: dict[str, Any], choice: Random) -> tuple[list[tuple[dict[str, Any], Any]], Any]:
        asked = dict(arguments)
        if self.limit and choice.random() < 0.7:
            asked[self.limit] = choice.randint(1, LIMIT_SMALL)
        try:
            got = read_result(self.design, self.pattern, asked)
        except ItemNotFound:
            if self.pattern.shape.optional:
                raise _WrongError("raised ItemNotFound, although the return type allows None") from None
            got = None
        return [(asked, got)], got

    def _pages(
        self, arguments: dict[str, Any], choice: Random
    ) -> tuple[list[tuple[dict[str, Any], Any]], list[Entity]]:
        calls: list[tuple[dict[str, Any], Any]] = []
        entities: list[Entity] = []
        cursor: str | None = None
        while len(calls) < PAGES_MAX:
            limit = choice.randint(1, LIMIT_SMALL)
            asked = {**arguments, self.limit or "limit": limit}
            if cursor is not None and self.cursor:
                asked[self.cursor] = cursor
            page: Page[Any] = self.design.run_read(self.pattern.name, (), asked)
            calls.append((asked, page))
            if len(page.items) > limit:
                raise _WrongError(f"returned a page of {len(page.items)} items with limit={limit}")
            if not page.items and (page.cursor is not None or cursor is not None):
                raise _WrongError("returned an empty page, although the previous page had a cursor")
            entities.extend(page.items)
            cursor = page.cursor
            if cursor is None or not self.cursor:
                return calls, entities
        raise _WrongError(f"returned {PAGES_MAX} pages, and the last page still has a cursor")

    # Comparing

    def _judge(self, groups: Groups, got: Any, asked: Mapping[str, Any]) -> None:
        shape = self.pattern.shape
        if shape.told:
            self._judge_value(groups, got)
        elif shape.kind is ShapeKind.ONE:
            self._judge_one(groups, got)
        elif shape.kind is ShapeKind.COLLECTION:
            self._judge_collection(groups, got)
        else:
            limit = None
            if self.limit and (shape.kind is not ShapeKind.PAGE or not self.cursor):
                limit = asked.get(self.limit, self.pattern.signature.by_name[self.limit].default)
            _check_run(groups, got, limit)

    def _judge_value(self, groups: Groups, got: Any) -> None:
        result = {id(entity): entity for group in groups for entity in group}
        total = self.pattern.options.total
        there = len(result) if total is None else sum(getattr(entity, total) or 0 for entity in result.values())
        wanted = there if self.pattern.shape.kind is ShapeKind.COUNT else there > 0
        if got is not wanted and (type(got) is not type(wanted) or got != wanted):
            raise _WrongError(f"returned {got!r}, expected {wanted!r}")

    def _judge_one(self, groups: Groups, got: Entity | None) -> None:
        first = groups[0] if groups else []
        if got is None and first and None not in first:
            raise _WrongError("returned nothing")
        if got is not None and got not in first:
            raise _WrongError("returned the wrong item")

    def _judge_collection(self, groups: Groups, got: Any) -> None:
        shape = self.pattern.shape
        runs = {member.name: _of(groups, member.gives) for member in shape.members}
        lacking = any(not member.many and not member.optional and not runs[member.name] for member in shape.members)
        if lacking or (shape.optional and not any(runs.values())):
            if got is not None:
                raise _WrongError("returned a collection that lacks a required item")
            return
        if got is None:
            raise _WrongError("returned nothing")
        for member in shape.members:
            self._judge_member(member, runs[member.name], getattr(got, member.name))

    def _judge_member(self, member: Member, groups: Groups, got: Any) -> None:
        if member.many:
            _check_run(groups, got, None)
        elif (got is None) != (not groups) or (groups and got not in groups[0]):
            raise _WrongError(f"{member.name} is the wrong item")

    def _failure(self, arguments: Mapping[str, Any], groups: Groups | None, got: Any, what: str) -> AssertionError:
        call = ", ".join(f"{name}={value!r}" for name, value in arguments.items())
        expected = "?" if groups is None else _lines([entity for group in groups for entity in group])
        answer = _lines(got) if isinstance(got, list) else f"    {got!r}"
        requests = "\n".join(f"    {operation} {parameters}" for operation, parameters in self.recorder.requests[-6:])
        head = f"{self.pattern.place}({call}) [{self.pattern.id}]: {what}"
        return AssertionError(f"{head}\n  expected:\n{expected}\n  got:\n{answer}\n  requests:\n{requests}")


def read_result(design: Design, pattern: plans.ReadPattern, arguments: Mapping[str, Any]) -> Any:
    """The result of a read; for an iterator, all its items as a list. Raises ItemNotFound."""
    if pattern.shape.kind is ShapeKind.ITERATOR:
        return list(design.stream(pattern.name, (), arguments))
    return design.run_read(pattern.name, (), arguments)


class _WrongError(Exception):
    """A result that differs from the oracle's."""


def _check_run(groups: Groups, got: list[Entity], limit: int | None) -> None:
    """The items must come group by group, in any order within a group."""
    rest = list(got)
    total = sum(map(len, groups))
    wanted = total if limit is None else min(limit, total)
    if len(got) != wanted:
        raise _WrongError(f"returned {len(got)} items, expected {wanted}")
    for group in groups:
        open_ = list(group)
        for entity in rest[: len(group)]:
            if entity not in open_:
                raise _WrongError("returned the wrong items or the wrong order")
            open_.remove(entity)
        rest = rest[len(group) :]


def _of(groups: Groups, given: type[Any]) -> Groups:
    result = [[entity for entity in group if type(entity) is given] for group in groups]
    return [group for group in result if group]


def _lines(items: list[Any]) -> str:
    return "\n".join(f"    {item!r}" for item in items) or "    nothing"


def _count(got: Any) -> int:
    if got is None:
        return 0
    if isinstance(got, list | tuple):
        return sum(_count(value) for value in got)
    return got if isinstance(got, int) else 1


FROM_ITEMS = 4
MIXED = 2
BOUNDS_BOTH = (("ge", "le"), ("gt", "lt"), ("ge", "lt"), ("gt", "le"))
BOUNDS = (*BOUNDS_BOTH, ("ge",), ("gt",), ("le",), ("lt",))
BUCKETS_MAX = 30
"""Maximum number of time buckets in a range."""
_COMPARISON = re.compile(
    r"(?P<name>#\w+) (?:[=<>]+|IN|BETWEEN) \(?(?P<value>:\w+)|(?P<first>:\w+) (?:[=<>]+|BETWEEN) (?P<other>#\w+)"
)
"""A comparison of an attribute with a parameter."""


def entities_of_plan(plan: plans.Plan) -> tuple[Any, ...]:
    """The entities of a plan, junctions first."""
    match plan:
        case plans.GetPlan() | plans.ClaimPlan() | plans.BatchGetPlan():
            return (plan.entity,)
        case plans.QueryPlan():
            return tuple(match.entity for match in plan.matches)
        case plans.ScanPlan():
            return plan.entities
        case plans.ThroughPlan():
            links = (entity for way in plan.ways for entity in entities_of_plan(way.junction))
            return (*links, *entities_of_plan(plan.end))


class ArgumentGenerator:
    """Generates arguments for one read. ``own``: values from the caller's strategies, by parameter name."""

    def __init__(self, pattern: plans.ReadPattern, own: Mapping[str, list[Any]]) -> None:
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
        self._samples = {
            parameter.name: [
                value for value in own.get(parameter.name, ()) if self._valid(parameter, value) is not None
            ]
            or samples(parameter.value_type)
            for parameter in self.parameters
        }
        self._buckets = pattern.buckets
        self._plain = {parameter.name for parameter in self.parameters if not parameter.required}
        if self._buckets is not None:
            self._plain.discard(self._buckets.field)  # a range of time buckets requires both bounds
        self._fields = dict(_compared(pattern.plan))

    def generate(self, world: World, number: int) -> Iterator[dict[str, Any]]:
        """Arguments for a few calls, without limit and cursor."""
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
        values = [value for value in (self._own(parameter, row) for row in rows) if value is not None]
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
            with suppress(OverflowError):
                bounds[1] = min(bounds[1], bounds[0] + BUCKETS_MAX * buckets.step)
        return Range(**dict(zip(names, bounds, strict=True)))

    def _own(self, parameter: Parameter, row: Row | None) -> Any:
        value = None if row is None else row.values.get(self._fields.get(parameter.name, parameter.name))
        return self._valid(parameter, value)

    def _valid(self, parameter: Parameter, value: Any) -> Any:
        if value is None:
            return None
        try:
            return self._adapters[parameter.name].validate_python(value, strict=True)
        except ValidationError:
            return None


def _compared(plan: plans.Plan) -> Iterator[tuple[str, str]]:
    """The parameters of a filter, each with the field that it is compared with."""
    condition = plan.filter if isinstance(plan, plans.QueryPlan | plans.ScanPlan) else None
    if condition is None:
        return
    fields = {field.attribute: field.name for entity in entities_of_plan(plan) for field in entity.fields.values()}
    for match in _COMPARISON.finditer(condition.text):
        attribute = condition.names[match["name"] or match["other"]]
        value = condition.parameters.get(match["value"] or match["first"])
        if value is not None and attribute in fields:
            yield value.parameter, fields[attribute]


def _after(value: Any, other: Any) -> bool:
    """Whether a value sorts after another; enum members in the order of their declaration."""
    if isinstance(value, enum.Enum) and not isinstance(value, int | str):
        members = list(type(value))
        return members.index(value) > members.index(other)
    return bool(value > other)
