"""Writes a plan's declarations into the source of its design, without changing comments and other code."""

from __future__ import annotations

import ast
import difflib
import inspect
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import Any

from keyplan.errors import ErrorDetail, UnknownDesign
from keyplan.formatting.markdown import literal
from keyplan.formatting.results import plain
from keyplan.model.declared.entity import Entity
from keyplan.model.declared.indexes import Index, KeyAttribute
from keyplan.model.declared.keys import Key, Unique
from keyplan.model.declared.patterns import Pattern
from keyplan.model.source_code import parsed
from keyplan.planner.plans import Plan, PlannedKey

LINE_MAX = 120


@dataclass(frozen=True)
class Rewritten:
    """A module's source before and after a plan's declarations are written into it."""

    path: Path
    before: str
    after: str

    @property
    def diff(self) -> str:
        lines = difflib.unified_diff(
            self.before.splitlines(keepends=True),
            self.after.splitlines(keepends=True),
            f"{self.path.name} (as it is)",
            f"{self.path.name} (planned)",
        )
        return "".join(lines)


class ModuleText:
    """A module's source, its syntax tree, and edits of byte ranges in the source."""

    def __init__(self, text: str) -> None:
        self.data = text.encode()
        self.tree = parsed(text)
        starts = accumulate((len(line) for line in self.data.splitlines(keepends=True)), initial=0)
        self._lines = [0, *starts]
        self._edits: list[tuple[int, int, str]] = []

    def text(self, node: ast.AST) -> str:
        return self.data[slice(*self._span(node))].decode()

    def replace(self, node: ast.AST, text: str) -> None:
        self._edits.append((*self._span(node), text))

    def remove(self, node: ast.stmt) -> None:
        self._edits.append((self._lines[node.lineno], self._lines[(node.end_lineno or node.lineno) + 1], ""))

    def insert(self, line: int, lines: Sequence[str]) -> None:
        """Insert lines before a line; the number of the first line is 1."""
        at = self._lines[min(line, len(self._lines) - 1)]
        missing = "\n" if at and not self.data[:at].endswith(b"\n") else ""
        self._edits.append((at, at, missing + "".join(f"{each}\n" for each in lines)))

    def add_argument(self, call: ast.Call, text: str) -> None:
        """Add an argument at the end of a call, on its own line if the call has one argument per line."""
        end = self._span(call)[1] - 1
        before = self.data[:end].decode()
        last = before.rstrip()
        margin = before[before.rfind("\n") + 1 :]
        if last.endswith(",") and not margin.strip():
            self._edits.append((end - len(margin.encode()), end, f"{margin}    {text},\n{margin}"))
        else:
            comma = {",": " ", "(": ""}.get(last[-1:], ", ")
            self._edits.append((end, end, comma + text))

    def edited(self) -> str:
        result = self.data
        for start, end, text in sorted(self._edits, key=lambda edit: edit[:2], reverse=True):
            result = result[:start] + text.encode() + result[end:]
        return result.decode()

    def _span(self, node: Any) -> tuple[int, int]:
        return self._lines[node.lineno] + node.col_offset, self._lines[node.end_lineno] + node.end_col_offset


def rewritten(plan: Plan, text: str | None = None) -> Rewritten:
    """The design's module with the plan's keys, indexes and imports.

    ``text``: the module's source, if it differs from the file. Raises UnknownDesign if the source can't be read, or
    the design's classes aren't in one file.
    """
    path = _file_of(plan)
    before = path.read_text(encoding="utf-8") if text is None else text
    source = ModuleText(before if before.endswith("\n") else f"{before}\n")
    _write_entities(plan, source)
    _write_table(plan, source)
    _write_indexes(plan, source)
    methods = {n.name: n for n in ast.walk(source.tree) if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)}
    for place, option in plan.reworded.items():
        decorators = methods[name].decorator_list if (name := place.rpartition(".")[2]) in methods else []
        call = next((call for call in decorators if _called(call) == "read"), None)
        if isinstance(call, ast.Call) and option.partition("=")[0] not in {word.arg for word in call.keywords}:
            source.add_argument(call, option)
    _write_imports(plan, source)
    after = source.edited()
    parsed(after)
    return Rewritten(path, before, after)


def _file_of(plan: Plan) -> Path:
    files = {class_: _source_file(class_) for class_ in (plan.design, *(key.entity for key in plan.keys))}
    different = {*files.values()}
    if None in different or len(different) > 1:
        places = [ErrorDetail(class_.__name__, f"is in {file or 'no file'}") for class_, file in files.items()]
        raise UnknownDesign(
            "the design's classes are in several files, or a file can't be read",
            hint="copy the printed declarations into your code",
            errors=places,
        )
    return Path(str(different.pop()))


