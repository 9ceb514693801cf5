"""``keyplan serve``: the REST API of a design and its page, and a system's site, on this machine only."""
# ruff: noqa: PLC0415 - what is heavy is imported when the command runs

from __future__ import annotations

import gc
import socket
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import click

from keyplan.cli.options import db_option, name_argument, tells_errors
from keyplan.cli.secret import secret_of

if TYPE_CHECKING:
    from starlette.types import ASGIApp

    from keyplan.cli.designs import Found
    from keyplan.opening import Design
    from keyplan.systems import SiteMaker

__all__ = ["command"]

HOST = "127.0.0.1"
COLLECT_AFTER = 10_000
"""Objects more than were freed before the collector looks at the young ones; Python's own 700 is once a request."""
SWITCH_SECONDS = 0.0005
"""A thread that works lets others go on after so long: Python's own 5 ms, a few times, are a late answer."""


@click.command(
    "serve",
    short_help="Serve a design as a REST API with a page to look at it, and a system's site.",
    epilog="""\b
Examples:
  keyplan serve blog --sample 300
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
@click.option(
    "--origin",
    metavar="URL",
    help="The public address of a site that another server stands before, as https://blog.example.com.",
)
@click.option(
    "--secret-file",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Where a site's secret is kept; made when it is missing.  [default: beside the database; env: KEYPLAN_SECRET "
    "is the secret itself]",
)
@click.option(
    "--site",
    "settings",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="A site's own settings, a file of TOML: its title, colours and navigation.",
)
@tells_errors
def command(
    name: str,
    db: str | None,
    port: int,
    sample: int | None,
    origin: str | None,
    secret_file: Path | None,
    settings: Path | None,
) -> None:
    """Serve the design NAME on 127.0.0.1.

    Every access pattern is an endpoint, described by OpenAPI; the page shows them all, and tries them. A system with a
    site (blog) has that at /, and the page at /docs.
    """
    try:
        import uvicorn
    except ModuleNotFoundError as error:
        raise _missing(error, "web") from None
    from keyplan.cli.designs import find
    from keyplan.web.connections import Bounds, allow_many_files, bounded_protocol

    found = find(name)
    maker = None if found.system is None else found.system.site
    public = None if origin is None else _origin(origin, maker)
    if settings is not None and maker is None:
        raise click.BadParameter("only a system with a site has settings", param_hint="--site")
    listener = _listen(port)
    secret = None if maker is None else secret_of(found.db(db), secret_file)
    bounds = allow_many_files(Bounds())
    with listener, found.open(db, secret=secret) as design:
        if sample is not None:
            _sample(found, design, sample)
        port = listener.getsockname()[1]
        application, told = _application(maker, design, secret, public, settings)
        _tell(found, design, port, told, site=maker is not None)
        config = uvicorn.Config(
            application,
            http=bounded_protocol(bounds),
            log_level="warning",
            access_log=False,
            timeout_graceful_shutdown=5,
            proxy_headers=public is not None,  # else whoever asks could say whom limits should count
        )
        sys.setswitchinterval(SWITCH_SECONDS)
        _spare_the_collector()
        with suppress(KeyboardInterrupt):  # the server has stopped by then
            uvicorn.Server(config).run(sockets=[listener])
    click.echo("Stopped.", err=True)


def _spare_the_collector() -> None:
    """Let Python's garbage collector look at what requests leave, and not at modules and designs again and again: that
    takes some 50 ms each time, in which nobody is answered.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(COLLECT_AFTER, 20, 100)


def _missing(error: ModuleNotFoundError, extra: str) -> click.ClickException:
    return click.ClickException(f"serving needs {error.name}: pip install 'keyplan[{extra}]'")


def _origin(text: str, maker: SiteMaker | None) -> str:
    """The public address, without a slash at its end."""
    parts = urlsplit(text)
    if parts.scheme not in {"http", "https"} or not parts.hostname or parts.path.strip("/") or parts.query:
        raise click.BadParameter("an address like https://blog.example.com", param_hint="--origin")
    if maker is None:
        raise click.BadParameter("only a system with a site has a public address", param_hint="--origin")
    return text.rstrip("/")


def _application(
    maker: SiteMaker | None, design: Design, secret: bytes | None, origin: str | None, settings: Path | None
) -> tuple[ASGIApp, Sequence[str]]:
    """What is served: the API alone, or beside the site that the system has. And what the site tells."""
    try:
        from keyplan.systems import SiteOptions
        from keyplan.web.application import application
        from keyplan.web.beside import Beside

        public = "" if origin is None else urlsplit(origin).hostname or ""
        hosts = (HOST, "localhost", *([public] if public else []))
        if maker is None or secret is None:
            return application(design, hosts=hosts), ()
        site = maker(design, SiteOptions(secret, hosts, origin, settings))
    except ModuleNotFoundError as error:
        raise _missing(error, "all") from None
    api = application(design, hosts=hosts, policy=site.policy, origin=origin)
    return Beside(api, site.application), site.told


def _listen(port: int) -> socket.socket:
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


def _tell(found: Found, design: Design, port: int, told: Sequence[str], *, site: bool) -> None:
    compiled = design.compiled
    address = f"http://{HOST}:{port}"
    click.echo(
        f"{found.design.__name__} on {design.store.url}: {len(compiled.reads)} reads, {len(compiled.writes)} writes"
    )
    click.echo(f"  {'site' if site else 'page'}     {address}/")
    if site:
        click.echo(f"  API page {address}/docs")
    click.echo(f"  API      {address}/api/{next(iter(compiled.patterns), '')}")
    click.echo(f"  OpenAPI  {address}/openapi.json")
    for line in told:
        click.echo(line)
    click.echo("Ctrl-C stops it.")
