"""The server supports HTTP and AWS JSON 1.0, and returns DynamoDB's errors for invalid requests."""

from __future__ import annotations

import gzip
import json
import random
import re
import time
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from keyplan.store.server import responses as answers
from keyplan.store.server.responses import json_answer, plain_answer
from tests.server.support import AUTHORIZATION, CREATE, TABLE, Server, request, s, serving

SERVICE = "com.amazon.coral.service#"
KEY = {"TableName": TABLE, "Key": {"pk": s("a"), "sk": s("001")}}
QUERY: dict[str, Any] = {
    "TableName": TABLE,
    "KeyConditionExpression": "pk = :p",
    "ExpressionAttributeValues": {":p": s("a")},
}


def test_response_has_the_headers_and_body_of_dynamodb(server: Server) -> None:
    with server.raw() as raw:
        answer = raw.ask(request("GetItem", KEY))
        answer.assert_sound()
        assert answer.status == 200
        assert answer.headers["content-type"] == "application/x-amz-json-1.0"
        assert answer.json() == {"Item": {"pk": s("a"), "sk": s("001"), "g": s("g"), "note": s("n" * 100)}}


def test_responses_of_tag_operations_have_no_body(server: Server) -> None:
    arn = server.call("DescribeTable", {"TableName": TABLE})["Table"]["TableArn"]
    sent: dict[str, Any] = {
        "TagResource": {"Tags": [{"Key": "team", "Value": "a"}]},
        "UntagResource": {"TagKeys": ["team"]},
    }
    with server.raw() as raw:
        for operation, given in sent.items():
            answer = raw.ask(request(operation, {"ResourceArn": arn, **given}))
            assert (answer.status, answer.headers["content-length"], answer.body) == (200, "0", b"")


def test_every_read_operation_returns_the_same_items(server: Server) -> None:
    complete = server.call("Query", QUERY)
    assert complete["Count"] == 30
    filtered = {**QUERY, "FilterExpression": "g = :g", "ExpressionAttributeValues": {":p": s("a"), ":g": s("g")}}
    assert server.call("Query", filtered)["Items"] == complete["Items"]
    projected = server.call("Query", {**QUERY, "ProjectionExpression": "pk, sk, g, note"})
    assert projected["Items"] == complete["Items"]
    of_index = {
        **QUERY,
        "IndexName": "ByG",
        "KeyConditionExpression": "g = :g",
        "ExpressionAttributeValues": {":g": s("g")},
    }
    assert server.call("Query", of_index)["Items"] == complete["Items"]
    keys = [{"pk": item["pk"], "sk": item["sk"]} for item in complete["Items"]]
    got = server.call("BatchGetItem", {"RequestItems": {TABLE: {"Keys": keys}}})
    assert got["Responses"][TABLE] == complete["Items"]
    gets = [{"Get": {"TableName": TABLE, "Key": key}} for key in keys]
    transacted = server.call("TransactGetItems", {"TransactItems": gets})
    assert [response["Item"] for response in transacted["Responses"]] == complete["Items"]


def test_query_pages_continue_at_the_last_key(server: Server) -> None:
    sorts: list[str] = []
    start = None
    while True:
        answer = server.call("Query", {**QUERY, "Limit": 7, "ExclusiveStartKey": start})
        sorts += [item["sk"]["S"] for item in answer["Items"]]
        start = answer.get("LastEvaluatedKey")
        if start is None:
            break
    assert sorts == [f"{number:03d}" for number in range(30)]


def test_connection_handles_pipelined_requests_in_order(server: Server) -> None:
    with server.raw() as raw:
        ids = set[str]()
        for _ in range(3):
            ids.add(raw.ask(request("ListTables")).headers["x-amzn-requestid"])
        assert len(ids) == 3
        puts = [
            request("PutItem", {"TableName": TABLE, "Item": {"pk": s("p"), "sk": s("x"), "n": {"N": str(number)}}})
            for number in range(40)
        ]
        gets = [request("GetItem", {"TableName": TABLE, "Key": {"pk": s("p"), "sk": s("x")}}) for _ in range(40)]
        raw.send(b"".join(put + get for put, get in zip(puts, gets, strict=True)))
        for number in range(40):
            assert raw.answer().json() == {}
            assert raw.answer().json()["Item"]["n"] == {"N": str(number)}


