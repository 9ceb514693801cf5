"""What the values in a write's code are made of: of what was read, by an operator or a function, and whether they hold
all that was there, and more.

What is done with them is in ``following.py``.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Protocol

from keyplan.analysis.rehearsal.code import WrittenCode
from keyplan.analysis.rehearsal.names import OPEN, Names
from keyplan.analysis.rehearsal.sources import FunctionNode
from keyplan.analysis.rehearsal.syntax import GROWTH, SUMS, arguments_of, asked, computes_with, joined, named, parts_set
from keyplan.model.compiled.compiled_design import CompiledDesign
from keyplan.model.compiled.return_types import ShapeKind
from keyplan.model.declared import actions as words
from keyplan.model.declared.fields import kind_of
from keyplan.model.stored.stored_entity import CompiledEntity

__all__ = ["Functions", "MadeOf"]

_CHANGES: Mapping[type[Any], str] = {
    element: element.__name__
    for element in (words.Add, words.Append, words.SetAdd, words.SetRemove, words.IfNotExists, words.Remove)
}
_ARITHMETIC = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.BitOr)


class Functions(Protocol):
    """The functions that a write may call."""

    design: CompiledDesign

    def methods(self, name: str) -> Iterator[Any]:
        """The functions of that name that the design and its entities have."""
        ...

    def authors(self, value: Any) -> FunctionNode | None:
        """The code of a function that is the author's own."""
        ...


