"""Entities drafted from a model's table: a facet is an entity, its attributes are fields, its sample shows the keys.

A key's templates are, in this order: what Keyplan declared in the description, what the facet's alias says, what the
sample shows. Where none of them does, the key is named for the facet, and a note says so.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from keyplan.design.formats import Problem
from keyplan.design.templates import DELIMITER, split_template
from keyplan.workbench.declarations import (
    CLAIM_ATTRIBUTE,
    PRIMARY,
    Declarations,
    IndexDeclaration,
    KeyDeclaration,
    claim_facet,
)
from keyplan.workbench.inference import Column, free_name, infer, is_padded, snake
from keyplan.workbench.reading import Facet, Item, KeyAttributes, TableModel

__all__ = ["EntityDraft", "TableDraft", "draft_table", "variables"]

Attributes = tuple[tuple[str, str], ...]
"""Key attributes with their types."""

_PLACEHOLDER = re.compile(r"[<\[(]\s*([A-Za-z][\w -]*?)\s*[>\])]")


@dataclass
class EntityDraft:
    """An entity: its facet's name, its columns, its keys. ``specs`` are the formats of its fields in the keys."""

    facet: str
    columns: list[Column]
    items: list[Item]
    primary: KeyDeclaration = field(default_factory=lambda: KeyDeclaration(PRIMARY, (), ()))
    keys: list[KeyDeclaration] = field(default_factory=list[KeyDeclaration])
    claims: list[KeyDeclaration] = field(default_factory=list[KeyDeclaration])
    specs: dict[str, set[str]] = field(default_factory=dict[str, set[str]])
    marks: dict[str, str] = field(default_factory=dict[str, str])

    def column(self, name: str) -> Column | None:
        """The column of that name."""
        return next((one for one in self.columns if one.name == name), None)


@dataclass
class TableDraft:
    """A table with its indexes, its entities, and notes on what the model leaves open."""

    name: str
    key: IndexDeclaration
    indexes: list[IndexDeclaration]
    entities: list[EntityDraft]
    notes: list[str]


def draft_table(table: TableModel, declared: Declarations) -> TableDraft:
    """The draft of one table."""
    own = _attributes(table.key)
    indexes = [
        IndexDeclaration(
            one.name,
            *_attributes(one.key),
            tuple(one.projection.included) if one.projection.type == "INCLUDE" else one.projection.type,
        )
        for one in table.indexes
    ]
    known = {one.name for one in indexes}
    indexes += [one for one in declared.indexes if one.name not in known]
    draft = TableDraft(table.name, IndexDeclaration(table.name, *own), indexes, [], [])
    for facet in _facets(table):
        if facet.attributes != [CLAIM_ATTRIBUTE]:
            draft.entities.append(_Drafting(table, facet, draft, declared).draft())
        elif facet.name not in {
            claim_facet(entity, one.name) for entity, all_ in declared.claims.items() for one in all_
        }:
            draft.notes.append(f"{facet.name}: claims without a declaration in the description are left out")
    return draft


def _attributes(key: KeyAttributes) -> tuple[Attributes, Attributes]:
    partition = ((key.partition.name, key.partition.type),)
    return partition, () if key.sort is None else ((key.sort.name, key.sort.type),)


def _facets(table: TableModel) -> list[Facet]:
    """The facets; without any the items by the words that their keys begin with."""
    if table.facets:
        return table.facets
    groups: dict[tuple[str, ...], list[Item]] = {}
    for item in table.items:
        groups.setdefault(tuple(_word(item, name) for name, _ in sum(_attributes(table.key), ())), []).append(item)
    names: list[Column] = []
    facets: list[Facet] = []
    for words, items in groups.items():
        telling = [one for one in words if one] or [table.name]
        several = sum(other[-1] == words[-1] for other in groups) > 1
        name = free_name("_".join(dict.fromkeys(telling)) if several else telling[-1], names)
        names.append(Column(name, name, "", []))
        facets.append(Facet(FacetName=name, TableData=items))
    return facets or [Facet(FacetName=table.name)]


def _word(item: Item, name: str) -> str:
    """The word that a key begins with: USER of USER#1, and PROFILE of PROFILE."""
    text = next(iter(item[name].values()))
    head, delimiter, _ = text.partition(DELIMITER)
    return head if delimiter or head.isupper() else ""


