"""The way of an expression: text → tree (cached) → bound to the placeholders of one request.

Each ``parse_*`` gives the tree of a text; each ``bind_*`` goes the whole way and gives what the engine runs.
Errors of binding carry the prefix that names the expression, ``Invalid FilterExpression: ...``.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from operator import itemgetter
from typing import TypeAlias

from keyplan.expressions import rules, tree
from keyplan.expressions.conditions import Predicate, bind_predicate
from keyplan.expressions.faults import ExpressionFault
from keyplan.expressions.keys import KeyCondition, narrow, read_terms
from keyplan.expressions.parser import TOO_MANY_OPERATORS, Parser
from keyplan.expressions.paths import Steps, check_overlaps, resolve, select
from keyplan.expressions.placeholders import Placeholders
from keyplan.expressions.updates import Evaluation, bind_value
from keyplan.expressions.writer import write_all
from keyplan.values import Item

__all__ = [
    "BoundCondition",
    "BoundProjection",
    "BoundUpdate",
    "Expression",
    "bind_condition",
    "bind_key_condition",
    "bind_paths",
    "bind_projection",
    "bind_update",
    "check_key_condition",
    "parse_condition",
    "parse_projection",
    "parse_update",
    "project_attributes",
    "read_condition",
]

_CACHED_TEXTS_MAX = 2048
_REMOVING = (tree.Remove, tree.Delete)
Expression: TypeAlias = str | tree.Condition
"""A condition: its text, or its tree."""


@dataclass(frozen=True, slots=True)
class _Parsed:
    """A condition's tree with what is known of it by itself: the first parts of its paths, its operators."""

    condition: tree.Condition
    roots: tuple[str, ...]
    operators: int


def _parsed(expression: str | tree.Condition) -> _Parsed:
    """What is known of a condition: of a text, or of a tree, which has no limits of its own."""
    if isinstance(expression, str):
        return _parsed_condition(expression)
    return _Parsed(expression, _roots(expression), 0)


@lru_cache(_CACHED_TEXTS_MAX)
def _parsed_condition(text: str) -> _Parsed:
    rules.check_size(text)
    parser = Parser(text)
    condition = parser.condition()
    parser.end()
    rules.check_condition(condition)
    return _Parsed(condition, _roots(condition), rules.count_operators(condition))


def parse_condition(text: str) -> tree.Condition:
    """The tree of a filter, condition or key condition expression. Raises ``ExpressionFault`` without a
    prefix.
    """
    return _parsed_condition(text).condition


def read_condition(text: str) -> tree.Condition:
    """The tree of a condition by its form alone: its names may be reserved words, since they are still to be replaced
    by placeholders. Raises ``ExpressionFault`` without a prefix.
    """
    parser = Parser(text)
    condition = parser.condition()
    parser.end()
    return condition


@lru_cache(_CACHED_TEXTS_MAX)
def parse_projection(text: str) -> tree.Projection:
    """The tree of a projection expression. Raises ``ExpressionFault`` without a prefix."""
    rules.check_size(text)
    parser = Parser(text)
    projection = parser.paths()
    parser.end()
    rules.check_projection(projection)
    return projection


@lru_cache(_CACHED_TEXTS_MAX)
def parse_update(text: str) -> tree.Update:
    """The tree of an update expression. Raises ``ExpressionFault`` without a prefix."""
    rules.check_size(text, tells_size=False)
    parser = Parser(text)
    update = parser.update()
    parser.end()
    rules.check_update(update)
    if parser.repeated is not None:
        raise ExpressionFault(f'The "{parser.repeated}" section can only be used once in an update expression;')
    _check_count(rules.count_operators(update))
    return update


def _check_count(operators: int) -> None:
    if operators > rules.OPERATORS_MAX:
        raise ExpressionFault(TOO_MANY_OPERATORS)


def _named(kind: str, fault: ExpressionFault) -> ExpressionFault:
    """The fault of an expression with the prefix that names it; one of a statement has none."""
    return ExpressionFault(f"Invalid {kind}: {fault.message}") if kind else fault


@dataclass(frozen=True, slots=True)
class BoundCondition:
    """A condition ready to judge items. ``attributes`` are the top-level attributes it names; its operators, with its
    functions, are counted.
    """

    matches: Predicate
    attributes: frozenset[str]
    operators: int


def bind_condition(
    expression: str | tree.Condition, given: Placeholders, kind: str = "ConditionExpression"
) -> BoundCondition:
    """Bind a ConditionExpression or (``kind="FilterExpression"``) a filter: its text, or its tree. ``kind`` is what
    faults call it; they don't name what is empty. Raises ``ExpressionFault``.
    """
    try:
        parsed = _parsed(expression)
        matches = bind_predicate(parsed.condition, given)
        _check_count(parsed.operators)
    except ExpressionFault as fault:
        raise _named(kind, fault) from None
    return BoundCondition(matches, frozenset([given.name(part) for part in parsed.roots]), parsed.operators)


