"""Tags of tables, and descriptions of limits, endpoints and continuous backups."""

from __future__ import annotations

from typing import Any

import pytest

from keyplan.store import Engine
from tests.engine.support import answer, create, keyed

LIMITS = 50


def arn_of(engine: Engine, name: str = "orders") -> str:
    arn: str = engine.call("DescribeTable", {"TableName": name})["Table"]["TableArn"]
    return arn


def tags(*pairs: tuple[str, str]) -> list[dict[str, str]]:
    return [{"Key": key, "Value": value} for key, value in pairs]


def listed(engine: Engine) -> list[dict[str, str]]:
    result: list[dict[str, str]] = engine.call("ListTagsOfResource", {"ResourceArn": arn_of(engine)})["Tags"]
    return result


def test_tags_are_added_replaced_and_removed(engine: Engine) -> None:
    create(engine, Tags=tags(("owner", "blue team"), ("cost", "42")))
    arn = arn_of(engine)
    assert listed(engine) == tags(("owner", "blue team"), ("cost", "42"))
    assert engine.call("TagResource", {"ResourceArn": arn, "Tags": tags(("cost", "7"), ("Größe", ""))}) == {}
    assert listed(engine) == tags(("owner", "blue team"), ("cost", "7"), ("Größe", ""))
    assert engine.call("UntagResource", {"ResourceArn": arn, "TagKeys": ["cost", "not there"]}) == {}
    assert listed(engine) == tags(("owner", "blue team"), ("Größe", ""))
    engine.call("UpdateTable", {"TableName": "orders", "DeletionProtectionEnabled": True})
    assert listed(engine) == tags(("owner", "blue team"), ("Größe", ""))


def test_tags_can_be_added_but_not_listed_with_an_arn_of_another_region(engine: Engine) -> None:
    create(engine)
    arn = "arn:aws:dynamodb:eu-west-1:123456789012:table/orders"
    engine.call("TagResource", {"ResourceArn": arn, "Tags": tags(("a", "b"))})
    assert listed(engine) == tags(("a", "b"))
    denied = answer(engine, "ListTagsOfResource", {"ResourceArn": arn})
    assert denied["error"] == "AccessDeniedException"
    assert f"not authorized to perform: dynamodb:ListTagsOfResource on resource: {arn}" in denied["message"]


@pytest.mark.parametrize("operation", ["TagResource", "UntagResource", "ListTagsOfResource"])
@pytest.mark.parametrize(
    ("arn", "type_", "message"),
    [
        (None, "ValidationException", "Value null at 'resourceArn'"),
        ("orders", "ValidationException", "ARNs must start with 'arn:': orders"),
        (
            "arn:aws:dynamodb:local:000000000000:table/orders/index/ByG",
            "ValidationException",
            "Invalid resource arn provided",
        ),
        ("arn:aws:s3:local:000000000000:table/orders", "ValidationException", "Provided Arn is not"),
        ("a" * 1284, "ValidationException", "Member must have length less than or equal to 1283"),
        (
            "arn:aws:dynamodb:local:000000000000:table/none",
            "ResourceNotFoundException",
            "Requested resource not found: ResourceArn: arn:aws:dynamodb:local:000000000000:table/none not found",
        ),
    ],
)
def test_invalid_resource_arns_are_rejected(
    engine: Engine, operation: str, arn: str | None, type_: str, message: str
) -> None:
    create(engine)
    params: dict[str, Any] = {"ResourceArn": arn, "Tags": tags(("a", "b")), "TagKeys": ["a"]}
    answered = answer(engine, operation, params)
    assert answered["error"] == type_
    assert message in answered["message"]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ([], "Atleast one Tag needs to be provided as Input."),
        (tags(("", "x")), "The Tag Key provided is invalid, Key: "),
        (tags(("x" * 129, "x")), "The Tag Key provided is invalid, Key: " + "x" * 129),
        (tags(("x", "x" * 257)), "The Tag Value provided is invalid, Value: " + "x" * 257),
        ([{"Key": "x"}], "The Tag Value provided is invalid, Value: null"),
        ([{"Value": "x"}], "The Tag Key provided is invalid, Key: null"),
        ([{}], "The Tag Key provided is invalid, Key: null"),
        (tags(("x", "1"), ("x", "2")), "Duplicate Tag Keys provided as input: Duplicate Tag Key found x"),
        (tags(("ok", "1"), ("aws:x", "1")), "Tag Key cannot be prefixed with aws:, Key: aws:x"),
        (tags(("AWS:x", "1")), "Tag Key cannot be prefixed with aws:, Key: AWS:x"),
        (tags(("ok", "#!%")), "The Tag Value provided is invalid, Value: #!%"),
        (
            tags(*((f"key{number}", "") for number in range(LIMITS + 1))),
            "Number of Tags exceed the current limit for the provided ResourceArn",
        ),
    ],
)
def test_invalid_tags_are_rejected(engine: Engine, given: list[dict[str, str]], message: str) -> None:
    create(engine, Tags=tags(("before", "1")))
    answered = answer(engine, "TagResource", {"ResourceArn": arn_of(engine), "Tags": given})
    assert answered["error"] == "ValidationException"
    assert message in answered["message"]
    assert listed(engine) == tags(("before", "1"))
    if given:
        made = answer(engine, "CreateTable", {**keyed(pk="S"), "TableName": "others", "Tags": given})
        assert (made["error"], message in made["message"]) == ("ValidationException", True)
        assert engine.call("ListTables", {})["TableNames"] == ["orders"]


