"""Compile conditions on fields in DynamoDB's syntax (``where=`` and ``only_if``) for the stored forms of the fields.

Field names become placeholders, so reserved words are allowed. Each ``:parameter`` is encoded in the stored form of its
operand. ``operands`` determines what can be compared; ``keyplan.dynamodb.expressions`` has the grammar.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from keyplan.dynamodb import expressions
from keyplan.dynamodb.expressions import tree
from keyplan.model.compiled.operands import NUMBER, TEXT, UNKNOWN, StoredOperand, part_of, stored_field
from keyplan.model.declared.declaration_errors import Problem
from keyplan.model.stored.stored_entity import CompiledEntity
from keyplan.model.stored.update_outcomes import stored_step, type_at

_ORDERING = frozenset({"<", "<=", ">", ">="})


@dataclass(frozen=True, slots=True)
class Operand:
    """A value in a condition, and the operands it is compared with. ``alone``: the value is the only IN option."""

    name: str
    targets: tuple[StoredOperand, ...]
    alone: bool = False

    def why_not(self, annotation: Any) -> str | None:
        """The reason why a value of this type can't be compared; None if it can."""
        return next((why for target in self.targets if (why := target.why_not(annotation)) is not None), None)

    def encoded(self, value: Any) -> dict[str, Any]:
        first, *others = (target.encoded(value) for target in self.targets)
        del others  # all targets have the same form; the others only validate the value
        return first


@dataclass(frozen=True, slots=True)
class Translated:
    """A condition with placeholders, names and values. ``fixed``: by field, parameters of which it must equal one."""

    text: str
    names: dict[str, str]
    operands: Mapping[str, Operand]
    fixed: Mapping[str, frozenset[str]]

    @property
    def placeholders(self) -> frozenset[str]:
        return frozenset(operand.name for operand in self.operands.values())


def translate(text: str, entities: Sequence[CompiledEntity], prefix: str = "") -> Translated:
    """Translate a condition on fields to attributes. Raises Problem if the condition is invalid or always false."""
    try:
        parsed = expressions.read_condition(text)
    except expressions.ExpressionFault as error:
        raise Problem(f"the condition {text!r} can't be parsed: {error}") from None
    translation = _Translation(entities, prefix)
    try:
        printed = expressions.to_text(translation.condition(parsed))
    except Problem as problem:
        raise Problem(f"the condition {text!r} is invalid: {problem}", problem.hint) from None
    try:
        expressions.parse_condition(printed)
    except expressions.ExpressionFault as error:
        raise Problem(f"the condition {text!r} is invalid: {error}") from None
    return Translated(printed, translation.names, translation.operands, _fixed(parsed))


