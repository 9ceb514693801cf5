"""Conditions on items with absent attributes: a condition evaluates the field's default, which a read returns.

DynamoDB evaluates every comparison with an absent attribute as false, and ``<>`` as true. If the stored form of the
default gives another result, ``OR attribute_not_exists(...)`` or ``AND attribute_exists(...)`` is added to the
comparison. This module rewrites compiled filters, compiled ``only_if`` conditions, and compiled conditions of writes.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache, reduce
from typing import Any

from pydantic import BaseModel

from keyplan.dynamodb import expressions
from keyplan.dynamodb.expressions import tree
from keyplan.dynamodb.expressions.expression_rules import IN_OPTIONS_MAX, OPERATORS_MAX, check_size, count_operators
from keyplan.dynamodb.values import AttributeValue
from keyplan.model.compiled.conditions import placeholder_of
from keyplan.model.declared.declaration_errors import Problem
from keyplan.model.declared.fields import is_optional, kind_of
from keyplan.model.stored.pydantic_values import Form, field_at, stored_name
from keyplan.model.stored.stored_entity import CompiledEntity
from keyplan.model.stored.stored_fields import nested_default
from keyplan.model.stored.update_outcomes import type_at

_EXISTENCE = frozenset({"attribute_exists", "attribute_not_exists", "attribute_type"})
_VALUES = re.compile(r":\w+")
KNOWN_MAX = 512
"""Maximum number of cached rewrites per entity, by condition and values."""
KNOWN_SIZE_MAX = 500
_ABSENT = "absent"
"""The stand-in attribute under which a default is evaluated."""

Truth = tree.Condition | bool
Leaf = tree.Compare | tree.Between | tree.In | tree.Call
Level = tuple[int, AttributeValue | None]
"""How many parts of a path are missing, and the value that is read in their place; None: nothing."""


def is_affected(text: str, names: Mapping[str, str], entities: Sequence[CompiledEntity]) -> bool:
    """Whether a condition can refer to a field with a default (a quick check)."""
    if "." in text or "[" in text:
        return True
    for entity in entities:  # noqa: SIM110 - a generator is slower
        if not entity.may_lack.isdisjoint(names.values()):
            return True
    return False


def as_read(
    text: str,
    names: dict[str, str],
    values: dict[str, AttributeValue],
    entities: Sequence[CompiledEntity],
    item: str | None = None,
    held: Collection[str] | None = None,
) -> str:
    """The condition, rewritten for items of these entities with absent attributes; extends ``names`` and ``values``.

    ``item`` is the placeholder of the partition key if the item can be missing; the original condition applies to a
    missing item. Raises ExpressionFault if the rewritten condition exceeds DynamoDB's limits.
    """
    known = entities[0].rewritten if len(entities) == 1 else {}
    key = (text, item, held, repr([values.get(placeholder) for placeholder in _VALUES.findall(text)]))
    result = known.get(key)
    if result is None:
        count = len(names) + len(values)
        result = Rewriting(names, values, entities, item, held=held).text(text)
        if len(names) + len(values) == count and len(known) < KNOWN_MAX and len(key[-1]) < KNOWN_SIZE_MAX:
            known[key] = result
    return result


@lru_cache(KNOWN_MAX)
def check_limits(text: str) -> None:
    check_size(text)
    count = count_operators(expressions.parse_condition(text))
    if count > OPERATORS_MAX:
        raise expressions.ExpressionFault(f"the condition has {count} operators; the maximum is {OPERATORS_MAX}")


class Rewriting:
    """Rewrites one condition. ``unknown`` are the placeholders without a value yet: a comparison with one of them is
    rewritten as if the default and an absent attribute gave different results, and ``is_undecided`` is set. ``held``
    are the attributes in the index that is read; None means all attributes.
    """

    def __init__(
        self,
        names: dict[str, str],
        values: dict[str, AttributeValue],
        entities: Sequence[CompiledEntity],
        item: str | None = None,
        unknown: Collection[str] = (),
        held: Collection[str] | None = None,
    ) -> None:
        self.names = names
        self.values = values
        self.entities = entities
        self.item = item
        self.unknown = unknown
        self.held = held
        self.is_undecided = False

    def text(self, text: str) -> str:
        """The rewritten condition as a string. Raises ExpressionFault, Problem."""
        given = expressions.read_condition(text)
        result = self._condition(given)
        if result == given:
            return text
        printed = expressions.to_text(result)
        check_limits(printed)
        return printed

    def _condition(self, node: tree.Condition) -> tree.Condition:
        match node:
            case tree.And(conditions):
                return tree.And(tuple(map(self._condition, conditions)))
            case tree.Or(conditions):
                return tree.Or(tuple(map(self._condition, conditions)))
            case tree.Not():
                count = 0  # iterative, because a chain of NOTs can be as long as the string
                inner: tree.Condition = node
                while isinstance(inner, tree.Not):
                    inner, count = inner.condition, count + 1
                result = self._condition(inner)
                for _ in range(count):
                    result = tree.Not(result)
                return result
            case tree.In(operand, options) if len(options) > 1 and any(
                not isinstance(each, tree.Value) for each in options
            ):
                return tree.Or(tuple(self._condition(tree.Compare("=", operand, option)) for option in options))
            case tree.In(operand, options) if len(options) > IN_OPTIONS_MAX:
                starts = range(0, len(options), IN_OPTIONS_MAX)
                parts = (tree.In(operand, options[start : start + IN_OPTIONS_MAX]) for start in starts)
                return tree.Or(tuple(map(self._condition, parts)))
            case tree.Compare("=", tree.Path() as path, tree.Value(name)) if (model := self._model(path)) is not None:
                return self._equal(path, name, model)
            case tree.Compare("<>", tree.Path() as path, value) if self._model(path) is not None:
                return tree.Not(self._condition(tree.Compare("=", path, value)))
            case tree.Call(function) if function in _EXISTENCE:
                return node
            case _:
                return self._leaf(node)

    def _model(self, path: tree.Path) -> type[BaseModel] | None:
        root, *steps = self._names_of(path)
        for entity in self.entities:
            field = next((each for each in entity.fields.values() if each.attribute == root), None)
            if field is not None and field.form is Form.OURS:
                return _defaulted_model(reduce(type_at, steps, field.annotation))
        return None

    def _equal(self, path: tree.Path, name: str, model: type[BaseModel]) -> tree.Condition:
        """A map equals a model: as a whole, or field by field, because fields with defaults can be absent."""
        whole = self._leaf(tree.Compare("=", path, tree.Value(name)))
        if name in self.unknown:
            self.is_undecided = True
            return whole
        parts: list[tree.Condition] = [tree.Call("attribute_exists", (path,))]
        for field in (stored_name(name, info) for name, info in model.model_fields.items()):
            part = tree.Path((*path.parts, placeholder_of(field, self.names)))
            value = self.values[name].get("M", {}).get(field)
            if value is None:
                parts.append(tree.Call("attribute_not_exists", (part,)))
            else:
                parts.append(self._condition(tree.Compare("=", part, self._new_value(value))))
        return tree.Or((whole, tree.And(tuple(parts))))

    def _new_value(self, value: AttributeValue) -> tree.Value:
        placeholder = f":a{len(self.values)}"
        self.values[placeholder] = value
        return tree.Value(placeholder)

    def _names_of(self, path: tree.Path) -> list[str | int]:
        return [self.names.get(part, part) if isinstance(part, str) else part for part in path.parts]

    def _leaf(self, leaf: Leaf) -> tree.Condition:
        affected = [position for position, operand in enumerate(_operands(leaf)) if self._levels(operand)]
        result = self._absent(leaf, affected) if affected else leaf
        if result == leaf or self.item is None or isinstance(result, bool):
            return leaf if isinstance(result, bool) else result
        return _chosen(tree.Path((self.item,)), result, self._holds(leaf, {}), self._holds(result, {}))

    def _absent(self, leaf: Leaf, positions: Sequence[int]) -> Truth:
        """The comparison for the case that operands at these positions are absent."""
        if not positions:
            return leaf
        position, *others = positions
        result = self._absent(leaf, others)
        operand = _operands(leaf)[position]
        path = _path(operand)
        missing = below = self._with_value(leaf, position, None, others)
        for depth, default in reversed(self._levels(operand)):
            then = self._with_value(leaf, position, self._value(operand, depth, default), others)
            if depth == 1 and then != missing:
                then = self._unless_in_key(path, then, missing is True)
            if not isinstance(result, bool):
                result = _chosen(tree.Path(path.parts[:depth]), result, then, below)
            below = then
        return result

    def _unless_in_key(self, path: tree.Path, then: Truth, missing: bool) -> Truth:
        """The result for a default, unless an index key has the value: a read returns that, which isn't compared."""
        root = str(self._names_of(path)[0])
        told: list[tree.Condition] = []
        for attribute, text in {key: None for entity in self.entities for key in entity.read_from_keys.get(root, ())}:
            if self.held is None or attribute in self.held:
                key = tree.Path((placeholder_of(attribute, self.names),))
                found = (
                    tree.Call("contains", (key, self._new_value({"S": text})))
                    if text
                    else tree.Call("attribute_exists", (key,))
                )
                told.append(found)
        if not told:
            return then
        in_key = told[0] if len(told) == 1 else tree.Or(tuple(told))
        if isinstance(then, bool):
            return tree.Not(in_key) if then else in_key
        return tree.Or((then, in_key)) if missing else tree.And((then, tree.Not(in_key)))

    def _with_value(self, leaf: Leaf, position: int, value: AttributeValue | None, others: Sequence[int]) -> Truth:
        """The comparison with an operand replaced by a value; None: it is absent."""
        if value is None:
            return isinstance(leaf, tree.Compare) and leaf.operator == "<>"
        operands = list(_operands(leaf))
        rest = [operand for at, operand in enumerate(operands) if at != position]
        if any(isinstance(operand, tree.Value) and operand.name in self.unknown for operand in rest):
            self.is_undecided = True
            return not self._with_value(leaf, position, None, others)
        if not any(_is_path(operand) for operand in rest):
            operands[position] = tree.Path((_ABSENT,))
            return self._holds(_with_operands(leaf, operands), {_ABSENT: value})
        operands[position] = self._new_value(value)
        return self._absent(_with_operands(leaf, operands), others)

    def _value(self, operand: tree.Operand, depth: int, default: AttributeValue | None) -> AttributeValue | None:
        if default is None:
            return None
        path = tree.Path((_ABSENT, *_path(operand).parts[depth:]))
        moved = tree.Call("size", (path,)) if isinstance(operand, tree.Call) else path
        return expressions.bind_operand(moved, expressions.Placeholders(self.names)).get({_ABSENT: default})

    def _holds(self, condition: tree.Condition, item: dict[str, AttributeValue]) -> bool:
        given = expressions.Placeholders(self.names or None, self.values or None)
        return expressions.bind_condition(condition, given).matches(item)

    def _levels(self, operand: tree.Operand) -> list[Level]:
        """The levels at which a path can be absent, with their values; the same for all entities. Raises Problem."""
        if not _is_path(operand):
            return []
        parts = self._names_of(_path(operand))
        found = [levels for entity in self.entities if (levels := _levels_of(entity, parts)) is not None]
        if any(levels != found[0] for levels in found):
            raise Problem(
                f"{parts[0]} has different defaults in {' and '.join(entity.name for entity in self.entities)}, so a "
                f"condition on items without {parts[0]} is ambiguous",
                "give the fields the same default, or read each entity with its own access pattern",
            )
        return found[0] if found else []


