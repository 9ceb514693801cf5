"""Rules of few lines, each with what is just allowed and what just isn't, by themselves."""

from __future__ import annotations

from importlib import import_module
from itertools import pairwise
from types import SimpleNamespace
from typing import Any

import pytest

from keyplan.engine import Engine, consistency, vectorrules
from keyplan.engine.consistency import Changes
from keyplan.engine.s3.jobs import TOKEN_LIFETIME_S
from keyplan.errors import DynamoDBError
from keyplan.wire.limits import VECTOR_DIMENSIONS_MAX, VECTOR_FILTERS_MAX, VECTOR_INDEXES_MAX, VECTOR_PROJECTED_MAX
from tests.agreed import assert_agreed
from tests.engine.support import create, put, s

judging: Any = import_module("keyplan.engine.judging")


def said(call: Any, *given: Any, **more: Any) -> str:
    try:
        return f"{call(*given, **more)}"
    except DynamoDBError as error:
        return f"{error.type}: {error.message}"


def vector(name: str = "ByV", attribute: str = "v", **more: Any) -> dict[str, Any]:
    return {
        "IndexName": name,
        "VectorAttribute": {"AttributeName": attribute},
        "Projection": {"ProjectionType": "ALL"},
        "Dimensions": 2,
        **more,
    }


def searched(*names: str, kind: str = "INLINE_FILTER") -> list[dict[str, str]]:
    return [{"AttributeName": name, "SearchSchemaElementType": kind} for name in names]


def showing(count: int, **more: Any) -> dict[str, Any]:
    return {"Projection": {"ProjectionType": "INCLUDE", "NonKeyAttributes": [f"p{n}" for n in range(count)], **more}}


NAMES = [f"f{number}" for number in range(VECTOR_FILTERS_MAX + 1)]


def test_what_vector_indexes_may_be() -> None:
    several = [vector(f"V{number}") for number in range(VECTOR_INDEXES_MAX + 1)]
    cases: dict[str, list[dict[str, Any]]] = {
        "as many as may be": several[:-1],
        "one more": several,
        "no dimensions": [vector(Dimensions=0)],
        "one dimension": [vector(Dimensions=1)],
        "the most dimensions": [vector(Dimensions=VECTOR_DIMENSIONS_MAX)],
        "too many dimensions": [vector(Dimensions=VECTOR_DIMENSIONS_MAX + 1)],
        "other dimensions of one attribute": [vector("A"), vector("B", Dimensions=3)],
        "other dimensions of another": [vector("A"), vector("B", "w", Dimensions=3)],
        "the most filters": [vector(SearchSchema=searched(*NAMES[:-1]))],
        "too many filters": [vector(SearchSchema=searched(*NAMES))],
        "a partition": [vector(SearchSchema=searched("f0", kind="HASH"))],
        "two partitions": [vector(SearchSchema=searched("f0", "f1", kind="HASH"))],
        "one twice": [vector(SearchSchema=[*searched("f0"), *searched("f0", kind="HASH")])],
        "one that isn't defined": [vector(SearchSchema=searched("f0", "x"))],
        "no projection": [vector(Projection={})],
        "names for all": [vector(Projection={"ProjectionType": "ALL", "NonKeyAttributes": ["p"]})],
        "no names": [vector(Projection={"ProjectionType": "INCLUDE"})],
        "some names": [vector(**showing(2))],
        "a name twice": [vector(**showing(2, NonKeyAttributes=["p", "q", "p"]))],
        "the most names": [vector(**showing(VECTOR_PROJECTED_MAX - 1))],
        "too many names": [vector(**showing(VECTOR_PROJECTED_MAX))],
    }
    lines = [
        f"{name}: {said(vectorrules.check_vector_indexes, indexes, NAMES, 'PAY_PER_REQUEST')}"
        for name, indexes in cases.items()
    ]
    for mode in ("PROVISIONED", None):
        lines += [f"{mode}: {said(vectorrules.check_vector_indexes, given, [], mode)}" for given in ([], [vector()])]
    asked: tuple[list[dict[str, Any]], ...] = (
        [],
        [{}],
        [{"Create": None}],
        [{"Create": vector()}],
        [{"Delete": {"IndexName": "A"}}],
        [{"Create": vector(), "Delete": {"IndexName": "A"}}],
        [{"Delete": {"IndexName": "A"}}, {"Delete": {"IndexName": "B"}}],
    )
    for updates in asked:
        for has_other in (False, True):
            kinds = [sorted(update) for update in updates]
            told = said(vectorrules.one_vector_change, updates, has_other=has_other)
            lines.append(f"{kinds} beside another {has_other}: {told}")
    assert_agreed("\n".join(lines))


