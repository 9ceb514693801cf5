"""Check without a condition in the write.

If a write reads a balance, finds it sufficient, and subtracts from it, two concurrent calls can find the same balance
sufficient. The same problem occurs with a status that is read and then set. The rule reports unconditional actions:

- an update of a field that the body tests
- actions of a write that tests a count or a sum of items (a condition can't test a count, so store it in an item)
- ``Add(-amount)`` on a field without a lower bound
- as info, an update that sets a status of three or more values

``Field(ge=0)`` adds a condition to every ``Add``, and a version field adds a condition to every update.

Add a condition, such as ``.only_if("balance >= :amount", amount=amount)``, or ``.only_if(status=ticket.status)`` with
``attempts=``.

See "Condition expressions" in the Developer Guide.
"""

from __future__ import annotations

from keyplan.analysis.check.check_subject import values_of
from keyplan.analysis.check.rule import Remark, Remarks, Rule, Severity, Subject
from keyplan.analysis.write_analysis.code import Action
from keyplan.model.declared.fields import kind_of
from keyplan.model.stored.stored_entity import CompiledEntity


def _find(subject: Subject) -> Remarks:
    yield from _decided_by_number(subject)
    yield from _unexpected(subject)
    for written, action, entity in subject.actions:
        if action.conditional or entity.version is not None or action.batched:
            continue
        names = sorted(_decided_by(entity, action))
        if names:
            fields = " and ".join(names)
            message = f"the write tests {entity.name}.{fields}, and then changes that value without a condition"
            hint = f"add .only_if({names[0]}=...) with the expected value, and attempts=10 if other calls change it"
            yield Remark(written.pattern.place, message, hint, line=action.line)


def _unexpected(subject: Subject) -> Remarks:
    """Report unconditional updates that can make an amount negative, or that set a state from any other state."""
    for written, action, entity in subject.actions:
        if action.kind != "Update" or action.conditional or entity.version is not None:
            continue
        for name in sorted(action.lowered):
            if name in entity.fields and not entity.fields[name].bounds and name not in action.checked:
                kind = getattr(kind_of(entity.fields[name].annotation), "__name__", "int")
                yield Remark(
                    written.pattern.place,
                    f"the write subtracts from {entity.name}.{name} without a condition: the value can fall below zero",
                    f"declare a lower bound, {name}: Annotated[{kind}, Field(ge=0)], or add "
                    f'.only_if("{name} >= :amount", amount=...)',
                    line=action.line,
                )
        for name, value in action.constants:
            states = values_of(entity.fields[name].annotation) if name in entity.fields else None
            named = name.rpartition("_")[2] in {"stage", "state", "status"}
            if named and states and len(states) > 2 and value in states and name not in action.checked:
                message = f"the write sets {entity.name}.{name} to {value!r} without a condition on its current value"
                hint = f"add a condition on the current value: .only_if({name}=...)"
                yield Remark(written.pattern.place, message, hint, severity=Severity.INFO, line=action.line)


def _decided_by_number(subject: Subject) -> Remarks:
    for written in subject.writes:
        expecting = (action.conditional or (action.entity and action.entity.version) for action in written.actions)
        if not written.code.counted or not written.actions or any(expecting):
            continue
        names = " and ".join(sorted(written.code.counted))
        yield Remark(
            written.pattern.place,
            f"the write tests the number of items from {names}, but has no condition on this number",
            "keep the number in an item, and update it in the same transaction: "
            'Update(...).set(taken=Add(1)).only_if("taken < :most", most=most)',
            line=written.actions[0].line,
        )


def _decided_by(entity: CompiledEntity, action: Action) -> set[str]:
    """Return the tested fields that an update changes without a condition."""
    if action.kind != "Update":
        return set()
    result = set(action.checked) & action.changes.keys()
    bounded = {name for name in result if action.changes[name] == "Add" and entity.fields[name].bounds}
    pinned: set[str] = set()
    if action.by_instance:  # the client adds a condition for relative changes of key fields
        inputs = {name for key in entity.index_keys for name in entity.inputs_of(key)}
        pinned = {name for name in result & inputs if action.changes[name] != "set"}
    return result - bounded - pinned - action.from_read  # KP308 reports values computed from a read


RULE = Rule("KP313", Severity.WARNING, _find, __name__, __doc__)
