"""The table of a design: its name, key attributes and indexes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from keyplan.model.declared.declaration_errors import check_given, is_a, is_text, or_none, several
from keyplan.model.declared.entity import Entity, is_entity
from keyplan.model.declared.indexes import Index, KeyAttribute, is_key_attribute, key_attributes
from keyplan.model.declared.keys import OURS, KeyStyle


@dataclass(frozen=True, init=False)
class Table:
    """The table of a design: ``Table("shop", indexes=[GSI1], entities=[Order])``.

    ``partition`` and ``sort`` are its key attributes, ``pk`` and ``sk`` by default: a name, or ``Number("year")`` or
    ``Binary("hash")``; ``sort=None`` declares a table without a sort key. ``entities`` lists entities that no signature
    of the design mentions (those used only in writes). ``key_style`` is the form of values in keys, for tables of other
    programs. A field of type :data:`~keyplan.Ttl` is the expiry time of an entity's items. Raises DesignError for an
    argument of the wrong type.
    """

    name: str
    indexes: tuple[Index, ...] = ()
    entities: tuple[type[Entity], ...] = ()
    partition: KeyAttribute = field(default=KeyAttribute("pk"))
    sort: KeyAttribute | None = field(default=KeyAttribute("sk"))
    key_style: KeyStyle = OURS

    def __init__(
        self,
        name: str,
        *,
        indexes: Iterable[Index] = (),
        entities: Iterable[type[Entity]] = (),
        partition: str | KeyAttribute = "pk",
        sort: str | KeyAttribute | None = "sk",
        key_style: KeyStyle = OURS,
    ) -> None:
        indexes = tuple(indexes) if isinstance(indexes, Iterator) else indexes
        entities = tuple(entities) if isinstance(entities, Iterator) else entities
        check_given(
            "Table",
            name=(name, is_text, "the name of a table"),
            indexes=(indexes, several(is_a(Index), in_order=False), "a list of indexes"),
            entities=(entities, several(is_entity, in_order=False), "a list of entity classes"),
            partition=(partition, is_key_attribute, "the name of an attribute"),
            sort=(sort, or_none(is_key_attribute), "the name of an attribute, or None"),
            key_style=(key_style, is_a(KeyStyle), "a KeyStyle"),
        )
        object.__setattr__(self, "name", name)
        object.__setattr__(self, "key_style", key_style)
        object.__setattr__(self, "indexes", tuple(indexes))
        object.__setattr__(self, "entities", tuple(entities))
        object.__setattr__(self, "partition", key_attributes(partition)[0])
        object.__setattr__(self, "sort", next(iter(key_attributes(sort)), None))

    @property
    def key_names(self) -> tuple[str, ...]:
        """The names of the table's key attributes."""
        return (self.partition.name,) if self.sort is None else (self.partition.name, self.sort.name)

    @property
    def attribute_types(self) -> dict[str, str]:
        """The types of all key attributes of the table and its indexes, by name."""
        return {attribute.name: attribute.type for attribute in self._key_attributes()}

    def create_request(self, name: str | None = None) -> dict[str, Any]:
        """The CreateTable request (on-demand billing) for this table. ``name`` replaces the table's name."""
        types = self.attribute_types
        request: dict[str, Any] = {
            "TableName": name or self.name,
            "AttributeDefinitions": [{"AttributeName": text, "AttributeType": kind} for text, kind in types.items()],
            "KeySchema": _key_schema((self.partition,), () if self.sort is None else (self.sort,)),
            "BillingMode": "PAY_PER_REQUEST",
        }
        for member, local in (("GlobalSecondaryIndexes", False), ("LocalSecondaryIndexes", True)):
            result = [_index_request(index) for index in self.indexes if index.local is local]
            if result:
                request[member] = result
        return request

    def _key_attributes(self) -> Iterable[KeyAttribute]:
        yield self.partition
        if self.sort is not None:
            yield self.sort
        for index in self.indexes:
            yield from index.partition
            yield from index.sort


def _key_schema(partition: Sequence[KeyAttribute], sort: Sequence[KeyAttribute]) -> list[dict[str, str]]:
    return [
        *({"AttributeName": attribute.name, "KeyType": "HASH"} for attribute in partition),
        *({"AttributeName": attribute.name, "KeyType": "RANGE"} for attribute in sort),
    ]


def _index_request(index: Index) -> dict[str, Any]:
    projection: dict[str, Any]
    if isinstance(index.projection, tuple):
        projection = {"ProjectionType": "INCLUDE", "NonKeyAttributes": list(index.projection)}
    else:
        projection = {"ProjectionType": index.projection}
    return {"IndexName": index.name, "KeySchema": _key_schema(index.partition, index.sort), "Projection": projection}
