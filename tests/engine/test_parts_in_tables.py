"""Parts of the engine by themselves, each in a table of cases: auto scaling, groups of regions, schemas, vectors, tags,
exports, key ranges, pages of lists, errors of the store.
"""

from __future__ import annotations

import json
import struct
from importlib import import_module
from types import SimpleNamespace
from typing import Any

import apsw
import pytest

from keyplan.engine import consistency, copies, describe, history, keybounds, listing, scaling, schema, tags, vectors
from keyplan.engine.consistency import Changes
from keyplan.engine.storage import faults
from keyplan.engine.storage.layouts import Bounds
from keyplan.engine.tables import KeyAttribute, VectorIndex
from keyplan.errors import KeyplanError
from keyplan.expressions import ExpressionFault, Placeholders, UpdateFault, parse_condition
from keyplan.values import ValueFault
from keyplan.wire.errors import (
    ConditionalCheckFailedException,
    DuplicateItemException,
    RequestFault,
    ResourceNotFoundException,
    ThrottlingException,
    ValidationException,
)
from tests.agreed import assert_agreed
from tests.engine.support import n, s

batch_execute_statement: Any = import_module("keyplan.engine.actions.batch_execute_statement")
export_table_to_point_in_time: Any = import_module("keyplan.engine.actions.export_table_to_point_in_time")
search_vectors: Any = import_module("keyplan.engine.actions.search_vectors")

NOW_S = 1_800_000_000.0


def said(call: Any, *given: Any, **more: Any) -> str:
    try:
        return f"{call(*given, **more)}"
    except KeyplanError as error:
        return f"{getattr(error, 'type', type(error).__name__)}: {getattr(error, 'message', error)}"
    except (ExpressionFault, ValueFault) as error:
        return f"{type(error).__name__}: {getattr(error, 'message', error)}"


# --- auto scaling and groups --------------------------------------------------------------------------------


SETTINGS = {
    "MinimumUnits": 1,
    "MaximumUnits": 9,
    "ScalingPolicyUpdate": {"TargetTrackingScalingPolicyConfiguration": {"TargetValue": 50}},
}
WRITE, READ, REPLICA_READ = scaling._MEMBERS


def test_what_auto_scaling_may_say() -> None:
    lines = []
    for left_out in (
        (),
        ("MinimumUnits",),
        ("MaximumUnits",),
        ("MinimumUnits", "MaximumUnits"),
        ("ScalingPolicyUpdate",),
    ):
        for disabled in (None, False, True):
            update: dict[str, Any] = {name: value for name, value in SETTINGS.items() if name not in left_out}
            if disabled is not None:
                update["AutoScalingDisabled"] = disabled
            lines.append(f"without {left_out}, {disabled}: {said(scaling._check_complete, 'orders', update)}")
    lines.append(said(scaling._check_complete, "orders", {"AutoScalingDisabled": True}))
    named = {**SETTINGS, "AutoScalingRoleArn": "role"}
    named["ScalingPolicyUpdate"] = {"PolicyName": "own", "TargetTrackingScalingPolicyConfiguration": {}}
    for mode in ("PROVISIONED", "PAY_PER_REQUEST"):
        table: Any = SimpleNamespace(name="orders", definition={"BillingMode": mode})
        for index in ("", "ByG"):
            for update in (SETTINGS, named, {"AutoScalingDisabled": True}, {**SETTINGS, "AutoScalingDisabled": False}):
                lines.append(f"{mode} {index}: {said(scaling._scaled, table, index, 'Read', update)}")  # noqa: PERF401
    assert_agreed("\n".join(lines))


