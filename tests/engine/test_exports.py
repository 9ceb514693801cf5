"""Exports to a folder that represents an S3 bucket, and imports from that folder."""

from __future__ import annotations

import base64
import gzip
import hashlib
import io
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from keyplan.store import Engine
from keyplan.store.transfer import item_formats as formats
from keyplan.store.transfer.bucket_folder import Bucket, S3Error
from tests.engine.support import Clock, answer, create, n, pages, put, s
from tests.engine.test_backups import items, keep_history
from tests.engine.test_ion import BOOK, Endless

ARN = "arn:aws:dynamodb:local:000000000000:table/orders"


@pytest.fixture
def s3(tmp_path: Path) -> Path:
    (tmp_path / "s3" / "bucket").mkdir(parents=True)
    return tmp_path / "s3"


@pytest.fixture(params=["memory", "file"])
def engine(request: pytest.FixtureRequest, tmp_path: Path, clock: Clock, s3: Path) -> Iterator[Engine]:
    path = ":memory:" if request.param == "memory" else str(tmp_path / "store.db")
    with Engine.open(path, clock=clock, s3=s3) as opened:
        yield opened


def export(engine: Engine, **more: Any) -> dict[str, Any]:
    """Run an export and return its final description."""
    started = engine.call("ExportTableToPointInTime", {"TableArn": ARN, "S3Bucket": "bucket", **more})
    description = started["ExportDescription"]
    assert description["ExportStatus"] == "IN_PROGRESS"
    done: dict[str, Any] = engine.call("DescribeExport", {"ExportArn": description["ExportArn"]})["ExportDescription"]
    return done


def lines_of(s3: Path, description: dict[str, Any]) -> list[bytes]:
    """Return the lines of an export's data files, which its manifests list, after checking all checksums."""
    bucket = s3 / "bucket"
    place = bucket / description["ExportManifest"]
    summary = json.loads(place.read_bytes())
    for name in ("summary", "files"):
        body = (place.parent / f"manifest-{name}.json").read_bytes()
        digest = base64.b64encode(hashlib.md5(body, usedforsecurity=False).digest())
        assert (place.parent / f"manifest-{name}.checksum").read_bytes() == digest
    assert (place.parent / "_started").read_bytes() == b""
    files = [json.loads(line) for line in (bucket / summary["manifestFilesS3Key"]).read_bytes().splitlines()]
    result: list[bytes] = []
    for file in files:
        packed = (bucket / file["dataFileS3Key"]).read_bytes()
        assert file["md5Checksum"] == base64.b64encode(hashlib.md5(packed, usedforsecurity=False).digest()).decode()
        lines = gzip.decompress(packed).splitlines()
        assert file["itemCount"] == len(lines)
        result += lines
    assert summary["itemCount"] == description["ItemCount"] == len(result)
    return result


def start_import(engine: Engine, name: str = "copy", prefix: str = "", **more: Any) -> dict[str, Any]:
    """Run an import and return its final description."""
    source = {"S3BucketSource": {"S3Bucket": "bucket", "S3KeyPrefix": prefix}}
    request = import_request(name, **{"ClientToken": f"for {name}", **source, **more})
    started = engine.call("ImportTable", request)["ImportTableDescription"]
    assert started["ImportStatus"] == "IN_PROGRESS"
    done: dict[str, Any] = engine.call("DescribeImport", {"ImportArn": started["ImportArn"]})["ImportTableDescription"]
    return done


def import_request(name: str = "copy", **more: Any) -> dict[str, Any]:
    return {
        "S3BucketSource": {"S3Bucket": "bucket"},
        "InputFormat": "DYNAMODB_JSON",
        "TableCreationParameters": parameters(name),
        "ClientToken": "t",
        **more,
    }


def parameters(name: str, **more: Any) -> dict[str, Any]:
    return {
        "TableName": name,
        "AttributeDefinitions": [{"AttributeName": each, "AttributeType": "S"} for each in ("pk", "sk")],
        "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}, {"AttributeName": "sk", "KeyType": "RANGE"}],
        "BillingMode": "PAY_PER_REQUEST",
        **more,
    }


def fill(engine: Engine, count: int = 10) -> None:
    create(engine)
    for number in range(count):
        put(
            engine,
            "a",
            f"{number:04}",
            g=s("g"),
            number=n(number),
            deep={"M": {"list": {"L": [{"NULL": True}, {"B": "AAE="}, {"BOOL": True}, {"NS": ["1", "2"]}]}}},
        )


