"""Typical items: instances of entities that are generated from the declarations, and their sizes.

The length of a value comes from its type if the type has a fixed length (a timestamp, a UUID, a ULID), or from the
traffic file, or from the field's examples or default. Otherwise the length is assumed from the field's name. Each size
records its source.
"""

from __future__ import annotations

import enum
from collections.abc import Generator, Iterable, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from pydantic import ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from keyplan.analysis.traffic.traffic_file import Filling, StoredItems, combinations, constants_of
from keyplan.dynamodb import values
from keyplan.errors import KeyplanError
from keyplan.model.compiled.compiled_design import CompiledDesign
from keyplan.model.compiled.item_sizes import FieldSize, ItemSizes, entry_bytes
from keyplan.model.declared import example_values
from keyplan.model.declared.declaration_errors import Problem
from keyplan.model.declared.entity import Entity
from keyplan.model.declared.fields import is_optional, kind_of, ulid
from keyplan.model.stored.key_formats import IntegerFormat
from keyplan.model.stored.stored_entity import CompiledEntity
from keyplan.model.stored.stored_fields import StoredField
from keyplan.model.stored.stored_keys import CompiledKey

GIVEN = "the traffic file"
EXAMPLE = "its example"
DEFAULT = "its default"

ULID_BYTES = 26


@contextmanager
def _none_where_refused(entity: CompiledEntity) -> Generator[None]:
    """Raise Problem if a typical item is rejected, for example, because a key is too long."""
    try:
        yield
    except KeyplanError as error:
        raise Problem(f"no typical {entity.name} item can be generated: {error.message}", error.hint) from None


