"""Reject names that pydantic or an opened design uses, duplicate names, and methods that are probably patterns without
a decorator.

Names that DynamoDB reserves are allowed, because expressions use placeholders for all names.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from types import FunctionType
from typing import Any

from pydantic import AliasChoices, BaseModel

from keyplan.model.compiled.operands import stored_tag
from keyplan.model.declared.declaration_errors import Problem
from keyplan.model.declared.entity import Entity
from keyplan.model.declared.fields import TOKENS, TTL, VERSION, kind_of, marks_of
from keyplan.model.declared.keys import Discriminator, Key, Unique
from keyplan.model.declared.patterns import Pattern
from keyplan.model.declared.table import Table
from keyplan.model.source_code import definition_of
from keyplan.model.stored.stored_fields import StoredField

_OPENED = frozenset({"aio", "compiled", "table", "_answers", "_store", "_verbs"})
"""Attributes of an opened design that its class doesn't have."""
_PYDANTIC = frozenset(name for name in dir(BaseModel) if name.startswith("model_")) - {"model_config"}


def pattern_problem(cls: type[Any], name: str) -> Problem | None:
    taken = any(name in vars(base) and not isinstance(vars(base)[name], Pattern) for base in cls.__mro__[1:])
    if not taken and name not in _OPENED:
        return None
    return Problem(f"{name} is already an attribute of the design", "rename the access pattern")


def forgotten_problems(cls: type[Any]) -> Iterator[tuple[str, Problem]]:
    """Problems of methods with a return annotation but without a body, which probably lack a decorator."""
    members = {name: value for base in reversed(cls.__mro__) for name, value in vars(base).items()}
    for name, value in members.items():
        if isinstance(value, FunctionType) and _promises(value) and _has_no_body(value):
            yield (
                name,
                Problem(
                    "the method has no body and isn't declared as an access pattern, so it would return None",
                    'decorate the method with @read("R1"), or add a body',
                ),
            )


def _has_no_body(function: FunctionType) -> bool:
    definition = None if function.__code__.co_names else definition_of(function)
    return definition is not None and all(
        isinstance(node, ast.Pass) or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))
        for node in definition.body
    )


def _promises(function: FunctionType) -> bool:
    given = function.__annotations__.get("return")
    return not (given is None or given == "None" or getattr(function, "__isabstractmethod__", False))


def entity_problems(cls: type[Entity]) -> Iterator[tuple[str, Problem]]:
    for base in cls.__mro__[: cls.__mro__.index(Entity)]:
        annotated = vars(base).get("__annotations__", {})
        for name in _PYDANTIC & {*annotated, *vars(base)}:
            if name in annotated or isinstance(vars(base).get(name), Key | Unique | Discriminator):
                hint = f'use another name; to store a field under this name, use Field(alias="{name}")'
                yield name, Problem(f"{name} is reserved by pydantic", hint)

    yield from _ambiguous_aliases(cls)


def _ambiguous_aliases(cls: type[Entity]) -> Iterator[tuple[str, Problem]]:
    """Fields whose alias is another field's name: an instance created by names would confuse them."""
    fields = cls.__pydantic_fields__  # like model_fields, which a Key of that name would hide
    for name, info in fields.items():
        given = info.validation_alias or info.alias
        choices = given.choices if isinstance(given, AliasChoices) else [given]
        for alias in (choice for choice in choices if isinstance(choice, str)):
            if alias != name and alias in fields:
                what = f"the alias {alias} is also a field name: {cls.__name__}({alias}=...) would be ambiguous"
                yield name, Problem(what, f"rename the field {alias}; to keep the stored name, give the field an alias")


def attribute_problems(fields: Iterable[StoredField], table: Table) -> Iterator[tuple[str, Problem]]:
    owners: dict[str, str] = {}
    marked: dict[str, str] = {}
    types = table.attribute_types
    for field in fields:
        for mark in marks_of(field.annotation) & {TTL.name, TOKENS.name, VERSION.name}:
            first = marked.setdefault(mark, field.name)
            if first != field.name:
                what = f"{first} is already the entity's {mark} field"
                yield field.name, Problem(what, f"remove {mark} from one of the fields")
        if field.problem is not None:
            yield field.name, field.problem
        other = owners.setdefault(field.attribute, field.name)
        if other != field.name:
            what = f"{other} is also stored in {field.attribute}: one field would overwrite the other"
            yield field.name, Problem(what, "give the fields different aliases")
        wanted = types.get(field.attribute)
        tag = "N" if TTL.name in marks_of(field.annotation) else field.key_type or stored_tag(field.annotation)
        if field.codec is not None:
            tag = field.codec.tag
        if wanted is not None and tag is not None and tag != wanted:
            what = (
                f"the field is stored in {field.attribute}, which is a key attribute of type {wanted}, but "
                f"{getattr(kind_of(field.annotation), '__name__', 'its type')} is stored as {tag}: DynamoDB would "
                "reject each item"
            )
            yield field.name, Problem(what, "give the field an alias that isn't a key attribute")
