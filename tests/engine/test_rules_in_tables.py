"""Rules of throughput, throttling, shards, policies and files of items: each with cases on both sides of its bounds."""

from __future__ import annotations

import csv
import io
import json
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

import pytest

from keyplan.engine import policies, throttle, throughput
from keyplan.engine.s3 import formats
from keyplan.engine.storage.changes import HASHES, StoredShard
from keyplan.engine.streams import shards
from keyplan.errors import DynamoDBError
from keyplan.wire.limits import POLICY_BYTES_MAX, TABLE_UNITS_MAX
from tests.agreed import assert_agreed

NOON_S = datetime(2026, 10, 5, 12, tzinfo=UTC).timestamp()
HOUR_S = 3600.0


def said(call: Any, *given: Any, **more: Any) -> str:
    try:
        return f"{call(*given, **more)}"
    except DynamoDBError as error:
        return f"{error.type}: {error.message}"


def units(read: int, write: int, ending: str = "CapacityUnits") -> dict[str, int]:
    return {f"Read{ending}": read, f"Write{ending}": write}


def warm(read: int, write: int) -> dict[str, int]:
    return units(read, write, "UnitsPerSecond")


def most(read: int, write: int) -> dict[str, int]:
    return {"MaxReadRequestUnits": read, "MaxWriteRequestUnits": write}


def test_what_warm_throughput_may_be() -> None:
    lines = []
    for mode in ("PAY_PER_REQUEST", "PROVISIONED"):
        settings_of: tuple[dict[str, Any], ...] = (
            {},
            {"WarmThroughput": warm(13_000, 4)},
            {"ProvisionedThroughput": units(5, 6)},
        )
        lines += [f"{mode} {settings}: {throughput.warm_units(settings, mode)}" for settings in settings_of]
        for provisioned in (None, units(5, 6)):
            for wanted in (
                {},
                warm(12_000, 4000),
                warm(11_999, 4000),
                warm(12_000, 3999),
                warm(5, 6),
                warm(4, 6),
                warm(5, 5),
                {"ReadUnitsPerSecond": 5},
                {"WriteUnitsPerSecond": 3},
            ):
                told = said(throughput.check_warm, wanted, mode, provisioned, "table")
                lines.append(f"{mode} {provisioned} {wanted}: {told}")
        for wanted in ({}, warm(12_000, 4000), warm(11_999, 4000), {"WriteUnitsPerSecond": 9}):
            for place in ("table", "index ByG"):
                told = said(throughput.raised_warm, {"WarmThroughput": warm(9, 9)}, wanted, mode, place)
                lines.append(f"{mode} {place} {wanted}: {told}")
    assert_agreed("\n".join(lines))


def test_what_throughput_may_be() -> None:
    lines = []
    for member, of in (
        ("ProvisionedThroughput", units),
        ("OnDemandThroughput", most),
        ("WarmThroughput", warm),
    ):
        for given in (of(TABLE_UNITS_MAX, 1), of(TABLE_UNITS_MAX + 1, 1), of(1, TABLE_UNITS_MAX + 1)):
            for index in (None, "ByG"):
                told = said(throughput.check_quotas, {member: given}, "eu-west-1", index)
                lines.append(f"{member} {given} {index}: {told}")
    for mode in ("PAY_PER_REQUEST", "PROVISIONED"):
        for given in ({}, most(1, 1), most(0, 1), most(1, 0), most(-1, 1), most(1, -1), most(-2, 1)):
            for index in (None, "ByG"):
                for updates in (False, True):
                    told = said(throughput.check_maximum, given, mode, index, updates=updates)
                    lines.append(f"{mode} {given} {index} {updates}: {told}")
    lines += [
        f"{kept} {given}: {throughput.merged_maximum(kept, given)}"
        for kept in ({}, {"OnDemandThroughput": most(5, 6)})
        for given in ({}, most(7, -1), {"MaxReadRequestUnits": -1})
    ]
    assert_agreed("\n".join(lines))