class Typical:
    """Generates typical instances and items. ``stored``: sizes by entity. ``filling``: fields to set or omit."""

    def __init__(
        self, design: CompiledDesign, stored: Mapping[str, StoredItems] | None = None, filling: Filling | None = None
    ) -> None:
        self.design = design
        self._filling: Filling = filling or {}
        self._mixtures: dict[frozenset[str], list[tuple[float, Typical]]] = {}
        self._stored = {name: (stored or {}).get(name, StoredItems()) for name in design.by_name}
        infos = (pair for cls in design.entities for pair in cls.model_fields.items())
        self._ulids = {name for name, info in infos if info.default_factory is ulid}
        self._instances: dict[tuple[str, int], Entity] = {}
        self._sources: dict[str, dict[str, example_values.TypicalValue]] = {}
        self._sizes: dict[str, ItemSizes] = {}

    def instance(self, entity: CompiledEntity, known: Mapping[str, Any] | None = None, serial: int = 0) -> Entity:
        """A typical instance with the values in ``known``; ``serial`` distinguishes instances. Raises Problem."""
        result = self._instances.get((entity.name, serial))
        if result is None:
            result = self._instances[entity.name, serial] = self._made(entity, serial)
        own = {name: value for name, value in (known or {}).items() if name in entity.cls.model_fields}
        if not own:
            return result
        try:
            return entity.cls.model_validate({**entity.own_values(result), **own}, by_name=True)
        except ValidationError:
            return result.model_copy(update=own)

    def mixture(self, names: Iterable[str]) -> list[tuple[float, Typical]]:
        """A weight and a ``Typical`` for each combination of the entities' fields that have a share in ``filled``."""
        wanted = frozenset(names)
        result = self._mixtures.get(wanted)
        if result is None:
            places = ((name, field) for name in sorted(wanted) for field in self._stored[name].filled)
            open_ = [place for place in places if place not in self._filling]
            shares = [((name, field), self._stored[name].filled[field]) for name, field in open_]
            result = [
                (weight, Typical(self.design, self._stored, {**self._filling, **filling}) if filling else self)
                for weight, filling in combinations(shares)
            ]
            self._mixtures[wanted] = result
        return result

    def of_size(self, names: Iterable[str], item_bytes: int) -> Typical:
        """A copy in which the items of the entities ``names`` have ``item_bytes``."""
        sized = {name: replace(self._stored[name], item_bytes=item_bytes) for name in names}
        return Typical(self.design, {**self._stored, **sized}, self._filling)

    def item(self, instance: Entity) -> dict[str, dict[str, Any]]:
        """The stored item of an instance, resized to the size in the traffic file. Raises KeyplanError."""
        entity = self.design.entities[type(instance)]
        item = entity.to_item(instance)
        stored = self._stored[entity.name]
        keys = {key_attribute.name for key in entity.keys for key_attribute, _ in key.attributes}
        for name, size in stored.fields.items():
            attribute = entity.fields[name].attribute
            if attribute in item and attribute not in keys:
                item[attribute] = _filled(item[attribute], size)
        if stored.item_bytes is not None:
            self._stretch(entity, item, keys, stored.item_bytes)
        return item

    def sizes(self, entity: CompiledEntity) -> ItemSizes:
        if entity.name not in self._sizes:
            self._sizes[entity.name] = self._measured(entity)
        return self._sizes[entity.name]

    def entries(self, entity: CompiledEntity, known: Mapping[str, Any]) -> Mapping[str, int]:
        """The bytes of a typical item's entry in each index. ``known``: values of fields. Raises Problem."""
        instance = self.instance(entity, known)
        with _none_where_refused(entity):
            return entry_bytes(self.design.table, self.item(instance))

    def claim_bytes(self, entity: CompiledEntity, claim: CompiledKey) -> int | None:
        """The bytes of a typical claim item; None if a typical item doesn't have the claim. Raises Problem."""
        known = entity.field_values(self.instance(entity))
        with _none_where_refused(entity):
            return values.item_size(entity.claim_item(claim, known)) if claim.member(known) else None

    def _measured(self, entity: CompiledEntity) -> ItemSizes:
        instance = self.instance(entity)
        with _none_where_refused(entity):
            item = self.item(instance)
        there = (field for field in entity.fields.values() if field.attribute in item)
        fields = tuple(self._field_size(entity, field, item) for field in there)
        size = values.item_size(item)
        of_fields = sum(field.size_bytes for field in fields)
        return ItemSizes(entity.name, size, fields, size - of_fields, entry_bytes(self.design.table, item))

    def _field_size(self, entity: CompiledEntity, field: StoredField, item: Mapping[str, Any]) -> FieldSize:
        size = values.item_size({field.attribute: item[field.attribute]})
        stored = self._stored[entity.name]
        if field.name in stored.fields:
            return FieldSize(field.name, field.attribute, size, GIVEN, exact=False)
        value = self._sources[entity.name].get(
            field.name, example_values.TypicalValue(None, example_values.TYPE, exact=True)
        )
        stretched = stored.item_bytes is not None and not value.exact
        return FieldSize(field.name, field.attribute, size, GIVEN if stretched else value.source, exact=value.exact)

    def _stretch(self, entity: CompiledEntity, item: dict[str, Any], keys: set[str], size_bytes: int) -> None:
        """Set the item's size to ``size_bytes`` by resizing the longest string that isn't in a key."""
        strings = (field.attribute for field in entity.fields.values() if kind_of(field.annotation) is str)
        texts = [name for name in strings if name not in keys and "S" in item.get(name, ())]
        if not texts:
            return
        longest = max(texts, key=lambda name: values.value_size(item[name]))
        wanted = values.value_size(item[longest]) + size_bytes - values.item_size(item)
        item[longest] = _filled(item[longest], max(0, wanted))

    def _made(self, entity: CompiledEntity, serial: int) -> Entity:
        chosen = {name: self._field(entity, name, info, serial) for name, info in entity.cls.model_fields.items()}
        self._sources.setdefault(entity.name, chosen)
        result = {name: value.value for name, value in chosen.items()}
        try:
            return example_values.valid_instance(entity.cls, result)
        except ValidationError as error:
            raise _no_value(entity, str(error.errors(include_url=False)[0]["msg"])) from None
        except Problem as problem:
            raise _no_value(entity, str(problem)) from None

    def _field(self, entity: CompiledEntity, name: str, info: FieldInfo, serial: int) -> example_values.TypicalValue:
        annotation = entity.fields[name].annotation
        given = self._stored[entity.name].fields.get(name)
        kind = kind_of(annotation)
        there = self._filling.get((entity.name, name))
        decided = None if there is None else _decided(entity, name, info, there=there)
        if decided is not None:
            return decided
        sparse = any(None in key.when.get(name, ()) for key in entity.index_keys)
        if sparse and there is None and given is None and info.default is None:
            # The index contains the items without the field, which usually are most items
            return example_values.TypicalValue(None, DEFAULT, exact=True)
        if given is not None and kind is str and not example_values.choices_of(annotation):
            return example_values.TypicalValue(example_values.text_of(max(given, 1), serial, name), GIVEN)
        if info.examples:
            return example_values.TypicalValue(info.examples[serial % len(info.examples)], EXAMPLE)
        if info.default_factory is ulid or (kind is str and name in self._ulids):
            return example_values.TypicalValue(
                example_values.text_of(ULID_BYTES, serial, name), example_values.TYPE, exact=True
            )
        default = info.default
        if isinstance(default, str | enum.Enum) and default:
            choices = example_values.choices_of(annotation)
            value = default if choices or isinstance(default, enum.Enum) else example_values.varied(default, serial)
            exact = example_values.of_one_length(annotation)
            return example_values.TypicalValue(
                value, example_values.TYPE if exact else example_values.CHOICE if choices else DEFAULT, exact=exact
            )
        if kind is str and name.endswith("_id") and self._ulids and not example_values.choices_of(annotation):
            return example_values.TypicalValue(example_values.text_of(ULID_BYTES, serial, name), example_values.ASSUMED)
        typical_value = example_values.typical(annotation, name, serial)
        if kind is int and not typical_value.exact:
            return typical_value._replace(value=min(typical_value.value, _most_in_keys(entity, name) - serial))
        return typical_value


