"""Checks of HTTP requests: limits, content types, cross-site requests and hosts. Limits are tested with the largest
allowed value and the next one.
"""

from __future__ import annotations

import asyncio
import resource
from typing import Any

import pytest
from starlette.exceptions import HTTPException
from starlette.requests import Request as Asked

from keyplan.errors import RequestError
from keyplan.web.connections import Bounds, allow_many_files
from keyplan.web.policy import is_foreign, named_host
from keyplan.web.request_parsing import BODY_BYTES_MAX, FIELDS_MAX, object_of, query_pairs, read_body

# Schemas


# The page


# Errors


# Requests


def asked(query: bytes = b"", kind: str | None = "application/json", parts: tuple[bytes, ...] = ()) -> Asked:
    left = [*parts]

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": left.pop(0) if left else b"", "more_body": bool(left)}

    headers = [] if kind is None else [(b"content-type", kind.encode())]
    return Asked({"type": "http", "method": "POST", "query_string": query, "headers": headers}, receive)


def test_the_number_of_query_parameters_is_limited() -> None:
    assert len(query_pairs(asked(b"&".join([b"a="] * FIELDS_MAX)))) == FIELDS_MAX == 2000
    with pytest.raises(RequestError, match="more than 2000 values"):
        query_pairs(asked(b"&".join([b"a="] * (FIELDS_MAX + 1))))
    with pytest.raises(RequestError, match="isn't valid UTF-8"):
        query_pairs(asked(b"a=%ff"))


def test_the_length_of_a_request_body_is_limited() -> None:
    half = b"x" * (BODY_BYTES_MAX // 2)
    assert BODY_BYTES_MAX == 2_097_152
    assert asyncio.run(read_body(asked(parts=(half, half)))) == half + half
    with pytest.raises(HTTPException) as caught:
        asyncio.run(read_body(asked(parts=(half, half, b"x"))))
    assert (caught.value.status_code, caught.value.detail) == (413, "the body is larger than 2,097,152 bytes")


def test_a_duplicate_member_in_a_body_of_the_maximum_size_is_rejected_quickly() -> None:
    """Comparing all names with each other would take an hour, and the test would time out."""
    body = ",".join(f'"{number:06}":0' for number in range(BODY_BYTES_MAX // 11))
    with pytest.raises(RequestError, match="duplicate member"):
        object_of(f'{{{body},"000000":0}}'.encode())


@pytest.mark.parametrize(
    ("kind", "taken"),
    [
        ("application/json", True),
        ("Application/JSON; charset=utf-8", True),
        ("application/problem+json", True),
        ("text/x+json", False),
        ("application/x", False),
        ("", False),
        (None, False),
    ],
)
def test_bodies_are_accepted_only_with_a_json_content_type(kind: str | None, taken: bool) -> None:
    request = asked(kind=kind, parts=(b"{}",))
    if taken:
        assert asyncio.run(read_body(request)) == b"{}"
        return
    with pytest.raises(HTTPException) as caught:
        asyncio.run(read_body(request))
    said = kind or "missing"
    assert (caught.value.status_code, caught.value.detail) == (415, f"the content type is {said}; use application/json")


@pytest.mark.parametrize(
    ("method", "headers", "public", "foreign"),
    [
        ("GET", {"host": "a"}, None, False),
        ("POST", {"host": "a", "origin": "http://a"}, None, False),
        ("POST", {"host": "a", "origin": "http://a:80"}, None, False),
        ("POST", {"host": "a", "origin": "https://a:443"}, None, False),
        ("POST", {"host": "a", "origin": "http://a:443"}, None, True),
        ("POST", {"host": "a:8000", "origin": "http://A:8000"}, None, False),
        ("POST", {"host": "a", "origin": "http://b"}, None, True),
        ("POST", {"host": "a", "origin": "http://b"}, "https://b", False),
        ("GET", {"host": "a", "origin": "null"}, None, True),
        ("GET", {"origin": ""}, None, True),
        ("GET", {"host": "a", "origin": "http://[x"}, "http://[x", True),
        ("GET", {"host": "a", "sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"}, None, False),
        ("GET", {"host": "a", "sec-fetch-site": "Same-Site", "sec-fetch-mode": "cors"}, None, True),
        ("POST", {"host": "a", "sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"}, None, True),
        ("POST", {"host": "a", "sec-fetch-site": "same-origin"}, None, False),
        ("HEAD", {"host": "a", "sec-fetch-site": "cross-site"}, None, True),
    ],
)
def test_cross_site_requests_are_detected(
    method: str, headers: dict[str, str], public: str | None, foreign: bool
) -> None:
    assert is_foreign(method, headers, public) is foreign


@pytest.mark.parametrize(
    ("named", "host"),
    [
        ([b"A.example"], "a.example"),
        ([b"a:8000"], "a"),
        ([b"[::1]:80"], "[::1]"),
        ([b"[::1]"], "[::1]"),
        ([b"a:"], "a:"),
        ([b"a:x"], "a:x"),
        ([b"a", b"b"], ""),
        ([], ""),
    ],
)
def test_the_host_of_a_request_is_read_from_its_header(named: list[bytes], host: str) -> None:
    assert named_host([(b"x", b"y"), *((b"host", value) for value in named)]) == host


# What is beside a call


@pytest.mark.parametrize(
    ("soft", "hard", "wanted", "raised", "most"),
    [
        (1024, 1_000_000, 2048, 8192, 2048),
        (1024, -1, 10_000, 8192, 7936),
        (1024, 2000, 2048, 2000, 1744),
        (9000, 10_000, 10_000, None, 8744),
        (8192, 8192, 10_000, None, 7936),
        (100, 100, 2048, None, 16),
        (270, 270, 2048, None, 16),
        (273, 273, 2048, None, 17),
    ],
)
def test_the_connection_limit_depends_on_the_limit_of_open_files(
    monkeypatch: pytest.MonkeyPatch, soft: int, hard: int, wanted: int, raised: int | None, most: int
) -> None:
    set_to: list[tuple[int, int]] = []
    limit = resource.RLIM_INFINITY if hard < 0 else hard
    monkeypatch.setattr(resource, "getrlimit", lambda _which: (soft, limit))
    monkeypatch.setattr(resource, "setrlimit", lambda _which, limits: set_to.append(limits))
    assert allow_many_files(Bounds(connections_max=wanted)) == Bounds(connections_max=most)
    assert set_to == ([] if raised is None else [(raised, limit)])
    assert Bounds() == Bounds(connections_max=2048, request_s_max=20, body_bytes_per_s_min=16_384, look_s=1)

    def refused(_which: int, _limits: tuple[int, int]) -> None:
        raise ValueError("not allowed")

    monkeypatch.setattr(resource, "setrlimit", refused)
    assert allow_many_files(Bounds(connections_max=wanted)).connections_max == min(wanted, max(16, soft - 256))
