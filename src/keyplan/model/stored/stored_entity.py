"""An entity compiled for a table.

A compiled entity writes instances as items, reads items as instances, and recognizes its items by their keys.
``stored_keys`` and ``key_templates`` implement keys; the client builds requests.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from copy import copy
from datetime import datetime
from decimal import Decimal
from functools import cached_property
from typing import Any, cast

from pydantic import BaseModel, TypeAdapter, ValidationError, create_model

from keyplan.dynamodb import values
from keyplan.dynamodb.limits import ITEM_BYTES_MAX
from keyplan.errors import (
    ArgumentError,
    ErrorDetail,
    InvalidItemError,
    ItemTooLarge,
    KeyFieldError,
    RequestError,
    shown,
)
from keyplan.model.declared.declaration_errors import lowered
from keyplan.model.declared.entity import Entity
from keyplan.model.declared.fields import TOKENS, TTL, VERSION, kind_of, marks_of, slots_of, unbounded
from keyplan.model.declared.keys import Discriminator
from keyplan.model.declared.views import View
from keyplan.model.source_code import fields_read
from keyplan.model.stored.field_codec import Decoder, Encoder
from keyplan.model.stored.item_reading import reader_of
from keyplan.model.stored.key_formats import as_utc
from keyplan.model.stored.key_templates import Literal_
from keyplan.model.stored.pydantic_values import Form, plain_of, takes_nothing, undeclared
from keyplan.model.stored.stored_fields import StoredField, stored_default, stored_fields
from keyplan.model.stored.stored_keys import CompiledKey, IndexedAttribute, Matcher, check_indexed

_SETS = (set, frozenset)
_UNSUPPORTED = (KeyFieldError, TypeError, AttributeError, ValueError, ArithmeticError, LookupError, RecursionError)
"""What encoding an unsupported value raises."""
Reader = Callable[[Mapping[str, Mapping[str, Any]]], Entity]
_UNVERSIONED = "_item_without_a_version"
"""Stored with an instance's fields: no field can have this name."""


