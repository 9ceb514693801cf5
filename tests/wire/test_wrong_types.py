"""Each member of each operation with JSON of each type: what is told of a wrong one is agreed upon."""

from __future__ import annotations

from typing import Any

import pytest

from keyplan.dynamodb.operations import shape_errors as explanation
from keyplan.dynamodb.operations.registry import OPERATIONS
from keyplan.dynamodb.service_errors import SerializationException, ValidationException


def told(operation: str, member: str, value: Any) -> str:
    """The error of a type, if it is one."""
    has_table = "TableName" in OPERATIONS[operation].request.members
    try:
        OPERATIONS[operation].validate({**({"TableName": "orders"} if has_table else {}), member: value})
    except SerializationException as error:
        return error.message
    except ValidationException:
        pass
    return "-"


@pytest.mark.parametrize("members", [[5, "a"], ["a", 5], [True, "a"], ["a", {}]])
@pytest.mark.parametrize("tag", ["SS", "NS", "BS"])
def test_each_member_of_a_set_is_a_text(tag: str, members: list[Any]) -> None:
    with pytest.raises(SerializationException):
        OPERATIONS["PutItem"].check_types({"TableName": "orders", "Item": {"pk": {"S": "a"}, "x": {tag: members}}})


def test_decimals_of_whole_numbers_are_cut_off_wherever_they_stand() -> None:
    """In lists, too; and then limits are looked at."""
    units = {"ReadCapacityUnits": 1.9, "WriteCapacityUnits": 2.0}
    index = {
        "IndexName": "ByG",
        "KeySchema": [{"AttributeName": "g", "KeyType": "HASH"}],
        "Projection": {"ProjectionType": "ALL"},
        "ProvisionedThroughput": units,
    }
    request: dict[str, Any] = {
        "TableName": "orders",
        "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
        "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
        "GlobalSecondaryIndexes": [index],
    }
    OPERATIONS["CreateTable"].validate(request)
    assert units == {"ReadCapacityUnits": 1, "WriteCapacityUnits": 2}
    units["ReadCapacityUnits"] = 0.9
    with pytest.raises(ValidationException) as caught:
        OPERATIONS["CreateTable"].validate(request)
    assert "Value '0' at 'globalSecondaryIndexes.1.member.provisionedThroughput.readCapacityUnits'" in str(caught.value)


@pytest.mark.parametrize("sign", ["!", "=A"])
def test_binary_is_looked_at_to_its_end_and_over_the_borders_of_pieces(
    monkeypatch: pytest.MonkeyPatch, sign: str
) -> None:
    monkeypatch.setattr(explanation, "_PIECE_CHARACTERS", 8)
    text = "A" * 32

    def check(content: str) -> None:
        OPERATIONS["PutItem"].check_types({"TableName": "orders", "Item": {"pk": {"B": content}}})

    check(text)
    for place in range(len(text) - len(sign)):
        with pytest.raises(SerializationException):
            check(text[:place] + sign + text[place + len(sign) :])
