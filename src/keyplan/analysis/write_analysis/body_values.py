"""What the values in a write's code are made of: of what was read, by an operator or a function, and whether they hold
all that was there, and more.

What is done with them is in ``following.py``.
"""

from __future__ import annotations

import ast
import builtins
import enum
import inspect
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from importlib.util import resolve_name
from types import ModuleType
from typing import Any, Protocol

from keyplan.analysis.write_analysis.code import WrittenCode
from keyplan.analysis.write_analysis.sources import FunctionNode
from keyplan.model.compiled.compiled_design import CompiledDesign
from keyplan.model.compiled.return_types import ShapeKind
from keyplan.model.declared import actions as words
from keyplan.model.declared.fields import kind_of
from keyplan.model.stored.stored_entity import CompiledEntity

__all__ = ["OPEN", "BodyValues", "Functions", "Names"]


def constants(changes: Mapping[str, ast.expr], conditions: Iterable[ast.Call]) -> Iterator[tuple[str, Any]]:
    """The fields whose value stands in the code: as a change, or as what a condition expects."""
    given = [*changes.items()]
    for call in conditions:
        if not call.args:
            given += [(keyword.arg, keyword.value) for keyword in call.keywords if keyword.arg is not None]
    for name, value in given:
        if isinstance(value, ast.Constant) and isinstance(value.value, str | int | float | bool | bytes):
            yield name, value.value


def compared(conditions: Iterable[ast.Call]) -> Iterator[tuple[str, Any]]:
    """The fields that conditions compare with a constant; beside a number its neighbors, for ``<`` and ``>``."""
    for call in conditions:
        given = {keyword.arg: keyword.value for keyword in call.keywords if keyword.arg is not None}
        pairs = [(name, name) for name in given]
        if call.args:
            text = call.args[0].value if isinstance(call.args[0], ast.Constant) else None
            pairs = re.findall(r"(\w+) *(?:=|<>|<=?|>=?) *:(\w+)", text) if isinstance(text, str) else []
        for name, parameter in pairs:
            value = given.get(parameter)
            if isinstance(value, ast.Constant) and isinstance(value.value, str | int | float | bool | bytes):
                yield name, value.value
                if call.args and type(value.value) is int:
                    yield from ((name, value.value - 1), (name, value.value + 1))


def lowers(change: ast.expr) -> bool:
    """Whether a change takes an amount that isn't in the code: ``Add(-amount)``."""
    given = change.args[0] if isinstance(change, ast.Call) and change.args else None
    return (
        isinstance(given, ast.UnaryOp)
        and isinstance(given.op, ast.USub)
        and not isinstance(given.operand, ast.Constant)
        and isinstance(change, ast.Call)
        and ast.unparse(change.func).endswith("Add")
    )


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


OPEN = object()
"""What a name stands for that isn't known."""


_CHANGES: Mapping[type[Any], str] = {
    element: element.__name__
    for element in (words.Add, words.Append, words.SetAdd, words.SetRemove, words.IfNotExists, words.Remove)
}
_ARITHMETIC = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.BitOr)


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

    def constants_in(self, node: ast.expr) -> tuple[Any, ...] | None:
        """The value of a constant, or those of a tuple, list or set of constants; None where they aren't known."""
        if isinstance(node, ast.Tuple | ast.List | ast.Set):
            parts = [self.constants_in(part) for part in node.elts]
            return None if None in parts else tuple(value for part in parts if part is not None for value in part)
        if isinstance(node, ast.Constant):
            return (node.value,)
        cls = self.value_of(node.value) if isinstance(node, ast.Attribute) else None
        if isinstance(cls, type) and issubclass(cls, enum.Enum) and isinstance(node, ast.Attribute):
            return (getattr(cls, node.attr, OPEN),)
        value = self.value_of(node)
        if isinstance(value, tuple | frozenset | set | list):
            return tuple(value)
        return (value,) if isinstance(value, str | int | enum.Enum) else None

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


class Functions(Protocol):
    """The functions that a write may call."""

    design: CompiledDesign

    def methods(self, name: str) -> Iterator[Any]:
        """The functions of that name that the design and its entities have."""
        ...

    def authors(self, value: Any) -> FunctionNode | None:
        """The code of a function that is the author's own."""
        ...


class BodyValues(Names):
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
