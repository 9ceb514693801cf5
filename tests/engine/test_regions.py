"""Global tables across local regions: replicas, replication and concurrent writes."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from keyplan.errors import RequestError
from keyplan.store import Engine, Regions
from tests.engine.support import Clock, answer, create, n, s

EAST, WEST, SOUTH = "us-east-1", "us-west-2", "sa-east-1"
REGIONS = [EAST, WEST, SOUTH]


@pytest.fixture(params=["memory", "file"])
def regions(request: pytest.FixtureRequest, tmp_path: Path, clock: Clock) -> Iterator[Regions]:
    path = ":memory:" if request.param == "memory" else str(tmp_path / "store.db")
    with Regions.open(path, REGIONS, clock=clock, lag_ms=1000) as opened:
        create(opened.engines[EAST])
        yield opened


def put(engine: Engine, sk: str, value: object) -> None:
    engine.call(
        "PutItem", {"TableName": "orders", "Item": {"pk": s("a"), "sk": s(sk), "v": n(value), "g": s("g"), "h": s("h")}}
    )


def items(engine: Engine, **more: Any) -> dict[str, str]:
    result: list[dict[str, Any]] = engine.call("Scan", {"TableName": "orders", **more})["Items"]
    return {item["sk"]["S"]: item["v"]["N"] for item in result}


def replicas(engine: Engine, *updates: dict[str, Any], **more: Any) -> dict[str, Any]:
    return answer(engine, "UpdateTable", {"TableName": "orders", "ReplicaUpdates": list(updates), **more})


def add(region: str) -> dict[str, Any]:
    return {"Create": {"RegionName": region}}


def described(engine: Engine) -> dict[str, Any]:
    table: dict[str, Any] = engine.call("DescribeTable", {"TableName": "orders"})["Table"]
    return table


def test_new_replica_contains_existing_and_later_items(regions: Regions, clock: Clock) -> None:
    east, west = regions.engines[EAST], regions.engines[WEST]
    put(east, "1", 1)
    assert answer(west, "DescribeTable", {"TableName": "orders"})["error"].endswith("ResourceNotFoundException")
    table = replicas(east, add(WEST))["TableDescription"]
    assert table["Replicas"] == [{"RegionName": WEST, "ReplicaStatus": "ACTIVE"}]
    assert table["GlobalTableVersion"] == "2019.11.21"
    assert table["StreamSpecification"]["StreamViewType"] == "NEW_AND_OLD_IMAGES"
    assert described(west)["Replicas"] == [{"RegionName": EAST, "ReplicaStatus": "ACTIVE"}]
    assert items(west) == items(west, IndexName="ByG") == {"1": "1"}
    put(east, "2", 2)
    east.call("DeleteItem", {"TableName": "orders", "Key": {"pk": s("a"), "sk": s("1")}})
    assert regions.replicate() == 0
    assert items(west) == {"1": "1"}
    clock.now_s += 1.1
    assert regions.replicate() == 2
    assert items(west) == items(west, IndexName="ByG") == {"2": "2"}
    assert regions.replicate() == 0
    assert [engine.check() for engine in regions.engines.values()] == [[], [], []]


def test_last_of_concurrent_writes_in_two_regions_is_kept(regions: Regions, clock: Clock) -> None:
    east, west = regions.engines[EAST], regions.engines[WEST]
    replicas(east, add(WEST))
    put(east, "1", 1)
    clock.now_s += 0.1
    put(west, "1", 2)
    put(east, "same", 1)
    put(west, "same", 2)
    clock.now_s += 5
    regions.replicate()
    assert items(east) == items(west) == {"1": "2", "same": "2"}


def test_all_regions_have_equal_items_after_random_writes(regions: Regions, clock: Clock) -> None:
    replicas(regions.engines[EAST], add(WEST))
    chance = random.Random(5)
    for step in range(400):
        if step == 200:
            replicas(regions.engines[WEST], add(SOUTH))
        engine = regions.engines[chance.choice(REGIONS if step >= 200 else REGIONS[:2])]
        sk = str(chance.randrange(12))
        if chance.random() < 0.3:
            engine.call("DeleteItem", {"TableName": "orders", "Key": {"pk": s("a"), "sk": s(sk)}})
        else:
            put(engine, sk, step)
        clock.now_s += chance.choice([0, 0.01, 0.5])
        if chance.random() < 0.2:
            regions.replicate()
    clock.now_s += 5
    while regions.replicate():
        pass
    first, *rest = [items(engine) for engine in regions.engines.values()]
    assert rest == [first, first]
    assert [engine.check() for engine in regions.engines.values()] == [[], [], []]


def test_invalid_replica_updates_are_rejected(regions: Regions) -> None:
    east, west = regions.engines[EAST], regions.engines[WEST]

    def message(*updates: dict[str, Any], **more: Any) -> str:
        text: str = replicas(east, *updates, **more)["message"]
        return text

    for change in (add(EAST), {"Delete": {"RegionName": EAST}}):
        assert message(change) == (
            "Cannot add or delete the local region through ReplicaUpdates. "
            "Use CreateTable, DeleteTable, or UpdateTable as required."
        )
    assert message(add(WEST), add(SOUTH)) == (
        "Update table operation with more than one create or delete replica actions not allowed"
    )
    assert message({**add(WEST), "Delete": {"RegionName": WEST}}) == (
        "Update table operation with more than one type of replica actions not allowed."
    )
    assert message(add("mars-1")) == (
        "Region mars-1 is not supported. The latest version of global tables are only supported in the following "
        "regions: [us-east-1, us-west-2, sa-east-1]"
    )
    assert message({}) == "There are no actions specified in the Replica Update Action of the request."
    assert message({"Create": {}}) == "One or more parameter values were invalid"
    assert message({"Delete": {"RegionName": ""}}).startswith("Region  is not supported. ")
    assert message(add(WEST), DeletionProtectionEnabled=True) == (
        "One or more parameter values were invalid: Replica modification must be the only operation in the request"
    )
    assert message({"Delete": {"RegionName": WEST}}) == (
        "Update global table operation failed because one or more replicas were not part of the global table. "
        "Please retry the request without these replicas: [us-west-2]."
    )
    create(west)
    assert message(add(WEST)).endswith("already existed as tables.")
    with Engine.open(":memory:") as alone:
        create(alone)
        assert replicas(alone, add(WEST))["error"].endswith("ValidationException")


def test_stream_of_a_replica_cannot_be_disabled(regions: Regions) -> None:
    east = regions.engines[EAST]

    def change(**specification: Any) -> dict[str, Any]:
        return answer(east, "UpdateTable", {"TableName": "orders", "StreamSpecification": specification})

    replicas(east, add(WEST))
    message = "One or more parameter values were invalid: Disabling Stream is not allowed for a Global Table replica."
    assert change(StreamEnabled=False)["message"] == message
    keys = change(StreamEnabled=True, StreamViewType="KEYS_ONLY")
    assert keys["message"] == "Table already has an enabled stream: TableName: orders"
    assert described(east)["StreamSpecification"] == {"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"}
    replicas(east, {"Delete": {"RegionName": WEST}})
    assert {"Replicas", "GlobalTableVersion"}.isdisjoint(described(east))
    change(StreamEnabled=False)
    assert "StreamSpecification" not in described(east)
    assert "LatestStreamArn" in described(east)


def test_replica_descriptions_contain_the_overrides_of_the_replica(regions: Regions) -> None:
    east, west, south = regions.engines.values()
    on_demand = {"OnDemandThroughputOverride": {"MaxReadRequestUnits": 5}}
    of_index = {"IndexName": "ByG", "ProvisionedThroughputOverride": {"ReadCapacityUnits": 3}}
    replicas(east, {"Create": {"RegionName": WEST, "TableClassOverride": "STANDARD", **on_demand}})
    replicas(east, add(SOUTH))
    replicas(south, {"Update": {"RegionName": WEST, "KMSMasterKeyId": "key", "GlobalSecondaryIndexes": [of_index]}})
    assert described(south)["Replicas"][1] == described(east)["Replicas"][0]
    assert described(east)["Replicas"] == [
        {
            "RegionName": WEST,
            "ReplicaStatus": "ACTIVE",
            "KMSMasterKeyId": "key",
            "GlobalSecondaryIndexes": [of_index],
            "ReplicaTableClassSummary": {"TableClass": "STANDARD"},
            **on_demand,
        },
        {"RegionName": SOUTH, "ReplicaStatus": "ACTIVE"},
    ]
    assert described(west)["Replicas"][0] == {"RegionName": EAST, "ReplicaStatus": "ACTIVE"}
    replicas(east, {"Delete": {"RegionName": WEST}})
    replicas(east, add(WEST))
    assert described(east)["Replicas"][1] == {"RegionName": WEST, "ReplicaStatus": "ACTIVE"}
    message = replicas(east, {"Update": {"RegionName": "mars"}})["message"]
    assert message.endswith("Please retry the request without these replicas: [mars].")


def test_replica_removed_from_its_global_table_becomes_an_independent_table(regions: Regions, clock: Clock) -> None:
    """WAIT_FOR_REPLICATION keeps earlier writes of other regions. Disassociation protection must be disabled first."""
    east, west, south = regions.engines.values()
    leave = {"Disassociate": {"RegionName": WEST, "DisassociationMode": "WAIT_FOR_REPLICATION"}}
    alone = {"Disassociate": {**leave["Disassociate"], "RegionName": EAST}}
    assert "were not part of the global table" in replicas(east, alone)["message"]
    replicas(east, add(WEST))
    replicas(east, add(SOUTH))
    assert described(west)["DisassociationProtectionEnabled"] is True
    put(east, "1", 1)
    assert "disassociation protection is enabled" in replicas(west, leave)["message"]
    west.call("UpdateTable", {"TableName": "orders", "DisassociationProtectionEnabled": False})
    assert "can only be requested in the region of the replica" in replicas(east, leave)["message"]
    assert "must be the only replica update" in replicas(west, leave, add(SOUTH))["message"]
    assert "must be the only replica update" in replicas(west, {**leave, "Update": {"RegionName": EAST}})["message"]
    assert "Replicas" not in replicas(west, leave)["TableDescription"]
    assert items(west) == {"1": "1"}
    assert "DisassociationProtectionEnabled" not in described(west)
    assert [each["RegionName"] for each in described(east)["Replicas"]] == [SOUTH]
    put(west, "2", 2)
    put(east, "3", 3)
    clock.now_s += 5
    regions.replicate()
    assert items(west) == {"1": "1", "2": "2"}
    assert items(south) == items(east) == {"1": "1", "3": "3"}
    east.call("UpdateTable", {"TableName": "orders", "DisassociationProtectionEnabled": False})
    replicas(east, alone)
    assert "Replicas" not in described(south)
    put(south, "4", 4)
    assert "4" not in items(east)


def test_deleted_replicas_are_removed_from_the_global_table(regions: Regions, clock: Clock) -> None:
    east, west, south = regions.engines.values()
    replicas(east, add(WEST))
    replicas(east, add(SOUTH))
    assert [each["RegionName"] for each in described(west)["Replicas"]] == [EAST, SOUTH]
    replicas(east, {"Delete": {"RegionName": WEST}})
    assert answer(west, "DescribeTable", {"TableName": "orders"})["error"].endswith("ResourceNotFoundException")
    assert [each["RegionName"] for each in described(south)["Replicas"]] == [EAST]
    south.call("DeleteTable", {"TableName": "orders"})
    assert "Replicas" not in described(east)
    assert "GlobalTableVersion" not in described(east)
    put(east, "1", 1)
    clock.now_s += 5
    assert regions.replicate() == 0
    replicas(east, add(WEST))
    assert items(west) == {"1": "1"}


def test_table_settings_are_replicated_to_all_regions(regions: Regions) -> None:
    east, west = regions.engines[EAST], regions.engines[WEST]
    replicas(east, add(WEST))
    given = {"TableName": "orders", "TimeToLiveSpecification": {"Enabled": True, "AttributeName": "until"}}
    east.call("UpdateTimeToLive", given)
    result = west.call("DescribeTimeToLive", {"TableName": "orders"})["TimeToLiveDescription"]
    assert result["AttributeName"] == "until"
    remove = [{"Delete": {"IndexName": "ByG"}}]
    east.call("UpdateTable", {"TableName": "orders", "GlobalSecondaryIndexUpdates": remove})
    assert "GlobalSecondaryIndexes" not in described(west)
    east.call("UpdateTable", {"TableName": "orders", "DeletionProtectionEnabled": True})
    assert not described(west)["DeletionProtectionEnabled"]


def test_strong_consistency_requires_three_regions(regions: Regions) -> None:
    east, west, south = regions.engines.values()
    strong = {"MultiRegionConsistency": "STRONG"}
    assert replicas(east, add(WEST), **strong)["error"].endswith("ValidationException")
    table = replicas(east, add(WEST), add(SOUTH), **strong)["TableDescription"]
    assert table["MultiRegionConsistency"] == "STRONG"
    for region in (east, west, south):
        assert described(region)["MultiRegionConsistency"] == "STRONG"
        assert "DisassociationProtectionEnabled" not in described(region)
    put(west, "1", 1)
    assert items(east) == items(south) == {"1": "1"}
    written = {"TableName": "orders", "Item": {"pk": s("a"), "sk": s("2"), "v": n(2)}}
    assert south.call_together([("PutItem", written)]) == [{}]
    assert items(east) == items(west) == {"1": "1", "2": "2"}


def test_strongly_consistent_writes_do_not_replicate_other_tables(regions: Regions, clock: Clock) -> None:
    """Other tables keep their replication lag when a strongly consistent table is replicated immediately."""
    east, west = regions.engines[EAST], regions.engines[WEST]
    create(east, name="others")
    replicas(east, add(WEST), TableName="others")
    replicas(east, add(WEST), add(SOUTH), MultiRegionConsistency="STRONG")
    west.call("PutItem", {"TableName": "others", "Item": {"pk": s("a"), "sk": s("1"), "v": n(1)}})
    put(west, "1", 1)
    assert items(east) == {"1": "1"}
    assert items(east, TableName="others") == {}
    regions.finish()
    assert items(east, TableName="others") == {"1": "1"}


def test_strongly_consistent_write_is_replicated_after_another_process_changed_the_table(path: str) -> None:
    with Regions.open(path, (EAST, WEST, SOUTH)) as regions, Engine.open(path) as other:
        east, west, _ = regions.engines.values()
        create(east)
        replicas(east, add(WEST), add(SOUTH), MultiRegionConsistency="STRONG")
        enabled = {"PointInTimeRecoverySpecification": {"PointInTimeRecoveryEnabled": True}}
        other.call("UpdateContinuousBackups", {"TableName": "orders", **enabled})
        put(east, "1", 1)
        assert items(west) == {"1": "1"}


OF_STRONG = "global tables with MultiRegionConsistency set to STRONG"
ONLY_ONE = f"Deletion of only one table replica is not supported for {OF_STRONG}."


def drop(region: str) -> dict[str, Any]:
    return {"Delete": {"RegionName": region}}


def test_invalid_strongly_consistent_global_tables_are_rejected(regions: Regions) -> None:
    east = regions.engines[EAST]
    strong = {"MultiRegionConsistency": "STRONG"}

    def message(*updates: dict[str, Any], witness: object = None, **more: Any) -> str:
        witnesses = {} if witness is None else {"GlobalTableWitnessUpdates": [{"Create": {"RegionName": witness}}]}
        text: str = replicas(east, *updates, **witnesses, **more)["message"]
        return text

    assert message(add(WEST), **strong) == f"Unsupported replica count for {OF_STRONG}."
    assert message(add(WEST), witness=SOUTH) == (
        "MultiRegionConsistency must be set as STRONG when GlobalTableWitnessUpdates parameter is present."
    )
    assert message(add(WEST), witness=WEST, **strong) == "Cannot target multiple regions with the same action"
    assert message(add(WEST), witness=EAST, **strong) == (
        "Cannot add a witness in the same region as an existing replica when creating a "
        "global table with MultiRegionConsistency set to STRONG."
    )
    assert message(add(WEST), witness="mars-1", **strong) == (
        f"Unsupported Region(s) specified for {OF_STRONG}: [mars-1]."
    )
    assert message(drop(WEST), **strong) == (
        "Only Replica Create actions are supported when MultiRegionConsistency parameter is provided."
    )
    assert message(add(WEST), witness=SOUTH, **strong, DeletionProtectionEnabled=True) == (
        "One or more parameter values were invalid: "
        "Requests that modify replicas or witnesses must not also modify other fields"
    )
    too_little: list[dict[str, Any]] = [
        {"GlobalTableWitnessUpdates": [{}]},
        {"GlobalTableWitnessUpdates": [add(SOUTH)]},
        strong,
    ]
    for more in too_little:
        alone = answer(east, "UpdateTable", {"TableName": "orders", **more})
        assert alone["message"].startswith("At least one of ProvisionedThroughput, ")


def test_strongly_consistent_replicas_and_witnesses_can_only_be_deleted_together(regions: Regions) -> None:
    east, west = regions.engines[EAST], regions.engines[WEST]
    strong = {"MultiRegionConsistency": "STRONG"}
    replicas(east, add(WEST), **strong, GlobalTableWitnessUpdates=[add(SOUTH)])
    assert replicas(east, add(SOUTH))["message"] == (
        "Cannot add replicas to a global table with strong MultiRegionConsistency"
    )
    assert replicas(east, add(SOUTH), MultiRegionConsistency="EVENTUAL")["message"] == (
        "MultiRegionConsistency parameter is unsupported on existing global table"
    )
    assert replicas(east, drop(WEST))["message"] == ("Update table delete operation does not include all witnesses.")
    assert replicas(east, drop(WEST), GlobalTableWitnessUpdates=[drop("mars-1")])["message"] == (
        "Update global table operation failed because one or more witnesses were not part of the global table. "
        "Please retry the request without these witnesses: [mars-1]."
    )
    assert answer(west, "DeleteTable", {"TableName": "orders"})["message"] == ONLY_ONE
    replicas(east, drop(WEST), GlobalTableWitnessUpdates=[drop(SOUTH)])
    assert not {"Replicas", "GlobalTableWitnesses", "MultiRegionConsistency"} & described(east).keys()
    replicas(east, add(WEST), add(SOUTH), **strong)
    assert replicas(east, drop(WEST))["message"] == ONLY_ONE
    replicas(east, drop(WEST), drop(SOUTH))
    engine_answers = [answer(engine, "DescribeTable", {"TableName": "orders"}) for engine in regions.engines.values()]
    assert ["error" in each for each in engine_answers] == [False, True, True]
    east.call("DeleteTable", {"TableName": "orders"})


def test_strongly_consistent_global_table_can_have_a_witness_instead_of_a_third_replica(regions: Regions) -> None:
    east, west = regions.engines[EAST], regions.engines[WEST]
    witness = {"GlobalTableWitnessUpdates": [{"Create": {"RegionName": SOUTH}}], "MultiRegionConsistency": "STRONG"}
    table = replicas(east, add(WEST), **witness)["TableDescription"]
    assert table["GlobalTableWitnesses"] == [{"RegionName": SOUTH, "WitnessStatus": "ACTIVE"}]
    put(east, "1", 1)
    assert items(west) == {"1": "1"}


def test_stream_records_contain_the_name_of_their_region() -> None:
    stream = {"StreamEnabled": True, "StreamViewType": "KEYS_ONLY"}
    for regions in ((EAST, WEST), (WEST,)):
        with Regions.open(":memory:", regions) as group:
            engine = group.engines[WEST]
            create(engine, StreamSpecification=stream)
            engine.call("PutItem", {"TableName": "orders", "Item": {"pk": s("a"), "sk": s("b")}})
            arn = engine.call("ListStreams", {})["Streams"][0]["StreamArn"]
            shard = engine.call("DescribeStream", {"StreamArn": arn})["StreamDescription"]["Shards"][0]["ShardId"]
            wanted = {"StreamArn": arn, "ShardId": shard, "ShardIteratorType": "TRIM_HORIZON"}
            iterator = engine.call("GetShardIterator", wanted)["ShardIterator"]
            (record,) = engine.call("GetRecords", {"ShardIterator": iterator})["Records"]
            assert record["awsRegion"] == WEST


def arns_in(answer: object) -> set[str]:
    """Return all ARNs in a response."""
    result: set[str] = set()
    stack = [answer]
    while stack:
        each = stack.pop()
        if isinstance(each, dict):
            stack.extend(each.values())
        elif isinstance(each, list):
            stack.extend(each)
        elif isinstance(each, str) and each.startswith("arn:aws:"):
            result.add(each)
    return result


def test_arns_of_all_resources_contain_the_name_of_their_region(tmp_path: Path) -> None:
    bucket = tmp_path / "bucket"
    (bucket / "in").mkdir(parents=True)
    (bucket / "in" / "one").write_text('{"Item": {"pk": {"S": "a"}}}\n', encoding="utf-8")
    with Regions.open(":memory:", (EAST, WEST), s3=tmp_path) as group:
        for region, engine in group.engines.items():
            more: dict[str, Any] = {"StreamSpecification": {"StreamEnabled": True, "StreamViewType": "KEYS_ONLY"}}
            answers: list[dict[str, Any]] = [create(engine, **more, SSESpecification={"Enabled": True})]

            def call(operation: str, _engine: Engine = engine, _answers: Any = answers, **params: Any) -> Any:
                _answers.append(_engine.call(operation, params))
                return _answers[-1]

            table = call("DescribeTable", TableName="orders")["Table"]
            on = {"PointInTimeRecoveryEnabled": True}
            call("UpdateContinuousBackups", TableName="orders", PointInTimeRecoverySpecification=on)
            backup = call("CreateBackup", TableName="orders", BackupName="first")["BackupDetails"]["BackupArn"]
            call("DescribeBackup", BackupArn=backup)
            call(
                "RestoreTableToPointInTime",
                SourceTableName="orders",
                TargetTableName="again",
                UseLatestRestorableTime=True,
            )
            stream = call("ListStreams")["Streams"][0]["StreamArn"]
            shard = call("DescribeStream", StreamArn=stream)["StreamDescription"]["Shards"][0]["ShardId"]
            place = {"StreamArn": stream, "ShardId": shard, "ShardIteratorType": "LATEST"}
            iterator = call("GetShardIterator", **place)["ShardIterator"]
            assert call("GetRecords", ShardIterator=iterator)["Records"] == []
            call("ExportTableToPointInTime", TableArn=table["TableArn"], S3Bucket="bucket")
            source = {"S3Bucket": "bucket", "S3KeyPrefix": "in/", "InputFormat": "DYNAMODB_JSON"}
            target = {"S3Bucket": "bucket", "S3Prefix": "out", "OutputType": ["ERROR"]}
            call("StartBulkPutItems", TableName="orders", InputS3Configuration=source, OutputS3Configuration=target)
            arns = set().union(*map(arns_in, answers))
            assert len(arns) > 7
            assert {arn.split(":")[3] for arn in arns} == {region}
            # ARNs of other regions are accepted.
            other = table["TableArn"].replace(region, "eu-west-1")
            assert engine.call("GetItem", {"TableName": other, "Key": {"pk": s("a"), "sk": s("b")}}) == {}


def test_write_is_replicated_to_other_regions_after_the_replication_lag(regions: Regions, clock: Clock) -> None:
    clock.now_s = 1_800_000_000.0
    east, west = regions.engines[EAST], regions.engines[WEST]
    replicas(east, add(WEST))
    put(east, "1", 1)
    clock.now_s += 0.9995
    assert regions.replicate() == 0
    clock.now_s += 0.0005
    assert regions.replicate() == 1
    assert items(west) == {"1": "1"}


@pytest.mark.parametrize("names", [[], ["a", "a"], ["a", ""], ["a", "../b"], ["a", "b/c"]])
def test_invalid_lists_of_regions_are_rejected(names: list[str], tmp_path: Path) -> None:
    with pytest.raises(RequestError, match="List at least one valid region"):
        Regions.open(tmp_path / "x.db", names)
    assert not list(tmp_path.iterdir())
