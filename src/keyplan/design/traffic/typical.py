"""Typical items: an instance of an entity made of nothing but its declaration, and how large it is.

Where a type says how long a value is (a moment, a UUID, a ULID), it is that. Where it doesn't, the length is taken from
the traffic file, from the field's examples or default, or it is assumed by the field's name; which of them is told with
every size. Colliding and odd values for tests are made in ``keyplan.testing``.
"""

from __future__ import annotations

import enum
import types
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Annotated, Any, Literal, NamedTuple, Union, get_args, get_origin
from uuid import UUID

from pydantic import BaseModel, TypeAdapter, ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined
from typing_extensions import TypeAliasType

from keyplan import values
from keyplan.design.compiled.model import CompiledDesign
from keyplan.design.declared.fields import TTL, VERSION, is_optional, kind_of, layers, marks_of, now, ulid
from keyplan.design.stored.entity import CompiledEntity, Entity
from keyplan.design.stored.fields import StoredField
from keyplan.design.stored.formats import IntegerFormat, Problem
from keyplan.design.traffic.files import Stored
from keyplan.design.traffic.filled import Filling, combinations, constants_of
from keyplan.design.traffic.sizes import FieldSize, ItemSizes, entry_bytes
from keyplan.errors import KeyplanError

__all__ = ["CHOICE", "Typical", "accepted_value", "choices_of", "limits", "typical_value"]

GIVEN = "the traffic file"
TYPE = "its type"
EXAMPLE = "its example"
DEFAULT = "its default"
CHOICE = "one of its choices"
ASSUMED = "assumed"

ULID_BYTES = 26
ELEMENTS = 3
NUMBER = 1234
ELEMENT_NUMBER = 2
"""A number among others: how many of a thing, where ``NUMBER`` counts or prices all."""
TEXT_BYTES = 24
TEXT_BYTES_BY_NAME = {
    "body": 4000, "content": 4000, "markdown": 4000, "html": 4000, "text": 600, "message": 600, "bio": 200,
    "description": 300, "summary": 300, "abstract": 1200, "excerpt": 200, "title": 60, "url": 60, "slug": 40,
}  # fmt: skip
"""Bytes assumed for texts of these names; others are assumed to have ``TEXT_BYTES``."""
_MOMENT = datetime(2026, 1, 2, 9, 42, 0, 123_456, tzinfo=UTC)
_FORMED = (
    "someone@example.com", "https://example.com/some/page", "some-slug", "en", "US", "EUR", "2026-11-21", "2026-11",
    "+41441234567", "#a1b2c3", "10.1000/xyz123", "01ARZ3NDEKTSV4RRFFQ69G5FAV", "a1", "A", "1",
    "00000000-0000-0000-0000-000000000001",
)  # fmt: skip
"""Texts that types with a pattern or a validator often take."""


class _Value(NamedTuple):
    value: Any
    source: str
    exact: bool = False