def _source_file(class_: type[Any]) -> str | None:
    try:
        return inspect.getsourcefile(class_)
    except (TypeError, OSError):
        return None


def class_in(source: ModuleText, name: str) -> ast.ClassDef:
    """The class with this name. Raises UnknownDesign if the module has no such class."""
    for node in ast.walk(source.tree):
        if isinstance(node, ast.ClassDef) and node.name == name:
            return node
    raise UnknownDesign(f"the module has no class {name}", hint="copy the printed declarations into your code")


def _called(node: ast.AST | None) -> str:
    return node.func.id if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) else ""


def assigned(body: Sequence[ast.stmt], *called: str) -> Iterator[tuple[str, ast.stmt, ast.Call]]:
    """The variables that are assigned a call of one of these functions, each with its statement and call."""
    for node in body:
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call() as call) if _called(call) in called:
                yield name, node, call
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.Call() as call) if _called(call) in called:
                yield name, node, call
            case _:
                pass


def _write_entities(plan: Plan, source: ModuleText) -> None:
    by_entity: dict[type[Entity], dict[str, PlannedKey]] = {}
    for key in plan.keys:
        by_entity.setdefault(key.entity, {})[key.name] = key
    for entity, wanted in by_entity.items():
        node = class_in(source, entity.__name__)
        there = {name: statement for name, statement, _ in assigned(node.body, "Key")}
        for statement in (statement for name, statement in there.items() if name not in wanted):
            source.remove(statement)
        new = [key for name, key in wanted.items() if name not in there]
        lines = [f"    {line}" for key in new for line in declaration(key.name, key.key, 4, source.tree)]
        if new:
            source.insert(last_member_line(node) + 1, lines if there else ["", *lines])


def last_member_line(node: ast.ClassDef) -> int:
    """The last line of an entity's fields and keys, including the docstring of the last field."""
    keys = [statement for _, statement, _ in assigned(node.body, "Key", "Unique")]
    members = [statement for statement in node.body if isinstance(statement, ast.AnnAssign) or statement in keys]
    last = members[-1] if members else node.body[0]
    match node.body[node.body.index(last) + 1 :]:
        case [ast.Expr(value=ast.Constant(value=str())) as docstring, *_]:
            last = docstring
        case _:
            pass
    return last.end_lineno or last.lineno


def _table_call(plan: Plan, source: ModuleText) -> ast.Call | None:
    """The call that creates the design's table: in its class, or in the module under the name that the class uses."""
    body = class_in(source, plan.design.__name__).body
    named = {each.value.id for each in body if isinstance(each, ast.Assign) and isinstance(each.value, ast.Name)}
    calls = [call for name, _, call in assigned(body, "Table") if name == "table"]
    calls += [call for name, _, call in assigned(source.tree.body, "Table") if name in named]
    return calls[0] if calls else None


def _write_table(plan: Plan, source: ModuleText) -> None:
    call = _table_call(plan, source)
    if call is None or not plan.indexes:
        return
    given = next((keyword.value for keyword in call.keywords if keyword.arg == "indexes"), None)
    names = f"[{', '.join(_variable(source.tree, index) for index in plan.indexes)}]"
    if given is not None:
        if source.text(given) != names:
            source.replace(given, names)
    elif call.args:
        source.replace(call.args[0], f"{source.text(call.args[0])}, indexes={names}")
    elif call.keywords:
        source.replace(call.keywords[0], f"indexes={names}, {source.text(call.keywords[0])}")


def _index_name(call: ast.Call) -> str | None:
    match call.args:
        case [ast.Constant(value=str() as name), *_]:
            return name
        case _:
            return None


def _variable(tree: ast.Module, index: Index) -> str:
    """The name that the module has for an index, or the index's own."""
    named = {_index_name(call): name for name, _, call in assigned(tree.body, "Index")}
    return named.get(index.name, index.name)


