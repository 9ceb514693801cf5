"""Table schemas: rules of CreateTable and UpdateTable beyond request shapes, and the stored definition. Error messages
are AWS's.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from keyplan.dynamodb import limits
from keyplan.dynamodb.service_errors import LimitExceededException, ValidationException, one_or_more
from keyplan.store.control_plane.table_tags import check_tags, with_tags
from keyplan.store.throughput import check_maximum, check_warm, warm_units
from keyplan.store.vectors import (
    check_on_demand,
    check_vector_indexes,
    check_vector_names,
    printed_schema,
    printed_vector,
    redefined,
)

Definition = dict[str, Any]
Schema = Sequence[Mapping[str, str]]

_KEPT_SETTINGS = ("TableClass", "GlobalTableSettingsReplicationMode", "DisassociationProtectionEnabled")
_INDEXES = ("LocalSecondaryIndexes", "GlobalSecondaryIndexes", "VectorIndexes")
_CLASSES = ("STANDARD", "STANDARD_INFREQUENT_ACCESS")
_INDEX_ACTIONS = ("Create", "Update", "Delete")


def new_definition(request: Mapping[str, Any], now_s: float) -> Definition:
    """The definition of a table for a CreateTable request whose shape is validated. Raises ValidationException."""
    defined = _defined_names(request["AttributeDefinitions"])
    check_bounds(request.get("ProvisionedThroughput"))
    check_throughput(request.get("BillingMode"), request.get("ProvisionedThroughput"))
    _check_settings(request, request.get("BillingMode") or "PROVISIONED")
    if len(defined) < len(request["KeySchema"]):
        raise ValidationException("Invalid KeySchema: Some index key attribute have no definition")
    for member in _INDEXES:
        if request.get(member) == []:
            raise one_or_more(f"List of {member} is empty")
    _check_keys(request["KeySchema"], defined)
    vectors: Sequence[Mapping[str, Any]] = request.get("VectorIndexes") or ()
    check_vector_names(vectors, defined)
    _check_unused(request, defined)
    _check_local(request, defined)
    _check_global(request.get("GlobalSecondaryIndexes"), defined, request.get("BillingMode"))
    check_vector_indexes(vectors, defined, request.get("BillingMode"))
    _check_all_indexes(request)
    names = [index["IndexName"] for index in (*_indexes(request), *vectors)]
    check_tags(request.get("Tags") or [])
    definition: Definition = {
        "AttributeDefinitions": request["AttributeDefinitions"],
        "KeySchema": request["KeySchema"],
        "CreationDateTime": now_s,
        "BillingMode": request.get("BillingMode") or "PROVISIONED",
        "ProvisionedThroughput": request.get("ProvisionedThroughput"),
        "DeletionProtectionEnabled": bool(request.get("DeletionProtectionEnabled")),
        "Tags": with_tags([], request.get("Tags") or []),
        "IndexNumbers": {name: number for number, name in enumerate(names, 1)},
        "NextIndexNumber": len(names) + 1,
    }
    for member in (*_INDEXES, "WarmThroughput", "OnDemandThroughput"):
        if request.get(member):
            definition[member] = request[member]
    keep_settings(definition, request)
    keep_encryption(definition, request)
    if _new_stream(request.get("StreamSpecification")):
        definition["StreamSpecification"] = request["StreamSpecification"]
    return definition


def _check_settings(settings: Mapping[str, Any], mode: str, index: str | None = None) -> None:
    place = "table" if index is None else f"index {index}"
    check_maximum(settings.get("OnDemandThroughput") or {}, mode, index)
    check_warm(settings.get("WarmThroughput") or {}, mode, settings.get("ProvisionedThroughput"), place)


def keep_encryption(definition: Definition, request: Mapping[str, Any], *, updates: bool = False) -> None:
    wanted: Mapping[str, Any] | None = request.get("SSESpecification")
    if wanted is None:
        return
    enabled = wanted.get("Enabled")
    if enabled is False:
        for member in ("SSEType", "KMSMasterKeyId"):
            if wanted.get(member) is not None:
                raise one_or_more(f"{member} can not be specified if Enabled is false")
    if wanted.get("SSEType") == "AES256":
        raise one_or_more("SSEType AES256 is not supported")
    if wanted.get("KMSMasterKeyId") is not None and wanted.get("SSEType") is None:
        raise one_or_more("SSEType KMS is required if KMSMasterKeyId is specified")
    before = definition.get("SSESpecification") or {}
    is_on = bool(wanted.get("SSEType") if enabled is None else enabled)
    if updates and not is_on and not before.get("Enabled"):
        raise one_or_more("Table is already encrypted by default")
    definition["SSESpecification"] = {**wanted, "Enabled": is_on}


def _new_stream(specification: Mapping[str, Any] | None) -> bool:
    if specification is None:
        return False
    if specification["StreamEnabled"] and not specification.get("StreamViewType"):
        raise one_or_more("Table is being created with a stream enabled, UpdateViewType is required")
    if not specification["StreamEnabled"] and specification.get("StreamViewType"):
        raise one_or_more("Table is being created with a stream disabled, UpdateViewType should not be specified")
    return bool(specification["StreamEnabled"])


def check_stream_change(request: Mapping[str, Any], name: str, *, is_enabled: bool) -> None:
    specification = request["StreamSpecification"]
    if specification["StreamEnabled"] and not specification.get("StreamViewType"):
        raise one_or_more("If stream is being enabled then UpdateViewType is required")
    if not specification["StreamEnabled"] and specification.get("StreamViewType"):
        raise one_or_more("If stream is being disabled, then UpdateViewType must not be specified")
    if request.get("ProvisionedThroughput") is not None:
        raise one_or_more("You cannot modify stream status while updating table IOPS")
    if any(update.get("Create") or update.get("Delete") for update in request.get("GlobalSecondaryIndexUpdates") or ()):
        raise one_or_more("You cannot create or delete index while changing stream status")
    if specification["StreamEnabled"] and is_enabled:
        raise ValidationException(f"Table already has an enabled stream: TableName: {name}")
    if not specification["StreamEnabled"] and not is_enabled:
        raise ValidationException(f"Table has no stream to disable: TableName: {name}")


def keep_settings(definition: Definition, request: Mapping[str, Any]) -> None:
    """Store settings that only table descriptions use. Raises ValidationException if the table class is unknown."""
    if request.get("TableClass") not in {None, *_CLASSES}:
        raise ValidationException(
            "Invalid table-class parameter provided. Please try again with a valid table-class value: "
            f"[{', '.join(_CLASSES)}]."
        )
    for member in _KEPT_SETTINGS:
        if request.get(member) is not None:
            definition[member] = request[member]


def with_index(definition: Definition, create: Mapping[str, Any], attributes: Schema) -> Definition:
    """The definition with an additional global secondary index. Raises ValidationException if the index is invalid."""
    name = create["IndexName"]
    if name in definition["IndexNumbers"]:
        raise ValidationException("Attempting to create an index which already exists")
    if not attributes:
        raise one_or_more(f"AttributeDefinitions is not specified for index: {name}")
    known = {each["AttributeName"]: dict(each) for each in definition["AttributeDefinitions"]}
    types = {name: each["AttributeType"] for name, each in known.items()}
    new = {**types, **{each["AttributeName"]: each["AttributeType"] for each in attributes}}
    of_vectors = {index["VectorAttribute"]["AttributeName"]: index for index in definition.get("VectorIndexes") or ()}
    for key in create["KeySchema"]:
        attribute = key["AttributeName"]
        if attribute in of_vectors:
            raise redefined(printed_vector(of_vectors[attribute]), printed_schema(create["KeySchema"], new))
        if types.get(attribute) not in {None, new.get(attribute)}:
            raise redefined(printed_schema(definition["KeySchema"], types), printed_schema(create["KeySchema"], new))
    # The service ignores a different type of an attribute that the new index doesn't use (recorded from the service).
    known = {**{each["AttributeName"]: dict(each) for each in attributes}, **known}
    if len(definition.get("GlobalSecondaryIndexes") or ()) >= limits.GLOBAL_INDEXES_MAX:
        raise LimitExceededException(
            "Subscriber limit exceeded: Number of global secondary indexes exceeds per-table limit of "
            f"{limits.GLOBAL_INDEXES_MAX}"
        )
    used = {*_used_names(definition), *(key["AttributeName"] for key in create["KeySchema"])}
    indexes = [*definition.get("GlobalSecondaryIndexes", ()), dict(create)]
    # The request must define the new index's key attributes, even if the table already defines them.
    _check_global([create], [each["AttributeName"] for each in attributes], definition["BillingMode"], updates=True)
    changed = {
        **definition,
        "AttributeDefinitions": [each for each in known.values() if each["AttributeName"] in used],
        "GlobalSecondaryIndexes": indexes,
        "IndexNumbers": {**definition["IndexNumbers"], name: definition["NextIndexNumber"]},
        "NextIndexNumber": definition["NextIndexNumber"] + 1,
    }
    _check_all_indexes(changed)
    return changed


def without_index(definition: Definition, name: str) -> Definition:
    """The definition without a global index, and without attributes that only this index used."""
    indexes = [index for index in definition["GlobalSecondaryIndexes"] if index["IndexName"] != name]
    changed = {**definition, "GlobalSecondaryIndexes": indexes}
    if not indexes:
        del changed["GlobalSecondaryIndexes"]
    numbers = definition["IndexNumbers"]
    changed["IndexNumbers"] = {index: number for index, number in numbers.items() if index != name}
    return with_used_attributes(changed)


def with_used_attributes(definition: Definition) -> Definition:
    """The definition without attributes that no key or search schema uses."""
    used = _used_names(definition)
    attributes = [each for each in definition["AttributeDefinitions"] if each["AttributeName"] in used]
    return {**definition, "AttributeDefinitions": attributes}


def _used_names(definition: Mapping[str, Any]) -> list[str]:
    names = [key["AttributeName"] for key in definition["KeySchema"]]
    names += [key["AttributeName"] for index in _indexes(definition) for key in index["KeySchema"]]
    for index in definition.get("VectorIndexes") or ():
        names += [element["AttributeName"] for element in index.get("SearchSchema") or ()]
    return list(dict.fromkeys(names))


def one_index_change(updates: Sequence[Mapping[str, Any]]) -> Mapping[str, Any] | None:
    """The only creation or deletion among the index updates of an UpdateTable. Raises ValidationException if an update
    is empty, or an index occurs twice, or LimitExceededException if the update has several creations or deletions.
    """
    changes: list[Mapping[str, Any]] = []
    names: set[str] = set()
    for update in updates:
        actions = [update[kind] for kind in _INDEX_ACTIONS if update.get(kind)]
        if not actions:
            raise one_or_more(
                "One of GlobalSecondaryIndexUpdate.Update, GlobalSecondaryIndexUpdate.Create, "
                "GlobalSecondaryIndexUpdate.Delete must not be null"
            )
        if len(actions) > 1:
            raise one_or_more("Only one global secondary index action is allowed per GlobalSecondaryIndexUpdate object")
        name = actions[0]["IndexName"]
        if name in names:
            raise one_or_more(
                f"Only one global secondary index update per index is allowed simultaneously. Index: {name}"
            )
        names.add(name)
        if update.get("Create") or update.get("Delete"):
            changes.append(update)
    if len(changes) > 1:
        raise LimitExceededException(
            "Subscriber limit exceeded: Only 1 online index can be created or deleted simultaneously per table"
        )
    return changes[0] if changes else None


def with_billing(definition: Mapping[str, Any], mode: str, now_s: float, updated: Collection[str]) -> Definition:
    """The definition with another billing mode; ``updated`` has the indexes whose throughput the request sets. Raises
    ValidationException if an index would have no throughput, or a vector index would be in a provisioned table.
    """
    before = definition["BillingMode"]
    check_on_demand(definition.get("VectorIndexes") or (), mode)
    # A change of the billing mode keeps the warm throughput.
    changed: Definition = {**definition, "BillingMode": mode, "WarmThroughput": warm_units(definition, before)}
    changed.pop("OnDemandThroughput", None)
    indexes: list[dict[str, Any]] = [dict(index) for index in definition.get("GlobalSecondaryIndexes", ())]
    for index in indexes:
        index["WarmThroughput"] = warm_units(index, before)
        index.pop("OnDemandThroughput", None)
    if mode == "PAY_PER_REQUEST":
        changed |= {"OnDemandSince": now_s, "ProvisionedThroughput": None}
        for index in indexes:
            index.pop("ProvisionedThroughput", None)
    else:
        # DescribeTable returns the time of the last switch to on-demand mode, in provisioned mode too.
        changed.setdefault("OnDemandSince", definition["CreationDateTime"])
        for index in indexes:
            if index["IndexName"] not in updated:
                raise one_or_more(f"ProvisionedThroughput must be specified for index: {index['IndexName']}")
    if indexes:
        changed["GlobalSecondaryIndexes"] = indexes
    return changed


def check_bounds(throughput: Mapping[str, int] | None) -> None:
    for name in ("ReadCapacityUnits", "WriteCapacityUnits"):
        if throughput is not None and throughput[name] > limits.UNITS_MAX:
            raise ValidationException(f"Given value {throughput[name]} for {name} is out of bounds")


def _indexes(definition: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return [*(definition.get("LocalSecondaryIndexes") or ()), *(definition.get("GlobalSecondaryIndexes") or ())]


def _defined_names(attributes: Schema) -> list[str]:
    names = [each["AttributeName"] for each in attributes]
    twice = _first_repeated(names)
    if twice is not None:
        raise ValidationException(f"Attribute Name is duplicated: {twice}")
    return names


def _first_repeated(names: Sequence[str]) -> str | None:
    counts = Counter(names)
    return next((name for name in names if counts[name] > 1), None)


def check_throughput(mode: str | None, throughput: Mapping[str, int] | None) -> None:
    if mode == "PAY_PER_REQUEST":
        if throughput:
            raise one_or_more(
                "Neither ReadCapacityUnits nor WriteCapacityUnits can be specified when BillingMode is PAY_PER_REQUEST"
            )
    elif not throughput:
        raise one_or_more(
            "ReadCapacityUnits and WriteCapacityUnits must both be specified when BillingMode is PROVISIONED"
        )


def _check_keys(schema: Schema, defined: Iterable[str]) -> None:
    _check_defined(schema, defined)
    if len(schema) == 2 and schema[0]["AttributeName"] == schema[1]["AttributeName"]:
        raise ValidationException("Both the Hash Key and the Range Key element in the KeySchema have the same name")
    if schema[0]["KeyType"] != "HASH":
        raise ValidationException("Invalid KeySchema: The first KeySchemaElement is not a HASH key type")
    if len(schema) == 2 and schema[1]["KeyType"] != "RANGE":
        raise ValidationException("Invalid KeySchema: The second KeySchemaElement is not a RANGE key type")


def _check_defined(schema: Schema, defined: Iterable[str]) -> None:
    known = list(defined)
    keys = [key["AttributeName"] for key in schema]
    if any(key not in known for key in keys):
        raise one_or_more(
            "Some index key attributes are not defined in AttributeDefinitions. "
            f"Keys: [{', '.join(hashed_order(keys))}], "
            f"AttributeDefinitions: [{', '.join(hashed_order(known, least_slots=1))}]"
        )


def _check_local(request: Mapping[str, Any], defined: Iterable[str]) -> None:
    indexes: list[Mapping[str, Any]] | None = request.get("LocalSecondaryIndexes")
    if indexes is None:
        return
    table = request["KeySchema"]
    if len(table) < 2:
        raise one_or_more(
            "Table KeySchema does not have a range key, which is required when specifying a LocalSecondaryIndex"
        )
    for index in indexes:
        name, schema = index["IndexName"], index["KeySchema"]
        _check_keys(schema, defined)
        if len(schema) != 2:
            raise one_or_more(f"Index KeySchema does not have a range key for index: {name}")
        if schema[0]["AttributeName"] != table[0]["AttributeName"]:
            raise one_or_more(
                "Index KeySchema does not have the same leading hash key as table KeySchema for index: "
                f"{name}. index hash key: {schema[0]['AttributeName']}, "
                f"table hash key: {table[0]['AttributeName']}"
            )
        _check_projection(index["Projection"])
    if len(indexes) > limits.LOCAL_INDEXES_MAX:
        raise one_or_more("Number of LocalSecondaryIndexes exceeds per-table limit of 5")


def _check_global(
    indexes: Sequence[Mapping[str, Any]] | None,
    defined: Iterable[str],
    billing_mode: str | None,
    *,
    updates: bool = False,
) -> None:
    if indexes is None:
        return
    known = list(defined)
    for index in indexes:
        _check_defined(index["KeySchema"], known)
        _check_index_schema(index["KeySchema"])
        _check_projection(index["Projection"])
        if (billing_mode == "PAY_PER_REQUEST") == bool(index.get("ProvisionedThroughput")):
            raise one_or_more(_index_throughput(index["IndexName"], billing_mode, updates=updates))
        _check_settings(index, billing_mode or "PROVISIONED", index["IndexName"])


def _index_throughput(name: str, billing_mode: str | None, *, updates: bool) -> str:
    if billing_mode != "PAY_PER_REQUEST":
        if updates:
            return f"Both ReadCapacityUnits and WriteCapacityUnits must be specified for index: {name}"
        return f"ProvisionedThroughput is not specified for index: {name}"
    if updates:
        return no_units(name)
    return f"ProvisionedThroughput should not be specified for index: {name} when BillingMode is PAY_PER_REQUEST"


def no_units(name: str) -> str:
    """The error of an UpdateTable that sets the throughput of an on-demand table's index."""
    rule = "when BillingMode is PAY_PER_REQUEST"
    return f"Neither ReadCapacityUnits nor WriteCapacityUnits can be specified for index: {name} {rule}"