class Typical:
    """Typical instances and items of a design's entities.

    ``stored`` gives, by entity, the bytes of whole items and of single fields, as a traffic file has them; ``filling``
    says which fields are there, of those whose share it gives.
    """

    def __init__(
        self,
        design: CompiledDesign,
        stored: Mapping[str, Stored] | None = None,
        filling: Filling | None = None,
    ) -> None:
        self.design = design
        self._filling: Filling = filling or {}
        self._mixtures: dict[frozenset[str], list[tuple[float, Typical]]] = {}
        self._stored = stored or {}
        self._ulids = {
            name
            for entity in design.entities.values()
            for name, info in entity.cls.model_fields.items()
            if info.default_factory is ulid
        }
        self._instances: dict[tuple[str, int], Entity] = {}
        self._sources: dict[str, dict[str, _Value]] = {}
        self._sizes: dict[str, ItemSizes] = {}

    def instance(self, entity: CompiledEntity, known: Mapping[str, Any] | None = None, serial: int = 0) -> Entity:
        """A typical instance; ``known`` holds values of its fields, ``serial`` tells instances apart.

        Raises Problem for an entity whose validators take nothing that can be thought of.
        """
        found = self._instances.get((entity.name, serial))
        if found is None:
            found = self._instances[entity.name, serial] = self._made(entity, serial)
        own = {name: value for name, value in (known or {}).items() if name in entity.cls.model_fields}
        if not own:
            return found
        try:
            return entity.cls.model_validate({**entity.own_values(found), **own}, by_name=True)
        except ValidationError:
            return found.model_copy(update=own)

    def mixture(self, names: Iterable[str]) -> list[tuple[float, Typical]]:
        """Typical items for each combination of the entities' fields of which a share is given, with its weight: these
        alone where no share is given.
        """
        wanted = frozenset(names)
        found = self._mixtures.get(wanted)
        if found is None:
            shares = [
                ((name, field), share)
                for name in sorted(wanted)
                if name in self._stored
                for field, share in self._stored[name].filled.items()
                if (name, field) not in self._filling
            ]
            found = [
                (weight, Typical(self.design, self._stored, {**self._filling, **filling}) if filling else self)
                for weight, filling in combinations(shares)
            ]
            self._mixtures[wanted] = found
        return found

    def of_size(self, names: Iterable[str], item_bytes: int) -> Typical:
        """The same, with items of these entities as large as that."""
        sized = {name: replace(self._stored.get(name, Stored()), item_bytes=item_bytes) for name in names}
        return Typical(self.design, {**self._stored, **sized}, self._filling)

    def item(self, instance: Entity) -> dict[str, dict[str, Any]]:
        """The item of an instance, as large as the traffic file says that the entity's items are.

        Raises KeyplanError.
        """
        entity = self.design.entities[type(instance)]
        item = entity.to_item(instance)
        stored = self._stored.get(entity.name)
        if stored is None:
            return item
        keys = {one.name for key in entity.keys for one, _ in key.attributes}
        for name, size in stored.fields.items():
            attribute = entity.fields[name].attribute
            if attribute in item and attribute not in keys:
                item[attribute] = _filled(item[attribute], size)
        if stored.item_bytes is not None:
            self._stretch(entity, item, keys, stored.item_bytes)
        return item

    def sizes(self, entity: CompiledEntity) -> ItemSizes:
        """The sizes of a typical item. Raises Problem."""
        found = self._sizes.get(entity.name)
        if found is None:
            found = self._sizes[entity.name] = self._measured(entity)
        return found

    def _measured(self, entity: CompiledEntity) -> ItemSizes:
        instance = self.instance(entity)
        try:
            item = self.item(instance)
        except KeyplanError as error:
            raise Problem(f"{entity.name} has no typical item: {error.message}", error.hint) from None
        fields = tuple(self._field_size(entity, one, item) for one in entity.fields.values() if one.attribute in item)
        size = values.item_size(item)
        of_fields = sum(one.size_bytes for one in fields)
        return ItemSizes(entity.name, size, fields, size - of_fields, entry_bytes(self.design.table, item))

    def _field_size(self, entity: CompiledEntity, field: StoredField, item: Mapping[str, Any]) -> FieldSize:
        size = values.item_size({field.attribute: item[field.attribute]})
        stored = self._stored.get(entity.name)
        if stored is not None and field.name in stored.fields:
            return FieldSize(field.name, field.attribute, size, GIVEN, exact=False)
        value = self._sources[entity.name].get(field.name, _Value(None, TYPE, exact=True))
        stretched = stored is not None and stored.item_bytes is not None and not value.exact
        return FieldSize(field.name, field.attribute, size, GIVEN if stretched else value.source, exact=value.exact)

    def _stretch(self, entity: CompiledEntity, item: dict[str, Any], keys: set[str], size_bytes: int) -> None:
        """Make the item ``size_bytes`` long, by its longest text that is in no key."""
        texts = [
            one.attribute
            for one in entity.fields.values()
            if one.attribute in item and one.attribute not in keys and "S" in item[one.attribute]
            and kind_of(one.annotation) is str
        ]  # fmt: skip
        if not texts:
            return
        longest = max(texts, key=lambda name: values.value_size(item[name]))
        wanted = values.value_size(item[longest]) + size_bytes - values.item_size(item)
        item[longest] = _filled(item[longest], max(0, wanted))

    def _made(self, entity: CompiledEntity, serial: int) -> Entity:
        chosen = {name: self._field(entity, name, info, serial) for name, info in entity.cls.model_fields.items()}
        self._sources.setdefault(entity.name, chosen)
        found = {name: one.value for name, one in chosen.items()}
        for _ in range(4):
            try:
                return entity.cls.model_validate(found, by_name=True)
            except ValidationError as error:
                wrong = [str(one["loc"][0]) for one in error.errors(include_url=False) if one["loc"]]
                mended = {name: self._mended(entity, name) for name in wrong if name in found}
                if not mended:
                    raise _no_value(entity, str(error.errors(include_url=False)[0]["msg"])) from None
                found.update(mended)
        raise _no_value(entity, "its validators refuse what can be thought of")

    def _mended(self, entity: CompiledEntity, name: str) -> Any:
        """Another value for a field whose own validators refuse the usual one."""
        info = entity.cls.model_fields[name]
        if not info.is_required() and info.default is not PydanticUndefined:
            return info.default
        try:
            return accepted_value(entity.fields[name].annotation)
        except Problem:
            raise _no_value(entity, f"its field {name} takes nothing that can be thought of") from None

    def _field(self, entity: CompiledEntity, name: str, info: FieldInfo, serial: int) -> _Value:
        annotation = entity.fields[name].annotation
        stored = self._stored.get(entity.name)
        given = stored.fields.get(name) if stored is not None else None
        kind = kind_of(annotation)
        there = self._filling.get((entity.name, name))
        decided = None if there is None else _decided(entity, name, info, there=there)
        if decided is not None:
            return decided
        if (
            there is None
            and given is None
            and info.default is None
            and any(None in key.when.get(name, ()) for key in entity.index_keys)
        ):
            return _Value(None, DEFAULT, exact=True)  # an index holds the items without it: most of them, mostly
        if given is not None and kind is str:
            return _Value(_text(max(given, 1), serial), GIVEN)
        if info.examples:
            return _Value(info.examples[serial % len(info.examples)], EXAMPLE)
        if info.default_factory is ulid or (kind is str and name in self._ulids):
            return _Value(_text(ULID_BYTES, serial), TYPE, exact=True)
        default = info.default
        if isinstance(default, str | enum.Enum) and default:
            choices = choices_of(annotation)
            value = default if choices or isinstance(default, enum.Enum) else _varied(default, serial)
            exact = _one_length(annotation)
            return _Value(value, TYPE if exact else CHOICE if choices else DEFAULT, exact=exact)
        if kind is str and name.endswith("_id") and self._ulids and not choices_of(annotation):
            return _Value(_text(ULID_BYTES, serial), ASSUMED)
        found = _typical(annotation, name, serial)
        if kind is int and not found.exact:
            return found._replace(value=min(found.value, _most_in_keys(entity, name) - serial))
        return found


