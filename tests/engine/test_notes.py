"""What each note of a table says at each moment, what each state refuses, and what notes become: agreed texts."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from itertools import product
from typing import Any

import pytest

from keyplan.engine import settling
from keyplan.engine.processes import begin_work, end_work, this_process
from keyplan.engine.settling import SETTLING, IndexState, States
from keyplan.errors import DynamoDBError
from tests.agreed import assert_agreed

WORKER = {"Process": 1, "Started": "", "Work": "mark"}
PLAIN = {
    "TableClass": "STANDARD",
    "BillingMode": "PROVISIONED",
    "StreamSpecification": {"StreamEnabled": True},
    "Stream": {"Label": "of today"},
    "GlobalSecondaryIndexes": [{"IndexName": "ByG", "KeySchema": []}],
    "VectorIndexes": [{"IndexName": "ByV"}],
}
NOTES: dict[str, dict[str, Any]] = {
    "nothing": {},
    "creation": {
        "Table": {"Status": "CREATING", "Until": 10},
        "Indexes": {"ByG": {"Status": "CREATING", "Until": 10}},
        "Backups": 20,
    },
    "restore": {"Table": {"Status": "CREATING", "Until": 10, "Restore": {"SourceBackupArn": "arn"}}},
    "filled restore": {"Table": {"Status": "CREATING", "Restore": {}, "Source": 7, "Fills": WORKER}},
    "timed filled restore": {"Table": {"Status": "CREATING", "Restore": {}, "Source": 7, "Fills": WORKER, "Until": 10}},
    "joining": {"Table": {"Status": "CREATING", "Joins": WORKER}},
    "import": {"Table": {"Status": "CREATING", "Import": "7", "Process": 0, "Started": "none"}},
    "deletion": {"Table": {"Status": "DELETING", "Until": 10}},
    "throughput": {"Table": {"Status": "UPDATING", "Until": 10, "Change": "throughput", "Mode": "PAY_PER_REQUEST"}},
    "stream": {"Table": {"Status": "UPDATING", "Until": 10, "Change": "stream", "Mode": "PROVISIONED"}},
    "class": {"Table": {"Status": "UPDATING", "Until": 10, "Change": "class", "Mode": "PROVISIONED"}, "Warm": 20},
    "new index": {"Indexes": {"ByX": {"Status": "CREATING", "Backfills": 10, "Until": 20}}},
    "filled index": {"Indexes": {"ByX": {"Status": "CREATING", "Fills": WORKER}}},
    "timed filled index": {"Indexes": {"ByX": {"Status": "CREATING", "Backfills": 10, "Until": 20, "Fills": WORKER}}},
    "index that goes": {"Indexes": {"ByG": {"Status": "DELETING", "Until": 10, "Definition": {"IndexName": "ByG"}}}},
    "vector index that goes": {"Indexes": {"ByV": {"Status": "DELETING", "Until": 20}}},
    "index that changes": {"Indexes": {"ByG": {"Status": "UPDATING", "Until": 10}}, "Encryption": 20},
    "encryption": {"Encryption": 10, "Warm": 20},
    "backups": {"Backups": 10, "Indexes": {}},
    "expiry": {"Expiry": {"Attribute": "ends", "Until": 10}},
}  # fmt: skip
MOMENTS = (9.5, 10.0, 10.5, 19.5, 20.0, 20.5)


def noted(name: str) -> dict[str, Any]:
    return {**PLAIN, SETTLING: NOTES[name]} if NOTES[name] else dict(PLAIN)


def shown(value: Any) -> str:
    if isinstance(value, States):
        plain = States()
        parts = [
            f"{each}={getattr(value, each)!r}"
            for each in States.__slots__
            if getattr(value, each) != getattr(plain, each)
        ]
        return " ".join(parts) or "settled"
    if isinstance(value, dict) and SETTLING in value:
        return json.dumps(value[SETTLING])
    return "no note" if isinstance(value, dict) and "TableClass" in value else repr(value)


def said(call: Callable[..., object], *given: Any, **more: Any) -> str:
    try:
        return shown(call(*given, **more))
    except DynamoDBError as error:
        return f"{error.type}: {error.message}"


@pytest.mark.parametrize("name", NOTES)
def test_what_a_note_says(name: str) -> None:
    definition = noted(name)
    before = json.dumps(definition)
    lines = []
    for now_s in MOMENTS:
        states = settling.states_of(definition, now_s)
        lines += [
            f"--- at {now_s}",
            shown(states),
            f"ByG {states.index('ByG')}, ByX {states.index('ByX')}, are over: {states.are_over}",
            (
                f"usable {settling.is_usable(states)}, gone {settling.is_gone(definition, now_s)}, "
                f"over {settling.is_over(definition, now_s)}"
            ),
            f"restore {settling.restore_of(definition, now_s)}, deleted {settling.deleted_indexes(definition, now_s)}",
            f"{settling.already_there('orders', definition, now_s).message}",
        ]
    lines += [
        "--- at any time",
        f"fillings {settling.fillings_of(definition)}, works {settling.works_of(definition)}",
        (
            f"restorer {settling.restorer_of(definition)}, of {settling.source_of(definition)}, "
            f"joiner {settling.joiner_of(definition)}"
        ),
        f"imported by 7: {settling.is_imported_by(definition, '7')}, by 8: {settling.is_imported_by(definition, '8')}",
        f"filling ByX {shown(settling.begin_filling(definition, 'ByX', WORKER))}",
        f"restoring {shown(settling.begin_restoring(definition, {'a': 1}, 3, WORKER))}",
        f"restored {said(settling.begin_restore, dict(PLAIN), {'a': 1}, 1.0, 2.0)}",
        f"joining {shown(settling.begin_joining(definition, WORKER))}",
        f"deletion {shown(settling.begin_deletion(definition, 1.0, 2.0))}",
    ]
    if settling.fillings_of(definition):
        lines.append(f"filled {shown(settling.end_filling(definition, 'ByX'))}")
    if settling.restorer_of(definition):
        lines.append(f"restored {shown(settling.end_restoring(definition))}")
        lines.append(f"by another {shown(settling.with_restorer(definition, {'Process': 2}))}")
    assert json.dumps(definition) == before
    assert_agreed("\n".join(lines))


UPDATES: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "nothing": ({}, {}),
    "the class": ({"TableClass": "STANDARD_INFREQUENT_ACCESS"}, {"TableClass": "STANDARD_INFREQUENT_ACCESS"}),
    "the class again": ({"TableClass": "STANDARD"}, {}),
    "the stream": ({"StreamSpecification": {"StreamEnabled": False}}, {"StreamSpecification": None}),
    "the stream again": ({"StreamSpecification": {"StreamEnabled": True}}, {}),
    "payment": ({"BillingMode": "PAY_PER_REQUEST"}, {"BillingMode": "PAY_PER_REQUEST"}),
    "payment again": ({"BillingMode": "PROVISIONED"}, {}),
    "units": ({"ProvisionedThroughput": {"ReadCapacityUnits": 2}}, {"ProvisionedThroughput": {"ReadCapacityUnits": 2}}),
    "encryption": ({"SSESpecification": {"Enabled": True}}, {}),
    "warmth": ({"WarmThroughput": {"ReadUnitsPerSecond": 1}}, {"WarmThroughput": {"ReadUnitsPerSecond": 1}}),
    "warmth again": ({"WarmThroughput": None}, {}),
    "indexes": (
        {
            "GlobalSecondaryIndexUpdates": [
                {"Create": {"IndexName": "ByY"}}, {"Delete": {"IndexName": "ByG"}}, {"Update": {"IndexName": "ByZ"}}
            ],
            "VectorIndexUpdates": [{"Delete": {"IndexName": "ByV"}}, {"Create": {"IndexName": "ByW"}}],
        },
        {},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", NOTES)
def test_what_a_change_leaves_noted(name: str) -> None:
    lines = [
        f"nothing at {now_s}: {shown(settling.begin_update(noted(name), noted(name), {}, now_s, 4.0))}"
        for now_s in MOMENTS
    ]
    if name in {"nothing", "creation", "index that goes", "stream", "encryption"}:
        for (what, (request, after)), settle_s in product(UPDATES.items(), (0.0, 4.0)):
            result = settling.begin_update(noted(name), {**noted(name), **after}, request, 9.5, settle_s)
            lines.append(f"{what} in {settle_s} s: {shown(result)}")
    assert_agreed("\n".join(lines))


def every_state() -> Iterator[States]:
    for table, change in (
        *(("UPDATING", change) for change in ("throughput", "stream", "class", "index")),
        *((table, None) for table in ("ACTIVE", "CREATING", "DELETING")),
    ):
        yield States(table, change, detail=" detail" if change else "", mode="PROVISIONED")  # type: ignore[arg-type]
    yield States("UPDATING", "throughput", mode="PAY_PER_REQUEST")
    yield States("CREATING", restoring=True)
    yield States(encryption=True)
    yield States(warming=True)
    yield States(lacks_backups=True)
    yield States(expiring="ends")
    for status, backfilling in product(("CREATING", "UPDATING", "DELETING", "ACTIVE"), (None, False, True)):
        yield States(indexes={"ByG": IndexState(status, backfilling)})  # type: ignore[arg-type]
    yield States("CREATING", lacks_backups=True)
    yield States(indexes={"ByG": IndexState("DELETING"), "ByX": IndexState("CREATING")})


LIMITS = {"MaxReadRequestUnits": 5, "MaxWriteRequestUnits": 5}
REQUESTS: tuple[dict[str, Any], ...] = (
    {},
    {"BillingMode": "PAY_PER_REQUEST"},
    {"BillingMode": "PROVISIONED"},
    {"BillingMode": "PAY_PER_REQUEST", "ProvisionedThroughput": {"ReadCapacityUnits": 1}},
    {"ProvisionedThroughput": {"ReadCapacityUnits": 1}},
    {"StreamSpecification": {"StreamEnabled": True}},
    {"TableClass": "STANDARD"},
    {"SSESpecification": {"Enabled": True}},
    {"OnDemandThroughput": LIMITS},
    {"GlobalSecondaryIndexUpdates": [{"Create": {"IndexName": "ByY"}}]},
    {"GlobalSecondaryIndexUpdates": [{"Delete": {"IndexName": "ByG"}}]},
    {"GlobalSecondaryIndexUpdates": [{"Update": {"IndexName": "ByG"}}]},
    {"VectorIndexUpdates": [{"Delete": {"IndexName": "ByG"}}]},
)


def test_what_each_state_refuses() -> None:
    lines = []
    for states in every_state():
        lines.append(f"--- {shown(states)}")
        checks: dict[str, str] = {
            "change": said(settling.check_changeable, "orders", states),
            "expire": said(settling.check_expiring, "orders", states),
            "insights": said(settling.check_insights_change, states, None),
            "insights of ByG": said(settling.check_insights_change, states, "ByG"),
            "backups": said(settling.check_backups, "orders", states),
            "deletion": said(settling.check_deletable, "orders", states, is_copied=False),
            "deletion while copied": said(settling.check_deletable, "orders", states, is_copied=True),
            "read of ByG": said(settling.check_readable, states, "ByG"),
            "search of ByG": said(settling.check_searchable, states, "ByG"),
        }
        for request in REQUESTS:
            left = settling.without_lost(states, request)
            checks[json.dumps(request)] = said(settling.check_update, "orders", states, request) + (
                "" if left == request else f", left: {left}"
            )
        lines += [f"{what}: {told}" for what, told in checks.items() if told != "None"]
    assert_agreed("\n".join(lines))


def test_who_does_what_is_left_undone() -> None:
    mine = begin_work()
    gone = {**mine, "Work": "never begun"}
    assert not settling.is_left_undone(PLAIN)
    for worker, undone in ((mine, False), (gone, True)):
        assert settling.is_left_undone(settling.begin_filling(dict(PLAIN), "ByG", worker)) is undone
        assert settling.is_left_undone(settling.begin_joining(PLAIN, worker)) is undone
        assert settling.is_left_undone(settling.begin_restoring(dict(PLAIN), {}, None, worker)) is undone
        copied = {**PLAIN, settling.COPYING: {"a": {"Worker": worker}}}
        assert settling.is_left_undone(copied) is undone
        assert settling.is_left_undone(settling.begin_filling(copied, "ByG", mine)) is undone
    end_work(mine)
    assert settling.is_left_undone(settling.begin_joining(PLAIN, mine))
    imported = settling.begin_import(dict(PLAIN), "9")
    assert imported[SETTLING]["Table"] == {"Status": "CREATING", "Import": "9", **this_process()}
    assert settling.states_of(imported, 1e12) == States("CREATING", lacks_backups=True)
    assert settling.begin_creation(dict(PLAIN), 1.0, 0.0) == PLAIN
    assert settling.begin_restore(dict(PLAIN), {}, 1.0, 0.0) == PLAIN
