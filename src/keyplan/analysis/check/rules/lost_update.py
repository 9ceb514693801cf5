"""Lost update: a new value computed from an earlier read.

A write reads a value, such as a version number, a counter or a sum, computes a new value from it, and stores the new
value. If two concurrent calls read the same value, one of the changes is lost. The rule reports updates, and Puts with
a computed key, that have neither ``only_if`` nor a version field.

Do one of the following:

- Add ``.only_if(current_version=article.current_version)``, with ``attempts=``.
- Use ``Add(1)``, which needs no read.
- Yield ``Create`` for a new item.
- Add a ``Version`` field to the entity.

An update of an instance needs no condition for the fields of an index key, because Keyplan adds this condition.

See "Optimistic locking with version number" and "Condition expressions" in the Developer Guide.
"""

from __future__ import annotations

from keyplan.analysis.check.rule import Remark, Remarks, Rule, Severity, Subject
from keyplan.analysis.write_analysis.code import Action
from keyplan.model.stored.stored_entity import CompiledEntity


def _find(subject: Subject) -> Remarks:
    for written, action, entity in subject.actions:
        if action.conditional or entity.version is not None:
            continue
        names = sorted(_lost(entity, action))
        if not names:
            continue
        what, create = (" in its key", "yield Create instead of Put") if action.kind == "Put" else ("", "use Add")
        change = f"the {action.kind} of {entity.name} sets {' and '.join(names)}{what}"
        message = f"{change} to a value computed from an earlier read, without a condition"
        hint = f"add .only_if(...) with the value that was read, and set attempts=10 on the write, or {create}"
        yield Remark(written.pattern.place, message, hint)


def _lost(entity: CompiledEntity, action: Action) -> set[str]:
    if action.kind == "Put":
        return set(action.from_read) & set(entity.key_fields)
    if action.kind != "Update":
        return set()
    expected = {name for key in entity.index_keys for name in entity.inputs_of(key)} if action.by_instance else set()
    return set(action.from_read) - expected


RULE = Rule("KP308", Severity.WARNING, _find, __name__, __doc__)