def _decided(entity: CompiledEntity, name: str, info: FieldInfo, *, there: bool) -> _Value | None:
    """The value of a field that is, or isn't, there; None: any that is typical. Raises Problem."""
    annotation = entity.fields[name].annotation
    constants = constants_of(entity, name)
    if there:
        return _Value(constants[0][0], CHOICE) if constants else None
    if is_optional(annotation):
        return _Value(None, DEFAULT, exact=True)
    others = (True, False) if kind_of(annotation) is bool else (info.default, *choices_of(annotation))
    for one in (*others, _typical(annotation, name, 0).value):
        stored = one.value if isinstance(one, enum.Enum) else one
        if one is not PydanticUndefined and one is not None and not {one, stored} & {*constants[0]}:
            return _Value(one, CHOICE)
    raise _no_value(entity, f"its field {name} takes nothing but what its key holds")


def _most_in_keys(entity: CompiledEntity, name: str) -> int:
    """The largest whole number that the field's places in keys have room for."""
    widths = [
        variable.format.width
        for key in entity.keys
        for _, template in key.attributes
        for variable in template.variables
        if variable.field == name and isinstance(variable.format, IntegerFormat) and variable.format.width is not None
    ]
    return int(10 ** min(widths, default=38)) - 1


def _no_value(entity: CompiledEntity, why: str) -> Problem:
    return Problem(f"no typical {entity.name} can be made: {why}", "give its fields examples: Field(examples=[...])")


