"""Read of one item by a value that isn't unique.

An index can contain several items with the same key, such as the same slug, email address or user name. A pattern that
reads one item from the index returns an arbitrary item with the key. An index is also eventually consistent, so a check
before the write doesn't make the value unique. Generated ids (``ulid``, UUID), and the entity's own id in its primary
key, count as unique.

Declare ``Unique("SLUG#{slug}")``. Keyplan then writes a claim in the transaction that writes the item. The pattern gets
the claim and the item with two reads by primary key, which can be strongly consistent, and needs no index.

See "Managing complex workflows with DynamoDB transactions" and "Using Global Secondary Indexes" in the Developer Guide.
"""

from __future__ import annotations

from keyplan.analysis.check.check_subject import Query, fields_in
from keyplan.analysis.check.rule import Remark, Remarks, Rule, Severity, Subject
from keyplan.model.compiled.return_types import ShapeKind
from keyplan.model.stored.stored_entity import CompiledEntity


def _find(subject: Subject) -> Remarks:
    for query in subject.queries:
        if query.pattern.shape.kind is not ShapeKind.ONE or query.key.index is None or not query.match.full:
            continue
        entity = query.match.entity
        if _is_unique(subject, query):
            continue
        fields = fields_in(query.key.attributes)
        what = " and ".join(fields) or "key"
        message = f"the pattern reads one {entity.name} by {what}, which several items in {query.key.place} can share"
        claim = "_".join((entity.name, *fields)).upper() + "".join(f"#{{{name}}}" for name in fields)
        yield Remark(query.pattern.place, message, f'declare a claim: Unique("{claim}")')


def _is_unique(subject: Subject, query: Query) -> bool:
    """Whether a key identifies one item, by the fields of the primary key or of a claim, or by a generated id."""
    entity = query.match.entity
    names = set(fields_in(query.key.attributes))
    if names.issuperset(entity.key_fields) or any(
        names.issuperset(fields_in(each.attributes)) for each in entity.claims
    ):
        return True
    return any(subject.generated(entity, name) or _own_id(entity, name) for name in names)


def _own_id(entity: CompiledEntity, name: str) -> bool:
    """Whether a primary key field is named as the entity's id, such as ``Order.order_id``."""
    return name in entity.key_fields and name.replace("_", "") == f"{entity.name.lower()}id"


RULE = Rule("KP305", Severity.WARNING, _find, __name__, __doc__)
