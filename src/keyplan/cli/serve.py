"""``keyplan serve``: serve the REST API of a design, and a system's site, on 127.0.0.1."""
# ruff: noqa: PLC0415 - expensive modules are imported when the command runs

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import click

from keyplan.cli.listening import HOST, listen, missing, need_server, run_server, write_sample
from keyplan.cli.options import db_option, name_argument, reports_errors, sample_option
from keyplan.cli.secret import secret_of

if TYPE_CHECKING:
    from starlette.types import ASGIApp

    from keyplan.cli.designs import Found
    from keyplan.session.design import Design
    from keyplan.systems import SiteMaker


@click.command(
    "serve",
    short_help="Serve the REST API of a design, and the site of a system.",
    epilog="""\b
Examples:
  keyplan serve blog --sample 300
  keyplan serve cms --sample 300
  keyplan serve designs.py:Shop --db shop.db --port 8080
""",
)
@name_argument
@db_option
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=8000,
    show_default=True,
    help="Port to listen on, or 0 for a free port.",
)
@sample_option
@click.option(
    "--origin", metavar="URL", help="Public URL of a site behind a reverse proxy, such as https://blog.example.com."
)
@click.option(
    "--secret-file",
    type=click.Path(dir_okay=False, path_type=Path),
    help="File with the site's signing secret, created if it doesn't exist. Ignored if the environment variable "
    "KEYPLAN_SECRET is set.  [default: a file next to the database]",
)
@click.option(
    "--site",
    "settings",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="TOML file with settings of the site, such as title, colors and navigation.",
)
@reports_errors
def command(
    name: str,
    db: str | None,
    port: int,
    sample: int | None,
    origin: str | None,
    secret_file: Path | None,
    settings: Path | None,
) -> None:
    """Serve the REST API of the design NAME, and the site of its system, on 127.0.0.1.

    Each access pattern is an endpoint, described by an OpenAPI document. A page at / (at /docs if the system has a
    site, such as blog) lists the endpoints and can send requests to them.
    """
    from keyplan.cli.designs import find

    need_server()
    os.umask(0o077)  # the store contains password hashes: only the current user may read its files, secret and uploads
    result = find(name)
    maker = None if result.system is None else result.system.site
    public = None if origin is None else _origin(origin, maker)
    if settings is not None and maker is None:
        raise click.BadParameter("only systems with a site support --site", param_hint="--site")
    listener = listen(port)
    secret = None if maker is None else secret_of(result.db(db), secret_file)
    _warn_of_readable(Path(result.db(db)), secret_file or Path(f"{result.db(db)}.secret"))
    with listener, result.open(db, secret=secret) as design:
        if sample is not None:
            write_sample(result, design, sample)
        port = listener.getsockname()[1]
        application, lines = _application(maker, design, secret, public, settings)
        if public is None:  # only local users may use the studio
            application, lines = _with_studio(design, application, lines, port)
        announce = partial(_echo_addresses, result, design, port, lines, site=maker is not None)
        run_server(application, listener, announce, behind_proxy=public is not None)
    click.echo("Stopped.", err=True)


def _warn_of_readable(*paths: Path) -> None:
    for path in paths if os.name == "posix" else ():
        if path.is_file() and path.stat().st_mode & 0o077:
            click.echo(f"Warning: other users can read {path}. Restrict access with chmod 600 {path}", err=True)


def _with_studio(
    design: Design, application: ASGIApp, lines: Sequence[str], port: int
) -> tuple[ASGIApp, Sequence[str]]:
    """The application with the studio at ``/studio``, and lines to print with its address."""
    from keyplan.cli.studio import studio_of
    from keyplan.studio.access import Access
    from keyplan.studio.application import Beside as WithStudio
    from keyplan.studio.application import studio_application

    access = Access(hosts=(HOST, "localhost"))
    studio = studio_application(studio_of(design), access)
    line = f"  studio   http://{HOST}:{port}/studio/?token={access.token}"
    return WithStudio(application, studio), (line, *lines)


def _origin(text: str, maker: SiteMaker | None) -> str:
    parts = urlsplit(text)
    if parts.scheme not in {"http", "https"} or not parts.hostname or parts.path.strip("/") or parts.query:
        raise click.BadParameter("must be a URL with no path, such as https://blog.example.com", param_hint="--origin")
    if maker is None:
        raise click.BadParameter("only systems with a site support --origin", param_hint="--origin")
    return text.rstrip("/")


def _application(
    maker: SiteMaker | None, design: Design, secret: bytes | None, origin: str | None, settings: Path | None
) -> tuple[ASGIApp, Sequence[str]]:
    """The application of the API and, if the system has a site, of the site; and lines to print."""
    try:
        from keyplan.systems import SiteOptions
        from keyplan.web.application import Beside, application

        hosts = (HOST, "localhost", *([] if origin is None else [str(urlsplit(origin).hostname)]))
        if maker is None or secret is None:
            return application(design, hosts=hosts), ()
        site = maker(design, SiteOptions(secret, hosts, origin, settings))
    except ModuleNotFoundError as error:
        raise missing(error, "all") from None
    api = application(design, hosts=hosts, policy=site.policy, origin=origin)
    return Beside(api, site.application), site.told


def _echo_addresses(result: Found, design: Design, port: int, lines: Sequence[str], *, site: bool) -> None:
    compiled = design.compiled
    address = f"http://{HOST}:{port}"
    counts = f"{len(compiled.reads)} reads, {len(compiled.writes)} writes"
    click.echo(f"{result.design.__name__} on {design.store.url}: {counts}")
    click.echo(f"  {'site' if site else 'page'}     {address}/")
    if site:
        click.echo(f"  API page {address}/docs")
    click.echo(f"  API      {address}/api/{next(iter(compiled.patterns), '')}")
    click.echo(f"  OpenAPI  {address}/openapi.json")
    for line in lines:
        click.echo(line)
    click.echo("Press Ctrl-C to stop.")