def test_what_a_table_takes_as_a_new_vector_index() -> None:
    definition: dict[str, Any] = {
        "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
        "GlobalSecondaryIndexes": [{"IndexName": "ByG", "KeySchema": [{"AttributeName": "g", "KeyType": "HASH"}]}],
        "LocalSecondaryIndexes": [{"IndexName": "ByH", "KeySchema": [{"AttributeName": "h", "KeyType": "RANGE"}]}],
        "VectorIndexes": [vector("V1", "v")],
        "AttributeDefinitions": [{"AttributeName": name, "AttributeType": "S"} for name in ("pk", "g", "h", "f")],
        "IndexNumbers": {"ByG": 0, "ByH": 1, "V1": 2},
        "NextIndexNumber": 3,
        "BillingMode": "PAY_PER_REQUEST",
    }
    full = {**definition, "VectorIndexes": [vector(f"V{number}") for number in range(VECTOR_INDEXES_MAX)]}
    nearly = {**full, "VectorIndexes": full["VectorIndexes"][1:], "IndexNumbers": {}}
    plain = {name: value for name, value in definition.items() if not name.endswith("Indexes")}
    f, x = ({"AttributeName": name, "AttributeType": "S"} for name in "fx")
    cases: list[tuple[str, dict[str, Any], dict[str, Any], list[dict[str, str]]]] = [
        ("another", definition, vector(), []),
        ("the first", plain, vector(), []),
        ("with a filter", definition, vector(SearchSchema=searched("x")), [x]),
        ("with a filter of the table", definition, vector(SearchSchema=searched("f")), [f]),
        ("with a filter that isn't given", definition, vector(SearchSchema=searched("f")), []),
        (
            "with a filter of another type",
            definition,
            vector(SearchSchema=searched("f")),
            [{**f, "AttributeType": "N"}],
        ),
        ("of other dimensions", definition, vector(Dimensions=3), []),
        ("of other dimensions elsewhere", definition, vector(attribute="w", Dimensions=3), []),
        ("of the partition", definition, vector(attribute="pk"), []),
        ("of an index's key", definition, vector(attribute="g"), []),
        ("of a local index's key", definition, vector(attribute="h"), []),
        ("of an attribute that is defined", definition, vector(attribute="f"), []),
        ("of an attribute that is given", definition, vector(attribute="x"), [x]),
        ("that is there", definition, vector("ByG"), []),
        ("of a full table", full, vector("New"), []),
        ("as the last", nearly, vector("New"), []),
        ("of a provisioned table", {**definition, "BillingMode": "PROVISIONED"}, vector(), []),
    ]
    lines = []
    for name, table, create_, given in cases:
        told = said(vectorrules.with_vector_change, table, {"Create": create_}, given)
        lines.append(f"{name}: {told if not told.startswith('{') or name != 'as the last' else 'taken'}")
    lines.append(f"one less: {said(vectorrules.with_vector_change, definition, {'Delete': {'IndexName': 'V1'}}, [])}")
    assert_agreed("\n".join(lines))


def test_what_a_strongly_consistent_group_refuses() -> None:
    group: dict[str, Any] = {"Regions": ["a", "b"], "Own": "a", "Strong": True}
    watched = {**group, "Witness": "w"}
    lines = []
    for replication in (group, {**group, "Regions": ["a", "b", "c"]}, watched):
        for changes in (
            Changes([], [], [], "", ""),
            Changes(["d"], [], [], "", ""),
            Changes([], ["b"], [], "", ""),
            Changes([], [], ["b"], "", ""),
            Changes([], [], ["b", "c"], "", ""),
            Changes([], [], ["b"], "", "w"),
            Changes([], [], ["b"], "", "x"),
            Changes([], [], [], "", "w"),
            Changes([], [], [], "", "x"),
        ):
            told = said(consistency._check_group, replication, changes)
            lines.append(f"{replication['Regions']} {replication.get('Witness')} {tuple(changes)}: {told}")
    assert_agreed("\n".join(lines))


