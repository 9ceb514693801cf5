"""What a design declares and Workbench has no place for: written into a model's description, one declaration a line,
and read back from there.

They are read as Python's literals, never run. A line that isn't one, since somebody has edited it, is passed over.
"""

from __future__ import annotations

import ast
import enum
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from keyplan.formats.workbench.declared import (
    FieldDeclaration,
    ReadDeclaration,
    ResultDeclaration,
    field_in,
    lines_of,
    read_in,
    result_in,
)
from keyplan.model.compiled.compiled_design import CompiledDesign
from keyplan.model.declared.indexes import Index, KeyAttribute
from keyplan.model.declared.keys import OURS, Discriminator, Key, KeyStyle, Unique
from keyplan.model.stored.stored_entity import CompiledEntity
from keyplan.model.stored.stored_keys import CompiledKey

__all__ = [
    "CLAIM_ATTRIBUTE",
    "PRIMARY",
    "Declarations",
    "IndexDeclaration",
    "KeyDeclaration",
    "LabelDeclaration",
    "claim_facet",
    "declarations_in",
    "description_of",
    "is_shown",
    "style_text",
]

CLAIM_ATTRIBUTE = "claim_of"
"""The attribute that a claim item has besides its key."""
PRIMARY = "primary"
"""What a primary key is called where nothing says otherwise."""
_HEADING = "Declarations, as Keyplan reads them back:"
_ASSIGNED = re.compile(r"([\w.-]+) = (Key|Unique|Index|Discriminator|Table)\((.*)\)")
_OPEN = re.compile(r"class (\w+)\(Entity, extra='allow'\)")
_MARKED = re.compile(r"(\w+)\.(\w+): (Ttl|Version)")


def is_shown(index: Index) -> bool:
    """Whether Workbench can show the index."""
    return not index.local and len(index.partition) == 1 and len(index.sort) <= 1


def claim_facet(entity: str, claim: str) -> str:
    """The name of the facet with an entity's claims."""
    return f"{entity}.{claim}"


# Writing


def description_of(design: CompiledDesign) -> str:
    """A model's description: what the design says of itself, and the declarations."""
    lines = [f"{index.name} = {_index_text(index)}" for index in design.table.indexes if not is_shown(index)]
    if design.table.key_style != OURS:
        lines.append(f"table = Table(key_style={style_text(design.table.key_style)})")
    for entity in design.entities.values():
        lines.extend(_entity_lines(entity))
    lines.extend(lines_of(design))
    return "\n".join(filter(None, [design.doc, _HEADING if lines else "", *lines]))


def _entity_lines(entity: CompiledEntity) -> Iterator[str]:
    """All keys but a plain primary one, which the facet's aliases show; the labels; and whether it takes attributes
    that nothing declares.
    """
    if entity.cls.model_config.get("extra") == "allow":
        yield f"class {entity.name}(Entity, extra='allow')"
    declared = {name: value for base in reversed(entity.cls.__mro__) for name, value in vars(base).items()}
    for key in (*entity.keys, *entity.claims):
        own = declared.get(key.name)
        style = own.style if isinstance(own, Key | Unique) else None
        shown = any(template.variables for _, template in key.attributes) and style is None
        if key is not entity.primary or key.shards > 1 or key.name != PRIMARY or not shown:
            yield f"{entity.name}.{key.name} = {_key_text(key, style)}"
    for name, value in declared.items():
        if isinstance(value, Discriminator):
            yield f"{entity.name}.{name} = Discriminator({value.attribute!r}, {value.value!r})"


def style_text(style: KeyStyle) -> str:
    """A style as Python writes it."""
    parts = ["raw=True"] * style.raw + ([f"case={style.case!r}"] if style.case else [])
    return f"KeyStyle({', '.join(parts)})"


def _index_text(index: Index) -> str:
    parts = [repr(index.name), _attributes_text(index.partition)]
    if index.sort:
        parts.append(_attributes_text(index.sort))
    if index.projection != "ALL":
        parts.append(f"projection={index.projection!r}")
    if index.local:
        parts.append("local=True")
    return f"Index({', '.join(parts)})"