# Values by type


def typical_value(annotation: Any, name: str, serial: int = 0) -> Any:
    """A typical value of a type, for a field or a parameter of that name; of different ``serial``, different ones."""
    return _typical(annotation, name, serial).value


def accepted_value(annotation: Any) -> Any:
    """A value that a type's own validators take, of a few that such types often take. Raises Problem."""
    adapter: TypeAdapter[Any] = TypeAdapter(annotation)
    for one in _candidates(annotation):
        try:
            return adapter.validate_python(one)
        except ValidationError:
            continue
    raise Problem(f"nothing can be thought of that {annotation} takes")


def _typical(annotation: Any, name: str, serial: int) -> _Value:
    """A typical value of a type, for a field of that name."""
    if isinstance(annotation, TypeAliasType):
        return _typical(annotation.__value__, name, serial)
    marks = marks_of(annotation)
    if TTL.name in marks:
        return _Value(now() + timedelta(days=30, seconds=serial), TYPE, exact=True)  # what has expired may be refused
    if VERSION.name in marks:
        return _Value(2, ASSUMED)
    kind = kind_of(annotation)
    choices = choices_of(annotation)
    if choices:
        exact = _one_length(annotation)
        return _Value(choices[0], TYPE if exact else CHOICE, exact=exact)
    if kind is str:
        length = _within(limits(annotation, "length"), TEXT_BYTES_BY_NAME.get(name, TEXT_BYTES))
        return _Value(_text(length, serial), ASSUMED)
    if kind in {int, float, Decimal}:
        return _number(kind, annotation, name, serial)
    if kind is bytes:
        length = _within(limits(annotation, "length"), TEXT_BYTES)
        return _Value(_text(length, serial).encode(), ASSUMED)
    fixed = _FIXED.get(kind)
    if fixed is not None:
        return _Value(fixed(serial), TYPE, exact=True)
    return _Value(_compound(annotation, name, serial), ASSUMED)


_FIXED: dict[Any, Any] = {
    bool: lambda _serial: True,
    datetime: lambda serial: _MOMENT + timedelta(seconds=serial),
    date: lambda serial: _MOMENT.date() + timedelta(days=serial),
    UUID: lambda serial: UUID(int=(0xA11CE << 100) + serial),
    type(None): lambda _serial: None,
}


def _number(kind: Any, annotation: Any, name: str, serial: int) -> _Value:
    low, high = limits(annotation, "value")
    value = (NUMBER if name else ELEMENT_NUMBER) + serial
    if high is not None and value > high:
        value = high - serial if low is None or high - serial >= low else high
    if low is not None and value < low:
        value = low + serial
    return _Value(int(value) if kind is int else kind(str(value)) if kind is Decimal else float(value), ASSUMED)


def _compound(annotation: Any, name: str, serial: int) -> Any:
    """A list, set, tuple, dict or model of typical values; a text for what has no type."""
    inner = _inner(annotation)
    origin, arguments = get_origin(inner) or inner, get_args(inner)
    if isinstance(origin, type) and issubclass(origin, BaseModel):
        made = {one: _typical(_annotated(info), one, serial).value for one, info in origin.model_fields.items()}
        return origin.model_validate(made, by_name=True) if _takes(origin, made) else origin.model_construct(**made)
    if origin is tuple and arguments and arguments[-1] is not Ellipsis:
        return tuple(_typical(part, name, serial).value for part in arguments)
    count = _within(limits(annotation, "length"), ELEMENTS)
    if isinstance(origin, type) and issubclass(origin, Mapping):
        key, value = arguments or (str, Any)
        return {_typical(key, "", serial + at).value: _typical(value, "", serial + at).value for at in range(count)}
    if origin in {list, set, frozenset, tuple} or (isinstance(origin, type) and issubclass(origin, Iterable)):
        part = arguments[0] if arguments else str
        found = [_typical(part, "", serial + at).value for at in range(count)]
        return origin(found) if origin in {set, frozenset, tuple} else found
    if get_origin(inner) in {Union, types.UnionType}:
        return _typical(next(one for one in arguments if one is not type(None)), name, serial).value
    return _text(TEXT_BYTES, serial)


