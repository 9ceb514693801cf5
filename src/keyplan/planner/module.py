"""A plan's declarations written into the source of its design. Comments and everything else stay as they are: lines are
replaced at the places that the syntax tree names, and nothing is printed from the tree.
"""

from __future__ import annotations

import ast
import difflib
import inspect
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from keyplan.errors import ErrorDetail, UnknownDesign
from keyplan.formatting.results import plain
from keyplan.model.declared.entity import Entity
from keyplan.model.declared.indexes import Index, KeyAttribute
from keyplan.model.declared.keys import Key, Unique
from keyplan.model.declared.patterns import Pattern
from keyplan.planner.plans import Plan, PlannedKey

__all__ = ["Rewritten", "declaration", "index_declaration", "rewritten"]

LINE_MAX = 120


@dataclass(frozen=True)
class Rewritten:
    """A module before and after a plan's declarations are written into it."""

    path: Path
    before: str
    after: str

    @property
    def diff(self) -> str:
        """What changes, as a unified diff."""
        lines = difflib.unified_diff(
            self.before.splitlines(keepends=True),
            self.after.splitlines(keepends=True),
            f"{self.path.name} (as it is)",
            f"{self.path.name} (planned)",
        )
        return "".join(lines)


@dataclass(frozen=True)
class _Edit:
    """Lines ``start`` to ``end`` (counted from 0, the end not included) become these."""

    start: int
    end: int
    lines: tuple[str, ...]


def rewritten(plan: Plan, text: str | None = None) -> Rewritten:
    """The design's module with the plan's keys, indexes and imports. ``text``: the module's source, if it isn't what
    the file holds.

    Raises UnknownDesign if the source can't be read, or the design's classes aren't all in one file.
    """
    path = _file_of(plan)
    before = path.read_text(encoding="utf-8") if text is None else text
    tree = ast.parse(before)
    lines = before.splitlines()
    edits = [
        *_entities(plan, tree),
        *_table(plan, tree, lines),
        *_indexes(plan, tree),
        *_decorators(plan, tree, lines),
        *_imports(plan, tree),
    ]
    after = list(lines)
    for edit in sorted(edits, key=lambda edit: (edit.start, edit.end), reverse=True):
        after[edit.start : edit.end] = edit.lines
    text = "\n".join(after) + "\n"
    ast.parse(text)
    return Rewritten(path, before, text)


def _file_of(plan: Plan) -> Path:
    files = {class_: _source_file(class_) for class_ in (plan.design, *(key.entity for key in plan.keys))}
    different = {*files.values()}
    if None in different or len(different) > 1:
        faults = [ErrorDetail(class_.__name__, f"is in {file or 'no file'}") for class_, file in files.items()]
        raise UnknownDesign(
            "the design's classes are in several files, or in none that can be read",
            hint="copy the declarations that are shown",
            errors=faults,
        )
    return Path(str(different.pop()))


def _source_file(class_: type[Any]) -> str | None:
    """The file of a class; None in an interactive session, or for a module that was removed."""
    try:
        return inspect.getsourcefile(class_)
    except (TypeError, OSError):
        return None


def _class(tree: ast.Module, name: str) -> ast.ClassDef:
    classes = (node for node in ast.walk(tree) if isinstance(node, ast.ClassDef) and node.name == name)
    node = next(classes, None)
    if node is None:
        raise UnknownDesign(f"the module has no class {name}", hint="copy the declarations that are shown")
    return node


# Entities


def _entities(plan: Plan, tree: ast.Module) -> Iterator[_Edit]:
    by_entity: dict[type[Entity], list[PlannedKey]] = {}
    for key in plan.keys:
        by_entity.setdefault(key.entity, []).append(key)
    for entity, keys in by_entity.items():
        node = _class(tree, entity.__name__)
        there = {name: statement for statement in node.body for name in _declared(statement)}
        wanted = {planned_key.name: planned_key for planned_key in keys}
        new = [planned_key for name, planned_key in wanted.items() if name not in there]
        gone = [statement for name, statement in there.items() if name not in wanted]
        yield from (_Edit(statement.lineno - 1, statement.end_lineno or statement.lineno, ()) for statement in gone)
        at = _after_fields(node)
        text = [
            f"    {line}" if line else ""
            for planned_key in new
            for line in declaration(planned_key.name, planned_key.key, 4, tree)
        ]
        apart = [] if there or not new else [""]
        yield _Edit(at, at, (*apart, *text))


def _declared(node: ast.stmt) -> Iterator[str]:
    """The name of a key that a statement declares."""
    called = _called(node.value) if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call) else ""
    if called == "Key" and isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
        yield node.targets[0].id


