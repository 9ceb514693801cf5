"""Opening a design on DynamoDB: creating tables, comparing tables, and errors."""

from __future__ import annotations

import asyncio
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from keyplan import Design, Table
from keyplan.client.call_records import CallRecord
from keyplan.client.transports.urls import Location
from keyplan.errors import DynamoDBError, StoreError
from tests.transports.calls import Note, Notes
from tests.transports.faulty import FAULTS, Fault, FaultyStore, Loop, error_body, reply

pytestmark = pytest.mark.usefixtures("impatient")


def test_missing_table_of_a_remote_store_is_not_created(store: FaultyStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """The table may be missing because the URL names the wrong region."""
    monkeypatch.setattr(Location, "local", False)
    with pytest.raises(StoreError, match="has no table notes") as raised:
        Notes.open(store.url())
    assert "keyplan create" in str(raised.value)
    assert raised.value.place == "Notes.open"
    assert store.received == {"DescribeTable": 1}


def test_missing_table_is_created_on_local_stores(store: FaultyStore) -> None:
    with pytest.raises(StoreError, match="has no table notes"):
        Notes.open(store.url(), create=False)
    with Notes.open(store.url()) as notes:
        assert notes.note("b", 1) is None


def test_created_table_can_be_opened(store: FaultyStore) -> None:
    """The table name is in the URL or, if the URL has none, in the design."""
    with Notes.open(store.url(table="notes-test"), create=True) as notes:
        notes.put(Note(book="b", number=1))
        assert notes.store.table_name == "notes-test"
    with Notes.open(store.url(table="notes-test")) as notes:
        assert notes.note("b", 1) == Note(book="b", number=1)
    with Notes.open(store.url(table=""), create=True) as notes:
        assert notes.store.table_name == "notes"
        assert notes.note("b", 1) is None


def test_opening_a_table_that_differs_from_the_design_raises_an_error(store: FaultyStore) -> None:
    """The table has another key schema and lacks an index."""

    class Other(Design):
        """A design whose table has another key."""

        table = Table("notes", sort=None)

    Other.open(store.url(), create=True).close()
    with pytest.raises(
        StoreError, match=r"(?s)doesn't match the design.*key: .*the table has pk \(HASH\).*index GSI1: .*has nothing"
    ):
        Notes.open(store.url())


@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS)
def test_opening_retries_every_network_fault(fault: Fault, store: FaultyStore) -> None:
    """Opening sends only DescribeTable, which can be repeated. Expired credentials raise an error."""
    Notes.open(store.url(), create=True).close()
    store.fail("DescribeTable", fault)
    if fault.name == "expired":
        with pytest.raises(StoreError, match="ExpiredTokenException") as raised:
            Notes.open(store.url("answer_seconds=1"))
        assert "sign in again" in str(raised.value)
    else:
        Notes.open(store.url("answer_seconds=1")).close()
        assert store.received["DescribeTable"] == 2 + fault.times
    assert store.met


def test_refused_connection_is_reported_with_its_address(store: FaultyStore, loop: Loop) -> None:
    address = store.address
    loop.run(store.stop())
    with pytest.raises(StoreError, match=f"http://{address}: connection refused") as raised:
        Notes.open(f"dynamodb+http://{address}/notes")
    assert "check that the store is running" in str(raised.value)


def test_connection_to_a_restarted_store_is_replaced(store: FaultyStore, loop: Loop) -> None:
    with Notes.open(store.url(), create=True) as notes:
        notes.put(Note(book="b", number=1))
        port = int(store.address.rpartition(":")[2])
        loop.run(store.stop())
        with pytest.raises(StoreError, match="connection refused"):
            notes.note("b", 1)
        loop.run(store.start(port))
        assert notes.note("b", 1) is not None


def test_unknown_host_is_reported_with_a_hint() -> None:
    with pytest.raises(StoreError, match=r"unknown host nowhere\.invalid") as raised:
        Notes.open("dynamodb+http://nowhere.invalid:8000/notes")
    assert "check the region or host" in str(raised.value)


def test_opening_a_table_on_aws_requires_credentials() -> None:
    with pytest.raises(StoreError, match="no credentials were found"):
        Notes.open("dynamodb://eu-west-1/notes")


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        ("UnrecognizedClientException", "the access key is unknown to the endpoint"),
        ("InvalidSignatureException", "the secret belongs to the access key"),
        ("AccessDeniedException", "check the policies"),
    ],
)
def test_rejected_credentials_are_reported_with_a_hint(kind: str, message: str, store: FaultyStore) -> None:
    """Opening raises a StoreError. Later calls raise DynamoDB's own error, which also has a hint."""
    Notes.open(store.url(), create=True).close()
    with Notes.open(store.url()) as notes:
        store.respond = lambda operation, body: reply(400, error_body(kind, "no"))
        with pytest.raises(StoreError, match=message) as raised:
            Notes.open(store.url())
        assert raised.value.place == "Notes.open"
        before = store.received["GetItem"]
        with pytest.raises(DynamoDBError) as later:
            notes.note("b", 1)
        assert (later.value.type, later.value.hint is not None) == (kind, True)
        assert store.received["GetItem"] == before + 1


