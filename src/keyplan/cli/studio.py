"""``keyplan studio``: browse a table, edit its data, and change its design in a local page."""
# ruff: noqa: PLC0415 - expensive modules are imported when the command runs

from __future__ import annotations

import linecache
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import click

from keyplan.cli.listening import HOST, listen, missing, run_server, write_sample
from keyplan.cli.options import db_option, tells_errors

if TYPE_CHECKING:
    import socket

    from keyplan.analysis.traffic.traffic_file import Traffic
    from keyplan.session.design import Design
    from keyplan.studio.access import Access
    from keyplan.studio.actions import Studio

__all__ = ["command", "studio_of"]


@click.command(
    "studio",
    short_help="Open the studio: browse item collections, run access patterns, edit data, change the design.",
    epilog="""\b
Examples:
  keyplan studio cms --sample 60
  keyplan studio designs.py:Shop --db shop.db
  keyplan studio designs.py:Shop --db dynamodb://eu-west-1/shop-prod
  keyplan studio designs.py:Shop --traffic traffic.toml
  keyplan studio without_keys.py:Shop
  keyplan studio dynamodb+http://127.0.0.1:8000
  keyplan studio dynamodb+http://127.0.0.1:8000/orders
""",
)
@click.argument("name", metavar="DESIGN|URL")
@db_option
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="Port to listen on.  [default: a free port]")
@click.option(
    "--sample", type=click.IntRange(min=1), metavar="N", help="Write N main items of sample data if the table is empty."
)
@click.option(
    "--allow-writes/--read-only",
    "writable",
    default=None,
    help="Allow or refuse changes of data; --read-only also runs no edited code.  [default: allow in local stores]",
)
@click.option(
    "--traffic",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Traffic file (TOML or JSON) that prices start from.  [see docs/traffic.md]",
)
@tells_errors
def command(
    name: str, db: str | None, port: int, sample: int | None, traffic: Path | None, *, writable: bool | None
) -> None:
    """Open the studio for DESIGN, or for the tables at the URL of an endpoint.

    It listens on 127.0.0.1 only. Every request needs the token in the printed address.
    """
    try:
        from keyplan.studio.access import Access
        from keyplan.studio.application import Beside as WithStudio
        from keyplan.studio.application import studio_application
    except ModuleNotFoundError as error:
        raise missing(error, "web") from None
    from keyplan.client.transports.urls import is_url

    access = Access(hosts=(HOST, "localhost"))
    with listen(port) as listener:
        port = listener.getsockname()[1]
        address = f"http://{HOST}:{port}/studio/?token={access.token}"
        if is_url(name):
            from keyplan.studio.actions import Studio
            from keyplan.studio.subject import browsed

            given = {"--db": db, "--sample": sample, "--traffic": traffic}
            wrong = ", ".join(option for option, value in given.items() if value is not None)
            if wrong:
                raise click.UsageError(f"{wrong}: only with a design, and {name} is a URL")
            with browsed(name, writable=writable) as endpoint:
                subject = endpoint.subject(endpoint.table)
                click.echo(f"{subject.name} on {subject.url}\n  studio   {address}\nPress Ctrl-C to stop.")
                studio = Studio(subject, endpoint=endpoint)
                run_server(WithStudio(None, studio_application(studio, access)), listener)
        else:
            _open_design(name, db, sample, traffic, access, listener, address, writable=writable)
    click.echo("Stopped.", err=True)


def _open_design(
    name: str,
    db: str | None,
    sample: int | None,
    traffic: Path | None,
    access: Access,
    listener: socket.socket,
    address: str,
    *,
    writable: bool | None,
) -> None:
    from keyplan.analysis.traffic.traffic_file import read_traffic
    from keyplan.cli.designs import find
    from keyplan.errors import DesignError, UnknownDesign
    from keyplan.studio.application import Beside as WithStudio
    from keyplan.studio.application import studio_application
    from keyplan.studio.design_file import DesignFile

    with ExitStack() as stack:
        designs: list[Design] = []

        def opened() -> Studio:
            linecache.checkcache()
            result = find(name)
            loads = None if traffic is None else read_traffic(traffic, result.design.compiled)
            if designs:  # saved again: on the same store
                design = result.design.open(designs[-1].store)
            else:
                design = stack.enter_context(result.open(db))
                if sample is not None:
                    write_sample(result, design, sample)
            designs.append(design)
            return studio_of(design, writable=writable, traffic=loads)

        path = Path(name.rpartition(":")[0] or name).expanduser().resolve()
        is_file = writable is not False and path.suffix == ".py" and path.is_file()
        try:
            studio = opened()
            studio.file = DesignFile(path, opened) if is_file else None
        except (DesignError, UnknownDesign) as error:
            if not is_file:
                raise
            studio = _unplanned(name, traffic)
            studio.file = DesignFile(path, opened, error)
            click.echo(
                f"{name} can't be opened yet: {error.message}.\n  studio   {address}\n"
                "It opens when the file is saved without errors. Press Ctrl-C to stop."
            )
        else:
            click.echo(f"{studio.subject.name} on {studio.subject.url}\n  studio   {address}\nPress Ctrl-C to stop.")
        run_server(WithStudio(None, studio_application(studio, access)), listener)


def _unplanned(name: str, traffic: Path | None) -> Studio:
    """The studio of a design that can't be opened: the plans of its keys, or only its error if its entities and access
    patterns can't be read either. Raises TrafficError for a traffic file that doesn't fit the design.
    """
    from keyplan.analysis.traffic.traffic_file import read_traffic
    from keyplan.cli.designs import find
    from keyplan.errors import DesignError, UnknownDesign
    from keyplan.model.deferral import deferred
    from keyplan.planner import provisional_design
    from keyplan.studio.actions import Studio
    from keyplan.studio.changing import source_of
    from keyplan.studio.module_runs import ModuleRunner
    from keyplan.studio.subject import of_file, of_uncompiled

    try:
        with deferred():
            design = find(name).design
        loads = None if traffic is None else read_traffic(traffic, provisional_design(design))
    except (DesignError, UnknownDesign):
        return Studio(of_file(Path(name).name))
    source = source_of(design)
    return Studio(of_uncompiled(design), runner=None if source is None else ModuleRunner(source, loads))


def studio_of(design: Design, *, writable: bool | None = None, traffic: Traffic | None = None) -> Studio:
    """The studio of an open design."""
    from keyplan.studio.actions import Studio
    from keyplan.studio.subject import of_design

    return Studio(of_design(design, writable=writable), traffic, executes=writable is not False)
