"""``keyplan dynamodb``: serve the embedded store over DynamoDB's HTTP protocol; ``check`` below it: check a file."""
# ruff: noqa: PLC0415 - what is heavy is imported when the command runs

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Literal

import click

from keyplan.cli.options import FAILED, printable, tells_errors

__all__ = ["command"]


@click.group(
    "dynamodb",
    short_help="Serve the embedded store to boto3, the AWS CLI and any SDK.",
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
@click.option("--db", envvar="KEYPLAN_DB", metavar="FILE", help="The store's file; made if it isn't there.")
@click.option("--memory", is_flag=True, help="Keep everything in memory instead, and forget it at the end.")
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen on.")
@click.option("--port", type=click.IntRange(0, 65_535), default=8000, show_default=True, help="0 takes a free one.")
@click.option(
    "--access-key",
    "access_keys",
    multiple=True,
    metavar="ID:SECRET",
    envvar="KEYPLAN_ACCESS_KEY",
    help="Accept only requests signed with this key; can be repeated. Without any, all credentials are accepted.",
)
@click.option(
    "--sync",
    type=click.Choice(["full", "normal"]),
    default="full",
    show_default=True,
    help="full: what is acknowledged survives a power cut. normal: it survives the end of the process; quicker.",
)
@click.option("--workers", type=click.IntRange(1, 64), default=1, show_default=True, help="Processes to serve with.")
@click.option(
    "--ttl-interval",
    "sweep_s",
    type=click.FloatRange(0),
    default=60.0,
    show_default=True,
    metavar="SECONDS",
    help="How often expired items of tables with a time to live are removed; 0 is never.",
)
@click.option(
    "--throttle",
    is_flag=True,
    help="Refuse what exceeds the throughput of tables, indexes and partitions, with AWS's errors.",
)
@click.option(
    "--index-lag",
    "index_lag_ms",
    type=click.FloatRange(0),
    default=0.0,
    metavar="MS",
    help="Let indexes show a write so many milliseconds later, as they may do at AWS.",
)
@click.option(
    "--state-delay",
    "state_delay_s",
    type=click.FloatRange(0),
    default=0.0,
    metavar="SECONDS",
    help="Let tables and indexes be created, changed and deleted for so many seconds, as they are at AWS.",
)
@click.option(
    "--shard-hours",
    type=click.FloatRange(0, min_open=True),
    default=4.0,
    show_default=True,
    metavar="HOURS",
    help="How long a stream's shard takes records before its child does.",
)
@click.option(
    "--shard-records",
    type=click.IntRange(1),
    metavar="N",
    help="Split the shards of a stream when they hold so many records, so that consumers meet parents and children.",
)
@click.option(
    "--s3",
    type=click.Path(file_okay=False),
    metavar="FOLDER",
    help="A folder that stands in for Amazon S3, with a folder in it for each bucket: for exports and imports.",
)
@click.option(
    "--regions",
    metavar="A,B",
    help="Keep a store for each of these regions, with global tables between them. Else all regions are one store.",
)
@click.option(
    "--replica-lag",
    "replica_lag_ms",
    type=click.FloatRange(0),
    default=500.0,
    show_default=True,
    metavar="MS",
    help="How much later a write of a global table comes to its other regions.",
)
@click.option(
    "--cors",
    "origins",
    multiple=True,
    metavar="ORIGIN",
    help="Let web pages of this origin in, beside those of this machine; * is all. Can be repeated.",
)
@click.pass_context
@tells_errors
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
    """Serve the embedded store over DynamoDB's protocol, until Ctrl-C.

    Without --access-key it listens on this machine only.
    """
    if context.invoked_subcommand is not None:
        return
    if (db is None) != memory:
        raise click.UsageError("Give either --db FILE or --memory.")
    from keyplan.errors import RequestError

    try:
        from keyplan.store.server import Settings, serve
        from keyplan.store.server.server_settings import MEMORY, parse_key
    except ModuleNotFoundError as error:
        raise RequestError(
            f"The server needs the package {error.name}", hint="Install it with: pip install 'keyplan[server]'"
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
        click.echo(f"DynamoDB at http://{replace(settings, port=bound).address} from {settings.db}. Ctrl-C ends it.")

    serve(settings, ready)


@command.command("check", short_help="Check a store's file.")
@click.argument("file", metavar="FILE", type=click.Path(path_type=Path))
@tells_errors
def check(file: Path) -> None:
    """Check that FILE is sound: its pages, its items and the entries of its indexes. It may be in use meanwhile.

    The exit status is 1 when something is wrong with it.
    """
    from keyplan.store import check_file

    findings = check_file(file)
    for finding in findings:
        click.echo(printable(str(finding)))
    if findings:
        click.echo(f"{len(findings)} findings in {file}.", err=True)
        raise click.exceptions.Exit(FAILED)
    click.echo(f"{file} is sound.")
