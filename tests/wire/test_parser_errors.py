"""The columns that error messages of the strict parser report for missing values and values of a wrong type."""

from __future__ import annotations

import json
from typing import Any

import pytest

from keyplan.dynamodb.operations.shape_errors import refuse_unreadable
from keyplan.dynamodb.operations.shapes import Structure, Text
from keyplan.errors import DynamoDBError


def message(shape: Structure, request: Any) -> str:
    try:
        refuse_unreadable(shape, request)
    except DynamoDBError as error:
        return f"{error.type}: {error.message}"
    return "read"


@pytest.mark.parametrize(
    "value",
    [
        *([number * [1] for number in range(8)]),
        *({f"é{number}": [number] for number in range(length)} for length in range(8)),
        [2**70, "é", {"é": [1, 2, 3], "b": 1.5}],
        {"a": [[1, 2, 3], [4, 5, 6]], "b": {"c": 2**64, "d": "😀"}, "e": None},
    ],
)
def test_the_reported_error_column_is_the_length_of_the_preceding_json(value: Any) -> None:
    """The length is counted in bytes, without spaces, up to the first invalid character."""
    shape = Structure({"Wrong": Text(), "Missing": Text()}, required=frozenset({"Missing"}))
    request = {"Before": value, "Wrong": 17}
    text = json.dumps(request, ensure_ascii=False, separators=(",", ":")).encode()
    assert message(shape, {**request, "After": 1}).endswith(f"at line 1 column {len(text) - 1}")
    text = json.dumps({"Before": value}, ensure_ascii=False, separators=(",", ":")).encode()
    assert message(shape, {"Before": value}).endswith(f"at line 1 column {len(text)}")
