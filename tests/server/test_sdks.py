"""Other clients, in an environment of their own, since they pin older versions of what boto3 needs.

``make sdks`` makes it; ``KEYPLAN_SDKS`` names its folder.
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
    """A server with a key."""
    with serving(str(tmp_path_factory.mktemp("sdks") / "store.db"), keys={"dev": "secret"}) as server:
        yield server


def run(command: list[str]) -> subprocess.CompletedProcess[str]:
    assert SDKS is not None
    environment = {**os.environ, **KEYS, "PYTHONPATH": ""}
    program = str(Path(SDKS) / "bin" / command[0])
    return subprocess.run(
        [program, *command[1:]], capture_output=True, text=True, env=environment, timeout=120, check=False
    )


@pytest.mark.parametrize("name", ["with_aioboto3", "with_pynamodb"])
def test_programs(signed_server: Server, name: str) -> None:
    done = run(["python", str(PROGRAMS / f"{name}.py"), signed_server.url])
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith("done\n")


def aws(server: Server, *arguments: str) -> Any:
    done = run(["aws", "--endpoint-url", server.url, "--output", "json", "dynamodb", *arguments])
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout) if done.stdout.strip() else None


def test_the_aws_cli(signed_server: Server) -> None:
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
