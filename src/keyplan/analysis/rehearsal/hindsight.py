"""What a call that raises would have needed, by the branch that it raised in.

A body that refuses a call says why: ``if payment.status != "paid": raise ...``. The error's frames still hold what was
compared. Each argument, and each field of what was there, that the test speaks of is given other values (what it is
compared with, its type's few others, ids of what is there), and the test is evaluated with them: those that lead
elsewhere are worth a trial. Values in between, ``left = payment.amount - payment.refunded``, are followed to what they
were made of. Which trials are made is decided in ``trials.py``.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import date, datetime, timedelta
from decimal import Decimal
from itertools import pairwise
from traceback import walk_tb
from types import FrameType
from typing import Any

from pydantic import BaseModel, TypeAdapter, ValidationError
from pydantic.errors import PydanticUserError

from keyplan.analysis.rehearsal.sources import FunctionNode, Sources
from keyplan.model.compiled.compiled_design import CompiledDesign
from keyplan.model.compiled.signatures import Parameter
from keyplan.model.declared.entity import Entity
from keyplan.model.declared.example_values import annotated, choices_of, limits, typical_value
from keyplan.model.declared.fields import is_optional, kind_of

__all__ = ["Hindsight", "Turn", "other_values"]

FOLLOWED_MAX = 3
"""Assignments that are followed, one behind another."""
NODES_MAX = 300
"""How long a test gets by that."""
TURNS_MAX = 12
"""What is suggested after one error."""
NEARBY_MAX = 12
"""Ids of what is there that are tried for an argument."""
FRESH = 7
"""The serial of a value that is like no other there."""

_TURNED = "turned_"


@dataclass(frozen=True)
class Turn:
    """Another value: of a field of every item of that entity, or of an argument, where ``entity`` is empty."""

    entity: str
    name: str
    value: Any = field(hash=False)


@dataclass(frozen=True)
class _Branch:
    """A test that led to an error, and what it must come out as to lead elsewhere."""

    test: ast.expr
    wanted: bool
    scope: Mapping[str, Any] = field(repr=False)


@dataclass(frozen=True)
class _Part:
    """A part of a test that can be turned: the expression, its value, and what values its type takes."""

    dump: str
    value: Any
    turn: Callable[[Any], Turn]
    annotation: Any
    bounds: Sequence[tuple[str, Any]] = ()
    nearby: Sequence[Any] = ()
    order: int = 1
    """Fields come first, then arguments, then the fields of keys, by which items were asked for."""


class Hindsight:
    """Looks back at the errors of one write's trials."""

    def __init__(self, design: CompiledDesign, parameters: Mapping[str, Parameter]) -> None:
        self._design = design
        self._parameters = parameters
        self._sources = Sources()

    def turns(self, error: BaseException, arguments: Mapping[str, Any], there: Iterable[Entity]) -> Iterator[Turn]:
        """What may keep a call with these arguments, and with that there, out of the branch that it raised in: the
        innermost branch first.
        """
        known = list(there)
        count = 0
        for branch in self._branches(error):
            for turn in self._turned(branch.test, branch.wanted, branch.scope, arguments, known):
                yield turn
                count += 1
                if count == TURNS_MAX:
                    return

    def _branches(self, error: BaseException) -> Iterator[_Branch]:
        for frame, line in reversed(list(walk_tb(error.__traceback__))):
            if str(frame.f_globals.get("__name__", "")).partition(".")[0] in {"keyplan", "pydantic"}:
                continue
            node = self._sources.function(frame.f_code)
            for test, wanted in reversed(list(_led_to(node.body, line))) if node is not None else ():
                scope = {**frame.f_globals, **frame.f_locals}
                followed = _followed(test, _assigned(node, test.lineno), frame, scope) if node is not None else test
                yield _Branch(followed, wanted, scope)

    def _turned(
        self,
        test: ast.expr,
        wanted: bool,
        scope: Mapping[str, Any],
        arguments: Mapping[str, Any],
        there: Sequence[Entity],
    ) -> Iterator[Turn]:
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            yield from self._turned(test.operand, not wanted, scope, arguments, there)
            return
        if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And) == wanted:
            for operand in test.values:  # each of them must come out so
                if _gives(operand, scope) == (not wanted):
                    yield from self._turned(operand, wanted, scope, arguments, there)
            return
        for part in self._parts(test, scope, arguments, there):
            for value in _candidates(part, test, scope):
                if _gives(_replaced(test, part.dump), {**scope, _TURNED: value}) == wanted:
                    yield part.turn(value)

    def _parts(
        self, test: ast.expr, scope: Mapping[str, Any], arguments: Mapping[str, Any], there: Sequence[Entity]
    ) -> list[_Part]:
        """The arguments and the fields that a test speaks of, each once, in the order to try them."""
        result: dict[str, _Part] = {}
        for node in ast.walk(test):
            part = None
            if isinstance(node, ast.Name) and node.id in scope:
                part = self._argument(node, scope[node.id], arguments, there)
            elif isinstance(node, ast.Attribute):
                part = self._field(node, scope)
            if part is not None:
                result.setdefault(part.dump, part)
        return sorted(result.values(), key=lambda part: part.order)

    def _argument(
        self, node: ast.Name, value: Any, arguments: Mapping[str, Any], there: Sequence[Entity]
    ) -> _Part | None:
        """The argument that a name stands for: by the same name, or in a helper by the same object."""
        same = [name for name, given in arguments.items() if given is value and (name == node.id or _is_own(value))]
        name = node.id if node.id in same else next(iter(same), None)
        if name is None or isinstance(value, Entity) or name not in self._parameters:
            return None
        annotation = self._parameters[name].annotation
        return _Part(
            ast.dump(node), value, lambda turned: Turn("", name, turned), annotation, (), _nearby(name, value, there)
        )

    def _field(self, node: ast.Attribute, scope: Mapping[str, Any]) -> _Part | None:
        owner = _value(node.value, scope)
        if isinstance(owner, BaseModel) and not isinstance(owner, Entity):
            return self._nested(node, owner, scope)
        entity = self._design.entities.get(type(owner)) if isinstance(owner, Entity) else None
        name = node.attr
        if entity is None or name not in entity.cls.model_fields or entity.fields[name].computed:
            return None
        annotation = annotated(entity.cls.model_fields[name])
        owned = entity.name
        value = getattr(owner, name)
        return _Part(
            ast.dump(node),
            value,
            lambda turned: Turn(owned, name, turned),
            annotation,
            entity.fields[name].bounds,
            order=2 if name in entity.key_fields else 0,
        )

    def _nested(self, node: ast.Attribute, owner: BaseModel, scope: Mapping[str, Any]) -> _Part | None:
        """A field of a model that stands in an item's field: the whole with that changed."""
        outer = self._field(node.value, scope) if isinstance(node.value, ast.Attribute) else None
        name, fields = node.attr, type(owner).model_fields
        if outer is None or name not in fields:
            return None
        return replace(
            outer,
            dump=ast.dump(node),
            value=getattr(owner, name),
            turn=lambda turned: outer.turn(owner.model_copy(update={name: turned})),
            annotation=annotated(fields[name]),
            bounds=(),
        )


