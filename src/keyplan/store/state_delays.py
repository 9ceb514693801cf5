"""Optionally keeps a created, changed or deleted table or index in the state CREATING, UPDATING or DELETING for a
while, and rejects other changes in this state. The allowed changes and the messages are AWS's (October 2026).

The note of a change, with its end time, is in the table's definition, under ``Settling``. After the end time, the next
request for the table removes the note or, for a deletion, the table. Imports, restores, and backfills of indexes and
replicas have notes even without delays, which identify the process that does the work.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from keyplan.dynamodb import service_errors
from keyplan.store.background_work import has_ended, is_given_up, this_process
from keyplan.store.throughput import check_maximum

SETTLING = "Settling"
"""The member of a definition with its pending changes."""
COPYING = "Copying"
"""The member with the running backups: the last row of each, and its process."""
Definition = dict[str, Any]
State = Literal["CREATING", "UPDATING", "DELETING", "ACTIVE"]

_FILLS = "Fills"
"""The member of an index's or a restored table's note with the filling process."""
_JOINS = "Joins"
"""The member of a new replica's note with the filling process."""
_SOURCE = "Source"
EXPIRY = "Expiry"
"""The member of the note with the end time and the attribute of a TTL change."""
_THROUGHPUT = ("BillingMode", "ProvisionedThroughput")
_TABLE_CHANGES = {"throughput": _THROUGHPUT, "stream": ("StreamSpecification",), "class": ("TableClass",)}
"""Changes that make a whole table UPDATING, with the request members that cause them."""


@dataclass(frozen=True, slots=True)
class IndexState:
    """The state of a global secondary or a vector index."""

    status: State
    backfilling: bool | None = None


_ACTIVE = IndexState("ACTIVE")


@dataclass(frozen=True, slots=True)
class States:
    """The states of a table and its parts at one time."""

    table: State = "ACTIVE"
    change: str | None = None
    indexes: Mapping[str, IndexState] = field(default_factory=dict[str, IndexState])
    encryption: bool = False
    warming: bool = False
    restoring: bool = False
    detail: str = ""
    """The suffix of error messages after the table's name."""
    mode: str | None = None
    """The billing mode before a pending throughput change, which applies until it ends."""
    expiring: str = ""
    lacks_backups: bool = False
    """Whether the table is too new for backups and point-in-time recovery."""

    def index(self, name: str) -> IndexState:
        return self.indexes.get(name, IndexState("CREATING") if self.table == "CREATING" else _ACTIVE)

    @property
    def are_over(self) -> bool:
        return self == States()


def states_of(definition: Mapping[str, Any], now_s: float) -> States:
    noted: Mapping[str, Any] | None = definition.get(SETTLING)
    if noted is None:
        return States()
    whole: Mapping[str, Any] = noted.get("Table") or {}
    is_whole = bool(whole) and (whole["Status"] == "DELETING" or _goes_on(whole, now_s))
    indexes: dict[str, IndexState] = {}
    status: State = whole["Status"] if is_whole else "ACTIVE"
    change: str | None = whole.get("Change") if is_whole else None
    for name, value in (noted.get("Indexes") or {}).items():
        if not _index_goes_on(value, now_s):
            continue
        if value["Status"] != "CREATING":
            indexes[name] = IndexState(value["Status"])
        elif "Backfills" in value or _FILLS in value:
            indexes[name] = IndexState("CREATING", now_s >= value.get("Backfills", 0.0))
        else:
            indexes[name] = IndexState("CREATING")
        if status == "ACTIVE" and (value["Status"] == "DELETING" or now_s < value.get("Backfills", 0.0)):
            status, change = "UPDATING", "index"
    return States(
        status,
        change,
        indexes,
        now_s < noted.get("Encryption", 0.0),
        now_s < noted.get("Warm", 0.0),
        is_whole and "Restore" in whole,
        lacks_backups="Import" in whole if is_whole else now_s < noted.get("Backups", 0.0),
        detail=_detail(definition, change),
        mode=whole.get("Mode") if is_whole else None,
        expiring=_expiring(noted, now_s),
    )


def _expiring(noted: Mapping[str, Any], now_s: float) -> str:
    note: Mapping[str, Any] = noted.get(EXPIRY) or {"Until": 0.0}
    return str(note["Attribute"]) if now_s < note["Until"] else ""


