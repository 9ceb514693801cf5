"""Which replicas and witnesses may come and go together. A strongly consistent group is made of three regions in one
request, and stays as it is until one request takes all of it away. Rules and texts are recorded of the service (October
2026).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, NamedTuple

from keyplan.dynamodb.service_errors import ValidationException, one_or_more
from keyplan.store.tables.global_tables import Replication, replication_of
from keyplan.store.tables.table import Table

_STRONG = "MultiRegionConsistency set to STRONG"
_OTHERS = 2
"""So many regions are beside the table's own: replicas, or a replica and a witness."""


class Changes(NamedTuple):
    """The regions that are to get a replica, to change theirs and to lose it; and that of the witness that comes and of
    the one that goes, empty where there is none.
    """

    creates: Collection[str]
    updates: Collection[str]
    deletes: Collection[str]
    new_witness: str
    old_witness: str


def has_witness(update: Mapping[str, Any]) -> bool:
    """Whether an update of witnesses names a region: the service overlooks one that doesn't."""
    return any((action or {}).get("RegionName") for action in update.values())


def check_consistency(
    table: Table, wanted: str | None, changes: Changes, own_region: str, supported: Collection[str]
) -> None:
    """Refuse changes of replicas and witnesses that can't be made together; ``wanted`` is the consistency that is asked
    for with them.

    Raises:
        ValidationException: they can't be.
    """
    replication = replication_of(table)
    if wanted is not None and (changes.updates or changes.deletes or not changes.creates):
        raise ValidationException(
            "Only Replica Create actions are supported when MultiRegionConsistency parameter is provided."
        )
    if changes.new_witness and wanted != "STRONG":
        raise ValidationException(
            "MultiRegionConsistency must be set as STRONG when GlobalTableWitnessUpdates parameter is present."
        )
    if wanted == "STRONG":
        _check_strong(table, changes, own_region, supported)
    if wanted is not None and replication is not None:
        raise ValidationException("MultiRegionConsistency parameter is unsupported on existing global table")
    if replication is not None and replication.get("Strong"):
        _check_group(replication, changes)
    elif wanted != "STRONG" and len(changes.creates) + len(changes.deletes) > 1:
        raise ValidationException(
            "Update table operation with more than one create or delete replica actions not allowed"
        )


def _check_strong(table: Table, changes: Changes, own_region: str, supported: Collection[str]) -> None:
    """Refuse a strongly consistent group that isn't three regions at once."""
    witness = changes.new_witness
    if witness in changes.creates:
        raise ValidationException("Cannot target multiple regions with the same action")
    if witness == own_region:
        raise ValidationException(
            "Cannot add a witness in the same region as an existing replica when creating a global table with "
            f"{_STRONG}."
        )
    asked = [*changes.creates, witness] if witness else [*changes.creates]
    unknown = [region for region in asked if region not in supported]
    if unknown:
        raise ValidationException(
            f"Unsupported Region(s) specified for global tables with {_STRONG}: [{', '.join(unknown)}]."
        )
    if len(asked) != _OTHERS:
        raise ValidationException(f"Unsupported replica count for global tables with {_STRONG}.")
    if table.definition.get("TimeToLive") or table.has_local_indexes:
        raise one_or_more("Time to live and local secondary indexes are not supported with STRONG consistency")


def _check_group(replication: Replication, changes: Changes) -> None:
    """Refuse a change of a strongly consistent group that isn't its end."""
    if changes.creates:
        raise ValidationException("Cannot add replicas to a global table with strong MultiRegionConsistency")
    if not changes.deletes:
        return
    witness = replication.get("Witness", "")
    if changes.old_witness and changes.old_witness != witness:
        raise ValidationException(
            "Update global table operation failed because one or more witnesses were not part of the global table. "
            f"Please retry the request without these witnesses: [{changes.old_witness}]."
        )
    if witness and not changes.old_witness:
        raise ValidationException("Update table delete operation does not include all witnesses.")
    others = [region for region in replication["Regions"] if region != replication["Own"]]
    if any(region not in changes.deletes for region in others):
        raise one_of_a_group()


def one_of_a_group() -> ValidationException:
    """The error of a replica that can't go alone."""
    return ValidationException(f"Deletion of only one table replica is not supported for global tables with {_STRONG}.")
