"""What a vector index may be: the rules of CreateTable and UpdateTable. The texts are AWS's."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from keyplan.wire.errors import LimitExceededException, ResourceNotFoundException, ValidationException, one_or_more
from keyplan.wire.limits import (
    VECTOR_DIMENSIONS_MAX,
    VECTOR_FILTERS_MAX,
    VECTOR_INDEXES_MAX,
    VECTOR_PROJECTED_MAX,
)

Definition = dict[str, Any]
Indexes = Sequence[Mapping[str, Any]]


def check_vector_indexes(indexes: Indexes, defined: Collection[str], billing_mode: str | None) -> None:
    """Refuse vector indexes that can't be, by themselves or together.

    Raises:
        ValidationException: they can't.
    """
    check_on_demand(indexes, billing_mode)
    if len(indexes) > VECTOR_INDEXES_MAX:
        raise one_or_more(f"VectorIndex count exceeds the per-table limit of {VECTOR_INDEXES_MAX}")
    dimensions: dict[str, int] = {}
    for index in indexes:
        _check_index(index, defined)
        name = index["VectorAttribute"]["AttributeName"]
        if dimensions.setdefault(name, index["Dimensions"]) != index["Dimensions"]:
            raise one_or_more(
                f"Conflicting attribute definition for '{name}'. "
                "All VectorIndexes on the same vector attribute must use the same dimensions."
            )


def check_on_demand(indexes: Indexes, billing_mode: str | None) -> None:
    """Refuse vector indexes of a table that isn't on demand, or is to be it no more.

    Raises:
        ValidationException: there are some.
    """
    if indexes and billing_mode != "PAY_PER_REQUEST":
        raise one_or_more("Vector indexes are only supported for PAY_PER_REQUEST tables")


def _check_index(index: Mapping[str, Any], defined: Collection[str]) -> None:
    name = index["VectorAttribute"]["AttributeName"]
    if name in defined:
        raise is_defined(name)
    if not 1 <= index["Dimensions"] <= VECTOR_DIMENSIONS_MAX:
        raise one_or_more(f"Number of dimensions must be between 1 and {VECTOR_DIMENSIONS_MAX} inclusive.")
    elements: Sequence[Mapping[str, str]] = index.get("SearchSchema") or ()
    names = [element["AttributeName"] for element in elements]
    kinds = [element["SearchSchemaElementType"] for element in elements]
    if any(name not in defined for name in names):
        raise one_or_more("One element in SearchSchema is not defined in attribute definitions")
    if len(set(names)) < len(names):
        raise one_or_more("SearchSchema contains multiple elements with the same name")
    if kinds.count("HASH") > 1:
        raise one_or_more("SearchSchema can have at most one HASH element")
    if kinds.count("INLINE_FILTER") > VECTOR_FILTERS_MAX:
        raise one_or_more(f"SearchSchema can have at most {VECTOR_FILTERS_MAX} INLINE_FILTER elements")
    projection = index["Projection"]
    if projection.get("ProjectionType") is None:
        raise one_or_more("Unknown ProjectionType: null")
    has_names = bool(projection.get("NonKeyAttributes"))
    if has_names != (projection["ProjectionType"] == "INCLUDE"):
        said = "specified" if has_names else "not specified"
        raise one_or_more(f"ProjectionType is {projection['ProjectionType']}, but NonKeyAttributes is {said}")
    for number, each in enumerate(projection.get("NonKeyAttributes") or ()):
        if each in projection["NonKeyAttributes"][:number]:
            raise one_or_more(f"Duplicate element in NonKeyAttributes: {each}")
    if has_names and len(projection["NonKeyAttributes"]) >= VECTOR_PROJECTED_MAX:
        raise one_or_more(f"Number of projected attributes must not exceed {VECTOR_PROJECTED_MAX}")


def is_defined(name: str) -> ValidationException:
    """The error of a vector's attribute that is to have a type of its own, as keys and filters have."""
    return one_or_more(f"VectorAttribute {name} must not be an attribute of AttributeDefinitions")


def one_vector_change(updates: Indexes, *, has_other: bool) -> Mapping[str, Any] | None:
    """The one creation or removal that an UpdateTable asks for; ``has_other`` says that it changes another index.

    Raises:
        ValidationException: an update says nothing, or several things.
        LimitExceededException: there are several.
    """
    for update in updates:
        actions = [kind for kind in ("Create", "Delete") if update.get(kind)]
        if not actions:
            raise one_or_more("One of VectorIndexUpdate.Create, VectorIndexUpdate.Delete must not be null")
        if len(actions) > 1:
            raise one_or_more("Only one vector index action is allowed per VectorIndexUpdate object")
    if len(updates) + has_other > 1:
        raise LimitExceededException(
            "Subscriber limit exceeded: Only 1 online index can be created or deleted simultaneously per table"
        )
    return updates[0] if updates else None


def with_vector_change(
    definition: Definition, change: Mapping[str, Any], attributes: Sequence[Mapping[str, str]]
) -> Definition:
    """The definition with a vector index more, or less.

    Raises:
        ValidationException: the new one can't be.
        ResourceNotFoundException: the one to remove isn't there.
    """
    indexes: list[Mapping[str, Any]] = list(definition.get("VectorIndexes") or [])
    numbers: dict[str, int] = dict(definition["IndexNumbers"])
    known = {each["AttributeName"]: each for each in definition["AttributeDefinitions"]}
    create = change.get("Create")
    changed: Definition
    if create:
        if create["IndexName"] in numbers:
            raise ValidationException("Attempting to create an index which already exists")
        for each in attributes:
            if known.setdefault(each["AttributeName"], each)["AttributeType"] != each["AttributeType"]:
                raise one_or_more(
                    "Attributes cannot be redefined. "
                    "Please check that your attribute has the same type as previously defined."
                )
        indexes.append(create)
        numbers[create["IndexName"]] = definition["NextIndexNumber"]
        check_vector_indexes(indexes, known, definition["BillingMode"])
        changed = {**definition, "NextIndexNumber": definition["NextIndexNumber"] + 1}
    else:
        name = change["Delete"]["IndexName"]
        if all(index["IndexName"] != name for index in indexes):
            raise ResourceNotFoundException("Requested resource not found")
        indexes = [index for index in indexes if index["IndexName"] != name]
        del numbers[name]
        changed = dict(definition)
    changed |= {"VectorIndexes": indexes, "IndexNumbers": numbers, "AttributeDefinitions": list(known.values())}
    return changed
