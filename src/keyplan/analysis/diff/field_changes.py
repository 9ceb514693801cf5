"""Changes of an entity's fields, and whether the new design reads the same values from existing items.

Types are compared by their JSON schemas, so two enums or nested models from different files are the same type if they
accept the same values.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable, Iterator
from typing import Any, cast

from pydantic import BaseModel, TypeAdapter, ValidationError
from pydantic.errors import PydanticInvalidForJsonSchema, PydanticSchemaGenerationError

from keyplan.analysis.diff.changes import Change, Severity, api, breaking, migration, safe
from keyplan.model.compiled.operands import stored_field
from keyplan.model.compiled.signatures import type_name
from keyplan.model.declared.fields import kind_of
from keyplan.model.declared.stored_as import StoredAs
from keyplan.model.source_code import parsed
from keyplan.model.stored.field_codec import plain
from keyplan.model.stored.pydantic_values import holds, stored_name
from keyplan.model.stored.stored_entity import CompiledEntity
from keyplan.model.stored.stored_fields import StoredField

_SETS = (set, frozenset)
_LIMITS = (
    (1, ("minimum", "exclusiveMinimum")),
    (-1, ("maximum", "exclusiveMaximum")),
    (1, ("minLength",)),
    (-1, ("maxLength",)),
    (1, ("minItems",)),
    (-1, ("maxItems",)),
)
"""Limits of a JSON schema: 1 for lower limits, -1 for upper limits. The second name of a pair is an exclusive limit."""
_INNER = ("items", "additionalProperties", "properties", "required")
"""Members of a JSON schema that describe the content of a value."""


def field_changes(place: str, before: CompiledEntity, after: CompiledEntity) -> Iterator[Change]:
    olds = {name: field for name, field in before.fields.items() if not field.computed}
    news = {name: field for name, field in after.fields.items() if not field.computed}
    by_attribute = {field.attribute: field for name, field in olds.items() if name not in news}
    for name, field in news.items():
        where = f"{place}.{name}"
        old = olds.get(name) or by_attribute.pop(field.attribute, None)
        if old is None:
            yield _added(where, field, before, after)
            continue
        if old.name != name:
            what = f"renamed from {old.name}; the attribute is still {field.attribute}"
            yield api("field-renamed", where, what, "items are unaffected; code must use the new name")
        elif old.attribute != field.attribute:
            yield _moved(where, old, field, _held_in_keys(name, before, after), after)
        yield from _form_changes(where, old, field, after)
        yield from _nested_alias_changes(where, old, field, after)
        narrowed = list(_type_changes(where, old, field, after))
        yield from narrowed
        yield from _stored_type_changes(where, old, field, before, after)
        if not any(change.severity is Severity.BREAKING for change in narrowed):
            yield from _spelling_changes(where, old, field, after)
        yield from _default_changes(where, old, field, before, after)
    kept = {new.attribute for new in news.values()}
    for name, field in olds.items():
        if name not in news and field.attribute not in kept:
            what = f"the field of type {type_name(field.annotation)} is removed"
            effect = f"existing items keep the attribute {field.attribute}, which isn't read, until they are put again"
            yield safe("field-removed", f"{place}.{name}", what, effect)


def _added(place: str, field: StoredField, before: CompiledEntity, after: CompiledEntity) -> Change:
    what = f"a new field of type {type_name(field.annotation)}"
    if field.made_anew:
        effect = "existing items get a new default at each read, and Add, Append, SetAdd and SetRemove fail on them"
        action = f"give the field a fixed default; or {_stored(field.name, after)}"
        return migration("field-added", place, what, effect, action)
    if not after.cls.model_fields[field.name].is_required():
        kind = kind_of(field.annotation)
        if field.default is not None and isinstance(kind, type) and issubclass(kind, (dict, BaseModel)):
            effect = "in existing items, the field has its default, but updates of a part of the field (.at) fail"
            return migration("field-added", place, what, effect, _stored(field.name, after))
        return safe("field-added", place, what, "in existing items, the field has its default")
    if field.optional or kind_of(field.annotation) in _SETS:
        empty = "None" if field.optional else "empty"
        return safe("field-added", place, what, f"in existing items, the field is {empty}")
    keys = _held_in_keys(field.name, before, after)
    if keys:
        return migration("field-added", place, what, _in_key(keys[0]), copied(after))
    what = f"{what}, without a default"
    effect = "existing items lack the field, so they can't be read (InvalidItemError)"
    action = "add a default, or write a value to every item before the new code runs"
    return breaking("field-required", place, what, effect, action)


def _stored(name: str, entity: CompiledEntity) -> str:
    code = f'design.update(Update(item, {name}=item.{name}).only_if("attribute_not_exists({name})"))'
    return f"read each {entity.name} and write the field: `{code}` (the update fails if the item already has it)"


def _in_key(key: str) -> str:
    return f"reads of existing items get the field from the key {key}, but conditions on the field don't match them"


def copied(entity: CompiledEntity, *, is_moved: bool = False) -> str:
    """How to read items with the old design and write them with the new. ``is_moved``: the primary key changes."""
    code = f"{entity.name}.model_validate(item.model_dump(round_trip=True), by_name=True)"
    if entity.claims:
        code = f"made = {code}; old.delete(item); new.create(made)"  # made first: an invalid item isn't deleted
    else:
        code = f"new.create({code}); old.delete(item)" if is_moved else f"new.put({code})"
    restored = "; if the create fails, create the item again with the old design" if entity.claims else ""
    return f"read each {entity.name} with the old design and write it with the new design: `{code}`{restored}"


def _held_in_keys(name: str, before: CompiledEntity, after: CompiledEntity) -> list[str]:
    """The keys of existing items that contain the whole value of the field."""
    known = {str(template) for key in before.keys for _, template in key.attributes}
    return [
        key.name
        for key in after.keys
        if (key is after.primary or not key.when)
        and all(str(template) in known for _, template in key.attributes)
        and any(
            variable.field == name and variable.format.exact
            for _, template in key.attributes
            for variable in template.variables
        )
    ]


def _moved(place: str, old: StoredField, new: StoredField, keys: list[str], after: CompiledEntity) -> Change:
    what = f"the field was stored as {old.attribute}, and is now stored as {new.attribute}"
    if keys:
        return migration("attribute-renamed", place, what, _in_key(keys[0]), copied(after))
    reads = "can't be read" if new.required and not new.optional else "are read with the default"
    effect = f"existing items have the old attribute, which the new code doesn't read, so they {reads}"
    action = f"keep the alias {old.attribute}; or before the new code runs, {copied(after)}"
    return breaking("attribute-renamed", place, what, effect, action)


def _nested_alias_changes(place: str, old: StoredField, new: StoredField, after: CompiledEntity) -> Iterator[Change]:
    """Changed aliases of fields in nested models. A field that is stored under its own name can still be read."""
    olds, news = _nested_names(old.annotation), _nested_names(new.annotation)
    moved = [(name, olds[name], stored) for name, stored in news.items() if olds.get(name, stored) != stored]
    if not moved:
        return
    breaks = any(was not in {name.rpartition(".")[2], stored} for name, was, stored in moved)
    what = "; ".join(f"{name} was stored as {was}, and is now stored as {stored}" for name, was, stored in moved)
    if breaks:
        action = f"before the new code runs, {copied(after)}"
        yield breaking("nested-alias-changed", place, what, "existing items can't be read", action)
        return
    effect = "existing items can be read, but conditions and filters on the nested field don't match the old name"
    action = f"read each {after.name} and write the field: `design.update(item, {new.name}=item.{new.name})`"
    yield migration("nested-alias-changed", place, what, effect, action)


def _nested_names(annotation: Any) -> dict[str, str]:
    found: dict[str, str] = {}

    def collect(part: Any) -> bool:
        if isinstance(part, type) and issubclass(part, BaseModel):
            found.update(
                {f"{part.__name__}.{name}": stored_name(name, info) for name, info in part.model_fields.items()}
            )
        return False

    holds(annotation, collect)
    return found


# Stored formats


def _form_changes(place: str, old: StoredField, new: StoredField, after: CompiledEntity) -> Iterator[Change]:
    before, now = (None if field.codec is None else field.codec.mark for field in (old, new))
    if _form(before) == _form(now):
        return
    if before is not None and now is not None and before.write is not None and now.write is not None:
        what = "the functions that write and read the field have changed"
        effect = "the new functions may not be able to read existing values"
        action = f"if the new functions can't read existing values, {copied(after)}"
        yield migration("stored-form-changed", place, what, effect, action)
        return
    what = f"the field was stored {_as(before)}, and is now stored {_as(now)}"
    effect = "existing values, including those in keys, have the old format: reads fail or return other values"
    action = f"before the new code runs, {copied(after)}"
    yield breaking("stored-form-changed", place, what, effect, action)


_TYPE_NAMES = {"S": "a string", "N": "a number", "B": "binary", "BOOL": "a Boolean", "L": "a list", "M": "a map"}


def _stored_type_changes(
    place: str, old: StoredField, new: StoredField, before: CompiledEntity, after: CompiledEntity
) -> Iterator[Change]:
    """A change of the DynamoDB type for the same values, such as from a set to a list."""
    if old.codec is not None or new.codec is not None:
        return  # _form_changes reports a changed stored format
    was, now = stored_field(before, old.name), stored_field(after, new.name)
    if was.tag is None or now.tag is None or was.tag == now.tag or "B" in {was.tag, now.tag}:
        return  # a string that is read as bytes can be another value, so no recipe is right
    what = f"the stored type was {_TYPE_NAMES.get(was.tag, was.tag)}, and is now {_TYPE_NAMES.get(now.tag, now.tag)}"
    effect = (
        "reads accept the old type if the value can be converted, but conditions, filters, indexes and time to live "
        "don't match it, and Add, Append, SetAdd and SetRemove fail on existing items"
    )
    action = f"read each {after.name} and write the field: `design.update(item, {new.name}=item.{new.name})`"
    yield migration("stored-type-changed", place, what, effect, action)


_SPELLINGS = ("Ada", "ada@Example.COM", " Ada ", "ada  ", "ADA")
"""Strings that a type may convert to lower case, or strip."""


def _spelling_changes(place: str, old: StoredField, new: StoredField, after: CompiledEntity) -> Iterator[Change]:
    """Changes of how a type normalizes strings: case and spaces."""
    differing = next(((text, *both) for text in _SPELLINGS if len(set(both := _both_spelt(text, old, new))) > 1), None)
    if differing is None:
        return
    keys = [key for key in (*after.keys, *after.claims) if new.name in after.inputs_of(key)]
    what = f"{differing[0]!r} was normalized to {differing[1]!r}, and is now normalized to {differing[2]!r}"
    if not keys:
        effect = "reads normalize existing values, but conditions and filters compare the values as they are stored"
        yield safe("spelling-changed", place, what, effect)
        return
    primary = after.primary in keys
    severity = Severity.BREAKING if primary else Severity.MIGRATION
    names = " and ".join(key.name for key in keys)
    effect = f"existing items have the old value in {names}, so reads with the new value don't find them"
    action = f"before the new code runs, {copied(after, is_moved=primary)}"
    yield Change(severity, "spelling-changed", place, what, effect, action)


def _both_spelt(text: str, old: StoredField, new: StoredField) -> tuple[str, ...]:
    try:
        return tuple(str(TypeAdapter[Any](field.annotation).validate_python(text)) for field in (old, new))
    except (ValidationError, PydanticSchemaGenerationError):
        return ()


def _form(mark: StoredAs | None) -> object:
    """A stored format that can be compared: functions are replaced with their source code."""
    if mark is None:
        return None
    return mark.form, mark.layout, source_text(mark.write), source_text(mark.read)


def source_text(function: Callable[..., Any] | None) -> str | None:
    """The source code of a function, without comments; the function's name if the source can't be read."""
    if function is None:
        return None
    try:
        text = textwrap.dedent(inspect.getsource(function)).strip()
    except (OSError, TypeError):
        return str(getattr(function, "__qualname__", repr(function)))
    try:
        return ast.unparse(parsed(text))  # without comments and formatting
    except SyntaxError:  # a lambda in a longer expression isn't a statement
        return text


def _as(mark: StoredAs | None) -> str:
    return "in the format of its type" if mark is None else f"as {mark}"


# Types


def _type_changes(place: str, old: StoredField, new: StoredField, after: CompiledEntity) -> Iterator[Change]:
    if old.annotation == new.annotation:
        return
    before, now = _schema(old.annotation), _schema(new.annotation)
    if before == now:
        return
    name, new_name = type_name(old.annotation), type_name(new.annotation)
    types = f"the type was {name}, and is now {new_name}"
    narrower = list(_narrower(before, now))
    if not narrower:
        what = types if name != new_name else f"the type accepts more values than the previous {name}"
        yield safe("type-widened", place, what, "all stored values are still valid")
        return
    has_default = not after.cls.model_fields[new.name].is_required()
    if narrower == [_NOTHING] and has_default:
        effect = "items without a value are read with the default"
        yield safe("type-narrowed", place, types, effect)
        return
    what = types if name != new_name else f"the type accepts fewer values than the previous {name}"
    effect = f"existing items with one of these invalid values can't be read: {'; '.join(narrower)}"
    action = "count such items with keyplan drift --items and the new design, and correct them before the new code runs"
    yield breaking("type-narrowed", place, what, effect, action)


_NOTHING = "None"


def _schema(annotation: Any) -> dict[str, Any]:
    try:
        result = TypeAdapter(annotation).json_schema(by_alias=False)
    except (PydanticInvalidForJsonSchema, PydanticSchemaGenerationError, TypeError):
        return {"type": type_name(annotation)}
    return cast("dict[str, Any]", _resolved(result, result.get("$defs", {}), 0))


def _resolved(schema: Any, definitions: dict[str, Any], depth: int) -> Any:
    """The schema with its definitions inlined, and without titles and descriptions."""
    if isinstance(schema, list):
        return [_resolved(value, definitions, depth) for value in schema]
    if not isinstance(schema, dict):
        return schema
    reference = schema.get("$ref")
    if isinstance(reference, str) and depth < 8:  # a type may contain itself
        return _resolved(definitions.get(reference.rpartition("/")[2], {}), definitions, depth + 1)
    left_out = {"title", "description", "$defs", "default"}
    result = {name: _resolved(value, definitions, depth) for name, value in schema.items() if name not in left_out}
    if "enum" in schema:  # the order matters only in keys with :rank, which _moved_ranks compares
        result["enum"] = sorted(schema["enum"], key=repr)
    if "properties" in schema:  # a property may be named "title"
        members = schema["properties"].items()
        result["properties"] = {name: _resolved(value, definitions, depth) for name, value in members}
    return result


def _branches(schema: dict[str, Any]) -> tuple[list[dict[str, Any]], bool]:
    """The alternatives of a type, and whether None is one of them."""
    every = schema.get("anyOf", [schema])
    types = [value for value in every if value.get("type") != "null"]
    return types, len(types) < len(every)


def _narrower(before: dict[str, Any], now: dict[str, Any]) -> Iterator[str]:
    """The values that are no longer valid, in words; empty for a wider type."""
    olds, was_optional = _branches(before)
    news, is_optional = _branches(now)
    if was_optional and not is_optional:
        yield _NOTHING
    for old in olds:
        alike = [new for new in news if _same_kind(old, new)]
        lost = [list(_lost_of(old, new)) for new in alike]
        if old not in news and {} not in news and all(lost):
            yield from lost[0] if lost else [f"values of type {_kind(old) or old}"]


def _same_kind(before: dict[str, Any], now: dict[str, Any]) -> bool:
    kinds = (_kind(before), _kind(now))
    return kinds[0] == kinds[1] or kinds == ("integer", "number")


def _kind(schema: dict[str, Any]) -> object:
    if schema.get("format") == "binary":
        return "bytes"
    if "type" in schema:
        return schema["type"]
    values = schema.get("enum", [schema["const"]] if "const" in schema else [])
    return "string" if values and all(isinstance(value, str) for value in values) else None


def _lost_of(before: dict[str, Any], now: dict[str, Any]) -> Iterator[str]:
    """The values of one type that another of the same kind rejects."""
    old_values, new_values = _values(before), _values(now)
    if new_values is not None:
        if old_values is None:
            yield f"values other than {', '.join(map(repr, new_values))}"
        elif set(map(repr, old_values)) - set(map(repr, new_values)):
            yield ", ".join(repr(value) for value in old_values if value not in new_values)
    for sign, names in _LIMITS:
        old, new = (
            max([(sign * each[name], at) for at, name in enumerate(names) if each.get(name) is not None], default=None)
            for each in (before, now)
        )
        if new is not None and (old is None or new > old):
            yield f"values beyond the new {names[new[1]]} ({now[names[new[1]]]})"
    yield from _lost_within(before, now)
    handled = {*(name for _, names in _LIMITS for name in names), *_INNER, "enum", "const", "type"}
    for name in sorted(now.keys() - handled):
        if before.get(name) != now[name]:
            yield f"values that don't fit the new {name}"


def _lost_within(before: dict[str, Any], now: dict[str, Any]) -> Iterator[str]:
    """The elements and members of one type that another rejects."""
    for name, what in (("items", "elements"), ("additionalProperties", "members")):
        inner = now.get(name, {})
        if isinstance(inner, dict) and inner:
            outer = before.get(name, {})
            lost = _narrower(outer, inner) if isinstance(outer, dict) and outer else [f"all except {_kind(inner)}"]
            yield from (f"{what}: {text}" for text in lost)
    olds, news = before.get("properties", {}), now.get("properties", {})
    for name, value in news.items():
        if name in olds:
            yield from (f"{name}: {lost}" for lost in _narrower(olds[name], value))
    for name in now.get("required", []):
        if name not in before.get("required", []):
            yield f"values without {name}"
    if now.get("additionalProperties") is False:
        yield from (f"values with {name}" for name in olds if name not in news)


def _values(schema: dict[str, Any]) -> list[Any] | None:
    result: list[Any] | None = schema.get("enum", [schema["const"]] if "const" in schema else None)
    return result


# Defaults


def _default_changes(
    place: str, old: StoredField, new: StoredField, before: CompiledEntity, after: CompiledEntity
) -> Iterator[Change]:
    """Changes of the value that a read returns for an item without the attribute."""
    was, now = before.cls.model_fields[old.name], after.cls.model_fields[new.name]
    if now.is_required():
        # A change to a type without None is reported as a type change
        if was.is_required() or new.optional or old.optional or kind_of(new.annotation) in _SETS:
            return
        what = "the default is removed"
        effect = "items written since the field was added have a value; older items can't be read"
        yield safe("default-removed", place, what, effect)
        return
    if new.made_anew:
        if old.made_anew:
            return
        what = "the default is now computed by a function"
        effect = "items without a value get a different default at each read"
        action = f"give the field a fixed default; or {_stored(new.name, after)}"
        yield migration("default-changed", place, what, effect, action)
        return
    default, other = plain(_read_as(old)), plain(_read_as(new))
    if default == other:
        return
    kept_nothing = not old.keeps_null and (old.optional or kind_of(old.annotation) in _SETS)
    if not kept_nothing and old.required:
        return  # every item has a value
    what = f"the default is {other!r}" if was.is_required() else f"the default was {default!r}, and is now {other!r}"
    effect = "items written before the field was added are read with the new default; later items have a value"
    if not kept_nothing:
        yield safe("default-changed", place, what, effect)
        return
    nothing = "None" if old.optional else "empty"
    effect = f"items in which the field was {nothing} don't store the field, and are read with the new default"
    action = f"to keep {nothing}, before the new code runs, {copied(after)}"
    yield migration("default-changed", place, what, effect, action)


def _read_as(field: StoredField) -> Any:
    """The value that a read returns for a field without a stored value."""
    if field.required and kind_of(field.annotation) in _SETS and not field.optional:
        return []
    return field.default
