"""Opening a design on DynamoDB: what is created, what is compared, and what is said when it can't be opened."""

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


def test_a_missing_table_is_not_created(store: FaultyStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not unasked, where the store isn't this machine's own: the URL may be that of another region."""
    monkeypatch.setattr(Location, "local", False)
    with pytest.raises(StoreError, match="has no table notes") as raised:
        Notes.open(store.url())
    assert "keyplan create" in str(raised.value)
    assert raised.value.place == "Notes.open"
    assert store.received == {"DescribeTable": 1}


def test_a_store_on_this_machine_gets_its_table_unless_told_otherwise(store: FaultyStore) -> None:
    with pytest.raises(StoreError, match="has no table notes"):
        Notes.open(store.url(), create=False)
    with Notes.open(store.url()) as notes:
        assert notes.note("b", 1) is None


def test_create_makes_the_table_and_opening_finds_it(store: FaultyStore) -> None:
    """Under the URL's name, or the design's own."""
    with Notes.open(store.url(table="notes-test"), create=True) as notes:
        notes.put(Note(book="b", number=1))
        assert notes.store.table_name == "notes-test"
    with Notes.open(store.url(table="notes-test")) as notes:
        assert notes.note("b", 1) == Note(book="b", number=1)
    with Notes.open(store.url(table=""), create=True) as notes:
        assert notes.store.table_name == "notes"
        assert notes.note("b", 1) is None


def test_another_table_is_refused(store: FaultyStore) -> None:
    """Another key schema, a missing index."""

    class Other(Design):
        """A table with other keys."""

        table = Table("notes", sort=None)

    Other.open(store.url(), create=True).close()
    with pytest.raises(
        StoreError, match=r"(?s)doesn't match the design.*key: .*the table pk \(HASH\).*index GSI1: .*the table nothing"
    ):
        Notes.open(store.url())


@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS)
def test_every_fault_while_opening(fault: Fault, store: FaultyStore) -> None:
    """Opening asks for the table's description, which may be asked twice. Expired credentials of nobody stay so."""
    Notes.open(store.url(), create=True).close()
    store.fail("DescribeTable", fault)
    if fault.name == "expired":
        with pytest.raises(StoreError, match="ExpiredTokenException") as raised:
            Notes.open(store.url("answer_seconds=0.5"))
        assert "sign in again" in str(raised.value)
    else:
        Notes.open(store.url("answer_seconds=0.5")).close()
        assert store.received["DescribeTable"] == 2 + fault.times
    assert store.met


def test_nothing_listens(store: FaultyStore, loop: Loop) -> None:
    """A refused connection is told with the address."""
    address = store.address
    loop.run(store.stop())
    with pytest.raises(StoreError, match=f"http://{address}: nothing listens there") as raised:
        Notes.open(f"dynamodb+http://{address}/notes")
    assert "see that the store is running" in str(raised.value)


def test_a_store_that_comes_back(store: FaultyStore, loop: Loop) -> None:
    """A connection that was closed while it was idle isn't used again."""
    with Notes.open(store.url(), create=True) as notes:
        notes.put(Note(book="b", number=1))
        port = int(store.address.rpartition(":")[2])
        loop.run(store.stop())
        with pytest.raises(StoreError, match="nothing listens there"):
            notes.note("b", 1)
        loop.run(store.start(port))
        assert notes.note("b", 1) is not None


def test_an_unknown_host() -> None:
    """The name is told, with what may be wrong."""
    with pytest.raises(StoreError, match=r"there is no host nowhere\.invalid") as raised:
        Notes.open("dynamodb+http://nowhere.invalid:8000/notes")
    assert "region or host is spelt right" in str(raised.value)


def test_no_credentials() -> None:
    """AWS wants to know who asks."""
    with pytest.raises(StoreError, match="no credentials were found"):
        Notes.open("dynamodb://eu-west-1/notes")


@pytest.mark.parametrize(
    ("kind", "says"),
    [
        ("UnrecognizedClientException", "the access key isn't known there"),
        ("InvalidSignatureException", "the secret belongs to the access key"),
        ("AccessDeniedException", "see to the policies"),
    ],
)
def test_credentials_that_are_no_good(kind: str, says: str, store: FaultyStore) -> None:
    """Told at once, with what to look at; and as DynamoDB's own error where it comes later."""
    Notes.open(store.url(), create=True).close()
    with Notes.open(store.url()) as notes:
        store.respond = lambda operation, body: reply(400, error_body(kind, "no"))
        with pytest.raises(StoreError, match=says) as raised:
            Notes.open(store.url())
        assert raised.value.place == "Notes.open"
        before = store.received["GetItem"]
        with pytest.raises(DynamoDBError) as later:
            notes.note("b", 1)
        assert (later.value.type, later.value.hint is not None) == (kind, True)
        assert store.received["GetItem"] == before + 1


def test_a_table_that_is_gone(store: FaultyStore) -> None:
    """Somebody deleted it while the design was open: DynamoDB's words don't say where to look."""
    with Notes.open(store.url(), create=True) as notes:
        store.engine.call("DeleteTable", {"TableName": "notes"})
        with pytest.raises(DynamoDBError, match="ResourceNotFoundException") as raised:
            notes.note("b", 1)
    assert "see that the table is there" in str(raised.value)


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (
            b"HTTP/1.1 302 Found\r\nLocation: /login\r\nContent-Length: 0\r\n\r\n",
            r"it answers 302 without an error of DynamoDB's: nothing\n.*check that the URL is that of DynamoDB or of",
        ),
        (
            b"HTTP/1.1 404 Not Found\r\nContent-Length: 9\r\n\r\nnot found",
            r"it answers 404 without an error of DynamoDB's: 'not found'\n.*check that the URL",
        ),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n[]", "it is no object"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}", "an incomplete description"),
        (b"SSH-2.0-OpenSSH_9.2\r\n", "the answer isn't HTTP"),
    ],
)
def test_something_that_is_no_dynamodb(answer: bytes, says: str, store: FaultyStore) -> None:
    """A web page, an SSH server, anything: said so."""
    store.respond = lambda operation, body: answer
    with pytest.raises(StoreError, match=says):
        Notes.open(store.url())


