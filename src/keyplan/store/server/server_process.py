"""The server process: listening socket, event loop, signals, and worker processes that share one file."""

from __future__ import annotations

import asyncio
import gc
import logging
import os
import resource
import signal
import socket
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any

from keyplan.errors import RequestError, StoreError
from keyplan.store import REMOVED_TOGETHER, Regions
from keyplan.store.server.connection import Connection, Connections
from keyplan.store.server.responses import renew_ids
from keyplan.store.server.server_settings import MEMORY, Settings
from keyplan.store.server.service import Regional, Service
from keyplan.store.server.worker_threads import Threads, WriterThread, Writing

_BACKLOG = 1024
_TURN_S = 0.0005
"""The switch interval between threads: this process belongs to the server."""
_LOOK_S = 1.0
"""Seconds between two checks of the connections."""
_RESTART_S = 1.0
"""A worker that exits sooner after its start isn't restarted."""
_REPLICATE_S_MIN = 0.02
_REPLICATE_S_MAX = 0.5
_SIGNALS = (signal.SIGTERM, signal.SIGINT)

_log = logging.getLogger("keyplan.server")


def serve(settings: Settings, ready: Callable[[int], None] = lambda _: None) -> None:
    """Serve until SIGTERM or SIGINT. ``ready`` is called with the port once connections are accepted. Raises StoreError
    if the file can't be opened, or RequestError if the server can't listen on the address.
    """
    _allow_many_files()
    with _listen(settings) as listening:
        port = listening.getsockname()[1]
        settings = replace(settings, port=port)
        if settings.workers == 1:
            with _open(settings) as regions:
                asyncio.run(_serve(regions, settings, listening, lambda: ready(port), sweeps=True))
            return
        _open(settings).close()  # report errors of the file once, before workers start
        _Workers(settings, listening).run(lambda: ready(port))


def _open(settings: Settings) -> Regions:
    regions = Regions.open(
        settings.db,
        settings.regions or [""],
        lag_ms=settings.replica_lag_ms,
        synchronous="FULL" if settings.sync == "full" else "NORMAL",
        raw_items=True,
        throttle=settings.throttle,
        index_lag_ms=settings.index_lag_ms,
        state_delay_s=settings.state_delay_s,
        shard_s=settings.shard_s,
        shard_records=settings.shard_records,
        s3=settings.s3,
        background_jobs=settings.db != MEMORY,
    )
    for engine in regions.engines.values():
        engine.endpoint = settings.address
    return regions


def _listen(settings: Settings) -> socket.socket:
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((settings.host, settings.port))
        listening.listen(_BACKLOG)
        listening.setblocking(False)
    except OSError as error:
        listening.close()
        raise RequestError(
            f"Can't listen on {settings.host} port {settings.port}: {error.strerror or error}",
            place="port",
            hint="Choose another --port, or --port 0 to use a free port.",
        ) from None
    return listening


