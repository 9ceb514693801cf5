"""Which writes may be sent twice: those whose second execution changes nothing, or that carry a token."""

from __future__ import annotations

import time
from typing import Any

import pytest

from keyplan.client.transports.retries import Attempts, Quota, repeatable
from keyplan.dynamodb.service_errors import ConditionalCheckFailedException
from keyplan.errors import StoreError

TOKEN = {
    "ConditionExpression": "attribute_exists(#k) AND NOT contains(#t, :t)",
    "UpdateExpression": "SET #v = #v + :n ADD #t :s",
    "ExpressionAttributeNames": {"#t": "tokens", "#v": "views", "#k": "pk"},
    "ExpressionAttributeValues": {":t": {"S": "once"}, ":s": {"SS": ["once"]}, ":n": {"N": "1"}},
}
TOKENS: list[tuple[str, dict[str, Any], bool]] = [
    ("as it is written", {}, True),
    ("alone", {"ConditionExpression": "NOT contains(#t, :t)"}, True),
    ("beside another name", {"UpdateExpression": "SET #v = #v + :n ADD #v :n, #t :s"}, True),
    ("no condition", {"ConditionExpression": "attribute_exists(#k)"}, False),
    ("or something else", {"ConditionExpression": "#v = :n OR #k = :n AND NOT contains(#t, :t)"}, False),
    ("an or in parentheses", {"ConditionExpression": "(#v = :n OR (#k = :n)) AND NOT contains(#t, :t)"}, True),
    ("not the last", {"ConditionExpression": "NOT contains(#t, :t) AND #v = :n"}, False),
    ("another attribute is added to", {"UpdateExpression": "SET #v = #v + :n ADD #v :s"}, False),
    ("another token is added", {"ExpressionAttributeValues": {":t": {"S": "a"}, ":s": {"SS": ["b"]}}}, False),
    ("a number is added", {"ExpressionAttributeValues": {":t": {"S": "a"}, ":s": {"N": "1"}}}, False),
    ("nothing is added", {"UpdateExpression": "SET #v = #v + :n"}, False),
    ("another placeholder of its name", {
        "UpdateExpression": "SET #v = #v + :n ADD #u :s",
        "ExpressionAttributeNames": {"#t": "tokens", "#u": "tokens", "#v": "views"},
    }, True),
]  # fmt: skip


@pytest.mark.parametrize(("says", "other", "expected"), TOKENS, ids=[case[0] for case in TOKENS])
def test_what_is_known_as_a_token(says: str, other: dict[str, Any], expected: bool) -> None:
    """What is counted with one may be sent twice: the item itself says whether it was carried out."""
    parameters = {**TOKEN, **other}
    assert repeatable("UpdateItem", parameters) is expected
    element = Attempts("UpdateItem", parameters, Quota(), 4, time.monotonic() + 99)
    element.lost = True
    error = element._last(ConditionalCheckFailedException())
    assert isinstance(error, ConditionalCheckFailedException) is expected
    again = element._last(StoreError("the connection broke"))
    assert again.hint == ("call it again, with the same token" if expected else "read the item, and decide anew")


@pytest.mark.parametrize(
    ("operation", "parameters", "expected"),
    [
        ("PutItem", {"ReturnValues": "ALL_OLD"}, False),
        ("UpdateItem", {"ReturnValues": "ALL_OLD"}, False),
        ("DeleteItem", {"ReturnValues": "ALL_OLD"}, True),
        ("PutItem", {"ReturnValues": "ALL_NEW"}, True),
        ("UpdateItem", {}, True),
        ("UpdateItem", {"UpdateExpression": "SET #a = LIST_APPEND(#a, :b)"}, False),
        ("UpdateItem", {"UpdateExpression": "SET #a = :a - :b"}, False),
        ("UpdateItem", {"UpdateExpression": "add #a :b", "ExpressionAttributeValues": {":b": {"N": "1"}}}, False),
        ("UpdateItem", {"UpdateExpression": "ADD #a :b", "ExpressionAttributeValues": {":b": {"SS": ["1"]}}}, True),
        ("UpdateItem", {"UpdateExpression": "SET #a = :b", "ExpressionAttributeValues": {":b": {"N": "1"}}}, True),
    ],
)
def test_what_may_be_sent_twice(operation: str, parameters: dict[str, Any], expected: bool) -> None:
    assert repeatable(operation, parameters) is expected
