"""Writes a Python module with the designs of a model: indexes, entities, a design per table, and initial
access patterns, which the keys support.
"""

from __future__ import annotations

import ast
import keyword
import re
import sys
import textwrap
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from types import ModuleType

from keyplan.dynamodb import values
from keyplan.errors import DesignError, KeyplanError
from keyplan.formats.workbench.description import declarations_in
from keyplan.formats.workbench.grouping import DELIMITERS, Group, groups_of, is_generic, key_text, snake
from keyplan.formats.workbench.inference import Draft, Field, KeyDraft, draft, variables_in
from keyplan.formats.workbench.reading import Index, Item, KeyAttribute, Model, TableModel, free_name
from keyplan.formatting.markdown import docstring, literal, one_line
from keyplan.model.compiled.compiled_design import CompiledDesign
from keyplan.model.declared.declaration_errors import Problem
from keyplan.model.declared.entity import Entity
from keyplan.model.stored.key_templates import split_template

_IMPORTS = (
    *("Binary", "Cursor", "Design", "Discriminator", "Entity", "Field", "Index", "Key", "KeyStyle", "Number", "Page"),
    *("Table", "Unique", "read"),
)
_STANDARD = {"datetime": ("datetime",), "decimal": ("Decimal",), "typing": ("Any",)}
_RESERVED = ("self", "limit", "cursor", "newest_first")
_LINE_MAX = 110
_ATTRIBUTE = {"S": "{}", "N": "Number({})", "B": "Binary({})"}


@dataclass(frozen=True)
class MadeModule:
    """The module's text, its designs, TODOs, omitted access patterns, and the sample items by design and entity."""

    text: str
    designs: tuple[str, ...]
    notes: tuple[str, ...]
    left_out: tuple[str, ...]
    samples: Mapping[str, Mapping[str, Sequence[Item]]]


def made_module(model: Model, *, without: Collection[str] = (), merged: Collection[frozenset[str]] = ()) -> MadeModule:
    """The module of a model. ``without``: access patterns to omit. ``merged``: pairs of entities to merge."""
    writer = _Writer(model, without, merged)
    body = [line for table in model.tables for line in writer.table(table)]
    text = "\n".join([*writer.head(body), *body]).rstrip() + "\n"
    return MadeModule(
        text, tuple(writer.samples), (*model.notes, *writer.notes), tuple(writer.left_out), writer.samples
    )


@dataclass
class _Names:
    taken: set[str]

    def take(self, wanted: str) -> str:
        name = free_name(wanted, {*self.taken, *keyword.kwlist})
        self.taken.add(name)
        return name


@dataclass
class _Class:
    """An entity as a class: its name, and the names of its fields and keys."""

    draft: Draft
    name: str
    fields: dict[str, str] = field(default_factory=dict[str, str])
    keys: dict[str, str] = field(default_factory=dict[str, str])

    def __post_init__(self) -> None:
        names = _Names({*(name for name in dir(Entity) if not name.startswith("_")), *_RESERVED})
        types = {word for each in self.draft.fields for word in re.findall(r"\w+", each.type)}
        for each in self.draft.fields:
            self.fields[each.name] = names.take(f"{each.name}_" if each.name in types else each.name)
        keys = (*self.draft.keys, *self.draft.uniques)
        for name in (*(key.name for key in keys), *(label[0] for label in self.draft.labels)):
            self.keys[name] = names.take(name)

    def template(self, template: str) -> str:
        try:
            pieces = split_template(template, raw=True)
        except Problem:
            return literal(template)
        spelt = [
            piece
            if isinstance(piece, str)
            else f"{{{self.fields.get(piece[0], piece[0])}{':' if piece[1] else ''}{piece[1]}}}"
            for piece in pieces
        ]
        return literal("".join(spelt))

    def variables(self, template: str) -> list[Field]:
        return [each for each in (self.draft.field(name) for name, _ in variables_in(template)) if each is not None]

    @property
    def identity(self) -> list[Field]:
        fields = [each for text in self.draft.keys[0].templates for each in self.variables(text)]
        return list({each.name: each for each in fields}.values())

    def parameters(self, fields: Sequence[Field]) -> list[str]:
        return [f"{self.fields[each.name]}: {each.type}" for each in fields]


