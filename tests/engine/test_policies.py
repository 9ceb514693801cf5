"""Resource-based policies of tables: normalized text, revisions and validation."""

from __future__ import annotations

import json
from typing import Any

import pytest

from keyplan.store import Engine
from tests.engine.support import answer, create

ARN = "arn:aws:dynamodb:eu-west-1:000000000000:table/orders"


def policy(**members: Any) -> str:
    statement = {
        "Sid": "one",
        "Effect": "Allow",
        "Principal": {"AWS": "arn:aws:iam::111122223333:root"},
        "Action": "dynamodb:GetItem",
        "Resource": ARN,
        **members,
    }
    return json.dumps({"Version": "2012-10-17", "Statement": [statement]})


def test_policy_is_stored_read_and_deleted(engine: Engine) -> None:
    create(engine)
    none = answer(engine, "GetResourcePolicy", {"ResourceArn": ARN})
    assert none["error"] == "PolicyNotFoundException"
    assert none["message"] == f"Resource-based policy not found for the provided ResourceArn: {ARN}"
    assert engine.call("DeleteResourcePolicy", {"ResourceArn": ARN}) == {}
    put = engine.call("PutResourcePolicy", {"ResourceArn": ARN, "Policy": policy()})
    got = engine.call("GetResourcePolicy", {"ResourceArn": ARN})
    assert got == {"Policy": got["Policy"], "RevisionId": put["RevisionId"]}
    assert json.loads(got["Policy"]) == json.loads(policy())
    assert engine.call("DeleteResourcePolicy", {"ResourceArn": ARN}) == put
    assert answer(engine, "GetResourcePolicy", {"ResourceArn": ARN})["error"] == "PolicyNotFoundException"


def test_policy_text_is_returned_in_normalized_form(engine: Engine) -> None:
    create(engine)
    statement = {
        "Resource": [ARN],
        "Action": ["dynamodb:GetItem", "dynamodb:GetItem"],
        "Condition": {"StringEquals": {"aws:PrincipalAccount": ["111122223333"]}},
        "Principal": {"AWS": ["111122223333", "arn:aws:iam::111122223333:root"]},
        "Effect": "allow",
    }
    engine.call("PutResourcePolicy", {"ResourceArn": ARN, "Policy": json.dumps({"Statement": statement}, indent=4)})
    got = engine.call("GetResourcePolicy", {"ResourceArn": ARN})["Policy"]
    assert got == (
        '{"Version":"2008-10-17","Statement":[{"Effect":"Allow",'
        '"Principal":{"AWS":"arn:aws:iam::111122223333:root"},'
        f'"Action":["dynamodb:GetItem","dynamodb:GetItem"],"Resource":"{ARN}",'
        '"Condition":{"StringEquals":{"aws:PrincipalAccount":"111122223333"}}}]}'
    )


def test_putting_an_unchanged_policy_keeps_its_revision(engine: Engine) -> None:
    create(engine, ResourcePolicy=policy())
    first = engine.call("GetResourcePolicy", {"ResourceArn": ARN})["RevisionId"]
    again = json.dumps(json.loads(policy()), indent=2)
    assert engine.call("PutResourcePolicy", {"ResourceArn": ARN, "Policy": again}) == {"RevisionId": first}
    other = engine.call("PutResourcePolicy", {"ResourceArn": ARN, "Policy": policy(Sid="two")})["RevisionId"]
    assert int(other) > int(first)


@pytest.mark.parametrize("operation", ["PutResourcePolicy", "DeleteResourcePolicy"])
def test_policy_change_with_a_wrong_expected_revision_is_rejected(engine: Engine, operation: str) -> None:
    create(engine)
    request: dict[str, Any] = {"ResourceArn": ARN, "ExpectedRevisionId": "7"}
    if operation == "PutResourcePolicy":
        request["Policy"] = policy(Sid="two")
    missing = answer(engine, operation, request)
    assert missing["error"] == "PolicyNotFoundException"
    assert missing["message"].endswith("with revision id 7, but table orders has no associated policy.")
    revision = engine.call("PutResourcePolicy", {"ResourceArn": ARN, "Policy": policy()})["RevisionId"]
    refused = answer(engine, operation, request)
    assert refused["message"] == (
        "Resource-based policy not found for the provided ResourceArn: Requested update for policy with revision id 7, "
        f"but the policy associated to target table orders has revision id {revision}."
    )
    none = answer(engine, operation, {**request, "ExpectedRevisionId": "NO_POLICY"})
    assert none["error"] == "PolicyNotFoundException"
    assert "error" not in answer(engine, operation, {**request, "ExpectedRevisionId": revision})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{}", "Invalid policy document: Syntax error at position (1,3)"),
        ("null", "Invalid policy document: This text appears not to be a policy"),
        ("{", "Invalid policy document: This policy contains invalid Json"),
        ("[]", "Invalid policy document: This policy contains invalid Json"),
        ("[" * 20_000, "Invalid policy document: This policy contains invalid Json"),
        ('{"Statement": []}', "Invalid policy document: Could not parse the policy: Statement is empty!"),
        ('{"Statement": [7]}', "Invalid policy document: This policy contains invalid Json"),
        (policy(Effect="perhaps"), "Invalid policy document: Invalid effect: perhaps"),
        (json.dumps({"Statement": {"Effect": "Allow"}}), "Invalid policy document: Missing required field Principal"),
        (policy(Principal="111122223333"), "Invalid policy document: Syntax error at position (1,88)"),
        (
            policy(Action=["dynamodb:DescribeStream", "dynamodb:GetRecords"]),
            (
                "Invalid policy document: The following action names are invalid: "
                '"dynamodb:DescribeStream", "dynamodb:GetRecords"'
            ),
        ),
        (" " * 20_480 + "x", "Maximum policy size of 20480 bytes exceeded"),
    ],
)
def test_invalid_policies_are_rejected(engine: Engine, text: str, message: str) -> None:
    create(engine)
    refused = answer(engine, "PutResourcePolicy", {"ResourceArn": ARN, "Policy": text})
    assert refused["error"] == "ValidationException"
    assert refused["message"] == f"One or more parameter values were invalid: {message}"