@pytest.mark.parametrize("size", [1, 3, 50])
def test_request_that_arrives_in_several_packets_is_parsed(server: Server, size: int) -> None:
    data = request("GetItem", KEY)
    with server.raw() as raw:
        for start in range(0, len(data), size):
            raw.send(data[start : start + size])
        assert raw.answer().json()["Item"]["sk"] == s("001")


def test_chunked_request_bodies_are_decoded(server: Server) -> None:
    with server.raw() as raw:
        for _ in range(2):
            assert raw.ask(request("GetItem", KEY, chunks=True)).json()["Item"]["sk"] == s("001")


@pytest.mark.parametrize(
    ("accepted", "packing"),
    [
        (b"gzip, deflate", b"gzip"),
        (b"GZIP;q=1.0", b"gzip"),
        (b"deflate, br", b"deflate"),
        (b"br, identity, deflate, gzip", b"deflate"),
        (b"deflate , gzip ; q=0.001", b"deflate"),
        (b"*;q=0, gzip;q=0.5", b"gzip"),
        (b"gzip;q=0", b""),
        (b"gzip; Q=0.000, deflate;q=0", b""),
        (b"gzip;q=0, deflate", b"deflate"),
        (b"identity", b""),
        (b"identity, gzip;q=0.5", b""),
        (b"*;q=0", b""),
        (b"", b""),
        (b"x-gzipped, gzipped", b""),
        (b"gzip;q=nan, gzip;q=inf", b""),
        (b"gzip;q=2", b""),
        (b"gzip;q=\xb9", b""),
    ],
)
def test_content_encoding_of_a_response_is_one_that_the_request_accepts(accepted: bytes, packing: bytes) -> None:
    assert answers.packing_of({b"accept-encoding": accepted}) == packing


def test_unsupported_methods_and_content_types_return_404(server: Server) -> None:
    with server.raw() as raw:
        health = raw.ask(request(None, b"", method="GET"))
        health.assert_sound()
        assert (health.status, health.body[:9]) == (200, b"healthy: ")
        for answer in (
            raw.ask(request("ListTables", method="PUT")),
            raw.ask(request("ListTables", content_type="text/plain")),
            raw.ask(request("ListTables", content_type=None)),
        ):
            answer.assert_sound()
            assert (answer.status, answer.body) == (404, b"<UnknownOperationException/>\n")
        for path, status in ((b"/orders", 404), (b"//", 404), (b"/./", 404), (b"/?x=1", 200)):
            for service in ("DynamoDB", "DynamoDBStreams"):
                operation = "ListTables" if service == "DynamoDB" else "ListStreams"
                sent = request(None, x_amz_target=f"{service}_20120810.{operation}")
                assert raw.ask(sent.replace(b"POST /", b"POST " + path, 1)).status == status
        other = raw.ask(request("ListTables", content_type="application/json"))
        assert other.headers["content-type"] == "application/json"


@pytest.mark.parametrize("path", ["/", "/orders"])
def test_response_to_a_head_request_has_no_body(server: Server, path: str) -> None:
    """A client would interpret a body as the start of the next response."""
    sent = request(None, b"", method="HEAD").replace(b" / ", f" {path} ".encode(), 1)
    with server.raw() as raw:
        raw.send(sent + request("ListTables"))
        first, _, rest = raw.rest_until(b'{"TableNames"').partition(b"\r\n\r\n")
    assert first.startswith(b"HTTP/1.1 404 ")
    assert b"\r\ncontent-length: 29\r\n" in first + b"\r\n"
    assert rest.startswith(b"HTTP/1.1 200 ")


