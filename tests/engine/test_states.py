"""What each state that lasts lets through: every kind of change of a table, at several moments of it, and requests of
every kind meanwhile. The answers are agreed upon.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import Any

import pytest

from keyplan.engine import Engine
from keyplan.errors import DynamoDBError
from tests.agreed import assert_agreed
from tests.engine.support import create, index, s
from tests.engine.tour import START_S

ARN = "arn:aws:dynamodb:local:000000000000:table/orders"
KEY = {"pk": s("a"), "sk": s("b")}
ITEM = {**KEY, "g": s("g"), "h": s("h"), "x": s("x"), "v": {"L": [{"N": "1"}]}}
X = {"AttributeDefinitions": [{"AttributeName": "x", "AttributeType": "S"}]}
VECTORS = {
    "IndexName": "ByV",
    "VectorAttribute": {"AttributeName": "v"},
    "Projection": {"ProjectionType": "ALL"},
    "Dimensions": 1,
    "DistanceFunction": "EUCLIDEAN",
}
UNITS = {"ReadCapacityUnits": 3, "WriteCapacityUnits": 3}
LIMITS = {"MaxReadRequestUnits": 5, "MaxWriteRequestUnits": 5}


def of_index(**update: Any) -> dict[str, Any]:
    return {"GlobalSecondaryIndexUpdates": [update]}


PROVISIONED = {
    "BillingMode": "PROVISIONED",
    "ProvisionedThroughput": UNITS,
    **of_index(Update={"IndexName": "ByG", "ProvisionedThroughput": UNITS}),
}
STREAM = {"StreamSpecification": {"StreamEnabled": True, "StreamViewType": "KEYS_ONLY"}}
CHANGES: dict[str, tuple[str, dict[str, Any]]] = {
    "a new index": ("UpdateTable", {**X, **of_index(Create=index("ByX", "x"))}),
    "an index that goes": ("UpdateTable", of_index(Delete={"IndexName": "ByG"})),
    "an index that changes": ("UpdateTable", of_index(Update={"IndexName": "ByG", "OnDemandThroughput": LIMITS})),
    "a new vector index": ("UpdateTable", {"VectorIndexUpdates": [{"Create": VECTORS}]}),
    "a limit": ("UpdateTable", {"OnDemandThroughput": LIMITS}),
    "provisioned throughput": ("UpdateTable", PROVISIONED),
    "a stream": ("UpdateTable", STREAM),
    "a class": ("UpdateTable", {"TableClass": "STANDARD_INFREQUENT_ACCESS"}),
    "encryption": ("UpdateTable", {"SSESpecification": {"Enabled": True}}),
    "protection": ("UpdateTable", {"DeletionProtectionEnabled": True}),
    "a time to live": (
        "UpdateTimeToLive",
        {"TimeToLiveSpecification": {"Enabled": True, "AttributeName": "ends"}},
    ),
    "deletion": ("DeleteTable", {}),
    "a backup restored": ("RestoreTableFromBackup", {"BackupArn": "", "TargetTableName": "again"}),
}
VALUES = {"ExpressionAttributeValues": {":g": s("g")}}
READS: dict[str, tuple[str, dict[str, Any]]] = {
    "describe": ("DescribeTable", {}),
    "list": ("ListTables", {"TableName": None}),
    "get": ("GetItem", {"Key": KEY}),
    "query the index": ("Query", {"IndexName": "ByG", "KeyConditionExpression": "g = :g", **VALUES}),
    "scan the new index": ("Scan", {"IndexName": "ByX"}),
    "search": ("SearchVectors", {"IndexName": "ByV", "SearchVector": [{"N": "1"}], "TopK": 1}),
    "describe the time to live": ("DescribeTimeToLive", {}),
    "describe backups": ("DescribeContinuousBackups", {}),
    "list tags": ("ListTagsOfResource", {"TableName": None, "ResourceArn": ARN}),
    "get the policy": ("GetResourcePolicy", {"TableName": None, "ResourceArn": ARN}),
    "insights": ("DescribeContributorInsights", {"IndexName": "ByG"}),
}
"""What changes nothing: asked one after the other."""
WRITES: dict[str, tuple[str, dict[str, Any]]] = {
    "put": ("PutItem", {"Item": ITEM}),
    **{name: change for name, change in CHANGES.items() if name != "a backup restored"},
    "another new index": ("UpdateTable", {**X, **of_index(Create=index("ByOther", "x"))}),
    "the new index goes": ("UpdateTable", of_index(Delete={"IndexName": "ByX"})),
    "the new index changes": (
        "UpdateTable",
        of_index(Update={"IndexName": "ByX", "OnDemandThroughput": LIMITS}),
    ),
    "the new vector index goes": ("UpdateTable", {"VectorIndexUpdates": [{"Delete": {"IndexName": "ByV"}}]}),
    "a replica": ("UpdateTable", {"ReplicaUpdates": [{"Create": {"RegionName": "eu-west-1"}}]}),
    "a table of the same name": ("CreateTable", {}),
    "a backup": ("CreateBackup", {"BackupName": "second"}),
    "a history": (
        "UpdateContinuousBackups",
        {"PointInTimeRecoverySpecification": {"PointInTimeRecoveryEnabled": True}},
    ),
    "a tag": ("TagResource", {"TableName": None, "ResourceArn": ARN, "Tags": [{"Key": "a", "Value": "b"}]}),
    "insights on": ("UpdateContributorInsights", {"ContributorInsightsAction": "ENABLE"}),
}
TOLD = ("Status", "Backfilling", "UnitsPerSecond", "CapacityUnits", "BillingMode", "RestoreInProgress", "ItemCount")
"""How the members end that tell a state."""
ALIKE = {"a class", "encryption", "protection", "a stream"}
"""Changes behind which others fare as behind a limit."""
SETTLE_S = 10.0
MOMENTS = (0.0, 9.9, 10.0, 19.9, 20.0)


class Clock:
    now_s = START_S

    def __call__(self) -> float:
        return self.now_s


def begun(clock: Clock, change: str) -> Engine:
    """A table of one item that was there for long, and then has begun to change."""
    engine = Engine.open(":memory:", settle_s=SETTLE_S, clock=clock)
    create(engine)
    clock.now_s += 100
    engine.call("PutItem", {"TableName": "orders", "Item": ITEM})
    operation, params = CHANGES.get(change, ("DescribeTable", {}))
    if operation == "RestoreTableFromBackup":
        made = engine.call("CreateBackup", {"TableName": "orders", "BackupName": "first"})["BackupDetails"]
        clock.now_s += 100
        engine.call(operation, {**params, "BackupArn": made["BackupArn"]})
    else:
        engine.call(operation, {"TableName": "orders", **params})
    return engine


def asked(engine: Engine, table: str, operation: str, params: Mapping[str, Any]) -> list[str]:
    """What a request is told: the error, or the states that its answer tells."""
    given = {"TableName": table, **params}
    given |= {"ResourceArn": ARN.replace("orders", table)} if "ResourceArn" in params else {}
    try:
        answer = create(engine, table) if operation == "CreateTable" else engine.call(operation, given)
    except DynamoDBError as error:
        return [f"{error.type}: {error.message}"]
    return states(answer) or ["done"]


def states(value: Any, place: str = "") -> list[str]:
    """Each member that tells a state."""
    match value:
        case dict():
            place = value.get("IndexName", place)
            told = [f"{place} {name} {value[name]}".strip() for name in value if _tells_state(name, value[name])]
            return [*told, *(line for name in value for line in states(value[name], place))]
        case list():
            return [line for element in value for line in states(element, place)]
        case _:
            return []


def _tells_state(name: str, value: Any) -> bool:
    if isinstance(value, (dict, list)):
        return name in {"TableNames", "Items"} and len(value) > 0
    return name.endswith(
        ("Status", "Backfilling", "UnitsPerSecond", "CapacityUnits", "BillingMode", "RestoreInProgress")
    )


def beside(before: list[str], now: list[str]) -> str:
    """What isn't as it was."""
    gone = [f"no {line}" for line in before if line not in now]
    return ", ".join([*gone, *(line for line in now if line not in before)]) or "as before"


