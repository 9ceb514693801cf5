"""What the names in a function's code stand for: classes, modules, entities, under whatever name they were imported.

Which actions are made with them is in ``following.py``.
"""

from __future__ import annotations

import ast
import builtins
import inspect
import sys
from collections.abc import Iterator, Mapping
from importlib.util import resolve_name
from types import ModuleType
from typing import Any

from keyplan.analysis.rehearsal.code import WrittenCode
from keyplan.model.compiled.compiled_design import CompiledDesign
from keyplan.model.stored.stored_entity import CompiledEntity

__all__ = ["OPEN", "Names"]

OPEN = object()
"""What a name stands for that isn't known."""


class Names:
    """The names of one function. ``names`` holds its own; the others are its module's, or Python's."""

    def __init__(self, design: CompiledDesign, code: WrittenCode, function: Any) -> None:
        self.design = design
        self.found = code
        self.globals: Mapping[str, Any] = getattr(function, "__globals__", {})
        self.names: dict[str, Any] = dict.fromkeys(function.__code__.co_varnames, OPEN)
        self.names |= _closure(function)

    def value_of(self, node: ast.AST | None) -> Any:
        """What an expression stands for, where its names say it."""
        if isinstance(node, ast.Name):
            if node.id in self.names:
                return self.names[node.id]
            return self.globals.get(node.id, getattr(builtins, node.id, OPEN))
        if isinstance(node, ast.Attribute):
            owner = self.value_of(node.value)
            if isinstance(owner, ModuleType):
                return getattr(owner, node.attr, OPEN)
            if isinstance(owner, type):
                return inspect.getattr_static(owner, node.attr, OPEN)
        return OPEN

    def kind_of(self, node: ast.AST | None, kinds: Mapping[type[Any], str]) -> str:
        """The kind of action, or of change, that an expression names."""
        value = self.value_of(node)
        if not isinstance(value, type):
            return ""
        return next((name for cls, name in kinds.items() if issubclass(value, cls)), "")

    def entity_named(self, node: ast.AST | None) -> CompiledEntity | None:
        """The entity that an expression names."""
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            return self.design.by_name.get(node.value)
        value = self.value_of(node)
        if value is OPEN:  # a class that was local to where the design was made
            name = node.id if isinstance(node, ast.Name) and node.id not in self.names else None
            return None if name is None else self.design.by_name.get(name)
        entity = self.design.entities.get(value) if isinstance(value, type) else None
        if entity is not None:
            self.found.entities[entity.name] = None
        return entity

    def _one(self, annotation: ast.expr | None) -> CompiledEntity | None:
        """The entity that an annotation names, if it is just one."""
        result = dict.fromkeys(self._entities(annotation))
        return next(iter(result)) if len(result) == 1 else None

    def _entities(self, annotation: ast.expr | None) -> Iterator[CompiledEntity]:
        for node in () if annotation is None else ast.walk(annotation):
            entity = self.entity_named(node)
            if entity is not None:
                yield entity

    def imported_from(self, node: ast.ImportFrom) -> None:
        """Note what a function imports by itself."""
        for name in node.names:
            module = sys.modules.get(self._module(node))
            self.names[name.asname or name.name] = getattr(module, name.name, OPEN)

    def imported(self, node: ast.Import) -> None:
        """Note which modules a function imports by itself."""
        for alias in node.names:
            name = alias.name if alias.asname else alias.name.partition(".")[0]
            self.names[alias.asname or name] = sys.modules.get(name, OPEN)

    def _module(self, node: ast.ImportFrom) -> str:
        if not node.level:
            return node.module or ""
        try:
            return resolve_name("." * node.level + (node.module or ""), str(self.globals["__package__"]))
        except (ImportError, KeyError):
            return ""


def _closure(function: Any) -> dict[str, Any]:
    """What a function's free variables stand for."""
    cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=False)
    result: dict[str, Any] = {}
    for name, cell in cells:
        try:
            result[name] = cell.cell_contents
        except ValueError:  # it isn't assigned yet
            result[name] = OPEN
    return result
