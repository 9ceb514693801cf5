"""Items that lead nowhere: those that fit no entity, and those whose owner isn't in the table.

An item's owners are read off the keys: an ``ArticleVersion`` has the ``article_id`` that an ``Article``'s whole key is
made of, and stands in its collection, so it belongs to one; a junction belongs to both that it joins. Where several
entities have the same key fields, any of them will do. What has no owner by this is none's orphan.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from keyplan.client.conversations import Request
from keyplan.errors import KeyplanError
from keyplan.model.compiled.compiled_design import CompiledDesign
from keyplan.model.stored.stored_entity import CompiledEntity
from keyplan.studio.collections import joined_by, key_by
from keyplan.studio.items import Item, identity, key_of, kind_of
from keyplan.studio.subject import Subject

__all__ = ["orphans"]

KEYS_MAX = 100
"""Keys of one BatchGetItem. Source: BatchGetItem in the API reference."""


def orphans(subject: Subject, items: Sequence[Item]) -> dict[str, str]:
    """Of some items those that lead nowhere, by identity, each with the reason. Raises DynamoDBError, StoreError."""
    design = subject.compiled
    if design is None:
        return {}
    result: dict[str, str] = {}
    wanted: dict[str, list[list[tuple[str, str]]]] = {}
    keys: dict[str, dict[str, Any]] = {}
    for item in items:
        name = identity(key_of(item, subject.table))
        kind = kind_of(item, design, subject.table)
        if kind.role == "none":
            result[name] = "its key fits no entity"
        elif kind.role == "entity" and kind.entity is not None:
            for group in _owners(design, kind.entity, item):
                keys |= {identity(key): key for _, key in group}
                wanted.setdefault(name, []).append([(owner, identity(key)) for owner, key in group])
    there = {identity(key_of(element, subject.table)) for element in items}
    there |= _there(subject, [key for name, key in keys.items() if name not in there])
    for name, groups in wanted.items():
        lacking = [group for group in groups if not any(key in there for _, key in group)]
        if lacking:
            result[name] = "; ".join(f"its {' or '.join(owner for owner, _ in group)} isn't there" for group in lacking)
    return result


def _owners(design: CompiledDesign, entity: CompiledEntity, item: Item) -> Iterator[list[tuple[str, dict[str, Any]]]]:
    """The keys of those that an item belongs to: of each group any will do."""
    try:
        values = entity.field_values(entity.from_item(item))
    except KeyplanError:
        return
    partition = entity.primary.partition[0][0].name
    joined = joined_by(design).get(entity.name, [])
    for group in _identified(design, entity):
        keys = [(compiled_entity, key_by(compiled_entity, values)) for compiled_entity in group]
        own = [
            (compiled_entity.name, key)
            for compiled_entity, key in keys
            if key is not None and (compiled_entity in joined or key[partition] == item[partition])
        ]
        if own:
            yield own


def _identified(design: CompiledDesign, entity: CompiledEntity) -> list[list[CompiledEntity]]:
    """The entities that a part of an entity's key identifies, those of the same key fields together."""
    own = frozenset(entity.key_fields)
    groups: dict[frozenset[str], list[CompiledEntity]] = {}
    for compiled_entity in design.entities.values():
        fields = frozenset(compiled_entity.key_fields)
        if fields and fields < own and compiled_entity is not entity:
            groups.setdefault(fields, []).append(compiled_entity)
    # An owner's owner is the owner's own affair
    return [group for fields, group in groups.items() if not any(fields < other for other in groups)]


def _there(subject: Subject, keys: Sequence[Mapping[str, Any]]) -> set[str]:
    """Which of these keys the table has items of."""
    result: set[str] = set()
    left = [dict(key) for key in keys]
    while left:
        part, left = left[:KEYS_MAX], left[KEYS_MAX:]
        names = {f"#k{at}": name for at, name in enumerate(subject.table.key_names)}
        asked = {"Keys": part, "ProjectionExpression": ", ".join(names), "ExpressionAttributeNames": names}
        (answer,) = subject.transport.call_all([Request("BatchGetItem", {"RequestItems": {subject.table_name: asked}})])
        result |= {identity(key_of(value, subject.table)) for value in answer["Responses"].get(subject.table_name, ())}
        left += (answer.get("UnprocessedKeys") or {}).get(subject.table_name, {}).get("Keys", ())
    return result
