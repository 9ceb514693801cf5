"""Infers an entity's keys and fields from its sample items. A key's value is split at the delimiter. A part that is the
same word in all items becomes a constant with a TODO, a part that equals an attribute in all items becomes that
attribute's field, and any other part becomes a separate field.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from keyplan.formats.workbench.description import Declaration
from keyplan.formats.workbench.grouping import Group, is_generic, is_word, key_text, snake
from keyplan.formats.workbench.reading import Index, KeyAttributes, TableModel, free_name
from keyplan.model.declared.declaration_errors import Problem
from keyplan.model.stored.key_formats import iso_text
from keyplan.model.stored.key_templates import split_template

_PLACEHOLDER = re.compile(r"\$?[<{\[]\s*([A-Za-z][\w -]*?)\s*[>}\]]")
_TYPES = {
    "S": "str", "N": "Decimal", "B": "bytes", "BOOL": "bool", "SS": "set[str]", "NS": "set[Decimal]",
    "BS": "set[bytes]", "M": "dict[str, Any]", "L": "list[Any]",
}  # fmt: skip
_WHEN_MAX = 3
"""Maximum number of values of a field in ``when=``."""


@dataclass
class Field:
    """A field's name, attribute and type. ``values``: the value in each item, None if the item lacks the attribute."""

    name: str
    attribute: str
    type: str
    values: list[Any]
    optional: bool = False
    todo: str = ""


@dataclass
class KeyDraft:
    """A key's templates, the name of its index (None for the table), and TODO comments."""

    name: str
    templates: list[str]
    index: str | None = None
    when: dict[str, tuple[Any, ...]] = field(default_factory=dict[str, tuple[Any, ...]])
    shards: int = 1
    todo: list[str] = field(default_factory=list[str])


@dataclass
class Draft:
    """An entity's fields, keys, unique values and discriminators."""

    group: Group
    fields: list[Field] = field(default_factory=list[Field])
    keys: list[KeyDraft] = field(default_factory=list[KeyDraft])
    uniques: list[KeyDraft] = field(default_factory=list[KeyDraft])
    labels: list[tuple[str, str, str]] = field(default_factory=list[tuple[str, str, str]])
    todo: list[str] = field(default_factory=list[str])

    def field(self, name: str) -> Field | None:
        return next((each for each in self.fields if each.name == name), None)


def draft(table: TableModel, group: Group, delimiter: str, declared: Sequence[Declaration]) -> Draft:
    """Draft the entity of a group of items. ``declared``: the declarations in the model's description."""
    return _Drafting(table, group, delimiter, [each for each in declared if each.entity == group.name]).draft()


