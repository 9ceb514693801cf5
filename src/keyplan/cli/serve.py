"""``keyplan serve``: the REST API of a design and its page, on this machine only."""
# ruff: noqa: PLC0415 - what is heavy is imported when the command runs

from __future__ import annotations

import socket
from contextlib import suppress
from typing import TYPE_CHECKING

import click

from keyplan.cli.options import db_option, name_argument, tells_errors

if TYPE_CHECKING:
    from keyplan.cli.designs import Found
    from keyplan.opening import Design

__all__ = ["command"]

HOST = "127.0.0.1"


@click.command(
    "serve",
    short_help="Serve a design as a REST API, with a page to look at it.",
    epilog="""\b
Examples:
  keyplan serve cms --sample 300
  keyplan serve designs.py:Shop --db shop.db --port 8080
""",
)
@name_argument
@db_option
@click.option("--port", type=click.IntRange(0, 65535), default=8000, show_default=True, help="0 takes any free one.")
@click.option(
    "--sample", type=click.IntRange(min=1), metavar="N", help="Write a sample of N main items, if the table is empty."
)
@tells_errors
def command(name: str, db: str | None, port: int, sample: int | None) -> None:
    """Serve the design NAME on 127.0.0.1.

    Every access pattern is an endpoint, described by OpenAPI; the page shows them all, and tries them.
    """
    try:
        import uvicorn

        from keyplan.web.application import application
    except ModuleNotFoundError as error:
        raise click.ClickException(f"serving needs {error.name}: pip install 'keyplan[web]'") from None
    from keyplan.cli.designs import find

    found = find(name)
    listener = _listen(port)
    with listener, found.open(db) as design:
        if sample is not None:
            _sample(found, design, sample)
        port = listener.getsockname()[1]
        _tell(found, design, port)
        config = uvicorn.Config(
            application(design, hosts=(HOST, "localhost")),
            log_level="warning",
            access_log=False,
            timeout_graceful_shutdown=5,
        )
        with suppress(KeyboardInterrupt):  # the server has stopped by then
            uvicorn.Server(config).run(sockets=[listener])
    click.echo("Stopped.", err=True)


def _listen(port: int) -> socket.socket:
    listener = socket.socket()
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


def _sample(found: Found, design: Design, count: int) -> None:
    from keyplan.cli.designs import find_system
    from keyplan.cli.progress import progress

    system = find_system(found.name, "a sample") if found.system is None else found.system
    store = design.store
    if store.transport.call("Scan", {"TableName": store.table_name, "Limit": 1})["Items"]:
        click.echo(f"{store.url} holds items already; no sample is written.", err=True)
        return
    with progress("Sampling") as report:
        system.sample(design, count, report)


def _tell(found: Found, design: Design, port: int) -> None:
    compiled = design.compiled
    address = f"http://{HOST}:{port}"
    click.echo(
        f"{found.design.__name__} on {design.store.url}: {len(compiled.reads)} reads, {len(compiled.writes)} writes"
    )
    click.echo(f"  page     {address}/")
    click.echo(f"  API      {address}/api/{next(iter(compiled.patterns), '')}")
    click.echo(f"  OpenAPI  {address}/openapi.json")
    click.echo("Ctrl-C stops it.")