def _allow_many_files() -> None:
    """Raise the limit of open files to the maximum: each connection needs one."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = 8192 if hard == resource.RLIM_INFINITY else min(8192, hard)
    if soft < wanted:
        with suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


async def _serve(
    regions: Regions,
    settings: Settings,
    listening: socket.socket,
    ready: Callable[[], None],
    parent: int | None = None,
    *,
    sweeps: bool,
) -> None:
    """Serve until a signal, or the end of the parent. ``sweeps``: this process removes expired items and replicates."""
    # Existing objects live as long as the process: exclude them from garbage collection.
    gc.collect()
    gc.freeze()
    # Switch threads often: after SQLite and socket calls, the event loop waits until other threads release the GIL.
    sys.setswitchinterval(_TURN_S)
    loop = asyncio.get_running_loop()
    stop = asyncio.Event()
    for number in _SIGNALS:
        loop.add_signal_handler(number, stop.set)
    if parent is not None:
        loop.add_reader(parent, stop.set)
    open_: set[Connection] = set()
    in_memory = settings.db == MEMORY
    writing = {
        name: WriterThread(engine, loop, lambda: in_memory or len(open_) == 1)
        for name, engine in regions.engines.items()
    }
    aside = Threads(loop)
    tasks: list[asyncio.Task[None]] = []
    if sweeps and settings.sweep_s:
        tasks += [loop.create_task(_sweep(each, settings.sweep_s)) for each in writing.values()]
    if sweeps and len(regions.engines) > 1:
        tasks.append(loop.create_task(_replicate(regions, settings.replica_lag_ms / 1000)))
    try:
        services = {name: Service(engine, settings, writing[name], aside) for name, engine in regions.engines.items()}
        service = Regional(services) if settings.regions else services[""]
        connections = Connections(service, settings.limits, open_)
        accepting = _Accepting(loop, listening, connections)
        ready()
        while not stop.is_set():
            with suppress(TimeoutError):
                await asyncio.wait_for(stop.wait(), _LOOK_S)
            connections.end_late()
        accepting.stop()
        if parent is not None:
            loop.remove_reader(parent)
        await _drain(connections, settings.limits.shutdown_s_max)
    finally:
        for task in tasks:
            task.cancel()
        aside.close()
        for each in writing.values():
            each.close()


async def _sweep(writing: Writing, every_s: float) -> None:
    """Remove expired items periodically, in small chunks between writes."""
    loop = asyncio.get_running_loop()
    while True:
        await asyncio.sleep(every_s)
        count = REMOVED_TOGETHER
        while count == REMOVED_TOGETHER:
            removed: asyncio.Future[int] = loop.create_future()
            writing.sweep(REMOVED_TOGETHER, partial(_settle, removed))
            count = await removed
            await asyncio.sleep(0)


async def _replicate(regions: Regions, lag_s: float) -> None:
    """Replicate between regions periodically, in another thread."""
    pause_s = min(_REPLICATE_S_MAX, max(_REPLICATE_S_MIN, lag_s / 4))
    while True:
        await asyncio.sleep(pause_s)
        try:
            await asyncio.to_thread(regions.replicate)
        except StoreError as error:
            _log.error("Can't replicate writes between regions: %s", error)


def _settle(waiting: asyncio.Future[int], count: int) -> None:
    if not waiting.done():  # a shutdown cancels the future
        waiting.set_result(count)


async def _drain(connections: Connections, seconds_max: float) -> None:
    connections.close_idle()
    end = time.monotonic() + seconds_max
    while connections.open and time.monotonic() < end:
        await asyncio.sleep(0.01)
    for connection in list(connections.open):
        connection.abort()


class _Accepting:
    """Accepts one connection at a time, so that workers share a socket: a busy worker accepts none."""

    def __init__(self, loop: asyncio.AbstractEventLoop, listening: socket.socket, connections: Connections) -> None:
        self._loop = loop
        self._listening = listening
        self._connections = connections
        self._tasks: set[asyncio.Task[Any]] = set()
        self._is_stopped = False
        self._go_on()

    def stop(self) -> None:
        self._is_stopped = True
        self._loop.remove_reader(self._listening)

    def _go_on(self) -> None:
        if not self._is_stopped:
            self._loop.add_reader(self._listening, self._accept)

    def _accept(self) -> None:
        try:
            accepted, _ = self._listening.accept()
        except (BlockingIOError, InterruptedError, ConnectionAbortedError):
            return
        except OSError as error:
            # Probably out of file descriptors: stop accepting for 0.1 s; connections wait in the queue.
            _log.error("Can't accept a connection: %s", error)
            self._loop.remove_reader(self._listening)
            self._loop.call_later(0.1, self._go_on)
            return
        accepted.setblocking(False)
        accepted.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        task = self._loop.create_task(self._loop.connect_accepted_socket(self._connections, accepted))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


class _Workers:
    def __init__(self, settings: Settings, listening: socket.socket) -> None:
        self._settings = settings
        self._listening = listening
        self._started: dict[int, tuple[int, float]] = {}
        """The number and start time of each process. The first one removes expired items."""
        self._is_stopping = False
        self._from_parent, self._to_workers = os.pipe()
        """Nothing is written to this pipe: it closes when this process ends for any reason."""

    def run(self, ready: Callable[[], None]) -> None:
        """Start the workers and wait for termination. Raises StoreError if a worker couldn't start."""
        before = {number: signal.signal(number, self._stop) for number in _SIGNALS}
        failed = False
        try:
            for number in range(self._settings.workers):
                self._start(number)
            ready()
            while self._started:
                failed = self._wait() or failed
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)
            os.close(self._from_parent)
            os.close(self._to_workers)
        if failed:
            raise StoreError("A worker process exited at startup (see the log)", place=self._settings.db)

    def _start(self, worker: int) -> None:
        sys.stdout.flush()
        sys.stderr.flush()
        # Block signals: a new worker could run the parent's handler, or miss a signal before it is in ``_started``.
        signal.pthread_sigmask(signal.SIG_BLOCK, _SIGNALS)
        process = os.fork()
        if process == 0:
            os._exit(self._work(worker))
        self._started[process] = worker, time.monotonic()
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _SIGNALS)
        if self._is_stopping:
            self._stop(signal.SIGTERM, None)

    def _work(self, worker: int) -> int:
        for number in _SIGNALS:
            signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _SIGNALS)
        os.close(self._to_workers)
        renew_ids()
        try:
            with _open(self._settings) as regions:
                serving = _serve(
                    regions, self._settings, self._listening, lambda: None, self._from_parent, sweeps=worker == 0
                )
                asyncio.run(serving)
        except Exception:  # noqa: BLE001 - the process ends with this error
            _log.exception("A worker failed")
            return 1
        return 0

    def _wait(self) -> bool:
        """Wait for a worker to exit and restart it; returns whether restarting is futile."""
        process, _ = os.wait()
        started = self._started.pop(process, None)
        if started is None or self._is_stopping:
            return False
        worker, began = started
        if time.monotonic() - began < _RESTART_S:
            self._stop(signal.SIGTERM, None)
            return True
        _log.error("A worker process exited and is being restarted")
        self._start(worker)
        return False

    def _stop(self, number: int, frame: object) -> None:  # noqa: ARG002 - the signal module's signature
        self._is_stopping = True
        for process in self._started:
            with suppress(ProcessLookupError):
                os.kill(process, signal.SIGTERM)
