"""Contributor Insights: the switch and the mode of each table and global index. Nothing is gathered: who reads and
writes what, ``keyplan`` tells by other means.

The texts and defaults are those of the service's answers.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from keyplan.dynamodb.service_errors import ResourceNotFoundException
from keyplan.store.requests.request_expressions import Answer
from keyplan.store.tables.table import Table

MEMBER = "ContributorInsights"
"""The member of a table's definition: for each index's name, and the table's as ``""``, what is switched on."""
DEFAULT_MODE = "ACCESSED_AND_THROTTLED_KEYS"


def check_insights_index(table: Table, name: str | None) -> None:
    """Refuse an index that can't have insights: one that isn't there, or a local one.

    Raises:
        ResourceNotFoundException: it can't.
    """
    if name is None:
        return
    index = table.index_by_name.get(name)
    if index is None or index.is_local:
        raise ResourceNotFoundException(
            f"Requested resource not found: Index: {name} not found for table: {table.name}"
        )


def insights_of(table: Table, index: str | None) -> Mapping[str, Any]:
    """What is stored of the insights of a table or an index; empty when they were never switched on."""
    kept: Mapping[str, Any] = table.definition.get(MEMBER, {}).get(index or "", {})
    return kept


def named(table: Table, index: str | None) -> Answer:
    """The members that say whose insights they are."""
    return {"TableName": table.name} if index is None else {"TableName": table.name, "IndexName": index}


def rules(table: Table, index: str | None) -> list[str]:
    """The names of the rules of insights that are switched on: by partition key, and by sort key where there is one."""
    kept = insights_of(table, index)
    keys = table.index_by_name[index].keys if index is not None else table.keys
    kinds = ("T",) if kept["Mode"] != DEFAULT_MODE else ("C", "T")
    subject = table.name if index is None else f"{table.name}-{index}"
    stamp = int(kept["At"] * 1000)
    return [
        f"DynamoDBContributorInsights-{key}{kind}-{subject}-{stamp}"
        for key in (("PK",) if len(keys) == 1 else ("PK", "SK"))
        for kind in kinds
    ]