def _after_fields(node: ast.ClassDef) -> int:
    """The line after an entity's keys, or after its fields with the last one's docstring."""
    members = [
        statement
        for statement in node.body
        if isinstance(statement, ast.AnnAssign)
        or (
            isinstance(statement, ast.Assign)
            and isinstance(statement.value, ast.Call)
            and _called(statement.value) in {"Key", "Unique"}
        )
    ]
    last = members[-1] if members else node.body[0]
    match node.body[node.body.index(last) + 1 :]:
        case [ast.Expr(value=ast.Constant(value=str())) as docstring, *_]:
            last = docstring
        case _:
            pass
    return last.end_lineno or last.lineno


def _called(call: ast.Call) -> str:
    return call.func.id if isinstance(call.func, ast.Name) else ""


# The table, its indexes, the imports


def _table(plan: Plan, tree: ast.Module, lines: Sequence[str]) -> Iterator[_Edit]:
    call = _table_call(plan, tree)
    if call is None:
        return
    if not plan.indexes:
        return
    given = next((keyword.value for keyword in call.keywords if keyword.arg == "indexes"), None)
    names = f"[{', '.join(_variable(tree, index) for index in plan.indexes)}]"
    if given is not None:
        if _source(lines, given) != names:
            yield _put(lines, given, names)
    elif call.args:
        yield _put(lines, call.args[0], f"{_source(lines, call.args[0])}, indexes={names}")
    elif call.keywords:
        yield _put(lines, call.keywords[0], f"indexes={names}, {_source(lines, call.keywords[0])}")


def _source(lines: Sequence[str], node: ast.expr | ast.keyword) -> str:
    return ast.get_source_segment("\n".join(lines), node) or ""


def _put(lines: Sequence[str], node: ast.expr | ast.keyword, text: str) -> _Edit:
    """The lines of an expression, with another text in its place."""
    start, end = node.lineno - 1, node.end_lineno or node.lineno
    before = lines[start].encode()[: node.col_offset].decode()  # syntax trees count bytes
    after = lines[end - 1].encode()[node.end_col_offset :].decode()
    return _Edit(start, end, tuple(f"{before}{text}{after}".split("\n")))


def _table_call(plan: Plan, tree: ast.Module) -> ast.Call | None:
    """The call that creates the design's table: in its class, or in the module under a name that the class uses. None
    if it isn't in this module.
    """
    given = _given(_class(tree, plan.design.__name__).body, "table")
    if isinstance(given, ast.Name):
        given = _given(tree.body, given.id)
    return given if isinstance(given, ast.Call) and _called(given) == "Table" else None


def _given(body: Sequence[ast.stmt], name: str) -> ast.expr | None:
    """The value that a class or a module assigns to a name."""
    for statement in body:
        match statement:
            case ast.Assign(targets=[ast.Name(id=target)]) | ast.AnnAssign(target=ast.Name(id=target)) if (
                target == name
            ):
                return statement.value
            case _:
                pass
    return None


def _variable(tree: ast.Module, index: Index) -> str:
    """The name that the module has for an index, or the index's own."""
    for node in tree.body:
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call) and _called(node.value) == "Index":
            first = node.value.args[0] if node.value.args else None
            if isinstance(first, ast.Constant) and first.value == index.name and isinstance(node.targets[0], ast.Name):
                return node.targets[0].id
    return index.name


def _indexes(plan: Plan, tree: ast.Module) -> Iterator[_Edit]:
    """New indexes before what uses them, changed ones in their places; indexes that nothing uses are removed."""
    there: set[str] = set()
    wanted = {index.name: index for index in plan.indexes}
    patterns = [value for base in plan.design.__mro__ for value in vars(base).values() if isinstance(value, Pattern)]
    whole = [pattern.options.scan_index for pattern in patterns]
    declared = {index.name: index for index in (*plan.design.table.indexes, *whole) if index is not None}
    for node in tree.body:
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call) and _called(node.value) == "Index":
            first = node.value.args[0] if node.value.args else None
            name = first.value if isinstance(first, ast.Constant) else None
            if isinstance(name, str) and name in wanted:
                there.add(name)
                if name in declared and not wanted[name].same_keys(declared[name]):
                    text = index_declaration(wanted[name], _variable(tree, wanted[name]))
                    yield _Edit(node.lineno - 1, node.end_lineno or node.lineno, (text,))
            elif isinstance(name, str):
                yield _Edit(node.lineno - 1, node.end_lineno or node.lineno, ())
    new = [index_declaration(index, index.name) for index in plan.indexes if index.name not in there]
    if new:
        entities = {key.entity.__name__ for key in plan.keys}
        table = _table_call(plan, tree)
        users = (
            statement
            for statement in tree.body
            if (isinstance(statement, ast.ClassDef) and statement.name in entities)
            or any(node is table for node in ast.walk(statement))
        )
        at = min(map(_start, users)) - 1
        yield _Edit(at, at, (*new, "", ""))


