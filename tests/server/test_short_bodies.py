"""Each short text of brackets, commas and members, parsed in pieces: taken and refused as a whole one is."""

from __future__ import annotations

from itertools import product
from typing import Any

import orjson
import pytest

from keyplan.store.server import body_parsing as parsing

TOKENS = (b"[", b"]", b"{", b"}", b",", b'"a":', b"1")


def parsed(parse: Any, body: bytes) -> object:
    try:
        return parse(body)
    except orjson.JSONDecodeError:
        return "no JSON"


@pytest.mark.parametrize("first", [b"[", b"{"])
def test_short_bodies(monkeypatch: pytest.MonkeyPatch, first: bytes) -> None:
    monkeypatch.setattr(parsing, "_PIECE_BYTES", 1)
    for rest in (each for length in range(6) for each in product(TOKENS, repeat=length)):
        body = first + b"".join(rest)
        assert parsed(lambda text: parsing.parse_in_pieces(text).value, body) == parsed(orjson.loads, body), body


@pytest.mark.parametrize("inner", [b"", b"1", b'{"a":1}', b"[],[1],{}", b'[[1],{"a":[1]}]'])
@pytest.mark.parametrize("spoilt", [b"", b"1", b",", b":", b'"a":', b'"a"', b"[]", b"{}", b" ", b" , ", b'"a" : '])
def test_what_stands_between_members(monkeypatch: pytest.MonkeyPatch, inner: bytes, spoilt: bytes) -> None:
    """Wherever it stands, also among spaces."""
    monkeypatch.setattr(parsing, "_PIECE_BYTES", 1)
    for shape in (
        b"[%s]",
        b"[%s,1]",
        b"[1,%s]",
        b'{"a":%s}',
        b'{"a":[%s],"b":1}',
        b'{"a":1,"b":[%s]}',
        b'{"b":{"c":%s}}',
    ):
        whole = shape % inner
        for place in range(1, len(whole) + 1):
            body = whole[:place] + spoilt + whole[place:]
            assert parsed(lambda text: parsing.parse_in_pieces(text).value, body) == parsed(orjson.loads, body), body