class _Drafting:
    """One facet being made an entity."""

    def __init__(self, table: TableModel, facet: Facet, draft: TableDraft, declared: Declarations) -> None:
        self.table = table
        self.facet = facet
        self.out = draft
        self.declared = {one.name: one for one in declared.keys.get(facet.name, ())}
        self.claims = declared.claims.get(facet.name, [])
        self.marks = {name: mark for (entity, name), mark in declared.marks.items() if entity == facet.name}
        self.entity = EntityDraft(facet.name, list(self._columns()), facet.items)

    def draft(self) -> EntityDraft:
        entity = self.entity
        entity.primary = self._primary()
        self._note_specs(entity.primary)
        for index in self.out.indexes:
            for key in self._index_keys(index):
                entity.keys.append(key)
                self._note_specs(key)
        for claim in self.claims:
            if self._fits(claim, self.out.key, []):
                entity.claims.append(claim)
                self._bind(claim, self.out.key, [])
                self._note_specs(claim)
        entity.marks = {name: mark for name, mark in self.marks.items() if entity.column(name) is not None}
        return entity

    def _columns(self) -> Iterator[Column]:
        """The attributes that are no key's."""
        taken = {name for name, _ in (*self.out.key.partition, *self.out.key.sort)}
        taken |= {name for index in self.out.indexes for name, _ in (*index.partition, *index.sort)}
        types = {one.name: one.type for one in self.table.attributes}
        seen = dict.fromkeys([*self.facet.attributes, *(name for item in self.facet.items for name in item)])
        made: list[Column] = []
        for attribute in seen:
            if attribute in taken:
                continue
            made.append(self._column(attribute, free_name(snake(attribute), made), types.get(attribute, "")))
        yield from made

    def _column(self, attribute: str, name: str, kind: str) -> Column:
        found = [item.get(attribute) for item in self.facet.items]
        tags = {next(iter(value)) for value in found if value is not None} - {"NULL"}
        tag = (tags.pop() if len(tags) == 1 else "") if tags else ("" if kind == "NULL" else kind)
        return Column(name, attribute, tag, [_value(value) for value in found])

    # Keys

    def _primary(self) -> KeyDeclaration:
        declared = next((one for one in self.declared.values() if one.index is None), None)
        everywhere = list(range(len(self.facet.items)))
        aliases = self.facet.aliases
        for candidate in (declared, self._by_alias()):
            if candidate is not None and self._fits(candidate, self.out.key, everywhere):
                self._bind(candidate, self.out.key, everywhere)
                return candidate
        if self.facet.items:
            return self._inferred(PRIMARY, None, self.out.key, everywhere, (aliases.partition, aliases.sort))
        self.out.notes.append(f"{self.facet.name}: the model has no sample of it, so its key is a guess")
        word = snake(self.facet.name).upper()
        name = snake(aliases.partition if aliases.partition not in {"", self.out.key.partition[0][0]} else "id")
        guess = KeyDeclaration(PRIMARY, (f"{word}{DELIMITER}{{{name}}}",), (word,) if self.out.key.sort else ())
        self._bind(guess, self.out.key, [])
        return guess

    def _by_alias(self) -> KeyDeclaration | None:
        """The templates where the aliases are some: ``USER#{user_id}``, ``USER#<userId>``."""
        texts = [self.facet.aliases.partition] + [self.facet.aliases.sort] * bool(self.out.key.sort)
        templates = texts
        if not any("{" in one for one in texts):
            templates = [_PLACEHOLDER.sub(lambda match: f"{{{snake(match.group(1))}}}", text) for text in texts]
        if not any("{" in one for one in templates):
            return None
        return KeyDeclaration(PRIMARY, (templates[0],), tuple(templates[1:]))

    def _index_keys(self, index: IndexDeclaration) -> list[KeyDeclaration]:
        names = [name for name, _ in (*index.partition, *index.sort)]
        members = [place for place, item in enumerate(self.facet.items) if all(name in item for name in names)]
        declared = [one for one in self.declared.values() if one.index == index.name]
        fitting = [one for one in declared if self._fits(one, index, members)]
        for one in fitting:
            self._bind(one, index, members)
        if fitting or not members:
            return fitting
        name = f"by_{snake(index.name)}"
        return [self._inferred(name, index.name, index, members, ("", ""))]

    def _inferred(
        self, name: str, index: str | None, place: IndexDeclaration, members: list[int], aliases: tuple[str, str]
    ) -> KeyDeclaration:
        """The key that the sample shows."""
        sides: list[tuple[str, ...]] = []
        for side, sorts, alias in ((place.partition, False, aliases[0]), (place.sort, True, aliases[1])):
            templates: list[str] = []
            for attribute, kind in side:
                columns = [Column(one.name, one.attribute, one.tag, one.within(members)) for one in self.entity.columns]
                texts = self._texts(attribute, members)
                found = infer(attribute, kind, texts, columns, alias, sorts=sorts, whole=index is None)
                templates.append(found.template)
                self._add(found.added, members)
            sides.append(tuple(templates))
        when = {} if index is None else self._when(sides, members)
        return KeyDeclaration(name, sides[0], sides[1], index, when)

    def _add(self, added: Iterable[Column], members: Sequence[int]) -> None:
        for column in added:
            values: list[Any] = [None] * len(self.facet.items)
            for place, value in zip(members, column.values, strict=True):
                values[place] = value
            self.entity.columns.append(Column(column.name, column.attribute, column.tag, values))

    def _when(self, sides: list[tuple[str, ...]], members: list[int]) -> dict[str, tuple[Any, ...]]:
        """What keeps the other items out, where their fields alone don't."""
        others = [place for place in range(len(self.facet.items)) if place not in members]
        names = [name for side in sides for template in side for name, _ in variables(template)]
        columns = [column for column in self.entity.columns if column.name in names]
        if not others or any(column.values[place] is None for place in others for column in columns):
            return {}
        for column in self.entity.columns:
            if column.tag not in {"S", "BOOL"} or not column.whole:
                continue
            inside, outside = ({column.values[one] for one in places} for places in (members, others))
            if len(inside) == 1 and not inside & outside:
                return {column.name: tuple(inside)}
        self.out.notes.append(
            f"{self.facet.name}: some of its items are not in an index that has their fields; no field tells which"
        )
        return {}

    # Templates that are given, and the columns that they name

    def _fits(self, key: KeyDeclaration, place: IndexDeclaration, members: list[int]) -> bool:
        """Whether a given key has a template for each attribute, and the sample is made by them."""
        if (len(key.partition), len(key.sort)) != (len(place.partition), len(place.sort)):
            return False
        for attribute, _, template in _places(key, place):
            shape = _shape(template)
            if shape is None or not all(shape.match(text) for text in self._texts(attribute, members)):
                return False
        return True

    def _bind(self, key: KeyDeclaration, place: IndexDeclaration, members: list[int]) -> None:
        """Give each variable of a given key its column: one of that name, one with its values, or a new one."""
        for attribute, kind, template in _places(key, place):
            texts = self._texts(attribute, members)
            if key.shards > 1 and attribute == place.partition[0][0]:
                texts = [text.rpartition(DELIMITER)[0] for text in texts]
            self._bind_template(template, attribute, kind, dict(zip(members, texts, strict=True)))
        for name, allowed in key.when.items():
            if self.entity.column(name) is None:
                tag = "BOOL" if isinstance(allowed[0], bool) else "S"
                self.entity.columns.append(Column(name, name, tag, [None] * len(self.facet.items)))

    def _bind_template(self, template: str, attribute: str, kind: str, texts: Mapping[int, str]) -> None:
        """``texts`` are what the template made, by the item's place."""
        shape = _shape(template)
        for number, (name, spec) in enumerate(variables(template), 1):
            if self.entity.column(name) is not None:
                continue
            matches = [None if shape is None else shape.match(text) for text in texts.values()]
            values = [None if match is None else match.group(number) for match in matches]
            twin = self._twin(list(texts), values)
            if twin is not None:
                twin.name = name
                continue
            own = template == f"{{{name}}}" and not spec
            tag = kind if own else "N" if is_padded(spec) else "S"
            self._add([Column(name, attribute if own else name, tag, values)], list(texts))

    def _twin(self, members: list[int], values: list[str | None]) -> Column | None:
        """A column that no key names yet, and that holds these values."""
        free = [one for one in self.entity.columns if one.name not in self.entity.specs and one.tag == "S"]
        return next((one for one in free if members and one.within(members) == values), None)

    def _texts(self, attribute: str, members: Iterable[int]) -> list[str]:
        """The contents of a key attribute in some of the items."""
        return [str(next(iter(self.facet.items[one][attribute].values()))) for one in members]

    def _note_specs(self, key: KeyDeclaration) -> None:
        for template in (*key.partition, *key.sort):
            for name, spec in variables(template):
                self.entity.specs.setdefault(name, set()).add(spec)


