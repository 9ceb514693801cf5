"""Rules of few lines, each with what is just allowed and what just isn't, by themselves."""

from __future__ import annotations

from importlib import import_module
from itertools import pairwise
from types import SimpleNamespace
from typing import Any

import pytest

from keyplan.store import Engine
from keyplan.store.transfer.transfer_jobs import TOKEN_LIFETIME_S
from tests.engine.support import create, put, s

judging: Any = import_module("keyplan.store.items.write_outcome")


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
