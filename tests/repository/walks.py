"""Walks through the house: which of its functions run, by a typed read, a write, and requests over HTTP."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any, cast

from keyplan.client.transports.dynamodb import DynamoDB
from keyplan.client.transports.embedded import InProcess
from keyplan.client.transports.http1 import Reply, ReplyReader
from keyplan.client.transports.signing import Signed
from keyplan.client.transports.urls import parse_url
from keyplan.engine import Engine
from keyplan.server.connection import Connections
from keyplan.server.service import Service
from keyplan.server.settings import Settings
from keyplan.store import Store
from keyplan_systems.cms import Article, Cms
from tests.repository.files import SOURCE

URL = "dynamodb+http://127.0.0.1:8000/cms"
LOCATION = parse_url(URL, Cms.table.name)
READ, WRITE = 'cms.article("a1")', 'cms.publish("a1", "A text.", "u1")'
_INLINED = {"<listcomp>", "<dictcomp>", "<setcomp>"}
"""What is a function of its own in Python 3.11 only."""


@dataclass
class Walk:
    """What ran: the functions by their file, in the order in which they were entered first."""

    title: str
    code: str
    functions: dict[str, list[str]] = field(default_factory=dict)
    calls: int = 0
    statements: int = 0

    def enter(self, frame: FrameType, event: str, _argument: Any) -> None:
        """Take note of a call, if it is of the library's."""
        path = Path(frame.f_code.co_filename)
        if event != "call" or frame.f_code.co_name in _INLINED or not path.is_relative_to(SOURCE):
            return
        self.calls += 1
        names = self.functions.setdefault(path.relative_to(SOURCE).as_posix(), [])
        if frame.f_code.co_qualname not in names:
            names.append(frame.f_code.co_qualname)


def walks() -> list[Walk]:
    """The walks of the page."""
    with Engine.open(":memory:") as engine:
        engine.call("CreateTable", Cms.table.create_request())
        cms = Cms(Store(InProcess(engine.call, engine.close), ":memory:", Cms.table.name, local=True))
        cms.create_article(Article(article_id="a1", title="A title", slug="a-title", author_id="u1"))
        served = _Served(engine)
        afar = Cms(Store(DynamoDB(LOCATION, exchange=served.exchange), URL, Cms.table.name))
        result = [
            _walked(engine, "a typed read", READ, lambda: cms.article("a1")),
            _walked(engine, "a write", WRITE, lambda: cms.publish("a1", "A text.", "u1")),
            _walked(engine, "a read over HTTP: the client", READ, lambda: afar.article("a1")),
            _walked(engine, "a read over HTTP: the server", "POST / GetItem", served.again),
        ]
        afar.close()
    return result


class _Served:
    """The engine served to a client in the same thread: no sockets. Requests are answered by one connection; while a
    client's walk is taken, with the answer before.
    """

    def __init__(self, engine: Engine) -> None:
        settings = Settings(db=":memory:")
        self._connection = Connections(Service(engine, settings), settings.limits)()
        self._connection.connection_made(cast("asyncio.BaseTransport", self))
        self._request = b""
        self._answered = b""
        self._reply: Reply | None = None

    def exchange(self, request: Signed, deadline: float, /) -> Reply:
        """The reply to a request, which is the same each time."""
        if self._reply is None:
            self._request = bytes(request)
            self.again()
            self._reply = ReplyReader().feed(self._answered)
        assert self._reply is not None
        return self._reply

    def again(self) -> None:
        """Send the request once more."""
        self._connection.data_received(self._request)

    def write(self, answer: bytes) -> None:
        """Take an answer: this is the transport's side."""
        self._answered = answer

    def get_write_buffer_size(self) -> int:
        """Nothing waits."""
        return 0


def _walked(engine: Engine, title: str, code: str, run: Callable[[], object]) -> Walk:
    walk = Walk(title, code)
    for _ in range(2):
        run()
    before = engine.statements
    sys.setprofile(walk.enter)
    try:
        run()
    finally:
        sys.setprofile(None)
    walk.statements = engine.statements - before
    return walk