def test_where_auto_scaling_is_changed() -> None:
    indexes = {"ByG": SimpleNamespace(name="ByG", is_local=False), "ByH": SimpleNamespace(name="ByH", is_local=True)}
    table: Any = SimpleNamespace(name="orders", index_by_name=indexes)
    replication: Any = {"Regions": ["a", "b"]}
    inner = {"IndexName": "ByG", READ: "5"}
    requests: tuple[dict[str, Any], ...] = (
        {},
        {WRITE: "1"},
        {"GlobalSecondaryIndexUpdates": [{"IndexName": "ByG", WRITE: "2"}, {"IndexName": "ByG"}, {WRITE: "3"}]},
        {"GlobalSecondaryIndexUpdates": [{"IndexName": "ByH", WRITE: "2"}]},
        {"GlobalSecondaryIndexUpdates": [{"IndexName": "ByX"}]},
        {"ReplicaUpdates": [{"RegionName": "b", REPLICA_READ: "4"}, {"RegionName": "a"}]},
        {"ReplicaUpdates": [{"RegionName": "b", "ReplicaGlobalSecondaryIndexUpdates": [inner, {"IndexName": "ByG"}]}]},
        {"ReplicaUpdates": [{"RegionName": "b", "ReplicaGlobalSecondaryIndexUpdates": [{"IndexName": "ByX"}]}]},
        {"ReplicaUpdates": [{"RegionName": "c", REPLICA_READ: "4"}]},
        {
            WRITE: "1",
            "ReplicaUpdates": [{"RegionName": "a", REPLICA_READ: "4", "ReplicaGlobalSecondaryIndexUpdates": [inner]}],
        },
    )
    lines = []
    for request in requests:
        given = [f"{each}" for each in scaling._given(request)]
        lines.append(f"{request}: {said(scaling._updates, table, request, replication)} of {given}")
    for kept in ({}, {"": {"Read": {"MinimumUnits": 1}}, "ByG": {"Write": {"MinimumUnits": 2}}}):
        lines.append(f"{scaling._replica('a', ['ByG', 'ByX'], kept)}")  # noqa: PERF401
    assert_agreed("\n".join(lines))


def test_which_regions_may_come_and_go() -> None:
    plain: dict[str, Any] = {}
    group = {"Replication": {"Regions": ["a", "b"], "Own": "a"}}
    tables_ = (
        ("alone", plain, False),
        ("of a group", group, False),
        ("with a time to live", {"TimeToLive": "t"}, False),
        ("with a local index", plain, True),
    )
    changes = (
        Changes(["b"], [], [], "", ""),
        Changes(["b", "c"], [], [], "", ""),
        Changes(["b"], [], ["c"], "", ""),
        Changes([], ["b"], [], "", ""),
        Changes([], [], ["b"], "", ""),
        Changes([], [], ["b", "c"], "", ""),
        Changes(["b"], ["c"], [], "", ""),
        Changes(["b"], [], [], "c", ""),
        Changes(["b"], [], [], "b", ""),
        Changes(["b"], [], [], "a", ""),
        Changes(["b"], [], [], "x", ""),
        Changes(["b", "x"], [], [], "", ""),
        Changes(["b", "c", "d"], [], [], "", ""),
        Changes([], [], [], "", ""),
    )
    lines = []
    for name, definition, is_local in tables_:
        table: Any = SimpleNamespace(name="orders", definition=definition, has_local_indexes=is_local)
        for wanted in (None, "EVENTUAL", "STRONG"):
            for change in changes:
                told = said(consistency.check_consistency, table, wanted, change, "a", "abcd")
                lines.append(f"{name} {wanted} {tuple(change)}: {told}")
    witnesses: tuple[dict[str, Any], ...] = (
        {},
        {"Create": None},
        {"Create": {}},
        {"Create": {"RegionName": "a"}},
        {"Delete": {"RegionName": "a"}},
    )
    for update in witnesses:
        lines.append(f"{update}: {consistency.has_witness(update)}")  # noqa: PERF401
    assert_agreed("\n".join(lines))


# --- tables -------------------------------------------------------------------------------------------------


def keys(*parts: str) -> list[dict[str, str]]:
    return [{"AttributeName": part[1:], "KeyType": "HASH" if part[0] == "h" else "RANGE"} for part in parts]