def test_calls_to_a_deleted_table_raise_an_error_with_a_hint(store: FaultyStore) -> None:
    """DynamoDB's error message contains no hint."""
    with Notes.open(store.url(), create=True) as notes:
        store.engine.call("DeleteTable", {"TableName": "notes"})
        with pytest.raises(DynamoDBError, match="ResourceNotFoundException") as raised:
            notes.note("b", 1)
    assert "check that the table exists" in str(raised.value)


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (
            b"HTTP/1.1 302 Found\r\nLocation: /login\r\nContent-Length: 0\r\n\r\n",
            r"status 302 without a DynamoDB error: nothing\n.*check that the URL is an endpoint of DynamoDB or",
        ),
        (
            b"HTTP/1.1 404 Not Found\r\nContent-Length: 9\r\n\r\nnot found",
            r"status 404 without a DynamoDB error: 'not found'\n.*check that the URL",
        ),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n[]", "the body is list"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}", "an incomplete description"),
        (b"SSH-2.0-OpenSSH_9.2\r\n", "the response isn't HTTP"),
    ],
)
def test_opening_a_server_that_is_not_dynamodb_raises_an_error(answer: bytes, message: str, store: FaultyStore) -> None:
    store.respond = lambda operation, body: answer
    with pytest.raises(StoreError, match=message):
        Notes.open(store.url())


@pytest.mark.nightly
def test_tls_request_to_a_server_without_tls_is_reported(store: FaultyStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "key")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    with pytest.raises(StoreError, match=r"TLS failed|no connection") as raised:
        Notes.open(f"dynamodb+https://{store.address}/notes?connect_seconds=1")
    assert raised.value.hint


def test_opening_on_a_host_that_does_not_respond_times_out() -> None:
    """Both the connection timeout and the call timeout apply."""
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen(0)
        port = silent.getsockname()[1]
        with pytest.raises(StoreError, match=r"no complete response within|no connection within"):
            Notes.open(
                f"dynamodb+http://127.0.0.1:{port}/notes?connect_seconds=0.3&answer_seconds=0.3&total_seconds=0.5"
            )


def test_hook_receives_every_request_of_a_call(store: FaultyStore) -> None:
    """The hook gets bytes, retries, capacity and errors. The requests ask for the consumed capacity."""
    with Notes.open(store.url(), create=True) as notes:
        records: list[CallRecord] = []
        notes.store.on_call = records.append
        store.fail("PutItem", FAULTS["throttled"])
        notes.put(Note(book="b", number=1))
        asyncio.run(_get(notes))
        put, get = records
        assert (put.operation, put.retries, put.capacity["CapacityUnits"], put.error) == ("PutItem", 3, 2.0, None)
        assert (get.operation, get.retries, get.capacity["CapacityUnits"]) == ("GetItem", 0, 0.5)
        assert get.latency_ms > 0
        assert get.request_bytes > 50 < get.response_bytes
        store.respond = lambda operation, body: reply(400, error_body("ValidationException", "no"))
        with pytest.raises(DynamoDBError):
            notes.note("b", 1)
        assert records[-1].error == "ValidationException"


async def _get(notes: Notes) -> None:
    assert await notes.note.aio("b", 1) is not None


def test_importing_keyplan_imports_no_transport() -> None:
    """botocore, aiohttp, urllib3 and Keyplan's transports are imported only when they are used."""
    code = "import sys, keyplan; print([name for name in sys.modules if name.partition('.')[0] in {names}])"
    names = "{'botocore', 'aiohttp', 'urllib3', 'requests', 'httpx'}"
    code = code.replace("{names}", names) + "; print('keyplan.client.transports.http_sync' in sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=Path.cwd())
    assert run.stdout.split() == ["[]", "False"]


DECLARES = """
import sys
before = set(sys.modules)
import pydantic
class Plain(pydantic.BaseModel):
    number: int
pydantics = set(sys.modules)
from keyplan import Design, Entity, Key, Table
plain = set(sys.modules) - pydantics
class Note(Entity):
    note_id: str
    primary = Key("NOTE#{note_id}", "NOTE")
class Notes(Design):
    table = Table("notes")
declared = set(sys.modules) - pydantics
print(len(plain), len(declared))
print(*(name for name in sorted(declared) if not name.startswith(("keyplan", "pydantic"))))
"""


def test_importing_keyplan_and_declaring_a_design_imports_few_modules() -> None:
    """The first design imports pydantic and the compiler, but no module that opens or checks a design."""
    run = subprocess.run([sys.executable, "-c", DECLARES], capture_output=True, text=True, check=True, cwd=Path.cwd())
    counts, foreign = run.stdout.splitlines()
    plain, declared = map(int, counts.split())
    assert plain <= 25, "only declaring is imported"
    assert declared <= 90, "and a design's compiler"
    heavy = {"asyncio", "concurrent.futures", "difflib", "gzip", "logging", "rich", "click", "sqlite3", "ssl"}
    assert not heavy & set(foreign.split())
