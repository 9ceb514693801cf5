"""Settings of the server: allowed origins, loopback hosts and access keys."""

from __future__ import annotations

import pytest

from keyplan.errors import RequestError
from keyplan.store.server import Settings
from keyplan.store.server.server_settings import is_loopback, parse_key


@pytest.mark.parametrize(
    ("origin", "allowed", "listed"),
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
def test_origin_of_a_request_is_allowed_if_it_is_local_or_listed(origin: str, allowed: bool, listed: list[str]) -> None:
    assert Settings(db="x.db", origins=frozenset(listed)).allows_origin(origin) is allowed


@pytest.mark.parametrize(
    ("host", "expected"),
    [("localhost", True), ("x.localhost", True), ("xlocalhost", False), ("127.0.0.2", True), ("128.0.0.1", False),
     ("::1", True), ("::2", False), ("example.com", False), ("", False)],
)  # fmt: skip
def test_loopback_host_names_and_addresses_are_recognized(host: str, expected: bool) -> None:
    assert is_loopback(host) is expected


@pytest.mark.parametrize("text", ["a:b", "a:b:c"])
def test_access_key_setting_is_parsed(text: str) -> None:
    assert parse_key(text) == ("a", text[2:])


@pytest.mark.parametrize("text", ["", ":", "a", "a:", ":b", "ab"])
def test_invalid_access_key_setting_is_rejected(text: str) -> None:
    with pytest.raises(RequestError, match="must have the form ID:SECRET"):
        parse_key(text)


@pytest.mark.parametrize("value", [-1.0, float("nan"), float("inf")])
@pytest.mark.parametrize("name", ["index_lag_ms", "replica_lag_ms", "state_delay_s", "sweep_s", "shard_s"])
def test_negative_and_infinite_times_are_rejected(name: str, value: float) -> None:
    with pytest.raises(RequestError, match="finite"):
        Settings(db="x.db", **{name: value})  # type: ignore[arg-type]  # the names have one type
