"""Groups a table's items into entities: by facet, by a type attribute, or by the constant parts of keys."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from keyplan.formats.workbench.reading import Item, TableModel, free_name

DELIMITERS = ("#", "|", "::", ":", "/", "~")
_KINDS = (
    *("entitytype", "entity", "entityname", "et", "typename", "edbe", "recordtype", "objecttype", "doctype"),
    *("documenttype", "discriminator", "type", "kind", "model", "itemtype"),
)
"""Attributes that name an item's type, the most common first; compared in lower case without punctuation."""
_GENERIC = re.compile(
    r"(gsi|lsi|index|data)?_?-?\d*_?-?(pk|sk|(partition|sort|hash|range)_?key|hash|range|key)\d*", re.IGNORECASE
)
_WORD = re.compile(r"[A-Za-z$_][A-Za-z_$-]*")
_KINDS_MAX = 12
"""Maximum number of groups by key parts; with more, the parts are values."""


@dataclass
class Group:
    """The items of one entity, its type attribute and value (``kind``), and the facet's names for key attributes."""

    name: str
    items: list[Item]
    facet: str | None = None
    aliases: tuple[str, str] = ("", "")
    attributes: list[str] = field(default_factory=list[str])
    kind: tuple[str, str] | None = None
    todo: list[str] = field(default_factory=list[str])


def snake(text: str) -> str:
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", text)
    name = re.sub(r"[^a-z0-9]+", "_", words.lower()).strip("_")
    return f"n_{name}" if name[:1].isdigit() else name or "value"


def is_generic(name: str) -> bool:
    """Whether a key attribute has a generic name, such as ``PK`` or ``GSI1SK``."""
    return _GENERIC.fullmatch(name) is not None


def is_word(text: str) -> bool:
    return _WORD.fullmatch(text) is not None


def key_text(item: Item, name: str) -> str:
    return str(next(iter(item[name].values())))


def groups_of(table: TableModel, delimiter: str) -> list[Group]:
    """The table's items, grouped by entity. Each group has a unique name."""
    groups: list[Group] = []
    for facet in table.facets:
        parts = list(_split(facet.items, table, delimiter)) or [Group(facet.name, [])]
        largest = max(parts, key=lambda part: len(part.items))
        for part in parts:
            named = facet.name if part is largest else f"{facet.name} {part.name}"
            made = Group(named, part.items, facet.name, facet.aliases, kind=part.kind, todo=part.todo)
            made.attributes = facet.attributes if part is largest else []
            if len(parts) > 1:
                made.todo.append(f"the facet {facet.name} has {len(parts)} types of items; each became an entity")
            groups.append(made)
    groups += _split(table.items, table, delimiter)
    if not groups:
        groups = [Group(table.name, [])]
    if len(groups) == 1 and not table.facets:
        groups[0].attributes = list(table.attributes)
    taken: set[str] = set()
    for group in groups:
        lower = free_name(group.name.lower(), taken, " ")
        group.name += lower.removeprefix(group.name.lower())
        taken.add(lower)
    return groups


def _split(items: Sequence[Item], table: TableModel, delimiter: str) -> Iterator[Group]:
    if not items:
        return
    kind = _kind_attribute(items)
    if kind is not None:
        by_kind: dict[str, list[Item]] = {}
        for item in items:
            by_kind.setdefault(str(item.get(kind, {}).get("S", table.name)), []).append(item)
        for value, members in by_kind.items():
            labelled = all(kind in item for item in members)
            yield Group(value, members, kind=(kind, value) if labelled else None)
        return
    names = [attribute.name for attribute in table.key.all]
    if not any(map(is_generic, names)):
        yield Group(table.name, list(items))
        return
    texts = [tuple(key_text(item, name).split(delimiter) for name in names) for item in items]
    firsts = Counter(parts[0] for keys in texts for parts in keys if len(parts) > 1 and is_word(parts[0]))
    shapes: dict[tuple[tuple[str | None, ...], ...], list[Item]] = {}
    for item, keys in zip(items, texts, strict=True):
        shape = tuple(
            tuple(p if _is_kind(p, at, parts, firsts) else None for at, p in enumerate(parts)) for parts in keys
        )
        shapes.setdefault(shape, []).append(item)
    if len(shapes) > _KINDS_MAX:
        shorter: dict[tuple[tuple[str | None, ...], ...], list[Item]] = {}
        for shape, members in shapes.items():
            shorter.setdefault(tuple(side[:1] for side in shape), []).extend(members)
        shapes = shorter
    for shape, members in shapes.items():
        words = [word for side in reversed(shape) for word in side if word and word.upper() not in {"A", "METADATA"}]
        yield Group(words[0].strip("$_-") or table.name if words else table.name, members)


def _is_kind(part: str, at: int, parts: Sequence[str], firsts: Counter[str]) -> bool:
    """Whether a key part is a constant that distinguishes types of items."""
    if not is_word(part):
        return False
    if at == 0 and len(parts) > 1:
        return part.isupper() or firsts[part] > 0
    return part.isupper() and len(part) > 1


def _kind_attribute(items: Sequence[Item]) -> str | None:
    """The attribute that names an item's type: most items have it, with few values."""
    counts = Counter(name for item in items for name, value in item.items() if value.get("S"))
    names = {name: re.sub(r"[^a-z]+", "", name.lower()) for name in counts}
    fitting = [name for name in counts if names[name] in _KINDS and counts[name] >= 0.8 * len(items)]
    for name in sorted(fitting, key=lambda text: _KINDS.index(names[text])):
        values = Counter(str(item[name].get("S")) for item in items if name in item)
        plain = _KINDS.index(names[name]) < _KINDS.index("discriminator")
        if plain or (1 < len(values) <= max(len(items) / 2, 2) and all(is_word(value) for value in values)):
            return name
    return None
