"""Fields, views and questions of a design, which Workbench has no place for: written into a model's description, one a
line, and read back. Keys are in ``declarations.py``, which reads the description whole.

A line is Python's syntax and never run: ``Article.title: str = Field(alias='Title')``,
``@read('AP5') def articles(author_id: str) -> Page[Article]``.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields
from typing import Any, cast, get_origin, get_type_hints
from uuid import uuid4

from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from keyplan.formats.workbench.types import is_type, is_value, literal_text, serialized_text, stored_text, type_text
from keyplan.model.compiled.compiled_design import CompiledDesign
from keyplan.model.compiled.plans import ReadPattern
from keyplan.model.compiled.return_types import ShapeKind
from keyplan.model.declared.entity import Entity
from keyplan.model.declared.fields import SLOTS_MAX, now, slots_of, ulid
from keyplan.model.declared.keys import Key
from keyplan.model.declared.parameters import Through
from keyplan.model.declared.pattern_load import Load
from keyplan.model.declared.patterns import Options
from keyplan.model.declared.views import entity_of_view, types_in, views_in
from keyplan.model.stored.pydantic_values import Form, json_of
from keyplan.model.stored.stored_entity import CompiledEntity
from keyplan.model.stored.stored_fields import StoredField

__all__ = [
    "FieldDeclaration",
    "ReadDeclaration",
    "ResultDeclaration",
    "field_in",
    "field_notes",
    "lines_of",
    "read_in",
    "result_in",
]

_FACTORIES: dict[Any, str] = {
    set: "set", frozenset: "frozenset", list: "list", dict: "dict", tuple: "tuple", ulid: "ulid", now: "now",
    uuid4: "uuid4",
}  # fmt: skip
_PLAIN_OPTIONS = ("newest_first", "order_by", "consistent", "scan", "segments", "total", "complete")
"""Options whose values are literals."""
_OPTIONS = (*_PLAIN_OPTIONS, "entity", "scan_index", "key", "where", "through", "per_second", "items", "item_bytes")
_READ = re.compile(r"@read\((?P<options>.*)\) def (?P<name>\w+)\((?P<parameters>.*)\) -> (?P<returns>.+)")
_RESULT = re.compile(r"class (?P<name>\w+)\((?P<base>NamedTuple|View\[\w+\])\): (?P<members>.+)")


@dataclass(frozen=True, slots=True)
class FieldDeclaration:
    """A field as its entity declares it. ``default`` and ``factory`` are texts; a required field has neither.
    ``slots``: over how many items it spreads a number.
    """

    name: str
    type: str
    attribute: str
    default: str | None = None
    factory: str | None = None
    slots: int | None = None


@dataclass(frozen=True, slots=True)
class ResultDeclaration:
    """The answer of a question that is a class of its own, its members with their types. ``base``: what class it is
    made of, ``NamedTuple`` or ``View[Article]``.
    """

    name: str
    base: str
    members: tuple[tuple[str, str], ...]

    @property
    def mentions(self) -> frozenset[str]:
        """The names of types in it."""
        own = frozenset({"NamedTuple", "View"})
        return _names_in("\n".join([self.base, *(kind for _, kind in self.members)])) - own


@dataclass(frozen=True, slots=True)
class ReadDeclaration:
    """A question: what stands in its decorator, its parameters, and what it answers with, each as it is written."""

    name: str
    options: str
    parameters: tuple[str, ...]
    returns: str

    @property
    def keys(self) -> list[tuple[str, str]]:
        """The keys that it names, each as its entity and its name."""
        nodes = ast.walk(ast.parse(f"f({self.options})"))
        return [
            (node.value.id, node.attr)
            for node in nodes
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)
        ]

    @property
    def indexes(self) -> list[str]:
        """The indexes that it names."""
        return [str(value.value) for value in self._index_nodes(ast.parse(f"f({self.options})"))]

    def options_with(self, indexes: Mapping[str, str]) -> str:
        """What stands in its decorator, with the names that the indexes have in the module."""
        tree = ast.parse(f"f({self.options})", mode="eval")
        named = {id(value): indexes[str(value.value)] for value in self._index_nodes(tree)}
        call = tree.body
        assert isinstance(call, ast.Call)  # noqa: S101 - the text before the parse says so
        for keyword in call.keywords:
            if id(keyword.value) in named:
                keyword.value = ast.Name(named[id(keyword.value)])
        return ast.unparse(call)[2:-1] if named else self.options

    @staticmethod
    def _index_nodes(tree: ast.AST) -> list[ast.Constant]:
        return [
            node.value
            for node in ast.walk(tree)
            if isinstance(node, ast.keyword) and node.arg == "scan_index" and isinstance(node.value, ast.Constant)
        ]

    @property
    def text(self) -> str:
        """The function, without its body."""
        return f"@read({self.options})\ndef {self.name}({', '.join(self.parameters)}) -> {self.returns}:"

    @property
    def mentions(self) -> frozenset[str]:
        """The names of types in it, ``through=`` included."""
        return _names_in(f"{self.text} ...") - {"read"}


def _names_in(text: str) -> frozenset[str]:
    return frozenset(node.id for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Name))


# Writing


def lines_of(design: CompiledDesign) -> Iterator[str]:
    """The fields of each entity, the views, the results that are NamedTuples, and the questions, a line each.

    A question that mentions a type without a text is left out.
    """
    names: dict[Any, str] = {compiled_entity.cls: compiled_entity.name for compiled_entity in design.entities.values()}
    for entity in design.entities.values():
        yield from _field_lines(entity)
    for view in dict.fromkeys(view for read in design.reads.values() for view in views_in(read.signature.returns)):
        owner = entity_of_view(view)
        if owner in names and view not in names:
            members = [f"{name}: {_field_text(kind)}" for name, kind in types_in(view).items()]
            yield f"class {view.__name__}(View[{names[owner]}]): {'; '.join(members)}"
            names[view] = view.__name__
    for read in design.reads.values():
        factory = read.shape.factory
        if read.shape.kind is ShapeKind.COLLECTION and factory not in names:
            try:
                members = [f"{name}: {type_text(value, names)}" for name, value in get_type_hints(factory).items()]
            except (ValueError, NameError, TypeError):
                continue
            names[factory] = factory.__name__
            yield f"class {factory.__name__}(NamedTuple): {'; '.join(members)}"
    for read in design.reads.values():
        try:
            yield _read_line(read, names)
        except ValueError:
            continue


def _field_lines(entity: CompiledEntity) -> Iterator[str]:
    """The fields. One that holds other entities holds their dicts, as it is stored."""
    for name, field in entity.fields.items():
        text = _text_of(entity, field)
        start = f"{entity.name}.{name}: {text}"
        info = entity.cls.model_fields.get(name)
        slots = None if info is None else slots_of(info)
        arguments = list(_default_texts(info, entity, field))
        if field.attribute != name:
            arguments.append(f"alias={field.attribute!r}")
        if slots is not None:
            yield f"{start} = CounterShards({slots})"
        else:
            yield start + (f" = Field({', '.join(arguments)})" if arguments else "")


def _field_text(annotation: Any) -> str:
    """A field's type; that of what is stored where it has no text."""
    try:
        return type_text(annotation, {})
    except ValueError:
        return stored_text(annotation)