class _Writer:
    def __init__(self, model: Model, without: Collection[str], merged: Collection[frozenset[str]]) -> None:
        self.model = model
        self.merged = merged
        self.without = without
        self.description, self.declared = declarations_in(model.description)
        self.names = _Names({*_IMPORTS, *(name for names in _STANDARD.values() for name in names), "annotations"})
        self.notes: list[str] = []
        self.left_out: list[str] = []
        self.samples: dict[str, dict[str, Sequence[Item]]] = {}

    def head(self, body: Sequence[str]) -> Iterator[str]:
        used = {node.id for node in ast.walk(ast.parse("\n".join(body))) if isinstance(node, ast.Name)}
        name = " ".join((self.model.name or "a model").split())
        yield '# mypy: disable-error-code="empty-body"'
        yield docstring(
            f"{name}, from a NoSQL Workbench model. Check each TODO, and replace the access patterns with your own."
        )
        yield ""
        yield "from __future__ import annotations"
        yield ""
        for module, names in _STANDARD.items():
            if needed := [each for each in names if each in used]:
                yield f"from {module} import {', '.join(needed)}"
        yield ""
        yield from _listed("from keyplan import ", [each for each in _IMPORTS if each in used], "()", bare=True)
        yield ""

    def table(self, table: TableModel) -> Iterator[str]:
        delimiter = _delimiter_of(table)
        facets = {facet.name for facet in table.facets}
        own = [each for each in self.declared if each.entity in facets]
        groups = [g for g in groups_of(table, delimiter) if g.name not in {f"{d.entity}.{d.name}" for d in own}]
        drafts = [draft(table, group, delimiter, own) for group in self._merged(groups)]
        indexes = {index.name: self.names.take(_constant(index.name)) for index in table.indexes}
        wanted_names = [_class(each.group.name) for each in drafts]
        names = [self.names.take(f"{name}Item" if name in self.names.taken else name) for name in wanted_names]
        classes = [_Class(each, name) for each, name in zip(drafts, names, strict=True)]
        wanted = self.model.name if len(self.model.tables) == 1 and self.model.name else table.name
        design = self.names.take(_class(wanted))
        self.samples[design] = {cls.name: cls.draft.group.items for cls in classes}
        yield ""
        for index in table.indexes:
            yield f"{indexes[index.name]} = {_index(index)}"
        for cls in classes:
            yield from self._entity(cls, indexes)
        yield ""
        yield ""
        yield f"class {design}(Design):"
        yield f"    {docstring(self.description.partition(chr(10))[0] or f'The table {table.name}.')}"
        yield ""
        yield from _table(table, list(indexes.values()), classes, delimiter)
        numbers, taken = count(1), _Names({"table", "compiled", *(name for name in dir(Entity))})
        for cls in classes:
            yield from self._patterns(cls, design, numbers, taken)

    def _merged(self, groups: Sequence[Group]) -> list[Group]:
        result: dict[str, Group] = {}
        for group in groups:
            name = _class(group.name)
            into = next((other for other in result if frozenset({name, other}) in self.merged), None)
            if into is None:
                result[name] = group
                continue
            first = result[into]
            first.items = [*first.items, *group.items]
            first.attributes = [*first.attributes, *group.attributes]
            first.kind, first.aliases = None, ("", "")
            first.todo.append(f"keys of {group.name} overlap with keys of {first.name}; the two become one entity")
        return list(result.values())

    def _entity(self, cls: _Class, indexes: Mapping[str, str]) -> Iterator[str]:
        own = cls.draft
        facet = own.group.facet
        yield ""
        yield ""
        yield f"class {cls.name}(Entity):"
        yield f"    {docstring(f'The facet {facet}.' if facet else f'{own.group.name}, inferred from its items.')}"
        yield from self._todo(cls.name, [text if text.startswith("TODO") else f"TODO: {text}" for text in own.todo])
        yield ""
        identity = {each.name for each in cls.identity}
        for each in sorted(own.fields, key=lambda each: each.name not in identity):
            yield from self._todo(f"{cls.name}.{cls.fields[each.name]}", [each.todo] if each.todo else [])
            yield f"    {_field(each, cls.fields[each.name])}"
        yield ""
        for name, attribute, value in own.labels:
            yield f"    {cls.keys[name]} = Discriminator({literal(attribute)}, {literal(value)})"
        for key in own.keys:
            yield from self._todo(f"{cls.name}.{cls.keys[key.name]}", key.todo)
            yield f"    {cls.keys[key.name]} = {_key(key, cls, indexes)}"
        for unique in own.uniques:
            yield f"    {cls.keys[unique.name]} = Unique({', '.join(map(cls.template, unique.templates))})"

    def _todo(self, place: str, todo: Sequence[str]) -> Iterator[str]:
        for each in todo:
            text = one_line(each)
            self.notes.append(f"{place}: {text}")
            yield from textwrap.wrap(
                text, _LINE_MAX, initial_indent="    # ", subsequent_indent="    #   ", break_on_hyphens=False
            )

    def _patterns(self, cls: _Class, design: str, numbers: Iterator[int], taken: _Names) -> Iterator[str]:
        """One item by the primary key, and a page per partition key of the table and of each index."""
        name = snake(cls.name)
        patterns: list[tuple[str, str, list[str], str]] = []
        if cls.identity:
            patterns.append((name, "", cls.parameters(cls.identity), f"{cls.name} | None"))
        for key in cls.draft.keys:
            known = [each for each in cls.variables(key.templates[0]) if each.name not in key.when]
            open_ = [each for text in key.templates[1:] for each in cls.variables(text) if each not in known]
            if key.index is None and not open_:
                continue  # the key identifies one item
            ordered = open_ and open_[0].type != "Any"
            options = f", order_by={literal(cls.fields[open_[0].name])}" if ordered else ""
            if key.when:
                where = ", ".join(f"{literal(cls.fields.get(n, n))}: {_values(v)}" for n, v in key.when.items())
                options += f", where={{{where}}}"
            by = "_and_".join(cls.fields[each.name] for each in known)
            called = f"{name}_{cls.keys[key.name]}" if key.index else f"{name}_by_{by}" if by else f"{name}_list"
            page = ["limit: int = 20", "cursor: Cursor | None = None"]
            patterns.append((called, options, [*cls.parameters(known), *page], f"Page[{cls.name}]"))
        for wanted, options, parameters, returns in patterns:
            free = taken.take(wanted)
            if f"{design}.{free}" in self.without:
                self.left_out.append(f"{design}.{free}")
                continue
            yield ""
            yield f'    @read("R{next(numbers)}"{options})'
            yield from _listed(f"    def {free}", ["self", *parameters], "()", tail=f" -> {returns}: ...")


