"""Global tables: what a table's definition says of its replicas, and the errors of tables that have none.

Those of the version of 2017 can't be made any more at AWS: their operations answer so, here as there. Those of the
version of 2019 are tables with ``Replication`` in their definition; what is written to one region comes to the others
by ``keyplan.store.multi_region``.
"""

from __future__ import annotations

from typing import Any, NotRequired, TypedDict

from keyplan.dynamodb.service_errors import GlobalTableNotFoundException, ResourceNotFoundException
from keyplan.store.tables.table import Table

MEMBER = "Replication"
"""The member of a table's definition: see ``Replication``."""
VERSION = "2019.11.21"
VERSION_GONE = (
    "DynamoDB global tables version 2017.11.29 is not supported. We recommend using DynamoDB global tables version "
    "2019.11.21, instead of version 2017.11.29 (Legacy)."
)


class Replication(TypedDict):
    """What is stored of a global table, in each of its regions."""

    Regions: list[str]
    """All regions, the table's own included, in the order in which they came."""
    Own: str
    """The region of this one."""
    Overrides: NotRequired[dict[str, dict[str, Any]]]
    """By region: what was set apart for its replica."""
    Strong: NotRequired[bool]
    """Whether a write is in all regions when it is acknowledged."""
    Witness: NotRequired[str]
    Scaling: NotRequired[dict[str, dict[str, dict[str, Any]]]]
    """By region, and by the index's name (the table's is ``""``): the auto scaling settings of Read and Write."""


def replication_of(table: Table) -> Replication | None:
    """What the table's definition says of replicas; None when it has none."""
    replication: Replication | None = table.definition.get(MEMBER)
    return replication


def global_table_not_found(name: str) -> GlobalTableNotFoundException:
    """The error of a global table of the version of 2017."""
    return GlobalTableNotFoundException(f"Global table not found: Global table with name: '{name}' does not exist.")


def settings_not_found(name: str) -> GlobalTableNotFoundException:
    """The error of the settings of such a table."""
    return GlobalTableNotFoundException(f"Global table with name: '{name}' does not exist.")


def no_replicas(name: str) -> ResourceNotFoundException:
    """The error of a table that has no replicas, or isn't there."""
    return ResourceNotFoundException(f"Global table with name: '{name}' does not exist.")