def _levels_of(entity: CompiledEntity, parts: Sequence[str | int]) -> list[Level] | None:
    """The levels of a path in an entity's items; None if an item without the attribute is unreadable."""
    root, *steps = parts
    field = next((field for field in entity.fields.values() if field.attribute == root), None)
    if field is None:
        return None
    if field.required and not field.optional and not field.made_anew and not steps:
        return None
    levels: list[Level] = []
    if field.optional or not field.required or field.made_anew:
        levels.append((1, entity.read_as.get(field.attribute)))
    annotation = field.annotation if field.form is Form.OURS else object
    for depth, step in enumerate(steps, 2):
        levels += _nested_level(annotation, step, depth)
        annotation = type_at(annotation, step)
    while levels and levels[-1][1] is None:  # the deepest levels, if they have no default, don't change the result
        levels.pop()
    return levels


def _defaulted_model(annotation: Any, seen: frozenset[Any] = frozenset()) -> type[BaseModel] | None:
    kind = kind_of(annotation)
    if kind in seen or not (isinstance(kind, type) and issubclass(kind, BaseModel)):
        return None
    for name, info in kind.model_fields.items():
        if nested_default(kind, name) is not None or _defaulted_model(info.annotation, seen | {kind}):
            return kind
    return None


def _nested_level(annotation: Any, step: str | int, depth: int) -> list[Level]:
    """The value of a missing step of a nested value; empty if the step can't be missing."""
    kind = kind_of(annotation)
    found = field_at(kind, str(step)) if isinstance(kind, type) and issubclass(kind, BaseModel) else None
    if found is None:
        return [(depth, None)]
    info = found[1]
    if info.is_required() and not is_optional(info.annotation):
        return []
    return [(depth, nested_default(kind, str(step)))]