class _Translation:
    def __init__(self, entities: Sequence[CompiledEntity], prefix: str) -> None:
        self.entities = entities
        self.prefix = prefix
        self.names: dict[str, str] = {}
        self.operands: dict[str, Operand] = {}
        self._placeholders: dict[tuple[Any, ...], str] = {}

    def condition(self, node: tree.Condition) -> tree.Condition:
        match node:
            case tree.And(conditions):
                return tree.And(tuple(map(self.condition, conditions)))
            case tree.Or(conditions):
                return tree.Or(tuple(map(self.condition, conditions)))
            case tree.Not():
                return self._negated(node)
            case tree.Compare(operator, left, right):
                first, second = self._compared(operator, left, right)
                return tree.Compare(operator, first, second)
            case tree.Between(operand, low, high):
                first, least = self._compared("BETWEEN", operand, low)
                _, most = self._compared("BETWEEN", operand, high)
                return tree.Between(first, least, most)
            case tree.In(operand, options):
                alone = len(options) == 1
                pairs = [self._compared("IN", operand, option, alone=alone) for option in options]
                return tree.In(pairs[0][0], tuple(option for _, option in pairs))
            case tree.Call():
                return self._function(node)

    def _negated(self, node: tree.Not) -> tree.Condition:
        """A chain of NOTs; iterative, because it can be as long as the string."""
        inner: tree.Condition = node
        count = 0
        while isinstance(inner, tree.Not):
            inner, count = inner.condition, count + 1
        result = self.condition(inner)
        for _ in range(count):
            result = tree.Not(result)
        return result

    def _compared(
        self, operator: str, left: tree.Operand, right: tree.Operand, *, alone: bool = False
    ) -> tuple[tree.Operand, tree.Operand]:
        """Both sides of a comparison. Raises Problem if it is always false."""
        first, second = self._stored(left), self._stored(right)
        for side in (first, second):
            why = side.why_unordered() if side is not None and operator in {*_ORDERING, "BETWEEN"} else None
            if side is not None and why is not None:
                raise Problem(f"{side.name} doesn't support {operator}: {why}", "compare the field with = or IN")
        if first is not None and second is not None and not first.comparable(second):
            raise Problem(
                f"{first.name} and {second.name} are stored in different formats", "compare fields of the same type"
            )
        return self._operand(left, second), self._operand(right, first, alone=alone)

    def _function(self, call: tree.Call) -> tree.Condition:
        """A function as a condition, such as ``begins_with``; the grammar checks the number of operands."""
        if len(call.arguments) != 2:
            for argument in call.arguments:
                if isinstance(argument, tree.Path):  # raises Problem for an attribute that is never stored
                    self._stored_parts(argument.parts)
            return tree.Call(call.function, tuple(self._operand(argument, None) for argument in call.arguments))
        first, second = call.arguments
        subject = self._stored(first)
        wanted = subject
        match call.function:
            case "begins_with" if subject is not None:
                wanted = subject.beginning()
            case "contains" if subject is not None:
                wanted = subject.element()
            case "attribute_type":
                wanted = TEXT
            case _:
                pass
        other = self._stored(second)
        if wanted is not None and other is not None and not wanted.comparable(other):
            raise Problem(
                f"{call.function}() compares {wanted.name} with {other.name}, which is stored in a different format"
            )
        return tree.Call(call.function, (self._operand(first, None), self._operand(second, wanted)))

    def _operand(self, node: tree.Operand, target: StoredOperand | None, *, alone: bool = False) -> tree.Operand:
        match node:
            case tree.Path():
                return self._path(node)
            case tree.Value(name):
                return tree.Value(self._placeholder(name.removeprefix(":"), target or UNKNOWN, alone=alone))
            case tree.Call(function, arguments):
                return tree.Call(function, tuple(self._operand(argument, None) for argument in arguments))
            case tree.Arithmetic():  # pragma: no cover - conditions have no arithmetic
                return node

    def _placeholder(self, name: str, target: StoredOperand, *, alone: bool) -> str:
        form = (name, target.form, alone)
        placeholder = self._placeholders.get(form)
        if placeholder is None:
            symbol = name if self.prefix else symbol_of(name)
            placeholder = f":{self.prefix}{symbol}"
            number = 1
            while placeholder in self.operands:
                number += 1
                placeholder = f":{self.prefix}{symbol}_{number}"
            self._placeholders[form] = placeholder
            self.operands[placeholder] = Operand(name, (), alone)
        known = self.operands[placeholder]
        if target not in known.targets:
            self.operands[placeholder] = replace(known, targets=(*known.targets, target))
        return placeholder

    def _path(self, path: tree.Path) -> tree.Path:
        name = str(path.parts[0])
        parts: list[str | int] = [placeholder_of(self._attribute(name), self.names)]
        annotation = self._owners(name)[0].fields[name].annotation
        for part in path.parts[1:]:
            stored = stored_step(annotation, part)
            parts.append(placeholder_of(stored, self.names) if isinstance(stored, str) else stored)
            annotation = type_at(annotation, part)
        return tree.Path(tuple(parts))

    def _owners(self, name: str | int) -> list[CompiledEntity]:
        owners = [entity for entity in self.entities if name in entity.fields]
        if not owners:
            known = ", ".join(dict.fromkeys(field for entity in self.entities for field in entity.fields))
            raise Problem(f"unknown field {name!r}", f"the fields are {known}")
        return owners

    def _attribute(self, name: str) -> str:
        owners = self._owners(name)
        attributes = {entity.fields[name].attribute for entity in owners}
        if len(attributes) > 1:
            raise Problem(f"{name} has different attributes: {', '.join(sorted(attributes))}", "use one alias for all")
        return attributes.pop()

    def _stored(self, node: tree.Operand) -> StoredOperand | None:
        """The stored type of an operand, as far as known; None for a value."""
        match node:
            case tree.Path(parts):
                return self._stored_path(parts)
            case tree.Call("size", (inner,)):
                sized = self._stored(inner)
                why = None if sized is None else sized.why_unsized()
                if sized is not None and why is not None:
                    raise Problem(f"size() doesn't support {sized.name}: {why}")
                return NUMBER
            case _:
                return None

    def _stored_path(self, parts: tuple[str | int, ...]) -> StoredOperand:
        first, *others = self._stored_parts(parts)
        for other in others:
            if first.form != other.form:
                raise Problem(
                    f"{first.name} and {other.name} are stored in different formats",
                    "read each entity with its own access pattern",
                )
        return first

    def _stored_parts(self, parts: tuple[str | int, ...]) -> list[StoredOperand]:
        """The stored type of a path in each entity. Raises Problem if it can't exist in one."""
        name, *steps = parts
        result = [stored_field(entity, str(name)) for entity in self._owners(name)]
        for step in steps:
            result = [part_of(stored, step) for stored in result]
        return result


def _fixed(condition: tree.Condition) -> dict[str, frozenset[str]]:
    result: dict[str, frozenset[str]] = {}
    for part in condition.conditions if isinstance(condition, tree.And) else (condition,):
        equal = list(_equalities(part))
        fields = {name for name, _ in equal}
        if len(fields) == 1 and None not in fields:
            result.setdefault(str(equal[0][0]), frozenset(value for _, value in equal))
    return result


def _equalities(condition: tree.Condition) -> Iterator[tuple[str | None, str]]:
    """The field and the value of each equality in an OR; a field of None for anything else."""
    match condition:
        case tree.Compare("=", tree.Path((str(name),)), tree.Value(value)):
            yield name, value.removeprefix(":")
        case tree.Compare("=", tree.Value(value), tree.Path((str(name),))):
            yield name, value.removeprefix(":")
        case tree.In(tree.Path((str(name),)), options):
            for option in options:
                yield (name, option.name.removeprefix(":")) if isinstance(option, tree.Value) else (None, "")
        case tree.Or(conditions):
            for alternative in conditions:
                yield from _equalities(alternative)
        case _:
            yield None, ""


_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_TAKEN = re.compile(r"pk|claim|owner|[a-z][0-9]+_?")
"""Placeholders of key conditions, updates and expectations, which fields must not use."""


def placeholder_of(attribute: str, names: dict[str, str]) -> str:
    """The placeholder of an attribute name, added to ``names``."""
    placeholder = f"#{symbol_of(attribute)}"
    names[placeholder] = attribute
    return placeholder


def symbol_of(name: str) -> str:
    if _PLAIN.fullmatch(name) and not _TAKEN.fullmatch(name):
        return name
    return "0" + "".join(text if text.isascii() and text.isalnum() else f"_{ord(text):x}_" for text in name)