@pytest.mark.parametrize(
    "target",
    [
        None,
        "DynamoDB_20120810.Nothing",
        "DynamoDB_20120810.getItem",
        "DynamoDB_20120810",
        "ListTables",
        "DynamoDB_20111205.ListTables",
        "DynamoDB_20120810.ExecuteStatements",
        "DynamoDB_20120810.CreateBackups",
        "DynamoDB_20120810.\xff",
    ],
)
def test_requests_of_unknown_operations_are_rejected(server: Server, target: str | None) -> None:
    with server.raw() as raw:
        answer = raw.ask(request(None, x_amz_target=target))
        answer.assert_sound()
        assert (answer.status, answer.type) == (400, SERVICE + "UnknownOperationException")


def test_whitespace_around_header_values_is_ignored(server: Server) -> None:
    target = " \tDynamoDB_20120810.ListTables \t"
    with server.raw() as raw:
        answer = raw.ask(request(None, x_amz_target=target, accept_encoding="gzip ", content_encoding=" identity "))
        assert answer.status == 200


@pytest.mark.parametrize("authorization", [None, "", "Basic abc", "Bearer x"])
def test_requests_without_credentials_are_rejected(server: Server, authorization: str | None) -> None:
    with server.raw() as raw:
        answer = raw.ask(request("ListTables", authorization=authorization))
        assert (answer.status, answer.type) == (400, SERVICE + "MissingAuthenticationTokenException")
        assert answer.message == "Request is missing Authentication Token"


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b'{"Limit":',
        b"{} x",
        b'{"TableName":"\xff\xfe"}',
        b'{"TableName":"\\ud800"}',
        b'{"Limit":1e999}',
        b'{"Limit":NaN}',
        b"\x00",
        b"{'a': 1}",
        b'{"a":' + b"[" * 100_000 + b"]" * 100_000 + b"}",
        b"[" * 3_000_000,
        b'{"Limit":' + b"9" * 1_000_000 + b"}",
        b"[]",
        b'"x"',
        b"12",
        b"null",
        b'{"Limit": "5"}',
        b'{"Limit": 99999999999999999999}',
        b'{"ExclusiveStartTableName": 5}',
    ],
)
def test_invalid_request_bodies_are_rejected(server: Server, body: bytes) -> None:
    with server.raw() as raw:
        answer = raw.ask(request("ListTables", body))
        answer.assert_sound()
        assert (answer.status, answer.type) == (400, SERVICE + "SerializationException"), answer
        assert raw.ask(request("ListTables")).status == 200


def test_error_responses_have_the_types_and_members_of_dynamodb(server: Server) -> None:
    with server.raw() as raw:
        missing = raw.ask(request("GetItem", {**KEY, "TableName": "nothing"}))
        assert missing.type == "com.amazonaws.dynamodb.v20120810#ResourceNotFoundException"
        assert missing.message == "Requested resource not found"
        large = raw.ask(request("ListTables", b'{"Limit": 18446744073709551616}'))
        assert large.message == "NUMBER_VALUE cannot be converted to Integer"
        invalid = raw.ask(request("DescribeTable", {"TableName": "a"}))
        assert invalid.type == "com.amazon.coral.validate#ValidationException"
        legacy = raw.ask(request("PutItem", {"TableName": TABLE, "Item": KEY["Key"], "Expected": {"pk": {}}}))
        assert legacy.type == "com.amazon.coral.validate#ValidationException"
        put = {"TableName": TABLE, "Item": KEY["Key"], "ConditionExpression": "attribute_not_exists(pk)"}
        failed = raw.ask(request("PutItem", {**put, "ReturnValuesOnConditionCheckFailure": "ALL_OLD"}))
        assert failed.type == "com.amazonaws.dynamodb.v20120810#ConditionalCheckFailedException"
        assert failed.json()["Item"]["sk"] == s("001")
        cancelled = raw.ask(request("TransactWriteItems", {"TransactItems": [{"Put": put}]}))
        assert cancelled.type == "com.amazonaws.dynamodb.v20120810#TransactionCanceledException"
        assert cancelled.json()["CancellationReasons"][0]["Code"] == "ConditionalCheckFailed"
        assert "Message" in cancelled.json()
        for answer in (missing, invalid, legacy, failed, cancelled):
            answer.assert_sound()
            assert answer.status == 400