def _delimiter_of(table: TableModel) -> str:
    """The delimiter of a table's keys: ``#``, unless no key has it and another one follows a prefix."""
    keys = [attribute.name for key in (table.key, *(index.key for index in table.indexes)) for attribute in key.all]
    items = [*(item for facet in table.facets for item in facet.items), *table.items]
    texts = [key_text(item, name) for item in items for name in keys if name in item and is_generic(name)]
    for mark in DELIMITERS:
        leads = sum(re.match(rf"[A-Za-z_]+{re.escape(mark)}.", text) is not None for text in texts)
        if leads and (mark == "#" or leads > len(texts) / 2):
            return mark
    return "#"


# Parts of the module's text


def _field(each: Field, name: str) -> str:
    alias = f"alias={literal(each.attribute)}" if each.attribute != name else ""
    if not each.optional:
        return f"{name}: {each.type} = Field({alias})" if alias else f"{name}: {each.type}"
    if each.type.startswith("set["):
        return f"{name}: {each.type} = Field({', '.join(filter(None, ['default_factory=set', alias]))})"
    kind = each.type if each.type == "Any" else f"{each.type} | None"
    return f"{name}: {kind} = Field(default=None, {alias})" if alias else f"{name}: {kind} = None"


def _key(key: KeyDraft, cls: _Class, indexes: Mapping[str, str]) -> str:
    parts = list(map(cls.template, key.templates))
    if key.index is not None:
        parts.append(f"index={indexes[key.index]}")
    if key.when:
        pairs = (f"{literal(cls.fields.get(name, name))}: {_values(values)}" for name, values in key.when.items())
        parts.append(f"when={{{', '.join(pairs)}}}")
    if key.shards > 1:
        parts.append(f"shards={key.shards}")
    return f"Key({', '.join(parts)})"


def _values(values: Sequence[object]) -> str:
    shown = [literal(value) if isinstance(value, str) else repr(value) for value in values]
    return shown[0] if len(shown) == 1 else f"({', '.join(shown)})"


def _table(table: TableModel, indexes: Sequence[str], classes: Sequence[_Class], delimiter: str) -> Iterator[str]:
    yield "    table = Table("
    yield f"        {literal(table.name)},"
    if indexes:
        yield from _listed("        indexes=", indexes, "[]", tail=",")
    yield from _listed("        entities=", [cls.name for cls in classes], "[]", tail=",")
    yield f"        partition={_attribute(table.key.partition)},"
    yield f"        sort={'None' if table.key.sort is None else _attribute(table.key.sort)},"
    if delimiter != "#":
        yield "        key_style=KeyStyle(raw=True),"
    yield "    )"


def _attribute(attribute: KeyAttribute) -> str:
    return _ATTRIBUTE[attribute.type].format(literal(attribute.name))


def _index(index: Index) -> str:
    parts = [literal(index.name), *map(_attribute, index.key.all)]
    if index.projection != "ALL":
        projection = index.projection
        shown = literal(projection) if isinstance(projection, str) else f"[{', '.join(map(literal, projection))}]"
        parts.append(f"projection={shown}")
    if index.local:
        parts.append("local=True")
    return f"Index({', '.join(parts)})"