@pytest.mark.parametrize("principal", ["*", {"AWS": "*"}, {"AWS": ["111122223333", "*"]}])
def test_policy_that_grants_unbounded_access_is_rejected(engine: Engine, principal: Any) -> None:
    create(engine)
    refused = answer(engine, "PutResourcePolicy", {"ResourceArn": ARN, "Policy": policy(Principal=principal)})
    assert refused["message"] == (
        "Resource-based policy grants unbounded access in one or more elements. Please revise the policy to ensure "
        "least-privilege form of access"
    )
    limited = policy(Principal=principal, Condition={"StringEquals": {"aws:PrincipalOrgID": "o-1"}})
    engine.call("PutResourcePolicy", {"ResourceArn": ARN, "Policy": limited})


@pytest.mark.parametrize("action", ["dynamodb:PutResourcePolicy", "dynamodb:*", "*"])
def test_policy_that_prevents_changes_to_itself_requires_confirmation(engine: Engine, action: str) -> None:
    create(engine)
    request = {"ResourceArn": ARN, "Policy": policy(Effect="Deny", Principal="*", Action=action)}
    assert answer(engine, "PutResourcePolicy", request) == {
        "error": "AccessDeniedException",
        "message": "The new resource policy will not allow you to update the resource policy in the future.",
    }
    engine.call("PutResourcePolicy", {**request, "ConfirmRemoveSelfResourceAccess": True})
    other = policy(Effect="Deny", Principal="*", Action="dynamodb:DeleteResourcePolicy")
    engine.call("PutResourcePolicy", {"ResourceArn": ARN, "Policy": other})


@pytest.mark.parametrize(
    ("arn", "message"),
    [
        ("orders", "One or more parameter values were invalid: ARNs must start with 'arn:': orders"),
        (
            "arn:aws:s3:::bucket",
            "One or more parameter values were invalid: Provided Arn is not a DynamoDB resource arn: arn:aws:s3:::bucket",  # noqa: E501
        ),
        (
            f"{ARN}/backup/01",
            f"One or more parameter values were invalid: Provided Arn is not a DynamoDB resource arn: {ARN}/backup/01",
        ),
        (
            f"{ARN}/index/ByG",
            f"One or more parameter values were invalid: Invalid resource arn provided, only table or stream is accepted. Provided resource arn: {ARN}/index/ByG",  # noqa: E501
        ),
        (f"{ARN}x", "Requested resource not found: Table: ordersx not found"),
        (
            f"{ARN}/stream/2026-01-01T00:00:00.000",
            "Requested resource not found: Stream: 2026-01-01T00:00:00.000 not found for Table: orders",
        ),
    ],
)
@pytest.mark.parametrize("operation", ["GetResourcePolicy", "PutResourcePolicy", "DeleteResourcePolicy"])
def test_resources_that_support_no_policy_are_rejected(engine: Engine, operation: str, arn: str, message: str) -> None:
    create(engine)
    request = {"ResourceArn": arn, **({"Policy": policy()} if operation == "PutResourcePolicy" else {})}
    assert answer(engine, operation, request)["message"] == message


def test_each_policy_change_increases_the_revision() -> None:
    """Policy changes in the same millisecond also have different revisions."""
    now_s = [1_800_000_000.0]
    with Engine.open(":memory:", clock=lambda: now_s[0]) as engine:
        create(engine)

        def revision(name: str) -> int:
            return int(engine.call("PutResourcePolicy", {"ResourceArn": ARN, "Policy": policy(Sid=name)})["RevisionId"])

        assert [revision(name) for name in ("one", "two", "three")] == [1_800_000_000_000 + each for each in range(3)]
        now_s[0] += 1
        assert revision("four") == 1_800_000_001_000
