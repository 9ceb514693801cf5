"""The text of a Python module with the designs of a model: indexes, entities, a design a table, and first questions.

The questions are what each key can answer. They are a beginning: an application has its own.
"""

from __future__ import annotations

import ast
import keyword
import re
import textwrap
from collections.abc import Collection, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import count
from typing import Any

from keyplan.formats.workbench.declarations import (
    Declarations,
    IndexDeclaration,
    KeyDeclaration,
    declarations_in,
    style_text,
)
from keyplan.formats.workbench.declared import FieldDeclaration, ReadDeclaration
from keyplan.formats.workbench.drafts import draft_table
from keyplan.formats.workbench.entity_drafts import EntityDraft, TableDraft
from keyplan.formats.workbench.inference import Column, is_day, is_moment, is_padded
from keyplan.formats.workbench.reading import Item, Model
from keyplan.formats.workbench.templates import variables
from keyplan.formats.workbench.texts import snake
from keyplan.formats.workbench.types import TYPE_NAMES
from keyplan.model.declared.entity import Entity
from keyplan.model.declared.keys import OURS
from keyplan.model.stored.key_templates import split_template

__all__ = ["MadeModule", "made_module"]

_IMPORTS = (
    *(
        "Binary",
        "Cursor",
        "Design",
        "Each",
        "Entity",
        "Field",
        "Id",
        "Index",
        "Key",
        "KeyStyle",
        "Discriminator",
        "Number",
    ),
    *(
        "Page",
        "Prefix",
        "Range",
        "CounterShards",
        "StoredAs",
        "Table",
        "Through",
        "IdempotencyTokens",
        "Ttl",
        "Unique",
        "InvalidItem",
    ),
    *("Version", "View", "now", "read", "ulid"),
)
_STANDARD = {
    "collections.abc": ("Iterator",),
    "datetime": ("date", "datetime", "time", "timedelta"),
    "decimal": ("Decimal",),
    "typing": ("Annotated", "Any", "Literal", "NamedTuple"),
    "uuid": ("UUID", "uuid4"),
}
_IMPORTED = frozenset({*_IMPORTS, *(kind for types in _STANDARD.values() for kind in types)})
_RESERVED = ("self", "limit", "cursor")
"""Parameters that mean something else than a field."""
_TYPES = {"S": "str", "B": "bytes", "BOOL": "bool", "SS": "set[str]", "BS": "set[bytes]", "M": "dict[str, Any]"}
_LINE_MAX = 110


@dataclass(frozen=True)
class MadeModule:
    """The module's text, the names of its designs, what the model leaves open, the questions left out, and the model's
    sample: by design and entity.
    """

    text: str
    designs: tuple[str, ...]
    notes: tuple[str, ...]
    left_out: tuple[str, ...]
    samples: Mapping[str, Mapping[str, Sequence[Item]]]


def made_module(model: Model, *, without: Collection[str] = ()) -> MadeModule:
    """The module of a model. ``without`` are questions to leave out, as ``Design.name``."""
    declared = declarations_in(model.description)
    drafts = [draft_table(table, declared) for table in model.tables]
    made = _written(model, declared, drafts, _Module(without))
    freed = _IMPORTED - _names_in(made.text)
    if not freed.isdisjoint(entity.name for draft in drafts for entity in draft.entities):
        made = _written(model, declared, drafts, _Module(without, freed))
    return made


def _written(model: Model, declared: Declarations, drafts: Sequence[TableDraft], writer: _Module) -> MadeModule:
    body: list[str] = []
    designs: list[str] = []
    for number, draft in enumerate(drafts):
        wanted = model.name if len(drafts) == 1 and model.name else draft.name
        kept = bool(declared.fields) and wanted.isidentifier() and not keyword.iskeyword(wanted)
        designs.append(writer.names.take(wanted if kept else _class_name(wanted)))
        own = declared if len(drafts) == 1 else Declarations(declared.text if not number else "")
        body.extend(writer.table(draft, designs[-1], own))
    text = "\n".join([*_head(model, body), *body]).rstrip() + "\n"
    notes = (*model.notes, *writer.notes)
    return MadeModule(text, tuple(designs), notes, tuple(writer.left_out), writer.samples)