def _attributes_text(attributes: tuple[KeyAttribute, ...]) -> str:
    types = {"S": "{!r}", "N": "Number({!r})", "B": "Binary({!r})"}
    return _one_or_several(types[attribute.type].format(attribute.name) for attribute in attributes)


def _key_text(key: CompiledKey, style: KeyStyle | None) -> str:
    sides = [side for side in (key.partition, key.sort) if side]
    parts = [_one_or_several(repr(str(template)) for _, template in side) for side in sides]
    styled = [] if style is None else [f"style={style_text(style)}"]
    if key.is_claim:
        return f"Unique({', '.join([*parts, *styled])})"
    if key.index is not None:
        parts.append(f"index={key.index.name!r}")
    if key.when:
        plain = {name: tuple(_plain(value) for value in allowed) for name, allowed in key.when.items()}
        parts.append(f"when={plain!r}")
    if key.shards > 1:
        parts.append(f"shards={key.shards}")
    return f"Key({', '.join([*parts, *styled])})"


def _one_or_several(texts: Iterable[str]) -> str:
    result = list(texts)
    return result[0] if len(result) == 1 else f"[{', '.join(result)}]"


def _plain(value: Any) -> Any:
    return value.value if isinstance(value, enum.Enum) else value


# Reading


@dataclass(frozen=True, slots=True)
class KeyDeclaration:
    """A key of an entity, or a claim. ``index`` is an index's name, or None for the table."""

    name: str
    partition: tuple[str, ...]
    sort: tuple[str, ...]
    index: str | None = None
    when: dict[str, tuple[Any, ...]] = field(default_factory=dict[str, tuple[Any, ...]])
    shards: int = 1
    style: KeyStyle | None = None
    """How values are written, where not as the table's keys are."""


@dataclass(frozen=True, slots=True)
class LabelDeclaration:
    """An attribute that has one value in all items of an entity."""

    name: str
    attribute: str
    value: str


@dataclass(frozen=True, slots=True)
class IndexDeclaration:
    """An index that Workbench doesn't show: a local one, or one with several attributes in a key."""

    name: str
    partition: tuple[tuple[str, str], ...]
    sort: tuple[tuple[str, str], ...]
    projection: str | tuple[str, ...] = "ALL"
    local: bool = False


@dataclass
class Declarations:
    """``keys``, ``claims``, ``labels`` and ``fields`` by entity, ``marks`` by entity and field; ``reads`` are
    questions, and ``results`` what they answer with. ``open`` are entities that take attributes that nothing declares.
    """

    text: str = ""
    """The description without them."""
    keys: dict[str, list[KeyDeclaration]] = field(default_factory=dict[str, list[KeyDeclaration]])
    claims: dict[str, list[KeyDeclaration]] = field(default_factory=dict[str, list[KeyDeclaration]])
    indexes: list[IndexDeclaration] = field(default_factory=list[IndexDeclaration])
    labels: dict[str, list[LabelDeclaration]] = field(default_factory=dict[str, list[LabelDeclaration]])
    open: set[str] = field(default_factory=set[str])
    key_style: KeyStyle = OURS
    marks: dict[tuple[str, str], str] = field(default_factory=dict[tuple[str, str], str])
    fields: dict[str, list[FieldDeclaration]] = field(default_factory=dict[str, list[FieldDeclaration]])
    results: list[ResultDeclaration] = field(default_factory=list[ResultDeclaration])
    reads: list[ReadDeclaration] = field(default_factory=list[ReadDeclaration])


def declarations_in(description: str) -> Declarations:
    """The declarations of a model's description."""
    text, _, rest = description.partition(_HEADING)
    declarations = Declarations(text.strip())
    lines = [line.strip() for line in rest.splitlines()]
    for line in lines:
        marked = _MARKED.fullmatch(line)
        if marked is not None:
            entity, name, mark = marked.groups()
            declarations.marks[entity, name] = mark
        opened = _OPEN.fullmatch(line)
        if opened is not None:
            declarations.open.add(opened.group(1))
        field_ = field_in(line)
        if field_ is not None:
            declarations.fields.setdefault(field_[0], []).append(field_[1])
        assigned = _ASSIGNED.fullmatch(line)
        if assigned is not None:
            _declare(declarations, assigned.group(1), assigned.group(2), assigned.group(3))
    for entity, own in list(declarations.fields.items()):
        if all(
            (entity, declaration.name) in declarations.marks for declaration in own
        ):  # models that name the marked fields alone
            del declarations.fields[entity]
    _declare_questions(declarations, lines)
    return declarations


