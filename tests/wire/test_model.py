"""The table of supported operations agrees with botocore's service model."""

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
"""Members with limits of DynamoDB that the model lacks."""
LOOSER = {"Tags", "TagKeys", "BackupArn", "KMSMasterKeyId", "TableArn"}
"""Members whose shape in DynamoDB differs from the model."""
OWN_MESSAGES = {"UpdateTable.ReplicaUpdates[].Create": {"RegionName"}}
"""Required members whose absence has a message of its own."""
REQUIRED = {"ImportTable": {"ClientToken"}}
"""Members that DynamoDB requires but the model doesn't: clients fill them in."""


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
        # Lists that only the documentation limits may be narrower here.
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
        required = {"AttributeDefinitions", "KeySchema"} | REQUIRED.get(place, set())
        assert ours.required - set(theirs.required_members) <= required, place
        assert set(theirs.required_members) - OWN_MESSAGES.get(place, set()) <= ours.required, place
        for member, shape in ours.members.items():
            compare(shape, theirs.members[member], f"{place}.{member}", legacy)


@pytest.mark.parametrize("operation", OPERATIONS)
def test_members_types_and_limits_of_operations_agree_with_botocore(operation: str) -> None:
    ours = OPERATIONS[operation]
    legacy = {*ours.not_there}
    model = MODELS[ours.api].operation_model(operation).input_shape
    compare(ours.request, model, operation, legacy)
    assert {*ours.legacy, *ours.not_there} <= set(model.members)


def test_every_operation_of_botocores_model_is_listed() -> None:
    streams = session.get_session().get_service_model("dynamodbstreams").operation_names
    assert OPERATIONS.keys() == {*SERVICE.operation_names, *streams}


@pytest.mark.parametrize(("operation", "member"), [(o, m) for o in OPERATIONS for m in OPERATIONS[o].not_there])
def test_request_members_of_unsupported_features_are_rejected(operation: str, member: str) -> None:
    needed: dict[str, Any] = {
        "TableName": "orders",
        "AttributeDefinitions": [],
        "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
    }
    OPERATIONS[operation].validate(needed)
    with pytest.raises(ValidationException, match=f"{member} isn't supported by"):
        OPERATIONS[operation].validate({**needed, member: [{"Anything": True}]})
