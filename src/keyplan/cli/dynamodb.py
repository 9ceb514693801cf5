"""``keyplan dynamodb``: serve the embedded store over DynamoDB's HTTP protocol, or check its file."""
# ruff: noqa: PLC0415 - expensive modules are imported when the command runs

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Literal

import click

from keyplan.cli.options import FAILED, printable, reports_errors


@click.group(
    "dynamodb",
    short_help="Serve the embedded store to boto3, the AWS CLI and other SDKs.",
    invoke_without_command=True,
    epilog="""\b
Examples:
  keyplan dynamodb --db local.db
  keyplan dynamodb --memory --port 0
  keyplan dynamodb --db local.db --host 0.0.0.0 --access-key dev:a-long-secret
  keyplan dynamodb --memory --throttle --index-lag 200
  keyplan dynamodb check local.db
  aws dynamodb list-tables --endpoint-url http://127.0.0.1:8000
""",
)
@click.option("--db", envvar="KEYPLAN_DB", metavar="FILE", help="Database file, created if it doesn't exist.")
@click.option("--memory", is_flag=True, help="Keep all data in memory. The data is lost when the server stops.")
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option(
    "--port",
    type=click.IntRange(0, 65_535),
    default=8000,
    show_default=True,
    help="Port to listen on, or 0 for a free port.",
)
@click.option(
    "--access-key",
    "access_keys",
    multiple=True,
    metavar="ID:SECRET",
    envvar="KEYPLAN_ACCESS_KEY",
    help="Accept only requests that are signed with this access key (repeatable).  [default: accept any credentials]",
)
@click.option(
    "--sync",
    type=click.Choice(["full", "normal"]),
    default="full",
    show_default=True,
    help="Durability of writes: full survives a power failure; normal is faster, but survives only a process crash.",
)
@click.option("--workers", type=click.IntRange(1, 64), default=1, show_default=True, help="Number of server processes.")
@click.option(
    "--ttl-interval",
    "sweep_s",
    type=click.FloatRange(0),
    default=60.0,
    show_default=True,
    metavar="SECONDS",
    help="Delete expired items (TTL) every SECONDS seconds; 0 disables deletion.",
)
@click.option(
    "--throttle", is_flag=True, help="Throttle requests that exceed the throughput of a table, index or partition."
)
@click.option(
    "--index-lag",
    "index_lag_ms",
    type=click.FloatRange(0),
    default=0.0,
    metavar="MS",
    help="Delay index visibility by MS milliseconds.",
)
@click.option(
    "--state-delay",
    "state_delay_s",
    type=click.FloatRange(0),
    default=0.0,
    metavar="SECONDS",
    help="Keep tables and indexes in the status CREATING, UPDATING or DELETING for SECONDS seconds.",
)
@click.option(
    "--shard-hours",
    type=click.FloatRange(0, min_open=True),
    default=4.0,
    show_default=True,
    metavar="HOURS",
    help="Close each stream shard after HOURS hours.",
)
@click.option("--shard-records", type=click.IntRange(1), metavar="N", help="Split each stream shard after N records.")
@click.option(
    "--s3",
    type=click.Path(file_okay=False),
    metavar="FOLDER",
    help="Folder that replaces Amazon S3 in exports and imports, with a subfolder per bucket.",
)
@click.option(
    "--regions",
    metavar="A,B",
    help="Keep a store for each region, with global tables across regions.  [default: one store for all regions]",
)
@click.option(
    "--replica-lag",
    "replica_lag_ms",
    type=click.FloatRange(0),
    default=500.0,
    show_default=True,
    metavar="MS",
    help="Delay the replication of global tables by MS milliseconds.",
)
@click.option(
    "--cors",
    "origins",
    multiple=True,
    metavar="ORIGIN",
    help="Also accept requests from web pages of this origin; * allows all origins. Repeatable.",
)
@click.pass_context
@reports_errors
def command(
    context: click.Context,
    db: str | None,
    host: str,
    port: int,
    access_keys: tuple[str, ...],
    sync: Literal["full", "normal"],
    workers: int,
    sweep_s: float,
    index_lag_ms: float,
    state_delay_s: float,
    shard_hours: float,
    shard_records: int | None,
    s3: str | None,
    regions: str | None,
    replica_lag_ms: float,
    origins: tuple[str, ...],
    *,
    memory: bool,
    throttle: bool,
) -> None:
    """Serve the embedded store over DynamoDB's HTTP protocol. Press Ctrl-C to stop the server.

    Without --access-key, the server accepts connections from this machine only.
    """
    if context.invoked_subcommand is not None:
        return
    if (db is None) != memory:
        raise click.UsageError("Set either --db FILE or --memory.")
    from keyplan.errors import RequestError

    try:
        from keyplan.store.server import Settings, serve
        from keyplan.store.server.server_settings import MEMORY, parse_key
    except ModuleNotFoundError as error:
        raise RequestError(
            f"the server requires {error.name}", hint="install the package with: pip install 'keyplan[server]'"
        ) from None

    settings = Settings(
        db=MEMORY if db is None else db,
        host=host,
        port=port,
        keys=dict(parse_key(key) for key in access_keys),
        sync=sync,
        workers=workers,
        sweep_s=sweep_s,
        throttle=throttle,
        index_lag_ms=index_lag_ms,
        state_delay_s=state_delay_s,
        shard_s=shard_hours * 3600,
        shard_records=shard_records,
        s3=s3,
        regions=tuple(region.strip() for region in regions.split(",")) if regions else (),
        replica_lag_ms=replica_lag_ms,
        origins=frozenset(origins),
    )

    def ready(bound: int) -> None:
        address = replace(settings, port=bound).address
        click.echo(f"Serving {settings.db} over the DynamoDB protocol at http://{address} (press Ctrl-C to stop)")

    serve(settings, ready)


@command.command("check", short_help="Check a database file for damage.")
@click.argument("file", metavar="FILE", type=click.Path(path_type=Path))
@reports_errors
def check(file: Path) -> None:
    """Check the pages, items and index entries of the database FILE. Other processes can use the file during the check.

    Exit status: 1 if the file is damaged.
    """
    from keyplan.store import check_file

    findings = check_file(file)
    for finding in findings:
        click.echo(printable(str(finding)))
    if findings:
        click.echo(f"{file} is damaged. Findings: {len(findings)}.", err=True)
        raise click.exceptions.Exit(FAILED)
    click.echo(f"No damage was found in {file}.")
