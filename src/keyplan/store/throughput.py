"""Validates and describes the throughput settings of tables and indexes, with AWS's messages.

A table and each of its global secondary indexes have *settings*: their part of the definition, with
``ProvisionedThroughput``, ``OnDemandThroughput``, ``WarmThroughput`` and, after changes, ``ThroughputChanges``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from keyplan.dynamodb.limits import ON_DEMAND_READ_UNITS, ON_DEMAND_WRITE_UNITS, TABLE_UNITS_MAX
from keyplan.dynamodb.service_errors import LimitExceededException, one_or_more

Settings = Mapping[str, Any]

CHANGES = "ThroughputChanges"
_DAY_S = 86_400
_READ, _WRITE = "ReadUnitsPerSecond", "WriteUnitsPerSecond"
_PROVISIONED = {_READ: "ReadCapacityUnits", _WRITE: "WriteCapacityUnits"}
_ON_DEMAND = {_READ: ON_DEMAND_READ_UNITS, _WRITE: ON_DEMAND_WRITE_UNITS}
_INITIAL = (
    "is lower than initial throughput for OnDemand. See: https://docs.aws.amazon.com/amazondynamodb/latest/"
    "developerguide/on-demand-capacity-mode.html#on-demand-capacity-mode-initial"
)
_UNLIMITED = -1
"""Removes a maximum of on-demand throughput."""


def warm_units(settings: Settings, mode: str) -> dict[str, int]:
    """The warm throughput: the configured value, but at least the initial and the highest provisioned throughput."""
    kept: Mapping[str, int] = settings.get("WarmThroughput") or {}
    provisioned: Mapping[str, int] = settings.get("ProvisionedThroughput") or {}
    if mode == "PAY_PER_REQUEST":
        return {name: max(kept.get(name, 0), units) for name, units in _ON_DEMAND.items()}
    return {name: max(kept.get(name, 0), provisioned.get(member, 0)) for name, member in _PROVISIONED.items()}


def check_warm(wanted: Mapping[str, int], mode: str, provisioned: Mapping[str, int] | None, place: str) -> None:
    """Reject warm throughput of a new table or index below its default. ``place`` is the last part of the message."""
    for name, member in _PROVISIONED.items():
        units = wanted.get(name)
        if units is None:
            continue
        if mode == "PAY_PER_REQUEST":
            if units < _ON_DEMAND[name]:
                raise one_or_more(f"Requested {name} for WarmThroughput for {place} {_INITIAL}")
        elif provisioned is not None and units < provisioned[member]:
            rule = f"is lower than {member} of ProvisionedThroughput"
            raise one_or_more(f"Requested {name} for WarmThroughput for {place} {rule}")


def raised_warm(settings: Settings, wanted: Mapping[str, int], mode: str, place: str) -> dict[str, int]:
    """The warm throughput after an update; missing members don't change. Raises ValidationException."""
    if not wanted:
        subject = "" if place == "table" else f" for {place.replace('index ', 'index: ')}"
        raise one_or_more(
            f"WarmThroughput must have at least one of ReadUnitsPerSecond or WriteUnitsPerSecond specified{subject}"
        )
    current = warm_units(settings, mode)
    for name, units in wanted.items():
        if units < current[name]:
            raise one_or_more(
                f"Requested {name} for WarmThroughput for {place} is lower than current WarmThroughput, "
                "decreasing WarmThroughput is not supported"
            )
    return {**current, **wanted}


def check_quotas(wanted: Settings, region: str, index: str | None = None) -> None:
    """Reject throughput of a table or the named index beyond the default quotas of an account."""
    of = "" if index is None else f" for index {index}"
    for name, units in (wanted.get("ProvisionedThroughput") or {}).items():
        if units > TABLE_UNITS_MAX:
            whose = "table" if index is None else "index"
            raise LimitExceededException(
                f"The requested {name}{of}, {units}, is above the per {whose} maximum for the account in {region}. "
                f"Per {whose} maximum: {TABLE_UNITS_MAX}. Refer to the Amazon DynamoDB Developer Guide for current "
                "limits and how to request higher limits."
            )
    places = {
        "OnDemandThroughput": "table" if index is None else f"index : {index}",
        "WarmThroughput": "table" if index is None else f"index {index}",
    }
    for member, place in places.items():
        for name, units in (wanted.get(member) or {}).items():
            if units > TABLE_UNITS_MAX:
                kind = "Read" if "Read" in name else "Write"
                raise LimitExceededException(
                    f"Subscriber limit exceeded: Requested {name} for {member} for {place} exceeds "
                    f"TableMax{kind}CapacityUnits of the account in region {region}"
                )