def _detail(definition: Mapping[str, Any], change: str | None) -> str:
    if change == "stream":
        operation = "ENABLE" if (definition.get("StreamSpecification") or {}).get("StreamEnabled") else "DISABLE"
        return f" Stream: {definition['Stream']['Label']} Operation: {operation}"
    return f" TableClassUpdateInProgress: {definition['TableClass']}" if change == "class" else ""


def _goes_on(whole: Mapping[str, Any], now_s: float) -> bool:
    if _FILLS in whole or _JOINS in whole:
        return True
    return not has_ended(whole) if "Import" in whole else now_s < whole["Until"]


def _index_goes_on(note: Mapping[str, Any], now_s: float) -> bool:
    return _FILLS in note or now_s < note["Until"]


def _noted(definition: Mapping[str, Any], member: str) -> Mapping[str, Any]:
    return (definition.get(SETTLING) or {}).get(member) or {}


def _with_notes(definition: Mapping[str, Any], **members: Mapping[str, Any]) -> Definition:
    noted = {**(definition.get(SETTLING) or {}), **members}
    return {**definition, SETTLING: noted} if any(noted.values()) else without_note(definition)


def fillings_of(definition: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    return {name: value[_FILLS] for name, value in _noted(definition, "Indexes").items() if _FILLS in value}


def works_of(definition: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The processes of all chunked work: filling indexes and restored tables, and backups."""
    copying: Mapping[str, Mapping[str, Any]] = definition.get(COPYING) or {}
    whole = [each for each in (restorer_of(definition), joiner_of(definition)) if each is not None]
    return [*fillings_of(definition).values(), *(each["Worker"] for each in copying.values()), *whole]


def is_left_undone(definition: Mapping[str, Any]) -> bool:
    return any(map(is_given_up, works_of(definition)))


def begin_filling(definition: Definition, index: str, worker: Mapping[str, Any]) -> Definition:
    notes = _noted(definition, "Indexes")
    note = {"Status": "CREATING", **notes.get(index, {}), _FILLS: dict(worker)}
    return _with_notes(definition, Indexes={**notes, index: note})


def end_filling(definition: Mapping[str, Any], index: str) -> Definition:
    notes = dict(_noted(definition, "Indexes"))
    note = {name: value for name, value in notes.pop(index).items() if name != _FILLS}
    return _with_notes(definition, Indexes={**notes, index: note} if "Until" in note else notes)


def deleted_indexes(definition: Mapping[str, Any], now_s: float) -> list[Mapping[str, Any]]:
    notes = _noted(definition, "Indexes").values()
    return [each["Definition"] for each in notes if "Definition" in each and _index_goes_on(each, now_s)]


def begin_creation(definition: Definition, now_s: float, state_delay_s: float) -> Definition:
    """The definition of a table that becomes ACTIVE, with its indexes, after a delay."""
    if not state_delay_s:
        return definition
    until = now_s + state_delay_s
    indexes = {
        index["IndexName"]: {"Status": "CREATING", "Until": until}
        for member in ("GlobalSecondaryIndexes", "VectorIndexes")
        for index in definition.get(member) or ()
    }
    table = {"Status": "CREATING", "Until": until}
    # Backups are enabled some time after the table is ACTIVE, as in the service.
    return {**definition, SETTLING: {"Table": table, "Indexes": indexes, "Backups": until + state_delay_s}}


def begin_restore(definition: Definition, summary: Mapping[str, Any], now_s: float, state_delay_s: float) -> Definition:
    """The definition of a restored table; ``summary`` is its ``RestoreSummary`` until it is ACTIVE."""
    begun = begin_creation(definition, now_s, state_delay_s)
    if SETTLING in begun:
        begun[SETTLING]["Table"]["Restore"] = dict(summary)
    return begun


def restore_of(definition: Mapping[str, Any], now_s: float) -> Mapping[str, Any] | None:
    """The ``RestoreSummary`` of a table that is being restored; None after the restore."""
    if not states_of(definition, now_s).restoring:
        return None
    summary: Mapping[str, Any] = definition[SETTLING]["Table"]["Restore"]
    return summary


def restorer_of(definition: Mapping[str, Any]) -> Mapping[str, Any] | None:
    return _noted(definition, "Table").get(_FILLS)


def source_of(definition: Mapping[str, Any]) -> int | None:
    """The id of the table from whose history a table is being restored."""
    whole = _noted(definition, "Table")
    return whole.get(_SOURCE) if _FILLS in whole else None


def begin_restoring(
    definition: Definition, summary: Mapping[str, Any], source: int | None, worker: Mapping[str, Any]
) -> Definition:
    """The definition of a restored table that ``worker`` fills, from the history of the table ``source`` if set."""
    more = {"Restore": dict(summary), _SOURCE: source, _FILLS: dict(worker)}
    return _with_notes(definition, Table={"Status": "CREATING", **_noted(definition, "Table"), **more})


def with_restorer(definition: Mapping[str, Any], worker: Mapping[str, Any]) -> Definition:
    return _with_notes(definition, Table={**_noted(definition, "Table"), _FILLS: dict(worker)})


def end_restoring(definition: Mapping[str, Any]) -> Definition:
    noted = _noted(definition, "Table")
    whole = {name: value for name, value in noted.items() if name not in {_FILLS, _SOURCE}}
    return _with_notes(definition, Table=whole) if "Until" in whole else without_note(definition)


def joiner_of(definition: Mapping[str, Any]) -> Mapping[str, Any] | None:
    return _noted(definition, "Table").get(_JOINS)


def begin_joining(definition: Mapping[str, Any], worker: Mapping[str, Any]) -> Definition:
    return {**definition, SETTLING: {"Table": {"Status": "CREATING", _JOINS: dict(worker)}}}


def begin_import(definition: Definition, number: str) -> Definition:
    return {**definition, SETTLING: {"Table": {"Status": "CREATING", "Import": number, **this_process()}}}


def is_imported_by(definition: Mapping[str, Any], number: str) -> bool:
    return _noted(definition, "Table").get("Import") == number


def begin_deletion(definition: Mapping[str, Any], now_s: float, state_delay_s: float) -> Definition:
    return {**definition, SETTLING: {"Table": {"Status": "DELETING", "Until": now_s + state_delay_s}}}


def begin_update(
    before: Mapping[str, Any], after: Definition, request: Mapping[str, Any], now_s: float, state_delay_s: float
) -> Definition:
    """The definition after a valid UpdateTable, with notes of delayed changes."""
    kept = _still_going_on(before, now_s)
    for update in _index_updates(request):
        kept["Indexes"].pop((update.get("Delete") or {}).get("IndexName"), None)
    if state_delay_s:
        until = now_s + state_delay_s
        for change, members in _TABLE_CHANGES.items():
            given = [member for member in members if request.get(member) is not None]
            # Repeated settings change nothing; a repeated stream specification was already rejected.
            if given and (change == "stream" or any(before.get(member) != after.get(member) for member in given)):
                kept["Table"] = {"Status": "UPDATING", "Until": until, "Change": change, "Mode": before["BillingMode"]}
        if request.get("SSESpecification") is not None:
            kept["Encryption"] = until
        if request.get("WarmThroughput") is not None and before.get("WarmThroughput") != after.get("WarmThroughput"):
            kept["Warm"] = until
        kept["Indexes"] = {**kept.get("Indexes", {}), **_index_notes(before, request, now_s, state_delay_s)}
    changed = without_note(after)
    return {**changed, SETTLING: kept} if any(kept.values()) else changed


def _index_notes(
    before: Mapping[str, Any], request: Mapping[str, Any], now_s: float, state_delay_s: float
) -> dict[str, dict[str, Any]]:
    notes: dict[str, dict[str, Any]] = {}
    known = {index["IndexName"]: index for index in before.get("GlobalSecondaryIndexes") or ()}
    for update in _index_updates(request):
        if update.get("Create"):
            # First, the index gets resources, and the table can't be changed meanwhile. Then the index is backfilled.
            until = now_s + 2 * state_delay_s
            note = {"Status": "CREATING", "Backfills": now_s + state_delay_s, "Until": until}
            notes[update["Create"]["IndexName"]] = note
        elif update.get("Delete"):
            name = update["Delete"]["IndexName"]
            notes[name] = {"Status": "DELETING", "Until": now_s + state_delay_s}
            if name in known:
                notes[name]["Definition"] = known[name]
        elif update.get("Update"):
            notes[update["Update"]["IndexName"]] = {"Status": "UPDATING", "Until": now_s + state_delay_s}
    return notes


def _index_updates(request: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return [*(request.get("GlobalSecondaryIndexUpdates") or ()), *(request.get("VectorIndexUpdates") or ())]


def _still_going_on(definition: Mapping[str, Any], now_s: float) -> dict[str, Any]:
    noted: Mapping[str, Any] = definition.get(SETTLING) or {}
    kept = {name: until for name, until in noted.items() if name in {"Encryption", "Warm", "Backups"} and now_s < until}
    is_kept = {"Table": "Table" in noted and _goes_on(noted["Table"], now_s), EXPIRY: _expiring(noted, now_s)}
    kept |= {member: noted[member] for member, goes_on in is_kept.items() if goes_on}
    notes = _noted(definition, "Indexes").items()
    kept["Indexes"] = {name: value for name, value in notes if _index_goes_on(value, now_s)}
    return kept


def _in_use(reason: str) -> service_errors.ResourceInUseException:
    return service_errors.ResourceInUseException(f"Attempt to change a resource which is still in use: {reason}")


def already_there(name: str, definition: Mapping[str, Any], now_s: float) -> service_errors.ResourceInUseException:
    states = states_of(definition, now_s)
    if states.restoring:
        return service_errors.ResourceInUseException(f"Table is being used: {name}")
    if states.table == "CREATING":
        return _in_use(f"Table is being created: {name}")
    return service_errors.ResourceInUseException(f"Table already exists: {name}")


def check_changeable(name: str, states: States) -> None:
    """Reject changes of a table that is being restored (ResourceNotFoundException), created or deleted."""
    if states.restoring:
        raise service_errors.table_not_found(name)
    _check_there(name, states)


def check_expiring(name: str, states: States) -> None:
    """Reject changing the TTL of a table that is being restored, created or deleted."""
    if states.table == "CREATING" and not states.restoring:
        raise _in_use(f"Table {name} is being created")
    check_changeable(name, states)


def check_insights_change(states: States, index: str | None) -> None:
    state, subject = (states.table, "TableStatus") if index is None else (states.index(index).status, "IndexStatus")
    if state in {"CREATING", "DELETING"}:
        raise service_errors.ValidationException(
            "Table or Index is not in a valid state to update Key Access Insights: "
            f"{subject} must be ACTIVE to enable ContributorInsights."
        )


def _check_there(name: str, states: States) -> None:
    if states.table in {"CREATING", "DELETING"}:
        verb = "created" if states.table == "CREATING" else "deleted"
        raise _in_use(f"Table is being {verb}: {name}")


def check_backups(name: str, states: States) -> None:
    """Reject backups and point-in-time recovery of a new table."""
    if states.lacks_backups:
        raise service_errors.ContinuousBackupsUnavailableException(
            f"Backups are being enabled for the table: {name}. Please retry later"
        )
    if states.table == "CREATING":
        raise service_errors.TableNotFoundException(f"Table not found: {name}")


def check_deletable(name: str, states: States, *, is_copied: bool) -> None:
    _check_there(name, states)
    if states.indexes:
        raise _in_use("Cannot delete table while indexes are being created, updated, or deleted.")
    if is_copied:
        raise _in_use(f"Table is being backed up: {name}")
    if states.change == "stream":
        raise _in_use("Cannot delete table while stream is being enabled/disabled.")
    if states.change is not None or states.encryption or states.warming:
        raise _in_use(f"Table: {name} is in the process of being updated.")


def check_update(name: str, states: States, request: Mapping[str, Any]) -> None:
    """Reject an UpdateTable that conflicts with pending changes."""
    check_changeable(name, states)
    changed = [index for index, state in states.indexes.items() if state.status in {"CREATING", "DELETING"}]
    _check_concurrent_change(name, states, request)
    if any(request.get(member) is not None for member in _THROUGHPUT):
        _check_throughput_change(name, states, changed, request)
    if request.get("StreamSpecification") is not None and states.indexes:
        raise _in_use("Can't change stream status when an index is being created")
    if request.get("OnDemandThroughput") is not None and changed:
        verb = "creation" if states.index(changed[0]).status == "CREATING" else "deletion"
        raise _in_use(
            f"OnDemandThroughput cannot be updated while index {verb} is in progress for indexes: "
            f"[{', '.join(changed)}]"
        )
    for update in _index_updates(request):
        _check_index_change(name, states, update, changed)


_CONFLICTS = {
    ("StreamSpecification", "throughput"): "Can't enable or disable stream while table IOPS are being updated. Table: ",
    ("StreamSpecification", "stream"): "A stream status change is currently in progress. Table: ",
    ("StreamSpecification", "class"): "Can't change stream status when a table class update is in progress. Table: ",
    ("TableClass", "stream"): "Can't update table class when stream status is being updated. Table: ",
    ("TableClass", "class"): "Can't update table class when a table class update is in progress. Table: ",
    ("ProvisionedThroughput", "stream"): "Can't change table IOPS when stream status is being updated. Table: ",
}
"""Changes rejected during a change of throughput, stream or class, with the error text before the table's name."""


def _check_concurrent_change(name: str, states: States, request: Mapping[str, Any]) -> None:
    for (member, change), rule in _CONFLICTS.items():
        if states.change == change and request.get(member) is not None:
            raise _in_use(f"{rule}{name}{states.detail}")
    if request.get("SSESpecification") is not None and states.encryption:
        raise _in_use("Server-Side Encryption is still being updated")
    if request.get("OnDemandThroughput") is None:
        return
    if states.change == "throughput":
        if states.mode == "PROVISIONED":
            check_maximum(request["OnDemandThroughput"], "PROVISIONED", updates=True)
        raise _in_use("OnDemandThroughput cannot be updated while BillingMode update is in progress")
    if states.change in {"stream", "class"}:
        what = "stream status" if states.change == "stream" else "TableClass"
        rest = f".{states.detail}" if states.change == "class" else ""
        raise _in_use(f"OnDemandThroughput cannot be updated while {what} update is in progress{rest}")


def without_lost(states: States, request: Mapping[str, Any]) -> Mapping[str, Any]:
    """The request without the BillingMode, which the service ignores while on-demand mode is being disabled."""
    if states.change == "throughput" and _is_nothing(request) and states.mode == "PAY_PER_REQUEST":
        return {member: value for member, value in request.items() if member != "BillingMode"}
    return request


def _check_throughput_change(name: str, states: States, changed: list[str], request: Mapping[str, Any]) -> None:
    if states.change == "throughput" and not (_is_nothing(request) and states.mode == "PAY_PER_REQUEST"):
        raise _in_use(f"Table IOPS are currently being updated. Table: {name}")
    deleted = [index for index in changed if states.index(index).status == "DELETING"]
    if deleted and not _is_nothing(request):
        raise _in_use(
            f"Can't change table IOPS when an index is being deleted. Table: {name} Indexes: [{', '.join(deleted)}]"
        )


def _is_nothing(request: Mapping[str, Any]) -> bool:
    return request.get("BillingMode") == "PAY_PER_REQUEST" and request.get("ProvisionedThroughput") is None


def _check_index_change(name: str, states: States, update: Mapping[str, Any], changed: list[str]) -> None:
    settings = update.get("Update")
    if settings:
        state = states.index(settings["IndexName"])
        verbs = {"CREATING": "created", "UPDATING": "updated", "DELETING": "deleted"}
        if state.status in verbs:
            raise _in_use(f"Index is being {verbs[state.status]}. Table: {name} Index: {settings['IndexName']}")
        return
    beside = {
        "throughput": f"indexes while table IOPS are being updated. Table: {name}",
        "stream": "an index when stream status is being updated.",
        "class": "an index when a table class update is in progress.",
    }
    if states.change in beside:
        raise _in_use(f"Can't create or delete {beside[states.change]}")
    removed = (update.get("Delete") or {}).get("IndexName")
    if removed is not None and states.index(removed).status == "CREATING":
        if not states.index(removed).backfilling:
            raise _in_use(
                f"Index creation is in resource allocation phase. Retry deletion during backfilling phase or "
                f"when the index is active. Table: {name} Index: {removed}"
            )
        return
    if changed:
        raise service_errors.LimitExceededException(
            "Subscriber limit exceeded: Only 1 online index can be created or deleted simultaneously per table"
        )


def check_readable(states: States, index: str) -> None:
    state = states.index(index)
    if state.status == "CREATING":
        if state.backfilling:
            raise service_errors.ValidationException(f"Cannot read from backfilling global secondary index: {index}")
        raise service_errors.ValidationException(f"The table does not have the specified index: {index}")


def check_searchable(states: States, index: str) -> None:
    if states.index(index).status == "CREATING":
        raise service_errors.ValidationException(f"Cannot search backfilling vector index: {index}")


def is_usable(states: States) -> bool:
    return states.table not in {"CREATING", "DELETING"}


def is_gone(definition: Mapping[str, Any], now_s: float) -> bool:
    whole = _noted(definition, "Table")
    return whole.get("Status") == "DELETING" and now_s >= whole["Until"]


def is_over(definition: Mapping[str, Any], now_s: float) -> bool:
    if SETTLING not in definition:
        return False
    return is_gone(definition, now_s) or states_of(definition, now_s).are_over


def without_note(definition: Mapping[str, Any]) -> Definition:
    return {name: value for name, value in definition.items() if name != SETTLING}
