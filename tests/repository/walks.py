# mypy: disable-error-code="empty-body"
"""Records which functions of the library run for a read by a typed pattern, a write, and a read over HTTP."""

from __future__ import annotations

import asyncio
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from types import FrameType
from typing import Any, cast

from keyplan import Create, Design, Entity, Field, Index, Key, Table, Update, Writes, now, read, write
from keyplan.client.transports.credentials import Credentials, Fixed
from keyplan.client.transports.dynamodb import DynamoDB
from keyplan.client.transports.embedded import InProcess
from keyplan.client.transports.urls import parse_url
from keyplan.errors import ItemNotFound
from keyplan.session.stores import Store
from keyplan.store import Engine
from keyplan.store.server.connection import Connections
from keyplan.store.server.server_settings import Settings
from keyplan.store.server.service import Service
from tests.repository.files import SOURCE

READ, WRITE = 'magazine.article("a1")', 'magazine.publish("a1", "A text.", "u1")'
BEFORE = {
    "a typed read": (18, 28, 33, 1),
    "a write": (46, 204, 448, 10),
    "a read over HTTP (client side)": (17, 39, 45, 0),
    "a read over HTTP (server side)": (11, 33, 42, 1),
}
"""Files, functions, calls and SQL statements of this program on 21 November 2026 (a580b44). The client's are those of
28 November 2026, since it checks that a response is well formed and belongs to its request.
"""
_INLINED = {"<listcomp>", "<dictcomp>", "<setcomp>"}
"""Functions of their own in Python 3.11 only."""

GSI1 = Index("GSI1", "gsi1pk", "gsi1sk")


class Article(Entity):
    """An entity that the walks read and update."""

    article_id: str
    title: str
    author_id: str
    current_version: int = 0
    updated_at: datetime = Field(default_factory=now)
    tags: frozenset[str] = frozenset()

    primary = Key("ARTICLE#{article_id}", "#METADATA")
    by_author = Key("AUTHOR#{author_id}", "ARTICLE#{article_id}", index=GSI1)


class ArticleVersion(Entity):
    """An entity that the write creates."""

    article_id: str
    version: int
    body: str
    created_by: str

    primary = Key("ARTICLE#{article_id}", "V#{version:08d}")


class Magazine(Design):
    """A design with a read by key, and a write that reads, creates and updates in one transaction."""

    table = Table("magazine", indexes=[GSI1], entities=[ArticleVersion])

    @read("AP1")
    def article(self, article_id: str) -> Article | None: ...

    @write("AP8")
    def publish(self, article_id: str, body: str, author_id: str) -> Writes:
        """Create a version of an article, and update the article."""
        article = yield from self.article.read(article_id)
        if article is None:
            raise ItemNotFound("there is no such article")
        version = article.current_version + 1
        yield Create(ArticleVersion(article_id=article_id, version=version, body=body, created_by=author_id))
        update = Update(article, current_version=version, updated_at=now())
        yield update.only_if(current_version=article.current_version)


@dataclass
class Walk:
    """The functions that ran, by file, in the order of their first calls."""

    title: str
    code: str
    functions: dict[str, list[str]] = field(default_factory=dict)
    calls: int = 0
    statements: int = 0

    @property
    def numbers(self) -> tuple[int, int, int, int]:
        """The number of files, functions, calls and SQL statements."""
        return len(self.functions), sum(map(len, self.functions.values())), self.calls, self.statements

    def enter(self, frame: FrameType, event: str, _argument: Any) -> None:
        """Record a call of a library function."""
        path = Path(frame.f_code.co_filename)
        if event != "call" or frame.f_code.co_name in _INLINED or not path.is_relative_to(SOURCE):
            return
        self.calls += 1
        names = self.functions.setdefault(path.relative_to(SOURCE).as_posix(), [])
        if frame.f_code.co_qualname not in names:
            names.append(frame.f_code.co_qualname)


def walks() -> list[Walk]:
    """Run the requests of docs/architecture.md, and return their walks."""
    with Engine.open(":memory:") as engine:
        engine.call("CreateTable", Magazine.table.create_request())
        store = Store(InProcess(engine.call, engine.close), ":memory:", Magazine.table.name, local=True)
        magazine = Magazine(store)
        magazine.put(Article(article_id="a1", title="A title", author_id="u1"))
        served = _Served(engine)
        with served.listening() as port:
            url = f"dynamodb+http://127.0.0.1:{port}/magazine"
            backend = DynamoDB(parse_url(url, Magazine.table.name), Fixed(Credentials("walker", "secret")))
            afar = Magazine(Store(backend, url, Magazine.table.name))
            result = [
                _walked(engine, "a typed read", READ, lambda: magazine.article("a1")),
                _walked(engine, "a write", WRITE, lambda: magazine.publish("a1", "A text.", "u1")),
                _walked(None, "a read over HTTP (client side)", READ, lambda: afar.article("a1")),
                _walked(engine, "a read over HTTP (server side)", "POST / GetItem", served.again),
            ]
            afar.close()
    return result


class _Served:
    """An engine that serves one client in a thread, by one connection of the server."""

    def __init__(self, engine: Engine) -> None:
        settings = Settings(db=":memory:")
        self._connection = Connections(Service(engine, settings), settings.limits)()
        self._connection.connection_made(cast("asyncio.BaseTransport", self))
        self._request = b""
        self._answered = b""

    @contextmanager
    def listening(self) -> Iterator[int]:
        """Listen on a socket, and yield the port."""
        with socket.create_server(("127.0.0.1", 0)) as listener:
            answering = threading.Thread(target=self._answer, args=(listener,), daemon=True)
            answering.start()
            yield listener.getsockname()[1]
            answering.join()

    def _answer(self, listener: socket.socket) -> None:
        """Respond to one client until the client closes its connection."""
        connection, _ = listener.accept()
        with connection:
            while request := connection.recv(64 * 1024):  # a request as short as these comes as one piece
                self._request = request
                self._connection.data_received(request)
                connection.sendall(self._answered)

    def again(self) -> None:
        """Process the last request again."""
        self._connection.data_received(self._request)

    def write(self, answer: bytes) -> None:
        """Record a response: this object is the transport to which the connection writes."""
        self._answered = answer

    def get_write_buffer_size(self) -> int:
        return 0


def _walked(engine: Engine | None, title: str, code: str, run: Callable[[], object]) -> Walk:
    walk = Walk(title, code)
    for _ in range(2):
        run()
    before = 0 if engine is None else engine.statements
    sys.setprofile(walk.enter)
    try:
        run()
    finally:
        sys.setprofile(None)
    walk.statements = 0 if engine is None else engine.statements - before
    return walk