# --- exports ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("format_", ["DYNAMODB_JSON", "ION"])
@pytest.mark.parametrize("prefix", ["", "some/where"])
def test_imported_full_export_equals_the_original_table(engine: Engine, s3: Path, format_: str, prefix: str) -> None:
    fill(engine)
    keep_history(engine)
    done = export(engine, ExportFormat=format_, S3Prefix=prefix)
    assert done["ExportStatus"] == "COMPLETED"
    assert len(lines_of(s3, done)) == 10
    data = done["ExportManifest"].removesuffix("manifest-summary.json") + "data/"
    imported = start_import(engine, prefix=data, InputFormat=format_, InputCompressionType="GZIP")
    assert imported["ImportStatus"] == "COMPLETED"
    assert imported["ProcessedItemCount"] == imported["ImportedItemCount"] == 10
    assert items(engine, "copy") == items(engine, "orders")
    assert engine.check() == []


def test_export_contains_the_items_at_its_export_time(engine: Engine, clock: Clock, s3: Path) -> None:
    fill(engine, 3)
    keep_history(engine)
    before = items(engine, "orders")
    moment_s = clock.now_s
    clock.now_s += 10
    put(engine, "b", "1")
    engine.call("DeleteItem", {"TableName": "orders", "Key": {"pk": s("a"), "sk": s("0001")}})
    done = export(engine, ExportTime=moment_s)
    exported = [json.loads(line)["Item"] for line in lines_of(s3, done)]
    assert sorted(exported, key=lambda item: item["sk"]["S"]) == before


def test_incremental_export_contains_the_net_change_of_each_item(engine: Engine, clock: Clock, s3: Path) -> None:
    fill(engine, 3)
    keep_history(engine)
    clock.now_s += 100
    from_s = clock.now_s
    put(engine, "a", "0000", number=n(7))
    put(engine, "a", "0000", number=n(8))
    engine.call("DeleteItem", {"TableName": "orders", "Key": {"pk": s("a"), "sk": s("0001")}})
    put(engine, "new", "1")
    put(engine, "gone", "1")
    engine.call("DeleteItem", {"TableName": "orders", "Key": {"pk": s("gone"), "sk": s("1")}})
    clock.now_s += 100
    to_s = clock.now_s
    put(engine, "a", "0002", number=n(9))
    put(engine, "a", "0000", number=n(10))
    clock.now_s += 1
    specification = {"ExportFromTime": from_s, "ExportToTime": to_s}
    done = export(engine, ExportType="INCREMENTAL_EXPORT", IncrementalExportSpecification=specification)
    records = {json.loads(line)["Keys"]["sk"]["S"]: json.loads(line) for line in lines_of(s3, done)}
    assert records.keys() == {"0000", "0001", "1"}
    changed = records["0000"]
    assert changed["Metadata"] == {"WriteTimestampMicros": {"N": str(int(from_s * 1_000_000))}}
    assert changed["OldImage"]["number"] == n(0)
    assert changed["NewImage"]["number"] == n(8)
    assert "NewImage" not in records["0001"]
    assert "OldImage" not in records["1"]
    summary = json.loads((s3 / "bucket" / done["ExportManifest"]).read_bytes())
    assert summary["outputView"] == "NEW_AND_OLD_IMAGES"
    only_new = {**specification, "ExportViewType": "NEW_IMAGE"}
    done = export(engine, ExportType="INCREMENTAL_EXPORT", IncrementalExportSpecification=only_new)
    assert not any(b"OldImage" in line for line in lines_of(s3, done))
    put(engine, "now", "3", number=n(1))  # at the exact end of an export without ExportToTime
    specification = {"ExportFromTime": to_s}
    done = export(engine, ExportType="INCREMENTAL_EXPORT", IncrementalExportSpecification=specification)
    assert {json.loads(line)["Keys"]["sk"]["S"] for line in lines_of(s3, done)} == {"0000", "0002", "3"}


