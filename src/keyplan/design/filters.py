"""Conditions written with field names, as DynamoDB's expressions: ``where=`` of a read, ``only_if`` of a write.

A condition is a mapping (field → value, all must hold) or a text in DynamoDB's own grammar with field names for paths
and ``:parameters`` for values. Field names become attribute names behind placeholders, so that no reserved word can
stand in the way. The grammar lives in ``keyplan.expressions``.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

from keyplan import expressions
from keyplan.design.entity import CompiledEntity
from keyplan.design.formats import Problem
from keyplan.design.plans import Filter
from keyplan.design.questions import Signature
from keyplan.expressions import tree

__all__ = ["Translated", "filter_of", "translate", "translate_mapping"]


@dataclasses.dataclass(frozen=True, slots=True)
class Translated:
    """A condition's text with placeholders, and the attribute names that they stand for."""

    text: str
    names: dict[str, str]
    placeholders: frozenset[str]
    """The value placeholders in it, without their colons."""


def translate(text: str, entities: Sequence[CompiledEntity], prefix: str = "") -> Translated:
    """A condition over fields as a condition over attributes, its value placeholders with ``prefix`` before their name.

    Raises Problem for bad syntax and unknown fields.
    """
    try:
        parsed = expressions.read_condition(text)
    except expressions.ExpressionFault as error:
        raise Problem(f"the condition {text!r} can't be read: {error}") from None
    names: dict[str, str] = {}
    placeholders: set[str] = set()

    def path(one: tree.Path) -> tree.Path:
        parts: list[str | int] = []
        for position, part in enumerate(one.parts):
            if isinstance(part, int):
                parts.append(part)
                continue
            attribute = _attribute(part, entities) if position == 0 else part
            parts.append(_placeholder(attribute, names))
        return tree.Path(tuple(parts))

    def walk(node: Any) -> Any:
        if isinstance(node, tree.Path):
            return path(node)
        if isinstance(node, tree.Value):
            plain = node.name.removeprefix(":")
            placeholders.add(plain)
            return tree.Value(f":{prefix}{plain}")
        if isinstance(node, tuple):
            return tuple(walk(one) for one in node)
        if dataclasses.is_dataclass(node) and not isinstance(node, type):
            changes = {one.name: walk(getattr(node, one.name)) for one in dataclasses.fields(node)}
            return dataclasses.replace(node, **changes)
        return node

    printed = expressions.to_text(walk(parsed))
    try:
        expressions.parse_condition(printed)
    except expressions.ExpressionFault as error:
        raise Problem(f"the condition {text!r} can't be used: {error}") from None
    return Translated(printed, names, frozenset(placeholders))


def translate_mapping(
    entity: CompiledEntity, wanted: Mapping[str, Any], prefix: str
) -> tuple[list[str], dict[str, str], dict[str, dict[str, Any]]]:
    """Equalities for field values: clauses, names, values. None means that the field isn't stored."""
    clauses: list[str] = []
    names: dict[str, str] = {}
    constants: dict[str, dict[str, Any]] = {}
    for field, value in wanted.items():
        stored = entity.fields[field]
        name = _placeholder(stored.attribute, names)
        placeholder = f":{prefix}{len(constants)}"
        encoded = entity.encode_fields({field: value}).get(stored.attribute)
        if encoded is None:
            clauses.append(f"attribute_not_exists({name})")
            continue
        constants[placeholder] = encoded
        clauses.append(f"{name} = {placeholder}")
    return clauses, names, constants


def filter_of(
    entities: Sequence[CompiledEntity], constants: Mapping[str, Any], text: str | None, signature: Signature
) -> Filter:
    """The filter for what the key doesn't answer: constants, or a text. Raises Problem."""
    if text is not None:
        translated = translate(text, entities)
        unknown = sorted(translated.placeholders - signature.by_name.keys())
        if unknown:
            raise Problem(f"where= uses :{', :'.join(unknown)}, which is no parameter")
        parameters = {f":{name}": name for name in translated.placeholders}
        return Filter(translated.text, translated.names, {}, parameters)
    clauses, names, values = translate_mapping(entities[0], constants, "w")
    return Filter(" AND ".join(clauses), names, values, {})


def _attribute(name: str, entities: Sequence[CompiledEntity]) -> str:
    for entity in entities:
        if name in entity.fields:
            return entity.fields[name].attribute
    known = ", ".join(field for entity in entities for field in entity.fields)
    raise Problem(f"the condition names {name!r}, which is no field", f"the fields are {known}")


def _placeholder(attribute: str, names: dict[str, str]) -> str:
    plain = "".join(letter if letter.isascii() and letter.isalnum() else "_" for letter in attribute)
    name = f"#{plain}"
    while names.get(name, attribute) != attribute:
        name += "_"
    names[name] = attribute
    return name