def test_what_is_noted_of_another_throughput() -> None:
    day_s = 24 * HOUR_S
    lines = []
    for noted in (
        {},
        {"LastDecreaseDateTime": NOON_S - 12 * HOUR_S, "Decreases": 3},
        {"LastDecreaseDateTime": NOON_S - 12 * HOUR_S - 1, "Decreases": 3},
        {"LastDecreaseDateTime": NOON_S - day_s},
        {"LastDecreaseDateTime": NOON_S},
        {"LastIncreaseDateTime": NOON_S - day_s},
    ):
        lines.append(f"{noted}: {throughput.decreases_today(noted, NOON_S)}")
        for before in ({}, {"ProvisionedThroughput": units(5, 5)}):
            settings = {**before, throughput.CHANGES: noted, "WarmThroughput": warm(4, 6)}
            for wanted in (units(5, 5), units(6, 5), units(5, 4), units(6, 4)):
                told = throughput.changed_throughput(settings, wanted, NOON_S)
                lines.append(f"  {before} {wanted}: {json.dumps(told, sort_keys=True)}")
        for warming in (False, True):
            told = throughput.describe_throughput({throughput.CHANGES: noted}, "PROVISIONED", NOON_S, warming=warming)
            lines.append(f"  {json.dumps(told)}")
    for wanted in (units(1, 1), units(0, 0)):
        lines.append(json.dumps(throughput.changed_throughput({}, wanted, NOON_S), sort_keys=True))  # noqa: PERF401
    settings = {"ProvisionedThroughput": units(1, 2), "OnDemandThroughput": most(3, 4)}
    lines.append(json.dumps(throughput.describe_throughput(settings, "PAY_PER_REQUEST", NOON_S)))
    assert_agreed("\n".join(lines))


def test_what_a_table_is_throttled_by() -> None:
    index: Any = SimpleNamespace(name="ByG")
    other = {"IndexName": "Other", "ProvisionedThroughput": units(77, 77)}
    lines = []
    for mode in ("PAY_PER_REQUEST", "PROVISIONED"):
        for settings in (
            {},
            {"ProvisionedThroughput": units(3, 4)},
            {"OnDemandThroughput": most(5, 6)},
            {"OnDemandThroughput": most(0, -1)},
            {"OnDemandThroughput": most(1, 1)},
            {"WarmThroughput": warm(7, 8)},
        ):
            definition = {"BillingMode": mode, "GlobalSecondaryIndexes": [other, {"IndexName": "ByG", **settings}]}
            of_index: Any = SimpleNamespace(definition=definition)
            of_table: Any = SimpleNamespace(definition={"BillingMode": mode, **settings})
            for direction in ("Read", "Write"):
                level = throttle._level(of_table, None, direction)
                assert throttle._level(of_index, index, direction) == level
                lines.append(f"{mode} {settings} {direction}: {level}")
    assert_agreed("\n".join(lines))


def test_units_come_at_a_rate() -> None:
    bucket = throttle.Bucket(2.0, 5.0, 100.0, 0.0)
    told = []
    for now_s, paid in ((100.0, 0), (100.5, 1), (100.5, 0), (101.0, 3), (101.5, 0), (102.0, 0), (101.0, 0), (200.0, 9)):
        told.append((bucket.has_any(now_s), bucket.balance))
        bucket.balance -= paid
    assert told == [
        (False, 0.0),
        (True, 1.0),
        (False, 0.0),
        (True, 1.0),
        (False, -1.0),
        (False, 0.0),
        (False, 0.0),
        (True, 5.0),
    ]
    assert throttle.Bucket(2.0, 5.0, 100.0).balance == 5.0


LEVELS = {
    "provisioned": throttle._Level(2.0, None, 0.0),
    "on demand": throttle._Level(None, None, 0.0),
    "warm": throttle._Level(None, None, 50.0),
    "at most": throttle._Level(None, 3.0, 0.0),
    "as much as can be": throttle._Level(None, None, 40.0),
}


@pytest.mark.parametrize("level", LEVELS)
def test_who_is_let_in(monkeypatch: pytest.MonkeyPatch, level: str) -> None:
    """The units of a table second by second, then after half an hour, of one partition or of all."""
    monkeypatch.setattr(throttle, "TABLE_UNITS_MAX", 40)
    monkeypatch.setattr(throttle, "ON_DEMAND_UNITS", {"Read": 12.0, "Write": 4.0})
    monkeypatch.setattr(throttle, "PARTITION_UNITS", {"Read": 6.0, "Write": 2.0})
    lines = []
    for partition in (None, ("a",), ("b", b"c")):
        resource = throttle._Resource(LEVELS[level], "Write", 500.0)
        for now_s, paid in (
            (0.0, 1),
            (0.0, 1),
            (0.5, 4),
            (0.999, 1),
            (1.0, 3),
            (2.0, 9),
            (2.5, 1),
            (30.0, 90),
            (31.0, 1),
            (1799.0, 2),
            (1799.9, 2),
            (1800.0, 40),
            (1800.5, 1),
            (1801.0, 60),
            (3599.9, 70),
            (3600.0, 1),
            (5400.0, 1),
            (5401.0, 900),
            (7300.0, 1),
            (7400.0, 1),
            (9200.0, 1),
        ):
            refused = resource.refuses(partition, 500.0 + now_s)
            if refused is None:
                resource.take(partition, paid, 500.0 + now_s)
            parts = {number: bucket.balance for number, bucket in sorted(resource._partitions.items())}
            main = resource._main
            limit = None if resource._maximum is None else resource._maximum.balance
            lines.append(
                f"{partition} {now_s} {paid}: {refused}, {main.balance:.3f} of {main.capacity} at {main.rate}, "
                f"{parts}, {limit}, {resource._peak}"
            )
    assert_agreed("\n".join(lines))