def test_what_keys_of_indexes_may_be() -> None:
    lines = []
    for parts in (
        "ha", "ra", "ha rb", "ha hb", "ha rb hc", "ha ha", "ha ra", "ha hb ha", "ha rb rb", "ha hb hc hd",
        "ha hb hc hd he",
        "ha rb rc rd re", "ha rb rc rd re rf", "ha hb hc hd re rf rg rh", "ra hb",
    ):  # fmt: skip
        lines.append(f"{parts}: {said(schema._check_index_schema, keys(*parts.split()))}")  # noqa: PERF401
    projections: tuple[dict[str, Any], ...] = (
        {}, {"ProjectionType": "ALL"}, {"ProjectionType": "ALL", "NonKeyAttributes": ["a"]},
        {"ProjectionType": "INCLUDE"},
        {"ProjectionType": "INCLUDE", "NonKeyAttributes": []}, {"ProjectionType": "INCLUDE",
        "NonKeyAttributes": ["a", "b"]},
        {"ProjectionType": "INCLUDE", "NonKeyAttributes": ["a", "b", "a"]}, {"NonKeyAttributes": ["a"]},
    )  # fmt: skip
    lines += [f"{projection}: {said(schema._check_projection, projection)}" for projection in projections]
    for mode in (None, "PROVISIONED", "PAY_PER_REQUEST"):
        for updates in (False, True):
            lines.append(f"{mode} {updates}: {schema._index_throughput('ByG', mode, updates=updates)}")
    for count in (1, 3, 4, 12, 13, 24, 25):
        names = [f"name{number}" for number in range(count)]
        for least in (1, 16):
            lines.append(f"{count} of {least}: {schema.hashed_order([*names, names[0]], least)}")
    assert schema.hashed_order(map(str, range(schema._SORTED_MAX + 1))) == [*map(str, range(schema._SORTED_MAX + 1))]
    lines.append(f"{[schema._spread_hash(text) for text in ('', 'a', 'é', 'x' * 99, chr(0x1F600))]}")
    assert_agreed("\n".join(lines))


def projecting(count: int) -> dict[str, Any]:
    return {"Projection": {"NonKeyAttributes": ["x"] * count}}


def test_what_indexes_of_a_table_may_be_together() -> None:
    lines = []
    for names in (["A", "B"], ["A", "A"]):
        for member in ("LocalSecondaryIndexes", "VectorIndexes", "GlobalSecondaryIndexes"):
            first, second = ({"IndexName": name, **projecting(0)} for name in names)
            definition = {"GlobalSecondaryIndexes": [first], member: [second]}
            if member == "GlobalSecondaryIndexes":
                definition[member] = [first, second]
            lines.append(f"{names} {member}: {said(schema._check_all_indexes, definition)}")
    for count in (20, 21):
        several = [{"IndexName": f"I{number}", **projecting(0)} for number in range(count)]
        lines.append(f"{count}: {said(schema._check_all_indexes, {'GlobalSecondaryIndexes': several})}")
    for count in (100, 101):
        several = [{"IndexName": "A", **projecting(count - 60)}]
        definition = {
            "GlobalSecondaryIndexes": several,
            "LocalSecondaryIndexes": [{"IndexName": "B", **projecting(60)}],
        }
        lines.append(f"{count} names: {said(schema._check_all_indexes, definition)}")
    by_g = {"IndexName": "ByG", "KeySchema": keys("hg")}
    for indexes in (
        {},
        {"GlobalSecondaryIndexes": [by_g]},
        {"VectorIndexes": [{"IndexName": "V", "SearchSchema": []}]},
    ):
        for defined in (["p"], ["p", "g"], ["p", "g", "x"]):
            told = said(schema._check_unused, {"KeySchema": keys("hp"), **indexes}, defined)
            lines.append(f"{[*indexes]} {defined}: {told}")
    assert_agreed("\n".join(lines))


