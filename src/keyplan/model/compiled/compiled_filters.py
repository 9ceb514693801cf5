"""Filters of reads and equalities of writes, compiled to DynamoDB's expressions.

``where=`` is a mapping from fields to values, of which all must match (a list matches any of its values), or a string,
which ``conditions`` translates. The filter also contains parameters that the key condition doesn't apply completely.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from keyplan.dynamodb.expressions import ExpressionFault
from keyplan.dynamodb.limits import IN_OPTIONS_MAX
from keyplan.model.compiled.absent_attributes import Rewriting, is_affected
from keyplan.model.compiled.conditions import Operand, placeholder_of, symbol_of, translate
from keyplan.model.compiled.constants import values_asked
from keyplan.model.compiled.operands import stored_field
from keyplan.model.compiled.plans import Filter, FilterValue
from keyplan.model.compiled.signatures import Parameter, ParameterKind, Signature
from keyplan.model.declared.declaration_errors import Problem
from keyplan.model.declared.fields import is_optional
from keyplan.model.stored.stored_entity import CompiledEntity
from keyplan.model.stored.stored_fields import StoredField

_NULL = {"NULL": True}
"""The stored form of None in items of other programs."""


def translate_mapping(
    entity: CompiledEntity, wanted: Mapping[str, Any], prefix: str
) -> tuple[list[str], dict[str, str], dict[str, dict[str, Any]]]:
    """The clauses, names and values of equalities. None requires that the attribute is absent or NULL."""
    clauses: list[str] = []
    names: dict[str, str] = {}
    constants: dict[str, dict[str, Any]] = {}
    for field, value in wanted.items():
        stored = entity.fields[field]
        name = placeholder_of(stored.attribute, names)
        placeholder = f":{prefix}{len(constants)}"
        encoded = _encoded(entity, stored, value)
        constants[placeholder] = encoded or _NULL
        clauses.append(
            f"{name} = {placeholder}" if encoded else f"(attribute_not_exists({name}) OR {name} = {placeholder})"
        )
    return clauses, names, constants


def _encoded(entity: CompiledEntity, stored: StoredField, value: Any) -> dict[str, Any] | None:
    if stored.codec is None or value is None:
        return entity.encode_fields({stored.name: value}).get(stored.attribute)
    return entity.encode_field(stored.name, stored.codec.compare, value)


def filter_of(
    entities: Sequence[CompiledEntity],
    constants: Mapping[str, Any],
    asked: Sequence[Parameter],
    signature: Signature,
    text: str | None,
    held: frozenset[str] | None,
) -> Filter:
    """The filter for conditions outside the key. ``held``: the index's attributes, or None for all. Raises Problem."""
    clauses: list[str] = []
    names: dict[str, str] = {}
    values: dict[str, dict[str, Any]] = {}
    for field, wanted in constants.items():
        clauses.append(_constant(_owner(entities, field), field, wanted, names, values))
    parameters: dict[str, FilterValue] = {}
    for parameter in asked:
        name = placeholder_of(_owner(entities, parameter.name).fields[parameter.name].attribute, names)
        placeholder = f":{symbol_of(parameter.name)}"
        many = parameter.kind is ParameterKind.EACH
        clauses.append(f"{name} IN ({placeholder})" if many else f"{name} = {placeholder}")
        stored = stored_field(_owner(entities, parameter.name), parameter.name)
        encode = stored.encoder(parameter.value_type)
        parameters[placeholder] = FilterValue(parameter.name, encode, stored.tag or "S", many)
    if text is not None:
        translated = translate(text, entities)
        _check_parameters(text, tuple(translated.operands.values()), signature)
        clauses.append(translated.text if not clauses else f"({translated.text})")
        names |= translated.names
        for placeholder, operand in translated.operands.items():
            parameters[placeholder] = _filter_value(operand, signature.by_name[operand.name])
    condition = Filter(" AND ".join(clauses), names, values, parameters, held=held)
    return _as_read(condition, entities) if is_affected(condition.text, names, entities) else condition


