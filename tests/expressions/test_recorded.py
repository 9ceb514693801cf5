"""Results of expressions equal the recorded responses of DynamoDB Local, except where DynamoDB differs."""

from __future__ import annotations

import re
from typing import Any

import pytest

from tests.expressions.record import FAMILIES, read
from tests.expressions.running import normal, our_answer

# DynamoDB Local's message → DynamoDB's. Local omits the attribute's name, and words precision differently.
_SERVICE_MESSAGES = {
    "DynamoDB only supports precision up to 38 digits": (
        "Attempting to store more than 38 significant digits in a Number"
    )
}
# DynamoDB has one set of types for ADD and DELETE, and a short name for one of them.
_SERVICE_NAMES = {
    "typeSet: ALLOWED_FOR_DELETE_OPERAND": "typeSet: ALLOWED_FOR_ADD_OPERAND",
    "operator: ADD, operand type: BOOLEAN,": "operator: ADD, operand type: BOOL,",
    "operator: DELETE, operand type: BOOLEAN,": "operator: DELETE, operand type: BOOL,",
}
_TOO_PRECISE = "Attempting to store more than 38 significant digits in a Number"
_TOO_LARGE = "Number overflow. Attempting to store a number with magnitude larger than supported range"
# DynamoDB reports a computed number over 38 digits as an overflow.
_COMPUTED = {"ADD n :big", "ADD n :fine", "SET n = n + :big", "SET n = n + :fine"}
# Messages that DynamoDB Local words differently, or omits.
_SERVICE_KEYS = (
    (
        r"^Conditions can be of length 1 or 2 only$",
        r"^The number of query conditions \(\d\) exceeds the number of key ",
    ),
    (r"^(KeyConditionExpressions .*)$", r"^Invalid KeyConditionExpression: KeyConditionExpressions "),
    (
        r"^Invalid (operator used|condition) in ",
        r"^Invalid KeyConditionExpression: Invalid (operator used|condition) in ",
    ),
    (r"^Key attributes must be scalars; ", r"^Invalid KeyConditionExpression: .* conditions on nested attributes$"),
)
_MISSED = "Query condition missed key schema element"
# DynamoDB Local doesn't know two of the documented reserved words, and names a wrong second path.
_ONLY_LOCAL = {"size = :x", "a.size = :x", "#a,#b,a.b"}

CASES = [
    pytest.param(FAMILIES[family][0], entry, id=f"{family}-{number}: {entry['text'][:60]}")
    for family in FAMILIES
    for number, entry in enumerate(read(family))
    if entry["text"] not in _ONLY_LOCAL
]


@pytest.mark.parametrize(("kind", "entry"), CASES)
def test_the_result_of_an_expression_equals_the_recording(kind: str, entry: dict[str, Any]) -> None:
    expected, ours = normal(entry["answer"]), normal(our_answer(kind, entry))
    if isinstance(expected, dict) and "error" in expected:
        text = expected["error"]
        if text == _MISSED:
            assert ours["error"] in {f"{_MISSED}: pk", f"{_MISSED}: sk"}
            return
        for local, service in _SERVICE_KEYS:
            if re.search(local, text):
                assert re.search(service, ours["error"])
                return
        for local, service in _SERVICE_NAMES.items():
            text = text.replace(local, service)
        expected = {"error": _SERVICE_MESSAGES.get(text, text)}
        if entry["text"] in _COMPUTED and expected["error"] == _TOO_PRECISE:
            expected["error"] = _TOO_LARGE
    assert ours == expected


@pytest.mark.parametrize("family", FAMILIES)
def test_the_recording_contains_all_cases(family: str) -> None:
    recorded = [{key: entry[key] for key in ("text", "names", "values")} for entry in read(family)]
    assert recorded == FAMILIES[family][1]


@pytest.mark.parametrize("text", ["size = :x", "a.size = :x", "convert = :x"])
def test_reserved_words_that_dynamodb_local_accepts_are_rejected(text: str) -> None:
    word = text.split(" ", maxsplit=1)[0].removeprefix("a.")
    answer = our_answer("FilterExpression", {"text": text, "names": None, "values": {":x": {"S": "x"}}})
    assert answer == {
        "error": f"Invalid FilterExpression: Attribute name is a reserved keyword; reserved keyword: {word}"
    }