def _inner(annotation: Any) -> Any:
    """The type without marks, alias and None."""
    if isinstance(annotation, TypeAliasType):
        return _inner(annotation.__value__)
    origin = get_origin(annotation)
    if origin is Annotated:
        return _inner(get_args(annotation)[0])
    if origin in {Union, types.UnionType} and is_optional(annotation):
        parts = [one for one in get_args(annotation) if one is not type(None)]
        return _inner(parts[0]) if len(parts) == 1 else annotation
    return getattr(annotation, "__supertype__", annotation)


def _annotated(info: FieldInfo) -> Any:
    annotation: Any = info.annotation
    for mark in info.metadata:
        annotation = Annotated[annotation, mark]
    return annotation


def _takes(model: type[BaseModel], given: Mapping[str, Any]) -> bool:
    try:
        model.model_validate(dict(given), by_name=True)
    except ValidationError:
        return False
    return True


def choices_of(annotation: Any) -> Sequence[Any]:
    """The values of a Literal or an Enum; none for another type."""
    inner = _inner(annotation)
    if get_origin(inner) is Literal:
        return get_args(inner)
    if isinstance(inner, type) and issubclass(inner, enum.Enum):
        return tuple(inner)
    return ()


def _one_length(annotation: Any) -> bool:
    """Whether all values of a Literal or an Enum are of one length."""
    lengths = {len(str(one.value if isinstance(one, enum.Enum) else one)) for one in choices_of(annotation)}
    return len(lengths) == 1


def limits(annotation: Any, what: Literal["length", "value"]) -> tuple[Any, Any]:
    """The least and the most that a type's constraints leave for a value, or for its length; None: no bound."""
    low: Any = None
    high: Any = None
    names = ("min_length", "max_length") if what == "length" else ("ge", "le")
    strict = () if what == "length" else ("gt", "lt")
    for layer in layers(annotation):
        for mark in (layer, *getattr(layer, "metadata", ())):
            if isinstance(mark, type):
                continue
            least, most = (getattr(mark, name, None) for name in names)
            if strict:
                above, below = (getattr(mark, name, None) for name in strict)
                least = least if above is None else above + 1
                most = most if below is None else below - 1
            low = least if low is None else low
            high = most if high is None else high
    return low, high


def _within(limits: tuple[Any, Any], length: int) -> int:
    low, high = limits
    if high is not None:
        length = min(length, high)
    return length if low is None else max(length, low)


def _text(length: int, serial: int) -> str:
    """A text of that many bytes; of different ``serial``, different texts."""
    number = str(serial) if serial else ""
    return f"{'x' * (length - len(number))}{number}"[:length] if length >= len(number) else number


def _varied(text: str, serial: int) -> str:
    """Another text of the same kind: of 1.0, 1.1."""
    if not serial:
        return text
    return f"{text[:-1]}{int(text[-1]) + serial}" if text[-1] in "0123456789" else f"{text}{serial}"


def _candidates(annotation: Any) -> Iterable[Any]:
    """Values to try for a type that refuses its typical one."""
    low, high = limits(annotation, "value")
    yield from (one for one in (low, high) if one is not None)
    yield from _FORMED
    yield from (1, 0, 10, 100, -1, (), [], {}, set())
    yield from (["a"], ("a",), {"a"}, {"a": "a"}, {"a": 1})


def _filled(value: Mapping[str, Any], size_bytes: int) -> dict[str, Any]:
    """An attribute value of that many bytes: a text that begins as the value does, so that another value gives another
    text.
    """
    if values.value_size({**value}) == size_bytes:
        return {**value}
    ((_, content),) = value.items()
    text = content if isinstance(content, str) else repr(content)
    shown = text.encode()[:size_bytes].decode(errors="ignore")
    return {"S": shown + "x" * (size_bytes - len(shown.encode()))}
