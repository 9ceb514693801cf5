"""Key attributes and indexes: their names, types and projections."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from keyplan.model.declared.declaration_errors import check_given, is_a, is_text, one_of, several

_ATTRIBUTES = "an attribute name, or a list of up to four attribute names"
_PROJECTIONS = '"ALL", "KEYS_ONLY", or a list of attribute names'


@dataclass(frozen=True, slots=True)
class KeyAttribute:
    """A key attribute. ``type`` is its DynamoDB type, S, N or B."""

    name: str
    type: Literal["S", "N", "B"] = "S"

    def __post_init__(self) -> None:
        check_given(
            "KeyAttribute",
            name=(self.name, is_text, "the name of an attribute"),
            type=(self.type, one_of("S", "N", "B"), "S, N or B"),
        )


def Number(name: str) -> KeyAttribute:  # noqa: N802 - reads as a type in a declaration
    """A key attribute of DynamoDB's type Number, which sorts by value: an int, a Decimal or a datetime."""
    return KeyAttribute(name, "N")


def Binary(name: str) -> KeyAttribute:  # noqa: N802 - reads as a type in a declaration
    """A key attribute of DynamoDB's type Binary."""
    return KeyAttribute(name, "B")


def key_attributes(given: str | KeyAttribute | Sequence[str | KeyAttribute] | None) -> tuple[KeyAttribute, ...]:
    """The key attributes for one or several names."""
    if given is None:
        return ()
    if isinstance(given, str | KeyAttribute):
        given = [given]
    return tuple(KeyAttribute(text) if isinstance(text, str) else text for text in given)


def is_key_attribute(given: Any) -> bool:
    """Whether the value is a KeyAttribute or an attribute name."""
    return is_text(given) or isinstance(given, KeyAttribute)


class Projected(Protocol):
    """A class that determines the projection of an index: a View."""

    def model_projection(self, index: Index, /) -> tuple[str, ...]:
        """The attributes to include in addition to the keys."""
        ...


@dataclass(frozen=True, init=False)
class Index:
    """A secondary index: ``Index("GSI1", "gsi1pk", "gsi1sk")``, ``Index("TOP", "game", Number("score"))``. An index has
    one to four partition key attributes, and up to four sort key attributes.

    ``projection`` is ``"ALL"``, ``"KEYS_ONLY"``, or the names of the attributes to include; ``projected_for(OrderRow)``
    includes the attributes of a View. ``local=True`` creates a local secondary index, which has the table's partition
    key and supports strongly consistent reads; it can't be added later, and limits each item collection to 10 GB.
    Raises DesignError for an argument of the wrong type.

    Source: CreateTable in the DynamoDB API reference, which has multi-attribute keys since November 2025.
    """

    name: str
    partition: tuple[KeyAttribute, ...]
    sort: tuple[KeyAttribute, ...]
    projection: Literal["ALL", "KEYS_ONLY"] | tuple[str, ...] = "ALL"
    local: bool = False

    def __init__(
        self,
        name: str,
        partition: str | KeyAttribute | Sequence[str | KeyAttribute],
        sort: str | KeyAttribute | Sequence[str | KeyAttribute] | None = None,
        *,
        projection: Literal["ALL", "KEYS_ONLY"] | Sequence[str] = "ALL",
        local: bool = False,
    ) -> None:
        check_given(
            "Index",
            name=(name, is_text, "the name of an index"),
            partition=(partition, _is_part_of_key, _ATTRIBUTES),
            sort=(sort, _is_sort, _ATTRIBUTES),
            projection=(projection, _is_projection, _PROJECTIONS),
            local=(local, is_a(bool), "True or False"),
        )
        included = projection if isinstance(projection, str) else tuple(projection)
        object.__setattr__(self, "name", name)
        object.__setattr__(self, "partition", key_attributes(partition))
        object.__setattr__(self, "sort", key_attributes(sort))
        object.__setattr__(self, "projection", included)
        object.__setattr__(self, "local", local)

    def projected_for(self, *views: Projected) -> Index:
        """The index with the attributes that these views need, in addition to its projection. Use the result in
        ``Table(indexes=[...])``, because keys refer to the index before views exist. Fields in the keys of the table or
        of the index aren't included again.
        """
        included = self.projection if isinstance(self.projection, tuple) else ()
        names = dict.fromkeys((*included, *(name for view in views for name in view.model_projection(self))))
        return Index(self.name, self.partition, self.sort, projection=tuple(names) or "KEYS_ONLY", local=self.local)

    def same_keys(self, other: Index) -> bool:
        """Whether both are the same index, regardless of their projections."""
        mine, theirs = (self.name, self.partition, self.sort), (other.name, other.partition, other.sort)
        return mine == theirs and self.local is other.local

    def holds(self, attribute: str) -> bool:
        """Whether the index projects this non-key attribute."""
        return self.projection == "ALL" or attribute in self.projection

    def __repr__(self) -> str:
        names = ", ".join(repr(attribute.name) for attribute in (*self.partition, *self.sort))
        return f"Index({self.name!r}, {names})"


def _is_part_of_key(given: Any) -> bool:
    return is_key_attribute(given) or several(is_key_attribute, at_least=1)(given)


def _is_sort(given: Any) -> bool:
    return given is None or is_key_attribute(given) or several(is_key_attribute)(given)


def _is_projection(given: Any) -> bool:
    return one_of("ALL", "KEYS_ONLY")(given) or several(is_text, at_least=1)(given)
