"""Compile an expression's text into a tree (cached), and bind the tree to a request's placeholders.

``parse_*`` functions return trees; ``bind_*`` functions return what the store executes. Errors start with the kind of
expression, as in ``Invalid FilterExpression: ...``.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from operator import itemgetter
from typing import TypeAlias

from keyplan.dynamodb.expressions import expression_rules as rules
from keyplan.dynamodb.expressions import tree
from keyplan.dynamodb.expressions.conditions import Predicate, bind_predicate
from keyplan.dynamodb.expressions.expression_errors import ExpressionFault
from keyplan.dynamodb.expressions.key_conditions import KeyCondition, narrow, read_terms
from keyplan.dynamodb.expressions.parser import TOO_MANY_OPERATORS, Parser
from keyplan.dynamodb.expressions.paths import Steps, check_overlaps, resolve, select
from keyplan.dynamodb.expressions.placeholders import Placeholders
from keyplan.dynamodb.expressions.updates import Evaluation, bind_value, write_all
from keyplan.dynamodb.values import AttributeValue, Item

_CACHED_TEXTS_MAX = 2048
_REMOVING = (tree.Remove, tree.Delete)
Expression: TypeAlias = str | tree.Condition
"""A condition as text or tree."""

_A_NUMBER: AttributeValue = {"N": "0"}
_A_LIST: AttributeValue = {"L": [{"N": "0"}]}


@dataclass(frozen=True, slots=True)
class _Parsed:
    """A condition with the first parts of its paths, those of nested paths, and the number of operators."""

    condition: tree.Condition
    roots: tuple[str, ...]
    nested: tuple[str, ...]
    operators: int


def _parsed(expression: str | tree.Condition) -> _Parsed:
    if isinstance(expression, str):
        return _parsed_condition(expression)
    return _described(expression, 0)


@lru_cache(_CACHED_TEXTS_MAX)
def _parsed_condition(text: str) -> _Parsed:
    rules.check_size(text)
    condition = read_condition(text)
    rules.check_condition(condition)
    return _described(condition, rules.count_operators(condition))


def _described(condition: tree.Condition, operators: int) -> _Parsed:
    paths = [path.parts for path in _paths(condition)]
    nested = [str(parts[0]) for parts in paths if len(parts) > 1]
    return _Parsed(condition, tuple({str(parts[0]): None for parts in paths}), tuple(nested), operators)


def parse_condition(text: str) -> tree.Condition:
    """The tree of a filter, condition or key condition expression. Raises ``ExpressionFault`` without a prefix."""
    return _parsed_condition(text).condition


def read_condition(text: str) -> tree.Condition:
    """The tree of a condition that can contain reserved words as names. Raises ExpressionFault without a prefix."""
    return Parser(text).whole(Parser.condition)


@lru_cache(_CACHED_TEXTS_MAX)
def parse_projection(text: str) -> tree.Projection:
    """The tree of a projection expression. Raises ``ExpressionFault`` without a prefix."""
    rules.check_size(text, reports_size=False)
    projection = Parser(text).whole(Parser.paths)
    rules.check_projection(projection)
    return projection


@dataclass(frozen=True, slots=True)
class _ParsedUpdate:
    """An update's actions with the first parts of its paths into a value, written or read."""

    actions: tuple[tree.Action, ...]
    nested: tuple[str, ...]


def parse_update(text: str) -> tree.Update:
    """The tree of an update expression. Raises ``ExpressionFault`` without a prefix."""
    return tree.Update(_parsed_update(text).actions)


@lru_cache(_CACHED_TEXTS_MAX)
def _parsed_update(text: str) -> _ParsedUpdate:
    rules.check_size(text, reports_size=False)
    parser = Parser(text)
    update = parser.whole(Parser.update)
    rules.check_update(update)
    if parser.repeated is not None:
        raise ExpressionFault(f'The "{parser.repeated}" section can only be used once in an update expression;')
    _check_count(sum(rules.count_operators(each.value) for each in update.actions if isinstance(each, tree.Set)))
    return _described_update(update)


def _described_update(update: tree.Update) -> _ParsedUpdate:
    nested: list[str] = []
    for action in update.actions:
        read = _paths(action.value) if isinstance(action, tree.Set) else ()
        nested += [str(path.parts[0]) for path in (action.path, *read) if len(path.parts) > 1]
    return _ParsedUpdate(update.actions, tuple(nested))


def _check_count(operators: int) -> None:
    if operators > rules.OPERATORS_MAX:
        raise ExpressionFault(TOO_MANY_OPERATORS)


def _named(kind: str, fault: ExpressionFault) -> ExpressionFault:
    """The error with its expression's name as prefix; conditions of PartiQL statements have no name."""
    return ExpressionFault(f"Invalid {kind}: {fault.message}") if kind else fault


@dataclass(frozen=True, slots=True)
class BoundCondition:
    """An executable condition, with its top-level attributes, attributes with nested paths, and number of operators."""

    matches: Predicate
    attributes: frozenset[str]
    nested: frozenset[str]
    operators: int


def bind_condition(
    expression: str | tree.Condition, given: Placeholders, kind: str = "ConditionExpression"
) -> BoundCondition:
    """Bind a condition or a filter, as text or tree. Errors name the ``kind`` of expression, unless it's empty."""
    try:
        parsed = _parsed(expression)
        matches = bind_predicate(parsed.condition, given)
        _check_count(parsed.operators)
    except ExpressionFault as fault:
        raise _named(kind, fault) from None
    attributes = frozenset([given.name(part) for part in parsed.roots])
    nested = frozenset([given.name(part) for part in parsed.nested])
    return BoundCondition(matches, attributes, nested, parsed.operators)


