"""What a server may be told, and in which words it is refused."""

from __future__ import annotations

from typing import Any

import pytest

from keyplan.errors import RequestError
from keyplan.server import Settings
from keyplan.server.settings import Limits, is_loopback, parse_key
from tests.agreed import assert_agreed

KEYS = {"id": "secret"}

GIVEN: list[dict[str, Any]] = [
    {},
    *({"port": port} for port in (-1, 0, 1, 65_535, 65_536)),
    *({"workers": workers} for workers in (-1, 0, 1, 2)),
    *({"workers": workers, "throttle": True} for workers in (1, 2)),
    *({"workers": workers, "index_lag_ms": 0.5} for workers in (1, 2)),
    {"workers": 2, "index_lag_ms": 0.0, "throttle": False},
    *({"workers": workers, "db": ":memory:"} for workers in (1, 2)),
    *({"index_lag_ms": milliseconds} for milliseconds in (-0.5, 0.0)),
    *({"settle_s": seconds} for seconds in (-0.5, 0.0, 0.5)),
    *({"shard_s": seconds} for seconds in (-1.0, 0.0, 0.5)),
    *({"shard_records": records} for records in (-1, 0, 1)),
    {"shard_s": 0.0, "shard_records": 1},
    *({"sweep_s": seconds} for seconds in (-0.5, 0.0, 0.5)),
    *({"host": host} for host in ("127.0.0.1", "127.8.8.8", "::1", "localhost", "a.localhost", "0.0.0.0", "::", "a")),
    *({"host": host, "keys": KEYS} for host in ("0.0.0.0", "::", "example.com")),
]


def test_what_a_server_is_told_is_taken_or_refused() -> None:
    lines: list[str] = []
    for given in GIVEN:
        lines.append(", ".join(f"{name}={value!r}" for name, value in given.items()) or "nothing")
        try:
            settings = Settings(**{"db": "x.db", **given})
        except RequestError as error:
            lines += [f"    {line}" for line in str(error).split("\n")]
        else:
            lines.append(f"    listens on {settings.address}")
    assert_agreed("\n".join(lines))


def test_what_a_server_does_unless_it_is_told_otherwise() -> None:
    settings = Settings(db="x.db")
    lines = [f"{name} = {getattr(settings, name)!r}" for name in Settings.__dataclass_fields__ if name != "limits"]
    lines += [f"limits.{name} = {getattr(settings.limits, name)!r}" for name in Limits.__dataclass_fields__]
    assert_agreed("\n".join(lines))


@pytest.mark.parametrize(
    ("origin", "allowed", "among"),
    [
        ("http://localhost:3000", True, []),
        ("http://127.0.0.1", True, []),
        ("http://[::1]:80", True, []),
        ("http://a.localhost", True, []),
        ("http://localhost.example.com", False, []),
        ("http://notlocalhost", False, []),
        ("https://example.com", False, []),
        ("https://example.com", True, ["https://example.com"]),
        ("https://example.com:444", False, ["https://example.com"]),
        ("https://example.com", True, ["*"]),
        ("http://localhost", True, ["https://example.com"]),
        ("http://[", False, []),
        ("null", False, []),
        ("", False, []),
    ],
)
def test_whose_pages_may_talk_to_a_server(origin: str, allowed: bool, among: list[str]) -> None:
    assert Settings(db="x.db", origins=frozenset(among)).allows_origin(origin) is allowed


@pytest.mark.parametrize(
    ("host", "expected"),
    [("localhost", True), ("x.localhost", True), ("xlocalhost", False), ("127.0.0.2", True), ("128.0.0.1", False),
     ("::1", True), ("::2", False), ("example.com", False), ("", False)],
)  # fmt: skip
def test_names_of_this_machine(host: str, expected: bool) -> None:
    assert is_loopback(host) is expected


@pytest.mark.parametrize("text", ["a:b", "a:b:c"])
def test_an_access_key(text: str) -> None:
    assert parse_key(text) == ("a", text[2:])


@pytest.mark.parametrize("text", ["", ":", "a", "a:", ":b", "ab"])
def test_what_is_no_access_key(text: str) -> None:
    with pytest.raises(RequestError, match="given as ID:SECRET"):
        parse_key(text)