@pytest.mark.parametrize("change", list(CHANGES))
def test_what_a_table_that_is_being_changed_answers(change: str) -> None:
    """At each moment, what isn't as in the moment before, or as before the change. Then what becomes of another change
    in the midst of it, and after both.
    """
    table = "again" if change == "a backup restored" else "orders"
    with begun(Clock(), "nothing") as engine:
        settled = {name: asked(engine, "orders", *read) for name, read in READS.items()}
    lines: list[str] = []
    clock = Clock()
    with begun(clock, change) as engine:
        began_s, before = clock.now_s, settled
        for moment_s in MOMENTS:
            clock.now_s = began_s + moment_s
            now = {name: asked(engine, table, *read) for name, read in READS.items()}
            told = [f"{name}: {beside(before[name], now[name])}" for name in READS if before[name] != now[name]]
            lines += [f"--- {moment_s:g} s", *told]
            before = now
    lines.append("--- and then")
    by_answer: dict[str, list[str]] = defaultdict(list)
    for name, write in WRITES.items() if change not in ALIKE else ():
        clock = Clock()
        with begun(clock, change) as engine:
            clock.now_s += SETTLE_S - 1
            answer = asked(engine, table, *write)
            described = asked(engine, table, *READS["describe"])
            clock.now_s += 2 * SETTLE_S
            after = asked(engine, table, *READS["describe"])
        end = f"\n  {beside(settled['describe'], described)}\n  {beside(described, after)}"
        by_answer[answer[0] if ": " in answer[0] else end].append(name)
    lines += [f"{', '.join(names)}: {answer}" for answer, names in by_answer.items()]
    assert_agreed("\n".join(lines))