def check_maximum(wanted: Mapping[str, int], mode: str, index: str | None = None, *, updates: bool = False) -> None:
    """Reject an invalid maximum of on-demand throughput. An update can remove a maximum by setting it to −1."""
    for name, units in wanted.items():
        if mode != "PAY_PER_REQUEST":
            colon = " :" if updates else ":"
            place = "" if index is None else f" for index{colon} {index}"
            when = "the table BillingMode is PROVISIONED" if updates else "table BillingMode is PROVISIONED."
            raise one_or_more(f"{name} for OnDemandThroughput{place} cannot be specified when {when}")
        if units < 1 and not (updates and units == _UNLIMITED):
            place = "table" if index is None else f"index : {index}"
            raise one_or_more(f"Requested {name} for OnDemandThroughput for {place} is outside of valid range")


def merged_maximum(settings: Settings, wanted: Mapping[str, int]) -> dict[str, int]:
    """The maximum of on-demand throughput after an update: members are merged; the value −1 removes a member."""
    merged = {**(settings.get("OnDemandThroughput") or {}), **wanted}
    return {name: units for name, units in merged.items() if units != _UNLIMITED}


def changed_throughput(settings: Settings, wanted: Mapping[str, int], now_s: float) -> dict[str, Any]:
    """The settings with new provisioned throughput: the times of the last increase and decrease, the number of
    decreases today (UTC), and the warm throughput, which stays at its maximum.
    """
    before: Mapping[str, int] = settings.get("ProvisionedThroughput") or {}
    changes: dict[str, Any] = dict(settings.get(CHANGES) or {})
    members = list(_PROVISIONED.values())
    if before and any(wanted[member] > before[member] for member in members):
        changes["LastIncreaseDateTime"] = now_s
    if before and any(wanted[member] < before[member] for member in members):
        changes["Decreases"] = decreases_today(changes, now_s) + 1
        changes["LastDecreaseDateTime"] = now_s
    changed = {**settings, "ProvisionedThroughput": dict(wanted)}
    if changes:
        changed[CHANGES] = changes
    kept: Mapping[str, int] = settings.get("WarmThroughput") or {}
    changed["WarmThroughput"] = {
        name: max(kept.get(name, 0), before.get(member, 0), wanted[member]) for name, member in _PROVISIONED.items()
    }
    return changed


def decreases_today(changes: Mapping[str, Any], now_s: float) -> int:
    last_s = changes.get("LastDecreaseDateTime")
    if last_s is None or last_s // _DAY_S < now_s // _DAY_S:
        return 0
    count: int = changes.get("Decreases", 0)
    return count


def describe_throughput(settings: Settings, mode: str, now_s: float, *, warming: bool = False) -> dict[str, Any]:
    units = settings.get("ProvisionedThroughput") or {"ReadCapacityUnits": 0, "WriteCapacityUnits": 0}
    changes: Mapping[str, Any] = settings.get(CHANGES) or {}
    dates = {name: changes[name] for name in ("LastIncreaseDateTime", "LastDecreaseDateTime") if name in changes}
    described: dict[str, Any] = {
        "ProvisionedThroughput": {
            **dates,
            "NumberOfDecreasesToday": decreases_today(changes, now_s),
            "ReadCapacityUnits": units["ReadCapacityUnits"],
            "WriteCapacityUnits": units["WriteCapacityUnits"],
        },
        "WarmThroughput": {**warm_units(settings, mode), "Status": "UPDATING" if warming else "ACTIVE"},
    }
    if settings.get("OnDemandThroughput"):
        described["OnDemandThroughput"] = settings["OnDemandThroughput"]
    return described