SOURCE: dict[str, Any] = {
    "BillingMode": "PROVISIONED",
    "KeySchema": keys("hpk", "rsk"),
    "AttributeDefinitions": [{"AttributeName": name, "AttributeType": "S"} for name in ("pk", "sk", "g", "h")],
    "ProvisionedThroughput": {"ReadCapacityUnits": 3, "WriteCapacityUnits": 4},
    "SSESpecification": {"Enabled": True},
    "GlobalSecondaryIndexes": [
        {
            "IndexName": "ByG",
            "KeySchema": keys("hg"),
            "Projection": {"ProjectionType": "ALL"},
            "ProvisionedThroughput": {"ReadCapacityUnits": 5, "WriteCapacityUnits": 6},
        }
    ],
    "LocalSecondaryIndexes": [
        {"IndexName": "ByH", "KeySchema": keys("hpk", "rh"), "Projection": {"ProjectionType": "KEYS_ONLY"}}
    ],
}


def test_what_copies_may_override() -> None:
    paid = {"ReadCapacityUnits": 7, "WriteCapacityUnits": 8}
    most = {"MaxReadRequestUnits": 9}
    by_g = SOURCE["GlobalSecondaryIndexes"][0]
    free_g = {name: value for name, value in by_g.items() if name != "ProvisionedThroughput"}
    on_demand = {**SOURCE, "BillingMode": "PAY_PER_REQUEST", "OnDemandThroughput": {"MaxReadRequestUnits": 2}}
    on_demand["GlobalSecondaryIndexes"] = [free_g]
    requests: tuple[dict[str, Any], ...] = (
        {},
        {"BillingModeOverride": "PAY_PER_REQUEST"},
        {"BillingModeOverride": "PROVISIONED"},
        {"BillingModeOverride": "PROVISIONED", "ProvisionedThroughputOverride": paid},
        {"ProvisionedThroughputOverride": paid},
        {"BillingModeOverride": "PAY_PER_REQUEST", "ProvisionedThroughputOverride": paid},
        {"OnDemandThroughputOverride": most},
        {"OnDemandThroughputOverride": {"MaxReadRequestUnits": 1}},
        {"OnDemandThroughputOverride": {"MaxReadRequestUnits": 0}},
        {"GlobalSecondaryIndexOverride": []},
        {"GlobalSecondaryIndexOverride": [by_g]},
        {"GlobalSecondaryIndexOverride": [free_g]},
        {"GlobalSecondaryIndexOverride": [free_g], "BillingModeOverride": "PAY_PER_REQUEST"},
        {"GlobalSecondaryIndexOverride": [by_g], "BillingModeOverride": "PAY_PER_REQUEST"},
        {"GlobalSecondaryIndexOverride": [{**by_g, "IndexName": "Other"}]},
        {"GlobalSecondaryIndexOverride": [{**by_g, "KeySchema": keys("hh")}]},
        {"GlobalSecondaryIndexOverride": [{**by_g, "Projection": {"ProjectionType": "KEYS_ONLY"}}]},
        {"LocalSecondaryIndexOverride": []},
        {"LocalSecondaryIndexOverride": [], "GlobalSecondaryIndexOverride": []},
        {"SSESpecificationOverride": {"Enabled": False}},
    )
    lines = []
    for name, source in (("provisioned", SOURCE), ("on demand", on_demand)):
        for request in requests:
            try:
                made: Any = copies.copied_definition(source, request, NOW_S)
                told = json.dumps({name: made[name] for name in sorted(made) if name != "CreationDateTime"})
            except ValidationException as error:
                told = error.message
            lines.append(f"{name} {request}: {told}")
    assert_agreed("\n".join(lines))