def _declare_questions(declarations: Declarations, lines: Iterable[str]) -> None:
    names = set(declarations.fields)
    for line in lines:
        result = result_in(line, names | {value.name for value in declarations.results})
        if result is not None and result.name not in names:
            declarations.results.append(result)
    names |= {declaration.name for declaration in declarations.results}
    for line in lines:
        read = read_in(line, names)
        if read is not None:
            declarations.reads.append(read)


def _declare(declarations: Declarations, name: str, kind: str, arguments: str) -> None:
    try:
        call = ast.parse(f"f({arguments})", mode="eval").body
        assert isinstance(call, ast.Call)  # noqa: S101 - the text before the parse says so
        sides = [_side(expression) for expression in call.args]
        named = {
            keyword.arg: _style(keyword.value)
            if keyword.arg in {"style", "key_style"}
            else ast.literal_eval(keyword.value)
            for keyword in call.keywords
            if keyword.arg is not None
        }
        if kind == "Table":
            declarations.key_style = named["key_style"]
            return
        if kind == "Discriminator":
            entity, _, label = name.partition(".")
            attribute, value = (side[0][0] for side in sides)
            if label.isidentifier():
                declarations.labels.setdefault(entity, []).append(LabelDeclaration(label, attribute, value))
            return
        if kind == "Index":
            declarations.indexes.append(_index(sides, named))
            return
        entity, _, key = name.partition(".")
        declared = _key(key, sides, named)
    except (SyntaxError, ValueError, TypeError, IndexError, KeyError, RecursionError):
        return
    target = declarations.claims if kind == "Unique" else declarations.keys
    target.setdefault(entity, []).append(declared)


def _side(node: ast.expr) -> tuple[tuple[str, str], ...]:
    """An argument as names or templates, each with its type: ``'pk'``, ``Number('at')``, or a list of them."""
    if isinstance(node, ast.List):
        return tuple(part for elt in node.elts for part in _side(elt))
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and len(node.args) == 1:
        return ((_text(node.args[0]), {"Number": "N", "Binary": "B"}[node.func.id]),)
    return ((_text(node), "S"),)


def _style(node: ast.expr) -> KeyStyle:
    """``KeyStyle(raw=True, case='lower')``. Raises ValueError for anything else."""
    match node:
        case ast.Call(func=ast.Name(id="KeyStyle"), args=[], keywords=keywords):
            named = {keyword.arg: ast.literal_eval(keyword.value) for keyword in keywords}
            raw, case = named.pop("raw", False), named.pop("case", None)
            if not named and isinstance(raw, bool) and case in {None, "lower", "upper"}:
                return KeyStyle(raw=raw, case=case)
        case _:
            pass
    raise ValueError(ast.unparse(node))


def _text(node: ast.expr) -> str:
    value = ast.literal_eval(node)
    if not isinstance(value, str):
        raise TypeError(value)
    return value


def _key(name: str, sides: list[tuple[tuple[str, str], ...]], named: dict[str, Any]) -> KeyDeclaration:
    partition, sort = (tuple(text for text, _ in side) for side in (sides[0], sides[1] if len(sides) > 1 else ()))
    if not name.isidentifier():
        raise ValueError(name)
    when = {str(field): tuple(allowed) for field, allowed in dict(named.get("when", {})).items()}
    index = named.get("index")
    shards = int(named.get("shards", 1))
    return KeyDeclaration(
        name, partition, sort, None if index is None else str(index), when, shards, named.get("style")
    )


def _index(sides: list[tuple[tuple[str, str], ...]], named: dict[str, Any]) -> IndexDeclaration:
    ((name, _),) = sides[0]
    projection = named.get("projection", "ALL")
    included = projection if isinstance(projection, str) else tuple(str(value) for value in projection)
    return IndexDeclaration(
        name, sides[1], sides[2] if len(sides) > 2 else (), included, local=bool(named.get("local", False))
    )
