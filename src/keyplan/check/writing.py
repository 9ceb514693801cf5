"""What a write's code does, read from its syntax tree: its actions, what they change, and what they decide by.

Nothing is run. What can't be told from the code (an entity chosen at run time, changes handed on with ``**``) is left
open, and rules say nothing of it. What a write asks for given arguments is rehearsed in ``keyplan.client``.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from keyplan.check.sources import FunctionNode, Sources, unwrapped
from keyplan.design.entity import CompiledEntity
from keyplan.design.model import CompiledDesign, WritePattern, entities_in

__all__ = ["Action", "Ask", "WrittenCode"]

_KINDS = frozenset({"Put", "Create", "Update", "Delete", "Check"})
_RELATIVE = frozenset({"Add", "Append", "Include", "Discard"})
_ARITHMETIC = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv)


@dataclass(frozen=True)
class Action:
    """One action in a write's code. ``entity``: None where the code doesn't tell.

    ``changes``: of an update, each changed field with the kind of change (``set``, ``Add``, ...); ``from_read``: fields
    whose new value is reckoned from what was read before. ``open``: further changes are made that aren't named.
    ``built``: fields of an instance that is made right there. ``conditional``: by ``only_if``. ``looped``: in a loop.
    ``batched``: in a Batch. ``by_instance``: an update of an instance, not by key fields.
    """

    kind: str
    entity: CompiledEntity | None
    line: int
    changes: Mapping[str, str] = field(default_factory=dict[str, str])
    from_read: frozenset[str] = frozenset()
    built: frozenset[str] | None = None
    conditional: bool = False
    looped: bool = False
    batched: bool = False
    open: bool = False
    by_instance: bool = False

    @property
    def moving(self) -> frozenset[str]:
        """The fields that each call changes further: by adding, or by what was read."""
        return self.from_read | {name for name, change in self.changes.items() if change == "Add"}


@dataclass(frozen=True)
class Ask:
    """A read within a write: the pattern's name."""

    name: str
    line: int


@dataclass
class WrittenCode:
    """A write pattern's code. ``known``: whether its source could be read."""

    pattern: WritePattern
    known: bool = False
    actions: list[Action] = field(default_factory=list[Action])
    asks: list[Ask] = field(default_factory=list[Ask])

    @classmethod
    def of(
        cls, pattern: WritePattern, design: CompiledDesign, owner: type[Any] | None, sources: Sources
    ) -> WrittenCode:
        """The code of a write. ``owner``: the design's class, where helpers are methods of it."""
        found = cls(pattern)
        by_instance = {
            one.name: design.entities[kinds[0]]
            for one in pattern.signature.parameters
            if (kinds := entities_in(one.annotation)) and kinds[0] in design.entities
        }
        reader = _Reader(design, owner, sources, found)
        found.known = reader.function(pattern.function, by_instance)
        return found


class _Reader:
    """Follows a write's function, and the generator functions that it hands on to."""

    def __init__(self, design: CompiledDesign, owner: type[Any] | None, sources: Sources, found: WrittenCode) -> None:
        self.design = design
        self.owner = owner
        self.sources = sources
        self.found = found
        self.seen: set[Any] = set()

    def function(self, function: Any, instances: Mapping[str, CompiledEntity], *, looped: bool = False) -> bool:
        code = unwrapped(function)
        node = None if code is None else self.sources.function(code)
        if node is None:
            return False
        scope = _Scope(self, function, node, instances, looped=looped)
        for statement in node.body:
            scope.visit(statement)
        return True

    def helper(self, call: ast.Call, names: Mapping[str, Any]) -> Any:
        """The generator function that a call is of: a global one, or a method of the design."""
        target = call.func
        value: Any = None
        if isinstance(target, ast.Name):
            value = names.get(target.id)
        elif isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name) and self.owner is not None:
            value = inspect.getattr_static(self.owner, target.attr, None)
        return value if inspect.isgeneratorfunction(value) else None

    def entity_named(self, node: ast.AST | None, names: Mapping[str, Any]) -> CompiledEntity | None:
        """The entity that an expression names."""
        name = node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else None
        if name is None:
            return None
        value = names.get(name)
        if isinstance(value, type) and value in self.design.entities:
            return self.design.entities[value]
        return self.design.by_name.get(name)


