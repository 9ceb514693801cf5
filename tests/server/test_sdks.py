"""Other SDKs, in a separate environment because they require older versions of boto3's dependencies. ``make sdks``
creates the environment; ``KEYPLAN_SDKS`` is its folder.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.server.support import Server, serving

SDKS = os.environ.get("KEYPLAN_SDKS")
PROGRAMS = Path(__file__).parent / "programs"
KEYS = {"AWS_ACCESS_KEY_ID": "dev", "AWS_SECRET_ACCESS_KEY": "secret", "AWS_DEFAULT_REGION": "eu-west-1"}

pytestmark = pytest.mark.skipif(SDKS is None, reason="KEYPLAN_SDKS isn't set")


@pytest.fixture(scope="module")
def signed_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server that requires an access key."""
    with serving(str(tmp_path_factory.mktemp("sdks") / "store.db"), keys={"dev": "secret"}) as server:
        yield server


def run(command: list[str]) -> subprocess.CompletedProcess[str]:
    assert SDKS is not None
    environment = {**os.environ, **KEYS, "PYTHONPATH": ""}
    program = str(Path(SDKS) / "bin" / command[0])
    return subprocess.run(
        [program, *command[1:]], capture_output=True, text=True, env=environment, timeout=120, check=False
    )


@pytest.mark.parametrize("name", ["with_aioboto3", "with_aiodynamo", "with_pydynox", "with_pynamodb"])
def test_programs_that_use_other_sdks_succeed(signed_server: Server, name: str) -> None:
    done = run(["python", str(PROGRAMS / f"{name}.py"), signed_server.url])
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith("done\n")


def aws(server: Server, *arguments: str) -> Any:
    done = run(["aws", "--endpoint-url", server.url, "--output", "json", "dynamodb", *arguments])
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout) if done.stdout.strip() else None


def test_aws_cli_creates_and_queries_a_table(signed_server: Server) -> None:
    made = aws(
        signed_server,
        *("create-table", "--table-name", "Music", "--billing-mode", "PAY_PER_REQUEST"),
        *("--attribute-definitions", "AttributeName=Artist,AttributeType=S"),
        *("--key-schema", "AttributeName=Artist,KeyType=HASH"),
    )
    assert made["TableDescription"]["TableName"] == "Music"
    assert aws(signed_server, "wait", "table-exists", "--table-name", "Music") is None
    item = '{"Artist": {"S": "No One You Know"}, "Awards": {"N": "1"}}'
    aws(signed_server, "put-item", "--table-name", "Music", "--item", item)
    answer = aws(
        signed_server,
        *("query", "--table-name", "Music", "--key-condition-expression", "Artist = :a"),
        *("--expression-attribute-values", '{":a": {"S": "No One You Know"}}'),
    )
    assert answer["Items"] == [json.loads(item)]
    refused = run(["aws", "--endpoint-url", signed_server.url, "dynamodb", "describe-table", "--table-name", "nothing"])
    assert refused.returncode != 0
    assert "ResourceNotFoundException" in refused.stderr


def test_aws_cli_supports_tags_ttl_transactions_and_pages(signed_server: Server, tmp_path: Path) -> None:
    table = ("--table-name", "Songs")
    made = aws(
        signed_server,
        *("create-table", *table, "--billing-mode", "PAY_PER_REQUEST", "--tags", "Key=team,Value=blue"),
        *("--attribute-definitions", "AttributeName=artist,AttributeType=S", "AttributeName=number,AttributeType=N"),
        *("--key-schema", "AttributeName=artist,KeyType=HASH", "AttributeName=number,KeyType=RANGE"),
    )
    arn = made["TableDescription"]["TableArn"]
    assert aws(signed_server, "list-tags-of-resource", "--resource-arn", arn)["Tags"] == [
        {"Key": "team", "Value": "blue"}
    ]
    expiry = "Enabled=true,AttributeName=until"
    aws(signed_server, "update-time-to-live", *table, "--time-to-live-specification", expiry)
    described = aws(signed_server, "describe-time-to-live", *table)["TimeToLiveDescription"]
    assert described == {"TimeToLiveStatus": "ENABLED", "AttributeName": "until"}
    puts = [{"PutRequest": {"Item": {"artist": {"S": "A"}, "number": {"N": str(number)}}}} for number in range(25)]
    requests = tmp_path / "requests.json"
    requests.write_text(json.dumps({"Songs": puts}))
    written = aws(signed_server, "batch-write-item", "--request-items", f"file://{requests}")
    assert written["UnprocessedItems"] == {}
    page = aws(signed_server, "scan", *table, "--page-size", "4", "--max-items", "10")
    assert len(page["Items"]) == 10
    rest = aws(signed_server, "scan", *table, "--page-size", "4", "--starting-token", page["NextToken"])
    assert len(rest["Items"]) == 15
    check = {"TableName": "Songs", "Key": puts[0]["PutRequest"]["Item"], "ConditionExpression": "attribute_exists(x)"}
    actions = tmp_path / "actions.json"
    actions.write_text(json.dumps([{"ConditionCheck": check}]))
    command = ("dynamodb", "transact-write-items", "--transact-items", f"file://{actions}")
    refused = run(["aws", "--endpoint-url", signed_server.url, *command])
    assert refused.returncode != 0
    assert "TransactionCanceledException" in refused.stderr
    assert aws(signed_server, "describe-limits")["TableMaxReadCapacityUnits"] == 40_000
    aws(signed_server, "delete-table", *table)
    assert aws(signed_server, "wait", "table-not-exists", *table) is None
