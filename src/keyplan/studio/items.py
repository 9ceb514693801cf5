"""Describes items: their entities, the pieces of their keys, and their attributes as short strings. Without a design,
items are grouped by the fixed prefixes of their keys.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import islice
from typing import Any, TypeAlias

from keyplan.errors import KeyplanError
from keyplan.model.compiled.compiled_design import CompiledDesign
from keyplan.model.declared.entity import Entity
from keyplan.model.declared.indexes import Index, KeyAttribute
from keyplan.model.declared.table import Table
from keyplan.model.stored.key_templates import Literal_, Template
from keyplan.model.stored.stored_entity import CompiledEntity
from keyplan.model.stored.stored_keys import CompiledKey

Item: TypeAlias = Mapping[str, Mapping[str, Any]]
SHOWN_MAX = 400
"""Maximum number of characters of an attribute that are shown by default."""
SOME = 8
"""Maximum number of elements of a list or a map that are shown."""
NO_ENTITY = "matches no entity"


@dataclass(frozen=True, slots=True)
class Kind:
    """The kind of an item. ``role`` is entity, claim, prefix (without a design) or none. Entities set ``entity``."""

    label: str
    role: str
    entity: CompiledEntity | None = None
    key: CompiledKey | None = None


@dataclass(frozen=True, slots=True)
class Piece:
    """A piece of a key's string: fixed text, or the value of a field."""

    text: str
    field: str | None = None

    def as_json(self) -> dict[str, Any]:
        return {"text": self.text, "field": self.field}


def kind_of(item: Item, design: CompiledDesign | None, table: Table) -> Kind:
    if design is None:
        return Kind(_prefix(item, table), "prefix")
    entity = design.entity_of(item)
    if entity is None and item.keys() <= set(table.key_names):
        # An item that has only its key has no discriminators, so it is ambiguous if its key matches several entities
        fitting = [each for each in design.entities.values() if each.labels and each.primary.matches(item)]
        entity = fitting[0] if len(fitting) == 1 else None
    if entity is not None:
        return Kind(entity.name, "entity", entity, entity.primary)
    for owner in design.entities.values():
        for claim in owner.claims:
            if claim.matches(item):
                return Kind(f"{owner.name} claim", "claim", key=claim)
    return Kind(NO_ENTITY, "none")


def instance_of(entity: CompiledEntity | None, item: Item) -> Entity | None:
    """The item as an instance of its entity; None if the item has no entity or is invalid."""
    if entity is None:
        return None
    try:
        return entity.from_item(item)
    except KeyplanError:
        return None


def fault_of(kind: Kind, item: Item) -> str | None:
    """The reason why an item is invalid; None for a valid item."""
    if kind.role == "none":
        return "the item's key matches no entity"
    try:
        if kind.entity is not None:
            kind.entity.from_item(item)
    except KeyplanError as error:
        return str(error)
    return None


def key_at(kind: Kind, index: Index | None, item: Item) -> CompiledKey | None:
    """The key definition for an item's key attributes in the table or in an index."""
    if index is None:
        return kind.key
    return None if kind.entity is None else kind.entity.key_on(index.name, item)


def _prefix(item: Item, table: Table) -> str:
    """The first words of the key attributes, such as ``USER`` or ``USER · ORDER``."""
    words: list[str] = []
    for attribute in (table.partition, table.sort):
        text = "" if attribute is None else str((item.get(attribute.name) or {}).get("S", ""))
        match = re.match(r"#?([^\W\d_][^#:|/]{0,24})(?=[#:|/]|$)", text)
        if match is not None and match[1] not in words:
            words.append(match[1])
    return " · ".join(words) or "item"


def key_of(item: Item, table: Table) -> dict[str, Any]:
    return {name: item[name] for name in table.key_names if name in item}


