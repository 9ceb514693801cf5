"""Every part of what a URL and the environment say, agreed upon; and what calls of an engine in this process tell."""

from __future__ import annotations

import pytest

from keyplan.client.call_records import CallRecord
from keyplan.client.transports.credentials import Credentials, Fixed, FromEnvironment, find_credentials
from keyplan.client.transports.signing import Signer
from keyplan.client.transports.urls import Settings, parse_url
from keyplan.errors import ConditionFailed, StoreError
from tests.transports.calls import Note, Notes


def test_an_empty_token_is_none() -> None:
    """It isn't signed with."""
    keys = {"AWS_ACCESS_KEY_ID": "AKID", "AWS_SECRET_ACCESS_KEY": "secret"}
    location = parse_url("dynamodb://eu-west-1/cms", "cms", {})
    assert find_credentials(location, {**keys, "AWS_SESSION_TOKEN": ""}).current().token is None
    assert find_credentials(location, {**keys, "AWS_SESSION_TOKEN": "t"}).current().token == "t"
    assert repr(Credentials("AKID", "secret", "t")) == "Credentials('AKID')"


def test_who_needs_credentials() -> None:
    """Only plain HTTP that isn't AWS's takes anyone."""
    assert isinstance(find_credentials(parse_url("dynamodb+http://store/cms", "cms", {}), {}), Fixed)
    for url in (
        "dynamodb+https://store/cms",
        "dynamodb+http://dynamodb.eu-west-1.amazonaws.com/cms",
        "dynamodb+http://store/cms?profile=prod",
    ):
        with pytest.raises(StoreError, match="no credentials"):
            find_credentials(parse_url(url, "cms", {}), {})
    with pytest.raises(StoreError, match="no AWS_ACCESS_KEY_ID"):
        FromEnvironment({})
    keys = {"AWS_ACCESS_KEY_ID": "AKID", "AWS_SECRET_ACCESS_KEY": "secret"}
    assert not FromEnvironment(keys).due
    assert not Fixed(Credentials("a", "b")).due


def test_settings_are_as_they_are_described() -> None:
    assert str(Settings()) == (
        "Settings(attempts=4, connect_seconds=3.0, answer_seconds=10.0, total_seconds=30.0, connections=50, "
        "parallel=20, gzip=False)"
    )


def test_a_signed_requests_headers_are_those_of_its_head() -> None:
    signed = Signer("host:1", "eu-west-1", [("User-Agent", "x: y")]).request(
        "GetItem", b"{}", Credentials("A", "s"), 0.0
    )
    lines = signed.head.decode().split("\r\n")
    assert [f"{name}: {value}" for name, value in signed.headers] == lines[1:-2]
    assert [name for name, _ in signed.headers] == [
        "Host", "Content-Type", "X-Amz-Date", "User-Agent", "X-Amz-Target", "Content-Length", "Authorization"
    ]  # fmt: skip


def test_a_signing_key_is_made_once_a_day(monkeypatch: pytest.MonkeyPatch) -> None:
    """For each access key; what is common to a second, once a second."""
    made: list[tuple[object, ...]] = []
    monkeypatch.setattr(
        "keyplan.client.transports.signing.signing_key",
        lambda *given: made.append(given) or b"k",  # type: ignore[func-returns-value]
    )
    signer = Signer("host", "eu-west-1")
    one, other = Credentials("A", "s"), Credentials("B", "r")
    for moment in (0.0, 0.9, 1.0, 86_399.9, 86_400.0, 86_401.0):
        signer.request("GetItem", b"", one, moment)
    assert [given[1] for given in made] == ["19700101", "19700102"]
    seconds: set[int] = set()
    for moment in (86_402.0, 86_402.5, 86_403.0):
        signer.request("GetItem", b"", other, moment)
        seconds.add(id(signer._second))
    assert len(made) == 3
    assert len(seconds) == 2
    signer.request("GetItem", b"", one, 86_403.0)
    assert len(made) == 4


def test_what_the_embedded_store_tells_of_its_calls() -> None:
    """No bytes, no retries; what was consumed, or the error."""
    records: list[CallRecord] = []
    with Notes.open(":memory:") as notes:
        notes.store.on_call = records.append
        assert notes.store.on_call is not None
        notes.put(Note(book="b", number=1))
        notes.note("b", 1)
        with pytest.raises(ConditionFailed):
            notes.update(Note(book="b", number=2), title="x")
        notes.store.on_call = None
        notes.note("b", 1)
    told = [
        (record.operation, record.request_bytes, record.response_bytes, record.retries, record.error)
        for record in records
    ]
    assert told == [
        ("PutItem", 0, 0, 0, None),
        ("GetItem", 0, 0, 0, None),
        ("UpdateItem", 0, 0, 0, "ConditionalCheckFailedException"),
    ]