def shard(number: int = 1, after: int = 0, closed: int | None = None, low: int = 0, high: int = 9) -> StoredShard:
    opened = shards.first_shard(NOON_S)
    return StoredShard(number, None, low, high, opened.opened_s, after, closed_after=closed)


def test_numbers_of_records_and_shards() -> None:
    lines = [f"{shards.first_shard(1.5)} {HASHES == 2**32}"]
    for number in (0, 1, 2, 123):
        sequence = shards.sequence_of(number)
        assert len(sequence) == 21
        assert shards.position_at(sequence) == number
        assert shards.position_before(sequence) == number - 1
        near = [str(int(sequence) + more) for more in (-1, 1, 5, 9)]
        places = [(shards.position_before(each), shards.position_at(each)) for each in near]
        lines.append(f"{number}: {sequence} {places}")
        for closed in (None, number, number + 2):
            told = shard(number, number, closed)
            begin, end = shards.starting_sequence(told), shards.ending_sequence(told)
            assert shards.position_before(begin) == number == shards.position_at(begin)
            assert end is None or shards.position_at(end) == closed
            lines.append(f"  {begin} to {end}, {shards.shard_id(told)}")
    lines += [f"{key!r}: {shards.hash_of(key)}" for key in ("a", "é", b"a")]
    for low, high in ((0, 9), (0, 10), (4, 4), (4, 5)):
        for now_s in (NOON_S - 1, NOON_S + 1):
            for splits in (False, True):
                made = shards.children(shard(low=low, high=high), 7, now_s, 40, splits=splits)
                lines.append(f"{low} to {high}, {splits}: {[(*vars_of(each),) for each in made]}")
    assert_agreed("\n".join(lines))


def vars_of(of: StoredShard) -> tuple[Any, ...]:
    return of.number, of.parent, of.low, of.high, of.opened_s - NOON_S, of.opened_after, of.closed_after


def policy(**members: Any) -> dict[str, Any]:
    whole = {"Effect": "Allow", "Principal": {"AWS": "1" * 12}, "Action": "dynamodb:GetItem", "Resource": "arn"}
    return {name: value for name, value in {**whole, **members}.items() if value is not None}


def document(*statements: Any, **members: Any) -> dict[str, Any]:
    return {"Statement": list(statements) or [policy()], **members}