def _check_index_schema(schema: Schema) -> None:
    """One to four HASH attributes, then up to four RANGE attributes, without duplicates."""
    names = [key["AttributeName"] for key in schema]
    kinds = [key["KeyType"] for key in schema]
    if len(set(names)) < len(names):
        if len(names) == 2:
            raise ValidationException("Both the Hash Key and the Range Key element in the KeySchema have the same name")
        raise ValidationException("The KeySchema contains multiple key attributes with the same name")
    if kinds[0] != "HASH":
        raise ValidationException("Invalid KeySchema: The first KeySchemaElement is not a HASH key type")
    partition_count = kinds.count("HASH")
    if kinds != ["HASH"] * partition_count + ["RANGE"] * (len(kinds) - partition_count):
        raise one_or_more("All HASH key attributes must precede RANGE key attributes in the KeySchema")
    if partition_count > limits.INDEX_PARTITION_ATTRIBUTES_MAX:
        raise one_or_more("The KeySchema exceeds the maximum allowed number of HASH key attributes")
    if len(kinds) - partition_count > limits.INDEX_SORT_ATTRIBUTES_MAX:
        raise one_or_more("The KeySchema exceeds the maximum allowed number of RANGE key attributes")


def _check_projection(projection: Mapping[str, Any]) -> None:
    kind = projection.get("ProjectionType")
    names = projection.get("NonKeyAttributes")
    if kind is None:
        raise one_or_more("Unknown ProjectionType: null")
    if names is not None and kind != "INCLUDE":
        raise one_or_more(f"ProjectionType is {kind}, but NonKeyAttributes is specified")
    for number, name in enumerate(names or ()):
        if name in (names or ())[:number]:
            raise one_or_more(f"Duplicate element in NonKeyAttributes: {name}")
    if kind == "INCLUDE" and not names:
        raise one_or_more("ProjectionType is INCLUDE, but NonKeyAttributes is not specified")


