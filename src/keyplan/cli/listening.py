"""What the commands that serve have in common: a port of this machine alone, a server on it, and a sample before it."""
# ruff: noqa: PLC0415 - what is heavy is imported when the command runs

from __future__ import annotations

import gc
import socket
import sys
from contextlib import suppress
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from starlette.types import ASGIApp

    from keyplan.cli.designs import Found
    from keyplan.session.design import Design

__all__ = ["HOST", "listen", "missing", "need_server", "run_server", "write_sample"]

HOST = "127.0.0.1"
COLLECT_AFTER = 1_500
"""So many new objects make the garbage collector look at them: that takes some 0.5 ms. At 10,000 it takes 3 ms, which
makes a late answer; Python's own 700 are there after each request.
"""
SWITCH_SECONDS = 0.0005
"""A thread that works lets others go on after so long: Python's own 5 ms, a few times, are a late answer."""


def listen(port: int) -> socket.socket:
    """A socket on a port of this machine alone; 0 takes any free one."""
    # With its protocol named, asyncio knows it for TCP and switches Nagle's algorithm off: else answers wait for 40 ms.
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((HOST, port))
        listener.listen(256)
    except OSError as error:
        listener.close()
        raise click.ClickException(
            f"port {port} can't be used: {error.strerror or error}\n"
            "  → stop what uses it, or choose another with --port"
        ) from None
    return listener


def run_server(application: ASGIApp, listener: socket.socket, *, behind_proxy: bool = False) -> None:
    """Serve an application until it is stopped."""
    import uvicorn

    from keyplan.web.connections import Bounds, allow_many_files, bounded_protocol

    config = uvicorn.Config(
        application,
        http=bounded_protocol(allow_many_files(Bounds())),
        log_level="warning",
        access_log=False,
        timeout_graceful_shutdown=5,
        proxy_headers=behind_proxy,  # else whoever asks could say whom limits should count
    )
    sys.setswitchinterval(SWITCH_SECONDS)
    _spare_the_collector()
    with suppress(KeyboardInterrupt):  # the server has stopped by then
        uvicorn.Server(config).run(sockets=[listener])


def _spare_the_collector() -> None:
    """Let Python's garbage collector look at what requests leave, and not at modules and designs again and again: that
    takes some 50 ms each time, in which nobody is answered.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(COLLECT_AFTER, 20, 100)


def need_server() -> None:
    """Raises what to install where no server is: before anything is opened."""
    try:
        import uvicorn  # pyright: ignore[reportUnusedImport]  # noqa: F401
    except ModuleNotFoundError as error:
        raise missing(error, "web") from None


def missing(error: ModuleNotFoundError, extra: str) -> click.ClickException:
    """What to install for what an extra brings."""
    return click.ClickException(f"serving needs {error.name}: pip install 'keyplan[{extra}]'")


def write_sample(result: Found, design: Design, count: int) -> None:
    """Write a system's sample into an empty table."""
    from keyplan.cli.progress import progress

    system = result.system_with("a sample")
    store = design.store
    if store.transport.call("Scan", {"TableName": store.table_name, "Limit": 1})["Items"]:
        click.echo(f"{store.url} holds items already; no sample is written.", err=True)
        return
    with progress("Sampling") as report:
        system.sample(design, count, report)
