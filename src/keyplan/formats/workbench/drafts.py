"""Entities drafted from a model's table, so that their keys can be told apart: each group of items is an entity.

Where two entities' keys could be the same, the letters that their values begin with are made text; where that doesn't
help, the two are one entity. How one entity is drafted is in ``drafting.py``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from keyplan.formats.workbench.declarations import (
    CLAIM_ATTRIBUTE,
    PRIMARY,
    Declarations,
    IndexDeclaration,
    claim_facet,
)
from keyplan.formats.workbench.drafting import Attributes, Called, Drafting, is_single
from keyplan.formats.workbench.entity_drafts import EntityDraft, TableDraft
from keyplan.formats.workbench.grouping import Group, groups_of, key_text, words_of
from keyplan.formats.workbench.meeting import can_meet
from keyplan.formats.workbench.reading import Item, KeyAttributes, TableModel
from keyplan.formats.workbench.templates import variables
from keyplan.formats.workbench.texts import WordList, alpha_start, is_generic, snake
from keyplan.model.stored.key_templates import DELIMITER

__all__ = ["draft_table"]


def draft_table(table: TableModel, declared: Declarations) -> TableDraft:
    """The draft of one table."""
    indexes = [
        IndexDeclaration(index.name, *_attributes(index.key), index.projection, index.local) for index in table.indexes
    ]
    known = {index.name for index in indexes}
    indexes += [index for index in declared.indexes if index.name not in known]
    key = IndexDeclaration(table.name, *_attributes(table.key))
    draft = TableDraft(table.name, key, indexes, [], [], declared.key_style)
    words = words_of(table)
    claims = {claim_facet(entity, declaration.name) for entity, all_ in declared.claims.items() for declaration in all_}
    groups: list[Group] = []
    result = {
        facet.name for facet in table.facets if any(map(variables, facet.aliases))
    }  # each is made by its templates
    for group in groups_of(table, words, {*declared.keys, *declared.claims, *declared.fields, *claims, *result}):
        if group.attributes != [CLAIM_ATTRIBUTE]:
            groups.append(group)
        elif group.name not in claims:
            draft.notes.append(f"{group.name}: claims without a declaration in the description are left out")
    _Drafts(table, draft, declared, words).draft(groups)
    return draft


def _attributes(key: KeyAttributes) -> tuple[Attributes, Attributes]:
    partition = ((key.partition.name, key.partition.type),)
    return partition, () if key.sort is None else ((key.sort.name, key.sort.type),)


class _Drafts:
    """The entities of a table, drafted so that their keys can be told apart."""

    def __init__(self, table: TableModel, draft: TableDraft, declared: Declarations, words: WordList) -> None:
        self.table = table
        self.out = draft
        self.declared = declared
        self.words = words
        self.starts: dict[str, dict[str, str]] = {}
        """By group and attribute: letters that its values begin with, and that are text."""

    def draft(self, groups: list[Group]) -> None:
        while True:
            entities = self._entities(groups)
            pair = self._meeting(groups, entities)
            if pair is None:
                break
            if not self._told_apart(groups, entities, *pair):
                groups = self._merged(groups, entities, *pair)
        self.out.entities = entities
        for group, entity in zip(groups, entities, strict=True):
            for attribute, start in self.starts.get(group.name, {}).items():
                entity.note(PRIMARY, f"{start!r} in {attribute} is taken for text, to tell it from other entities")
            for text in group.notes:
                entity.note("", text)

    def _entities(self, groups: list[Group]) -> list[EntityDraft]:
        """The entities, in the groups' order; those whose keys name them first, so that others use their names."""
        called = _called_in(self.table)
        generic = {
            snake(name)
            for key in (self.out.key, *self.out.indexes)
            for name, _ in (*key.partition, *key.sort)
            if is_generic(name)
        }
        result: dict[int, EntityDraft] = {}
        for place in sorted(range(len(groups)), key=lambda number: not is_single(groups[number], self.out.key)):
            starts = self.starts.get(groups[place].name, {})
            drafting = Drafting(self.table, groups[place], self.out, self.declared, self.words, called, starts)
            entity = result[place] = drafting.draft()
            for column in entity.columns:
                named = column.before is not None and column.name not in generic
                if named and isinstance(next(iter(column.values), None), str):
                    called.append((column.name, frozenset(str(value) for value in column.values if value is not None)))
        return [result[place] for place in range(len(groups))]

    def _meeting(self, groups: list[Group], entities: list[EntityDraft]) -> tuple[int, int] | None:
        """Two entities that could have one key, and that nobody declared so."""
        for second in range(len(groups)):
            for first in range(second):
                draft, other = entities[first], entities[second]
                if (draft.given and other.given) or draft.is_told_from(other):
                    continue
                if can_meet(draft.primary, other.primary, draft.lists, other.lists):
                    return first, second
        return None

    def _told_apart(self, groups: list[Group], entities: list[EntityDraft], first: int, second: int) -> bool:
        """Whether the letters that the values begin with tell the two apart; they are text from now on."""
        attributes = [name for name, kind in (*self.out.key.sort, *self.out.key.partition) if kind == "S"]
        pair = [(groups[place], entities[place]) for place in (first, second) if not entities[place].given]
        for chosen in ([attributes[0]], [attributes[-1]], attributes) if attributes else ():
            before = {group.name: dict(self.starts.get(group.name, {})) for group, _ in pair}
            changed = False
            for group, _ in pair:
                for attribute in attributes if _is_one_text(group, attributes) else chosen:
                    start = alpha_start([key_text(item, attribute).rpartition(DELIMITER)[2] for item in group.items])
                    if start and attribute not in self.starts.setdefault(group.name, {}):
                        self.starts[group.name][attribute] = start
                        changed = True
            if changed:
                again = self._entities([groups[first], groups[second]])
                if not can_meet(again[0].primary, again[1].primary, again[0].lists, again[1].lists):
                    return True
            self.starts.update(before)
        return False

    def _merged(self, groups: list[Group], entities: list[EntityDraft], first: int, second: int) -> list[Group]:
        """The groups with two of them as one."""
        former, latter = groups[first], groups[second]
        for group in (former, latter):
            self.starts.pop(group.name, None)
        kind = None
        if former.kind is not None and latter.kind is not None and former.kind[0] == latter.kind[0]:
            kind = (former.kind[0], tuple(dict.fromkeys((*former.kind[1], *latter.kind[1]))))
        note = (
            f"its kinds have keys that can't be told apart ({_shown(entities[first])}; {_shown(entities[second])}), "
            "so they are one entity here: give each a word of its own in its key"
        )
        merged = Group(
            f"{former.name} or {latter.name}",
            [*former.items, *latter.items],
            list(dict.fromkeys((*former.attributes, *latter.attributes))),
            kind=kind,
            notes=[*former.notes, *latter.notes, note],
        )
        return [merged if place == first else group for place, group in enumerate(groups) if place != second]


def _members(item: Item) -> Iterator[tuple[str, dict[str, Any]]]:
    """The members of an item's maps, which may be named better than its keys are."""
    for value in item.values():
        yield from ((name, member) for name, member in value.get("M", {}).items() if "M" not in member)


def _shown(entity: EntityDraft) -> str:
    return f"{entity.name}: {', '.join((*entity.primary.partition, *entity.primary.sort))}"


def _is_one_text(group: Group, attributes: Sequence[str]) -> bool:
    """Whether all key attributes hold the same in each item."""
    return all(len({key_text(item, name) for name in attributes}) == 1 for item in group.items)


def _called_in(table: TableModel) -> Called:
    """What the table's items call their texts."""
    keys = {attribute.name for key in (table.key, *(index.key for index in table.indexes)) for attribute in key.all}
    result: dict[str, set[str]] = {}
    for item in (*(item for facet in table.facets for item in facet.items), *table.items):
        for name, value in (*item.items(), *_members(item)):
            if isinstance(value.get("S"), str) and (name not in keys or not is_generic(name)) and DELIMITER not in name:
                result.setdefault(snake(name), set()).add(value["S"])
    names = sorted(result, key=lambda name: not name.endswith("id"))
    return [(name, frozenset(result[name])) for name in names]