def _check_all_indexes(definition: Mapping[str, Any]) -> None:
    names = [index["IndexName"] for index in (*_indexes(definition), *(definition.get("VectorIndexes") or ()))]
    twice = _first_repeated(names)
    if twice is not None:
        raise one_or_more(f"Duplicate index name: {twice}")
    if len(definition.get("GlobalSecondaryIndexes") or ()) > limits.GLOBAL_INDEXES_MAX:
        raise one_or_more(f"GlobalSecondaryIndex count exceeds the per-table limit of {limits.GLOBAL_INDEXES_MAX}")
    projected = sum(len(index["Projection"].get("NonKeyAttributes") or ()) for index in _indexes(definition))
    if projected > limits.PROJECTED_NAMES_PER_TABLE_MAX:
        raise one_or_more(
            "Total number of attributes projected through NonKeyAttributes exceeds "
            f"the per-table limit of {limits.PROJECTED_NAMES_PER_TABLE_MAX}"
        )


def _check_unused(request: Mapping[str, Any], defined: Sequence[str]) -> None:
    """Reject attribute definitions without a key: reported before other errors of indexes."""
    if not _indexes(request) and not request.get("VectorIndexes"):
        if len(defined) > len(request["KeySchema"]):
            raise one_or_more(
                "Number of attributes in KeySchema does not exactly match number of attributes defined "
                "in AttributeDefinitions"
            )
        return
    keys = _used_names(request)
    if len(defined) > len(keys):
        raise one_or_more(
            "Some AttributeDefinitions are not used. "
            f"AttributeDefinitions: [{', '.join(hashed_order(defined, least_slots=1))}], "
            f"keys used: [{', '.join(hashed_order(keys))}]"
        )


def hashed_order(names: Iterable[str], least_slots: int = 16) -> list[str]:
    """The names in the order of a Java hash table that is at most three quarters full, as the service lists sets."""
    once = list(dict.fromkeys(names))
    slots = least_slots
    while len(once) * 4 > slots * 3:
        slots *= 2
    return sorted(once, key=lambda name: _spread_hash(name) % slots)


def _spread_hash(text: str) -> int:
    """The hash that Java's hash tables use for a string."""
    units = text.encode("utf-16-be")
    number = 0
    for high, low in zip(units[::2], units[1::2], strict=True):
        number = (31 * number + 256 * high + low) % 2**32
    return number ^ number >> 16
