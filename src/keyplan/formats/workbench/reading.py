"""Reads the file of a Workbench model leniently, since AWS doesn't document the format: irregularities are noted,
unknown members are ignored, and values that aren't DynamoDB JSON are omitted. A file that isn't JSON or has no table
with a partition key is rejected.
"""

from __future__ import annotations

import json
import re
from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, Literal, cast

from keyplan.dynamodb import values
from keyplan.errors import ErrorDetail, RequestError

Item = dict[str, dict[str, Any]]
"""A sample item in DynamoDB's JSON."""
Json = dict[str, Any]
Kind = Literal["S", "N", "B"]
"""The types that a key attribute can have."""

_NAME = re.compile(r"[A-Za-z0-9_.-]{3,255}")
_TYPES = {"STRING": "S", "NUMBER": "N", "BINARY": "B"}
TABLES_MAX, FACETS_MAX, INDEXES_MAX = 100, 200, 25
ATTRIBUTES_MAX = 1000
"""Of an item."""
KEY_CHARACTERS_MAX = 2048
_PLACES_MAX = 5
"""Maximum number of places that a note lists."""


@dataclass(frozen=True)
class KeyAttribute:
    """An attribute of a key."""

    name: str
    type: Kind


@dataclass(frozen=True)
class KeyAttributes:
    """The key of a table or index."""

    partition: KeyAttribute
    sort: KeyAttribute | None = None

    @property
    def all(self) -> tuple[KeyAttribute, ...]:
        return (self.partition,) if self.sort is None else (self.partition, self.sort)


@dataclass(frozen=True)
class Index:
    """A secondary index. ``projection`` is ALL, KEYS_ONLY, or the included attributes."""

    name: str
    key: KeyAttributes
    projection: str | tuple[str, ...]
    local: bool


@dataclass(frozen=True)
class Facet:
    """The items of one type. ``aliases``: the facet's names for the table's key attributes."""

    name: str
    aliases: tuple[str, str] = ("", "")
    items: list[Item] = field(default_factory=list[Item])
    attributes: list[str] = field(default_factory=list[str])


@dataclass(frozen=True)
class TableModel:
    """One table."""

    name: str
    key: KeyAttributes
    attributes: dict[str, str] = field(default_factory=dict[str, str])
    facets: list[Facet] = field(default_factory=list[Facet])
    indexes: list[Index] = field(default_factory=list[Index])
    items: list[Item] = field(default_factory=list[Item])


@dataclass(frozen=True)
class Model:
    """A model's name, description and tables, and notes on irregularities in the file."""

    name: str
    description: str
    tables: list[TableModel]
    notes: tuple[str, ...] = ()


def read_model(text: str, where: str) -> Model:
    """The model in a file's text. Raises RequestError with all errors if the text has no valid model."""
    try:
        data = json.loads(text.removeprefix("\ufeff"), parse_float=Decimal)
        json.dumps(data, ensure_ascii=False, default=str).encode()
    except json.JSONDecodeError as error:
        place = f"{where}:{error.lineno}:{error.colno}"
        raise RequestError(f"invalid JSON: {error.msg}", place=place, hint="export the model again") from None
    except UnicodeEncodeError:
        raise RequestError("a string has an unpaired surrogate", place=where, hint="fix the string") from None
    except (RecursionError, ValueError, ArithmeticError):
        raise RequestError("the JSON is nested too deeply, or has a number out of range", place=where) from None
    if isinstance(data, list) and data and isinstance(data[0], dict):
        data = data[0]
    if not isinstance(data, dict):
        raise RequestError("a model must be a JSON object", place=where, hint="export it from NoSQL Workbench")
    if "KeyAttributes" in data:  # the file has a single table, not a model
        data = {"ModelName": data.get("TableName"), "DataModel": [data]}
    reader = _Reader()
    model = reader.model(data)
    if not model.tables:
        count = len(reader.faults)
        raise RequestError(
            f"invalid NoSQL Workbench model: {count} error{'s' if count > 1 else ''}",
            place=where,
            errors=reader.faults,
            hint="fix these errors, or export the model again",
        )
    return model


