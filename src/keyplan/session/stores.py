"""Opens embedded and remote stores with the design's table, and reports their requests to hooks.

Opening a store compares the store's table with the design's table, and creates a missing table if allowed.
``keyplan.client`` sends requests; ``keyplan.store`` is the embedded store.
"""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol, TypeVar

from keyplan.client.call_records import CallRecord, OnCall, OnPattern, RunningCall, error_name
from keyplan.client.conversations import AsyncTransport, Conversation, Transport, converse, converse_async
from keyplan.client.request_log import is_logged, log_request
from keyplan.client.table_setup import create_table, describe_table, differences, mismatch, until_ready
from keyplan.client.transports.urls import is_url, parse_url
from keyplan.errors import DynamoDBError, StoreError, shown
from keyplan.model.compiled.compiled_design import CompiledDesign

if TYPE_CHECKING:
    from concurrent.futures import Executor


R = TypeVar("R")
W = TypeVar("W", bound=OnPattern)

_LOG = logging.getLogger("keyplan.hooks")


class Backend(Protocol):
    """A connection to a store: its transports and resources."""

    @property
    def on_call(self) -> OnCall | None:
        """The hook for every request."""
        ...

    @on_call.setter
    def on_call(self, hook: OnCall | None) -> None: ...

    @property
    def transport(self) -> Transport:
        """The transport for synchronous callers."""
        ...

    @property
    def async_transport(self) -> AsyncTransport:
        """The transport for asynchronous callers, created on first use."""
        ...

    @property
    def ahead(self) -> Executor | None:
        """Threads in which iterators prefetch the next part; None if requests don't use a network."""
        ...

    def close(self) -> None:
        """Release files, connections and threads."""
        ...

    async def aclose(self) -> None:
        """Like ``close``, from asynchronous code."""
        ...


class Store:
    """A store on which a design is opened, with its transports and the table's name."""

    def __init__(
        self, backend: Backend, url: str, table_name: str, *, local: bool = False, shared: _Shared | None = None
    ) -> None:
        self.backend = backend
        self._shared = shared or _Shared()
        self._shared.stores.append(self)
        self.url = url
        self.table_name = table_name
        self.local = local
        """Whether the store is on this machine, so that a missing table is created by default."""
        self.transport: Transport = backend.transport
        self.watched = False
        """Whether calls have watchers."""
        self._on_call: OnCall | None = None
        self._watchers: tuple[OnPattern, ...] = ()
        self._listening = threading.Lock()
        if self._shared.logs:
            self._listen()

    @property
    def async_transport(self) -> AsyncTransport:
        """The transport for asynchronous callers, created on first use."""
        return self.backend.async_transport

    @property
    def on_call(self) -> OnCall | None:
        """A function that receives a CallRecord for every request: pattern, operation, latency, bytes, retries and
        capacity.

        The function runs in the request's thread or event loop and must not block. Exceptions of the function are
        logged (logger ``keyplan.hooks``), and the request continues.
        """
        return self._on_call

    @on_call.setter
    def on_call(self, hook: OnCall | None) -> None:
        with self._listening:
            self._on_call = hook
            self._listen()

    def watch(self, watcher: W) -> W:
        """Report every call of a pattern or CRUD method to a function from now on, and return the function.

        The function receives a PatternRecord after each call, in the call's thread or event loop, and must not block.
        Exceptions of the function are logged. A watched store requests the consumed capacity of each request. Example:
        ``usage = blog.store.watch(Usage(Blog.table))``.
        """
        with self._listening:
            self._watchers = (*self._watchers, watcher)
            self._listen()
        return watcher

    def unwatch(self, watcher: OnPattern) -> None:
        """Stop reporting calls to a watcher."""
        with self._listening:
            self._watchers = tuple(element for element in self._watchers if element != watcher)
            self._listen()

    def _listen(self) -> None:
        self.watched = self._on_call is not None or bool(self._watchers) or self._shared.logs
        shared = self._shared
        self.backend.on_call = shared.report if any(store.watched for store in shared.stores) else None

    def beside(self, table_name: str) -> Store:
        """The same store with another design's table."""
        return Store(self.backend, self.url, table_name, local=self.local, shared=self._shared)

    def is_beside(self, other: Store) -> bool:
        """Whether another store is on the same file or endpoint, so that one transaction can include both tables."""
        if self.backend is other.backend:
            return True
        if is_url(self.url) and is_url(other.url):
            location, two = (parse_url(each.url, each.table_name) for each in (self, other))
            return (location.host, location.port, location.tls, location.region, location.profile) == (
                two.host, two.port, two.tls, two.region, two.profile
            )  # fmt: skip
        files = [each.url for each in (self, other) if not is_url(each.url) and each.url != ":memory:"]
        return len(files) == 2 and os.path.realpath(files[0]) == os.path.realpath(files[1])

    @contextmanager
    def counting(self, place: str) -> Generator[None]:
        """Attribute the requests in this context to one call, which is reported when it ends."""
        running = RunningCall(place)
        with self.telling(running), running.counting():
            yield

    @contextmanager
    def telling(self, running: RunningCall) -> Generator[None]:
        """Report a call to the watchers when it ends. A call that the caller abandons ends without an error."""
        try:
            yield
        except GeneratorExit:
            raise
        except BaseException as error:
            running.error = error_name(error)
            raise
        finally:
            watchers = self._watchers
            if watchers:
                record = running.record()
                for watcher in watchers:
                    _tell(watcher, record)

    def close(self) -> None:
        """Release files, connections and threads; a shared store is closed by the design that opened it."""
        if self._shared.stores[:1] == [self]:
            self.backend.close()
        else:
            self._leave()

    async def aclose(self) -> None:
        """Like ``close``, from asynchronous code."""
        if self._shared.stores[:1] == [self]:
            await self.backend.aclose()
        else:
            self._leave()

    def _leave(self) -> None:
        with self._listening:
            self._on_call, self._watchers = None, ()
            self._listen()
            if self in self._shared.stores:
                self._shared.stores.remove(self)