def _head(model: Model, body: Sequence[str]) -> Iterator[str]:
    text = "\n".join(body)
    name = " ".join((model.name or "a model").split())
    yield '# mypy: disable-error-code="empty-body"'
    yield _doc(f"{name}, made from a model of NoSQL Workbench. The questions are a beginning: write your own.")
    yield ""
    yield "from __future__ import annotations"
    yield ""
    names = _names_in(text)
    for module, types in _STANDARD.items():
        used = [kind for kind in types if kind in names]
        if used:
            yield f"from {module} import {', '.join(used)}"
    yield ""
    needed = [word for word in _IMPORTS if word in names]
    yield from _wrapped("from keyplan import ", sorted(needed), "()", "")
    yield ""


def _names_in(text: str) -> set[str]:
    """The names that a module's text uses, without those of its own classes."""
    nodes = [*ast.walk(ast.parse(text))]
    own = {node.name for node in nodes if isinstance(node, ast.ClassDef)}
    return {node.id for node in nodes if isinstance(node, ast.Name)} - own


class _Names:
    """Names of a module, each given once."""

    def __init__(self, taken: Collection[str]) -> None:
        self.taken = set(taken)

    def take(self, wanted: str) -> str:
        text, number = wanted, 2
        while text in self.taken or keyword.iskeyword(text):
            text, number = f"{wanted}{number}", number + 1
        self.taken.add(text)
        return text


class _Module:
    def __init__(self, without: Collection[str], freed: Collection[str] = ()) -> None:
        self.without = without
        self.left_out: list[str] = []
        self.samples: dict[str, dict[str, list[Item]]] = {}
        self.notes: list[str] = []
        self.names = _Names({*_IMPORTED, "annotations"} - {*freed})
        """``freed`` are names that aren't imported after all, and may be an entity's."""

    def table(self, draft: TableDraft, design: str, declared: Declarations) -> Iterator[str]:
        """The text for one table."""
        indexes = {index.name: self.names.take(_constant(index.name)) for index in draft.indexes}
        yield ""
        for index in draft.indexes:
            yield f"{indexes[index.name]} = {_index(index)}"
        classes = [self._class(entity) for entity in draft.entities]
        self.notes += draft.notes
        for entity, name in zip(draft.entities, classes, strict=True):
            for key, texts in entity.notes.items():
                self.notes += [f"{name}.{key}: {text}" if key else f"{name}: {text}" for text in texts]
        self.samples[design] = {
            name: entity_draft.items for name, entity_draft in zip(classes, draft.entities, strict=True)
        }
        fields = [_Fields(entity) for entity in draft.entities]
        for entity, name, own in zip(draft.entities, classes, fields, strict=True):
            yield from self._entity(entity, name, own, indexes)
        known = TYPE_NAMES | {"Through"} | {entity_draft.name for entity_draft in draft.entities} & set(classes)
        for result in declared.results:
            if not result.mentions - known and result.name not in self.names.taken:
                known |= {self.names.take(result.name)}
                yield from ("", "", f"class {result.name}({result.base}):")
                yield from (f"    {name}: {kind}" for name, kind in result.members)
        yield ""
        yield ""
        yield f"class {design}(Design):"
        yield f"    {_doc(declared.text.partition(chr(10))[0] or f'The table {draft.name}.')}"
        yield ""
        yield from _table(draft, list(indexes.values()), classes)
        if declared.reads:
            keys = {name: set(own.keys) for name, own in zip(classes, fields, strict=True)}
            yield from self._declared_reads(design, declared.reads, known, indexes, keys)
            return
        numbers = count(1)
        taken = _Names(["table", "compiled"])
        for entity, name, own in zip(draft.entities, classes, fields, strict=True):
            for question in _questions(entity, name, own):
                free = [text for text in question.names if f"{design}.{text}" not in self.without]
                if not free:
                    self.left_out.append(f"{design}.{question.names[-1]}")
                    continue
                yield ""
                yield from question.lines(taken.take(free[0]), next(numbers))

    def _declared_reads(
        self,
        design: str,
        reads: Sequence[ReadDeclaration],
        known: Set[str],
        indexes: Mapping[str, str],
        keys: Mapping[str, Set[str]],
    ) -> Iterator[str]:
        """The questions that the description holds, without those about what the model doesn't have: types, keys,
        indexes.
        """
        for read in reads:
            place = f"{design}.{read.name}"
            missing = sorted(read.mentions - known)
            missing += [f"{cls}.{key}" for cls, key in read.keys if cls in known and key not in keys.get(cls, ())]
            missing += [index for index in read.indexes if index not in indexes]
            if missing:
                self.notes.append(f"no question {place}: the model has no {' and no '.join(missing)}")
            elif place in self.without:
                self.left_out.append(place)
            else:
                yield ""
                yield from _declared_read(read, indexes)

    def _class(self, entity: EntityDraft) -> str:
        wanted = entity.name if entity.declared else _class_name(entity.name)
        return self.names.take(f"{wanted}Item" if wanted in self.names.taken else wanted)

    @staticmethod
    def _entity(entity: EntityDraft, name: str, own: _Fields, indexes: dict[str, str]) -> Iterator[str]:
        yield ""
        yield ""
        yield f"class {name}(Entity, extra={_text('allow')}):" if entity.open else f"class {name}(Entity):"
        yield f"    {_doc(_doc_of(entity))}"
        yield from _comments(entity.notes.get("", ()))
        yield ""
        for column in own.order:
            yield f"    {own.line(column)}"
        if own.order:
            yield ""
        for label in entity.labels:
            yield f"    {own.key_name(label.name)} = Discriminator({_text(label.attribute)}, {_text(label.value)})"
        for key in (entity.primary, *entity.keys):
            yield from _comments(entity.notes.get(key.name, ()))
            yield f"    {own.key_name(key.name)} = {_key(key, own, indexes)}"
        for claim in entity.claims:
            style = [] if claim.style is None else [f"style={style_text(claim.style)}"]
            yield f"    {own.key_name(claim.name)} = Unique({', '.join([_sides(claim, own), *style])})"