DOCUMENTS: dict[str, Any] = {
    "plain": document(),
    "with a version and a name": document(Id="é", Version="2012-10-17"),
    "one statement": {"Statement": policy()},
    "nothing": None,
    "an empty one": {},
    "no statement": {"Version": "2012-10-17"},
    "none of them": {"Statement": []},
    "a text": "policy",
    "statements of text": {"Statement": "all"},
    "a statement of text": {"Statement": ["all"]},
    "two names": document(policy(Sid="a"), policy(Sid="b")),
    "a name twice": document(policy(Sid="a"), policy(Sid="a")),
    "a name of number": document(policy(Sid=1)),
    "no effect": document(policy(Effect=None)),
    "other effects": document(policy(Effect="ALLOW"), policy(Effect="deny")),
    "no such effect": document(policy(Effect="maybe")),
    "not an effect": document(policy(Effect=None, NotEffect="Allow")),
    "no principal": document(policy(Principal=None)),
    "no resource": document(policy(Resource=None)),
    "no action": document(policy(Action=None)),
    "the others": document(policy(NotPrincipal="*", Principal=None, NotAction="a", Action=None)),
    "everybody": document(policy(Principal="*")),
    "everybody, by account": document(policy(Principal={"AWS": ["1" * 12, "*"]})),
    "everybody, where": document(policy(Principal="*", Condition={"Bool": {"a": ["b"]}})),
    "everybody is denied": document(policy(Principal="*", Effect="Deny")),
    "everybody of a service": document(policy(Principal={"Service": "*"})),
    "a principal's name": document(policy(Principal="1" * 12)),
    "accounts": document(policy(Principal={"AWS": ["1" * 12, "2" * 13, "1" * 12, "arn"], "Service": ["a", "b"]})),
    "a principal of number": document(policy(Principal=7)),
    "an account of number": document(policy(Principal={"AWS": 7})),
    "lists of one": document(policy(Action=["a"], Resource=["r"], NotResource=["s"])),
    "lists": document(policy(Action=["a", "a", "b"], Resource=[])),
    "actions of streams": document(policy(Action=["dynamodb:GetRecords", "a", "dynamodb:liststreams"])),
    "an action of number": document(policy(Action=[1, "dynamodb:DescribeStream"])),
    "conditions": document(policy(Condition={"Bool": {"a": ["b"], "c": ["d", "e"]}, "Null": "x", "Not": []})),
    "a condition of text": document(policy(Condition="x")),
}


def test_what_policies_become() -> None:
    lines = []
    lines += [
        f"{name}, {of_stream}: {said(policies.canonical_policy, json.dumps(given), of_stream=of_stream)}"
        for name, given in DOCUMENTS.items()
        for of_stream in (False, True)
    ]
    longest = POLICY_BYTES_MAX
    texts = (
        " ",
        " {} \n",
        "{",
        json.dumps(document()).ljust(longest),
        json.dumps(document()).ljust(longest + 1),
        json.dumps(document(Id="é"), ensure_ascii=False).ljust(longest),
        json.dumps(document(policy(Principal="x")), indent=1),
        json.dumps(document(policy(Principal="x"), policy(Principal="*"))),
        json.dumps(document(policy(Principal="x"))).replace("Principal", "Princip\\u0061l"),
        "[" * 100_000,
    )
    lines += [f"{text.strip()[:60]!r}, {len(text)}: {said(policies.canonical_policy, text)}" for text in texts]
    assert said(policies.canonical_policy, json.dumps(document())) == said(
        policies.canonical_policy, json.dumps(document()), of_stream=False
    )
    assert_agreed("\n".join(lines))


def test_who_is_kept_from_a_policy() -> None:
    lines = []
    for action in (
        "dynamodb:*",
        "*",
        "dynamodb:Put*",
        "dynamodb:PUTResourcePolicy",
        "dynamodb:GetItem",
        "dynamodb:[p]*",
    ):
        for members in (
            {"Effect": "Deny", "Principal": "*"},
            {"Effect": "Deny", "Principal": {"AWS": "*"}},
            {"Effect": "Deny", "Principal": {"AWS": "arn"}},
            {"Effect": "Deny", "Principal": "*", "Condition": {}},
            {"Effect": "Allow", "Principal": "*"},
        ):
            told = said(policies.check_lockout, json.dumps(document(policy(Action=["a", action], **members))))
            lines.append(f"{action} {members}: {told}")
    lines.append(said(policies.check_lockout, json.dumps(document(policy(Effect="Deny", Principal="*", Action=None)))))
    for kept in (None, {"RevisionId": "5"}):
        lines += [
            f"{kept} {expected}: {said(policies.check_revision, kept, expected, 'orders')}"
            for expected in (None, "5", "6", policies.NO_POLICY)
        ]
        lines += [
            f"{kept} at {now_s}: {policies.new_revision(kept, now_s)}" for now_s in (0.0049, 0.0051, 0.0061, 5.0005)
        ]
    assert_agreed("\n".join(lines))


def read(text: str, format_: Any, **how: Any) -> str:
    told = []
    try:
        for fields in formats.read_records(io.BytesIO(text.encode()), format_, formats.Csv({"n": "N"}, **how)):
            told.append(f"{fields}")  # noqa: PERF401 - those before a fault are kept
    except formats.UnreadableError as error:
        told.append(f"{error}")
    return "; ".join(told)