def test_how_tables_are_described() -> None:
    lines = []
    for key in (None, "alias/own", "some-id", "arn:of:a:key"):
        for kind in (None, "AES256"):
            wanted = {"Enabled": True, "KMSMasterKeyId": key, "SSEType": kind}
            table: Any = SimpleNamespace(region="eu-west-1", definition={"SSESpecification": wanted})
            told = describe.describe_encryption(table)
            lines.append(f"{key} {kind}: {told}, {describe.describe_encryption(table, 'UPDATING')['Status']}")
            for asked in (None, key, told["KMSMasterKeyArn"]):
                same = describe.encrypts_by_same_key(table, {"SSESpecification": {"KMSMasterKeyId": asked}})
                assert same == (asked is not None and asked == told["KMSMasterKeyArn"])
    for sse in ({}, {"SSESpecification": None}, {"SSESpecification": {"Enabled": False}}):
        table = SimpleNamespace(region="eu-west-1", definition=sse)
        assert not describe.encrypts_by_same_key(table, {"SSESpecification": {"KMSMasterKeyId": "a"}})
    group: dict[str, Any] = {
        "Regions": ["a", "b", "c"],
        "Own": "b",
        "Overrides": {"a": {"TableClassOverride": "X", "P": 1}},
    }
    definitions: tuple[dict[str, Any], ...] = (
        {},
        {"Replication": group},
        {"Replication": group, "DisassociationProtectionEnabled": False},
        {"Replication": {**group, "Strong": True, "Witness": "w"}},
        {"Replication": {**group, "Strong": True}},
    )
    lines += [f"{describe._describe_replicas(SimpleNamespace(definition=each))}" for each in definitions]  # type: ignore[arg-type]
    shown: tuple[dict[str, Any], ...] = (
        {"ProjectionType": "ALL"},
        {"NonKeyAttributes": ["b", "a"]},
        {"NonKeyAttributes": []},
    )
    for projection in shown:
        lines.append(f"{describe._sorted_projection(projection)}")
    assert_agreed("\n".join(lines))


def test_what_a_history_reaches() -> None:
    day_s = 86_400.0
    lines = []
    for since_s, days in ((NOW_S - 5, 1), (NOW_S - 2 * day_s, 1), (NOW_S - day_s, 1), (NOW_S + 5, 1)):
        table: Any = SimpleNamespace(definition={history.MEMBER: {"Since": since_s, "Days": days}})
        lines.append(f"{since_s - NOW_S} {days}: {[end - NOW_S for end in history.window(table, NOW_S) or ()]}")
    assert history.window(SimpleNamespace(definition={}), NOW_S) is None  # type: ignore[arg-type]
    lines += [f"{moment}: {history.shown_moment(moment)}" for moment in (0.0, NOW_S, -1.0, 1e18, 1e400, float("nan"))]
    for end_s in (5.0, 5.0004, 5.0006, 5.0005, 4.9996):
        lines.append(f"{end_s}: {history._told(end_s, 0.001)} {history._told(end_s, -0.001)}")
    assert_agreed("\n".join(lines))


# --- vectors ------------------------------------------------------------------------------------------------


def vector_index(
    *types: str, has_hash: bool = False, projected: tuple[str, ...] = (), function: Any = "EUCLIDEAN"
) -> VectorIndex:
    attributes = tuple(KeyAttribute(f"t{number}", kind) for number, kind in enumerate(types))  # type: ignore[arg-type]
    return VectorIndex("ByV", 1, "v", 2, function, attributes, has_hash, frozenset(projected))


def floats(*numbers: float) -> dict[str, Any]:
    return {"L": [n(number) for number in numbers]}


