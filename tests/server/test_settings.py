"""What a server may be told, and in which words it is refused."""

from __future__ import annotations

import pytest

from keyplan.errors import RequestError
from keyplan.store.server import Settings
from keyplan.store.server.server_settings import is_loopback, parse_key


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