# Values to try


def other_values(annotation: Any, bounds: Iterable[tuple[str, Any]]) -> Iterator[Any]:
    """Values of a type of which there are few: choices, flags, nothing; a number's least."""
    yield from choices_of(annotation)
    kind = kind_of(annotation)
    if kind is bool:
        yield from (False, True)
    if is_optional(annotation):
        yield None
    if kind in {set, frozenset}:
        yield kind()
    if kind is int:
        yield next((bound + (operator == ">") for operator, bound in bounds if operator in {">", ">="}), 0)


def _candidates(part: _Part, test: ast.expr, scope: Mapping[str, Any]) -> Iterator[Any]:
    """Other values of a part that its type takes, each once: what it is compared with first."""
    try:
        adapter: TypeAdapter[Any] = TypeAdapter(part.annotation)
    except (PydanticUserError, TypeError, NameError):  # a type that is defined by a whole only
        return
    seen = [part.value]
    for value in _imagined(part, test, scope):
        try:
            taken = adapter.validate_python(value)
        except (ValidationError, ValueError, TypeError, ArithmeticError):
            continue
        if not any(type(other) is type(taken) and other == taken for other in seen):
            seen.append(taken)
            yield taken


def _imagined(part: _Part, test: ast.expr, scope: Mapping[str, Any]) -> Iterator[Any]:
    for node in ast.walk(test):
        if isinstance(node, ast.Compare) and part.dump in {ast.dump(inner) for inner in ast.walk(node)}:
            yield from _compared(part, [_value(operand, scope) for operand in (node.left, *node.comparators)])
    yield from part.nearby
    yield from other_values(part.annotation, part.bounds)
    low = limits(part.annotation, "value")[0]
    if low is not None:
        yield low
    with suppress(Exception):  # what a type takes is its author's matter
        yield typical_value(part.annotation, "", FRESH)


