"""The map's content: item collections of the table and its indexes, and ties between items. A tie connects an item with
its index entry, or a junction's item with an item that the junction refers to.
"""

from __future__ import annotations

from collections.abc import Collection as Some
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from keyplan.dynamodb.values.ordering import key_text
from keyplan.errors import KeyplanError
from keyplan.formatting.results import plain
from keyplan.model.compiled.compiled_design import CompiledDesign
from keyplan.model.compiled.plans import ClaimPlan, GetPlan, QueryPlan, ThroughPlan
from keyplan.model.declared.indexes import Index, KeyAttribute
from keyplan.model.declared.table import Table
from keyplan.model.stored.stored_entity import CompiledEntity
from keyplan.model.stored.stored_keys import CompiledKey
from keyplan.studio.items import (
    Item,
    Kind,
    Piece,
    attribute_text,
    identity,
    instance_of,
    key_at,
    key_of,
    kind_of,
    pieces,
    place_attributes,
    plain_pieces,
    secrets_of,
    template_pieces,
)
from keyplan.studio.sampling import CollectionPart, Count

ENTRIES = 7
"""Maximum number of entries of an index's item collection that are shown at first."""
COLLECTIONS = 9
"""Maximum number of item collections of an index that are shown at first."""
ATTRIBUTES = 5


@dataclass(frozen=True)
class Entry:
    """An item in an item collection. ``item``: the item's identity; ``gap``: items before this entry are omitted."""

    id: str
    item: str
    kind: str
    sort: Sequence[Piece]
    facts: Sequence[tuple[str, str]]
    template: str
    gap: bool = False
    badge: int | None = None
    """The item's position in the result of the selected access pattern."""
    mark: str = ""
    """How a write affects the item: put, update, delete or check."""


@dataclass
class Collection:
    """An item collection: items with one partition key, in the table or in an index."""

    id: str
    partition: Sequence[Piece]
    partition_value: Sequence[Mapping[str, Any]]
    template: str
    entries: list[Entry]
    count: Count | None
    condition: str = ""
    """The key condition of the selected access pattern, if it reads this collection."""


@dataclass(frozen=True)
class Place:
    """The table or an index. ``index``: the name of the index; empty for the table."""

    index: str
    title: str
    keys: str
    note: str
    collections: list[Collection]


@dataclass(frozen=True, slots=True)
class Tie:
    """A line between two entries. ``kind`` is ``index`` or ``junction``; ``label`` names the index or target entity."""

    kind: str
    source: str
    target: str
    entity: str
    label: str


@dataclass
class Picture:
    """The content of the map. ``kinds`` are the kinds of items, in the order of their colors."""

    name: str
    places: list[Place]
    ties: list[Tie] = field(default_factory=list[Tie])
    kinds: list[Kind] = field(default_factory=list[Kind])
    items: dict[str, Item] = field(default_factory=dict[str, Item])
    symbolic: bool = False
    """Whether the map shows key templates instead of items."""


def picture(
    name: str,
    table: Table,
    design: CompiledDesign | None,
    stretches: Sequence[CollectionPart],
    *,
    focus: Some[str] = (),
) -> Picture:
    """The map of item collections. Items whose identity is in ``focus`` are shown in each index that contains them."""
    drawer = _Picturing(name, table, design, frozenset(focus))
    own = [drawer.collection(stretch) for stretch in stretches if stretch.items]
    # The design's entities in order of declaration, then claims and items that match no entity
    entities = (
        {} if design is None else {each.name: Kind(each.name, "entity", each) for each in design.entities.values()}
    )
    drawer.made.kinds = list((entities | drawer.kinds).values())
    indexes = [_place(table, index, drawer.index_collections(index)) for index in table.indexes]
    drawer.made.places = [_place(table, None, own), *indexes]
    drawer.made.ties = [*drawer.index_ties(), *drawer.junction_ties()]
    if design is not None:
        present = {kind.entity.name for kind in drawer.kinds.values() if kind.entity is not None}
        missing = [entity for entity in design.entities.values() if entity.name not in present]
        _add_templates(drawer.made, table, missing)
    return drawer.made


def collection_id(value: Mapping[str, Any]) -> str:
    return f"t-{identity({'': value})}"


def template_picture(name: str, design: CompiledDesign) -> Picture:
    made = picture(name, design.table, design, ())
    made.symbolic = True
    return made