def test_at_most_50_tags_are_stored(engine: Engine) -> None:
    create(engine, Tags=tags(*((f"key{number}", "") for number in range(LIMITS))))
    arn = arn_of(engine)
    engine.call("TagResource", {"ResourceArn": arn, "Tags": tags(("key0", "again"))})
    refused = answer(engine, "TagResource", {"ResourceArn": arn, "Tags": tags(("another", ""))})
    assert refused["error"] == "ValidationException"
    assert len(listed(engine)) == LIMITS


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ([""], "The Tag Key provided is invalid, Key: "),
        (["x" * 129], "The Tag Key provided is invalid, Key: " + "x" * 129),
        (["aws:x"], "Tag Key cannot be prefixed with aws:, Key: aws:x"),
        ([str(number) for number in range(51)], "Number of Tags exceed the current limit for the provided ResourceArn"),
    ],
)
def test_invalid_tag_keys_cannot_be_removed(engine: Engine, keys: list[str], message: str) -> None:
    create(engine, Tags=tags(("before", "1")))
    refused = answer(engine, "UntagResource", {"ResourceArn": arn_of(engine), "TagKeys": ["before", *keys][-51:]})
    assert refused == {"error": "ValidationException", "message": message}
    assert listed(engine) == tags(("before", "1"))


def test_empty_tag_key_list_is_rejected_and_unknown_pagination_token_is_ignored(engine: Engine) -> None:
    create(engine)
    arn = arn_of(engine)
    assert answer(engine, "UntagResource", {"ResourceArn": arn, "TagKeys": []})["message"].startswith("Atleast one")
    # An unknown token is ignored.
    assert engine.call("ListTagsOfResource", {"ResourceArn": arn, "NextToken": "x"}) == {"Tags": []}


def test_limits_endpoints_and_continuous_backups_are_described(engine: Engine) -> None:
    create(engine)
    assert engine.call("DescribeLimits", {}) == {
        "AccountMaxReadCapacityUnits": 80_000,
        "AccountMaxWriteCapacityUnits": 80_000,
        "TableMaxReadCapacityUnits": 40_000,
        "TableMaxWriteCapacityUnits": 40_000,
    }
    engine.endpoint = "127.0.0.1:8000"
    assert engine.call("DescribeEndpoints", {})["Endpoints"][0]["Address"] == "127.0.0.1:8000"
    description = engine.call("DescribeContinuousBackups", {"TableName": "orders"})["ContinuousBackupsDescription"]
    assert description["PointInTimeRecoveryDescription"] == {"PointInTimeRecoveryStatus": "DISABLED"}
    missing = answer(engine, "DescribeContinuousBackups", {"TableName": "none"})
    assert missing == {"error": "TableNotFoundException", "message": "Table not found: none"}
