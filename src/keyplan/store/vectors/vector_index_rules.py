"""What a vector index may be: the rules of CreateTable and UpdateTable. The texts are AWS's."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from keyplan.dynamodb.limits import (
    VECTOR_DIMENSIONS_MAX,
    VECTOR_FILTERS_MAX,
    VECTOR_INDEXES_MAX,
    VECTOR_PROJECTED_MAX,
)
from keyplan.dynamodb.service_errors import LimitExceededException, ValidationException, one_or_more

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
    if not 1 <= index["Dimensions"] <= VECTOR_DIMENSIONS_MAX:
        raise one_or_more(f"Number of dimensions must be between 1 and {VECTOR_DIMENSIONS_MAX} inclusive.")
    elements: Sequence[Mapping[str, str]] = index.get("SearchSchema") or ()
    names = [element["AttributeName"] for element in elements]
    kinds = [element["SearchSchemaElementType"] for element in elements]
    if any(name not in defined for name in names):
        raise one_or_more("One element in SearchSchema is not defined in attribute definitions")
    if len(set(names)) < len(names):
        raise one_or_more("SearchSchema contains a duplicate AttributeName")
    for kind, most in (("HASH", 1), ("INLINE_FILTER", VECTOR_FILTERS_MAX)):
        if kinds.count(kind) > most:
            raise one_or_more(
                f"Value '{kinds.count(kind)}' at 'SearchSchema' failed to satisfy constraint: "
                f"Member must have {kind} count less than or equal to {most}"
            )
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


def check_vector_names(indexes: Indexes, given: Collection[str]) -> None:
    """Refuse definitions, ``given`` in a request, of what holds vectors.

    Raises:
        ValidationException: there is one.
    """
    for index in indexes:
        name = index["VectorAttribute"]["AttributeName"]
        if name in given:
            raise one_or_more(
                f"Conflicting attribute definition for '{name}'. "
                "An attribute cannot be defined in AttributeDefinitions when used as a VectorAttribute."
            )


def redefined(existing: str, new: str) -> ValidationException:
    """The error of an attribute that is to have another type than it has; both schemas as the service prints them."""
    return one_or_more(
        "Attributes cannot be redefined. Please check that your attribute has the same type as previously defined. "
        f"Existing schema: {existing} New schema: {new}"
    )


def printed_vector(index: Mapping[str, Any]) -> str:
    """The schema of a vector index as the service prints it."""
    name = index["VectorAttribute"]["AttributeName"]
    return f"VectorIndexSchema:[VectorAttribute: key{{{name}:L:{index['Dimensions']}}}]"


def printed_schema(schema: Indexes, types: Mapping[str, str]) -> str:
    """A key schema as the service prints it."""
    elements = (
        f"SchemaElement: key{{{key['AttributeName']}:{types.get(key['AttributeName'])}:{key['KeyType']}}}"
        for key in schema
    )
    return f"Schema:[{', '.join(elements)}]"


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
        LimitExceededException: there are as many as there may be.
    """
    indexes: list[Mapping[str, Any]] = list(definition.get("VectorIndexes") or [])
    numbers: dict[str, int] = dict(definition["IndexNumbers"])
    known = {each["AttributeName"]: each for each in definition["AttributeDefinitions"]}
    create = change.get("Create")
    changed: Definition
    if create:
        if create["IndexName"] in numbers:
            raise ValidationException("Attempting to create an index which already exists")
        if len(indexes) == VECTOR_INDEXES_MAX:
            raise LimitExceededException(
                "Subscriber limit exceeded: Number of vector secondary indexes exceeds per-table limit of "
                f"{VECTOR_INDEXES_MAX}"
            )
        _check_definitions(definition, create, attributes)
        # What another type is given to, and the new index has no use of, stays as it is.
        known = {**{each["AttributeName"]: each for each in attributes}, **known}
        indexes.append(create)
        numbers[create["IndexName"]] = definition["NextIndexNumber"]
        check_vector_indexes(indexes, known, definition["BillingMode"])
        changed = {**definition, "NextIndexNumber": definition["NextIndexNumber"] + 1}
    else:
        name = change["Delete"]["IndexName"]
        indexes = [index for index in indexes if index["IndexName"] != name]
        del numbers[name]
        changed = dict(definition)
    changed |= {"VectorIndexes": indexes, "IndexNumbers": numbers, "AttributeDefinitions": list(known.values())}
    return changed


def _check_definitions(
    definition: Definition, create: Mapping[str, Any], attributes: Sequence[Mapping[str, str]]
) -> None:
    """Refuse a new index for the definitions that come with it, or for those of the table's keys."""
    given = {each["AttributeName"]: each["AttributeType"] for each in attributes}
    types = {each["AttributeName"]: each["AttributeType"] for each in definition["AttributeDefinitions"]}
    check_vector_names([*(definition.get("VectorIndexes") or ()), create], given)
    for each in definition.get("VectorIndexes") or ():
        if each["VectorAttribute"] == create["VectorAttribute"] and each["Dimensions"] != create["Dimensions"]:
            raise redefined(printed_vector(each), printed_vector(create))
    keyed: Indexes = [definition, *(definition.get("GlobalSecondaryIndexes") or ())]
    keyed = [*keyed, *(definition.get("LocalSecondaryIndexes") or ())]
    for each in keyed:
        if any(key["AttributeName"] == create["VectorAttribute"]["AttributeName"] for key in each["KeySchema"]):
            raise redefined(printed_schema(each["KeySchema"], types), printed_vector(create))
    check_vector_names([create], types)
    for element in create.get("SearchSchema") or ():
        name = element["AttributeName"]
        # Also what the table knows must be defined with the index.
        if name not in given:
            raise one_or_more("One element in SearchSchema is not defined in attribute definitions")
        if types.get(name, given[name]) != given[name]:
            raise one_or_more(
                "Attributes cannot be redefined. "
                "Please check that your attribute has the same type as previously defined."
            )
