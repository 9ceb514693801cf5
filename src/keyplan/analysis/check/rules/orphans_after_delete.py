"""Child items that remain after a delete.

DynamoDB has no foreign keys. If a write deletes an order, its order lines remain, are charged as storage, and are
returned by reads of the order's partition. If the order's key is used again, the old lines appear in the new order.

The rule reports a delete if the deleted entity identifies the partition (``ORDER#{order_id}`` of ``Order``), and a read
returns another entity in this partition that has no TTL and that no write deletes. If Keyplan can't analyze the code of
a write, the rule reports nothing.

Delete the child items in the same transaction, or in batches before it, or give the child entity a ``Ttl`` field and
set it. Ignore the finding if a stream or a job deletes the child items, or if you keep them.

See "Working with item collections in DynamoDB" in the Developer Guide.
"""

from __future__ import annotations

from keyplan.analysis.check.check_subject import fields_in
from keyplan.analysis.check.rule import Remark, Remarks, Rule, Severity, Subject
from keyplan.model.stored.stored_entity import CompiledEntity


def _find(subject: Subject) -> Remarks:
    deletions = [(written, act) for written in subject.writes for act in written.actions if act.kind == "Delete"]
    if not all(written.known for written in subject.writes) or any(act.entity is None for _, act in deletions):
        return
    deleted = {act.entity for _, act in deletions}
    reported: set[tuple[str, str]] = set()
    for written, action in deletions:
        parent = action.entity
        if parent is None or not _names_partition(parent):
            continue
        for child in subject.design.entities.values():
            if child in deleted or child.ttl is not None or not _is_read_beside(subject, parent, child):
                continue
            place = (written.pattern.place, child.name)
            if place not in reported:
                reported.add(place)
                message = f"the write deletes {parent.name}, but its {child.name} items in the same partition remain"
                hint = f"delete its {child.name} items too, or give {child.name} a Ttl field and set it"
                yield Remark(written.pattern.place, message, hint, line=action.line)


def _names_partition(entity: CompiledEntity) -> bool:
    """Whether the key fields and the name of an entity identify the partition of its primary key."""
    partition = _partition(entity)
    names = fields_in(entity.primary.partition)
    words = {word for source in partition for word in source.replace("_", "").lower().split("#")}
    stems = {name.removesuffix("_id").replace("_", "") for name in names[-1:]}
    return bool(names) and list(entity.key_fields) == names and entity.name.lower() in words | stems


def _partition(entity: CompiledEntity) -> tuple[str, ...]:
    return tuple(template.source for _, template in entity.primary.partition)


def _is_read_beside(subject: Subject, parent: CompiledEntity, child: CompiledEntity) -> bool:
    """Whether the parent's partition contains items of the child entity, and a read returns them."""
    beside = _partition(child) == _partition(parent) and len(child.key_fields) > len(parent.key_fields)
    return beside and bool(subject.readers(child.primary))


RULE = Rule("KP321", Severity.WARNING, _find, __name__, __doc__)