class _Fields:
    """The fields of one entity: their names, types and defaults."""

    def __init__(self, entity: EntityDraft) -> None:
        self.entity = entity
        self.in_primary = {name for text in (*entity.primary.partition, *entity.primary.sort) for name in _fields(text)}
        labels = {label.attribute for label in entity.labels}
        self.order = [column for column in entity.columns if column.attribute not in labels]
        if not entity.declared:  # what names an item stands first
            self.order.sort(key=lambda column: column.name not in self.in_primary)
        self._taken = _Names([*(name for name in dir(Entity) if not name.startswith("_")), *_RESERVED])
        self.names = {column.name: self._taken.take(self._free(column)) for column in self.order}
        self._keys: dict[str, str] = {}

    @property
    def keys(self) -> Collection[str]:
        """The names of its keys and labels so far."""
        return self._keys.values()

    def _free(self, column: Column) -> str:
        """The column's name, with a line behind it where it means something else: to Python, an entity or a pattern."""
        name = column.name
        attributes = {element.attribute for element in self.order if element is not column}
        other = keyword.iskeyword(name) or name in self._taken.taken or name == self.annotation(column)
        return f"{name}_" if other or name in attributes else name

    def key_name(self, wanted: str) -> str:
        """The name of a key, which no field has."""
        if wanted not in self._keys:
            self._keys[wanted] = self._taken.take(wanted)
        return self._keys[wanted]

    def optional(self, column: Column) -> bool:
        """Whether an item may be without it."""
        return column.name not in self.in_primary and (not column.values or not column.whole)

    def annotation(self, column: Column) -> str:
        """The field's type, without None."""
        mark = self.entity.marks.get(column.name)
        if mark is not None:
            return mark
        if column.declared is not None:
            return column.declared.type
        if column.constant:
            return f"Literal[{_literals(list(dict.fromkeys(column.values)))}]"
        specs = self.entity.specs.get(column.name, set[str]())
        values = [value for value in column.values if value is not None]
        if any(map(is_padded, specs)):
            return "int"
        if specs & {"ms", "s"} or any("%" in spec for spec in specs):
            return "datetime"
        if "desc" in specs:
            return "date" if values and all(is_day(value) for value in values) else "datetime"
        if column.tag == "N":
            return self._number(column, values, used=bool(specs))
        if column.tag == "S" and values and all(is_moment(value) for value in values):
            return "datetime"
        if column.tag == "L":
            texts = all(isinstance(value, list) and all(isinstance(part, str) for part in value) for value in values)
            return "tuple[str, ...]" if specs else "list[str]" if values and texts else "list[Any]"
        if column.tag == "NS":
            return "set[Decimal]"
        return _TYPES.get(column.tag, "str" if specs else "Any")

    def _number(self, column: Column, values: list[Any], *, used: bool) -> str:
        if (values or used) and all(re.fullmatch(r"-?\d+", value) for value in values):
            return "int"
        return "float" if used and column.attribute != column.name else "Decimal"

    def line(self, column: Column) -> str:
        """The field's declaration."""
        kind = self.annotation(column)
        name = self.names[column.name]
        if column.declared is not None:
            return _declared_line(name, kind, column.declared)
        alias = f"alias={_text(column.attribute)}" if column.attribute != name else ""
        if kind == "Version":
            default = "default=0" if alias else "0"
        elif column.constant and len(set(column.values)) == 1:
            default = f"default={_text(column.values[0])}" if alias else _text(column.values[0])
        elif not self.optional(column):
            default = ""
        elif kind.startswith("set["):
            default = "default_factory=set"
        else:
            kind = kind if kind == "Any" else f"{kind} | None"
            default = "default=None" if alias else "None"
        if alias or default.startswith("default_factory"):
            return f"{name}: {kind} = Field({', '.join(filter(None, [default, alias]))})"
        return f"{name}: {kind} = {default}" if default else f"{name}: {kind}"

    def called(self, name: str) -> str:
        """What a field is called in this module; a description may name one that there isn't, which is told then."""
        return self.names.get(name, name)

    def template(self, template: str) -> str:
        """A template with the fields' names in this module."""
        pieces = [
            element
            if isinstance(element, str)
            else f"{{{self.called(element[0])}{':' if element[1] else ''}{element[1]}}}"
            for element in split_template(template, raw=True)
        ]
        return "".join(pieces)