class _Shared:
    """Several designs' stores on one backend: the first one opened it and closes it."""

    def __init__(self) -> None:
        self.stores: list[Store] = []
        self.logs = is_logged()
        """Whether the request log is enabled, checked once."""

    def report(self, record: CallRecord) -> None:
        """Report a request to all hooks."""
        if self.logs:
            log_request(record)
        for hook in [store.on_call for store in self.stores]:
            if hook is not None:
                _tell(hook, record)


def _tell(hook: Callable[[R], None], record: R) -> None:
    """Call a hook. Its exceptions never fail the call, because a write may be done already."""
    try:
        hook(record)
    except Exception:  # noqa: BLE001 - a hook may raise anything
        _LOG.exception("a hook failed: %r", hook)


def open_store(url: str | Store, design: CompiledDesign, *, create: bool | None) -> Store:
    """The store of ``url`` with the design's table; ``Design.open`` documents the URLs. Raises StoreError."""
    return with_table(_store(url, design.table.name, create), design, create=create)


def with_table(store: Store, design: CompiledDesign, *, create: bool | None = None) -> Store:
    """The store with the design's table; on failure, the store is closed. Raises StoreError."""
    try:
        converse(_prepare(store, design, create=store.local if create is None else create), store.transport)
    except BaseException:
        store.close()
        raise
    return store


async def aopen_store(url: str | Store, design: CompiledDesign, *, create: bool | None) -> Store:
    """``open_store`` from asynchronous code: files and credentials are read in a thread."""
    import asyncio  # noqa: PLC0415 - asyncio is imported only by asynchronous callers

    store = await asyncio.to_thread(_store, url, design.table.name, create)
    try:
        preparing = _prepare(store, design, create=store.local if create is None else create)
        await converse_async(preparing, store.async_transport)
    except BaseException:
        await store.aclose()
        raise
    return store


def _store(url: str | Store, table_name: str, create: bool | None) -> Store:
    if isinstance(url, Store):
        return url.beside(table_name)
    return _remote(url, table_name) if is_url(url) else _embedded(url, table_name, create)


def _embedded(path: str, table_name: str, create: bool | None) -> Store:
    # Only users of embedded stores import the engine and SQLite.
    from keyplan.client.transports.embedded import InProcess  # noqa: PLC0415
    from keyplan.store import Engine  # noqa: PLC0415

    if "\0" in path or any("\ud800" <= text <= "\udfff" for text in path):
        raise StoreError(f"{shown(path)} isn't a file path", place="open")
    engine = Engine.open(path, create=create is not False)
    return Store(InProcess(engine.call, engine.close), path, table_name, local=True)


def _remote(url: str, table_name: str) -> Store:
    # Only users of remote stores import sockets and TLS.
    from keyplan.client.transports.dynamodb import DynamoDB  # noqa: PLC0415

    location = parse_url(url, table_name)
    return Store(DynamoDB(location), url, location.table, local=location.local)


def _prepare(store: Store, design: CompiledDesign, *, create: bool) -> Conversation[None]:
    """Create a missing table; compare an existing one."""
    place = f"{design.name}.open"
    wanted = design.table.create_request(store.table_name)
    try:
        result = yield from describe_table(store.table_name)
        if result is None and create:
            result = yield from create_table(wanted, design.ttl_attribute)
        elif result is not None and result["TableStatus"] in {"CREATING", "DELETING"}:  # another process changes it
            result = yield from until_ready(store.table_name, result)
    except DynamoDBError as error:
        raise StoreError(f"{store.url}: {error.type}: {error.message}", place=place, hint=error.hint) from error
    except StoreError as error:
        error.place = error.place or place
        raise
    if result is None:
        raise StoreError(
            f"{store.url} has no table {store.table_name}",
            place=place,
            hint="create the table with keyplan create or open(..., create=True), or check the region and account",
        )
    wrong = [difference for difference in differences(wanted, result) if difference.serious]
    if wrong:
        raise mismatch(wrong, store.url, store.table_name, place)
