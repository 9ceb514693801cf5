"""Shapes of expressions in a write's code, by their syntax alone. What their names stand for is in ``names.py``."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

__all__ = ["asked", "chain", "constants", "copied", "joined", "loaded", "named", "parts_changed"]


def constants(changes: Mapping[str, ast.expr], conditions: Iterable[ast.Call]) -> Iterator[tuple[str, Any]]:
    """The fields whose value stands in the code: as a change, or as what a condition expects."""
    given = [*changes.items()]
    for call in conditions:
        if not call.args:
            given += [(keyword.arg, keyword.value) for keyword in call.keywords if keyword.arg is not None]
    for name, value in given:
        if isinstance(value, ast.Constant) and isinstance(value.value, str | int | float | bool | bytes):
            yield name, value.value


def expected(conditions: Iterable[ast.Call]) -> Iterator[str]:
    """The names that conditions speak of: fields that they are given by name, and words of DynamoDB's grammar."""
    for call in conditions:
        yield from (keyword.arg for keyword in call.keywords if keyword.arg is not None)
        for argument in call.args:
            if isinstance(argument, ast.Constant) and isinstance(argument.value, str):
                yield from re.findall(r"(?<!:)\b\w+", argument.value)


def named(node: ast.expr) -> Iterator[str]:
    """The names in an expression, of variables and of attributes."""
    for part in ast.walk(node):
        if isinstance(part, ast.Name):
            yield part.id
        elif isinstance(part, ast.Attribute):
            yield part.attr


GROWTH = frozenset({"add", "append", "extend", "insert", "setdefault", "update"})
"""Methods of lists, sets and dicts that make them longer."""
_FOLDS = frozenset({"lower", "casefold", "upper"})
SUMS = frozenset({"sum", "len", "min", "max", "any", "all", "abs", "round"})
"""Functions of Python that make a value of others."""


def folded_by(node: ast.AST) -> Iterator[str]:
    """The names of what a piece of code folds by case."""
    for call in ast.walk(node):
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr in _FOLDS:
            yield from named(call.func.value)


def arguments_of(call: ast.Call, function: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[tuple[str, ast.expr]]:
    """The parameters of a function that a call gives, each with its expression."""
    names = [argument.arg for argument in (*function.args.posonlyargs, *function.args.args)]
    if names[:1] in (["self"], ["cls"]) and isinstance(call.func, ast.Attribute):
        del names[0]
    yield from zip(names, call.args, strict=False)
    yield from ((keyword.arg, keyword.value) for keyword in call.keywords if keyword.arg is not None)


def computes_with(function: ast.FunctionDef | ast.AsyncFunctionDef, given: set[str], steps: tuple[type, ...]) -> bool:
    """Whether a function computes, by one of these operators or by a sum, with what it is given for some parameters."""
    known = set(given)
    for node in ast.walk(function):
        if isinstance(node, ast.Assign) and _mentions(node.value, known):
            known.update(name for target in node.targets for name in named(target))
        if isinstance(node, ast.BinOp | ast.AugAssign) and isinstance(node.op, steps) and _mentions(node, known):
            return True
        if _is_sum(node) and _mentions(node, known):
            return True
    return False


def _is_sum(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in SUMS


def _mentions(node: ast.AST, names: set[str]) -> bool:
    return any(isinstance(part, ast.Name) and part.id in names for part in ast.walk(node))


def loaded(target: ast.expr) -> ast.expr:
    """What is assigned to, as an expression."""
    return ast.Name(target.id, ast.Load()) if isinstance(target, ast.Name) else target


def copied(node: ast.expr | None) -> ast.expr | None:
    """The instance of which an expression makes a copy with changes."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "model_copy":
        return node.func.value
    return None


_METHODS = frozenset({"at", "final", "if_missing", "idempotent", "only_if", "or_create", "previous", "set"})
"""Those of an action that give an action."""


def chain(node: ast.expr) -> tuple[ast.expr, dict[str, list[ast.Call]]]:
    """``Update(x).set(...).only_if(...)`` as its innermost call, and the calls of methods on it by name; of
    ``update.only_if(...)`` the name.
    """
    methods: dict[str, list[ast.Call]] = {}
    while isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        inner = node.func.value
        if not isinstance(inner, ast.Call | ast.Name):
            break
        if isinstance(inner, ast.Name) and node.func.attr not in _METHODS:
            break
        methods.setdefault(node.func.attr, []).append(node)
        node = inner
    return node, methods


def asked(node: ast.expr) -> str | None:
    """The read that ``self.article.ask`` asks."""
    if isinstance(node, ast.Attribute) and node.attr == "read" and isinstance(node.value, ast.Attribute):
        return node.value.attr
    return None


def joined(node: ast.expr) -> str | None:
    """The write that ``self.close_ticket.join`` carries out."""
    if isinstance(node, ast.Attribute) and node.attr == "in_transaction" and isinstance(node.value, ast.Attribute):
        return node.value.attr
    return None


_PART_CHANGES = {"set": "set", "add": "Add", "append": "Append", "remove": "Remove"}


def parts_changed(methods: Mapping[str, list[ast.Call]]) -> dict[str, str]:
    """The fields of which ``at(lambda item: item.field.part).set(...)`` changes a part, and how."""
    result: dict[str, str] = {}
    for method, kind in _PART_CHANGES.items():
        for call in methods.get(method, ()):
            name = _first_step(_path(call))
            if name is not None and result.get(name) not in {"Add", "Append"}:
                result[name] = kind
    return result


def parts_set(methods: Mapping[str, list[ast.Call]]) -> Iterator[tuple[str, ast.expr]]:
    """The fields of which a part is set, each with the value."""
    for call in methods.get("set", ()):
        name = _first_step(_path(call))
        if name is not None and call.args:
            yield name, call.args[0]


def new_keys(methods: Mapping[str, list[ast.Call]]) -> Iterator[str]:
    """The maps of which a key is set that doesn't stand in the code, so that each call may bring a new one."""
    for method in ("set", "add", "append"):
        for call in methods.get(method, ()):
            path = _path(call)
            node = path.body if isinstance(path, ast.Lambda) else None
            while isinstance(node, ast.Attribute | ast.Subscript):
                if isinstance(node, ast.Subscript) and not isinstance(node.slice, ast.Constant):
                    name = _first_step(path)
                    if name is not None and isinstance(node.value, ast.Attribute):
                        yield name
                node = node.value


def _path(call: ast.Call) -> ast.expr | None:
    """The path of a part that a call changes: of ``.at(path).set(value)``."""
    place = call.func.value if isinstance(call.func, ast.Attribute) else None
    if isinstance(place, ast.Call) and isinstance(place.func, ast.Attribute) and place.func.attr == "at" and place.args:
        return place.args[0]
    return None


def fields_given(instance: ast.expr | None) -> dict[str, ast.expr]:
    """The fields that an instance is made with, or a copy is changed in."""
    if not isinstance(instance, ast.Call):
        return {}
    result = {keyword.arg: keyword.value for keyword in instance.keywords if keyword.arg is not None}
    update = result.get("update") if copied(instance) else None
    if isinstance(update, ast.Dict):
        pairs = zip(update.keys, update.values, strict=True)
        return {str(key.value): value for key, value in pairs if isinstance(key, ast.Constant)}
    return result


def _first_step(path: ast.expr | None) -> str | None:
    """The field that a path begins with."""
    node = path.body if isinstance(path, ast.Lambda) else None
    name = None
    while isinstance(node, ast.Attribute | ast.Subscript):
        name = node.attr if isinstance(node, ast.Attribute) else name
        node = node.value
    return name