@pytest.mark.parametrize(
    ("tries", "beforehand", "more", "body", "put_off"),
    [
        (0, True, 1, 5000, True),
        (2, True, 1, 5000, True),
        (3, True, 1, 5000, False),
        (0, False, 1, 5000, False),
        (0, True, 0, 5000, False),
        (0, True, 1, 4097, True),
        (0, True, 1, 4096, False),
    ],
)
def test_what_is_put_off_to_be_judged_before(
    monkeypatch: pytest.MonkeyPatch, tries: int, beforehand: bool, more: int, body: int, put_off: bool
) -> None:
    """So often at most, and only where it costs more than may be done inside, and isn't small."""
    monkeypatch.setattr(judging, "judge", lambda *_: "judged")
    write = SimpleNamespace(judged=None, condition=None, change=None, tries=tries)
    cost = judging._cost_bytes(write, b"x" * body)
    judged_bytes = judging.INSIDE_BYTES_MAX - cost + more
    writer = SimpleNamespace(judged_bytes=judged_bytes)
    found = (1, 1, b"x" * body)
    if put_off:
        with pytest.raises(judging.UnjudgedError):
            judging.judged(writer, write, found, beforehand=beforehand)
        assert writer.judged_bytes == judged_bytes
    else:
        assert judging.judged(writer, write, found, beforehand=beforehand) == "judged"
        assert writer.judged_bytes == judged_bytes + (cost if body > 4096 else 0)


def test_what_was_judged_is_not_judged_again_while_it_is_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(judging, "judge", lambda *_: "judged")
    known = SimpleNamespace(body=b"x" * 5000)
    write = SimpleNamespace(judged=known, condition=None, change=None, tries=0)
    writer = SimpleNamespace(judged_bytes=0.0)
    assert judging.judged(writer, write, (1, 1, b"x" * 5000), beforehand=True) is known
    assert writer.judged_bytes == 0
    assert judging.judged(writer, write, (1, 1, b"y" * 5000), beforehand=True) == "judged"
    assert judging.judged(writer, write, None, beforehand=True) == "judged"


@pytest.mark.parametrize(("bytes_max", "rows_max"), [(1, 9), (10_000, 9), (10_000, 2), (10_000, 4), (0, 9)])
def test_pieces_of_rows_end_with_the_one_that_reaches_the_bound(bytes_max: int, rows_max: int) -> None:
    with Engine.open(":memory:") as engine:
        create(engine)
        for sk in "123":
            put(engine, "a", sk)
        stored = engine._database.table("orders").stored
        size = len(engine._storage.read(lambda reader: reader.rows_after(stored, 0, 1, 1))[0][0][4])
        for bound in (bytes_max, 2 * size - 1, 2 * size, 2 * size + 1):
            rows, more = engine._storage.read(
                lambda reader, bound=bound: reader.rows_after(stored, 0, rows_max, bound)  # type: ignore[misc]
            )
            expected = min(3, rows_max, next((count for count in (1, 2, 3) if count * size >= bound), 9))
            assert len(rows) == expected
            assert more == (expected * size >= bound or expected == rows_max)


HOUR_S = 3600.0


def test_a_token_of_an_export_lasts_eight_hours(tmp_path: Any) -> None:
    assert TOKEN_LIFETIME_S == 8 * HOUR_S
    now_s = [1_800_000_000.0]
    (tmp_path / "bucket").mkdir()
    with Engine.open(":memory:", clock=lambda: now_s[0], s3=str(tmp_path)) as engine:
        table = create(engine)["TableDescription"]["TableArn"]
        put(engine, "a", "1", g=s("g"))
        recovery = {"PointInTimeRecoveryEnabled": True}
        engine.call("UpdateContinuousBackups", {"TableName": "orders", "PointInTimeRecoverySpecification": recovery})
        arns = []
        for passed_s in (0.0, 8 * HOUR_S - 1, 8 * HOUR_S, 16 * HOUR_S - 1, 16 * HOUR_S):
            now_s[0] = 1_800_000_000.0 + passed_s
            asked = {"TableArn": table, "S3Bucket": "bucket", "ClientToken": "token"}
            begun = engine.call("ExportTableToPointInTime", asked)["ExportDescription"]
            arns.append(begun["ExportArn"])
        assert [arn == before for before, arn in pairwise(arns)] == [True, False, True, False]
        for format_, ending in (("ION", "ion.gz"), ("DYNAMODB_JSON", "json.gz")):
            asked = {"TableArn": table, "S3Bucket": "bucket", "ExportFormat": format_, "S3Prefix": format_}
            engine.call("ExportTableToPointInTime", asked)
            data = [path.name for path in (tmp_path / "bucket" / format_).rglob("data/*")]
            assert len(data) == 1
            assert data[0].partition(".")[2] == ending