class _Drafting:
    def __init__(self, table: TableModel, group: Group, delimiter: str, declared: Sequence[Declaration]) -> None:
        self.table = table
        self.group = group
        self.items = group.items
        self.delimiter = delimiter
        self.declared = declared
        self.out = Draft(group, todo=list(group.todo))
        self.keyed = {a.name: a.type for key in (table.key, *(index.key for index in table.indexes)) for a in key.all}
        self.templates: dict[str, str] = {}

    def draft(self) -> Draft:
        out = self.out
        out.labels = [(d.name, *d.texts) for d in self.declared if d.kind == "Discriminator" and len(d.texts) == 2]
        if self.group.kind is not None and not out.labels and self.group.kind[0] not in self.keyed:
            out.labels = [("kind", *self.group.kind)]
        self._add_fields()
        self._add_key("primary", None, self.table.key, list(range(len(self.items))))
        for index in self.table.indexes:
            self._add_index_key(index)
        for each in self.declared:
            if each.kind == "Unique":
                out.uniques.append(KeyDraft(each.name, list(each.texts)))
                self._add_missing(out.uniques[-1], ["S", "S"])
        self._keep_declared()
        primary = {name for text in out.keys[0].templates for name in _names(text)}
        for own in out.fields:
            own.optional = own.name not in primary and (not self.items or None in own.values)
        if not self.items:
            out.todo.append("the model has no sample items for this entity; its key and fields are guesses")
        return out

    # Fields

    def _add_fields(self) -> None:
        """The attributes that no key sets, including those that no item has."""
        labels = {attribute for _, attribute, _ in self.out.labels}
        declared = any(each.kind == "Key" for each in self.declared)
        seen = dict.fromkeys([*self.group.attributes, *(name for item in self.items for name in item)])
        for attribute in seen:
            natural = not declared and not is_generic(attribute) and self._is_plain(attribute)
            if attribute not in labels and (attribute not in self.keyed or natural):
                self._add_field(attribute)

    def _is_plain(self, attribute: str) -> bool:
        held = [key_text(item, attribute) for item in self.items if attribute in item]
        return not any(self.delimiter in text for text in held) and not any(text in attribute for text in "#|:/")

    def _add_field(self, attribute: str) -> Field:
        raw = [item.get(attribute) for item in self.items]
        present = [value for value in raw if value is not None and "NULL" not in value]
        tags = {next(iter(value)) for value in present}
        declared = self.keyed.get(attribute) or self.table.attributes.get(attribute, "")
        kind, todo = _TYPES.get(declared, "Any"), ""
        if len(tags) == 1:
            kind = _type_of(tags.pop(), [next(iter(value.values())) for value in present])
        elif tags:
            kind, todo = "Any", f"TODO: the sample has values of several types: {', '.join(sorted(tags))}"
        elif declared:
            todo = "TODO: the sample has no such attribute; the type is from the model"
        else:
            todo = "TODO: the sample has no such attribute; set the type"
        values = [None if value is None or "NULL" in value else next(iter(value.values())) for value in raw]
        made = Field(self._free(snake(attribute)), attribute, kind, values, todo=todo)
        self.out.fields.append(made)
        return made

    def _free(self, wanted: str) -> str:
        return free_name(wanted, {each.name for each in self.out.fields})

    def _keep_declared(self) -> None:
        """Key attributes that no key sets are fields."""
        made = {each.attribute for each in self.out.fields} | {attribute for _, attribute, _ in self.out.labels}
        for name in dict.fromkeys(name for item in self.items for name in item):
            if name not in made and name not in self.templates:
                self._add_field(name)

    # Keys

    def _add_index_key(self, index: Index) -> None:
        names = [attribute.name for attribute in index.key.all]
        members = [place for place, item in enumerate(self.items) if all(name in item for name in names)]
        known = [each for each in self.declared if each.kind == "Key" and each.index == index.name]
        natural = not self.items and all(self._by_attribute(name) is not None for name in names)
        if members or known or natural:
            self._add_key(f"by_{snake(index.name)}", index.name, index.key, members)

    def _add_key(self, name: str, index: str | None, key: KeyAttributes, members: Sequence[int]) -> None:
        known = [d for d in self.declared if d.kind == "Key" and d.index == index and len(d.texts) == len(key.all)]
        for each in known:
            made = KeyDraft(each.name, list(each.texts), index, dict(each.when), each.shards)
            self.templates |= dict(zip([attribute.name for attribute in key.all], made.templates, strict=True))
            self._add_missing(made, [attribute.type for attribute in key.all])
            self.out.keys.append(made)
        if known:
            return
        made = KeyDraft(name, [], index)
        aliases = self.group.aliases if index is None else ("", "")
        for attribute, alias in zip(key.all, aliases, strict=False):
            if attribute.name not in self.templates:
                self.templates[attribute.name] = self._template(attribute.name, attribute.type, alias, members, made)
            made.templates.append(self.templates[attribute.name])
        if index is not None and members and len(members) < len(self.items):
            self._add_condition(made, members)
        self.out.keys.append(made)

    def _add_condition(self, made: KeyDraft, members: Sequence[int]) -> None:
        """The condition of a sparse key: a field that items lack, or the value of another field."""
        others = [place for place in range(len(self.items)) if place not in set(members)]
        fields = [self.out.field(name) for text in made.templates for name in _names(text)]
        if any(each is not None and all(each.values[place] is None for place in others) for each in fields):
            return
        for each in self.out.fields:
            inside, outside = ({repr(each.values[place]) for place in places} for places in (members, others))
            few = len(inside) == 1 or len(inside) <= min(_WHEN_MAX, len(members) - 1)
            if few and not inside & outside and each.type in {"str", "bool"} and None not in each.values:
                made.when = {each.name: tuple(dict.fromkeys(each.values[place] for place in members))}
                made.todo.append(f"TODO: in the sample, {each.name} determines which items are in {made.index}")
                return
        what = f"{len(others)} sample items aren't in {made.index}"
        made.todo.append(f"TODO: {what}, and no condition was found: add when=")

    def _add_missing(self, made: KeyDraft, types: Sequence[str]) -> None:
        """The fields of a declared key that no attribute holds, and the types of its formats."""
        pairs = zip(types, made.templates, strict=False)
        for kind, name, spec in ((kind, *pair) for kind, text in pairs for pair in variables_in(text)):
            each = self.out.field(name)
            if each is None:
                todo = "TODO: this field is in a key, but isn't an attribute in the sample"
                each = Field(name, name, "str", [None] * len(self.items), todo=todo)
                self.out.fields.append(each)
            if re.match(r"0?\d*d", spec) and "desc" not in spec[:4]:
                each.type = "int"
            elif spec.split(":")[0] in {"ms", "s", "desc"} or "%" in spec:
                each.type = "datetime"
            elif each.type.startswith("list"):
                each.type = "tuple[str, ...]"
            elif kind == "S" and each.type == "Decimal":
                each.type = "int"
            elif kind == "N" and each.type == "str":
                each.type = "Decimal"
        if any(":rank" in text for text in made.templates):
            made.templates = [text.replace(":rank", "") for text in made.templates]
            made.todo.append("TODO: the model lacks the order of the field's values: use a Literal, and add :rank")

    def _by_attribute(self, attribute: str) -> Field | None:
        return next((each for each in self.out.fields if each.attribute == attribute), None)

    def _template(self, attribute: str, kind: str, alias: str, members: Sequence[int], made: KeyDraft) -> str:
        own = self._by_attribute(attribute)
        if own is not None and all(own.values[place] is not None for place in members):
            return f"{{{own.name}}}"
        if kind != "S":
            return f"{{{self._add_field(attribute).name}}}"
        texts = [key_text(self.items[place], attribute) for place in members]
        if (by_alias := self._by_placeholders(alias, texts, members)) is not None:
            return by_alias
        if not texts:
            if attribute == self.table.key.partition.name:
                return f"{snake(self.group.name).upper()}{self.delimiter}{{{self._added('id', []).name}}}"
            return snake(self.group.name).upper()
        parts = [text.split(self.delimiter) for text in texts]
        if len({len(each) for each in parts}) > 1:
            made.todo.append(f"TODO: {attribute} is one field, because its values have different numbers of parts")
            return f"{{{self._added(attribute, texts, members).name}}}"
        columns = list(zip(*parts, strict=True))
        alone = sum(len(set(column)) > 1 or not is_word(column[0]) for column in columns) == 1
        result: list[str] = []
        for column in columns:
            before = next((text for text in reversed(result) if text and "{" not in text), "")
            result.append(self._part(attribute, list(column), before, alias if alone else "", members, made))
        template = self.delimiter.join(result)
        if "{" not in template:
            made.todo.append(
                f"TODO: every sample item has {template!r} in {attribute}; if the value varies, declare a field"
            )
        return template

    def _part(
        self, attribute: str, values: list[str], before: str, alias: str, members: Sequence[int], made: KeyDraft
    ) -> str:
        """One part of a template: an existing field with these values, a constant, or a new field."""
        constant = len(set(values)) == 1
        text = values[0]
        worded = text == "" or text.isupper() or (len(self.items) > 1 and not before)
        if constant and worded and (text == "" or is_word(text)):
            return text
        wanted = snake(alias) if alias and not is_generic(alias) else ""
        equal = [each for each in self.out.fields if [_text(each.values[place]) for place in members] == values]
        equal.sort(key=lambda each: (each.name != wanted, not (before and each.name.startswith(snake(before)))))
        named = [
            each for each in equal if not constant or each.name == wanted or each.name.startswith(snake(before or "-"))
        ]
        if named:
            number = named[0].type in {"int", "Decimal"}
            return f"{{{named[0].name}{':d' if number and attribute != self.table.key.partition.name else ''}}}"
        padded = [each for each in self.out.fields if self._is_padded(each, values, members)]
        if padded:
            return f"{{{padded[0].name}:0{len(values[0])}d}}"
        name = wanted or (f"{snake(before)}_id" if before else "" if is_generic(attribute) else attribute)
        if constant:
            made.todo.append(f"TODO: every sample item has {values[0]!r} in {attribute}; check that the value varies")
        return f"{{{self._added(name or attribute, values, members, doubtful=not wanted).name}}}"

    @staticmethod
    def _is_padded(each: Field, values: Sequence[str], members: Sequence[int]) -> bool:
        if each.type != "int" or len({len(value) for value in values}) > 1 or not all(map(str.isdigit, values)):
            return False
        numbers = [str(int(value)) for value in values]
        return numbers[0] != values[0] and numbers == [_text(each.values[place]) for place in members]

    def _added(
        self, wanted: str, values: Sequence[str], members: Sequence[int] = (), *, doubtful: bool = True
    ) -> Field:
        existing = self.out.field(snake(wanted))
        held: list[Any] = [None] * len(self.items)
        for place, value in zip(members, values, strict=False):
            held[place] = value
        if existing is not None and existing.values == held:
            return existing
        name = self._free(f"{snake(wanted)}_part" if snake(wanted) in self.keyed else snake(wanted))
        result = Field(name, name, "str", held)
        if doubtful:
            result.todo = "TODO: this field is only in a key; its name is a guess"
        self.out.fields.append(result)
        return result

    def _by_placeholders(self, given: str, texts: Sequence[str], members: Sequence[int]) -> str | None:
        """The template in an alias: ``USER#{user_id}``, ``USER#<userId>``, ``${id}``."""
        names = _PLACEHOLDER.findall(given)
        if not names:
            return None
        pattern = re.compile("(.+?)".join(map(re.escape, _PLACEHOLDER.split(given)[::2])), re.DOTALL)
        matches = [pattern.fullmatch(text) for text in texts]
        if None in matches:
            return None
        template = given
        for number, name in enumerate(names):
            values = [match.group(number + 1) for match in matches if match is not None]
            field_ = self.out.field(snake(name))
            same = field_ is not None and [_text(field_.values[place]) for place in members] == values
            own = field_ if same and field_ is not None else self._added(name, values, members, doubtful=False)
            template = _PLACEHOLDER.sub(f"\0{own.name}\1", template, count=1)
        return template.replace("\0", "{").replace("\1", "}")


def _type_of(tag: str, values: Sequence[Any]) -> str:
    if tag == "N":
        return "int" if all(re.fullmatch(r"-?\d{1,37}", str(value)) for value in values) else "Decimal"
    if tag == "S" and values and all(_is_timestamp(str(value)) for value in values):
        return "datetime"
    if tag == "L" and values and all(isinstance(part, dict) and "S" in part for value in values for part in value):
        return "list[str]"
    return _TYPES.get(tag, "Any")


def _is_timestamp(text: str) -> bool:
    """Whether a string is a timestamp as Keyplan stores it."""
    try:
        return iso_text(datetime.fromisoformat(text)) == text
    except (ValueError, OverflowError, Problem):
        return False


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _names(template: str) -> list[str]:
    return [name for name, _ in variables_in(template)]


def variables_in(template: str) -> list[tuple[str, str]]:
    try:
        pieces = split_template(template, raw=True)
    except Problem:
        return []
    return [(piece[0], piece[1]) for piece in pieces if not isinstance(piece, str)]
