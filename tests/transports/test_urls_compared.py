"""Every part of what a URL and the environment say, agreed upon; and what calls of an engine in this process tell."""

from __future__ import annotations

from dataclasses import fields

import pytest

from keyplan.client.transports.credentials import Credentials, Fixed, FromEnvironment, find_credentials
from keyplan.client.transports.signing import Signer
from keyplan.client.transports.urls import Settings, parse_url
from keyplan.client.watching import CallRecord
from keyplan.errors import ConditionFailed, StoreError
from tests.agreed import assert_agreed
from tests.transports.calls import Note, Notes

URLS = [
    "dynamodb://eu-west-1/cms",
    "dynamodb://eu-west-1",
    "dynamodb:///cms",
    "dynamodb:///cms?region=eu-north-1",
    "dynamodb://eu-west-1/cms?region=eu-north-1",
    "dynamodb:///cms?region=",
    "dynamodb:///cms?region=north",
    "dynamodb:///cms?profile=",
    "dynamodb://x-y-1/cms",
    "dynamodb://e-y-1/cms",
    "dynamodb://eu-west-1:443/cms",
    "dynamodb://us-iso-east-1/cms",
    "dynamodb://eu-west-1/c%6Ds",
    "dynamodb://eu-west-1/" + "c" * 255,
    "dynamodb://eu-west-1/" + "c" * 256,
    "dynamodb://eu-west-1/ccc",
    "dynamodb://eu-west-1/arn:aws:dynamodb:eu-west-1:123456789012:table%2Fcms",
    "dynamodb+http://localhost/cms",
    "dynamodb+http://localhost:80/cms",
    "dynamodb+http://localhost:443/cms",
    "dynamodb+https://localhost/cms",
    "dynamodb+https://localhost:80/cms",
    "dynamodb+https://127.9.8.7/cms",
    "dynamodb+https://127.9.8.7.example/cms",
    "dynamodb+https://[::1]/cms",
    "dynamodb+https://[::2]:8000/cms",
    "dynamodb+https://dynamodb.eu-west-1.amazonaws.com/cms",
    "dynamodb+https://dynamodb.eu-west-1.example.com/cms",
    "dynamodb+https://dynamodb.cn-north-1.amazonaws.com.cn/cms",
    "dynamodb+https://vpce-1.dynamodb.eu-west-1.vpce.amazonaws.com/cms",
    "dynamodb+https://x.ap-south-1.vpce.amazonaws.com/cms",
    "dynamodb+https://x.amazonaws.com/cms",
    "dynamodb+https://dynamodb.eu-west-1.amazonaws.com/cms?region=eu-north-1",
    "dynamodb+http://me@localhost/cms",
    "dynamodb+http://:secret@localhost/cms",
    "dynamodb+http://localhost/cms#part",
    "dynamodb://eu-west-1/cms?nothing=1",
    "dynamodb://eu-west-1/cms?attempts=",
    "dynamodb://eu-west-1/cms?attempts=1",
    "dynamodb://eu-west-1/cms?attempts=999999&parallel=3&connect_seconds=0.5&answer_seconds=7",
    "dynamodb://eu-west-1/cms?attempts=1000000",
    "dynamodb://eu-west-1/cms?attempts=-1",
    "dynamodb://eu-west-1/cms?connect_seconds=0",
    "dynamodb://eu-west-1/cms?gzip=0",
    "dynamodb://eu-west-1/cms?gzip=YES",
    "dynamodb://eu-west-1/cms?gzip=no",
    "dynamodb://eu-west-1/cms?gzip=",
]
ENVIRONMENTS: list[dict[str, str]] = [
    {},
    {"AWS_REGION": "eu-south-1", "AWS_DEFAULT_REGION": "eu-south-2"},
    {"AWS_REGION": "", "AWS_DEFAULT_REGION": "eu-south-2", "AWS_ENDPOINT_URL": "http://local"},
    {"AWS_REGION": "south", "AWS_ENDPOINT_URL_DYNAMODB": "https://local:8000", "AWS_ENDPOINT_URL": "http://other"},
    {"AWS_ENDPOINT_URL": "https://local", "AWS_IGNORE_CONFIGURED_ENDPOINT_URLS": "false"},
    {"AWS_ENDPOINT_URL": "http://local:443", "AWS_IGNORE_CONFIGURED_ENDPOINT_URLS": "True"},
    {"AWS_ENDPOINT_URL": "ftp://local"},
    {"AWS_ENDPOINT_URL": "http://"},
]


def said(url: str, environment: dict[str, str]) -> str:
    try:
        location = parse_url(url, "own", environment)
    except StoreError as error:
        return f"{error.message.removeprefix(url)} ({error.hint})"
    changed = [(field.name, _changed(location, field.name)) for field in fields(Settings)]
    where = f"{location.endpoint} {location.address} {location.region!r} {location.table} {location.profile!r}"
    truths = [name for name in ("tls", "on_aws", "local") if getattr(location, name)]
    return " ".join([where, *truths, *(f"{name}={value}" for name, value in changed if value)])


def _changed(location: object, name: str) -> str:
    settings = location.settings  # type: ignore[attr-defined]
    value = getattr(settings, name)
    return "" if value == getattr(type(settings)(), name) else repr(value)


def test_what_urls_say_in_each_environment() -> None:
    """Endpoint, address, region, table, profile, and the settings that aren't as they were."""
    lines: list[str] = []
    for url in URLS:
        before = ""
        for environment in ENVIRONMENTS if url in URLS[:5] else ENVIRONMENTS[:2]:
            text = said(url, environment)
            if text != before:
                lines.append(f"{url[:99]} {environment or ''}\n    {text[:400]}")
            before = text
    assert_agreed("\n".join(lines))


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