def _paths(of: tree.Condition | tree.Operand) -> Iterator[tree.Path]:
    stack: list[tree.Condition | tree.Operand] = [of]
    while stack:
        node = stack.pop()
        if isinstance(node, tree.Path):
            yield node
        else:
            stack.extend(tree.below(node))


def bind_key_condition(
    expression: str | tree.Condition,
    given: Placeholders,
    *,
    partition: Sequence[str],
    sort: Sequence[str] = (),
    types: Mapping[str, str],
) -> KeyCondition:
    """Bind a KeyConditionExpression, as text or tree, to a key. ``partition`` (1 to 4) and ``sort`` (0 to 4) are the
    names of the key attributes, ``types`` their data types (S, N, B). Raises ``ExpressionFault``.
    """
    condition = _plain_key_condition(expression, given)
    return narrow(condition, given, partition=partition, sort=sort, types=types)


def check_key_condition(text: str, given: Placeholders) -> None:
    """Reject a KeyConditionExpression that is invalid for every key. Raises ``ExpressionFault``."""
    read_terms(_plain_key_condition(text, given), given)


def _plain_key_condition(expression: str | tree.Condition, given: Placeholders) -> tree.Condition:
    try:
        if isinstance(expression, str):
            rules.check_size(expression, reports_size=False)
        parsed = _parsed(expression)
        bind_predicate(parsed.condition, given)
        _check_count(parsed.operators)
    except ExpressionFault as fault:
        raise _named("KeyConditionExpression", fault) from None
    return parsed.condition


@dataclass(frozen=True, slots=True)
class BoundProjection:
    """An executable projection. ``attributes`` are its top-level attributes."""

    paths: tuple[Steps, ...]
    attributes: frozenset[str]

    @property
    def nested(self) -> frozenset[str]:
        return frozenset([str(steps[0]) for steps in self.paths if len(steps) > 1])

    def project(self, item: Item) -> Item:
        """The projected parts of an item that exist. The result shares values with the item."""
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
    """An executable update, with the top-level attributes that it writes (wholly or in part)."""

    paths: tuple[Steps, ...]
    attributes: frozenset[str]
    nested: frozenset[str]
    evaluations: tuple[Evaluation, ...]
    actions: tuple[tree.Action, ...]
    given: Placeholders

    @property
    def only_removes(self) -> bool:
        """Whether all actions remove values, so that the update doesn't create a missing item."""
        return all(isinstance(action, _REMOVING) for action in self.actions)

    def apply(self, item: Item) -> Item:
        """The item after the update; the given item, which has at least its key, isn't changed.

        Raises ``UpdateFault`` if the update can't be applied to the item.
        """
        return write_all([write for evaluate in self.evaluations if (write := evaluate(item)) is not None], item)

    def first_of(self, names: Collection[str]) -> str | None:
        """The first attribute in the update's text that is in ``names``."""
        return next((str(steps[0]) for steps in self.paths if steps[0] in names), None)

    def assigned(self) -> dict[str, AttributeValue]:
        """The values of assigned attributes whose type is known; for a computed value, any value of the same type."""
        result: dict[str, AttributeValue] = {}
        for steps, action in zip(self.paths, self.actions, strict=True):
            attribute, *below = steps
            if below or isinstance(action, tree.Remove | tree.Delete):
                continue  # an action that only removes values assigns no type
            match action.value:
                case tree.Value(name):
                    result[str(attribute)] = self.given.value(name)
                case tree.Arithmetic():
                    result[str(attribute)] = _A_NUMBER
                case tree.Call("list_append"):
                    result[str(attribute)] = _A_LIST
                case _:  # the type depends on the item
                    pass
        return result

    def touched(self, item: Item | None) -> Item:
        """The parts of an item that the update writes, for UPDATED_OLD (old item) and UPDATED_NEW (new item)."""
        return {} if item is None else select(self.paths, item)


def project_attributes(names: Iterable[str]) -> BoundProjection:
    paths: tuple[Steps, ...] = tuple([(name,) for name in names])
    return BoundProjection(paths, frozenset([str(steps[0]) for steps in paths]))


def bind_update(expression: str | tree.Update, given: Placeholders, kind: str = "UpdateExpression") -> BoundUpdate:
    """Bind an UpdateExpression, given as text or tree. Raises ``ExpressionFault``."""
    try:
        parsed = _parsed_update(expression) if isinstance(expression, str) else _described_update(expression)
        actions = parsed.actions
        paths = tuple([resolve(action.path, given) for action in actions])
        check_overlaps(paths)
        # The service binds and computes the actions in reverse order: SET before the other actions, and nested paths
        # last. The order only determines which of two errors is reported.
        bound = [
            ((len(steps) > 1, not isinstance(action, tree.Set)), bind_value(action, steps, given))
            for steps, action in zip(reversed(paths), reversed(actions), strict=True)
        ]
        bound.sort(key=itemgetter(0))
    except ExpressionFault as fault:
        raise _named(kind, fault) from None
    attributes = frozenset([str(steps[0]) for steps in paths])
    nested = frozenset([given.name(part) for part in parsed.nested])
    return BoundUpdate(paths, attributes, nested, tuple([evaluate for _, evaluate in bound]), actions, given)
