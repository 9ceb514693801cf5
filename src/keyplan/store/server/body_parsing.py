"""Bodies from JSON to Python, also large ones, without holding up other threads.

orjson parses a body in one go, and while it does no other thread runs: a body of many megabytes with millions of small
members takes longer than other clients should wait. Such a body is cut between its members and parsed piece by piece.
Bodies of few members, large as they may be, are parsed at once.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, cast

import orjson

from keyplan.dynamodb.operations.registry import OPERATIONS
from keyplan.dynamodb.operations.shapes import member_names

MEMBERS_MAX = 100_000
"""With more members than that, about, a body is parsed piece by piece."""
DEPTH_MAX = 1024
"""orjson, which parses the smaller bodies, goes no deeper either."""
_PIECE_BYTES = 32 * 1024
_FREED_TOGETHER = 10_000
_OBJECT_MEMBERS_MAX = 300_000
"""An object that has so many members takes only those more that a request may have: what its table of names takes to
grow is done in one go. No item of so many attributes is within the limit of an item's size, as no other object is that
is a map, and what is no member of a request is never looked at.
"""
_MEMBERS = frozenset(name for operation in OPERATIONS.values() for name in member_names(operation.request))

_TOKEN = re.compile(rb'[\[\]{},]|"[^"\\]{0,4096}+(?:\\.[^"\\]{0,4096}+){0,64}+"|"', re.DOTALL)
"""A sign, a string, or the quote before a string that is too long to be looked at in one go."""
_STRING = re.compile(rb'[^"\\]*+(?:\\.[^"\\]*+)*+', re.DOTALL)
_LOOKED_AT_BYTES = 64 * 1024
"""Of a long string, in one go."""
_SPACE = b" \t\r\n"


class Parsed:
    """What a body holds, and the pieces it was made of."""

    def __init__(self, value: Any, pieces: list[Any], containers: list[Any]) -> None:
        self.value = value
        self._pieces = pieces
        self._containers = containers
        """Lists and objects that were put together from pieces."""

    def forget(self) -> None:
        """Let go of it little by little: to free millions of members at once would take as long as to make them."""
        self.value = None
        for container in self._containers:
            while container:
                if isinstance(container, list):
                    del container[-_FREED_TOGETHER:]
                else:
                    container.popitem()
        while self._pieces:
            self._pieces.pop()


def is_many(body: bytes) -> bool:
    """Whether a body has so many members that it is to be parsed piece by piece."""
    return body.count(b",") + body.count(b"{") + body.count(b"[") > MEMBERS_MAX


def parse_in_pieces(body: bytes) -> Parsed:
    """What ``orjson.loads`` makes of a body that is an object or a list.

    Raises:
        JSONDecodeError: it isn't JSON.
    """
    reading = _Reading(body)
    try:
        return Parsed(reading.read(), reading.pieces, reading.containers)
    except orjson.JSONDecodeError:
        Parsed(None, reading.pieces, reading.containers).forget()
        raise


@dataclass(slots=True)
class _Open:
    """A list or an object whose end wasn't met yet."""

    is_list: bool
    start: int
    """Where its bracket stands."""
    piece: int
    """Where what isn't parsed yet begins."""
    name: tuple[int, int] | None
    """Where the name stands under which it is a member of an object."""
    made: Any = None
    """What was parsed of it; nothing while it may be parsed as a part of what it stands in."""
    awaits: str = "member"
    """What the piece begins with: a ``member``, which must be there behind a comma, or, behind one that was parsed by
    itself, a comma or the ``end``.
    """


