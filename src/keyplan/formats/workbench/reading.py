"""The file of a Workbench model, read leniently: whatever is unusual is noted.

AWS doesn't document the format, and files come from several versions, from scripts and from hands. Unknown members are
ignored. A file is refused if it isn't JSON, or has no table with a partition key. ``plain.py`` reads single values,
``tables.py`` the tables of other files.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, Literal, cast

from keyplan.errors import ErrorDetail, RequestError
from keyplan.formats.workbench.plain import attribute_value, key_value
from keyplan.formats.workbench.tables import as_workbench

__all__ = ["Facet", "Index", "Item", "KeyAttribute", "KeyAttributes", "Model", "TableModel", "read_model"]

Item = dict[str, dict[str, Any]]
"""A sample item in DynamoDB's JSON."""
Json = dict[str, Any]
Kind = Literal["S", "N", "B"]
"""The types that a key attribute can have."""

_NAME = re.compile(r"[A-Za-z0-9_.-]{3,255}")
_TYPES = {"STRING": "S", "NUMBER": "N", "BINARY": "B"}
_PLACES_MAX = 5
"""So many places of one remark are named."""


@dataclass(frozen=True)
class KeyAttribute:
    """An attribute of a key."""

    name: str
    type: Kind


@dataclass(frozen=True)
class KeyAttributes:
    """A table's or an index's key."""

    partition: KeyAttribute
    sort: KeyAttribute | None = None

    @property
    def all(self) -> tuple[KeyAttribute, ...]:
        """Its attributes."""
        return (self.partition,) if self.sort is None else (self.partition, self.sort)


@dataclass(frozen=True)
class Index:
    """An index. ``projection`` is ALL, KEYS_ONLY, or the attributes that it includes."""

    name: str
    key: KeyAttributes
    projection: str | tuple[str, ...]
    local: bool


@dataclass(frozen=True)
class Facet:
    """A kind of items: the nearest thing to an entity. ``aliases`` are its names for the table's key attributes."""

    name: str
    aliases: tuple[str, str] = ("", "")
    items: list[Item] = field(default_factory=list[Item])
    attributes: list[str] = field(default_factory=list[str])


@dataclass(frozen=True)
class TableModel:
    """One table. ``schema`` has the templates that its author wrote beside the sample, by entity and attribute, as
    OneTable's visualizer saves them.
    """

    name: str
    key: KeyAttributes
    attributes: dict[str, str] = field(default_factory=dict[str, str])
    facets: list[Facet] = field(default_factory=list[Facet])
    indexes: list[Index] = field(default_factory=list[Index])
    items: list[Item] = field(default_factory=list[Item])
    schema: dict[str, dict[str, str]] = field(default_factory=dict[str, dict[str, str]])


@dataclass(frozen=True)
class Model:
    """A model: its name, what it says of itself, its tables, and what was noticed when it was read."""

    name: str
    description: str
    tables: list[TableModel]
    notes: tuple[str, ...] = ()


def read_model(text: str, where: str) -> Model:
    """The model in a file's text. Raises RequestError where there is none, with the places that are to blame."""
    try:
        data = json.loads(text.removeprefix("\ufeff"), parse_float=Decimal)
    except json.JSONDecodeError as error:
        place = f"{where}:{error.lineno}:{error.colno}"
        raise RequestError(f"this isn't JSON: {error.msg}", place=place, hint="export the model again") from None
    except (RecursionError, ValueError, ArithmeticError):
        raise RequestError("it is nested too deeply, or holds a number beyond sense", place=where) from None
    if isinstance(data, list) and data and isinstance(data[0], dict):
        data = data[0]
    if not isinstance(data, dict):
        raise RequestError("a model is a JSON object", place=where, hint="export it from NoSQL Workbench")
    reader = _Reader()
    try:
        half = _half_surrogate(data, "")
        if half is not None:
            raise RequestError("a text has half a surrogate pair", place=f"{where}: {half}", hint="correct its escapes")
        model = reader.model(as_workbench(data))
    except RecursionError:
        raise RequestError("it is nested too deeply", place=where) from None
    if not model.tables:
        count = len(reader.faults)
        raise RequestError(
            f"this is no model of NoSQL Workbench: {count} fault{'s' if count > 1 else ''}",
            place=where,
            errors=reader.faults,
            hint="fix these places; the format is the JSON that NoSQL Workbench exports",
        )
    return model