def _fields(template: str) -> list[str]:
    return [name for name, _ in variables(template)]


def _declared_read(read: ReadDeclaration, indexes: Mapping[str, str]) -> Iterator[str]:
    """A question as its design declared it."""
    yield f"    @read({read.options_with(indexes)})"
    line = (
        f"    def {read.name}(self{''.join(f', {parameter}' for parameter in read.parameters)}) -> {read.returns}: ..."
    )
    if len(line) <= _LINE_MAX:
        yield line
        return
    yield f"    def {read.name}("
    yield "        self,"
    yield from (f"        {parameter}," for parameter in read.parameters)
    yield f"    ) -> {read.returns}: ..."


@dataclass(frozen=True)
class _Question:
    """A question, and the names that it can have: the first that is free is taken."""

    names: tuple[str, ...]
    options: str
    parameters: tuple[str, ...]
    returns: str
    doc: str

    def lines(self, name: str, number: int) -> Iterator[str]:
        """The method."""
        yield f'    @read("R{number}"{self.options})'
        line = f"    def {name}(self, {', '.join(self.parameters)}) -> {self.returns}:"
        if len(line) <= _LINE_MAX:
            yield line
        else:
            yield f"    def {name}("
            yield f"        self, {', '.join(self.parameters)}"
            yield f"    ) -> {self.returns}:"
        yield f"        {_doc(self.doc)}"
        yield "        ..."