def test_what_stands_in_files_of_items(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(formats, "LINE_BYTES_MAX", 60)
    monkeypatch.setattr(formats, "ITEM_LINES_MAX", 3)
    item = '{"Item":{"a":{"S":"x"}}}'
    structs = '{Item:{a:"x"},\nKeys:"k",\nOther:{c:"z"},Text:"t"}'
    names = '{Other:{M:5.},ExpressionAttributeNames:{a:"b",c:5.}}'
    texts: tuple[str, ...] = (
        item,
        f"{item}\n\n \n{item}\n",
        "[]",
        "{",
        item.ljust(59),
        item.ljust(60),
        f"{'':59}\n",
        "",
    )
    lines = [f"{text!r}: {read(text, 'DYNAMODB_JSON')}" for text in texts]
    texts = (
        '{Item:{a:"x"}}',
        '\n{Item:\n{a:"x"}}\n// c\n{Keys:{a:5.}}',
        '{Item:\n\n{a:\n"x"}}',
        '{Item:\n\n{a:"x"}}',
        '{Item:{a:"x"}',
        '{Item:{a:"x"}}'.ljust(59),
        '{Item:{a:"x"}}'.ljust(60),
        "{Item:" + " " * 20 + '\n{a:"' + "x" * 30 + '"}}',
        "{Item:" + " " * 20 + '\n{a:"' + "x" * 25 + '"}}\n{Item:{a:"x"}}',
        "{Item}",
        structs,
        names,
        '{Item:{a:"x"}}\n\n// the end\n',
        '{Item:{a:"x"}}\n' + '{Item:{a:"x"}}'.ljust(59),
    )
    lines += [f"{text!r}: {read(text, 'ION')}" for text in texts]
    texts = (
        "a,n\nx,5\n\ny,6\n",
        "\ufeffa,n\r\nx,5\r\n",
        "a,n\nx\nx,5,7\n",
        'a,n\n"x\ny",5\n',
        'a,n\n"x,5\n',
        "a,n\n" + "x" * 57 + ",5",
        "a,n\n" + "x" * 58 + ",5",
        'a,n\n"' + "x" * 25 + "\n" + "x" * 28 + '",5\n' + "x" * 40 + ",6\n",
        'a,n\n"' + "x" * 25 + "\n" + "x" * 30 + '",5\n',
        'a,n\n"x\r\ny\rz",5\r\n',
        "a".ljust(59),
        "a".ljust(60),
    )
    lines += [f"{text!r}: {read(text, 'CSV')}" for text in texts]
    lines.append(read("a;5\n", "CSV", delimiter=";", header=["n", "b"]))
    lines += [f"{formats.write_record({'Item': {'a': {'S': 'x'}}}, each)!r}" for each in ("ION", "DYNAMODB_JSON")]
    assert_agreed("\n".join(lines))


def test_a_file_is_read_whole_and_left_open() -> None:
    before = csv.field_size_limit(131_072)
    try:
        file = io.BytesIO(f"a\n{'x' * 140_000}\n".encode())
        items = list(formats.read_records(file, "CSV", formats.Csv({})))
        assert [len(fields["Item"]["a"]["S"]) for fields in items] == [140_000]
        assert not file.closed
    finally:
        csv.field_size_limit(before)


@pytest.mark.parametrize("name", ["ZstdError", "OtherError"])
def test_what_an_unpacker_may_raise(name: str) -> None:
    error: type[Exception] = type(name, (Exception,), {})

    class Packed(io.BytesIO):
        def readline(self, size: int | None = -1, /) -> bytes:
            raise error("broken")

    expected = formats.UnreadableError if name == "ZstdError" else error
    with pytest.raises(expected, match="broken"):
        list(formats.read_records(Packed(), "DYNAMODB_JSON", formats.Csv({})))


def test_the_words_of_who_is_throttled() -> None:
    by_g: Any = SimpleNamespace(name="ByG")
    lines = []
    for mode in ("PAY_PER_REQUEST", "PROVISIONED"):
        table: Any = SimpleNamespace(definition={"BillingMode": mode}, arn=lambda index: f"arn of {index}")
        several: tuple[list[tuple[Any, str]], ...] = (
            [(None, throttle._KEY_RANGE), (by_g, throttle._ACCOUNT)],
            [(by_g, throttle._KEY_RANGE), (None, throttle._ACCOUNT)],
            [(None, throttle._ACCOUNT)],
            [(by_g, throttle._MAXIMUM)],
        )
        for refused in several:
            error = throttle._throttled(table, "Write", refused)
            lines.append(f"{mode}: {error.type}: {error.message} {error.fields} {throttle.cancellation_of(error)}")
    assert_agreed("\n".join(lines))