def _text_of(entity: CompiledEntity, field: StoredField) -> str:
    """The type of an entity's field; that of what its serializer makes, where it has one."""
    return serialized_text(entity.cls, field.attribute) if field.form is Form.CUSTOM else _field_text(field.annotation)


def field_notes(design: CompiledDesign) -> Iterator[str]:
    """What of the fields is code, and can't be declared in a description."""
    for entity in design.entities.values():
        for name, field in entity.fields.items():
            info = entity.cls.model_fields.get(name)
            if field.codec is not None and field.codec.mark.write is not None:
                yield f"{entity.name}.{name}: its stored form is made by functions, which are code and left out."
            if info is None or info.is_required() or slots_of(info) is not None:
                continue
            if not any(_default_texts(info, entity, field)):
                yield f"{entity.name}.{name}: its default is made by code, which is left out: it is required then."


def _default_texts(info: FieldInfo | None, entity: CompiledEntity, field: StoredField) -> Iterator[str]:
    """A field's default as an argument of ``Field``; nothing for a required one, and for one that has no text. That of
    a type without a text is what is stored.
    """
    if info is None:
        return
    factory: Any = info.default_factory
    if factory is None and isinstance(info.default, set | frozenset) and not info.default:
        factory = set
    if factory is not None:
        known = _FACTORIES.get(get_origin(factory) or factory)  # list[str] makes a list
        if known is not None:
            yield f"default_factory={known}"
    elif info.default is not PydanticUndefined:
        value = info.default
        with suppress(ValueError):
            dumped = _text_of(entity, field) != _plain_text(field.annotation)
            yield literal_text(json_of(field.encode(value)) if dumped else value)