def test_export_filter_selects_items_and_attributes(engine: Engine, s3: Path) -> None:
    fill(engine)
    put(engine, "b", "0001", number=n(1))
    keep_history(engine)
    specification = {
        "KeyConditionExpression": "pk = :pk AND sk BETWEEN :low AND :high",
        "FilterExpression": "#n > :least",
        "ProjectionExpression": "pk, #n",
        "ExpressionAttributeNames": {"#n": "number"},
        "ExpressionAttributeValues": {":pk": s("a"), ":low": s("0001"), ":high": s("0005"), ":least": n(3)},
    }
    done = export(engine, FilterSpecification=specification)
    result = [json.loads(line)["Item"] for line in lines_of(s3, done)]
    assert result == [{"pk": s("a"), "number": n(4)}, {"pk": s("a"), "number": n(5)}]
    request = {"TableArn": ARN, "S3Bucket": "bucket", "FilterSpecification": {"FilterExpression": "(("}}
    assert answer(engine, "ExportTableToPointInTime", request)["error"] == "ValidationException"


@pytest.mark.parametrize(
    ("bucket", "prefix", "code"),
    [
        ("missing", "", "S3NoSuchBucket"),
        ("bucket", "../out", "S3AccessDenied"),
        ("bucket", "./out", "S3AccessDenied"),
        ("bucket", "a//b", "S3AccessDenied"),
        ("bucket", "a\0b", "S3AccessDenied"),
    ],
)
def test_export_to_an_invalid_destination_fails(engine: Engine, s3: Path, bucket: str, prefix: str, code: str) -> None:
    create(engine)
    keep_history(engine)
    done = export(engine, S3Bucket=bucket, S3Prefix=prefix)
    assert (done["ExportStatus"], done["FailureCode"]) == ("FAILED", code)
    assert not (s3 / "out").exists()
    assert [*(s3 / "bucket").rglob("*")] == []


def test_client_token_makes_an_export_idempotent(engine: Engine, clock: Clock) -> None:
    create(engine)
    keep_history(engine)
    first = export(engine, ClientToken="t")
    assert export_arn(engine, ClientToken="t") == first["ExportArn"]
    other = {"TableArn": ARN, "S3Bucket": "bucket", "ClientToken": "t", "ExportFormat": "ION"}
    assert answer(engine, "ExportTableToPointInTime", other)["error"] == "ExportConflictException"
    clock.now_s += 9 * 3600
    assert export_arn(engine, ClientToken="t") != first["ExportArn"]


def export_arn(engine: Engine, **more: Any) -> str:
    started = engine.call("ExportTableToPointInTime", {"TableArn": ARN, "S3Bucket": "bucket", **more})
    arn: str = started["ExportDescription"]["ExportArn"]
    return arn


def test_exports_are_listed_and_described(engine: Engine, clock: Clock) -> None:
    create(engine)
    keep_history(engine)
    arns: list[str] = []
    for _ in range(3):
        clock.now_s += 1
        arns.append(export_arn(engine))
    first = engine.call("ListExports", {"MaxResults": 2})
    assert [each["ExportArn"] for each in first["ExportSummaries"]] == arns[:0:-1]
    rest = engine.call("ListExports", {"MaxResults": 2, "NextToken": first["NextToken"]})
    assert rest == {
        "ExportSummaries": [{"ExportArn": arns[0], "ExportStatus": "COMPLETED", "ExportType": "FULL_EXPORT"}]
    }
    assert len(engine.call("ListExports", {"TableArn": ARN})["ExportSummaries"]) == 3
    missing = f"{ARN}/export/01790000000000-00000000"
    assert answer(engine, "DescribeExport", {"ExportArn": missing}) == {
        "error": "ExportNotFoundException",
        "message": f"Export not found: Export not found: {missing}",
    }
    assert answer(engine, "DescribeExport", {"ExportArn": ARN})["message"] == "Invalid Export ARN"
    engine.call("DeleteTable", {"TableName": "orders"})
    assert engine.call("ListExports", {"TableArn": ARN})["ExportSummaries"] == []
    assert engine.call("DescribeExport", {"ExportArn": arns[0]})["ExportDescription"]["ExportStatus"] == "COMPLETED"


# --- imports ----------------------------------------------------------------------------------------------


def line(pk: str, sk: str = "1", **attributes: Any) -> bytes:
    return json.dumps({"Item": {"pk": s(pk), "sk": s(sk), **attributes}}).encode() + b"\n"


def pack_zstd(data: bytes) -> bytes:
    zstandard = pytest.importorskip("zstandard")
    packed: bytes = zstandard.compress(data)
    return packed