class CompiledEntity:
    """An entity on its table: its stored fields, primary key, index keys and claims."""

    def __init__(
        self,
        cls: type[Entity],
        primary: CompiledKey,
        index_keys: tuple[CompiledKey, ...],
        claims: tuple[CompiledKey, ...],
        labels: tuple[Discriminator, ...] = (),
        stored: Sequence[StoredField] | None = None,
        indexed: Sequence[IndexedAttribute] = (),
    ) -> None:
        self.cls = cls
        self.name = cls.__name__
        self.gives: type[Any] = cls
        """The class of instances: the entity, or a view."""
        self._whole = self
        self.asked: tuple[str, ...] | None = None
        """The projected attributes; None: all."""
        self.sifted: Callable[[Mapping[str, Mapping[str, Any]]], Entity] | None = None
        """How to read an item for comparison with a call's ranges, if the view lacks their fields."""
        self.primary = primary
        self.index_keys = index_keys
        self.claims = claims
        self.indexed = indexed
        self.labels = {label.attribute: label.stored for label in labels}
        """The attributes that distinguish its items from others, with their values."""
        self.rewritten: dict[Any, str] = {}
        """Cached conditions with defaults for absent attributes."""
        self.shares_keys = False
        """Whether another entity's items can have its keys, so that only labels distinguish them."""
        keyed = {name for key in (primary, *index_keys, *claims) for name in key.fields}
        own = stored_fields(cls) if stored is None else stored
        self.fields = {field.name: field for field in own if not field.computed or field.name in keyed}
        self._readable = [
            (field.attribute, field.name, field.decode) for field in self.fields.values() if not field.computed
        ]
        self._writable = [
            (field.name, field.attribute, field.encode, field.keeps_null) for field in self.fields.values()
        ]
        self._adapters: dict[str, TypeAdapter[Any]] = {}
        self._kind_adapters: dict[str, TypeAdapter[Any]] = {}
        self._inputs: dict[CompiledKey, frozenset[str]] = {}
        self._reads: dict[str, frozenset[str]] = {}
        self._validate = cls.__pydantic_validator__.validate_python
        self._computed = [field.name for field in self.fields.values() if field.computed]
        plain = [field for field in self.fields.values() if not field.computed]
        self._moments = [field.name for field in plain if kind_of(field.annotation) is datetime]
        self._in_keys = frozenset(self._defaulted_in_keys())
        self._empty = self._read_from_nothing()
        self._in_index_keys = self._optional_in_index_keys()
        self._keeps_others = cls.model_config.get("extra") == "allow"
        self._is_lossy = any(
            field.form is Form.CUSTOM or (field.codec is not None and field.codec.mark.write is not None)
            for field in plain
        )
        read = reader_of(cls, plain, self._in_keys, self._read_slowly, self._in_index_keys)
        self.from_item: Reader = self._noting_version(read)
        """The instance of an item. Raises InvalidItemError."""
        self.matches = self._labelled(primary.matches)
        """Whether an item belongs to this entity, by primary key and labels."""
        self.matches_sort = self._labelled(primary.matches_sort)
        """The same if its partition key is known to match."""
        self._is_raw = any(key.is_raw for key in (primary, *index_keys, *claims))

    def _noting_version(self, read: Reader) -> Reader:
        """A reader that marks instances whose items have no version yet."""
        if self.version is None:
            return read
        attribute = self.version.attribute

        def noting(item: Mapping[str, Mapping[str, Any]]) -> Entity:
            instance = read(item)
            if attribute not in item:
                vars(instance)[_UNVERSIONED] = True
            return instance

        return noting

    def lacks_version(self, instance: Entity) -> bool:
        return _UNVERSIONED in instance.__dict__

    def _labelled(self, matches: Matcher) -> Matcher:
        if not self.labels:
            return matches
        return lambda item: self.is_labelled(item) and matches(item)

    def is_labelled(self, item: Mapping[str, Mapping[str, Any]]) -> bool:
        return all(item.get(attribute) == value for attribute, value in self.labels.items())

    def is_told_from(self, other: CompiledEntity) -> bool:
        return any(other.labels.get(attribute, value) != value for attribute, value in self.labels.items())

    def _defaulted_in_keys(self) -> list[str]:
        """The attributes of key fields with defaults: if one is absent, the key has the value, not the default."""
        named = {name for key in self.keys for _, template in key.attributes for name in template.fields}
        infos = ((name, self.cls.model_fields.get(name)) for name in sorted(named))
        return [
            self.fields[name].attribute
            for name, info in infos
            if info is not None and not info.is_required() and (info.default is not None or info.default_factory)
        ]

    def _optional_in_index_keys(self) -> list[tuple[str, str]]:
        """The attributes of optional fields in an index key, each with an attribute of that key: if only that is
        present, another program wrote the item, and the key has the value.
        """
        pairs: list[tuple[str, str]] = []
        always = {attribute.name for attribute, _ in self.primary.attributes}
        for key in self.index_keys:
            for attribute, template in key.attributes:
                if attribute.name in always:
                    continue
                for name in template.fields:
                    info = self.cls.model_fields.get(name)
                    if info is None or info.is_required() or info.default is not None:
                        continue
                    own = self.fields[name].attribute
                    if own != attribute.name:
                        pairs.append((own, attribute.name))
        return pairs

    def _read_from_nothing(self) -> dict[str, Any]:
        """The values of required fields that are stored as absent attributes: None, or an empty set."""
        empty: dict[str, Any] = {}
        for name, info in self.cls.model_fields.items():
            if info.is_required():
                if self.fields[name].optional:
                    empty[name] = None
                elif kind_of(self.fields[name].annotation) in _SETS:
                    empty[name] = kind_of(self.fields[name].annotation)()
        return empty

    def giving(self, reader: CompiledEntity) -> CompiledEntity:
        """A copy of the entity that reads items as a view."""
        seen = copy(self)
        seen.gives = reader.cls
        told = self.key_fields if self.primary.is_raw else ()
        seen.asked = tuple(
            dict.fromkeys(
                (
                    *(field.attribute for field in reader.fields.values()),
                    *(self.fields[name].attribute for name in told),
                )
            )
        )
        seen.from_item = reader.from_item
        return seen

    @cached_property
    def keys(self) -> tuple[CompiledKey, ...]:
        return (self.primary, *self.index_keys)

    def keys_on(self, index: str) -> tuple[CompiledKey, ...]:
        """The keys on an index. Several keys on one index are mutually exclusive."""
        return tuple(key for key in self.index_keys if key.index is not None and key.index.name == index)

    @cached_property
    def siblings(self) -> frozenset[CompiledKey]:
        names = [key.index.name for key in self.index_keys if key.index is not None]
        return frozenset(key for key in self.index_keys if key.index is not None and names.count(key.index.name) > 1)

    def key_on(self, index: str, item: Mapping[str, Mapping[str, Any]] | None = None) -> CompiledKey | None:
        keys = self.keys_on(index)
        if item is not None:
            keys = tuple(key for key in keys if key.matches(item)) or keys
        return keys[0] if keys else None

    @cached_property
    def version(self) -> StoredField | None:
        return next((field for field in self.fields.values() if VERSION.name in marks_of(field.annotation)), None)

    @cached_property
    def tokens(self) -> StoredField | None:
        return next((field for field in self.fields.values() if TOKENS.name in marks_of(field.annotation)), None)

    @cached_property
    def read_as(self) -> dict[str, dict[str, Any]]:
        """The stored defaults by attribute, except for fields of the primary key."""
        found = {
            field.attribute: stored_default(field.default, field.encode)
            for field in self.fields.values()
            if not field.computed and field.name not in self.key_fields
        }
        return {attribute: default for attribute, default in found.items() if default is not None}

    @cached_property
    def may_lack(self) -> frozenset[str]:
        """The attributes for which a read returns a default if they, or parts of them, are absent."""
        models = (
            f.attribute
            for f in self.fields.values()
            if isinstance(kind := kind_of(f.annotation), type) and issubclass(kind, BaseModel)
        )
        return frozenset({*self.read_as, *models})

    @cached_property
    def read_from_keys(self) -> dict[str, list[tuple[str, str | None]]]:
        """Attributes that are read from an index key if they are absent, as in items of other programs. Each attribute
        has the key attributes with its value, and the string next to the value (None: there is no other string).
        """
        found: dict[str, list[tuple[str, str | None]]] = {}
        for attribute, template in (pair for key in self.index_keys for pair in key.attributes):
            for position, part in enumerate(template.parts):
                own = None if isinstance(part, Literal_) else self.fields[part.field].attribute
                if own is not None and own != attribute.name:
                    beside = (*template.parts[position - 1 : position], *template.parts[position + 1 : position + 2])
                    text = next((each.text for each in beside if isinstance(each, Literal_)), None)
                    found.setdefault(own, []).append((attribute.name, text))
        return found

    @cached_property
    def slots(self) -> dict[str, int]:
        counts = {name: slots_of(info) for name, info in self.cls.model_fields.items()}
        return {name: count for name, count in counts.items() if count is not None}

    @cached_property
    def ttl(self) -> StoredField | None:
        return next((field for field in self.fields.values() if TTL.name in marks_of(field.annotation)), None)

    @cached_property
    def key_fields(self) -> tuple[str, ...]:
        """The fields that identify an item: those of the primary key's templates."""
        names = dict.fromkeys(name for _, template in self.primary.attributes for name in template.fields)
        return tuple(names)

    @cached_property
    def fixed_fields(self) -> frozenset[str]:
        """The key fields whose values the primary key determines: those without case folding."""
        return frozenset(
            variable.field
            for _, template in self.primary.attributes
            for variable in template.variables
            if not variable.folds
        )

    def inputs_of(self, key: CompiledKey) -> frozenset[str]:
        """The fields that determine an item's position under a key, including those that its computed fields read."""
        known = self._inputs.get(key)
        if known is None:
            known = self._inputs[key] = frozenset().union(*map(self.inputs, key.fields))
        return known

    def inputs(self, name: str) -> frozenset[str]:
        if not self.fields[name].computed:
            return frozenset({name})
        if name not in self._reads:
            self._reads[name] = fields_read(self.cls, name)
        return self._reads[name]

    def writes_itself(self, key: CompiledKey, name: str) -> bool:
        """Whether a change of a field also changes the key, because the field is a number in the key attribute."""
        stored = self.fields[name]
        plain = not (stored.computed or stored.optional or key.is_claim or key.shards > 1 or name in key.when)
        places = [attribute for attribute, template in key.attributes if name in template.fields]
        own = all(attribute.name == stored.attribute and attribute.type == "N" for attribute in places)
        return plain and own and bool(places) and not any(self.fields[each].computed for each in key.fields)

    def field_values(self, instance: Entity) -> dict[str, Any]:
        """All fields of an instance. Computed fields are recomputed, because ``model_copy`` copies cached properties.
        Datetimes are in UTC, as stored, so that computed values (the day, for example) don't change when the item is
        read.
        """
        made = dict(instance.__dict__)
        if not self._computed:
            return made
        made = self.own_values(instance)
        moments = {name: as_utc(made[name]) for name in self._moments if _is_elsewhere(made[name])}
        if moments or len(instance.__dict__) > len(made):
            made.update(moments)
            instance = instance.model_copy()
            object.__setattr__(instance, "__dict__", dict(made))
        name = ""
        try:
            for name in self._computed:
                made[name] = getattr(instance, name)
        except RequestError:
            raise
        except (ValueError, ArithmeticError) as error:
            raise ArgumentError(f"the field can't be computed: {error}", place=f"{self.name}.{name}") from None
        return made

    def own_values(self, instance: Entity) -> dict[str, Any]:
        held = instance.__dict__
        own = {name: held[name] for name in self.cls.model_fields if name in held}
        return {**(instance.__pydantic_extra__ or {}), **own}

    def checked(self, instance: Entity) -> Entity:
        """The instance, validated: ``model_copy`` and ``model_construct`` don't validate. Raises ArgumentError."""
        try:
            return self._validate(self.own_values(instance), by_name=True)  # type: ignore[no-any-return]
        except ValidationError as error:
            raise ArgumentError(
                f"invalid {self.name}", place=self.name, errors=error_details_of(error, self.name)
            ) from None

    def as_stored(self, instance: Entity) -> Entity:
        """The instance as a read returns it: without fractional seconds of a TTL and data that a serializer omits."""
        if self._is_lossy:
            return self.from_item(self.to_item(instance))
        expires = None if self.ttl is None else getattr(instance, self.ttl.name)
        if self.ttl is None or expires is None or not expires.microsecond:
            return instance
        return instance.model_copy(
            update={self.ttl.name: self.ttl.decode(*next(iter(self.ttl.encode(expires).items())))}
        )

    def check_fields(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Values of some fields, validated one by one. Raises ArgumentError with all errors."""
        faults: list[ErrorDetail] = []
        checked: dict[str, Any] = {}
        for name, value in given.items():
            try:
                checked[name] = self._adapter(name).validate_python(value, strict=True)
            except ValidationError as error:
                faults.extend(error_details_of(error, f"{self.name}.{name}"))
        if faults:
            raise ArgumentError("wrong values", place=self.name, errors=faults)
        return checked

    def check_kinds(self, given: Mapping[str, Any]) -> None:
        """Validate values against the types of fields, without constraints. Raises ArgumentError."""
        faults: list[ErrorDetail] = []
        for name, value in given.items():
            try:
                strict = not isinstance(value, int | float | Decimal)  # an int can also be added to a Decimal field
                self._kind_adapter(name).validate_python(value, strict=strict)
            except ValidationError as error:
                faults.extend(error_details_of(error, f"{self.name}.{name}"))
        if faults:
            raise ArgumentError("wrong values", place=self.name, errors=faults)

    def _kind_adapter(self, name: str) -> TypeAdapter[Any]:
        adapter = self._kind_adapters.get(name)
        if adapter is None:
            adapter = self._kind_adapters[name] = TypeAdapter(unbounded(self.fields[name].annotation))
        return adapter

    def _adapter(self, name: str) -> TypeAdapter[Any]:
        adapter = self._adapters.get(name)
        if adapter is None:
            adapter = self._adapters[name] = TypeAdapter(self.fields[name].annotation)
        return adapter

    def item_key(self, key: CompiledKey, field_values: Mapping[str, Any]) -> dict[str, dict[str, str]]:
        try:
            return key.item_key(field_values)
        except KeyFieldError as error:
            place = f"{self.name}.{error.place}" if error.place else self.name
            raise KeyFieldError(f"{error.message} (in the key {key.name})", place=place, hint=error.hint) from None

    def written_key(self, key: CompiledKey, field_values: Mapping[str, Any]) -> dict[str, dict[str, str]]:
        written = self.item_key(key, field_values)
        name = key.ambiguous(field_values) if self._is_raw else None
        if name is not None:
            raise KeyFieldError(
                f"{shown(field_values[name])} contains the text that follows the field in the key {key.name}: another "
                "item could have the same key",
                place=f"{self.name}.{name}",
                hint="use another value: this key doesn't escape values (KeyStyle(raw=True))",
            )
        return written

    def distinguishing_fields(self, key: CompiledKey, field_values: Mapping[str, Any]) -> dict[str, Any]:
        """The fields that distinguish items with the same unescaped key; empty if the key is unambiguous."""
        if not key.is_raw or key.values(self.item_key(key, field_values)) is not None:
            return {}
        return {name: field_values[name] for _, template in key.attributes for name in template.fields}

    def holds(self, item: Mapping[str, Mapping[str, Any]], field_values: Mapping[str, Any]) -> bool:
        """Whether an item's attributes are absent or have these values, compared in the case of the keys."""
        folds = {v.field: v.folded for key in self.keys for _, template in key.attributes for v in template.variables}
        for name, value in field_values.items():
            field = self.fields[name]
            held = item.get(field.attribute)
            if held is not None and name in folds:
                stored = self._adapter(name).validate_python(self._decoded(field.decode, *next(iter(held.items()))))
                if folds[name](stored) != folds[name](value):
                    return False
        return True

    def claim_item(self, claim: CompiledKey, field_values: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
        """The item that claims a unique value for the item with these field values. Raises KeyFieldError."""
        return {**self.written_key(claim, field_values), "claim_of": {"M": self.item_key(self.primary, field_values)}}

    def to_item(self, instance: Entity) -> dict[str, dict[str, Any]]:
        field_values = self.field_values(instance)
        item = self.encode_fields(field_values)
        if instance.__pydantic_extra__:
            self._add_others(item, instance.__pydantic_extra__)
        if self.labels:
            item.update(self.labels)
        key_of = self.written_key if self._is_raw else self.item_key
        for key in self.keys:
            if key is self.primary or key.member(field_values):
                item.update(key_of(key, field_values))
        if self.indexed:
            check_indexed(self.indexed, item)
        size = values.item_size(item)
        if size > ITEM_BYTES_MAX:
            largest = max(item, key=lambda name: values.value_size(item[name]))
            raise ItemTooLarge(
                f"the item has {size:,} bytes; DynamoDB allows at most {ITEM_BYTES_MAX:,}, including attribute names",
                place=f"{self.name}.{largest}",
                hint=f"the largest attribute is {largest} ({values.value_size(item[largest]):,} bytes): "
                "compress it, split it into several items, or store it in Amazon S3 and its URL here",
            )
        return item

    @cached_property
    def _attributes(self) -> frozenset[str]:
        ours = {field.attribute for field in self.fields.values()} | self.labels.keys()
        return frozenset(ours.union(attribute.name for key in self.keys for attribute, _ in key.attributes))

    def _add_others(self, item: dict[str, dict[str, Any]], others: Mapping[str, Any]) -> None:
        """Undeclared values (``extra="allow"``) under their own names. Raises ArgumentError."""
        for name, value in others.items():
            if name in self._attributes:
                raise ArgumentError("the attribute is reserved for a key or Discriminator", place=f"{self.name}.{name}")
            dumped = undeclared(value)
            item[name] = self.encode_field(name, values.encode, dumped)

    def encode_fields(self, field_values: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
        """The attributes of ``field_values``. None is omitted, or stored as NULL if the default isn't None."""
        item: dict[str, dict[str, Any]] = {}
        for name, attribute, encode, keeps_null in self._writable:
            value = field_values.get(name)
            if value.__class__ in _SETS and not value and not keeps_null:
                continue  # DynamoDB has no empty set
            if value is not None:
                try:
                    item[attribute] = encode(value)
                except _UNSUPPORTED as error:
                    raise self._unsupported(name, value, error) from None
            elif keeps_null and name in field_values:
                item[attribute] = {"NULL": True}
        return item

    def encode_field(self, name: str, encode: Encoder, value: Any) -> dict[str, Any]:
        try:
            return encode(value)
        except _UNSUPPORTED as error:
            raise self._unsupported(name, value, error) from None

    def _unsupported(self, name: str, value: Any, error: Exception) -> ArgumentError:
        if isinstance(error, UnicodeEncodeError):
            text = f"{error.object!r} isn't valid Unicode"
        elif isinstance(error, values.ValueFault | values.NumberError):
            text = str(error)
        else:
            text = error.message if isinstance(error, KeyFieldError) else f"{shown(value)} can't be stored: {error}"
        return ArgumentError(text, place=f"{self.name}.{name}")

    def _read_slowly(self, item: Mapping[str, Mapping[str, Any]]) -> Entity:
        read: dict[str, Any] = {}
        with suppress(ValidationError, ValueError, ArithmeticError):
            for attribute, name, decode in self._readable:
                stored = item.get(attribute)
                if stored is not None:
                    ((tag, value),) = stored.items()
                    field = self.fields[name]
                    if tag != "NULL":
                        read[name] = self._decoded(decode, tag, value, field)
                    elif field.keeps_null and (field.optional or takes_nothing(field.annotation)):
                        read[name] = None
            if self._keeps_others:
                read = {
                    **{name: plain_of(value) for name, value in item.items() if name not in self._attributes},
                    **read,
                }
            if self._is_whole(item):
                return self._validate(read, by_name=True, strict=False)  # type: ignore[no-any-return]
        return self._from_keys_too(item, read)

    def _is_whole(self, item: Mapping[str, Mapping[str, Any]]) -> bool:
        return self._in_keys <= item.keys() and not any(
            own not in item and attribute in item for own, attribute in self._in_index_keys
        )

    @staticmethod
    def _decoded(decode: Decoder, tag: str, value: Any, field: StoredField | None = None) -> Any:
        try:
            return decode(tag, value)
        except (ValueError, ArithmeticError):
            return value if field is None or field.codec is None else _Unreadable(tag, value)

    def _from_keys_too(self, item: Mapping[str, Mapping[str, Any]], read: dict[str, Any]) -> Entity:
        """The slow path for items of other programs: fields without an attribute are read from the keys."""
        for key in self.keys:
            for name, value in (key.values(item) or {}).items():
                if name in self.fields and not self.fields[name].computed:
                    read.setdefault(name, value)
        for name, empty in self._empty.items():
            read.setdefault(name, empty)
        try:
            return self._validate(read, by_name=True, strict=False)  # type: ignore[no-any-return]
        except ValidationError as error:
            raise InvalidItemError(
                f"the item has a key of {self.name}, but its attributes don't match the entity",
                place=f"{self.name}({self.describe_key(item)})",
                hint="another program wrote the item, or the entity changed: fix the item or give the fields defaults",
                errors=error_details_of(error, self.name),
            ) from None

    def describe_key(self, item: Mapping[str, Mapping[str, Any]]) -> str:
        """The item's primary key in messages: ``pk=ARTICLE#1, sk=#METADATA``."""
        pairs = (
            (attribute.name, item.get(attribute.name, {}).get(attribute.type))
            for attribute, _ in self.primary.attributes
        )
        return ", ".join(f"{name}={value}" for name, value in pairs)

    def __eq__(self, other: object) -> bool:
        """A view's entity equals its entity."""
        return isinstance(other, CompiledEntity) and self._whole is other._whole

    def __hash__(self) -> int:
        return id(self._whole)

    def __repr__(self) -> str:
        return f"CompiledEntity({self.name}, {self.primary})"


class _Unreadable:
    """A placeholder for a value that isn't in its field's stored form: every type rejects it."""

    def __init__(self, tag: str, value: Any) -> None:
        self.stored = {tag: value}

    def __repr__(self) -> str:
        return f"stored as {shown(self.stored)}"


def _is_elsewhere(value: Any) -> bool:
    return isinstance(value, datetime) and value.tzinfo is not None and bool(value.utcoffset())


def error_details_of(error: ValidationError, place: str) -> list[ErrorDetail]:
    """Pydantic's errors as error details, each with its path below ``place``."""
    faults: list[ErrorDetail] = []
    for finding in error.errors(include_url=False):
        path = place
        for step in finding["loc"]:
            path += f"[{step}]" if isinstance(step, int) else f".{step}" if path else str(step)
        message = (
            finding["msg"]
            if finding["type"] == "missing"
            else f"{finding['msg']}; given: {shown(finding.get('input'))}"
        )
        faults.append(ErrorDetail(path, lowered(message)))
    return faults


def reject_unknown(cls: type[Entity], known: Mapping[str, Any], given: Mapping[str, Any]) -> None:
    unknown = [name for name in given if name not in known]
    if unknown:
        raise RequestError(
            f"{cls.__name__} has no field {', '.join(map(repr, unknown))}",
            place=cls.__name__,
            hint=f"the fields are {', '.join(known)}",
        )


def seen_as(entity: CompiledEntity, view: type[View[Any]]) -> CompiledEntity:
    """A copy of the entity, which reads items as the view, for a plan that returns the view."""
    stored = [entity.fields[name] for name in view.model_fields]
    reader = CompiledEntity(cast("type[Entity]", view), entity.primary, entity.index_keys, (), (), stored)
    return entity.giving(reader)


def seen_by(entity: CompiledEntity, names: Iterable[str]) -> CompiledEntity:
    """A copy of the entity for a plan that needs only these fields, or only the keys of items."""
    fields: Any = {name: (entity.fields[name].annotation, ...) for name in names}
    return seen_as(entity, create_model(entity.name, __base__=View[entity.cls], **fields))  # type: ignore[name-defined]


def asking_for(entity: CompiledEntity, name: str) -> CompiledEntity:
    attribute = entity.fields[name].attribute
    if entity.asked is None or attribute in entity.asked:
        return entity
    result = copy(entity)
    result.asked = (*entity.asked, attribute)
    return result


def shrunk(instance: Entity | None, view: type[View[Any]] | None) -> Any:
    if view is None:
        return instance
    return view.model_construct(**{name: getattr(instance, name) for name in view.model_fields})