def _plain_text(annotation: Any) -> str | None:
    try:
        return type_text(annotation, {})
    except ValueError:
        return None


def _read_line(read: ReadPattern, names: Mapping[Any, str]) -> str:
    parameters = [
        f"{parameter.name}: {type_text(parameter.annotation, names)}"
        + ("" if parameter.required else f" = {literal_text(parameter.default)}")
        for parameter in read.signature.parameters
    ]
    options = ", ".join(_option_texts(read.options, names))
    return f"@read({options}) def {read.name}({', '.join(parameters)}) -> {type_text(read.signature.returns, names)}"


def _option_texts(options: Options, names: Mapping[Any, str]) -> Iterator[str]:
    yield repr(options.id)
    plain = Options("")
    for name in _PLAIN_OPTIONS:
        value = getattr(options, name)
        if value != getattr(plain, name):
            yield f"{name}={value!r}"
    if options.entity:
        yield f"entity=[{', '.join(_named(cls, names) for cls in options.entity)}]"
    if options.scan_index is not None:
        yield f"scan_index={options.scan_index.name!r}"
    if options.key is not None:
        yield f"key={_key_path(options.key, names)}"
    if options.where is not None:
        yield f"where={_where_text(options.where)}"
    if options.through is not None:
        yield f"through={_through_text(options.through, names)}"
    for field in fields(Load):
        value = getattr(options.load, field.name)
        if value is not None and field.name in _OPTIONS:
            yield f"{field.name}={literal_text(value)}"


def _key_path(key: Key, names: Mapping[Any, str]) -> str:
    """A key as its entity's attribute: ``Article.by_author``."""
    for cls, entity in names.items():
        for name in dir(cls):
            if getattr(cls, name, None) is key:
                return f"{entity}.{name}"
    raise ValueError(key)


def _where_text(where: Mapping[str, Any] | str) -> str:
    if isinstance(where, str):
        return repr(where)
    pairs = [f"{name!r}: {_values_text(value)}" for name, value in where.items()]
    return f"{{{', '.join(pairs)}}}"


def _values_text(value: Any) -> str:
    if isinstance(value, list | tuple | set | frozenset):
        return f"({', '.join(literal_text(element) for element in value)},)"
    return literal_text(value)


def _through_text(through: Any, names: Mapping[Any, str]) -> str:
    if isinstance(through, Through):
        given = "".join(f", {name}={field!r}" for name, field in through.fields.items())
        return f"Through({_named(through.entity, names)}{given})"
    if isinstance(through, type) and issubclass(through, Entity):
        return _named(through, names)
    ways = cast("Sequence[Any]", through)
    return f"[{', '.join(_through_text(way, names) for way in ways)}]"


def _named(cls: Any, names: Mapping[Any, str]) -> str:
    if cls not in names:
        raise ValueError(cls)
    return names[cls]


# Reading


def field_in(line: str) -> tuple[str, FieldDeclaration] | None:
    """The entity and its field in a line; None where there is none."""
    try:
        (node,) = ast.parse(line).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    if not isinstance(node, ast.AnnAssign) or not isinstance(node.target, ast.Attribute):
        return None
    owner, name = node.target.value, node.target.attr
    if not isinstance(owner, ast.Name) or not is_type(node.annotation, ()):
        return None
    result = {"attribute": name}
    if node.value is not None and not _read_arguments(node.value, result):
        return None
    text = ast.unparse(node.annotation)
    slots = int(result["slots"]) if "slots" in result else None
    declared = FieldDeclaration(name, text, result["attribute"], result.get("default"), result.get("factory"), slots)
    return owner.id, declared