class _Reader:
    """Reads a model; keeps what was noticed, and why a table can't be read."""

    def __init__(self) -> None:
        self.faults: list[ErrorDetail] = []
        self._noticed: dict[str, list[str]] = {}

    def model(self, data: Json) -> Model:
        metadata = _object(data.get("ModelMetadata"))
        tables: list[TableModel] = []
        given = data.get("DataModel")
        if not isinstance(given, list) or not given:
            self.faults.append(
                ErrorDetail("DataModel", "it lists no tables" if "DataModel" in data else "field required")
            )
            given = []
        for number, value in enumerate(given):
            table = self._table(value, f"DataModel[{number}]", data)
            if table is not None:
                tables.append(table)
        self.faults.sort(key=lambda fault: fault.place)
        if tables:
            for fault in self.faults:
                self._note("the table is left out", f"{fault.place}: {fault.message}")
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

    def _table(self, given: Any, place: str, model: Json) -> TableModel | None:
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
            _schema(data.get("ModelSchema")) or _schema(model.get("ModelSchema")),
        )

    def _name(self, given: Any, place: str, otherwise: str) -> str:
        """The name, made one that DynamoDB takes."""
        text = _text(given)
        if _NAME.fullmatch(text):
            return text
        name = re.sub(r"[^A-Za-z0-9_.-]+", "_", text).strip("_")[:240] or otherwise
        name = name if len(name) >= 3 else f"{name}-{otherwise.lower()}"
        self._note(f"{text!r} is no name that DynamoDB takes: it is {name!r} here", place)
        return name

    def _key(self, given: Any, place: str) -> KeyAttributes | None:
        data = _object(given)
        partition = self._key_attribute(data.get("PartitionKey"), f"{place}.PartitionKey")
        if partition is None:
            self.faults.append(
                ErrorDetail(f"{place}.PartitionKey" if data else place, "field required: the name of an attribute")
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
            self._note(f"{name} has no type that a key can have: it is taken for a text", place)
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
        for number, given in enumerate(_list(table.get(member))):
            path = f"{place}.{member}[{number}]"
            data = _object(given)
            attributes = _object(data.get("KeyAttributes"))
            if local:  # it has the table's partition key, whether the file repeats it or not
                partition_key = {"AttributeName": own.partition.name, "AttributeType": own.partition.type}
                attributes = {**attributes, "PartitionKey": partition_key}
            if any(side.startswith("Further") for side in attributes):
                self._note("the index has several attributes in a key, and is left out", path)
                continue
            parts = [
                self._key_attribute(attributes.get(side), f"{path}.{side}") for side in ("PartitionKey", "SortKey")
            ]
            if parts[0] is None or (local and parts[1] is None):
                self._note("the index has no whole key, and is left out", path)
                continue
            name = self._name(data.get("IndexName"), f"{path}.IndexName", "Index")
            if name in names:
                self._note(f"there is an index {name} already: this one is left out", path)
                continue
            names.add(name)
            partition, sort = (None if part is None else self._typed(part, types, path) for part in parts)
            assert partition is not None  # noqa: S101 - looked at above
            key = KeyAttributes(partition, None if sort is None or sort.name == partition.name else sort)
            yield Index(name, key, self._projection(data.get("Projection"), own, key), local)

    def _typed(self, attribute: KeyAttribute, types: dict[str, Kind], place: str) -> KeyAttribute:
        """The attribute with the type that it has in keys that stand before."""
        kind = types.setdefault(attribute.name, attribute.type)
        if kind != attribute.type:
            self._note(
                f"{attribute.name} is of type {attribute.type} here and {kind} before: it is taken for {kind}", place
            )
        return KeyAttribute(attribute.name, kind)

    @staticmethod
    def _projection(given: Any, own: KeyAttributes, key: KeyAttributes) -> str | tuple[str, ...]:
        """Key attributes are in every index; listed among the included, DynamoDB refuses them."""
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
        for number, value in enumerate(_list(given)):
            path = f"{place}[{number}]"
            data = _object(value)
            wanted = _text(data.get("FacetName")) or f"Facet{number + 1}"
            name, count = wanted, 2
            while name in names:
                name, count = f"{wanted} {count}", count + 1
            if name != _text(data.get("FacetName")):
                self._note(f"the facet has no name of its own: it is {name!r} here", path)
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
        self,
        given: Any,
        place: str,
        key: KeyAttributes,
        types: Mapping[str, Kind],
        seen: Iterable[Item],
    ) -> list[Item]:
        """The items that could stand in the table; of two with one key the first, as they show one item twice."""
        own = [attribute.name for attribute in key.all]
        keys = {tuple(str(item[name]) for name in own) for item in seen}
        items: list[Item] = []
        for number, value in enumerate(_list(given)):
            path = f"{place}[{number}]"
            item = self._item(_object(value), path, types)
            missing = [name for name in own if name not in item]
            if missing:
                self._note(f"the item has no {' and no '.join(missing)}, and is left out", path)
                continue
            identity = tuple(str(item[name]) for name in own)
            if identity in keys:
                self._note("an item with this key stands before, and this one is left out", path)
                continue
            keys.add(identity)
            items.append(item)
        return items

    def _item(self, data: Json, place: str, types: Mapping[str, Kind]) -> Item:
        item: Item = {}
        for name, given in data.items():
            path = f"{place}.{name}"
            value = attribute_value(given, lambda what, path=path: self._note(what, path))  # type: ignore[misc]
            if value is None or not name:
                continue
            kind = types.get(name)
            if kind is not None:
                as_key = key_value(value, kind)
                if as_key is None:
                    self._note(f"can't stand in a key of type {kind}, and is left out", path)
                    continue
                value = as_key
            item[name] = value
        return item


def _half_surrogate(data: Any, place: str) -> str | None:
    """The place of a text that can't be encoded; None if there is none."""
    if isinstance(data, str):
        return place if any("\ud800" <= character <= "\udfff" for character in data) else None
    pairs = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    for name, value in pairs:
        half = _half_surrogate(name, f"{place} (a name)") or _half_surrogate(value, f"{place}.{name!a}".lstrip("."))
        if half is not None:
            return half
    return None


def _schema(given: Any) -> dict[str, dict[str, str]]:
    """Templates by entity and attribute: ``{"order": {"SK": "${date}#${id}"}}``."""
    result: dict[str, dict[str, str]] = {}
    for name, attributes in _object(_object(given).get("models")).items():
        templates = {attribute: _text(_object(value).get("value")) for attribute, value in _object(attributes).items()}
        result[name] = {attribute: text for attribute, text in templates.items() if text}
    return result


def _object(value: Any) -> Json:
    return value if isinstance(value, dict) else {}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