def _questions(entity: EntityDraft, cls: str, own: _Fields) -> Iterator[_Question]:
    """What each key answers: one item by the primary key, a page by the partition key of the table or of an index."""
    name = snake(cls)
    keyed = [column for column in own.order if column.name in own.in_primary]
    parameters = tuple(f"{own.names[column.name]}: {own.annotation(column)}" for column in keyed)
    if parameters:
        yield _Question((name, f"{name}_by_key"), "", parameters, f"{cls} | None", f"One {cls}, by its key.")
    for key in (entity.primary, *entity.keys):
        fields = dict.fromkeys(field for template in key.partition for field in _fields(template))
        columns = [column for column in (entity.column(field) for field in fields) if column is not None]
        fixed = {field: allowed[0] for field, allowed in key.when.items() if len(allowed) == 1}
        known = tuple(
            f"{own.names[column.name]}: {own.annotation(column)}" for column in columns if column.name not in fixed
        )
        opened = [(field, spec) for template in key.sort for field, spec in variables(template) if field not in fields]
        if key is entity.primary and not opened:
            continue  # it is one item
        ordered = bool(opened) and opened[0][1] != "d"
        options = f", order_by={_text(own.called(opened[0][0]))}" if ordered else ""
        if fixed:
            where = ", ".join(f"{_text(own.called(field))}: {_literal(value)}" for field, value in fixed.items())
            options += f", where={{{where}}}"
        paged = ("limit: int = 20", "cursor: Cursor | None = None")
        if key is entity.primary:
            by = "_and_".join(own.names[column.name] for column in columns)
            doc = f"Each {cls} of one partition, page by page."
            names = (f"{name}_by_{by}" if by else f"{name}_list", f"{name}_of_partition")
        else:
            doc = f"Each {cls} under one key on {key.index}, page by page."
            names = (f"{name}_{own.key_name(key.name)}", f"{name}_by_{snake(key.index or '')}")
        yield _Question(names, options, (*known, *paged), f"Page[{cls}]", doc)


# Parts of the text


def _declared_line(name: str, kind: str, declared: FieldDeclaration) -> str:
    """A field as its design declared it."""
    alias = f"alias={_text(declared.attribute)}" if declared.attribute != name else ""
    if declared.slots is not None:
        return f"{name}: {kind} = CounterShards({declared.slots})"
    if declared.factory is not None:
        return f"{name}: {kind} = Field({', '.join(filter(None, [f'default_factory={declared.factory}', alias]))})"
    if declared.default is None:
        return f"{name}: {kind} = Field({alias})" if alias else f"{name}: {kind}"
    return (
        f"{name}: {kind} = Field(default={declared.default}, {alias})"
        if alias
        else f"{name}: {kind} = {declared.default}"
    )


def _doc_of(entity: EntityDraft) -> str:
    if entity.facet is None:
        return f"{entity.name}, as {'its sample shows' if entity.items else 'its key says'}."
    return f"The facet {entity.facet}." if entity.facet == entity.name else f"Items of the facet {entity.facet}."


def _comments(notes: Sequence[str]) -> Iterator[str]:
    """What of a key is a guess, above it."""
    for note in notes:
        text = " ".join(note.split())
        yield from textwrap.wrap(
            text, _LINE_MAX, initial_indent="    # note: ", subsequent_indent="    #   ", break_on_hyphens=False
        )


def _table(draft: TableDraft, indexes: Sequence[str], classes: Sequence[str]) -> Iterator[str]:
    ((partition, kind),) = draft.key.partition
    yield "    table = Table("
    yield f"        {_text(draft.name)},"
    if indexes:
        yield from _wrapped("        indexes=", indexes, "[]", ",", always=True)
    yield from _wrapped("        entities=", classes, "[]", ",", always=True)
    yield f"        partition={_attribute(partition, kind)},"
    sort = _attribute(*draft.key.sort[0]) if draft.key.sort else "None"
    yield f"        sort={sort},"
    if draft.key_style != OURS:
        yield f"        key_style={style_text(draft.key_style)},"
    yield "    )"


