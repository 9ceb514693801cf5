"""Tests of bound key conditions on multi-attribute keys, with the error messages of DynamoDB Local."""

from __future__ import annotations

import pytest

from keyplan.dynamodb.expressions import ExpressionFault, KeyTerm, Placeholders, bind_key_condition
from keyplan.dynamodb.expressions.key_conditions import KeyCondition

A, N, S = {"S": "a"}, {"N": "1"}, {"S": "s"}
VALUES = {":a": A, ":n": N, ":s": S}
PARTITION = ["h1", "h2"]
SORT = ["r1", "r2", "r3"]
TYPES = {"h1": "S", "h2": "N", "r1": "S", "r2": "N", "r3": "S", "pk": "S"}


def bind(text: str, partition: list[str], sort: list[str]) -> KeyCondition:
    values = {key: value for key, value in VALUES.items() if key in text}
    return bind_key_condition(text, Placeholders(None, values), partition=partition, sort=sort, types=TYPES)


@pytest.mark.parametrize(
    ("text", "sort"),
    [
        ("h1 = :a AND h2 = :n", ()),
        ("h2 = :n AND h1 = :a", ()),
        (":n = h2 AND (:a = h1)", ()),
        ("h1 = :a AND h2 = :n AND r1 = :s", (KeyTerm("r1", "=", (S,)),)),
        ("h1 = :a AND h2 = :n AND :s < r1", (KeyTerm("r1", ">", (S,)),)),
        ("h1 = :a AND h2 = :n AND :s >= r1", (KeyTerm("r1", "<=", (S,)),)),
        (
            "r2 BETWEEN :n AND :n AND h1 = :a AND (h2 = :n AND r1 = :s)",
            (KeyTerm("r1", "=", (S,)), KeyTerm("r2", "BETWEEN", (N, N))),
        ),
        (
            "h1 = :a AND h2 = :n AND r1 = :s AND r2 = :n AND begins_with(r3, :s)",
            (KeyTerm("r1", "=", (S,)), KeyTerm("r2", "=", (N,)), KeyTerm("r3", "begins_with", (S,))),
        ),
    ],
)
def test_key_conditions_are_bound_in_key_order(text: str, sort: tuple[KeyTerm, ...]) -> None:
    assert bind(text, PARTITION, SORT) == KeyCondition((A, N), sort)


HASH = "HASH key attributes {} must have equality conditions specified in the query"
RANGE = (
    "RANGE key attributes {} must have equality conditions specified in the query "
    "because a condition is present on key attribute {}"
)
MISSED = "Query condition missed key schema element: {}"
UNSUPPORTED = "Query key condition not supported"
MISMATCH = "One or more parameter values were invalid: Condition parameter type does not match schema type"
TOO_MANY = "The number of query conditions ({}) exceeds the number of key attributes defined in the schema ({})"
TWICE = "Invalid KeyConditionExpression: KeyConditionExpressions must only contain one condition per key"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("h1 = :a", HASH.format("h2")),
        ("h2 = :n", HASH.format("h1")),
        ("r1 = :s", HASH.format("h1, h2")),
        ("zz = :a AND yy = :a AND xx = :a", HASH.format("h1, h2")),
        ("h1 = :a AND h2 > :n", HASH.format("h2")),
        ("h1 > :a", HASH.format("h2")),  # missing conditions are reported first
        ("h1 > :a AND h2 > :n", HASH.format("h1, h2")),
        ("h1 > :a AND h2 = :n", HASH.format("h1")),
        ("h1 = :a AND r1 = :s", HASH.format("h2")),
        ("h1 = :a AND h2 = :n AND r2 = :n", RANGE.format("r1", "r2")),
        ("h1 = :a AND h2 = :n AND r1 = :s AND r3 = :s", RANGE.format("r2", "r3")),
        ("h1 = :a AND h2 = :n AND r1 > :s AND r3 = :s", RANGE.format("r2", "r3")),
        ("h1 = :a AND h2 = :n AND r1 > :s AND r2 = :n", RANGE.format("r1", "r2")),
        ("h1 = :a AND h2 = :n AND r1 = :s AND r2 > :n AND r3 > :s", RANGE.format("r2", "r3")),
        ("h1 = :a AND h2 = :n AND zz = :s", MISSED.format("r1")),
        ("h1 = :a AND h2 = :n AND r1 > :s AND zz = :s", MISSED.format("r2")),
        ("h1 = :a AND h2 = :n AND r1 = :s AND r2 = :n AND r3 = :s AND zz = :a", TOO_MANY.format(6, 5)),
        ("h1 = :n AND h2 = :n", MISMATCH),
        ("h1 = :a AND h2 = :n AND r1 = :n", MISMATCH),
        ("h1 = :a AND h1 = :a AND h2 = :n", TWICE),
    ],
)
def test_invalid_conditions_on_multi_attribute_keys_are_rejected(text: str, message: str) -> None:
    with pytest.raises(ExpressionFault) as caught:
        bind(text, PARTITION, SORT)
    assert caught.value.message == message


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("pk = :a AND zz = :s", TOO_MANY.format(2, 1)),
        ("pk = :a AND r1 > :s AND zz = :s", TOO_MANY.format(3, 1)),
        ("zz = :s", MISSED.format("pk")),
        ("pk > :a", UNSUPPORTED),
    ],
)
def test_invalid_conditions_on_a_key_without_sort_key_are_rejected(text: str, message: str) -> None:
    with pytest.raises(ExpressionFault) as caught:
        bind(text, ["pk"], [])
    assert caught.value.message == message