class _Reading:
    def __init__(self, body: bytes) -> None:
        self._body = body
        self._open: list[_Open] = []
        self.pieces: list[Any] = []
        self.containers: list[Any] = []

    def read(self) -> Any:
        body = self._body
        name: tuple[int, int] | None = None
        for place, end in _tokens(body):
            sign = body[place]
            if sign == 0x22:  # a string
                name = place, end
            elif sign == 0x2C:  # a comma
                if self._open and place - self._open[-1].piece >= _PIECE_BYTES:
                    self._cut(place, is_last=False)
            elif sign in b"[{":
                if not self._open and body[:place].strip(_SPACE):
                    raise _wrong()
                if len(self._open) >= DEPTH_MAX:
                    raise _wrong()
                self._open.append(_Open(sign == 0x5B, place, place + 1, name))
            else:
                if not self._open or self._open[-1].is_list != (sign == 0x5D):
                    raise _wrong()
                ended = self._end(place)
                if ended is not None:
                    return ended.made
        raise _wrong()

    def _end(self, place: int) -> _Open | None:
        """A bracket closes; the whole, if it was the outermost."""
        closing = self._open[-1]
        is_outermost = len(self._open) == 1
        if closing.made is None and not is_outermost:
            self._open.pop()  # a part of the piece around it
            return None
        self._cut(place, is_last=True)
        self._open.pop()
        if is_outermost:
            if self._body[place + 1 :].strip(_SPACE):
                raise _wrong()
            return closing
        self._attach(closing, place + 1)
        return None

    def _attach(self, member: _Open, end: int) -> None:
        """Make what was parsed by itself a member of what it stands in, behind what stands before it."""
        around = self._open[-1]
        end_before = member.start
        if not around.is_list:
            if member.name is None or self._body[member.name[1] : member.start].strip(_SPACE) != b":":
                raise _wrong()
            end_before = member.name[0]
        before = self._body[around.piece : end_before].strip(_SPACE)
        # Behind a comma, or as the first, a member may stand; behind another one, only after a comma.
        if before[-1:] != b"," and (before or around.awaits == "end"):
            raise _wrong()
        self._parse(around, before[:-1], is_needed=bool(before) and around.awaits != "end")
        if around.is_list:
            around.made.append(member.made)
        else:
            start, stop = member.name or (0, 0)
            around.made[orjson.loads(self._body[start:stop])] = member.made
        around.piece = end
        around.awaits = "end"

    def _cut(self, place: int, *, is_last: bool) -> None:
        """Parse the members up to here, before a comma or the closing bracket."""
        opened = self._open[-1]
        text = self._body[opened.piece : place]
        has_none = opened.made is None
        is_empty = not text.strip(_SPACE)
        # Only an empty list or object, or the end behind what was parsed by itself, has nothing here.
        is_needed = not (is_empty and ((is_last and has_none) or opened.awaits == "end"))
        self._parse(opened, text, is_needed=is_needed)
        opened.piece = place + 1
        opened.awaits = "member"

    def _parse(self, opened: _Open, text: bytes, *, is_needed: bool) -> None:
        text = text.strip(_SPACE)
        if opened.awaits == "end" and text:
            if not text.startswith(b","):
                raise _wrong()
            text = text[1:].strip(_SPACE)
            is_needed = True
        if opened.made is None:
            opened.made = [] if opened.is_list else {}
            self.containers.append(opened.made)
        if not text:
            if is_needed:
                raise _wrong()
            return
        piece = orjson.loads(b"[%s]" % text if opened.is_list else b"{%s}" % text)
        self.pieces.append(piece)
        if opened.is_list:
            opened.made.extend(piece)
        elif len(opened.made) < _OBJECT_MEMBERS_MAX:
            opened.made.update(piece)
        else:
            opened.made.update({name: piece[name] for name in _MEMBERS.intersection(piece)})


def _tokens(body: bytes) -> Iterator[tuple[int, int]]:
    """Where the brackets, commas and strings of a body begin and end."""
    start: int | None = 0
    while start is not None:
        tokens = _TOKEN.finditer(body, start)
        start = None
        for token in tokens:
            place, end = token.span()
            if end - place == 1 and body[place] == 0x22:
                start = _string_end(body, place)
                yield place, start
                break
            yield place, end


def _string_end(body: bytes, place: int) -> int:
    """Where the string ends that begins at a place, however long it is."""
    place += 1
    while place < len(body):
        part = cast("re.Match[bytes]", _STRING.match(body, place, place + _LOOKED_AT_BYTES))  # an empty one at least
        place = part.end()
        if body[place : place + 1] == b'"':
            return place + 1
        if body[place : place + 1] == b"\\":  # its other half is in the next part
            place += 2
    raise _wrong()


def _wrong() -> orjson.JSONDecodeError:
    return orjson.JSONDecodeError("not JSON", "", 0)
