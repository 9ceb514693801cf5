"""Invalid exports are rejected with DynamoDB's messages. Times of exports have millisecond precision."""

from __future__ import annotations

from typing import Any

import pytest

from keyplan.store import Engine
from tests.engine.support import Clock, answer, create
from tests.engine.test_backups import START_S, keep_history
from tests.engine.test_exports import ARN, export

INVALID = "Invalid Request: "
INCREMENTAL = {"ExportType": "INCREMENTAL_EXPORT"}
PERIOD = "Incremental export period "
AVAILABLE = "Point in Time Recovery is not available for specified export time"


def period(begin_s: float, end_s: float | None = None) -> dict[str, Any]:
    end = {} if end_s is None else {"ExportToTime": end_s}
    return {**INCREMENTAL, "IncrementalExportSpecification": {"ExportFromTime": begin_s, **end}}


@pytest.mark.parametrize(
    ("more", "message"),
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
            f"{PERIOD}from time cannot be less than the table creation time : 2027-01-14T08:00:00Z",
        ),
        (
            period(START_S + 60, START_S + 86_400),
            f"{PERIOD}to time cannot be greater than the current time : 2027-01-16T08:00:00Z",
        ),
    ],
)
def test_invalid_exports_are_rejected(engine: Engine, clock: Clock, more: dict[str, Any], message: str) -> None:
    create(engine)
    clock.now_s += 60
    keep_history(engine)
    clock.now_s += 540
    result = answer(engine, "ExportTableToPointInTime", {"TableArn": ARN, "S3Bucket": "bucket", **more})
    assert result["message"] == message


def test_invalid_export_period_is_reported_before_disabled_point_in_time_recovery(engine: Engine) -> None:
    create(engine)
    request = {"TableArn": ARN, "S3Bucket": "bucket"}

    def error(**more: Any) -> str:
        name: str = answer(engine, "ExportTableToPointInTime", {**request, **more})["error"]
        return name

    assert error(**period(0)) == "InvalidExportTimeException"
    assert error(ExportTime=0) == "PointInTimeRecoveryUnavailableException"
    assert error(TableArn=f"{ARN}x") == "TableNotFoundException"


def test_export_without_a_client_token_gets_a_new_token(engine: Engine) -> None:
    create(engine)
    keep_history(engine)
    first, second = export(engine), export(engine)
    assert first["ClientToken"] != second["ClientToken"]
    assert "ExportType" not in first


def test_export_times_have_millisecond_precision(engine: Engine, clock: Clock) -> None:
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


def test_incremental_export_covers_at_most_24_hours(engine: Engine, clock: Clock) -> None:
    create(engine)
    keep_history(engine)
    clock.now_s += 2 * 86_400

    def error_of(begin_s: float, end_s: float) -> str | None:
        request = {"TableArn": ARN, "S3Bucket": "bucket", **period(begin_s, end_s)}
        message: str | None = answer(engine, "ExportTableToPointInTime", request).get("message")
        return message

    assert error_of(START_S + 10, START_S + 86_410) is None
    assert error_of(START_S + 10, START_S + 86_411) == "An incremental export can cover at most 24 hours"
    assert error_of(START_S + 10, START_S + 11) is None
    assert error_of(START_S + 10, START_S + 10) == "ExportFromTime must be before ExportToTime"