def _write_indexes(plan: Plan, source: ModuleText) -> None:
    """New indexes before what uses them, changed ones in their places; indexes that nothing uses are removed."""
    wanted = {index.name: index for index in plan.indexes}
    patterns = [value for base in plan.design.__mro__ for value in vars(base).values() if isinstance(value, Pattern)]
    whole = [pattern.options.scan_index for pattern in patterns]
    declared = {index.name: index for index in (*plan.design.table.indexes, *whole) if index is not None}
    there: set[str] = set()
    for variable, statement, call in assigned(source.tree.body, "Index"):
        name = _index_name(call)
        if name in wanted:
            there.add(name)
            if name in declared and not wanted[name].same_keys(declared[name]):
                source.replace(statement, index_declaration(wanted[name], variable))
        elif name is not None:
            source.remove(statement)
    new = [index_declaration(index, index.name) for index in plan.indexes if index.name not in there]
    if new:
        entities = {key.entity.__name__ for key in plan.keys}
        table = _table_call(plan, source)
        users = (
            min(node.lineno, *(each.lineno for each in getattr(node, "decorator_list", [])), node.lineno)
            for node in source.tree.body
            if getattr(node, "name", "") in entities or any(part is table for part in ast.walk(node))
        )
        source.insert(min(users), [*new, "", ""])


def _write_imports(plan: Plan, source: ModuleText) -> None:
    kinds = {type(key.key).__name__ for key in plan.keys} | ({"Index"} if plan.indexes else set[str]())
    if any(attribute.type == "N" for index in plan.indexes for attribute in (*index.partition, *index.sort)):
        kinds.add("Number")
    add_imports(source, kinds)


def add_imports(source: ModuleText, kinds: set[str]) -> None:
    body = source.tree.body
    nodes = [node for node in body if isinstance(node, ast.ImportFrom) and node.module == "keyplan"]
    known = {alias.asname or alias.name for node in nodes for alias in node.names}
    if "*" in known or kinds <= known:
        return
    if not nodes:
        first = next((node.lineno for node in body if not isinstance(node, ast.Expr)), 1)
        source.insert(first, [f"from keyplan import {', '.join(sorted(kinds))}"])
        return
    given = {ast.unparse(name) for name in nodes[0].names}
    names = sorted(given | kinds - known, key=lambda name: (name[0].islower(), name))
    line = f"from keyplan import {', '.join(names)}"
    long = "\n".join(("from keyplan import (", *(f"    {name}," for name in names), ")"))
    source.replace(nodes[0], line if len(line) <= LINE_MAX else long)


# Declarations


def declaration(name: str, key: Key | Unique, indent: int = 0, tree: ast.Module | None = None) -> list[str]:
    """A key's declaration, on one line if it fits. ``tree``: the module, for the name of the index's variable."""
    if isinstance(key, Unique):
        return [f"{name} = Unique({literal(key.partition)})"]
    several = len(key.partition) > 1 or len(key.sort) > 1
    given = [_texts(key.partition, several=several)]
    if key.sort or several:
        given.append(_texts(key.sort, several=several))
    if key.index is not None:
        given.append(f"index={key.index.name if tree is None else _variable(tree, key.index)}")
    if key.when:
        given.append(f"when={{{', '.join(f'{literal(field)}: {_value(value)}' for field, value in key.when.items())}}}")
    if key.shards > 1:
        given.append(f"shards={key.shards}")
    line = f"{name} = Key({', '.join(given)})"
    if len(line) + indent <= LINE_MAX:
        return [line]
    return [f"{name} = Key(", *(f"    {text}," for text in given), ")"]


def _texts(templates: Sequence[str], *, several: bool) -> str:
    return f"[{', '.join(map(literal, templates))}]" if several else literal(templates[0])


def _value(value: Any) -> str:
    """A constant as a literal of the field's type: ``"admin"`` for ``Role.admin``."""
    if isinstance(value, tuple | list | set | frozenset):
        values = [*map(_value, sorted(value, key=str) if isinstance(value, set | frozenset) else value)]
        return f"({', '.join(values)}{',' if len(values) == 1 else ''})"
    known = value if isinstance(value, bytes) else plain(value)
    return literal(known) if isinstance(known, str) else repr(known)


def index_declaration(index: Index, variable: str) -> str:
    """An index's declaration, such as ``GSI1 = Index("GSI1", "gsi1pk", "gsi1sk")``."""
    partition, sort = _attributes(index.partition), _attributes(index.sort)
    given = [literal(index.name), partition, *([sort] if index.sort else [])]
    if isinstance(index.projection, tuple):
        given.append(f"projection=[{', '.join(map(literal, index.projection))}]")
    elif index.projection != "ALL":
        given.append(f"projection={literal(index.projection)}")
    return f"{variable} = Index({', '.join(given)})"


def _attributes(attributes: Iterable[KeyAttribute]) -> str:
    pairs = [(literal(attribute.name), attribute.type) for attribute in attributes]
    names = [f"Number({name})" if kind == "N" else name for name, kind in pairs]
    return names[0] if len(names) == 1 else f"[{', '.join(names)}]"