def test_what_a_vector_index_holds() -> None:
    items: tuple[dict[str, Any], ...] = (
        {}, {"v": s("a")}, {"v": floats(1)}, {"v": floats(1, 2)}, {"v": floats(1, 2, 3)}, {"v": {"L": [n(1), s("a")]}},
        {"v": floats(1, 1e39)}, {"v": floats(1, 2), "t0": s("a")}, {"v": floats(1, 2), "t0": s("")},
        {"v": floats(1, 2), "t0": n(5)}, {"v": floats(1, 2), "t0": s("a"), "t1": n(5)},
        {"v": floats(3, 2), "t0": s("a")},
        {"v": floats(1, 2), "t0": s("b"), "x": s("x" * 2000)}, {"v": floats(1, 2), "t0": s("a"), "x": s("y" * 500)},
    )  # fmt: skip
    lines = []
    for index in (vector_index("S"), vector_index("S", "N", has_hash=True), vector_index("S", projected=("t0",))):
        table: Any = SimpleNamespace(vector_indexes=(index,))
        lines.append(f"--- {index.has_hash} {sorted(index.projected)}")
        for item in items:
            short = json.dumps(item)[:60]
            lines.append(f"{short}: {vectors.vector_entry_of(index, item)}, {said(vectors.check_vectors, table, item)}")
            touched = [said(vectors.check_vectors, table, item, frozenset({name}))[:40] for name in ("v", "t0", "t1")]
            lines.append(f"  {touched}, {vectors.billed_size(table, item, 100)}")
            lines.append(f"  {[vectors.write_bytes(index, other, item) for other in (None, *items)]}")
            lines.append(f"  {vectors.write_bytes(index, item, None)}, {sorted(vectors.shown_of(index, item))}")
    assert_agreed("\n".join(lines))


def packed(*numbers: float) -> bytes:
    return struct.pack(f"<{len(numbers)}f", *numbers)


def test_how_near_vectors_are() -> None:
    lines = []
    for function in ("EUCLIDEAN", "COSINE", "DOT_PRODUCT"):
        for target in ((0.0, 0.0), (3.0, 4.0), (3e38, 3e38)):
            scale = vectors.Scale(function, packed(*target))
            scores = [
                scale.score(packed(*other)) for other in ((0, 0), (3, 4), (6, 8), (-3, -4), (4, -3), (-3e38, -3e38))
            ]
            lines.append(f"{function} {target}: {[f'{score:.6g}' for score in scores]} {scale.order(2.5)}")
    lines += [
        f"{number}: {search_vectors._shortest(struct.unpack('<f', packed(number))[0])}"
        for number in (0.1, 1.0, 1e-7, 3.4e38)
    ]
    for entries in (0, 1, 15, 16, 100, 10_000):
        lines.append(f"{entries}: {[search_vectors._examined(vector_index(), entries, count) for count in (1, 50)]}")
    assert_agreed("\n".join(lines))