class MadeOf(Names):
    """The values of one function. ``instances``: the variables that hold items; ``read``: those that hold what was
    read, ``computed`` what was computed of it, ``grown`` all of it and more. ``sources``: the fields that variables
    were made of; ``counts`` and ``lists``: the reads whose number, or whose items, they hold.
    """

    def __init__(
        self,
        functions: Functions,
        code: WrittenCode,
        function: Any,
        instances: Mapping[str, CompiledEntity],
    ) -> None:
        super().__init__(functions.design, code, function)
        self.functions = functions
        self.instances = dict(instances)
        self.read: set[str] = set()
        self.computed: set[str] = set()
        self.grown: set[str] = set()
        self.sources: dict[str, frozenset[tuple[str, str]]] = {}
        self.counts: dict[str, str] = {}
        self.lists: dict[str, str] = {}

    def called(self, target: ast.expr) -> Iterator[Any]:
        """The functions that a call may be of."""
        value = self.value_of(target)
        if inspect.isfunction(value) or isinstance(value, staticmethod | classmethod):
            yield value
        elif (joined_write := joined(target)) in self.functions.design.writes:
            yield self.functions.design.writes[joined_write].function
        elif isinstance(target, ast.Attribute) and value is OPEN:
            yield from self.functions.methods(target.attr)

    def counts_in(self, value: ast.expr) -> Iterator[str]:
        """The reads that say how many items there are, and that a value is made of."""
        for node in ast.walk(value):
            if isinstance(node, ast.Name) and node.id in self.counts:
                yield self.counts[node.id]
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in SUMS:
                yield from self._summed(node)
            pattern = self.design.reads.get((asked(node) if isinstance(node, ast.Attribute) else None) or "")
            if pattern is not None and pattern.shape.kind is ShapeKind.COUNT:
                yield pattern.name

    def _summed(self, call: ast.Call) -> Iterator[str]:
        """The reads of many items that ``sum``, ``len`` and their like are made of."""
        for node in (part for argument in call.args for part in ast.walk(argument)):
            if isinstance(node, ast.Name) and node.id in self.lists:
                yield self.lists[node.id]

    def from_read(self, value: ast.AST) -> bool:
        """Whether an expression looks at what was read."""
        return any(isinstance(node, ast.Name) and node.id in self.read for node in ast.walk(value))

    def fields_in(self, value: ast.AST, entity: CompiledEntity) -> Iterator[tuple[str, str]]:
        """The fields of an entity's instances that an expression looks at, by itself or by variables."""
        for node in ast.walk(value):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
                if self.instances.get(node.value.id) is entity:
                    yield entity.name, node.attr
            elif isinstance(node, ast.Name):
                yield from (source for source in self.sources.get(node.id, ()) if source[0] == entity.name)

    def is_computed(self, value: ast.AST) -> bool:
        """Whether a value is computed from what was read: by an operator, or put together; not copied or chosen."""
        if any(isinstance(node, ast.Name) and node.id in self.computed for node in ast.walk(value)):
            return True
        steps = (node for node in ast.walk(value) if isinstance(node, ast.BinOp))
        return (
            self.is_grown(value)
            or any(isinstance(step.op, _ARITHMETIC) and self.from_read(step) for step in steps)
            or any(self._computes(node) for node in ast.walk(value) if isinstance(node, ast.Call))
        )

    def _computes(self, call: ast.Call) -> bool:
        """Whether a call computes with what was read: a sum of Python's, or a function of the author's that does."""
        given = [*call.args, *(keyword.value for keyword in call.keywords)]
        if not any(map(self.from_read, given)):
            return False
        if isinstance(call.func, ast.Name) and call.func.id in SUMS and call.func.id not in self.names:
            return True
        for helper in self.called(call.func):
            function = self.functions.authors(helper)
            if function is not None:
                read = {name for name, value in arguments_of(call, function) if self.from_read(value)}
                return computes_with(function, read, _ARITHMETIC)
        return False

    def is_grown(self, value: ast.AST) -> bool:
        """Whether a value holds all that was read, and more: ``[*old, x]``, ``{**old, k: v}``, ``old | {x}``."""
        if isinstance(value, ast.Name):
            return value.id in self.grown
        if isinstance(value, ast.List | ast.Tuple | ast.Set) and len(value.elts) > 1:
            return any(isinstance(elt, ast.Starred) and self.from_read(elt.value) for elt in value.elts)
        if isinstance(value, ast.Dict) and len(value.values) > 1:
            pairs = zip(value.keys, value.values, strict=True)
            return any(key is None and self.from_read(expression) for key, expression in pairs)
        if isinstance(value, ast.BinOp) and isinstance(value.op, ast.Add | ast.BitOr):
            parts = (value.left, value.right)
            collections = ast.List | ast.Tuple | ast.Set | ast.Dict | ast.ListComp | ast.SetComp | ast.DictComp
            return any(isinstance(part, collections) for part in parts) and any(map(self.from_read, parts))
        return False

    def of_itself(self, entity: CompiledEntity | None, name: str, value: ast.expr) -> bool:
        """Whether a text or a collection is given all that it held, and more: ``note=f"{item.note} {text}"``."""
        if entity is None or name not in entity.fields or not isinstance(value, ast.JoinedStr | ast.BinOp):
            return False
        if isinstance(value, ast.BinOp) and not isinstance(value.op, ast.Add | ast.BitOr):
            return False
        if kind_of(entity.fields[name].annotation) not in {str, bytes, list, tuple, set, frozenset, dict}:
            return False
        return any(name == part for _, part in self.fields_in(value, entity))

    def own_fields(self, entity: CompiledEntity | None, changes: Mapping[str, ast.expr]) -> frozenset[str]:
        """The fields that are given what they held and more, or to which is added what was made of them."""
        return frozenset(
            name
            for name, value in changes.items()
            if self.of_itself(entity, name, value)
            or (entity is not None and name in entity.fields and self._adds_its_own(entity, name, value))
        )

    def _adds_its_own(self, entity: CompiledEntity, name: str, value: ast.expr) -> bool:
        """``stock=Add(-min(item.stock, wanted))``: a bound of the field's type is a condition of its own."""
        if self.change_of(value) != "Add" or entity.fields[name].bounds:
            return False
        return any(part == name for _, part in self.fields_in(value, entity))

    def computed_fields(self, changes: Mapping[str, ast.expr], given: Mapping[str, ast.expr] | None) -> frozenset[str]:
        """The fields whose value is computed from what was read."""
        every = {**changes, **(given or {})}
        return frozenset(
            name for name, value in every.items() if self.change_of(value) == "set" and self.is_computed(value)
        )

    def computed_parts(self, methods: Mapping[str, list[ast.Call]]) -> frozenset[str]:
        """The fields of which a part is computed from what was read."""
        return frozenset(name for name, value in parts_set(methods) if self.is_computed(value))

    def change_of(self, value: ast.expr) -> str:
        """The kind of change that a value is: ``Add``, ``Append``, ...; else ``set``."""
        return (self.kind_of(value.func, _CHANGES) if isinstance(value, ast.Call) else "") or "set"

    def grows(self, node: ast.Call) -> None:
        """A copy of what was read is made longer: ``seen.append(who)``."""
        owner = node.func.value if isinstance(node.func, ast.Attribute) and node.func.attr in GROWTH else None
        if isinstance(owner, ast.Name) and owner.id in self.read and owner.id not in self.instances:
            self.grown.add(owner.id)
            self.computed.add(owner.id)

    def set_within(self, target: ast.Subscript) -> None:
        """An element, or a key, of a copy of what was read is set."""
        owner = target.value
        if isinstance(owner, ast.Name) and owner.id in self.read and owner.id not in self.instances:
            self.computed.add(owner.id)
            if not isinstance(target.slice, ast.Constant):
                self.grown.add(owner.id)

    def asked_many(self, value: ast.expr) -> str | None:
        """The read of many items that a value is the answer of."""
        call = value.value if isinstance(value, ast.YieldFrom) else None
        name = asked(call.func) if isinstance(call, ast.Call) else None
        pattern = self.design.reads.get(name or "")
        return pattern.name if pattern is not None and pattern.shape.many else None

    def named_in(self, calls: Iterable[ast.Call]) -> frozenset[str]:
        """The names that a token is made of: fields and variables, and functions that make another each time."""
        return frozenset(
            name
            for call in calls
            for value in (*call.args, *(keyword.value for keyword in call.keywords))
            for name in named(value)
            if name not in self.instances and not isinstance(self.globals.get(name), str | int)
        )