LARGEST = 16 * 1024 * 1024


def test_request_bodies_over_16_mb_are_rejected(server: Server) -> None:
    with server.raw() as raw:
        assert raw.ask(request("ListTables", b"{}" + b" " * (LARGEST - 2))).status == 200
    with server.raw() as raw:
        # It is rejected by its length before it is sent.
        head = request("ListTables", b"", content_length=str(LARGEST + 1))
        answer = raw.ask(head)
        assert answer.status == 413
        assert answer.headers["connection"] == "close"
        assert raw.ended()


@pytest.mark.parametrize("chunked", [False, True])
def test_client_can_read_the_rejection_of_a_large_body(server: Server, chunked: bool) -> None:
    """Some clients don't read the response until they have sent the whole body."""
    with server.raw() as raw:
        if chunked:
            raw.send(request("ListTables", b"", content_length=None, transfer_encoding="chunked"))
            for _ in range(20):
                raw.send(b"%x\r\n%s\r\n" % (1 << 20, b" " * (1 << 20)))
            raw.send(b"0\r\n\r\n")
        else:
            raw.send(request("ListTables", b" " * (LARGEST + 4_000_000)))
        assert raw.answer().status == 413
        assert raw.ended()


def test_connection_that_sends_an_endless_body_is_closed(server: Server) -> None:
    with server.raw() as raw:
        raw.send(request("ListTables", b"", content_length=None, transfer_encoding="chunked"))
        chunk = b"%x\r\n%s\r\n" % (1 << 20, b" " * (1 << 20))
        sent = 0
        try:
            while sent < 200:
                raw.send(chunk)
                sent += 1
        except (BrokenPipeError, ConnectionResetError):
            pass
        assert sent < 200
    assert server.memory_mb() < 400


def test_request_headers_over_16_kb_are_rejected(server: Server) -> None:
    with server.raw() as raw:
        assert raw.ask(request("ListTables", x_more="y" * 15_000)).status == 200
        assert raw.ask(request("ListTables", x_more="y" * 17_000)).status == 400
        assert raw.ended()


