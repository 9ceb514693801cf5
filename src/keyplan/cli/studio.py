"""``keyplan studio``: browse a table, edit its data, and change its design in a local page."""
# ruff: noqa: PLC0415 - expensive modules are imported when the command runs

from __future__ import annotations

import linecache
import os
import sys
import webbrowser
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import click

from keyplan.cli.listening import HOST, listen, missing, run_server, write_sample
from keyplan.cli.options import db_option, reports_errors, sample_option

if TYPE_CHECKING:
    from keyplan.analysis.traffic.traffic_file import Traffic
    from keyplan.session.design import Design
    from keyplan.studio.actions import Studio


@click.command(
    "studio",
    short_help="Open the studio: browse item collections, run access patterns, edit data, change the design.",
    epilog="""\b
Examples:
  keyplan studio
  keyplan studio cms --sample 60
  keyplan studio designs.py:Shop --db shop.db
  keyplan studio designs.py:Shop --db dynamodb://eu-west-1/shop-prod
  keyplan studio designs.py:Shop --traffic traffic.toml
  keyplan studio without_keys.py:Shop
  keyplan studio dynamodb+http://127.0.0.1:8000
  keyplan studio dynamodb+http://127.0.0.1:8000/orders
""",
)
@click.argument("name", metavar="[DESIGN|URL]", required=False)
@db_option
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="Port to listen on.  [default: a free port]")
@sample_option
@click.option(
    "--allow-writes/--read-only",
    "writable",
    default=None,
    help="Allow or reject data changes. With --read-only, the studio doesn't run code that you edit in it.  "
    "[default: allow only in local stores]",
)
@click.option(
    "--traffic",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Traffic file (TOML or JSON) with the initial rates and sizes.  [see docs/traffic.md]",
)
@click.option(
    "--browser/--no-browser",
    default=None,
    help="Open the studio in a browser.  [default: only in a terminal, on a machine with a display]",
)
@reports_errors
def command(
    name: str | None,
    db: str | None,
    port: int,
    sample: int | None,
    traffic: Path | None,
    *,
    writable: bool | None,
    browser: bool | None,
) -> None:
    """Open the studio for DESIGN, or for the tables at the URL of an endpoint. Without an argument, the start page can
    open a recent design, an installed system or an endpoint, create a design, or import a NoSQL Workbench model.

    The studio listens on 127.0.0.1 only. Every request requires the token in the printed address.
    """
    try:
        from keyplan.studio.access import Access
        from keyplan.studio.application import Beside as WithStudio
        from keyplan.studio.application import studio_application
    except ModuleNotFoundError as error:
        raise missing(error, "web") from None
    from keyplan.client.transports.urls import is_url
    from keyplan.studio.actions import Studio
    from keyplan.studio.home import Home
    from keyplan.studio.subject import of_file
    from keyplan.systems import system_names

    given = {"--db": db, "--sample": sample, "--traffic": traffic}
    wrong = ", ".join(option for option, value in given.items() if value is not None)
    if wrong and (name is None or is_url(name)):
        raise click.UsageError(f"{wrong} can be used only with the name of a design")
    access = Access(hosts=(HOST, "localhost"))
    with listen(port) as listener, ExitStack() as stack:
        address = f"http://{HOST}:{listener.getsockname()[1]}/studio/?token={access.token}"
        if name is None:
            home = Home(
                lambda other, store: _opened(stack, other, store, writable=writable),
                system_names(),
                writable=writable is not False,
            )
            studio = Studio(of_file("Studio"), home=home)
            text = f"  studio   {address}\nPress Ctrl-C to stop."
        else:
            studio = _opened(stack, name, db, sample, traffic, writable=writable)
            fault = None if studio.file is None else studio.file.error
            head = f"{studio.subject.name} on {studio.subject.url}"
            head = head if fault is None else f"{name} can't be opened yet: {fault.message}."
            more = "" if fault is None else "The studio opens the design when you save the file without errors. "
            text = f"{head}\n  studio   {address}\n{more}Press Ctrl-C to stop."

        def announce() -> None:
            click.echo(text)
            if browser if browser is not None else _has_display():
                webbrowser.open(address)

        run_server(WithStudio(None, studio_application(studio, access)), listener, announce)
    click.echo("Stopped.", err=True)


def _has_display() -> bool:
    display = sys.platform in {"darwin", "win32"} or os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    return bool(display) and sys.stdout.isatty() and not os.environ.get("CI")


def _opened(
    stack: ExitStack,
    name: str,
    db: str | None = None,
    sample: int | None = None,
    traffic: Path | None = None,
    *,
    writable: bool | None = None,
) -> Studio:
    """The studio of a design, or of the tables at a URL. ``stack`` closes the opened stores."""
    from keyplan.client.transports.urls import is_url
    from keyplan.studio.actions import Studio
    from keyplan.studio.home import remember
    from keyplan.studio.subject import browsed

    if is_url(name):
        endpoint = stack.enter_context(browsed(name, writable=writable))
        studio = Studio(endpoint.subject(endpoint.table), endpoint=endpoint)
    else:
        studio = _opened_design(stack, name, db, sample, traffic, writable=writable)
    if sys.stdout.isatty() and studio.subject.url != ":memory:":
        remember(name, None if studio.subject.design is None else studio.subject.url)
    return studio


def _opened_design(
    stack: ExitStack, name: str, db: str | None, sample: int | None, traffic: Path | None, *, writable: bool | None
) -> Studio:
    from keyplan.analysis.traffic.traffic_file import read_traffic
    from keyplan.cli.designs import find
    from keyplan.errors import DesignError, UnknownDesign
    from keyplan.studio.design_file import DesignFile

    designs: list[Design] = []

    def opened() -> Studio:
        linecache.checkcache()
        result = find(name)
        loads = None if traffic is None else read_traffic(traffic, result.design.compiled)
        if designs:  # the file changed: keep the open store
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
    return studio


def _unplanned(name: str, traffic: Path | None) -> Studio:
    """The studio of a design that can't be opened, with plans of its keys or only its error. Raises TrafficError."""
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
    from keyplan.studio.actions import Studio
    from keyplan.studio.subject import of_design

    return Studio(of_design(design, writable=writable), traffic, executes=writable is not False)
