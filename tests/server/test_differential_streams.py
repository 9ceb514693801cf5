"""Generated sequences of operations cause the same stream records on Keyplan's server and on DynamoDB Local."""

from __future__ import annotations

import os
from typing import Any

import pytest

from tests.engine.consumer import Checkpoints, consume
from tests.server.differential.compare import Answer, Endpoint, only_removes, plain, printed
from tests.server.differential.sequences import Sequence
from tests.server.support import serving

URL = os.environ.get("KEYPLAN_DYNAMODB_LOCAL")
SEQUENCES = int(os.environ.get("KEYPLAN_SEQUENCES", "200")) // 10
SEED = int(os.environ.get("KEYPLAN_SEED", "0"))
VIEWS = ("KEYS_ONLY", "NEW_IMAGE", "OLD_IMAGE", "NEW_AND_OLD_IMAGES")


def records_of(store: Endpoint, arn: str) -> list[str]:
    """Return the records of a stream, without the parts that differ for each store."""
    records = consume(store.ask, arn, Checkpoints(), limit=1000)
    shown = (
        printed(plain("GetRecords", {"name": record["eventName"], **_of_the_change(record["dynamodb"])}))
        for record in records
    )
    # DynamoDB Local loses the type of an empty list or map within another.
    return sorted(text.replace('{"M": {}}', "{}").replace('{"L": []}', "{}") for text in shown)


def _of_the_change(change: dict[str, Any]) -> dict[str, Any]:
    kept = ("Keys", "NewImage", "OldImage", "SizeBytes", "StreamViewType")
    return {name: change[name] for name in kept if name in change}


def streamed(requests: list[tuple[str, Answer]], view: str) -> list[tuple[str, Answer]]:
    specification = {"StreamSpecification": {"StreamEnabled": True, "StreamViewType": view}}
    return [
        (operation, {**params, **specification} if operation == "CreateTable" else params)
        for operation, params in requests
        if not only_removes(operation, params)
    ]


@pytest.mark.nightly
@pytest.mark.skipif(URL is None, reason="KEYPLAN_DYNAMODB_LOCAL isn't set")
def test_stream_records_equal_those_of_dynamodb_local() -> None:
    assert URL is not None
    compared = 0
    with serving(":memory:") as server:
        ours, local = Endpoint(server.url), Endpoint(URL, "streams")
        for seed in range(SEED, SEED + SEQUENCES):
            ours.clear()
            local.clear()
            arns: dict[str, list[str]] = {}
            for operation, params in streamed(list(Sequence(seed).requests()), VIEWS[seed % 4]):
                answers = [store.ask(operation, params) for store in (ours, local)]
                if operation == "CreateTable" and all("error" not in answer for answer in answers):
                    arns[params["TableName"]] = [answer["TableDescription"]["LatestStreamArn"] for answer in answers]
                if ("error" in answers[0]) != ("error" in answers[1]):
                    break  # the stored items may differ from here on
            else:
                for name, (mine, theirs) in arns.items():
                    result, expected = records_of(ours, mine), records_of(local, theirs)
                    assert result == expected, (seed, name)
                    compared += len(result)
        ours.close()
        local.clear()
        local.close()
    assert compared > SEQUENCES
