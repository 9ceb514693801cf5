"""Error responses are converted to exceptions and classified as retryable or permanent."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from keyplan.client.transports.http1 import Reply, ReplyReader
from keyplan.client.transports.responses import Failure, Kind, answer_of, check_answer
from keyplan.dynamodb.service_errors import (
    ConditionalCheckFailedException,
    ResourceNotFoundException,
    TransactionCanceledException,
    ValidationException,
)
from keyplan.errors import DynamoDBError, StoreError
from tests.transports.faulty import error_body, reply


def failure(status: int, body: bytes) -> Failure:
    read = ReplyReader().feed(reply(status, body))
    assert read is not None
    with pytest.raises(Failure) as raised:
        answer_of(read)
    return raised.value


@pytest.mark.parametrize(
    ("kind", "cls", "fields"),
    [
        ("ValidationException", ValidationException, {}),
        ("ResourceNotFoundException", ResourceNotFoundException, {}),
        ("ConditionalCheckFailedException", ConditionalCheckFailedException, {"Item": {"pk": {"S": "a"}}}),
        ("TransactionCanceledException", TransactionCanceledException, {"CancellationReasons": [{"Code": "None"}]}),
        ("SomethingNewException", DynamoDBError, {"More": 1}),
    ],
)
def test_error_types_raise_their_exception_classes(kind: str, cls: type[DynamoDBError], fields: dict[str, Any]) -> None:
    """The exception has the message and the other members of the response."""
    result = failure(400, error_body(kind, "what is wrong", **fields))
    assert type(result.error) is cls
    assert (result.error.type, result.error.message, result.error.fields) == (kind, "what is wrong", fields)
    assert (result.kind, result.lost) == (Kind.FINAL, False)


@pytest.mark.parametrize(
    ("status", "kind", "fields", "expected", "lost"),
    [
        (400, "ThrottlingException", {}, Kind.THROTTLED, False),
        (400, "RequestLimitExceeded", {}, Kind.THROTTLED, False),
        (400, "TransactionInProgressException", {}, Kind.THROTTLED, False),
        (400, "TransactionConflictException", {}, Kind.TRANSIENT, False),
        (500, "InternalServerError", {}, Kind.TRANSIENT, True),
        (503, "ServiceUnavailable", {}, Kind.TRANSIENT, True),
        (500, "SomethingNew", {}, Kind.TRANSIENT, True),
        (400, "ExpiredTokenException", {}, Kind.EXPIRED, False),
        (400, "InvalidSignatureException", {}, Kind.CLOCK, False),
        (413, "SomethingNew", {}, Kind.FINAL, False),
        *(
            (
                400,
                "TransactionCanceledException",
                {"CancellationReasons": [{"Code": code} for code in codes]},
                kind,
                False,
            )
            for codes, kind in (
                (["None", "ThrottlingError"], Kind.THROTTLED),
                (["ThrottlingError", "ConditionalCheckFailed"], Kind.FINAL),
                (["TransactionConflict", "None"], Kind.FINAL),
                (["None"], Kind.FINAL),
            )
        ),
    ],
)
def test_errors_are_classified_as_retryable_or_permanent(
    status: int, kind: str, fields: dict[str, Any], expected: Kind, lost: bool
) -> None:
    """An error is throttling (also of a transaction), transient (with or without a possible effect) or permanent."""
    result = failure(status, error_body(kind, "no", **fields))
    assert (result.kind, result.lost) == (expected, lost)


@pytest.mark.parametrize(("status", "expected"), [(502, Kind.TRANSIENT), (503, Kind.THROTTLED), (403, Kind.FINAL)])
def test_responses_that_are_not_dynamodb_errors_raise_a_store_error(status: int, expected: Kind) -> None:
    for body in (b"<html>", b"", b"[1]", b'{"error": 1}'):
        result = failure(status, body)
        assert isinstance(result.error, StoreError)
        assert result.kind is expected


def members(strategy: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    names = st.sampled_from(["__type", "message", "Message", "CancellationReasons", "Code", "Item"])
    return st.dictionaries(names, strategy | st.just("x#TransactionCanceledException"), max_size=4)


SCALARS = st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=5)
JSON = st.recursive(SCALARS, lambda strategy: st.lists(strategy) | members(strategy))


@given(st.sampled_from([200, 302, 400, 500]), JSON.map(orjson.dumps) | st.binary(max_size=20))
def test_random_response_bodies_are_parsed_or_rejected(status: int, body: bytes) -> None:
    read = ReplyReader().feed(reply(status, body))
    assert read is not None
    with suppress(Failure):
        assert isinstance(answer_of(read), dict)


@pytest.mark.parametrize(
    "body", [b'{"Item": []}', b'{"Attributes": 1}', b'{"Items": {}}', b'{"LastEvaluatedKey": "x"}']
)
def test_response_members_of_the_wrong_json_type_are_rejected(body: bytes) -> None:
    with pytest.raises(Failure, match="invalid response") as caught:
        answer_of(Reply(200, {}, body, keep=True))
    assert caught.value.lost


KEY = {"pk": {"S": "a"}}
OTHER = {"pk": {"S": "b"}}
GET = {"TableName": "t", "Key": KEY}
QUERY = {
    "KeyConditionExpression": "#p = :p AND sk > :s",
    "ExpressionAttributeNames": {"#p": "pk"},
    "ExpressionAttributeValues": {":p": {"S": "a"}, ":s": {"S": "b"}},
    "ExclusiveStartKey": KEY,
}
BATCH = {"RequestItems": {"t": {"Keys": [KEY]}}}


@pytest.mark.parametrize(
    "answer",
    [
        {"Item": {"pk": "a"}},
        {"Item": {"pk": {}}},
        {"Item": {"pk": {"S": "a", "N": "1"}}},
        {"Item": {"pk": {"N": 1}}},
        {"Item": {"pk": {"ZZ": "1"}}},
        {"Item": {"pk": {"B": "="}}},
        {"Item": {"pk": {"SS": [1]}}},
        {"Item": {"pk": {"L": [{"M": {"x": {"BS": ["%"]}}}]}}},
        {"Items": [1]},
        {"Responses": 1},
        {"Responses": {"t": {}}},
        {"Responses": [None]},
        {"UnprocessedKeys": {"t": {}}},
        {"UnprocessedItems": [1]},
        {"CancellationReasons": [{"Code": ["x"]}]},
    ],
)
def test_responses_with_invalid_attribute_values_are_rejected(answer: dict[str, Any]) -> None:
    with pytest.raises(Failure, match="invalid response") as caught:
        answer_of(Reply(200, {}, orjson.dumps(answer), keep=True))
    assert caught.value.lost
    error = failure(400, error_body("ConditionalCheckFailedException", "no", **answer)).error
    assert isinstance(error, StoreError)


@pytest.mark.parametrize(
    ("operation", "parameters", "good", "foreign"),
    [
        ("GetItem", GET, [{}, {"Item": KEY}, {"Item": {"x": {"S": "1"}}}], [{"Item": OTHER}, {"Items": []}]),
        (
            "Query",
            QUERY,
            [{"Items": [KEY]}, {"Items": [], "LastEvaluatedKey": OTHER}],
            [{}, {"Items": [OTHER]}, {"Items": [], "LastEvaluatedKey": KEY}, {"Item": KEY}],
        ),
        ("Scan", {}, [{"Items": [OTHER]}], [{}, {"Responses": {}}]),
        (
            "BatchGetItem",
            BATCH,
            [{"Responses": {"t": [KEY]}}, {"Responses": {}, "UnprocessedKeys": {"t": {"Keys": [KEY]}}}],
            [
                {},
                {"Responses": {"t": [OTHER]}},
                {"Responses": {"t": [KEY, KEY]}},
                {"Responses": {"x": [KEY]}},
                {"Responses": []},
                {"Responses": {}, "UnprocessedKeys": {"t": {"Keys": [OTHER]}}},
            ],
        ),
        ("PutItem", {}, [{}, {"Attributes": KEY}], [{"Item": KEY}, {"Items": []}]),
    ],
)
def test_response_to_another_request_is_rejected(
    operation: str, parameters: dict[str, Any], good: list[dict[str, Any]], foreign: list[dict[str, Any]]
) -> None:
    """A proxy may mix up connections, or return the same page again and again."""
    for answer in good:
        check_answer(operation, parameters, answer)
    for answer in foreign:
        with pytest.raises(Failure, match=f"isn't the response to this {operation}") as caught:
            check_answer(operation, parameters, answer)
        assert caught.value.lost