class _Reader:
    def __init__(self) -> None:
        self.faults: list[ErrorDetail] = []
        self._noticed: dict[str, list[str]] = {}

    def model(self, data: Json) -> Model:
        metadata = _object(data.get("ModelMetadata"))
        tables: list[TableModel] = []
        given = data.get("DataModel")
        if not isinstance(given, list) or not given:
            self.faults.append(
                ErrorDetail("DataModel", "the model has no tables" if "DataModel" in data else "field required")
            )
            given = []
        for number, value in enumerate(_bounded(given, "DataModel", TABLES_MAX)):
            table = self._table(value, f"DataModel[{number}]")
            if table is not None:
                tables.append(table)
        self.faults.sort(key=lambda fault: fault.place)
        if tables:
            for fault in self.faults:
                self._note("the table is omitted", f"{fault.place}: {fault.message}")
        return Model(_text(data.get("ModelName")), _text(metadata.get("Description")), tables, tuple(self._notes()))

    def _note(self, what: str, place: str) -> None:
        places = self._noticed.setdefault(what, [])
        if place not in places:
            places.append(place)

    def _notes(self) -> Iterator[str]:
        for what, places in self._noticed.items():
            named = ", ".join(places[:_PLACES_MAX])
            more = f" and {len(places) - _PLACES_MAX} more" if len(places) > _PLACES_MAX else ""
            yield f"{named}{more}: {what}"

    # Tables

    def _table(self, given: Any, place: str) -> TableModel | None:
        data = _object(given)
        key = self._key(data.get("KeyAttributes"), f"{place}.KeyAttributes")
        if key is None:
            return None
        types: dict[str, Kind] = {attribute.name: attribute.type for attribute in key.all}
        indexes = [*self._indexes(data, "GlobalSecondaryIndexes", place, key, types)]
        indexes += self._indexes(data, "LocalSecondaryIndexes", place, key, types, {index.name for index in indexes})
        facets = [*self._facets(data.get("TableFacets"), f"{place}.TableFacets", key, types)]
        seen = [item for facet in facets for item in facet.items]
        items = self._items(data.get("TableData"), f"{place}.TableData", key, types, seen)
        return TableModel(
            self._name(data.get("TableName"), f"{place}.TableName", "Table"),
            key,
            dict(self._attributes(data.get("NonKeyAttributes"))),
            facets,
            indexes,
            items,
        )

    def _name(self, given: Any, place: str, otherwise: str) -> str:
        text = _text(given)
        if _NAME.fullmatch(text):
            return text
        name = re.sub(r"[^A-Za-z0-9_.-]+", "_", text).strip("_")[:240] or otherwise
        name = name if len(name) >= 3 else f"{name}-{otherwise.lower()}"
        self._note(f"{text!r} isn't a valid name: changed to {name!r}", place)
        return name

    def _key(self, given: Any, place: str) -> KeyAttributes | None:
        data = _object(given)
        partition = self._key_attribute(data.get("PartitionKey"), f"{place}.PartitionKey")
        if partition is None:
            self.faults.append(
                ErrorDetail(f"{place}.PartitionKey" if data else place, "the partition key requires an attribute name")
            )
            return None
        sort = self._key_attribute(data.get("SortKey"), f"{place}.SortKey")
        return KeyAttributes(partition, None if sort is None or sort.name == partition.name else sort)

    def _key_attribute(self, given: Any, place: str) -> KeyAttribute | None:
        data = {"AttributeName": given} if isinstance(given, str) else _object(given)
        name = _text(data.get("AttributeName"))[:255]
        if not name:
            return None
        kind = _text(data.get("AttributeType")).upper()
        kind = _TYPES.get(kind, kind)
        if kind not in {"S", "N", "B"}:
            self._note(f"{name} has no valid key type and is read as a string", place)
            kind = "S"
        return KeyAttribute(name, cast("Kind", kind))

    def _indexes(
        self,
        table: Json,
        member: str,
        place: str,
        own: KeyAttributes,
        types: dict[str, Kind],
        taken: Iterable[str] = (),
    ) -> Iterator[Index]:
        names = set(taken)
        local = member == "LocalSecondaryIndexes"
        for number, given in enumerate(_bounded(table.get(member), f"{place}.{member}", INDEXES_MAX)):
            path = f"{place}.{member}[{number}]"
            data = _object(given)
            attributes = _object(data.get("KeyAttributes"))
            if local:  # a local index has the table's partition key
                partition_key = {"AttributeName": own.partition.name, "AttributeType": own.partition.type}
                attributes = {**attributes, "PartitionKey": partition_key}
            if any(side.startswith("Further") for side in attributes):
                self._note("the index is omitted, because it has a multi-attribute key", path)
                continue
            parts = [
                self._key_attribute(attributes.get(side), f"{path}.{side}") for side in ("PartitionKey", "SortKey")
            ]
            if parts[0] is None or (local and parts[1] is None):
                self._note("the index is omitted, because its key is incomplete", path)
                continue
            name = self._name(data.get("IndexName"), f"{path}.IndexName", "Index")
            if name in names:
                self._note(f"the index is omitted, because an earlier index is also named {name}", path)
                continue
            names.add(name)
            partition, sort = (None if part is None else self._typed(part, types, path) for part in parts)
            assert partition is not None  # noqa: S101 - checked above
            key = KeyAttributes(partition, None if sort is None or sort.name == partition.name else sort)
            yield Index(name, key, self._projection(data.get("Projection"), own, key), local)

    def _typed(self, attribute: KeyAttribute, types: dict[str, Kind], place: str) -> KeyAttribute:
        """The attribute with the type that it has in earlier keys."""
        kind = types.setdefault(attribute.name, attribute.type)
        if kind != attribute.type:
            self._note(f"{attribute.name} is read as type {kind}, as in an earlier key, not {attribute.type}", place)
        return KeyAttribute(attribute.name, kind)

    @staticmethod
    def _projection(given: Any, own: KeyAttributes, key: KeyAttributes) -> str | tuple[str, ...]:
        """The projection without key attributes, which every index has: DynamoDB rejects them."""
        data = _object(given)
        kind = _text(data.get("ProjectionType")).upper()
        if kind == "KEYS_ONLY":
            return kind
        keys = {attribute.name for attribute in (*own.all, *key.all)}
        included = [_text(value) for value in _list(data.get("NonKeyAttributes"))]
        included = [text for text in dict.fromkeys(included) if text and text not in keys]
        if kind == "INCLUDE":
            return tuple(included) if included else "KEYS_ONLY"
        return "ALL"

    def _attributes(self, given: Any) -> Iterator[tuple[str, str]]:
        for value in _list(given):
            data = {"AttributeName": value} if isinstance(value, str) else _object(value)
            name = _text(data.get("AttributeName"))
            if name:
                yield name, _text(data.get("AttributeType")).upper()

    # Samples

    def _facets(self, given: Any, place: str, key: KeyAttributes, types: Mapping[str, Kind]) -> Iterator[Facet]:
        names: set[str] = set()
        seen: list[Item] = []
        for number, value in enumerate(_bounded(given, place, FACETS_MAX)):
            path = f"{place}[{number}]"
            data = _object(value)
            name = free_name(_text(data.get("FacetName")) or f"Facet{number + 1}", names, " ")
            if name != _text(data.get("FacetName")):
                self._note(f"the facet's name is missing or a duplicate: changed to {name!r}", path)
            names.add(name)
            aliases = _object(data.get("KeyAttributeAlias"))
            items = self._items(data.get("TableData"), f"{path}.TableData", key, types, seen)
            seen += items
            yield Facet(
                name,
                (_text(aliases.get("PartitionKeyAlias")), _text(aliases.get("SortKeyAlias"))),
                items,
                [name for name, _ in self._attributes(data.get("NonKeyAttributes"))],
            )

    def _items(
        self, given: Any, place: str, key: KeyAttributes, types: Mapping[str, Kind], seen: Iterable[Item]
    ) -> list[Item]:
        """The valid items; of several with one key, the first."""
        own = [attribute.name for attribute in key.all]
        keys = {tuple(str(item[name]) for name in own) for item in seen}
        items: list[Item] = []
        for number, value in enumerate(_list(given)):
            path = f"{place}[{number}]"
            item = self._item(_object(value), path, types)
            missing = [name for name in own if name not in item]
            if missing:
                self._note(f"the item is omitted, because it has no {' and no '.join(missing)}", path)
                continue
            identity = tuple(str(item[name]) for name in own)
            if identity in keys:
                self._note("duplicate key; the item is omitted", path)
                continue
            keys.add(identity)
            items.append(item)
        return items

    def _item(self, data: Json, place: str, types: Mapping[str, Kind]) -> Item:
        item: Item = {}
        if len(data) > ATTRIBUTES_MAX:
            self._note(f"the item has more than {ATTRIBUTES_MAX:,} attributes", place)
            return item
        for name, given in data.items():
            path = f"{place}.{name}"
            kind = types.get(name)
            try:
                value = values.check_value(given)
            except (values.ValueFault, values.NumberError, TypeError, ValueError, AttributeError, RecursionError):
                self._note("the value is omitted, because it isn't DynamoDB JSON", path)
                continue
            if kind is not None and (not value.get(kind) or len(str(value)) > KEY_CHARACTERS_MAX):
                self._note(f"the value is omitted, because it isn't valid in a key of type {kind}", path)
            elif name:
                item[name] = value
        return item


def free_name(wanted: str, taken: Container[str], joint: str = "_") -> str:
    """The name, with a number appended if the name is in use."""
    name, number = wanted, 2
    while name in taken:
        name, number = f"{wanted}{joint}{number}", number + 1
    return name


def _object(value: Any) -> Json:
    return value if isinstance(value, dict) else {}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _bounded(value: Any, place: str, most: int) -> list[Any]:
    """A list of the model. Raises RequestError if it is too long: the work grows with its square."""
    values = _list(value)
    if len(values) > most:
        text = f"the list has {len(values):,} entries; at most {most} are supported"
        raise RequestError("the model is too large", place=place, errors=[ErrorDetail(place, text, "split the model")])
    return values


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