def _as_read(condition: Filter, entities: Sequence[CompiledEntity]) -> Filter:
    constants = {placeholder: dict(value) for placeholder, value in condition.constants.items()}
    names = dict(condition.names)
    rewriting = Rewriting(names, constants, entities, unknown=condition.parameters, held=condition.held)
    try:
        text = rewriting.text(condition.text)
    except ExpressionFault as fault:
        raise Problem(f"where= is too long after conditions for missing attributes are added: {fault}") from None
    whole = replace(condition, text=text, names=names, constants=constants, declared=condition)
    if rewriting.is_undecided:
        return replace(condition, defaulted=tuple(entities), declared=condition, shown=whole)
    return whole


def _owner(entities: Sequence[CompiledEntity], field: str) -> CompiledEntity:
    lacking = [entity.name for entity in entities if field not in entity.fields]
    if lacking:
        raise Problem(
            f"a filter on {field} would exclude all items of {' and '.join(lacking)}, which lack the field",
            f"read each entity with its own access pattern, or add {field} to the keys of the entities that have it",
        )
    first, *others = entities
    for other in others:
        if (first.fields[field].attribute, stored_field(first, field).form) != (
            other.fields[field].attribute,
            stored_field(other, field).form,
        ):
            raise Problem(
                f"{first.name} and {other.name} store {field} in different attributes or formats, so one filter can't "
                "apply to both",
                "read each entity with its own access pattern",
            )
    return first


def _constant(
    entity: CompiledEntity, field: str, wanted: Any, names: dict[str, str], values: dict[str, dict[str, Any]]
) -> str:
    attribute = entity.fields[field].attribute
    name = placeholder_of(attribute, names)
    stored: list[str] = []
    clauses: list[str] = []
    for value in values_asked(wanted):
        encoded = _encoded(entity, entity.fields[field], value)
        placeholder = f":w{len(values)}"
        values[placeholder] = encoded or _NULL
        if encoded is None:
            clauses += [f"attribute_not_exists({name})", f"{name} = {placeholder}"]
        else:
            stored.append(placeholder)
    if len(stored) > IN_OPTIONS_MAX:
        raise Problem(f"where= compares {field} with {len(stored)} values; DynamoDB allows at most {IN_OPTIONS_MAX}")
    if stored:
        clauses.append(f"{name} = {stored[0]}" if len(stored) == 1 else f"{name} IN ({', '.join(stored)})")
    return clauses[0] if len(clauses) == 1 else f"({' OR '.join(clauses)})"


def _check_parameters(text: str, operands: Iterable[Operand], signature: Signature) -> None:
    unknown = sorted({element.name for element in operands} - signature.by_name.keys())
    if unknown:
        raise Problem(f"where= uses :{', :'.join(unknown)}, which isn't a parameter")
    for operand in operands:
        parameter = signature.by_name[operand.name]
        why = _why_not(operand, parameter)
        if why is not None:
            raise Problem(f"where={text!r} compares with :{parameter.name}: {why[0]}", why[1])


def _why_not(operand: Operand, parameter: Parameter) -> tuple[str, str] | None:
    match parameter.kind:
        case ParameterKind.RANGE:
            return "a Range isn't a single value", "declare one parameter for each bound"
        case ParameterKind.CURSOR | ParameterKind.LIMIT | ParameterKind.DIRECTION:
            return f"{parameter.name} sets the limit, cursor or order of the read", "compare with another parameter"
        case ParameterKind.EACH if not operand.alone:
            return "an Each parameter contains several values", f"write: field IN (:{parameter.name})"
        case _:
            pass
    if is_optional(parameter.annotation) and not all(target.keeps_null for target in operand.targets):
        return "the parameter can be None, which equals no stored value", "add an access pattern without the parameter"
    why = operand.why_not(parameter.value_type)
    return None if why is None else (why, "give the parameter the type of the field")


def _filter_value(operand: Operand, parameter: Parameter) -> FilterValue:
    target = operand.targets[0]
    many = parameter.kind is ParameterKind.EACH
    return FilterValue(parameter.name, target.encoder(parameter.value_type), target.tag or "S", many)