def _listed(head: str, names: Sequence[str], brackets: str, *, tail: str = "", bare: bool = False) -> Iterator[str]:
    """Names on one line, or one per line if that is too long. ``bare``: without brackets on one line."""
    opening, closing = brackets[0], brackets[1]
    line = f"{head}{', '.join(names)}{tail}" if bare else f"{head}{opening}{', '.join(names)}{closing}{tail}"
    if len(line) <= _LINE_MAX:
        yield line
        return
    margin = " " * (len(head) - len(head.lstrip()))
    yield f"{head}{opening}"
    yield from (f"{margin}    {name}," for name in names)
    yield f"{margin}{closing}{tail}"


def _class(wanted: str) -> str:
    words = re.findall(r"[A-Za-z0-9]+", wanted)
    name = "".join(word[:1].upper() + (word[1:].lower() if word.isupper() else word[1:]) for word in words)
    return f"N{name}" if name[:1].isdigit() else name or "Model"


def _constant(wanted: str) -> str:
    name = re.sub(r"[^A-Za-z0-9]+", "_", wanted).strip("_").upper()
    return f"INDEX_{name}" if name[:1].isdigit() else name or "INDEX"


_SHOWN_MAX = 5
"""Maximum number of items per entity that are reported individually."""


def sample_faults(design: CompiledDesign, samples: Mapping[str, Sequence[Item]]) -> Iterator[str]:
    """The sample items that can't be read or would be stored differently, by entity."""
    for name, items in samples.items():
        result = [
            f"{name}({', '.join(f'{key}={key_text(item, key)}' for key in design.table.key_names)}): {fault}"
            for item in items
            if (fault := _fault(design, name, item)) is not None
        ]
        yield from result[:_SHOWN_MAX]
        if len(result) > _SHOWN_MAX:
            yield f"{name}: and {len(result) - _SHOWN_MAX} more of {len(items)} sample items"


def _fault(design: CompiledDesign, name: str, item: Item) -> str | None:
    """The reason why an item changes when it is read as its entity and written back; None if it doesn't."""
    entity = design.entity_of(item)
    if entity is None or entity.name != name:
        return f"the sample item can't be read: its key doesn't match the templates of {name}"
    try:
        again = entity.to_item(entity.from_item(item))
    except KeyplanError as error:
        reasons = "; ".join(str(fault) for fault in error.errors) or error.message
        return f"the sample item can't be read or written: {reasons}"
    lost = [
        f"{attribute} would be {_shown(again, attribute)}, but is {_shown(item, attribute)}"
        for attribute, value in item.items()
        if "NULL" not in value and not (attribute in again and values.same(again[attribute], value))
    ]
    keys = {attribute.name for key in entity.keys for attribute, _ in key.attributes}
    lost += [
        f"{attribute} would be {_shown(again, attribute)}, but is missing"
        for attribute in sorted(keys & again.keys() - item.keys())
    ]
    return f"after a read and a write, {'; '.join(lost)}" if lost else None


def _shown(item: Mapping[str, object], attribute: str) -> str:
    value = item.get(attribute)
    if not isinstance(value, dict):
        return "missing"
    text = repr(next(iter(value.values())))
    return text if len(text) <= 60 else f"{text[:57]}..."


def working_module(model: Model) -> tuple[MadeModule, list[str], DesignError | None]:
    """The module without access patterns that fail to compile, notes on these, and the design's error, if any."""
    omitted: dict[str, str] = {}
    merged: set[frozenset[str]] = set()
    while True:
        made = made_module(model, without=omitted, merged=merged)
        reasons = [f"the access pattern {place} is omitted: {omitted[place]}" for place in made.left_out]
        try:
            module = _run(made)
        except DesignError as error:
            places = {detail.place: detail.message for detail in error.errors}
            reads = {place: text for place, text in places.items() if place.partition(".")[0] in made.designs}
            same = {
                frozenset({place.partition(".")[0], match[1]})
                for place, text in places.items()
                if (match := re.match(r"the key can equal that of (\w+)\.", text)) is not None
            }
            if not (same - merged or reads.keys() - omitted.keys()):
                return made, reasons, error
            merged |= same
            omitted |= {} if same else reads
        else:
            for name, samples in made.samples.items():
                reasons += sample_faults(getattr(module, name).compiled, samples)
            return made, reasons, None


def _run(made: MadeModule) -> ModuleType:
    """Run the module, which compiles its designs. All strings of the model are literals in it."""
    module = ModuleType("keyplan_workbench_model")
    sys.modules[module.__name__] = module  # annotations are resolved in sys.modules
    try:
        exec(compile(made.text, "<the module>", "exec"), vars(module))  # noqa: S102 - Keyplan wrote the module
    finally:
        del sys.modules[module.__name__]
    return module