@pytest.mark.parametrize(("compression", "pack"), [("NONE", bytes), ("GZIP", gzip.compress), ("ZSTD", pack_zstd)])
def test_objects_with_each_supported_compression_are_imported(
    engine: Engine, s3: Path, compression: str, pack: Callable[[bytes], bytes]
) -> None:
    folder = s3 / "bucket" / "in"
    folder.mkdir()
    (folder / "one").write_bytes(pack(line("a") + b"\n" + line("b")))
    (folder / "two").write_bytes(pack(line("c").strip()))
    (folder.parent / "other").write_bytes(pack(line("d")))
    done = start_import(engine, prefix="in/", InputCompressionType=compression)
    assert (done["ImportStatus"], done["ImportedItemCount"]) == ("COMPLETED", 3)
    assert done["ProcessedSizeBytes"] == len(line("a") + b"\n" + line("b") + line("c").strip())
    assert [item["pk"]["S"] for item in items(engine, "copy")] == ["a", "b", "c"]


def test_import_prefix_matches_the_start_of_object_keys(engine: Engine, s3: Path) -> None:
    for name, pk in {"data": "a", "data2": "b", "dat": "c"}.items():
        (s3 / "bucket" / name).write_bytes(line(pk))
    start_import(engine, prefix="data")
    assert [item["pk"]["S"] for item in items(engine, "copy")] == ["a", "b"]
    assert start_import(engine, "empty", prefix="nothing")["ImportStatus"] == "COMPLETED"
    for prefix in ("../", "../s3/bucket/data", "/"):
        name = f"out{len(prefix)}"
        assert start_import(engine, name, prefix=prefix)["ProcessedItemCount"] == 0
        assert items(engine, name) == []


def test_import_errors_are_counted_and_logged(engine: Engine, s3: Path) -> None:
    faulty = [
        b'{"Item": {"pk": {"S": "x"}}}\n',
        b'{"Item": {"pk": {"S": "x"}, "sk": {"N": "1"}}}\n',
        b'{"Item": {"pk": {"S": "x"}, "sk": {"S": "1"}, "big": {"S": "' + b"x" * 410_000 + b'"}}}\n',
        b'{"Item": {"pk": {"S": "x"}, "sk": {"S": "1"}, "": {"S": "nameless"}}}\n',
        b'{"Item": {"pk": {"S": "x"}, "sk": {"S": "1"}, "odd": {"Q": 1}}}\n',
    ]
    (s3 / "bucket" / "1").write_bytes(line("a") + b"".join(faulty) + line("b") + line("a", value=n(2)))
    (s3 / "bucket" / "2").write_bytes(line("c") + b"garbage\n" + line("never"))
    done = start_import(engine)
    assert (done["ImportStatus"], done["FailureCode"]) == ("FAILED", "ItemValidationError")
    assert (done["ProcessedItemCount"], done["ImportedItemCount"], done["ErrorCount"]) == (10, 4, 6)
    result = items(engine, "copy")
    assert [item["pk"]["S"] for item in result] == ["a", "b", "c"]
    assert result[0]["value"] == n(2)
    number = done["ImportArn"].rpartition("/")[2]
    log = (s3 / ".logs" / "aws-dynamodb" / "imports" / number / "error").read_bytes().splitlines()
    assert json.loads(log[0])["errorMessages"][0].endswith("invalid: Missing the key sk in the item")
    places = [*(("1", at) for at in range(1, 6)), ("2", 1)]
    pointers = [{"bucket": "bucket", "key": key, "itemIndex": at} for key, at in places]
    assert [json.loads(each)["itemS3Pointer"] for each in log] == pointers


@pytest.mark.parametrize(
    ("format_", "compression", "body"),
    [
        ("DYNAMODB_JSON", "GZIP", b"no gzip"),
        ("DYNAMODB_JSON", "GZIP", gzip.compress(b"x" * 10_000, mtime=0)[:30]),
        ("DYNAMODB_JSON", "ZSTD", b"no zstd"),
        ("DYNAMODB_JSON", "NONE", b"\xff\xfe\n"),
        ("DYNAMODB_JSON", "NONE", b"[" * 100_000),
        ("DYNAMODB_JSON", "NONE", b"x" * 9_000_000),
        ("ION", "NONE", b"\xff\xfe\n"),
        ("ION", "NONE", b"{Item:{pk:1"),
        ("CSV", "NONE", b'pk,sk\n"a,b'),
        ("CSV", "NONE", b"\xff\xfe\n"),
    ],
)
def test_import_of_unreadable_objects_fails(
    engine: Engine, s3: Path, format_: str, compression: str, body: bytes
) -> None:
    (s3 / "bucket" / "1").write_bytes(body)
    done = start_import(engine, InputFormat=format_, InputCompressionType=compression)
    assert (done["ImportStatus"], done["ErrorCount"], done["ImportedItemCount"]) == ("FAILED", 1, 0)