def test_what_a_search_may_ask_for(monkeypatch: pytest.MonkeyPatch) -> None:
    given = Placeholders({"#0": "t0", "#1": "t1"}, {":a": s("a"), ":n": n(5), ":e": s("")})
    lines = []
    for text in (
        "t0 = :a", ":a = t0", "t0 = :a AND t1 = :n", "t0 = :a AND t0 = :a", "t0 < :a", "t0.x = :a", ":a = t0.x",
        "t0 = t1",
        "t0 = :a OR t1 = :n", "NOT t0 = :a", "#0 = :a AND #1 = :n", "t0 = :n", "t1 = :n", "x = :a", "t0 = :e",
        "t0 = :e AND t1 = :n",
    ):  # fmt: skip
        told = said(search_vectors._terms, parse_condition(text), given)
        lines.append(f"{text}: {told}")
        if told.startswith("{"):
            terms = search_vectors._terms(parse_condition(text), given)
            for has_hash in (False, True):
                wanted = said(search_vectors._wanted, vector_index("S", "N", has_hash=has_hash), terms)
                lines.append(f"  {has_hash}: {wanted}")
    lines.append(f"none: {search_vectors._terms(None, given)}")
    body = json.dumps({"pk": s("a"), "v": floats(1, 2), "x": s("y")}).encode()
    found = [(0.5, packed(1, 2), body)] * 3
    size = search_vectors._results(vector_index(), found[:1], None)[1]
    for bytes_max in (3 * size, 3 * size - 1, 2 * size, size, size - 1):
        monkeypatch.setattr(search_vectors, "SEARCH_BYTES_MAX", bytes_max)
        results, total = search_vectors._results(vector_index(), found, None)
        assert (len(results), total) == (min(3, bytes_max // size), min(3, bytes_max // size + 1) * size)
    assert_agreed("\n".join(lines))


# --- exports, tags, ranges, lists, errors --------------------------------------------------------------------


def test_what_an_export_may_ask_for() -> None:
    created_s = NOW_S - 90_000
    kept = {history.MEMBER: {"Since": NOW_S - 87_000, "Days": 35}}
    lines = []
    for more in (kept, {}):
        definition = {"CreationDateTime": created_s, **more}
        table: Any = SimpleNamespace(name="orders", definition=definition, arn=lambda: "arn")
        requests: list[dict[str, Any]] = [{}, {"S3Prefix": "p", "ExportFormat": "ION", "S3SseAlgorithm": "KMS"}]
        requests += [{"ExportTime": NOW_S + moved} for moved in (-90_001, -90_000, -87_001, -87_000, -5, 0, 1)]
        for begin in (-90_001, -90_000, -87_001, -87_000, -86_401, -86_400, -5, 0, None):
            for end in (None, -4, -5, 0, 1):
                spoken = {"ExportFromTime": NOW_S - 6 if begin is None else NOW_S + begin}
                if end is not None:
                    spoken["ExportToTime"] = NOW_S + end
                requests.append({"ExportType": "INCREMENTAL_EXPORT", "IncrementalExportSpecification": spoken})
        asked: dict[str, Any] = {"ExportFromTime": NOW_S - 6, "ExportViewType": "NEW_IMAGE"}
        incremental = {"ExportType": "INCREMENTAL_EXPORT", "IncrementalExportSpecification": asked}
        requests += [incremental, {**incremental, "ExportTime": NOW_S - 1}]
        for request in requests:
            try:
                made, span = export_table_to_point_in_time._accepted(table, request, "1", NOW_S)
                del made["ClientToken"], made["TableId"]
                told = f"{made} {span}"
            except KeyplanError as error:
                told = said_of(error)
            lines.append(f"{bool(more)} {request}: {told}")
    assert_agreed("\n".join(lines).replace(f"{NOW_S:.0f}", "now"))


def said_of(error: KeyplanError) -> str:
    return f"{getattr(error, 'type', '')}: {getattr(error, 'message', error)}"


def test_what_tags_may_be() -> None:
    arn = "arn:aws:dynamodb:eu-west-1:000000000000:table/orders"
    arns = (arn, f"{arn}/index/ByG", f"{arn}/stream/x", f"{arn}/backup/x", f"{arn}/other", "orders", "arn:aws:s3:::x",
            "arn:aws:dynamodb:x", arn.replace("aws", "aws-cn"), arn.replace("000000000000", "0"))  # fmt: skip
    lines = [f"{each}: {said(tags.tagged_table, each)}" for each in arns]
    for key in (None, "", "a", "k" * 128, "k" * 129, "aws:a", "AWS:a", "é ５/@", "a*", "a+-=._:/@"):
        lines.append(f"{str(key)[:9]} {len(key or '')}: {said(tags.check_key, key)}")  # noqa: PERF401
    for value in (None, "", "v" * 256, "v" * 257, "*", " "):
        lines.append(f"{str(value)[:9]} {len(value or '')}: {said(tags.check_tags, [{'Key': 'a', 'Value': value}])}")  # noqa: PERF401
    lines.append(said(tags.check_tags, [{"Value": "a"}]))
    lines.append(
        said(tags.check_tags, [{"Key": "a", "Value": "1"}, {"Key": "b", "Value": ""}, {"Key": "a", "Value": "2"}])
    )
    several = [{"Key": f"k{number}", "Value": ""} for number in range(51)]
    for count in (50, 51):
        lines += [
            said(tags.check_tags, several[:count])[:60],
            said(tags.with_tags, several[:40], several[30:count])[-70:],
        ]
    lines.append(said(tags.with_tags, [{"Key": "a", "Value": "1"}], [{"Key": "a", "Value": "2"}]))
    assert_agreed("\n".join(lines))


def test_ranges_of_texts() -> None:
    for prefix, following in (
        ("a", "b"),
        ("a\U0010ffff", "b"),
        ("\U0010ffff", None),
        ("\ud7ff", "\ue000"),
        ("\ud7fe", "\ud7ff"),
        ("\ue000", "\ue001"),
        (b"a", b"b"),
        (b"a\xff\xff", b"b"),
        (b"\xff", None),
        (b"\xfe", b"\xff"),
    ):
        assert keybounds._after_prefix(prefix) == following
    lines = []
    for operator in ("<", "<=", ">", ">=", "BETWEEN", "begins_with"):
        low, high = keybounds._range(operator, ("b", "d"))
        held = [keybounds.contains(Bounds(("p",), (), low, high), (text,)) for text in ("a", "b", "bb", "c", "d", "e")]
        equal = [keybounds.contains(Bounds(("p",), ("x",), low, high), ("x", text)) for text in ("a", "b", "bb", "d")]
        other = keybounds.contains(Bounds(("p",), ("y",), low, high), ("x", "c"))
        lines.append(f"{operator}: {low} {high} {held} {equal} {other}")
    lines.append(f"{[keybounds.contains(Bounds(('p',), ('x',)), (text,)) for text in 'wxy']}")
    assert keybounds._holds("\U00010000", (">", "\uffff"))
    assert_agreed("\n".join(lines))


def test_pages_of_lists() -> None:
    entries = list(range(5))
    lines = []
    for groups in (1, 2):
        for limit in (2, 4, 5, 6):
            page, token = listing.page_of(entries, limit, None, groups)
            rest = None if token is None else listing.page_of(entries, limit, token, groups)
            lines.append(f"{groups} {limit}: {page} {token} {rest}")
    for token in ("", "0", "0" * 16, "0" * 15 + "3", "x" * 16, "0" * 17, "0" * 16 * 64, "0" * 16 * 65):
        lines.append(f"{token[:20]} {len(token)}: {said(listing.page_of, entries, 2, token)[:70]}")  # noqa: PERF401
    assert_agreed("\n".join(lines))


def test_errors_of_a_batch_of_statements_and_of_sqlite() -> None:
    errors: tuple[Any, ...] = (
        ThrottlingException("slow"),
        ConditionalCheckFailedException(None),
        DuplicateItemException(),
        ValidationException("wrong"),
        ResourceNotFoundException("gone"),
        RequestFault("asked"),
        UpdateFault("update"),
        ExpressionFault("expression"),
    )
    lines = [
        f"{type(error).__name__} {name}: {batch_execute_statement._error(error, name)}"
        for error in errors
        for name in (None, "orders")
    ]
    for kind in (
        *(
            apsw.NotADBError,
            apsw.CorruptError,
            apsw.ReadOnlyError,
            apsw.CantOpenError,
            apsw.PermissionsError,
            apsw.AuthError,
        ),
        *(
            apsw.FullError,
            apsw.BusyError,
            apsw.LockedError,
            apsw.IOError,
            apsw.NoMemError,
            apsw.TooBigError,
            apsw.SQLError,
        ),
    ):
        error = faults.store_error(kind("said"), "place")
        lines.append(f"{kind.__name__}: {error} {error.hint}")
    for text in ("no such table: items_1_2", "no such table: index_1", "no such table: x", "syntax error"):
        lines.append(f"{text}: {faults.is_stale(apsw.SQLError(text))} {faults.is_stale(apsw.IOError(text))}")  # noqa: PERF401
    assert_agreed("\n".join(lines))
