"""Each member of each operation with JSON of each type: what is told of a wrong one is agreed upon."""

from __future__ import annotations

from typing import Any

import pytest

from keyplan.dynamodb.operations.registry import OPERATIONS
from keyplan.dynamodb.service_errors import ValidationException


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