def _compared(part: _Part, operands: Sequence[Any]) -> Iterator[Any]:
    """What the other operands are; of numbers and times, what makes both sides equal, and what lies beside that."""
    for left, right in pairwise(operands):
        yield from (left, right)
        for several in (left, right):
            if isinstance(several, list | tuple | set | frozenset | dict):
                yield from sorted(several, key=repr)[:NEARBY_MAX]
        step = _step(part.value)
        if step is not None:
            with suppress(TypeError, ArithmeticError):
                apart = right - left
                for value in (part.value + apart, part.value - apart):
                    yield from (value, value + step, value - step)


def _step(value: Any) -> Any:
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float | Decimal):
        return type(value)(1)
    return timedelta(days=1) if isinstance(value, datetime | date | timedelta) else None


def _nearby(name: str, value: Any, there: Sequence[Entity]) -> list[Any]:
    """For a text, the values of the field of that name; for what holds several, single elements, and ids that are
    there in their place.
    """
    if isinstance(value, str):
        return _distinct(getattr(item, name) for item in there if name in type(item).model_fields)
    if not isinstance(value, dict | list | tuple | set | frozenset) or not value:
        return []
    ids = _distinct(
        getattr(item, own)
        for item in there
        for own in type(item).model_fields
        if own.endswith("_id") and isinstance(getattr(item, own), str)
    )
    if isinstance(value, dict):
        least = min(value.values(), key=repr)
        return [*({key: given} for key, given in value.items()), *({key: least} for key in ids)]
    return [type(value)([element]) for element in (*value, *(ids if isinstance(next(iter(value)), str) else ()))]


def _distinct(values: Iterable[Any]) -> list[Any]:
    return list(dict.fromkeys(value for value in values if value is not None))[:NEARBY_MAX]


def _is_own(value: Any) -> bool:
    """Whether a value is the same object only where it was handed on: not so of constants."""
    return value is not None and not isinstance(value, bool)


# The code


def _led_to(body: Sequence[ast.stmt], line: int) -> Iterator[tuple[ast.expr, bool]]:
    """The tests of the branches that a line stands in, and what would have led elsewhere; the outermost first."""
    statement = next((each for each in body if each.lineno <= line <= (each.end_lineno or each.lineno)), None)
    if isinstance(statement, ast.Assert):
        yield statement.test, True
    if statement is None or isinstance(statement, FunctionNode):
        return
    for name in ("body", "orelse", "finalbody"):
        part: list[ast.stmt] = getattr(statement, name, [])
        if part and part[0].lineno <= line <= (part[-1].end_lineno or part[-1].lineno):
            if isinstance(statement, ast.If):
                yield statement.test, name != "body"
            yield from _led_to(part, line)


