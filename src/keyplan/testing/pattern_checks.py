"""Comparing the answers of one read pattern with the oracle's: in every shape, and over pages."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random
from typing import Any

from keyplan.errors import ItemNotFound, KeyFieldError, KeyplanError
from keyplan.model.compiled.plans import ReadPattern
from keyplan.model.compiled.return_types import Member, ShapeKind
from keyplan.model.compiled.signatures import ParameterKind
from keyplan.model.declared.entity import Entity
from keyplan.model.declared.parameters import Page
from keyplan.model.stored.stored_views import shrunk
from keyplan.session.design import Design
from keyplan.testing.oracle import Groups, Oracle, UndecidableError
from keyplan.testing.report import RunningCounts
from keyplan.testing.stored_world import Recorder, World

__all__ = ["Checker"]

LIMIT_SMALL = 4
PAGES_MAX = 200


class Checker:
    """Asks one pattern of one opened design, and judges what it answers."""

    def __init__(
        self, design: Design, pattern: ReadPattern, oracle: Oracle, recorder: Recorder, tally: RunningCounts
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
        """Ask, and compare. Gives the calls made with their answers, for the asynchronous form to be compared with.

        Raises AssertionError with the question, both answers and the requests.
        """
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
                raise self._failure(arguments, groups, error, f"refused the arguments: {error}") from error
            self.tally.count(self.pattern.name, answered=False)
            return []
        except _WrongError as wrong:
            raise self._failure(arguments, groups, got, str(wrong)) from None
        except KeyplanError as error:
            raise self._failure(arguments, groups, error, f"failed: {error}") from error
        except Exception as error:
            raise self._failure(arguments, groups, error, f"failed with {error!r}, no error of Keyplan") from error
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
        """Whether some value of an Each is no item's: one that no key can hold may be refused with all others."""
        return any(
            value not in [row.values.get(name) for row in world.rows]
            for name, kind in self.oracle.parameters.items()
            if kind is ParameterKind.EACH
            for value in arguments.get(name, ())
        )

    # Asking

    def _one(self, arguments: dict[str, Any], choice: Random) -> tuple[list[tuple[dict[str, Any], Any]], Any]:
        asked = dict(arguments)
        if self.limit and choice.random() < 0.7:
            asked[self.limit] = choice.randint(1, LIMIT_SMALL)
        if self.pattern.shape.kind is ShapeKind.ITERATOR:
            got: Any = list(self.design.stream(self.pattern.name, (), asked))
        else:
            try:
                got = self.design.run_read(self.pattern.name, (), asked)
            except ItemNotFound:
                if self.pattern.shape.optional:
                    raise _WrongError("raised ItemNotFound, though None is one of its answers") from None
                got = None
        return [(asked, got)], got

    def _pages(
        self, arguments: dict[str, Any], choice: Random
    ) -> tuple[list[tuple[dict[str, Any], Any]], list[Entity]]:
        calls: list[tuple[dict[str, Any], Any]] = []
        entities: list[Entity] = []
        cursor: str | None = None
        while len(calls) < PAGES_MAX:
            asked = dict(arguments)
            asked[self.limit or "limit"] = choice.randint(1, LIMIT_SMALL)
            if cursor is not None and self.cursor:
                asked[self.cursor] = cursor
            page: Page[Any] = self.design.run_read(self.pattern.name, (), asked)
            calls.append((asked, page))
            if len(page.items) > asked[self.limit or "limit"]:
                raise _WrongError(f"a page of {len(page.items)} items, with limit={asked[self.limit or 'limit']}")
            if not page.items and (page.cursor is not None or cursor is not None):
                raise _WrongError("an empty page: a cursor was given, though nothing followed")
            entities.extend(page.items)
            cursor = page.cursor
            if cursor is None or not self.cursor:
                return calls, entities
        raise _WrongError(f"{PAGES_MAX} pages, and no end")

    # Judging

    def _judge(self, groups: Groups, got: Any, asked: Mapping[str, Any]) -> None:
        shape = self.pattern.shape
        if shape.told:
            self._judge_told(groups, got)
        elif shape.kind is ShapeKind.ONE:
            self._judge_one(groups, got)
        elif shape.kind is ShapeKind.COLLECTION:
            self._judge_collection(groups, got)
        else:
            limit = asked.get(self.limit) if self.limit and shape.kind is not ShapeKind.PAGE else None
            if self.limit and not self.cursor and shape.kind is ShapeKind.PAGE:
                limit = asked[self.limit]
            if self.limit and limit is None and shape.kind is not ShapeKind.PAGE:
                limit = self.pattern.signature.by_name[self.limit].default
            _check_run(groups, got, limit)

    def _judge_told(self, groups: Groups, got: Any) -> None:
        result = {id(entity): entity for group in groups for entity in group}
        total = self.pattern.options.total
        there = len(result) if total is None else sum(getattr(entity, total) or 0 for entity in result.values())
        wanted = there if self.pattern.shape.kind is ShapeKind.COUNT else there > 0
        if got is not wanted and (type(got) is not type(wanted) or got != wanted):
            raise _WrongError(f"gave {got!r}, not {wanted!r}")

    def _judge_one(self, groups: Groups, got: Entity | None) -> None:
        first = groups[0] if groups else []
        if got is None and first and None not in first:
            raise _WrongError("gave nothing")
        if got is not None and got not in first:
            raise _WrongError("gave another item")

    def _judge_collection(self, groups: Groups, got: Any) -> None:
        shape = self.pattern.shape
        runs = {member.name: _of(groups, member.gives) for member in shape.members}
        lacking = any(not member.many and not member.optional and not runs[member.name] for member in shape.members)
        if lacking or (shape.optional and not any(runs.values())):
            if got is not None:
                raise _WrongError("gave a collection that lacks what it promises")
            return
        if got is None:
            raise _WrongError("gave nothing")
        for member in shape.members:
            self._judge_member(member, runs[member.name], getattr(got, member.name))

    def _judge_member(self, member: Member, groups: Groups, got: Any) -> None:
        if member.many:
            _check_run(groups, got, None)
        elif (got is None) != (not groups) or (groups and got not in groups[0]):
            raise _WrongError(f"{member.name} is another item")

    def _failure(self, arguments: Mapping[str, Any], groups: Groups | None, got: Any, what: str) -> AssertionError:
        call = ", ".join(f"{name}={value!r}" for name, value in arguments.items())
        expected = "?" if groups is None else _lines([entity for group in groups for entity in group])
        answer = _lines(got) if isinstance(got, list) else f"    {got!r}"
        requests = "\n".join(f"    {operation} {parameters}" for operation, parameters in self.recorder.requests[-6:])
        head = f"{self.pattern.place}({call}) [{self.pattern.id}]: {what}"
        return AssertionError(f"{head}\n  expected:\n{expected}\n  got:\n{answer}\n  requests:\n{requests}")


class _WrongError(Exception):
    """An answer that isn't the oracle's."""


def _check_run(groups: Groups, got: list[Entity], limit: int | None) -> None:
    """The items come group by group; within a group in any order."""
    rest = list(got)
    total = sum(map(len, groups))
    wanted = total if limit is None else min(limit, total)
    if len(got) != wanted:
        raise _WrongError(f"gave {len(got)} items, not {wanted}")
    for group in groups:
        open_ = list(group)
        for entity in rest[: len(group)]:
            if entity not in open_:
                raise _WrongError("gave other items, or in another order")
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
    if isinstance(got, int):
        return got
    if isinstance(got, list):
        return len(got)
    if isinstance(got, tuple):
        return sum(_count(value) for value in got)
    return 1
