"""The table of operations agrees with the service model that botocore brings."""

from __future__ import annotations

from typing import Any

import pytest

from keyplan.dynamodb.operations.registry import OPERATIONS
from keyplan.dynamodb.operations.shapes import Flag, ListOf, MapOf, Real, Shape, Structure, Text, Value, Whole
from keyplan.dynamodb.service_errors import ValidationException

session = pytest.importorskip("botocore.session")
MODELS = {
    "DynamoDB": session.get_session().get_service_model("dynamodb"),
    "DynamoDBStreams": session.get_session().get_service_model("dynamodbstreams"),
}
SERVICE = MODELS["DynamoDB"]

NARROWER = {"TableClass", "TableName", "KeySchema"}
"""Members whose limits are those the service has, where the model says less."""
LOOSER = {"Tags", "TagKeys", "BackupArn", "KMSMasterKeyId", "TableArn"}
"""Members whose shape is another at the service than in its model."""
TOLD_APART = {"UpdateTable.ReplicaUpdates[].Create": {"RegionName"}}
"""Members that the service misses in words of their own."""
MISSED = {"ImportTable": {"ClientToken"}}
"""Members that the service misses where its model doesn't: clients fill them in by themselves."""


def kinds(shape: Shape) -> set[str]:
    match shape:
        case Text():
            return {"string"}
        case Whole(bits=bits):
            return {"integer" if bits == 32 else "long"}
        case Real():
            return {"timestamp", "double", "float"}
        case Flag():
            return {"boolean"}
        case Value() | Structure():
            return {"structure"}
        case ListOf():
            return {"list"}
        case MapOf():
            return {"map"}


def compare(ours: Shape, theirs: Any, place: str, legacy: set[str]) -> None:
    assert theirs.type_name in kinds(ours), place
    if place.rsplit(".", 1)[-1] in LOOSER:
        return
    limits = theirs.metadata
    name = place.rsplit(".", 1)[-1]
    if isinstance(ours, Text | Whole | ListOf) and name not in NARROWER and "TableName" not in name:
        # Lengths of lists that only the service's prose limits may be narrower with us.
        assert ours.min == limits.get("min") or (ours.min is None and not limits.get("min")), place
        if "max" in limits and limits["max"] < 65535:
            assert ours.max == limits["max"], place
    if isinstance(ours, Text) and ours.enum:
        assert set(ours.enum) == set(limits["enum"]), place
    if isinstance(ours, ListOf):
        compare(ours.of, theirs.member, place + "[]", legacy)
    if isinstance(ours, MapOf):
        compare(ours.of, theirs.value, place + "{}", legacy)
    if isinstance(ours, Structure):
        assert set(ours.members) == set(theirs.members) - legacy, place
        missed = {"AttributeDefinitions", "KeySchema"} | MISSED.get(place, set())
        assert ours.required - set(theirs.required_members) <= missed, place
        assert set(theirs.required_members) - TOLD_APART.get(place, set()) <= ours.required, place
        for member, shape in ours.members.items():
            compare(shape, theirs.members[member], f"{place}.{member}", legacy)


@pytest.mark.parametrize("operation", OPERATIONS)
def test_members_types_and_limits(operation: str) -> None:
    ours = OPERATIONS[operation]
    legacy = {*ours.not_there}
    model = MODELS[ours.api].operation_model(operation).input_shape
    compare(ours.request, model, operation, legacy)
    assert {*ours.legacy, *ours.not_there} <= set(model.members)


def test_every_operation_of_the_service_is_there() -> None:
    streams = session.get_session().get_service_model("dynamodbstreams").operation_names
    assert OPERATIONS.keys() == {*SERVICE.operation_names, *streams}


@pytest.mark.parametrize(("operation", "member"), [(o, m) for o in OPERATIONS for m in OPERATIONS[o].not_there])
def test_members_of_features_that_are_not_there_are_refused(operation: str, member: str) -> None:
    needed: dict[str, Any] = {
        "TableName": "orders",
        "AttributeDefinitions": [],
        "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
    }
    OPERATIONS[operation].validate(needed)
    with pytest.raises(ValidationException, match=f"{member} is not supported here"):
        OPERATIONS[operation].validate({**needed, member: [{"Anything": True}]})