class _Scope(ast.NodeVisitor):
    """One function's body: which names hold instances, and which hold what was read."""

    def __init__(
        self,
        reader: _Reader,
        function: Any,
        node: FunctionNode,
        instances: Mapping[str, CompiledEntity],
        *,
        looped: bool,
    ) -> None:
        self.reader = reader
        self.names: Mapping[str, Any] = getattr(function, "__globals__", {})
        self.instances = dict(instances)
        for argument in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs):
            entity = next(self._entities(argument.annotation), None)
            if entity is not None:
                self.instances.setdefault(argument.arg, entity)
        self.read = set(self.instances)
        self.reckoned: set[str] = set()
        self.built: dict[str, frozenset[str]] = {}
        self.loops = int(looped)
        self.batches = 0

    def _entities(self, annotation: ast.expr | None) -> Iterator[CompiledEntity]:
        for one in () if annotation is None else ast.walk(annotation):
            entity = self.reader.entity_named(one, self.names)
            if entity is not None:
                yield entity

    # Statements

    def visit_Assign(self, node: ast.Assign) -> None:
        self._assigned(node.targets, node.value)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self._assigned([node.target], node.value)

    def _assigned(self, targets: Iterable[ast.expr], value: ast.expr) -> None:
        entity, read = self._value(value)
        built = self._built(value)
        for target in targets:
            for one in ast.walk(target):
                if not isinstance(one, ast.Name):
                    continue
                self.instances.pop(one.id, None)
                self.built.pop(one.id, None)
                if entity is not None:
                    self.instances[one.id] = entity
                if built is not None:
                    self.built[one.id] = built
                self.read.discard(one.id)
                self.reckoned.discard(one.id)
                if read:
                    self.read.add(one.id)
                if self._is_reckoned(value):
                    self.reckoned.add(one.id)
        self.visit(value)

    def _value(self, value: ast.expr) -> tuple[CompiledEntity | None, bool]:
        """The entity that a value is an instance of, and whether the value comes from what was read."""
        if isinstance(value, ast.YieldFrom) and isinstance(value.value, ast.Call):
            name = _asked(value.value)
            if name in self.reader.design.reads:
                pattern = self.reader.design.reads[name]
                kinds = pattern.shape.entities
                return self.reader.design.entities[kinds[0]] if len(kinds) == 1 else None, True
            helper = self.reader.helper(value.value, self.names)
            node = None if helper is None else self.reader.sources.function(helper.__code__)
            return (None if node is None else next(self._entities(node.returns), None)), helper is not None
        if isinstance(value, ast.Call):
            return self.reader.entity_named(value.func, self.names), self._from_read(value)
        if isinstance(value, ast.Name):
            return self.instances.get(value.id), value.id in self.read
        return None, self._from_read(value)

    def _from_read(self, value: ast.AST) -> bool:
        return any(isinstance(one, ast.Name) and one.id in self.read for one in ast.walk(value))

    def visit_For(self, node: ast.For) -> None:
        _, read = self._value(node.iter)
        self.read.update(one.id for one in ast.walk(node.target) if isinstance(one, ast.Name) and read)
        self._loop(node)

    def visit_While(self, node: ast.While) -> None:
        self._loop(node)

    def visit_GeneratorExp(self, node: ast.GeneratorExp) -> None:
        self._loop(node)

    def visit_ListComp(self, node: ast.ListComp) -> None:
        self._loop(node)

    def _loop(self, node: ast.AST) -> None:
        self.loops += 1
        self.generic_visit(node)
        self.loops -= 1

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        del node

    # Calls

    def visit_Call(self, node: ast.Call) -> None:
        base, methods = _chain(node)
        kind = _called(base)
        if kind in _KINDS:
            self._action(kind, base, methods)
            return
        if kind == "Batch":
            self.batches += 1
            self.generic_visit(node)
            self.batches -= 1
            return
        name = _asked(node)
        if name is not None:
            self.reader.found.asks.append(Ask(name, node.lineno))
        helper = self.reader.helper(node, self.names)
        if helper is not None and helper not in self.reader.seen:
            self.reader.seen.add(helper)
            self.reader.function(helper, {}, looped=self.loops > 0)
        self.generic_visit(node)

    def _action(self, kind: str, base: ast.Call, methods: Mapping[str, list[ast.Call]]) -> None:
        target = base.args[0] if base.args else None
        entity, built = self._target(target)
        by_class = self.reader.entity_named(target, self.names) is not None and not self._is_instance(target)
        changes: dict[str, ast.expr] = {}
        unnamed = False
        if kind == "Update":
            calls = [*methods.get("set", ()), *([] if by_class else [base])]
            keywords = [one for call in calls for one in call.keywords]
            changes = {one.arg: one.value for one in keywords if one.arg is not None}
            unnamed = any(one.arg is None for one in keywords)
        self.reader.found.actions.append(
            Action(
                kind=kind,
                entity=entity,
                line=base.lineno,
                changes={name: _change(value) for name, value in changes.items()},
                from_read=self._reckoned(changes, target if kind in {"Put", "Create"} else None),
                built=built,
                conditional="only_if" in methods,
                looped=self.loops > 0,
                batched=self.batches > 0,
                open=unnamed,
                by_instance=not by_class,
            )
        )
        for call in (base, *(one for calls in methods.values() for one in calls)):
            for part in (*call.args, *(one.value for one in call.keywords)):
                self.visit(part)

    def _is_reckoned(self, value: ast.AST) -> bool:
        """Whether a value is reckoned from what was read: by an operator, not only copied or chosen."""
        if any(isinstance(one, ast.Name) and one.id in self.reckoned for one in ast.walk(value)):
            return True
        steps = (one for one in ast.walk(value) if isinstance(one, ast.BinOp))
        return any(isinstance(one.op, _ARITHMETIC) and self._from_read(one) for one in steps)

    def _reckoned(self, changes: Mapping[str, ast.expr], instance: ast.expr | None) -> frozenset[str]:
        """The fields whose value is reckoned from what was read."""
        given = dict(changes)
        if isinstance(instance, ast.Call):
            given |= {one.arg: one.value for one in instance.keywords if one.arg is not None}
        return frozenset(name for name, value in given.items() if _change(value) == "set" and self._is_reckoned(value))

    def _is_instance(self, node: ast.expr | None) -> bool:
        return isinstance(node, ast.Name) and node.id in self.instances

    def _target(self, node: ast.expr | None) -> tuple[CompiledEntity | None, frozenset[str] | None]:
        """The entity of an action's target, and the fields it is built with right there."""
        if isinstance(node, ast.Name) and node.id in self.instances:
            return self.instances[node.id], self.built.get(node.id)
        if isinstance(node, ast.Call):
            if isinstance(node.func, ast.Attribute) and node.func.attr == "model_copy":
                return self._target(node.func.value)[0], None
            return self.reader.entity_named(node.func, self.names), self._built(node)
        return self.reader.entity_named(node, self.names), None

    def _built(self, node: ast.expr) -> frozenset[str] | None:
        if not isinstance(node, ast.Call) or self.reader.entity_named(node.func, self.names) is None:
            return None
        return frozenset(one.arg for one in node.keywords if one.arg is not None)


def _chain(node: ast.Call) -> tuple[ast.Call, dict[str, list[ast.Call]]]:
    """``Update(x).set(...).only_if(...)`` as its innermost call, and the calls of methods on it by name."""
    methods: dict[str, list[ast.Call]] = {}
    while isinstance(node.func, ast.Attribute) and isinstance(node.func.value, ast.Call):
        methods.setdefault(node.func.attr, []).append(node)
        node = node.func.value
    return node, methods


def _called(node: ast.Call) -> str:
    function = node.func
    return (
        function.id if isinstance(function, ast.Name) else function.attr if isinstance(function, ast.Attribute) else ""
    )


def _asked(node: ast.Call) -> str | None:
    """The read that ``self.article.ask(...)`` asks."""
    function = node.func
    if isinstance(function, ast.Attribute) and function.attr == "ask" and isinstance(function.value, ast.Attribute):
        return function.value.attr
    return None


def _change(value: ast.expr) -> str:
    kind = _called(value) if isinstance(value, ast.Call) else ""
    return kind if kind in _RELATIVE or kind == "Remove" else "set"