@pytest.mark.nightly
def test_tls_to_a_server_without_it(store: FaultyStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is said which scheme has no TLS."""
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "key")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    with pytest.raises(StoreError, match=r"no TLS|no connection") as raised:
        Notes.open(f"dynamodb+https://{store.address}/notes?connect_seconds=1")
    assert raised.value.hint


def test_a_host_that_does_not_answer() -> None:
    """The connection's own time is kept, and the call's."""
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen(0)
        port = silent.getsockname()[1]
        with pytest.raises(StoreError, match=r"no answer within|no connection within"):
            Notes.open(f"dynamodb+http://127.0.0.1:{port}/notes?connect_seconds=0.3&answer_seconds=0.3&total_seconds=1")


def test_the_hook_is_told_of_every_call(store: FaultyStore) -> None:
    """Bytes, retries, capacity, and errors; without a hook capacity isn't asked for."""
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


def test_importing_keyplan_opens_no_door() -> None:
    """botocore, aiohttp, urllib3 aren't imported, and our own transports neither, before they are needed."""
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


def test_importing_and_declaring_costs_few_modules() -> None:
    """Beside pydantic's: the compiler is imported with the first design, and what opens or checks one isn't then."""
    run = subprocess.run([sys.executable, "-c", DECLARES], capture_output=True, text=True, check=True, cwd=Path.cwd())
    counts, foreign = run.stdout.splitlines()
    plain, declared = map(int, counts.split())
    assert plain <= 25, "only declaring is imported"
    assert declared <= 90, "and a design's compiler"
    heavy = {"asyncio", "concurrent.futures", "difflib", "gzip", "logging", "rich", "click", "sqlite3", "ssl"}
    assert not heavy & set(foreign.split())
