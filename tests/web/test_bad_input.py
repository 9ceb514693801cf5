"""Responses to random requests to the REST API never have status 500, and JSON in responses is valid."""

from __future__ import annotations

import json
import random
from datetime import date, timedelta
from typing import Any
from urllib.parse import quote

import pytest
from pydantic import computed_field, field_validator

from keyplan import Design, Entity, Key, Put, Table, Writes, read, write
from keyplan.web import app
from tests.bad_input import DAY, TEXTS, Other, Thing, Things
from tests.web.support import TestClient

PATTERNS: dict[str, Any] = {**Things.compiled.reads, **Things.compiled.writes}
NAMES = {name: [parameter.name for parameter in each.signature.parameters] for name, each in PATTERNS.items()}
SENT = [
    *(text for text in TEXTS if text.isprintable()), "%00", "%ff", "%F0%28", "a&name=b", "+", "[", "-1", str(2**63),
    "é", "日本", "2026-01-01T00:00:00Z", "9999-12-31T23:59:59-23:00", "0001-01-01T00:00:00+23:00", "PT1S", "1.5",
]  # fmt: skip
GOOD = {"name": "a", "number": "1", "kind": "k", "least": "0", "tag": "x", "email": "e", "limit": "2", "ratio": "1"}
JSON: list[Any] = [
    None, True, -1, 2**63, 10**400, 1.5, "", "a", "\x00", "x" * 100_000, [], {}, ["a"], {"a": 1}, [[]], {"": None},
    "2026-01-01", "99999-01-01T00:00:00Z", {"ge": "a"}, {"ge": 1, "lt": None}, [{"kind": "Put"}], "NaN",
]  # fmt: skip
BODIES = [
    b"", b"{", b"null", b"[]", b"1", b'"a"', b"\xff", b"\xef\xbb\xbf{}", b"[" * 50_000, b'{"a":' * 5_000, b"{}" * 2,
    b'{"name":"a","name":"b"}', b'{"name": 1e999}', b'{"name": NaN}', b'{"name": "\\ud800"}', "{}".encode("utf-16"),
]  # fmt: skip
KINDS = ["application/json", "application/json; charset=utf-16", "text/plain", "multipart/form-data", "", "x"]
HEADERS = ["accept", "origin", "host", "content-length", "authorization", "sec-fetch-site", "if-none-match"]


class Validated(Entity):
    """An entity whose validator computes a date from a number."""

    name: str
    days: int = 0

    @field_validator("days")
    @classmethod
    def is_in_a_calendar(cls, days: int) -> int:
        assert date(2026, 1, 1) + timedelta(days=days)
        return days

    primary = Key("VALIDATED#{name}", "META")


class Computed(Entity):
    """An entity whose key contains a date computed from a number."""

    name: str
    days: int = 0

    @computed_field  # type: ignore[prop-decorator] # pydantic's documented form
    @property
    def until(self) -> date:
        return date(2026, 1, 1) + timedelta(days=self.days)

    primary = Key("COMPUTED#{name}", "{until}")


class Calendar(Design):
    """A design whose entities compute dates from numbers."""

    table = Table("calendar")

    @read("R1")
    def validated(self, name: str) -> Validated | None: ...

    @read("R2")
    def computed(self, name: str, until: date) -> Computed | None: ...

    @write("W1")
    def put_validated(self, item: Validated) -> Writes:
        yield Put(item)

    @write("W2")
    def put_computed(self, item: Computed) -> Writes:
        yield Put(item)

    @write("W3")
    def make_validated(self, name: str, days: int) -> Writes:
        yield Put(Validated(name=name, days=days))

    @write("W4")
    def make_computed(self, name: str, days: int) -> Writes:
        yield Put(Computed(name=name, days=days))


@pytest.mark.parametrize("days", [10**9, -(10**6), 10**40])
def test_numbers_that_overflow_a_calculation_of_an_entity_are_rejected(days: int) -> None:
    item = {"name": "a", "days": days}
    with Calendar.open(":memory:") as design, TestClient(app(design), raise_server_exceptions=False) as http:
        for pattern in Calendar.compiled.writes:
            answer = http.post(f"/api/{pattern}", json={"item": item} if pattern.startswith("put") else item)
            assert answer.status_code == 400, pattern
            assert answer.json()["error"]["code"] == "ArgumentError"
            assert "place" in answer.json()["error"]


class Sender:
    """Sends random requests to the REST API."""

    def __init__(self, http: TestClient, seed: random.Random) -> None:
        self.http = http
        self.seed = seed

    def query(self, name: str) -> str:
        names = [each for each in [*NAMES[name], "nope", "cursor", ""] if self.seed.random() < 0.2]
        names += [each for each in NAMES[name] if each in GOOD and each not in names]
        bad = 0.5 if self.seed.random() < 0.6 else 0.05
        chosen = [(each, self.seed.choice(SENT) if self.seed.random() < bad else GOOD.get(each, "")) for each in names]
        escaped = [(each, text if text.startswith("%") else quote(text)) for each, text in chosen]
        return "&".join(f"{each}={text}" for each, text in escaped)

    def path(self) -> str:
        name = self.seed.choice(list(NAMES))
        way = self.seed.choice([*[name] * 20, "", "nope", f"{name}/", f"{name}/x", f"%2e%2e/{name}", quote("日本")])
        return f"/api/{way}?{self.query(name)}"

    def body(self) -> bytes:
        if self.seed.random() < 0.4:
            return self.seed.choice(BODIES)
        names = self.seed.sample([*{each for names in NAMES.values() for each in names}, "nope", ""], 3)
        return json.dumps({each: self.seed.choice(JSON) for each in names}).encode()

    def headers(self) -> dict[str, str]:
        headers = {
            each: self.seed.choice(["", "x", "*/*", "null", "-1"]) for each in HEADERS if self.seed.random() < 0.1
        }
        return {**headers, "content-type": self.seed.choice(KINDS)}

    def once(self) -> int:
        """Send one request, and return its status. A response with the content type JSON must be valid JSON."""
        method = self.seed.choice([*["GET"] * 10, *["POST"] * 10, "PUT", "DELETE", "HEAD", "OPTIONS"])
        body = self.body() if method in {"POST", "PUT"} else b""
        answer = self.http.request(method, self.path(), content=body, headers=self.headers())
        if answer.content and answer.headers["content-type"].startswith("application/json"):
            json.loads(answer.content)
        return int(answer.status_code)


@pytest.mark.parametrize("number", range(3))
def test_random_requests_get_a_valid_response(number: int) -> None:
    with Things.open(":memory:", secret="s") as design:
        design.put(Thing(name="a", number=1))
        design.create(Other(other_id="1", email="e", day=DAY))
        with TestClient(app(design), raise_server_exceptions=True) as http:
            sender = Sender(http, random.Random(f"bad requests {number}"))
            statuses = [sender.once() for _ in range(700)]
    assert max(statuses) < 500
    assert sum(400 <= status < 500 for status in statuses) > 300
    assert statuses.count(200) > 20
