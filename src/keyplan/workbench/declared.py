"""Fields and questions of a design, which Workbench has no place for: written into a model's description, one a line,
and read back. Keys are in ``declarations.py``, which reads the description whole.

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

from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from keyplan.design.compiled.model import CompiledDesign
from keyplan.design.compiled.plans import ReadPattern
from keyplan.design.compiled.shapes import ShapeKind
from keyplan.design.declared.entity import Entity
from keyplan.design.declared.fields import now, ulid
from keyplan.design.declared.load import Load
from keyplan.design.declared.options import Options
from keyplan.design.declared.parameters import Through
from keyplan.design.stored.entity import CompiledEntity
from keyplan.workbench.types import is_type, literal_text, type_text

__all__ = ["FieldDeclaration", "ReadDeclaration", "ResultDeclaration", "field_in", "lines_of", "read_in", "result_in"]

_FACTORIES = {set: "set", frozenset: "frozenset", list: "list", dict: "dict", tuple: "tuple", ulid: "ulid", now: "now"}
_OPTIONS = ("newest_first", "order_by", "consistent", "scan", "where", "through", "per_second", "items", "item_bytes")
_READ = re.compile(r"@read\((?P<options>.*)\) def (?P<name>\w+)\((?P<parameters>.*)\) -> (?P<returns>.+)")
_RESULT = re.compile(r"class (?P<name>\w+)\(NamedTuple\): (?P<members>.+)")


@dataclass(frozen=True, slots=True)
class FieldDeclaration:
    """A field as its entity declares it. ``default`` and ``factory`` are texts; a required field has neither."""

    name: str
    type: str
    attribute: str
    default: str | None = None
    factory: str | None = None


@dataclass(frozen=True, slots=True)
class ResultDeclaration:
    """The answer of a question that is a NamedTuple: its members with their types."""

    name: str
    members: tuple[tuple[str, str], ...]

    @property
    def mentions(self) -> frozenset[str]:
        """The names of types in it."""
        return _names_in("\n".join(kind for _, kind in self.members))


@dataclass(frozen=True, slots=True)
class ReadDeclaration:
    """A question: what stands in its decorator, its parameters, and what it answers with, each as it is written."""

    name: str
    options: str
    parameters: tuple[str, ...]
    returns: str

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
    """The fields of each entity, the results that are NamedTuples, and the questions, a line each.

    A type that has no text is left out with its field; a question that mentions such a type, too.
    """
    names: dict[Any, str] = {compiled_entity.cls: compiled_entity.name for compiled_entity in design.entities.values()}
    for entity in design.entities.values():
        yield from _field_lines(entity)
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
        try:
            text = type_text(field.annotation, {})
        except ValueError:
            text = "Any"
        arguments = list(_default_texts(entity.cls.model_fields.get(name)))
        if field.attribute != name:
            arguments.append(f"alias={field.attribute!r}")
        yield f"{entity.name}.{name}: {text}" + (f" = Field({', '.join(arguments)})" if arguments else "")


def _default_texts(info: FieldInfo | None) -> Iterator[str]:
    """A field's default as an argument of ``Field``; nothing for a required one, and for one that has no text."""
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
        with suppress(ValueError):
            yield literal_text(info.default)


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
    for name in _OPTIONS[:4]:
        value = getattr(options, name)
        if value not in {None, False} or (name == "newest_first" and value is False):
            yield f"{name}={value!r}"
    if options.where is not None:
        yield f"where={_where_text(options.where)}"
    if options.through is not None:
        yield f"through={_through_text(options.through, names)}"
    for field in fields(Load):
        value = getattr(options.load, field.name)
        if value is not None and field.name in _OPTIONS:
            yield f"{field.name}={literal_text(value)}"


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
    return owner.id, FieldDeclaration(name, text, result["attribute"], result.get("default"), result.get("factory"))


def _read_arguments(node: ast.expr, result: dict[str, str]) -> bool:
    """What ``Field(...)`` says; False for anything else."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name) or node.func.id != "Field":
        return False
    if len(node.args) > 1 or not all(map(_is_value, node.args)):
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


def _is_value(node: ast.expr) -> bool:
    """Whether it is a literal, or a Decimal of one."""
    if isinstance(node, ast.Call):
        return (
            isinstance(node.func, ast.Name)
            and node.func.id == "Decimal"
            and not node.keywords
            and all(isinstance(expression, ast.Constant) for expression in node.args)
        )
    try:
        ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, RecursionError):
        return False
    return True


def result_in(line: str, names: Collection[str]) -> ResultDeclaration | None:
    """The NamedTuple in a line; ``names`` are those of the entities."""
    match = _RESULT.fullmatch(line)
    if match is None:
        return None
    try:
        nodes = ast.parse(match["members"]).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    members: list[tuple[str, str]] = []
    for node in nodes:
        if not isinstance(node, ast.AnnAssign) or not isinstance(node.target, ast.Name) or node.value is not None:
            return None
        if not is_type(node.annotation, names):
            return None
        members.append((node.target.id, ast.unparse(node.annotation)))
    return ResultDeclaration(match["name"], tuple(members))


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
    if not all(_is_option(value, names) for value in values) or not all(map(_is_value, plain.defaults)):
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
        case ast.List(elts=parts):
            return all(_is_option(part, names) for part in parts)
        case ast.Call(func=ast.Name(id="Through"), args=[ast.Name(id=name)], keywords=keywords):
            return name in names and all(isinstance(keyword.value, ast.Constant) for keyword in keywords)
        case _:
            return _is_value(node)