def _wrapped(head: str, names: Sequence[str], brackets: str, tail: str, *, always: bool = False) -> Iterator[str]:
    """Names on one line, or each on its own where they are many. ``always``: in brackets on one line too."""
    opening, closing = brackets[0], brackets[1]
    line = f"{head}{opening if always else ''}{', '.join(names)}{closing if always else ''}{tail}"
    if len(line) <= _LINE_MAX:
        yield line
        return
    margin = " " * (len(head) - len(head.lstrip()))
    yield f"{head}{opening}"
    yield from (f"{margin}    {name}," for name in names)
    yield f"{margin}{closing}{tail}"


def _index(index: IndexDeclaration) -> str:
    parts = [_text(index.name), _attribute_list(index.partition)]
    if index.sort:
        parts.append(_attribute_list(index.sort))
    if index.projection != "ALL":
        text = index.projection
        parts.append(f"projection={_text(text) if isinstance(text, str) else _texts(text)}")
    if index.local:
        parts.append("local=True")
    return f"Index({', '.join(parts)})"


def _attribute(name: str, kind: str) -> str:
    wrapped = {"S": "{}", "N": "Number({})", "B": "Binary({})"}
    return wrapped[kind].format(_text(name))


def _attribute_list(attributes: Sequence[tuple[str, str]]) -> str:
    texts = [_attribute(name, kind) for name, kind in attributes]
    return texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]"


def _key(key: KeyDeclaration, own: _Fields, indexes: dict[str, str]) -> str:
    parts = [_sides(key, own)]
    if key.index is not None:
        parts.append(f"index={indexes[key.index]}")
    if key.when:
        pairs = ", ".join(
            f"{_text(own.called(name))}: {_literal(allowed[0]) if len(allowed) == 1 else f'({_literals(allowed)})'}"
            for name, allowed in key.when.items()
        )
        parts.append(f"when={{{pairs}}}")
    if key.shards > 1:
        parts.append(f"shards={key.shards}")
    if key.style is not None:
        parts.append(f"style={style_text(key.style)}")
    return f"Key({', '.join(parts)})"


def _sides(key: KeyDeclaration, own: _Fields) -> str:
    sides = [side for side in (key.partition, key.sort) if side]
    texts = [[_text(own.template(text)) for text in side] for side in sides]
    return ", ".join(text[0] if len(text) == 1 else f"[{', '.join(text)}]" for text in texts)


def _text(text: str) -> str:
    """A text as Python's literal, in double quotes where that is as well."""
    shown = repr(text)
    return f'"{shown[1:-1]}"' if shown.startswith("'") and '"' not in shown else shown


def _texts(texts: Sequence[str]) -> str:
    return f"[{', '.join(map(_text, texts))}]"


def _literal(value: Any) -> str:
    return _text(value) if isinstance(value, str) else repr(value)


def _literals(values: Sequence[Any]) -> str:
    return ", ".join(map(_literal, values))


def _doc(text: str) -> str:
    """A docstring; nothing in the text can end it."""
    line = " ".join(text.split()).replace("\\", "\\\\").replace('"', "'")
    return f'"""{line}"""'


def _class_name(text: str) -> str:
    words = re.findall(r"[A-Z]+(?![a-z])|[A-Z][a-z0-9]*|[a-z0-9]+", re.sub(r"[^0-9A-Za-z]+", " ", text))
    name = "".join(word[0].upper() + (word[1:].lower() if word.isupper() else word[1:]) for word in words)
    return name if re.match(r"[A-Za-z]", name) else f"Item{name}"


def _constant(text: str) -> str:
    name = re.sub(r"[^0-9A-Za-z]+", "_", text).strip("_").upper()
    return name if re.match(r"[A-Z]", name) else f"INDEX_{name}".rstrip("_")