def identity(key: Item) -> str:
    """A short, stable id of a primary key that is valid as an HTML id."""
    text = json.dumps(key, sort_keys=True, ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def place_attributes(table: Table, index: Index | None) -> tuple[Sequence[KeyAttribute], Sequence[KeyAttribute]]:
    if index is not None:
        return index.partition, index.sort
    return (table.partition,), () if table.sort is None else (table.sort,)


# Keys


def pieces(text: str, template: Template, *, sharded: bool = False) -> list[Piece]:
    """The pieces of a key's string by ``template``, or the plain pieces of a string that doesn't match the template."""
    shard = ""
    if sharded:
        text, mark, number = text.rpartition("#")
        shard = mark + number
    match = template.regex.fullmatch(text)
    if match is None:
        return plain_pieces(text + shard)
    values = iter(match.groups())
    result = [
        Piece(part.text) if isinstance(part, Literal_) else Piece(next(values), part.field) for part in template.parts
    ]
    return [*result, *([Piece(shard)] if shard else [])]


def template_pieces(template: Template, *, sharded: bool = False) -> list[Piece]:
    result = [
        Piece(part.text) if isinstance(part, Literal_) else Piece(f"{{{part.field}}}", part.field)
        for part in template.parts
    ]
    return [*result, *([Piece("#{shard}")] if sharded else [])]


def plain_pieces(text: str) -> list[Piece]:
    """The pieces of a key's string without a template. The part before the first ``#`` counts as fixed text."""
    start, mark, rest = text.partition("#")
    return [Piece(start + mark), Piece(rest, "")] if mark and rest and start else [Piece(text)]


# Attributes


_NULL: tuple[str, Any] = ("NULL", True)


def attribute_text(value: Mapping[str, Any], shown_max: int = SHOWN_MAX) -> str:
    tag, content = next(iter(value.items()), _NULL)
    match tag:
        case "S" | "N":
            text = str(content)
        case "BOOL":
            text = "true" if content else "false"
        case "NULL":
            text = "null"
        case "B":
            text = _binary(str(content))
        case "SS" | "NS":
            text = "{" + ", ".join(map(str, content)) + "}"
        case "BS":
            text = f"{len(content)} binary values"
        case "L":
            text = "[" + _some((attribute_text(element, 40) for element in content), len(content)) + "]"
        case _:
            members = (f"{name}: {attribute_text(element, 40)}" for name, element in content.items())
            text = "{" + _some(members, len(content)) + "}"
    flat = " ".join(text.split())
    return flat if len(flat) <= shown_max else flat[: shown_max - 1] + "…"


def _binary(base64_text: str) -> str:
    size = len(base64_text) * 3 // 4 - base64_text.count("=")
    first = base64.b64decode(base64_text[:12]).hex()[: 2 * SOME]
    return f"0x{first}" if size <= SOME else f"0x{first}… {size} bytes"


def _some(texts: Iterable[str], count: int) -> str:
    shown = ", ".join(islice(texts, SOME))
    return shown + (f", and {count - SOME} more" if count > SOME else "")


MASK = "••••••"
"""The text that is shown instead of a secret value."""


def secret_names(design: CompiledDesign | None) -> frozenset[str]:
    """The names of all secret fields and of their attributes. Fields that a key contains aren't masked."""
    if design is None:
        return frozenset()
    return frozenset(name for entity in design.entities.values() for name in secrets_of(entity))


@cache
def secrets_of(entity: CompiledEntity) -> frozenset[str]:
    hidden = {name for name, info in entity.cls.model_fields.items() if not info.repr} - {
        name for key in entity.keys for _, template in key.attributes for name in template.fields
    }
    return frozenset(
        text for field in entity.fields.values() if field.name in hidden for text in (field.name, field.attribute)
    )


def masked(value: Any, names: frozenset[str]) -> Any:
    """JSON data with masked values of the fields and attributes in ``names``, also in changes and requests."""
    if not names:
        return value
    if isinstance(value, list):
        return [masked(element, names) for element in value]
    if not isinstance(value, Mapping):
        return value
    hidden = {name for name in value if name in names}
    if isinstance(value.get("name"), str) and value["name"] in names:  # the value is a changed attribute
        hidden |= {"before", "after"} & value.keys()
    result = {name: _hidden(each) if name in hidden else masked(each, names) for name, each in value.items()}
    attributes, values = value.get("ExpressionAttributeNames"), value.get("ExpressionAttributeValues")
    if isinstance(attributes, Mapping) and isinstance(values, Mapping) and any(n in attributes.values() for n in names):
        result["ExpressionAttributeValues"] = {name: _hidden(each) for name, each in values.items()}
    return result


def _hidden(value: Any) -> Any:
    """The mask, as an attribute value if ``value`` is one. Empty values stay visible."""
    if value is None or value == "":
        return value
    return {"S": MASK} if isinstance(value, Mapping) else MASK
