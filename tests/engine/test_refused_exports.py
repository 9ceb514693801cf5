"""Exports that are refused, in the service's words, and what is told first."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from keyplan.store import Engine
from tests.engine.support import Clock, answer, create
from tests.engine.test_backups import START_S, keep_history
from tests.engine.test_exports import ARN, export


@pytest.fixture
def clock() -> Clock:
    return Clock(START_S)


@pytest.fixture
def engine(clock: Clock) -> Iterator[Engine]:
    with Engine.open(":memory:", clock=clock) as opened:
        yield opened


INVALID = "Invalid Request: "
INCREMENTAL = {"ExportType": "INCREMENTAL_EXPORT"}
PERIOD = "Incremental export period "
AVAILABLE = "Point in Time Recovery is not available for specified export time"


def period(begin_s: float, end_s: float | None = None) -> dict[str, Any]:
    end = {} if end_s is None else {"ExportToTime": end_s}
    return {**INCREMENTAL, "IncrementalExportSpecification": {"ExportFromTime": begin_s, **end}}


@pytest.mark.parametrize(
    ("more", "told"),
    [
        ({"TableArn": ""}, "Invalid TableArn: Invalid Table ARN"),
        (
            {"S3Bucket": ""},
            (
                "1 validation error detected: Value '' at 's3Bucket' failed to satisfy constraint: Member must satisfy "
                r"regular expression pattern: ^[a-z0-9A-Z]+[\.\-\w]*[a-z0-9A-Z]+$"
            ),
        ),
        ({"TableArn": "orders"}, "One or more parameter values were invalid: tableArn is not a valid ARN"),
        ({"TableArn": f"{ARN}/index/ByG"}, f"{INVALID}Table ARN is invalid."),
        ({"TableArn": f"{ARN}/stream/x"}, f"{INVALID}Table ARN is invalid."),
        (
            {"IncrementalExportSpecification": {"ExportFromTime": START_S}},
            f"{INVALID}Export Type expected to be Incremental Export when incremental export specification is provided",
        ),
        (
            {"ExportType": "FULL_EXPORT", "IncrementalExportSpecification": {}},
            f"{INVALID}When Export Type is Full Export , Incremental Export Specification should not be provided",
        ),
        (
            INCREMENTAL,
            f"{INVALID}Incremental Export Specification expected when export type is set as Incremental Export",
        ),
        (
            {**INCREMENTAL, "IncrementalExportSpecification": {"ExportViewType": "NEW_IMAGE"}},
            f"{INVALID}ExportFromTime must be provided in IncrementalExportSpecification",
        ),
        (
            {"S3SseKmsKeyId": "key", "S3SseAlgorithm": "AES256"},
            f"{INVALID}KMS Key Id is not supported for this encryption type",
        ),
        ({"FilterSpecification": {}}, f"{INVALID}Invalid FilterSpecification: The specification can not be empty"),
        ({"ExportTime": START_S - 1}, "Export Time is invalid"),
        ({"ExportTime": START_S + 601}, "Export Time is invalid"),
        ({"ExportTime": START_S + 59}, AVAILABLE),
        (period(START_S + 59), AVAILABLE),
        (
            period(START_S - 86_400, START_S),
            f"{PERIOD}from time cannot be less than the table creation time : 2026-09-20T14:13:20Z",
        ),
        (
            period(START_S + 60, START_S + 86_400),
            f"{PERIOD}to time cannot be greater than the current time : 2026-09-22T14:13:20Z",
        ),
    ],
)
def test_exports_are_refused_in_the_services_words(
    engine: Engine, clock: Clock, more: dict[str, Any], told: str
) -> None:
    create(engine)
    clock.now_s += 60
    keep_history(engine)
    clock.now_s += 540
    result = answer(engine, "ExportTableToPointInTime", {"TableArn": ARN, "S3Bucket": "bucket", **more})
    assert result["message"] == told


def test_changes_of_a_time_without_the_table_are_refused_first(engine: Engine) -> None:
    create(engine)
    asked = {"TableArn": ARN, "S3Bucket": "bucket"}
    assert answer(engine, "ExportTableToPointInTime", {**asked, **period(0)})["error"] == "InvalidExportTimeException"
    refused = answer(engine, "ExportTableToPointInTime", {**asked, "ExportTime": 0})
    assert refused["error"] == "PointInTimeRecoveryUnavailableException"


def test_an_export_has_a_token_of_its_own(engine: Engine) -> None:
    create(engine)
    keep_history(engine)
    first, second = export(engine), export(engine)
    assert first["ClientToken"] != second["ClientToken"]
    assert "ExportType" not in first


def test_the_ends_of_an_export_are_told_in_milliseconds(engine: Engine, clock: Clock) -> None:
    create(engine)
    keep_history(engine)
    clock.now_s += 100
    begin_s, end_s = START_S + 10.1234567, START_S + 20.7654321
    assert export(engine, ExportTime=end_s)["ExportTime"] == START_S + 20.765
    assert export(engine, **period(begin_s, end_s))["IncrementalExportSpecification"] == {
        "ExportFromTime": START_S + 10.123,
        "ExportToTime": START_S + 20.765,
        "ExportViewType": "NEW_AND_OLD_IMAGES",
    }


def test_an_incremental_export_is_of_some_time_and_of_a_day_at_most(engine: Engine, clock: Clock) -> None:
    create(engine)
    keep_history(engine)
    clock.now_s += 2 * 86_400

    def told(begin_s: float, end_s: float) -> str | None:
        asked = {"TableArn": ARN, "S3Bucket": "bucket", **period(begin_s, end_s)}
        message: str | None = answer(engine, "ExportTableToPointInTime", asked).get("message")
        return message

    assert told(START_S + 10, START_S + 86_410) is None
    assert told(START_S + 10, START_S + 86_411) == "An incremental export covers 24 hours at most"
    assert told(START_S + 10, START_S + 11) is None
    assert told(START_S + 10, START_S + 10) == "ExportFromTime must be before ExportToTime"