def test_imported_csv_key_attributes_have_declared_types_and_others_are_strings(engine: Engine, s3: Path) -> None:
    (s3 / "bucket" / "1.csv").write_text('pk,sk,number,note\na,1,7,"x, ""y""\nz"\nb,x,7,y\nc,3,8\n')
    definitions = [{"AttributeName": "pk", "AttributeType": "S"}, {"AttributeName": "sk", "AttributeType": "N"}]
    done = start_import(
        engine, InputFormat="CSV", TableCreationParameters=parameters("copy", AttributeDefinitions=definitions)
    )
    assert (done["ImportedItemCount"], done["ErrorCount"]) == (1, 2)
    result = pages(engine, "Scan", {"TableName": "copy"})
    assert result == [{"pk": s("a"), "sk": n(1), "number": s("7"), "note": s('x, "y"\nz')}]


def test_csv_header_and_delimiter_can_be_configured(engine: Engine, s3: Path) -> None:
    (s3 / "bucket" / "1.csv").write_bytes("a;1;é\nb;2;y\n".encode())
    options = {"Csv": {"Delimiter": ";", "HeaderList": ["pk", "sk", "note"]}}
    start_import(engine, InputFormat="CSV", InputFormatOptions=options)
    assert [item["note"]["S"] for item in items(engine, "copy")] == ["é", "y"]
    request = import_request("third", InputFormat="ION", InputFormatOptions=options)
    assert answer(engine, "ImportTable", request)["error"] == "ValidationException"


def books(**more: Any) -> dict[str, Any]:
    """Return the parameters of a table for the books in AWS's documentation. The table's key is a number."""
    key: dict[str, Any] = {
        "AttributeDefinitions": [{"AttributeName": "Id", "AttributeType": "N"}],
        "KeySchema": [{"AttributeName": "Id", "KeyType": "HASH"}],
    }
    return parameters("books", **key, **more)


def test_ion_example_of_the_documentation_is_imported(engine: Engine, s3: Path) -> None:
    one_line = BOOK.replace("\n", " ").replace("103", "104")
    (s3 / "bucket" / "books").write_text(f"{BOOK}\n\n{one_line}\n")
    done = start_import(engine, InputFormat="ION", TableCreationParameters=books())
    assert (done["ImportStatus"], done["ImportedItemCount"]) == ("COMPLETED", 2)


@pytest.mark.parametrize("bad", [b"garbage\n", b"{}\n", b'{"item": {}}\n', b'{"Item": []}\n', b"[]\n"])
def test_invalid_line_stops_the_import_of_the_rest_of_its_object(engine: Engine, s3: Path, bad: bytes) -> None:
    (s3 / "bucket" / "1").write_bytes(line("a") + b"\n" + bad + line("never"))
    (s3 / "bucket" / "2").write_bytes(line("b"))
    done = start_import(engine)
    assert (done["ImportStatus"], done["FailureCode"]) == ("FAILED", "ItemValidationError")
    assert (done["ProcessedItemCount"], done["ImportedItemCount"], done["ErrorCount"]) == (3, 2, 1)


def test_counts_of_an_import_are_zero_when_it_starts(engine: Engine) -> None:
    request = import_request()
    started = engine.call("ImportTable", request)["ImportTableDescription"]
    assert {"ProcessedSizeBytes", "EndTime", "FailureCode", "FailureMessage"}.isdisjoint(started)
    assert (started["ErrorCount"], started["ProcessedItemCount"], started["ImportedItemCount"]) == (0, 0, 0)
    assert "'clientToken'" in answer(engine, "ImportTable", {**request, "ClientToken": None})["message"]
    csv = {"Csv": {"Delimiter": ";"}}
    assert answer(engine, "ImportTable", {**request, "ClientToken": "u", "InputFormatOptions": csv}) == {
        "error": "ValidationException",
        "message": "Invalid Request: Unsupported InputFormatOptions for the given input format: DYNAMODB_JSON.",
    }