class _Picturing:
    def __init__(self, name: str, table: Table, design: CompiledDesign | None, focus: frozenset[str]) -> None:
        self.focus = focus
        self.table = table
        self.design = design
        self.made = Picture(name, [])
        self.kinds: dict[str, Kind] = {}
        self.of: dict[str, Kind] = {}
        self.entry_of: dict[tuple[str, str], str] = {}

    def collection(self, stretch: CollectionPart) -> Collection:
        """An item collection of the table. The items are kept, to build the collections of the indexes."""
        rows = [*((item, False) for item in stretch.items), *((element, True) for element in stretch.apart)]
        entries = [self._entry(item, None, gap=gap) for item, gap in rows]
        first = stretch.items[0]
        value = [first[self.table.partition.name]]
        kind = self.of[entries[0].item]
        title, template = _side(value, kind.key.partition if kind.key else (), sharded=sharded(kind.key))
        return Collection(collection_id(value[0]), title, value, template, entries, stretch.count)

    def _entry(self, item: Item, index: Index | None, *, gap: bool = False) -> Entry:
        own = key_of(item, self.table)
        name = identity(own)
        kind = self.of.get(name)
        if kind is None:
            kind = kind_of(item, self.design, self.table)
            self.of[name] = kind
            self.kinds.setdefault(kind.label, kind)
            self.made.items[name] = item
        key = key_at(kind, index, item)
        _, sort = place_attributes(self.table, index)
        values = [item[attribute.name] for attribute in sort if attribute.name in item]
        text, template = _side(values, key.sort if key is not None else ())
        place = "t" if index is None else f"x{self.table.indexes.index(index)}"
        result = f"{place}-{name}"
        self.entry_of[place, name] = result
        primary = ("", " / ".join(map(attribute_text, own.values())))
        facts = _facts(item, self.table, kind) if index is None else [primary]
        return Entry(result, name, kind.label, text or [Piece("—")], facts, template, gap)

    # Indexes

    def index_collections(self, index: Index) -> list[Collection]:
        partition, sort = place_attributes(self.table, index)
        wanted = [attribute.name for attribute in (*partition, *sort)]
        groups: dict[str, list[Item]] = {}
        focused: set[str] = set()
        for name, item in self.made.items.items():
            if all(text in item for text in wanted):
                value = str([item[attribute.name] for attribute in partition])
                groups.setdefault(value, []).append(item)
                focused |= {value} if name in self.focus else set()
        shown = focused.union(sorted(groups, key=lambda text: -len(groups[text]))[:COLLECTIONS])
        return [self._index_collection(index, items) for value, items in groups.items() if value in shown]

    def _index_collection(self, index: Index, items: Sequence[Item]) -> Collection:
        partition, sort = place_attributes(self.table, index)
        value = [items[0][attribute.name] for attribute in partition]
        ordered = sorted(items, key=lambda item: [_order(item, attribute) for attribute in sort])
        named = [identity(key_of(item, self.table)) for item in ordered]
        shown = [item for at, item in enumerate(ordered) if at < ENTRIES or named[at] in self.focus]
        entries = [self._entry(item, index) for item in shown]
        key = key_at(self.of[entries[0].item], index, ordered[0])
        title, template = _side(value, key.partition if key is not None else (), sharded=sharded(key))
        number = self.table.indexes.index(index)
        return Collection(f"x{number}-{identity({'': {'L': value}})}", title, value, template, entries, None)

    def index_ties(self) -> Iterator[Tie]:
        for (place, item), entry in self.entry_of.items():
            if place != "t" and ("t", item) in self.entry_of:
                index = self.table.indexes[int(place[1:])].name
                yield Tie("index", self.entry_of["t", item], entry, self.of[item].label, index)

    # Junctions

    def junction_ties(self) -> Iterator[Tie]:
        if self.design is None:
            return
        ends = joined_by(self.design)
        for name, kind in self.of.items():
            instance = instance_of(kind.entity, self.made.items[name]) if kind.label in ends else None
            if kind.entity is not None and instance is not None:
                values = kind.entity.field_values(instance)
                for end in ends[kind.label]:
                    key = key_by(end, values)
                    if key is not None and ("t", identity(key)) in self.entry_of:
                        yield Tie("junction", f"t-{name}", f"t-{identity(key)}", kind.label, end.name)


def joined_by(design: CompiledDesign) -> dict[str, list[CompiledEntity]]:
    """The entities that each junction connects, according to read patterns and the fields of the junction's key."""
    result: dict[str, dict[str, CompiledEntity]] = {}
    for read in design.reads.values():
        if isinstance(read.plan, ThroughPlan):
            for way in read.plan.ways:
                end = _entity_of(way.end)
                result.setdefault(_entity_of(way.junction).name, {})[end.name] = end
    every = list(design.entities.values())
    for junction in every:
        fields = set(junction.key_fields)
        ends = [entity for entity in every if set(entity.key_fields) < fields and entity is not junction]
        sides = {frozenset(entity.key_fields) for entity in ends}
        if junction.name in result or len([side for side in sides if not any(side < other for other in sides)]) > 1:
            for end in ends:
                result.setdefault(junction.name, {}).setdefault(end.name, end)
    return {name: list(ends.values()) for name, ends in result.items()}


def key_by(entity: CompiledEntity, values: Mapping[str, Any]) -> dict[str, Any] | None:
    """The primary key of an entity from another item's fields; None if a field is missing or has the wrong type."""
    try:
        return entity.item_key(entity.primary, values)
    except (KeyplanError, KeyError, TypeError, ValueError, AttributeError):
        return None


def _entity_of(plan: GetPlan | QueryPlan | ClaimPlan) -> CompiledEntity:
    return plan.matches[0].entity if isinstance(plan, QueryPlan) else plan.entity


