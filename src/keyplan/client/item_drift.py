"""Finds wrong keys, missing index entries, missing claims, and unreadable items in a table, without changing any."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from keyplan.client.batches import batch_get
from keyplan.client.conversations import Conversation, Request
from keyplan.client.table_setup import Difference
from keyplan.errors import KeyplanError
from keyplan.model.stored.stored_entity import CompiledEntity

Item = dict[str, dict[str, Any]]
HINT = "rewrite these items; keyplan diff prints a recipe for each change of the design"


def item_drift(table: str, entities: Iterable[CompiledEntity], items_max: int) -> Conversation[list[Difference]]:
    """Differences of the first ``items_max`` items from the design, by entity and key. DynamoDB bills the scan."""
    known = list(entities)
    read, wrong = Counter[str](), Counter[tuple[str, str]]()
    claims: list[tuple[str, Item, Item]] = []
    request: dict[str, Any] = {"TableName": table, "Limit": items_max}
    while True:
        response = yield Request("Scan", request)
        for item in response["Items"]:
            owner = next((entity for entity in known if entity.matches(item)), None)
            if owner is None:
                continue
            read[owner.name] += 1
            try:
                values = owner.field_values(owner.from_item(item))
                wrong.update(_wrong_entries(owner, item, values))
                claims += _claims(owner, values)
            except KeyplanError:
                wrong[owner.name, "can't be read"] += 1
        left = request["Limit"] - response["ScannedCount"]
        last = response.get("LastEvaluatedKey")
        if last is None or left <= 0:
            break
        request = {**request, "Limit": left, "ExclusiveStartKey": last}
    held = yield from batch_get(table, [key for _, key, _ in claims], consistent=False)
    for (place, _, owner_key), claim in zip(claims, held, strict=True):
        if (claim or {}).get("claim_of") != {"M": owner_key}:
            wrong[place, "have no claim, or another item owns the claim"] += 1
    return [
        Difference(
            place,
            "all items readable, with correct keys",
            f"{count:,} of {read[place.partition('.')[0]]:,} {what}",
            HINT,
        )
        for (place, what), count in sorted(wrong.items())
    ]


def _wrong_entries(entity: CompiledEntity, item: Item, values: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    own = {field.attribute for field in entity.fields.values()} | {part.name for part, _ in entity.primary.attributes}
    for key in entity.keys:
        wanted = entity.item_key(key, values) if key.member(values) else {}
        names = [attribute.name for attribute, _ in key.attributes]
        held = {name: item[name] for name in names if name in item}
        is_entry = len(held) == len(names)
        if wanted and not is_entry:
            yield f"{entity.name}.{key.name}", f"are missing from {key.place}"
        elif wanted and held != wanted:
            yield f"{entity.name}.{key.name}", f"are in {key.place} with another key"
        elif not wanted and is_entry and not own.issuperset(held) and key not in entity.siblings:
            yield f"{entity.name}.{key.name}", f"are in {key.place} and shouldn't be"


def _claims(entity: CompiledEntity, values: Mapping[str, Any]) -> list[tuple[str, Item, Item]]:
    """The claims that an item should have. Each claim has a name for the report, a key, and the item's key."""
    owner = entity.item_key(entity.primary, values)
    held = [claim for claim in entity.claims if claim.member(values)]
    return [(f"{entity.name}.{claim.name}", entity.item_key(claim, values), owner) for claim in held]