def _assigned(function: FunctionNode, line: int) -> dict[str, ast.expr]:
    """What single names were last given before a line, where that is an expression that can be evaluated again."""
    result: dict[str, ast.expr] = {}
    for node in sorted(ast.walk(function), key=lambda node: getattr(node, "lineno", 0)):
        if not isinstance(node, ast.Assign | ast.AnnAssign) or node.lineno >= line or node.value is None:
            continue
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        if len(targets) == 1 and isinstance(targets[0], ast.Name):
            result[targets[0].id] = node.value
    return {name: value for name, value in result.items() if _is_plain(value)}


def _is_plain(node: ast.expr) -> bool:
    once = (ast.Yield, ast.YieldFrom, ast.Await, ast.NamedExpr)
    return not any(isinstance(inner, once) for inner in ast.walk(node))


def _followed(test: ast.expr, assigned: Mapping[str, ast.expr], frame: FrameType, scope: Mapping[str, Any]) -> ast.expr:
    """The test, with what local names were made of in their place, where that still gives what they are."""
    usable = {
        name: value
        for name, value in assigned.items()
        if name in frame.f_locals and _same(_value(value, scope), frame.f_locals[name])
    }
    result = test
    for _ in range(FOLLOWED_MAX):
        followed = _Following(usable).visit(copy.deepcopy(result))
        if sum(1 for _ in ast.walk(followed)) > NODES_MAX:
            break
        result = followed
    return result


class _Following(ast.NodeTransformer):
    def __init__(self, assigned: Mapping[str, ast.expr]) -> None:
        self._assigned = assigned

    def visit(self, node: ast.AST) -> Any:
        if isinstance(node, ast.Name):
            value = self._assigned.get(node.id) if isinstance(node.ctx, ast.Load) else None
            return node if value is None else copy.deepcopy(value)
        if isinstance(node, ast.GeneratorExp | ast.ListComp | ast.SetComp | ast.DictComp | ast.Lambda):
            own = {inner.id for inner in ast.walk(node) if isinstance(inner, ast.Name) and type(inner.ctx) is ast.Store}
            own |= {inner.arg for inner in ast.walk(node) if isinstance(inner, ast.arg)}
            others = {name: value for name, value in self._assigned.items() if name not in own}
            return _Following(others).generic_visit(node)
        return self.generic_visit(node)


class _Replacing(ast.NodeTransformer):
    def __init__(self, dump: str) -> None:
        self._dump = dump

    def visit(self, node: ast.AST) -> Any:
        if ast.dump(node) == self._dump:
            return ast.Name(_TURNED, ast.Load())
        return self.generic_visit(node)


def _replaced(test: ast.expr, dump: str) -> ast.expr:
    """The test with another value for every expression that reads like that."""
    result: ast.expr = _Replacing(dump).visit(copy.deepcopy(test))
    return result


_NOTHING = object()


def _same(value: Any, other: Any) -> bool:
    with suppress(Exception):  # a comparison of the author's types
        return value is other or (type(value) is type(other) and bool(value == other))
    return False


def _value(node: ast.expr, scope: Mapping[str, Any]) -> Any:
    """What an expression gives; a value like no other where it can't be evaluated by itself."""
    if not _is_plain(node):
        return _NOTHING
    whole = ast.fix_missing_locations(ast.Expression(copy.deepcopy(node)))
    try:
        return eval(compile(whole, "<hindsight>", "eval"), dict(scope))  # noqa: S307 - the author's own code, which ran
    except Exception:  # noqa: BLE001 - and which may raise whatever it likes
        return _NOTHING


def _gives(test: ast.expr, scope: Mapping[str, Any]) -> bool | None:
    """Whether a test holds; None where that can't be said."""
    value = _value(test, scope)
    if value is _NOTHING:
        return None
    with suppress(Exception):  # the author's own truth
        return bool(value)
    return None