# Templates


def _add_templates(made: Picture, table: Table, entities: Iterable[CompiledEntity]) -> None:
    entries: dict[tuple[str, str, str], str] = {}
    wanted = list(entities)
    for place, index in zip(made.places, (None, *table.indexes), strict=True):
        groups: dict[str, Collection] = {}
        on_place = [(e, key) for e in wanted for key in ((e.primary,) if index is None else e.keys_on(index.name))]
        for entity, key in on_place:
            title = [piece for _, part in key.partition for piece in template_pieces(part, sharded=sharded(key))]
            shape = "".join("{}" if piece.field else piece.text for piece in title)
            number = "t" if index is None else f"x{table.indexes.index(index)}"
            result = groups.setdefault(
                shape,
                Collection(f"{number}-{identity({'': {'S': shape}})}", title, (), _texts(key.partition), [], None),
            )
            result.entries.append(_template_entry(number, entity, key, index))
            entries[number, entity.name, key.name] = result.entries[-1].id
        # Collections with the most entities come first
        place.collections.extend(sorted(groups.values(), key=lambda collection: -len(collection.entries)))
    rows = {name: entry for (number, name, _), entry in entries.items() if number == "t"}
    for (number, name, _), entry in entries.items():
        if number != "t":
            made.ties.append(Tie("index", rows[name], entry, name, table.indexes[int(number[1:])].name))


def _template_entry(place: str, entity: CompiledEntity, key: CompiledKey, index: Index | None) -> Entry:
    name = f"template-{entity.name}" + (f"-{key.name}" if key in entity.siblings else "")
    sort = [piece for _, template in key.sort for piece in template_pieces(template)] or [Piece("—")]
    fields = [f.attribute for f in entity.fields.values() if f.name not in entity.key_fields and not f.computed]
    keys = [("", _texts(entity.primary.attributes))]
    facts = [(text, "") for text in fields[:ATTRIBUTES]] if index is None else keys
    return Entry(f"{place}-{name}", name, entity.name, sort, facts, _texts(key.sort))


# Parts


def _place(table: Table, index: Index | None, collections: list[Collection]) -> Place:
    partition, sort = place_attributes(table, index)
    keys = " / ".join(" + ".join(each.name for each in side) for side in (partition, sort) if side)
    if index is None:
        return Place("", table.name, keys, "the table", collections)
    projection = index.projection if isinstance(index.projection, str) else "INCLUDE"
    kind = "local index" if index.local else "index"
    return Place(index.name, index.name, keys, f"{kind} · {projection}", collections)


def _side(
    values: Sequence[Mapping[str, Any]], templates: Sequence[tuple[KeyAttribute, Any]], *, sharded: bool = False
) -> tuple[list[Piece], str]:
    result: list[Piece] = []
    for position, value in enumerate(values):
        text = attribute_text(value)
        if position:
            result.append(Piece(" · "))
        fits = position < len(templates) and "B" not in value
        result += pieces(text, templates[position][1], sharded=sharded and not position) if fits else plain_pieces(text)
    return result, _texts(templates)


def _texts(templates: Sequence[tuple[KeyAttribute, Any]]) -> str:
    return " · ".join(str(template) for _, template in templates)


def sharded(key: CompiledKey | None) -> bool:
    return key is not None and key.shards > 1


def _order(item: Item, attribute: KeyAttribute) -> bytes:
    text = key_text(dict(item[attribute.name]))
    return text if isinstance(text, bytes) else text.encode()


def _facts(item: Item, table: Table, kind: Kind) -> list[tuple[str, str]]:
    """The attributes that an entry shows: first key fields that aren't readable in the key, then non-key attributes."""
    keys = {*table.attribute_types, *table.key_names}
    fields = {} if kind.entity is None else kind.entity.fields
    attributes = [stored_field.attribute for stored_field in fields.values()]
    if kind.entity is not None:
        in_key = {fields[name].attribute for name in kind.entity.key_fields if name in fields}
        hidden = keys | secrets_of(kind.entity)
        keys = hidden | in_key if set(item) - keys - in_key else hidden
    names = [name for name in item if name not in keys]
    ordered = [name for name in attributes if name in names] + sorted(set(names) - set(attributes))
    result = [*_decoded(item, kind), *((name, attribute_text(item[name], 80)) for name in ordered)]
    return result[:ATTRIBUTES]


def _decoded(item: Item, kind: Kind) -> list[tuple[str, str]]:
    """The key fields whose values aren't readable in the key, such as reversed numbers."""
    if kind.role != "entity" or kind.key is None:
        return []
    read: dict[str, str] = {}
    for position, (attribute, template) in enumerate(kind.key.attributes):
        text = attribute_text(item[attribute.name])
        result = pieces(text, template, sharded=sharded(kind.key) and not position)
        read.update((piece.field, piece.text) for piece in result if piece.field)
    values = kind.key.values(item) or {}
    return [(name, str(plain(value))) for name, value in values.items() if str(plain(value)) != read.get(name)]