def _decided(entity: CompiledEntity, name: str, info: FieldInfo, *, there: bool) -> example_values.TypicalValue | None:
    """The value of a field with a share; None if any typical value is suitable. Raises Problem."""
    annotation = entity.fields[name].annotation
    constants = constants_of(entity, name)
    if there:
        return example_values.TypicalValue(constants[0][0], example_values.CHOICE) if constants else None
    if is_optional(annotation):
        return example_values.TypicalValue(None, DEFAULT, exact=True)
    if not constants:
        return None  # no key depends on the field, so any value is suitable
    others = (True, False) if kind_of(annotation) is bool else (info.default, *example_values.choices_of(annotation))
    for value in (*others, example_values.typical(annotation, name, 0).value):
        stored = value.value if isinstance(value, enum.Enum) else value
        if value is not PydanticUndefined and value is not None and not {value, stored} & {*constants[0]}:
            return example_values.TypicalValue(value, example_values.CHOICE)
    raise Problem(f"{entity.name}.{name} accepts only values in when= of a key", f"remove {name} from filled")


def _most_in_keys(entity: CompiledEntity, name: str) -> int:
    """The largest integer that fits into all keys with the field."""
    widths = [
        variable.format.width
        for key in entity.keys
        for _, template in key.attributes
        for variable in template.variables
        if variable.field == name and isinstance(variable.format, IntegerFormat) and variable.format.width is not None
    ]
    return int(10 ** min(widths, default=38)) - 1


def _no_value(entity: CompiledEntity, why: str) -> Problem:
    return Problem(f"no typical {entity.name} can be generated: {why}", "add examples: Field(examples=[...])")


def _filled(value: Mapping[str, Any], size_bytes: int) -> dict[str, Any]:
    """The value resized to ``size_bytes``, with the same start, so that different values stay different."""
    if values.value_size({**value}) == size_bytes:
        return {**value}
    ((_, content),) = value.items()
    text = content if isinstance(content, str) else repr(content)
    shown = text.encode()[:size_bytes].decode(errors="ignore")
    return {"S": shown + "x" * (size_bytes - len(shown.encode()))}