@pytest.mark.parametrize("method", ["POST", "CONNECT"])
def test_http_upgrade_request_gets_exactly_one_response(server: Server, method: str) -> None:
    sent = request("ListTables", method=method, connection="Upgrade" if method == "POST" else None, upgrade="h2c")
    with server.raw() as raw:
        raw.send(sent + b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
        assert raw.answer().status in {400, 404}
        assert raw.ended()


@pytest.mark.parametrize("encoding", ["gzip", "deflate"])
def test_request_bodies_and_responses_can_be_compressed(server: Server, encoding: str) -> None:
    pack = gzip.compress if encoding == "gzip" else zlib.compress
    query = {"TableName": TABLE, "KeyConditionExpression": "pk = :a", "ExpressionAttributeValues": {":a": s("a")}}
    body = json.dumps(query).encode()
    with server.raw() as raw:
        answer = raw.ask(request("Query", pack(body), content_encoding=encoding, accept_encoding=encoding))
        answer.assert_sound()
        assert answer.headers["content-encoding"] == encoding
        unpacked = gzip.decompress(answer.body) if encoding == "gzip" else zlib.decompress(answer.body)
        assert len(json.loads(unpacked)["Items"]) == 30
        assert "content-encoding" not in raw.ask(request("ListTables", accept_encoding=encoding)).headers
        if encoding == "gzip":
            members = gzip.compress(body[:20]) + gzip.compress(body[20:])
            assert len(raw.ask(request("Query", members, content_encoding="gzip")).json()["Items"]) == 30
        # As DynamoDB responds: nothing is written, so both can be retried.
        broken = (pack(body)[:-3], body, b"", pack(body) + b"junk")
        for each, named in (*((each, encoding) for each in broken), (body, "br")):
            answer = raw.ask(request("Query", each, content_encoding=named))
            assert (answer.status, answer.json()) == (500, {"__type": "com.amazon.coral.service#InternalFailure"})


def test_invalid_http_requests_are_rejected(server: Server) -> None:
    for data in (
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        b"GARBAGE\r\n\r\n",
        b"POST / HTTP/1.1\r\ncontent-length: x\r\n\r\n",
        b"POST / HTTP/1.1\r\ncontent-length: -1\r\n\r\n",
        b"POST / HTTP/1.1\r\ncontent-length: 5\r\ntransfer-encoding: chunked\r\n\r\n",
        b"POST / HTTP/1.1\r\ncontent-length: 5\r\ncontent-length: 6\r\n\r\nhello",
        b"POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n",
        b"POST / HTTP/1.1\r\nno colon here\r\n\r\n",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    ):
        with server.raw() as raw:
            answer = raw.ask(data)
            assert answer.status == 400, data
            assert raw.ended()


def test_request_with_expect_continue_gets_a_response_before_its_body(server: Server) -> None:
    body = b'{"TableName": "orders"}'
    complete = request("DescribeTable", body, expect="100-continue")
    with server.raw() as raw:
        raw.send(complete[: -len(body)])
        assert raw.answer().status == 100
        assert raw.ask(body).json()["Table"]["TableName"] == TABLE


def test_connection_is_closed_if_the_client_requests_it(server: Server) -> None:
    with server.raw() as raw:
        assert raw.ask(request("ListTables", connection="close")).status == 200
        assert raw.ended()
    with server.raw() as raw:
        raw.send(request("ListTables"))
        raw.socket.shutdown(1)  # the client has sent everything and waits for the response
        assert raw.answer().status == 200
        assert raw.ended()
    with server.raw() as raw:
        raw.send(request("ListTables").replace(b"HTTP/1.1", b"HTTP/1.0"))
        assert raw.answer().status == 200
        assert raw.ended()


def test_cross_origin_requests_are_limited_to_allowed_origins(tmp_path: Any, server: Server) -> None:
    sent: dict[str, Any] = {
        "access_control_request_headers": "x-amz-target,authorization",
        "access_control_request_method": "POST",
    }
    with server.raw() as raw:
        preflight = raw.ask(request(None, b"", method="OPTIONS", origin="http://localhost:3000", **sent))
        preflight.assert_sound()
        assert preflight.status == 200
        assert preflight.headers["access-control-allow-origin"] == "http://localhost:3000"
        assert preflight.headers["access-control-allow-headers"] == "x-amz-target,authorization"
        assert preflight.headers["access-control-allow-methods"] == "POST"
        assert raw.ask(request(None, b"", method="OPTIONS")).status == 404
        assert raw.ask(request(None, b"", method="DELETE")).status == 404
        assert raw.ask(request(None, b"", method="DELETE", origin="http://localhost:3000")).status == 404
        answer = raw.ask(request("ListTables", origin="http://localhost:3000"))
        assert answer.headers["access-control-allow-origin"] == "http://localhost:3000"
        for origin in ("https://example.com", "null", "http://localhost.example.com", "http://[", "*"):
            refused = raw.ask(request("ListTables", origin=origin))
            assert (refused.status, refused.type) == (400, SERVICE + "AccessDeniedException")
            assert "access-control-allow-origin" not in refused.headers
    with serving(":memory:", origins=["https://example.com"]) as other, other.raw() as raw:
        assert raw.ask(request("ListTables", origin="https://example.com")).status == 200
        assert raw.ask(request("ListTables", origin="https://example.org")).status == 400


def test_responses_of_at_least_4_kib_are_compressed() -> None:
    headers = {b"accept-encoding": b"gzip"}
    packed = b"content-encoding: gzip\r\n"
    assert packed in json_answer(200, bytes(4096), headers)
    assert packed not in json_answer(200, bytes(4095), headers)
    assert packed not in json_answer(200, bytes(4096), {})


HEAD = (
    rb"HTTP/1\.1 %s\r\nserver: keyplan\r\ndate: Thu, 01 Jan 1970 00:00:%02d GMT\r\n"
    rb"x-amzn-requestid: ([A-Z0-9]{52})\r\nx-amz-crc32: %d\r\n"
)


def test_response_heads_and_bodies_have_the_expected_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    ids: set[bytes] = set()
    cases: list[tuple[int, bytes, Callable[[], bytes]]] = [
        (1, b"content-type: application/x-amz-json-1\\.0\r\n", lambda: json_answer(200, b"{}", {})),
        (
            2,
            b"content-type: application/json\r\nx: y\r\n",
            lambda: json_answer(200, b"{}", {b"content-type": b"application/json"}, b"x: y\r\n"),
        ),
        (2, b"x: y\r\nconnection: close\r\n", lambda: plain_answer(200, b"{}", b"x: y\r\n", closes=True)),
        (3, b"", lambda: plain_answer(200, b"{}")),
    ]
    for second, lines, complete in cases:
        monkeypatch.setattr(time, "time", lambda now=second: now + 0.9)
        expected = HEAD % (b"200 OK", second, zlib.crc32(b"{}")) + lines + rb"content-length: 2\r\n\r\n\{\}"
        response = re.fullmatch(expected, complete())
        assert response is not None, complete()
        ids.add(response[1])
    assert len(ids) == 4


@pytest.mark.parametrize("encoding", [b"gzip", b"deflate"])
@pytest.mark.parametrize("size", [0, 1, 1023, 1024, 5000, 300_000])
def test_decompressed_size_of_a_request_body_is_limited(encoding: bytes, size: int) -> None:
    body = random.Random(size).randbytes(size)
    sent = answers.packed(body, encoding)
    assert answers.unpacked(sent, encoding, size) == body
    if size:
        with pytest.raises(answers.TooLargeError):
            answers.unpacked(sent, encoding, size - 1)
    for wrong in (b"", sent[:-1], b"x" + sent, sent + b"x"):
        with pytest.raises(zlib.error):
            answers.unpacked(wrong, encoding, size)
    if encoding == b"gzip":  # concatenated members
        assert answers.unpacked(sent + sent, encoding, 2 * size) == body + body
    else:
        with pytest.raises(zlib.error, match="data after the compressed stream"):
            answers.unpacked(sent + sent, encoding, 2 * size)


def test_first_of_several_accept_encoding_headers_is_used(server: Server) -> None:
    with server.raw() as raw:
        both = request("Query", QUERY, accept_encoding="identity\r\naccept-encoding: gzip")
        assert "content-encoding" not in raw.ask(both).headers


def test_stream_record_contains_the_region_of_the_signature(tmp_path: Path) -> None:
    with serving(str(tmp_path / "store.db")) as server:
        stream = {"StreamSpecification": {"StreamEnabled": True, "StreamViewType": "KEYS_ONLY"}}
        arn = server.call("CreateTable", {**CREATE, **stream})["TableDescription"]["LatestStreamArn"]
        server.call("PutItem", {"TableName": TABLE, "Item": {"pk": s("a"), "sk": s("1")}})
        with server.raw() as raw:

            def ask(operation: str, params: dict[str, Any]) -> dict[str, Any]:
                target = f"DynamoDBStreams_20120810.{operation}"
                return raw.ask(request(None, params, x_amz_target=target)).json()

            (shard,) = ask("DescribeStream", {"StreamArn": arn})["StreamDescription"]["Shards"]
            position = {"StreamArn": arn, "ShardId": shard["ShardId"], "ShardIteratorType": "TRIM_HORIZON"}
            iterator = ask("GetShardIterator", position)["ShardIterator"]
            (record,) = ask("GetRecords", {"ShardIterator": iterator})["Records"]
    assert record["awsRegion"] == AUTHORIZATION.split("/")[2]
