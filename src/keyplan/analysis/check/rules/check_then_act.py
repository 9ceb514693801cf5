"""A write checks what it read, and acts without asking whether it is still so.

A body that reads a balance, finds it high enough and then takes from it decides by what was true a moment ago: two of
them at once both find enough. So does one that reads a status and then sets it. Reported are updates and deletions,
without a condition, of a field that the body looked at before. A bound of the field's type
(``Field(ge=0)``) is a condition that each ``Add`` has anyway, and a Version field expects what was read. And reported
are writes that decide by how many items there are, or by their sum (a read that gives an ``int``; ``len`` or ``sum`` of
a list), and have no condition at all: no condition can count, so the number must stand in an item that the write
changes, too. An amount that the caller gives is taken from a field without a bound, or a state of three or more is set
from any other: these are reported where nothing was looked at or expected.

Let the store decide: ``.only_if("balance >= :amount", amount=amount)``, or expect what was read,
``.only_if(status=ticket.status)``, with ``attempts=``.

Source: "Condition expressions" in the developer guide.
"""

from __future__ import annotations

from collections.abc import Iterator

from keyplan.analysis.check.check_subject import Subject, values_of
from keyplan.analysis.check.findings import Remark, Severity
from keyplan.analysis.check.rule import Rule
from keyplan.analysis.write_analysis.code import Action
from keyplan.model.stored.stored_entity import CompiledEntity

__all__ = ["RULE"]


def _find(subject: Subject) -> Iterator[Remark]:
    yield from _decided_by_number(subject)
    yield from _unexpected(subject)
    for account in subject.writes:
        for action in account.actions:
            entity = action.entity
            if entity is None or action.conditional or entity.version is not None or action.batched:
                continue
            names = sorted(_decided_by(entity, action))
            if names:
                fields = " and ".join(names)
                yield Remark(
                    account.pattern.place,
                    f"it looks at {entity.name}.{fields}, and then changes that without asking whether it is still so",
                    f"add .only_if(...) with what {fields} must be, and attempts=10 where others write it too",
                    line=action.line,
                )


def _unexpected(subject: Subject) -> Iterator[Remark]:
    """Amounts that can fall below zero, and states that are set whatever they were: nothing is expected of the item."""
    for account in subject.writes:
        for action in account.actions:
            entity = action.entity
            if entity is None or action.kind != "Update" or action.conditional or entity.version is not None:
                continue
            for name in sorted(action.lowered):
                if name in entity.fields and not entity.fields[name].bounds and name not in action.checked:
                    yield Remark(
                        account.pattern.place,
                        f"it takes from {entity.name}.{name} whatever is there, so that it can fall below zero",
                        f"bound the field, {name}: Annotated[int, Field(ge=0)], or add "
                        f'.only_if("{name} >= :amount", amount=...)',
                        line=action.line,
                    )
            for name, value in action.constants:
                states = values_of(entity.fields[name].annotation) if name in entity.fields else None
                named = name.rpartition("_")[2] in {"stage", "state", "status"}
                if named and states and len(states) > 2 and value in states and name not in action.checked:
                    yield Remark(
                        account.pattern.place,
                        f"it sets {entity.name}.{name} to {value!r} from any other",
                        f"expect the states that it may follow: .only_if({name}=...)",
                        severity=Severity.INFO,
                        line=action.line,
                    )


def _decided_by_number(subject: Subject) -> Iterator[Remark]:
    """The writes that count items, and change something without asking anything."""
    for account in subject.writes:
        expecting = (action.conditional or (action.entity and action.entity.version) for action in account.actions)
        if not account.code.counted or not account.actions or any(expecting):
            continue
        names = " and ".join(sorted(account.code.counted))
        yield Remark(
            account.pattern.place,
            f"it decides by {names}, how many there are, and nothing asks whether there are as many when it writes",
            "keep the number in an item, and change it in the same transaction: "
            'Update(...).set(taken=Add(1)).only_if("taken < :most", most=most)',
            line=account.actions[0].line,
        )


def _decided_by(entity: CompiledEntity, action: Action) -> set[str]:
    """The fields that were looked at, and that the update changes without expecting anything of them."""
    if action.kind != "Update":
        return set()
    result = set(action.checked) & action.changes.keys()
    bounded = {name for name in result if action.changes[name] == "Add" and entity.fields[name].bounds}
    pinned: set[str] = set()
    if action.by_instance:  # a relative change of what a key is made of is expected anyway
        inputs = {name for key in entity.index_keys for name in entity.inputs_of(key)}
        pinned = {name for name in result & inputs if action.changes[name] != "set"}
    return result - bounded - pinned - action.from_read  # what is computed from it is a lost update: KP308


RULE = Rule("KP313", Severity.WARNING, _find, __name__, __doc__)