def _read_arguments(node: ast.expr, result: dict[str, str]) -> bool:
    """What ``Field(...)`` or ``CounterShards(...)`` says; False for anything else."""
    match node:
        case ast.Call(func=ast.Name(id="CounterShards"), args=[ast.Constant(value=int() as count)], keywords=[]):
            result["slots"] = str(count)
            return 2 <= count <= SLOTS_MAX
        case _:
            pass
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name) or node.func.id != "Field":
        return False
    if len(node.args) > 1 or not all(map(is_value, node.args)):
        return False
    if node.args:
        result["default"] = ast.unparse(node.args[0])
    for keyword in node.keywords:
        match keyword.arg, keyword.value:
            case "alias", ast.Constant(value=str() as attribute):
                result["attribute"] = attribute
            case "default_factory", ast.Name(id=factory) if factory in _FACTORIES.values():
                result["factory"] = factory
            case _:
                return False
    return True


def result_in(line: str, names: Collection[str]) -> ResultDeclaration | None:
    """The NamedTuple or the view in a line; ``names`` are those of the entities, and of what stands before."""
    match = _RESULT.fullmatch(line)
    if match is None:
        return None
    try:
        nodes = ast.parse(match["members"]).body
        base = ast.parse(match["base"], mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    members: list[tuple[str, str]] = []
    if isinstance(base, ast.Subscript) and not is_type(base.slice, names):
        return None
    for node in nodes:
        if not isinstance(node, ast.AnnAssign) or not isinstance(node.target, ast.Name) or node.value is not None:
            return None
        if not is_type(node.annotation, names):
            return None
        members.append((node.target.id, ast.unparse(node.annotation)))
    return ResultDeclaration(match["name"], match["base"], tuple(members))


def read_in(line: str, names: Collection[str]) -> ReadDeclaration | None:
    """The question in a line; ``names`` are those of the entities and of the results."""
    match = _READ.fullmatch(line)
    if match is None:
        return None
    text = f"@read({match['options']})\ndef {match['name']}({match['parameters']}) -> {match['returns']}: ..."
    try:
        compile(text, "<a question>", "exec")  # a parameter twice parses and doesn't compile
        (node,) = ast.parse(text).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    if not isinstance(node, ast.FunctionDef) or len(node.decorator_list) != 1 or node.returns is None:
        return None
    call = node.decorator_list[0]
    plain = node.args
    if not isinstance(call, ast.Call) or plain.vararg or plain.kwarg or plain.kwonlyargs or plain.posonlyargs:
        return None
    values = [*call.args, *(keyword.value for keyword in call.keywords)]
    if len(call.args) > 1 or not all(keyword.arg in _OPTIONS for keyword in call.keywords):
        return None
    types = [node.returns, *(argument.annotation for argument in plain.args if argument.annotation is not None)]
    if len(types) != 1 + len(plain.args) or not all(is_type(kind, names) for kind in types):
        return None
    if not all(_is_option(value, names) for value in values) or not all(map(is_value, plain.defaults)):
        return None
    required = len(plain.args) - len(plain.defaults)
    parameters = tuple(
        f"{ast.unparse(argument)} = {ast.unparse(plain.defaults[place - required])}"
        if place >= required
        else ast.unparse(argument)
        for place, argument in enumerate(plain.args)
    )
    options = ", ".join([*map(ast.unparse, call.args), *map(ast.unparse, call.keywords)])
    return ReadDeclaration(node.name, options, parameters, ast.unparse(node.returns))


def _is_option(node: ast.expr, names: Collection[str]) -> bool:
    """Whether it is a literal, an entity, a way through one, or a list of these."""
    match node:
        case ast.Name(id=name):
            return name in names
        case ast.Attribute(value=ast.Name(id=name)):
            return name in names
        case ast.List(elts=parts):
            return all(_is_option(part, names) for part in parts)
        case ast.Call(func=ast.Name(id="Through"), args=[ast.Name(id=name)], keywords=keywords):
            return name in names and all(isinstance(keyword.value, ast.Constant) for keyword in keywords)
        case _:
            return is_value(node)