def _chosen(path: tree.Path, result: tree.Condition, then: Truth, below: Truth) -> tree.Condition:
    there, missing = tree.Call("attribute_exists", (path,)), tree.Call("attribute_not_exists", (path,))
    if then == below:
        return result
    if isinstance(then, bool):
        return tree.Or((result, missing)) if then else tree.And((result, there))
    if below is False:
        return tree.Or((result, tree.And((missing, then))))
    if below is True:
        return tree.And((result, tree.Or((there, then))))
    return tree.Or((tree.And((there, result)), tree.And((missing, then))))


def _is_path(operand: tree.Operand) -> bool:
    inner = operand.arguments[0] if isinstance(operand, tree.Call) else operand
    return isinstance(inner, tree.Path)


def _path(operand: tree.Operand) -> tree.Path:
    inner = operand.arguments[0] if isinstance(operand, tree.Call) else operand
    assert isinstance(inner, tree.Path)  # noqa: S101
    return inner


def _operands(leaf: Leaf) -> tuple[tree.Operand, ...]:
    match leaf:
        case tree.Compare(_, left, right):
            return (left, right)
        case tree.Between(operand, low, high):
            return (operand, low, high)
        case tree.In(operand, options):
            return (operand, *options)
        case tree.Call(_, arguments):
            return arguments


def _with_operands(leaf: Leaf, operands: Sequence[tree.Operand]) -> Leaf:
    match leaf:
        case tree.Compare(operator):
            return tree.Compare(operator, *operands)
        case tree.Between():
            return tree.Between(*operands)
        case tree.In():
            return tree.In(operands[0], tuple(operands[1:]))
        case tree.Call(function):
            return tree.Call(function, tuple(operands))