def _places(key: KeyDeclaration, place: IndexDeclaration) -> Iterator[tuple[str, str, str]]:
    """Each key attribute, its type, and the template that the key gives it."""
    for side, templates in ((place.partition, key.partition), (place.sort, key.sort)):
        for (attribute, kind), template in zip(side, templates, strict=True):
            yield attribute, kind, template


def variables(template: str) -> list[tuple[str, str]]:
    """The fields of a template with their formats; none of what is no template."""
    try:
        return [one for one in split_template(template) if isinstance(one, tuple)]
    except Problem:
        return []


def _shape(template: str) -> re.Pattern[str] | None:
    """A regular expression with a group for each variable; None for what is no template."""
    try:
        pieces = split_template(template)
    except Problem:
        return None
    parts = ["(.+?)" if isinstance(one, tuple) else re.escape(one) for one in pieces]
    return re.compile(f"{''.join(parts)}\\Z", re.DOTALL)


def _value(value: Mapping[str, Any] | None) -> Any:
    """An attribute's value as columns compare it: texts and numbers as their text, a list of texts as their list."""
    if value is None or "NULL" in value:
        return None
    ((tag, content),) = value.items()
    if tag == "L" and all(isinstance(one, dict) and "S" in one for one in content):
        return [one["S"] for one in content]
    return str(content) if tag == "N" else content