def test_imports_are_listed_in_pages_of_ten(engine: Engine, clock: Clock) -> None:
    for number in range(11):
        clock.now_s += 1
        start_import(engine, f"copy{number}")
    first = engine.call("ListImports", {})
    names = [each["TableArn"].rpartition("/")[2] for each in first["ImportSummaryList"]]
    assert names == [f"copy{number}" for number in range(10, 0, -1)]
    rest = engine.call("ListImports", {"NextToken": first["NextToken"]})["ImportSummaryList"]
    assert [each["TableArn"].rpartition("/")[2] for each in rest] == ["copy0"]


def test_import_into_an_existing_table_or_from_a_missing_bucket_fails(engine: Engine, s3: Path) -> None:
    create(engine)
    assert answer(engine, "ImportTable", import_request("orders")) == {
        "error": "ResourceInUseException",
        "message": "Table already exists: orders",
    }
    done = start_import(engine, "nowhere", S3BucketSource={"S3Bucket": "missing"})
    assert (done["ImportStatus"], done["FailureCode"]) == ("FAILED", "S3NoSuchBucket")
    assert answer(engine, "DescribeTable", {"TableName": "nowhere"})["error"] == "ResourceNotFoundException"
    arn = "arn:aws:dynamodb:local:000000000000:table/copy/import/01790000000000-00000000"
    assert answer(engine, "DescribeImport", {"ImportArn": arn})["error"] == "ImportNotFoundException"


def test_client_token_makes_an_import_idempotent(engine: Engine) -> None:
    first = start_import(engine, ClientToken="t")
    request = import_request()
    assert answer(engine, "ImportTable", request)["error"] == "ResourceInUseException"
    other = {**request, "TableCreationParameters": parameters("other")}
    assert answer(engine, "ImportTable", other)["error"] == "ImportConflictException"
    engine.call("DeleteTable", {"TableName": "copy"})
    assert engine.call("ImportTable", request)["ImportTableDescription"]["ImportArn"] == first["ImportArn"]
    (listed,) = engine.call("ListImports", {"PageSize": 1})["ImportSummaryList"]
    assert listed["ImportArn"] == first["ImportArn"]


def test_export_fails_if_no_bucket_folder_is_configured(clock: Clock) -> None:
    with Engine.open(":memory:", clock=clock) as engine:
        create(engine)
        keep_history(engine)
        assert export(engine)["FailureCode"] == "S3NoSuchBucket"


def test_exports_and_imports_are_split_into_batches(engine: Engine, s3: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each data file has at most a fixed number of items, and an import writes a fixed number of items per batch."""
    monkeypatch.setattr("keyplan.store.transfer.table_exports.ITEMS_OF_FILE", 7)
    monkeypatch.setattr("keyplan.store.transfer.table_imports.TOGETHER", 4)
    fill(engine, 30)
    keep_history(engine)
    done = export(engine)
    data = s3 / "bucket" / done["ExportManifest"].removesuffix("manifest-summary.json") / "data"
    assert len(list(data.iterdir())) == 5
    prefix = data.relative_to(s3 / "bucket").as_posix() + "/"
    assert start_import(engine, prefix=prefix, InputCompressionType="GZIP")["ImportedItemCount"] == 30


@pytest.mark.parametrize(
    ("start", "again"), [(b"pk,sk\n", b"a" * 4096), (b"pk,sk\n", b'"a\n",' * 600), (b'"a\n",', b'"a\n",' * 600)]
)
def test_unterminated_csv_record_is_rejected(monkeypatch: pytest.MonkeyPatch, start: bytes, again: bytes) -> None:
    """A small compressed file with an endless record could use all memory."""
    monkeypatch.setattr(formats, "LINE_BYTES_MAX", 200_000)
    file = Endless(start, again, bytes_max=1_000_000)
    *_, last = formats.read_records(io.BufferedReader(file), "CSV", formats.Csv({}))
    assert isinstance(last, formats.UnreadableError)
    assert "longer than 200000" in str(last)


def test_imports_do_not_follow_symbolic_links_outside_a_bucket(s3: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret").write_text("secret")
    (s3 / "bucket" / "file").symlink_to(outside / "secret")
    (s3 / "bucket" / "folder").symlink_to(outside)
    (s3 / "linked").symlink_to(outside)
    bucket = Bucket(str(s3), "bucket")
    assert bucket.keys("") == bucket.keys("folder/") == []
    for key in ("file", "folder/secret"):
        with pytest.raises(S3Error):
            bucket.read(key, "NONE")
        with pytest.raises(S3Error):
            bucket.put(key, b"overwritten")
    with pytest.raises(S3Error):
        Bucket(str(s3), "linked")
    assert (outside / "secret").read_text() == "secret"
