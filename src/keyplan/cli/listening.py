"""Functions that ``serve`` and ``studio`` share: listen on a local port, run a server, and write sample data."""
# ruff: noqa: PLC0415 - expensive modules are imported when the command runs

from __future__ import annotations

import gc
import socket
import sys
from contextlib import suppress
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.types import ASGIApp

    from keyplan.cli.designs import Found
    from keyplan.session.design import Design


HOST = "127.0.0.1"
COLLECT_AFTER = 1_500
"""New objects per run of the garbage collector. A run takes 0.5 ms at this number and 3 ms at 10,000; Python's default,
700, would run the collector after each request.
"""
SWITCH_SECONDS = 0.0005
"""Thread switch interval in seconds. Python's default, 5 ms, delays responses noticeably."""


def listen(port: int) -> socket.socket:
    """Listen on 127.0.0.1; port 0 selects a free port. Raises ClickException if the port can't be used."""
    # For a socket with IPPROTO_TCP, asyncio disables Nagle's algorithm, which would delay responses by 40 ms.
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((HOST, port))
        listener.listen(256)
    except OSError as error:
        listener.close()
        raise click.ClickException(
            f"port {port} can't be used: {error.strerror or error}\n  → choose another port with --port"
        ) from None
    return listener


def run_server(
    application: ASGIApp, listener: socket.socket, announce: Callable[[], None], *, behind_proxy: bool = False
) -> None:
    """Serve until Ctrl-C. ``announce`` is called when the server handles Ctrl-C: before, Python can ignore Ctrl-C."""
    import uvicorn

    from keyplan.web.connections import BoundedApplication, Bounds, allow_many_files, bounded_protocol

    class Server(uvicorn.Server):
        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets)
            announce()

    config = uvicorn.Config(
        BoundedApplication(application),
        http=bounded_protocol(allow_many_files(Bounds())),
        log_level="warning",
        access_log=False,
        timeout_graceful_shutdown=5,
        proxy_headers=behind_proxy,  # without a proxy, a client could forge the address for rate limits
    )
    sys.setswitchinterval(SWITCH_SECONDS)
    # Exempt modules and designs from garbage collection, which would pause all requests for 50 ms
    gc.collect()
    gc.freeze()
    gc.set_threshold(COLLECT_AFTER, 20, 100)
    with suppress(KeyboardInterrupt):  # uvicorn re-raises the signal after the server has stopped
        Server(config).run(sockets=[listener])


def need_server() -> None:
    try:
        import uvicorn  # pyright: ignore[reportUnusedImport]  # noqa: F401
    except ModuleNotFoundError as error:
        raise missing(error, "web") from None


def missing(error: ModuleNotFoundError, extra: str) -> click.ClickException:
    return click.ClickException(f"this command requires the package {error.name}: pip install 'keyplan[{extra}]'")


def write_sample(result: Found, design: Design, count: int) -> None:
    from keyplan.cli.show import progress

    system = result.system_with("sample data")
    store = design.store
    if store.transport.call("Scan", {"TableName": store.table_name, "Limit": 1})["Items"]:
        click.echo(f"The table in {store.url} isn't empty, so no sample data is written.", err=True)
        return
    with progress("Sampling") as report:
        system.sample(design, count, report)
