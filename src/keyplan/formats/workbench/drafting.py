"""One entity drafted from its items: the sample shows its keys. Its columns are made in ``columns.py``; how items are
told apart, and entities whose keys meet, is in ``grouping.py`` and ``drafts.py``.

A key's templates are, in this order: what Keyplan declared in the description, what the facet's alias says, what the
model's own schema says, what the sample shows. What is a guess is noted.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from keyplan.formats.workbench.columns import GroupColumns
from keyplan.formats.workbench.declarations import (
    PRIMARY,
    Declarations,
    IndexDeclaration,
    KeyDeclaration,
    LabelDeclaration,
)
from keyplan.formats.workbench.entity_drafts import EntityDraft, TableDraft
from keyplan.formats.workbench.grouping import Group, key_text
from keyplan.formats.workbench.inference import Column, Sample, infer, is_padded
from keyplan.formats.workbench.reading import TableModel
from keyplan.formats.workbench.templates import is_escaped, places_of, shape_of, variables, with_braces
from keyplan.formats.workbench.texts import WordList, is_generic, is_word, snake
from keyplan.model.declared.declaration_errors import Problem
from keyplan.model.declared.keys import KeyStyle
from keyplan.model.stored.key_templates import DELIMITER, split_template

__all__ = ["Attributes", "Called", "Drafting", "is_single"]

Attributes = tuple[tuple[str, str], ...]
"""Key attributes with their types."""
Called = list[tuple[str, frozenset[str]]]
"""What values are called elsewhere in the model: a name, and the values that it has."""

_STATE = re.compile(r"status|state|stage|phase|flag|active|open|enabled|visible|public")
"""Fields that say whether an item is in an index, even where one item alone shows it."""


def is_single(group: Group, key: IndexDeclaration) -> bool:
    """Whether each of its items has a partition of its own, and the sort key names nothing else."""
    partition = key.partition[0][0]
    texts = [key_text(item, partition) for item in group.items]
    if not texts or len(set(texts)) < len(texts):
        return False
    if not key.sort:
        return True
    sorts = [key_text(item, key.sort[0][0]) for item in group.items]
    return sorts == texts or all(
        set(sort.split(DELIMITER)) == {"A"}
        or (DELIMITER not in sort.strip(DELIMITER) and not any(map(str.isdigit, sort)))
        for sort in sorts
    )


class Drafting:
    """One group being made an entity."""

    def __init__(
        self,
        table: TableModel,
        group: Group,
        draft: TableDraft,
        declared: Declarations,
        words: WordList,
        called: Called,
        starts: Mapping[str, str],
    ) -> None:
        self.table = table
        self.group = group
        self.out = draft
        self.words = words
        self.called = called
        self.starts = starts
        self.declared = {declaration.name: declaration for declaration in declared.keys.get(group.name, ())}
        self.claims = declared.claims.get(group.name, [])
        self.fields = declared.fields.get(group.name, [])
        self.marks = {name: mark for (entity, name), mark in declared.marks.items() if entity == group.name}
        self.schema = self._schema()
        self.key_types = {
            name: kind
            for declaration in (draft.key, *draft.indexes)
            for name, kind in (*declaration.partition, *declaration.sort)
        }
        self.key_names = set(self.key_types)
        self.entity = EntityDraft(group.name, [], group.items, group.facet, open=group.name in declared.open)
        self.entity.labels = self._labels(declared)
        self._made = GroupColumns(
            group,
            draft.key,
            self.key_types,
            table.attributes,
            self.fields,
            self.schema,
            has_keys=bool(self.declared),
        )
        self.entity.columns = self._made.plain()
        self.templates: dict[str, str] = {}
        """By key attribute: an attribute that stands in several keys has one template."""

    def draft(self) -> EntityDraft:
        """The entity, with the keys of its table and of each index that its items stand in."""
        entity = self.entity
        entity.primary = self._primary()
        self._note_key(entity.primary, self.out.key)
        for index in self.out.indexes:
            for key in self._index_keys(index):
                entity.keys.append(key)
                self._note_key(key, index)
        self._agree_on_styles()
        for claim in self.claims:
            if self._fits(claim, self.out.key, []):
                entity.claims.append(claim)
                self._bind(claim, self.out.key, [])
                self._note_specs(claim)
        self._add_left_over()
        entity.marks = {name: mark for name, mark in self.marks.items() if entity.column(name) is not None}
        return entity

    def _labels(self, declared: Declarations) -> list[LabelDeclaration]:
        """The labels of its items: those declared, or the attribute that says what they are."""
        labels = declared.labels.get(self.group.name, [])
        if labels or self.fields or self.group.kind is None or self.group.said is None:
            return labels
        attribute = self.group.kind[0]
        return [] if attribute in self.key_names else [LabelDeclaration("kind", attribute, self.group.said)]

    def _add_left_over(self) -> None:
        """Attributes of keys that the entity has no key for: they are fields, as they stand."""
        covered = {column.attribute for column in self.entity.columns} | self.templates.keys()
        covered |= {label.attribute for label in self.entity.labels}
        for name in dict.fromkeys(name for item in self.group.items for name in item):
            if name not in covered:
                self.entity.columns.append(self._made.column(name, self.entity.columns))

    # Keys

    def _primary(self) -> KeyDeclaration:
        declared = next((declaration for declaration in self.declared.values() if declaration.index is None), None)
        everywhere = list(range(len(self.group.items)))
        for candidate in (declared, self._by_alias()):
            if candidate is not None and self._fits(candidate, self.out.key, everywhere):
                self._bind(candidate, self.out.key, everywhere)
                self.entity.given = True
                return candidate
        if self.group.items:
            return self._inferred(PRIMARY, None, self.out.key, everywhere)
        self.entity.note(PRIMARY, "the model has no sample of it, so its key is a guess")
        return self._guess()

    def _guess(self) -> KeyDeclaration:
        """The key of what has no sample: its natural attributes, or its name and an id."""
        place = self.out.key
        alone = len(self.table.facets) < 2
        names = [name for name, _ in (*place.partition, *place.sort)]
        word = snake(self.group.name).upper()
        alias, sort_alias = self.group.aliases
        sides: list[tuple[str, ...]] = []
        for side, called in ((place.partition, alias), (place.sort, sort_alias)):
            for name, kind in side:
                natural = alone and (not is_generic(name) or names == ["id"])
                given = snake(name if natural or called in {"", name} else called)
                if natural or kind != "S":  # a number holds a field, and nothing else
                    sides.append((f"{{{given}}}" if (f"{{{given}}}",) not in sides else f"{{{given}_2}}",))
                elif side is place.sort:
                    sides.append((word,))
                else:
                    sides.append((f"{word}{DELIMITER}{{{given if called not in {'', name} else 'id'}}}",))
        guess = KeyDeclaration(PRIMARY, sides[0], sides[1] if len(sides) > 1 else ())
        self._bind(guess, place, [])
        return guess

    def _by_alias(self) -> KeyDeclaration | None:
        """The templates where the aliases are some: ``USER#{user_id}``, ``USER#<userId>``."""
        partition, sort = self.group.aliases
        texts = [partition, *([sort] * bool(self.out.key.sort))]
        templates = [text if variables(text) else with_braces(text) for text in texts]
        for label in self.entity.labels:
            templates = [text.replace(f"{{{snake(label.attribute)}}}", label.value) for text in templates]
        if not any("{" in template for template in templates):
            return None
        return KeyDeclaration(PRIMARY, (templates[0],), tuple(templates[1:]))

    def _index_keys(self, index: IndexDeclaration) -> list[KeyDeclaration]:
        names = [name for name, _ in (*index.partition, *index.sort)]
        members = [place for place, item in enumerate(self.group.items) if all(name in item for name in names)]
        declared = [declaration for declaration in self.declared.values() if declaration.index == index.name]
        fitting = [declaration for declaration in declared if self._fits(declaration, index, members)]
        for declaration in fitting:
            self._bind(declaration, index, members)
        if not self.group.items and not self.declared and not self.fields:
            return self._index_guess(index)
        if fitting or not members:
            return fitting
        return [self._inferred(f"by_{snake(index.name)}", index.name, index, members)]

    def _agree_on_styles(self) -> None:
        """Keys that share an attribute are written in one style."""
        places = {index.name: index for index in self.out.indexes}
        names = {
            id(key): {name for name, _ in (*place.partition, *place.sort)}
            for key in (self.entity.primary, *self.entity.keys)
            for place in (self.out.key if key.index is None else places[key.index],)
        }
        raw: set[str] = set()
        keys = [key for key in (self.entity.primary, *self.entity.keys) if key.name not in self.declared]
        for _ in keys:
            raw |= {name for key in keys if key.style is not None or names[id(key)] & raw for name in names[id(key)]}
        styled = {id(key): replace(key, style=KeyStyle(raw=True)) for key in keys if names[id(key)] & raw}
        self.entity.primary = styled.get(id(self.entity.primary), self.entity.primary)
        self.entity.keys = [styled.get(id(key), key) for key in self.entity.keys]

    def _index_guess(self, index: IndexDeclaration) -> list[KeyDeclaration]:
        """The key that an entity without a sample has on an index whose attributes have natural names."""
        places = (*index.partition, *index.sort)
        columns = [
            next((column for column in self.entity.columns if column.attribute == name), None) for name, _ in places
        ]
        if None in columns:
            if not self.table.facets:
                self.entity.note("", f"nothing shows what its items hold in {index.name}")
            return []
        sides = [tuple(f"{{{snake(name)}}}" for name, _ in side) for side in (index.partition, index.sort)]
        key = KeyDeclaration(f"by_{snake(index.name)}", sides[0], sides[1], index.name)
        self._bind(key, index, [])
        return [key]

    def _inferred(self, name: str, index: str | None, place: IndexDeclaration, members: list[int]) -> KeyDeclaration:
        """The key that the sample shows."""
        aliases = self.group.aliases if index is None else ("", "")
        sides: list[tuple[str, ...]] = []
        for side, sorts, alias in ((place.partition, False, aliases[0]), (place.sort, True, aliases[1])):
            sides.append(
                tuple(
                    self._template(name, attribute, kind, members, alias, sorts=sorts, whole=index is None)
                    for attribute, kind in side
                )
            )
        shared = any(attribute in self.templates for attribute, _ in (*place.partition, *place.sort))
        when = {} if index is None else self._when(sides, members, name, shared=shared)
        style = KeyStyle(raw=True) if self._is_raw(sides, place, members) else None
        return KeyDeclaration(name, sides[0], sides[1], index, when, style=style)

    def _is_raw(self, sides: Sequence[tuple[str, ...]], place: IndexDeclaration, members: list[int]) -> bool:
        """Whether a key was written without escapes: something else than # ends a value, or a value holds what is
        escaped.
        """
        attributes = (*place.partition, *place.sort)
        fields = [name for template in (*sides[0], *sides[1]) for name, _ in variables(template)]
        if not self.entity.lists.isdisjoint(fields):
            return False  # its parts are told apart by escapes alone
        for (attribute, kind), template in zip(attributes, (*sides[0], *sides[1]), strict=True):
            if kind != "S":
                continue
            try:
                pieces = split_template(template)
            except Problem:
                return True
            shape = shape_of(template)
            if shape is None or len(pieces) == 1:
                continue
            count = len(variables(template)) if isinstance(pieces[-1], tuple) else 0
            for text in self._texts(attribute, members):
                match = shape.match(text)
                for number, segment in enumerate(match.groups() if match is not None else (), 1):
                    if DELIMITER not in segment and not is_escaped(segment, last=number == count):
                        return True
        return False

    def _template(
        self, key: str, attribute: str, kind: str, members: list[int], alias: str, *, sorts: bool, whole: bool
    ) -> str:
        """The template of one key attribute."""
        if attribute in self.templates:
            return self.templates[attribute]
        by_schema = None if attribute in self.starts else self._by_schema(attribute, kind, members, sorts=sorts)
        if by_schema is not None:
            return by_schema
        columns = [
            Column(column.name, column.attribute, column.tag, column.within(members), column.constant, column.before)
            for column in self.entity.columns
        ]
        sample = Sample(
            attribute,
            kind,
            self._texts(attribute, members),
            columns,
            self.words,
            alias,
            sorts=sorts,
            whole=whole,
            start=self.starts.get(attribute, ""),
            called=self.called,
            entity=self.group.said or self.group.name,
            single=is_single(self.group, self.out.key),
        )
        inferred = infer(sample)
        self._add(inferred.added, members, inferred.template)
        for text in inferred.guesses:
            self.entity.note(key, f"{attribute}: {text}")
        if inferred.misfits:
            values = ", ".join(repr(sample.values[misfit]) for misfit in inferred.misfits[:3])
            self.entity.note(key, f"{attribute}: {values} is made otherwise than {inferred.template}")
        return inferred.template

    def _add(self, added: Iterable[Column], members: Sequence[int], template: str) -> None:
        """Columns that a template adds. A key attribute that holds more than a field isn't that field's attribute."""
        for column in added:
            values: list[Any] = [None] * len(self.group.items)
            for place, value in zip(members, column.values, strict=True):
                values[place] = value
            attribute = column.attribute
            if attribute in self.key_names and column.name == attribute and template != f"{{{attribute}}}":
                attribute = f"{attribute}_value"
            self.entity.columns.append(Column(column.name, attribute, column.tag, values, before=column.before or ""))

    def _when(
        self, sides: list[tuple[str, ...]], members: list[int], key: str, *, shared: bool
    ) -> dict[str, tuple[Any, ...]]:
        """What keeps the other items out, where their fields alone don't. ``shared``: an attribute is another key's
        too, so that it is there in any case.
        """
        others = [place for place in range(len(self.group.items)) if place not in members]
        names = [name for side in sides for template in side for name, _ in variables(template)]
        columns = [column for column in self.entity.columns if column.name in names]
        if not others or any(column.values[place] is None for place in others for column in columns):
            return {}
        for column in self.entity.columns if not shared else ():
            if column.tag not in {"S", "BOOL"} or column.name in names:
                continue
            if not all(
                isinstance(value, bool) or (isinstance(value, str) and is_word(value)) for value in column.values
            ):
                continue
            inside, outside = ({column.values[place] for place in places} for places in (members, others))
            telling = len(members) > 1 or column.tag == "BOOL" or _STATE.search(column.name) is not None
            if telling and len(inside) == 1 and not inside & outside:
                self.entity.note(key, f"only items with {column.name} {inside} are in the index, as in the sample")
                return {column.name: tuple(inside)}
        self.entity.note(
            key, "some of its items are not in the index though they have its fields; no field shows which"
        )
        return {}

    # The model's own schema

    def _schema(self) -> dict[str, str]:
        """The templates that the model's author wrote for this entity, by key attribute."""
        if not self.group.items or (self.group.kind is not None and self.group.said is None):
            return {}
        return self.table.schema.get(self.group.said or self.group.name, {})

    def _by_schema(self, attribute: str, kind: str, members: list[int], depth: int = 0, *, sorts: bool) -> str | None:
        """The template that the author wrote, where a design can have it: numbers don't sort as texts."""
        text = self.schema.get(attribute)
        if text is None or kind != "S" or depth > 1:
            return None
        pieces = re.split(r"\$?\{(\w+)\}", text)
        for place in range(1, len(pieces), 2):
            name = pieces[place]
            if self.group.kind is not None and name == self.group.kind[0]:
                pieces[place] = str(self.group.said)
            elif name in self.key_names:
                kinds = dict((*self.out.key.partition, *self.out.key.sort))
                own = self.templates.get(name) or self._by_schema(
                    name, kinds.get(name, "S"), members, depth + 1, sorts=sorts
                )
                if own is None:
                    return None
                pieces[place] = own
            else:
                pieces[place] = f"{{{snake(name)}}}"
        template = "".join(pieces)
        shape = shape_of(template)
        texts = self._texts(attribute, members)
        if shape is None or not all(shape.match(word) for word in texts):
            return None
        fields = variables(template)
        columns = [column for name, _ in fields if (column := self.entity.column(name)) is not None]
        tags = {"S", ""} if sorts else {"S", "N", ""}
        if any(is_padded(spec) for _, spec in fields) or any(
            column.constant or column.tag not in tags for column in columns
        ):
            return None
        self._bind_template(template, attribute, kind, dict(zip(members, texts, strict=True)))
        return template

    # Templates that are given, and the columns that they name

    def _fits(self, key: KeyDeclaration, place: IndexDeclaration, members: list[int]) -> bool:
        """Whether a given key has a template for each attribute, and the sample is made by them."""
        if (len(key.partition), len(key.sort)) != (len(place.partition), len(place.sort)):
            return False
        for attribute, _, template in places_of(key, place):
            shape = shape_of(template)
            if shape is None or not all(map(shape.match, self._without_shards(key, place, attribute, members))):
                return False
        return True

    def _without_shards(
        self, key: KeyDeclaration, place: IndexDeclaration, attribute: str, members: list[int]
    ) -> list[str]:
        """A key attribute's texts as its template makes them, before the number of a shard."""
        texts = self._texts(attribute, members)
        if key.shards > 1 and attribute == place.partition[0][0]:
            return [text.rpartition(DELIMITER)[0] for text in texts]
        return texts

    def _bind(self, key: KeyDeclaration, place: IndexDeclaration, members: list[int]) -> None:
        """Give each variable of a given key its column: one of that name, one with its values, or a new one."""
        for attribute, kind, template in places_of(key, place):
            texts = self._without_shards(key, place, attribute, members)
            self._bind_template(template, attribute, kind, dict(zip(members, texts, strict=True)))
        for name, allowed in key.when.items():
            if self.entity.column(name) is None:
                tag = "BOOL" if isinstance(allowed[0], bool) else "S"
                self.entity.columns.append(Column(name, name, tag, [None] * len(self.group.items)))

    def _bind_template(self, template: str, attribute: str, kind: str, texts: Mapping[int, str]) -> None:
        """``texts`` are what the template made, by the item's place."""
        shape = shape_of(template)
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
            self._add([Column(name, attribute if own else name, tag, values)], list(texts), template)

    def _twin(self, members: list[int], values: list[str | None]) -> Column | None:
        """A column that no key names yet, and that holds these values."""
        free = [column for column in self.entity.columns if column.name not in self.entity.specs and column.tag == "S"]
        return next((column for column in free if members and column.within(members) == values), None)

    def _texts(self, attribute: str, members: Iterable[int]) -> list[str]:
        """The contents of a key attribute in some of the items."""
        return [key_text(self.group.items[member], attribute) for member in members]

    def _note_key(self, key: KeyDeclaration, place: IndexDeclaration) -> None:
        self._note_specs(key)
        for attribute, _, template in places_of(key, place):
            self.templates.setdefault(attribute, template)

    def _note_specs(self, key: KeyDeclaration) -> None:
        for template in (*key.partition, *key.sort):
            for name, spec in variables(template):
                self.entity.specs.setdefault(name, set()).add(spec)