def _roots(condition: tree.Condition) -> tuple[str, ...]:
    """The first part of every path in a condition, as written."""
    result: dict[str, None] = {}
    stack: list[tree.Condition | tree.Operand] = [condition]
    while stack:
        match stack.pop():
            case tree.Path(parts):
                result[str(parts[0])] = None
            case tree.And(inner) | tree.Or(inner):
                stack.extend(inner)
            case tree.Not(one):
                stack.append(one)
            case tree.Compare(_, left, right) | tree.Arithmetic(_, left, right):
                stack += (left, right)
            case tree.Between(operand, low, high):
                stack += (operand, low, high)
            case tree.In(operand, options):
                stack += (operand, *options)
            case tree.Call(_, arguments):
                stack.extend(arguments)
            case tree.Value():
                pass
    return tuple(result)


def bind_key_condition(
    expression: str | tree.Condition,
    given: Placeholders,
    *,
    partition: Sequence[str],
    sort: Sequence[str] = (),
    types: Mapping[str, str],
) -> KeyCondition:
    """Bind a KeyConditionExpression, its text or its tree, to the key of a table or index.

    ``partition`` and ``sort`` are the names of the key's attributes (1 to 4, 0 to 4), ``types`` their
    tags (S, N, B).
    Raises ``ExpressionFault``.
    """
    condition = _plain_key_condition(expression, given)
    return narrow(condition, given, partition=partition, sort=sort, types=types)


def check_key_condition(text: str, given: Placeholders) -> None:
    """Refuse a KeyConditionExpression that can't be one, whatever the key. Raises ``ExpressionFault``."""
    read_terms(_plain_key_condition(text, given), given)


def _plain_key_condition(expression: str | tree.Condition, given: Placeholders) -> tree.Condition:
    try:
        parsed = _parsed(expression)
        bind_predicate(parsed.condition, given)
        _check_count(parsed.operators)
    except ExpressionFault as fault:
        raise _named("KeyConditionExpression", fault) from None
    return parsed.condition


@dataclass(frozen=True, slots=True)
class BoundProjection:
    """A projection ready to be applied. ``attributes`` are the top-level attributes it names."""

    paths: tuple[Steps, ...]
    attributes: frozenset[str]

    def project(self, item: Item) -> Item:
        """The projected parts of an item; what is absent is left out. Shares values with the item."""
        return select(self.paths, item)


def bind_paths(paths: Sequence[tree.Path], given: Placeholders) -> tuple[Steps, ...]:
    """The paths of a projection, which must not overlap. Raises ``ExpressionFault``."""
    steps = tuple([resolve(path, given) for path in paths])
    check_overlaps(steps)
    return steps


def bind_projection(text: str, given: Placeholders) -> BoundProjection:
    """Bind a ProjectionExpression. Raises ``ExpressionFault``."""
    try:
        paths = bind_paths(parse_projection(text).paths, given)
    except ExpressionFault as fault:
        raise _named("ProjectionExpression", fault) from None
    return BoundProjection(paths, frozenset([str(steps[0]) for steps in paths]))


@dataclass(frozen=True, slots=True)
class BoundUpdate:
    """An update ready to be applied. ``attributes`` are the top-level attributes it writes."""

    paths: tuple[Steps, ...]
    attributes: frozenset[str]
    evaluations: tuple[Evaluation, ...]
    actions: tuple[tree.Action, ...]

    @property
    def only_removes(self) -> bool:
        """Whether all its actions remove: such an update makes no item where there is none."""
        return all(isinstance(action, _REMOVING) for action in self.actions)

    def apply(self, item: Item) -> Item:
        """The item after the update; the one given (at least its key) stays as it is.

        Raises ``UpdateFault`` when the update doesn't fit the item.
        """
        return write_all([write for evaluate in self.evaluations if (write := evaluate(item)) is not None], item)

    def first_of(self, names: Collection[str]) -> str | None:
        """The attribute that the text updates first, of those with these names."""
        return next((str(steps[0]) for steps in self.paths if steps[0] in names), None)

    def touched(self, item: Item | None) -> Item:
        """The parts of an item that the update writes: of the old UPDATED_OLD, of the new UPDATED_NEW."""
        return {} if item is None else select(self.paths, item)


def project_attributes(names: Iterable[str]) -> BoundProjection:
    """The projection to top-level attributes with these names."""
    paths: tuple[Steps, ...] = tuple([(name,) for name in names])
    return BoundProjection(paths, frozenset([str(steps[0]) for steps in paths]))


def bind_update(expression: str | tree.Update, given: Placeholders, kind: str = "UpdateExpression") -> BoundUpdate:
    """Bind an UpdateExpression: its text, or its tree. Raises ``ExpressionFault``."""
    try:
        actions = (parse_update(expression) if isinstance(expression, str) else expression).actions
        paths = tuple([resolve(action.path, given) for action in actions])
        check_overlaps(paths)
        # The service binds the actions from the last to the first, and computes them so too: SET before the
        # others, nested paths last. It shows only where an update has two faults.
        bound = [
            ((len(steps) > 1, not isinstance(action, tree.Set)), bind_value(action, steps, given))
            for steps, action in zip(reversed(paths), reversed(actions), strict=True)
        ]
        bound.sort(key=itemgetter(0))
    except ExpressionFault as fault:
        raise _named(kind, fault) from None
    attributes = frozenset([str(steps[0]) for steps in paths])
    return BoundUpdate(paths, attributes, tuple([evaluate for _, evaluate in bound]), actions)