def _decorators(plan: Plan, tree: ast.Module, lines: Sequence[str]) -> Iterator[_Edit]:
    """The decorators that need another option."""
    methods = {node.name: node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}
    for place, option in plan.reworded.items():
        node = methods.get(place.rpartition(".")[2])
        calls = [call for call in ([] if node is None else node.decorator_list) if isinstance(call, ast.Call)]
        call = next((call for call in calls if _called(call) == "read"), None)
        if call is None or any(keyword.arg == option.partition("=")[0] for keyword in call.keywords):
            continue
        at, column = (call.end_lineno or call.lineno) - 1, (call.end_col_offset or 1) - 1
        before = lines[at].encode()[:column].decode()
        after = lines[at].encode()[column:].decode()
        comma = {",": " ", "(": ""}.get(before.rstrip()[-1:], ", ")
        if not before.strip() and lines[at - 1].rstrip().endswith(","):
            yield _Edit(at, at, (f"{before}    {option},",))
        else:
            yield _Edit(at, at + 1, (f"{before}{comma}{option}{after}",))


def _start(node: ast.stmt) -> int:
    decorators = node.decorator_list if isinstance(node, ast.ClassDef) else []
    return min((node.lineno, *(expression.lineno for expression in decorators)))


def _imports(plan: Plan, tree: ast.Module) -> Iterator[_Edit]:
    """The names that the declarations need, added to the module's import of keyplan."""
    kinds = {type(key.key).__name__ for key in plan.keys} | ({"Index"} if plan.indexes else set[str]())
    if any(attribute.type == "N" for index in plan.indexes for attribute in (*index.partition, *index.sort)):
        kinds.add("Number")
    nodes = [
        statement for statement in tree.body if isinstance(statement, ast.ImportFrom) and statement.module == "keyplan"
    ]
    known = {alias.asname or alias.name for node in nodes for alias in node.names}
    if "*" in known or kinds <= known:
        return
    if not nodes:
        at = next((statement.lineno - 1 for statement in tree.body if not isinstance(statement, ast.Expr)), 0)
        yield _Edit(at, at, (f"from keyplan import {', '.join(sorted(kinds))}",))
        return
    node = nodes[0]
    names = sorted({ast.unparse(name) for name in node.names} | kinds - known, key=_import_order)
    line = f"from keyplan import {', '.join(names)}"
    text = (line,) if len(line) <= LINE_MAX else ("from keyplan import (", *(f"    {name}," for name in names), ")")
    yield _Edit(node.lineno - 1, node.end_lineno or node.lineno, text)


def _import_order(name: str) -> tuple[bool, str]:
    return (name[0].islower(), name)


# Declarations


def declaration(name: str, key: Key | Unique, indent: int = 0, tree: ast.Module | None = None) -> list[str]:
    """A key's declaration, in one line, or in several if it is too long. ``tree``: the module that it is written into,
    which may have another name for the key's index.
    """
    if isinstance(key, Unique):
        return [f"{name} = Unique({_text(key.partition)})"]
    several = len(key.partition) > 1 or len(key.sort) > 1
    given = [_texts(key.partition, several=several)]
    if key.sort or several:
        given.append(_texts(key.sort, several=several))
    if key.index is not None:
        given.append(f"index={key.index.name if tree is None else _variable(tree, key.index)}")
    if key.when:
        given.append(f"when={{{', '.join(f'{_text(field)}: {_value(value)}' for field, value in key.when.items())}}}")
    if key.shards > 1:
        given.append(f"shards={key.shards}")
    line = f"{name} = Key({', '.join(given)})"
    if len(line) + indent <= LINE_MAX:
        return [line]
    return [f"{name} = Key(", *(f"    {text}," for text in given), ")"]


def _texts(templates: Sequence[str], *, several: bool) -> str:
    return f"[{', '.join(map(_text, templates))}]" if several else _text(templates[0])


def _text(value: str) -> str:
    return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _value(value: Any) -> str:
    """A constant as a literal that the field's type takes: ``"admin"`` for ``Role.admin``."""
    if isinstance(value, tuple | list | set | frozenset):
        values = [*map(_value, sorted(value, key=str) if isinstance(value, set | frozenset) else value)]
        return f"({', '.join(values)}{',' if len(values) == 1 else ''})"
    known = value if isinstance(value, bytes) else plain(value)
    return _text(known) if isinstance(known, str) else repr(known)


def index_declaration(index: Index, variable: str) -> str:
    """``GSI1 = Index("GSI1", "gsi1pk", "gsi1sk")``."""
    partition, sort = _attributes(index.partition), _attributes(index.sort)
    given = [_text(index.name), partition, *([sort] if index.sort else [])]
    if isinstance(index.projection, tuple):
        given.append(f"projection=[{', '.join(map(_text, index.projection))}]")
    elif index.projection != "ALL":
        given.append(f"projection={_text(index.projection)}")
    return f"{variable} = Index({', '.join(given)})"


def _attributes(attributes: Iterable[KeyAttribute]) -> str:
    names = [
        f"Number({_text(attribute.name)})" if attribute.type == "N" else _text(attribute.name)
        for attribute in attributes
    ]
    return names[0] if len(names) == 1 else f"[{', '.join(names)}]"
