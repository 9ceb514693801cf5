"""``keyplan drift``: print the differences between a deployed table and its design."""
# ruff: noqa: PLC0415 - expensive modules are imported when the command runs

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from keyplan.cli.options import FAILED, db_option, echo_json, json_option, name_argument, reports_errors

if TYPE_CHECKING:
    from keyplan.client.table_setup import Difference


@click.command(
    "drift",
    short_help="Compare a deployed table with its design.",
    epilog="""\b
Examples:
  keyplan drift cms --db dynamodb://eu-west-1/cms-prod
  keyplan drift designs.py:Shop --db shop.db --json
  keyplan drift cms --db dynamodb://eu-west-1/cms-prod --items 1000
""",
)
@name_argument
@db_option
@click.option(
    "--items",
    type=click.IntRange(1),
    metavar="N",
    help="Also read N items, and count stale and missing index entries, missing claims, and unreadable items.",
)
@json_option
@reports_errors
def command(name: str, db: str | None, *, items: int | None, as_json: bool) -> None:
    """Compare a deployed table with its design, without changing the table.

    The command compares the table's key, the keys and projections of its indexes, and its time to live (TTL).

    Exit status: 1 if a difference makes access patterns or writes fail, or return wrong results.
    """
    from keyplan.cli.create import open_store
    from keyplan.cli.designs import find
    from keyplan.client.conversations import converse
    from keyplan.client.item_drift import item_drift
    from keyplan.client.table_setup import describe_table, drift
    from keyplan.errors import StoreError

    result = find(name)
    where = result.db(db)
    with open_store(result, where, create=False) as (store, table):
        there = converse(describe_table(table), store)
        if there is None:
            raise StoreError(f"{where} has no table {table}", hint="create the table with keyplan create")
        wanted = result.design.table.create_request(table)
        listed = converse(drift(wanted, there, result.design.compiled.ttl_attribute), store)
        if items is not None:
            listed += converse(item_drift(table, result.design.compiled.entities.values(), items), store)
    if as_json:
        echo_json({"table": table, "differences": [asdict(difference) for difference in listed]})
    else:
        _show(listed, table, where, items)
    if any(difference.serious for difference in listed):
        raise click.exceptions.Exit(FAILED)


def _show(listed: list[Difference], table: str, where: str, items: int | None) -> None:
    if not listed:
        what = "" if items is None else f", and so do its first {items:,} items"
        click.echo(f"The table {table} in {where} matches the design{what}.")
        return
    from rich.table import Table

    from keyplan.cli.show import console

    shown = Table("", "where", "the design", "the table", "what to do", box=None, pad_edge=False)
    for difference in listed:
        mark = "[red]wrong[/red]" if difference.serious else "[yellow]other[/yellow]"
        shown.add_row(mark, difference.place, difference.design, difference.table, difference.hint)
    console().print(shown)
