"""Find the possible reads and actions in all branches of a write's body.

The body, and the functions of the design's author that it calls, are evaluated once with abstract values: a value's
entity, for example, and whether the value comes from a read. Names are resolved, so ``New`` is Create after
``from keyplan import Create as New``. A value that the code doesn't determine is ``OPEN``.
"""

from __future__ import annotations

import ast
import builtins
import enum
import inspect
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from importlib.util import resolve_name
from types import ModuleType
from typing import Any, TypeAlias

from keyplan.analysis.write_analysis.code import Action, Ask, WrittenCode
from keyplan.analysis.write_analysis.outside_calls import LOCAL, OPEN, Call, outside_calls
from keyplan.analysis.write_analysis.sources import FunctionNode, Sources, is_authors, package_of, unwrapped
from keyplan.model.compiled.compiled_design import CompiledDesign, WritePattern, entities_in
from keyplan.model.compiled.return_types import ShapeKind
from keyplan.model.declared import actions as words
from keyplan.model.declared.entity import Entity
from keyplan.model.declared.example_values import limits
from keyplan.model.declared.fields import kind_of
from keyplan.model.stored.stored_entity import CompiledEntity

CALLS_MAX = 2_000
"""The maximum number of calls of the author's functions that are followed in one write."""
_ACTIONS: tuple[type[Any], ...] = (words.Put, words.Create, words.Update, words.Delete, words.Check, words.Batch)
_CHANGES = (words.Add, words.Append, words.SetAdd, words.SetRemove, words.IfNotExists, words.Remove)
_PART_CHANGES = {"set": "set", "add": "Add", "append": "Append", "remove": "Remove"}
_METHODS = frozenset({"at", "final", "if_missing", "idempotent", "only_if", "or_create", "previous", *_PART_CHANGES})
"""Methods of actions that return the action."""
_GROWTH = frozenset({"add", "append", "extend", "insert", "setdefault", "update"})
"""Methods of lists, sets and dicts that add elements."""
_FOLDS = frozenset({"lower", "casefold", "upper"})
_SUMS = frozenset({"sum", "len", "min", "max", "any", "all", "abs", "round"})
_ARITHMETIC = ast.Add | ast.Sub | ast.Mult | ast.Div | ast.FloorDiv | ast.BitOr
_DISPLAYS = ast.List | ast.Tuple | ast.Set | ast.Dict | ast.ListComp | ast.SetComp | ast.DictComp
_COLLECTIONS = frozenset({list, tuple, set, frozenset, dict})
_LEAVES = ast.Yield | ast.YieldFrom | ast.Return | ast.Raise | ast.Break
"""Statements that end a loop, or at which a dry run can end it."""
_Comprehension = ast.GeneratorExp | ast.ListComp | ast.SetComp | ast.DictComp


@dataclass(frozen=True, slots=True, eq=False)
class Value:
    """An abstract value. ``known``: the object that the value's name refers to. ``cls``: the entity class of the value
    or its elements. ``returns``: the class of the result of ``yield from``. ``given``: the fields that are passed when
    the value is constructed or copied. ``parts``: the elements of a tuple. ``checked``: the fields that the code tests.

    ``read``: the value comes from a read. ``asked``: the value is an item that was read. ``computed``, ``grown``: the
    value is computed from a read value, or extends it. ``fields``, ``results``, ``counts``: the fields of entities, the
    results of reads and the numbers of read items that the value depends on. ``unbounded``: the parameter or read
    without a maximum length. ``actions``: the actions that the value can be. ``path``: the part that ``at()`` selects.
    """

    known: Any = OPEN
    cls: type[Any] | None = None
    returns: type[Any] | None = None
    given: Mapping[str, tuple[ast.expr, Value]] = field(default_factory=dict[str, Any])
    built: bool = False
    parts: tuple[Value, ...] = ()
    checked: set[str] = field(default_factory=set[str])
    read: bool = False
    asked: bool = False
    computed: bool = False
    grown: bool = False
    fields: frozenset[tuple[str, str]] = frozenset()
    results: frozenset[str] = frozenset()
    counts: frozenset[str] = frozenset()
    unbounded: str | None = None
    actions: tuple[Action, ...] = ()
    path: ast.expr | None = None


_Named: TypeAlias = tuple[str | None, ast.expr, Value]
"""A keyword argument: the name (None for ``**arguments``), the expression, and the value."""


def _union(values: Iterable[Value]) -> Value:
    read = computed = False
    unbounded: str | None = None
    fields, results, counts = frozenset[tuple[str, str]](), frozenset[str](), frozenset[str]()
    for value in values:
        read |= value.read
        computed |= value.computed
        unbounded = unbounded or value.unbounded
        fields, results, counts = fields | value.fields, results | value.results, counts | value.counts
    return Value(read=read, computed=computed, fields=fields, results=results, counts=counts, unbounded=unbounded)


def code_of(pattern: WritePattern, design: CompiledDesign, owner: type[Any] | None, sources: Sources) -> WrittenCode:
    """Read the code of a write. ``owner``: the design class, to follow calls of its methods."""
    reader = _Reader(design, owner, sources, WrittenCode(pattern))
    arguments: dict[str, Value] = {}
    for parameter in pattern.signature.parameters:
        kinds = set(entities_in(parameter.annotation)) & design.entities.keys()
        entity = design.entities[kinds.pop()] if len(kinds) == 1 else None
        if entity is not None:
            reader.code.entities[entity.name] = None
        many = kind_of(parameter.annotation) in _COLLECTIONS and limits(parameter.annotation, "length")[1] is None
        arguments[parameter.name] = Value(
            cls=None if entity is None else entity.cls,
            read=entity is not None,
            unbounded=parameter.name if many else None,
        )
    reader.code.known = reader.call(pattern.function, arguments, ()) is not None
    return reader.code


class _Reader:
    """Follows a write's function, and the author's functions that it calls."""

    def __init__(self, design: CompiledDesign, owner: type[Any] | None, sources: Sources, code: WrittenCode) -> None:
        self.design = design
        self.owner = owner
        self.sources = sources
        self.code = code
        self.batches = 0
        self.calls = 0
        self._running: list[Any] = []
        self._package = package_of(code.pattern.function)
        owners = [*([] if owner is None else [owner]), *design.entities]
        libraries = {"builtins", "pydantic", "keyplan"}
        bases = dict.fromkeys(base for each in owners for base in each.__mro__)
        self._bases = [base for base in bases if base.__module__.partition(".")[0] not in libraries]

    def call(self, function: Any, arguments: Mapping[str, Value], loops: Sequence[_Loop]) -> Value | None:
        """Evaluate the body of a function and return the result; None if the function's source can't be read."""
        code = unwrapped(function)
        node = None if code is None else self.sources.function(code)
        if node is None or function in self._running:
            return None
        self.calls += 1
        if self.calls > CALLS_MAX:
            self.code.not_followed[f"more than {CALLS_MAX:,} functions"] = None
            return None
        self._running.append(function)
        scope = _Scope(self, inspect.unwrap(function), node, arguments, loops)
        for statement in node.body:
            scope.statement(statement)
        self._running.pop()
        result = _union(scope.returned)
        first = next(iter(scope.returned), result)
        cls = scope.entity_class(node.returns) or first.cls
        actions = tuple(action for value in scope.returned for action in value.actions)
        result = replace(result, returns=cls, results=frozenset(), unbounded=None)
        return replace(result, parts=first.parts, asked=first.asked, grown=first.grown, actions=actions)

    def is_followed(self, value: Any) -> bool:
        """Whether a value is a function of the design's author with readable source."""
        function = getattr(value, "__func__", value)
        code = unwrapped(function) if inspect.isfunction(function) and is_authors(function, self._package) else None
        return code is not None and self.sources.function(code) is not None

    def methods(self, name: str) -> Iterator[Any]:
        for base in self._bases:
            value = vars(base).get(name)
            if value is not None:
                yield getattr(value, "fget", None) or value


@dataclass(frozen=True, slots=True)
class _Loop:
    """A loop around a statement. ``unbounded``: an iterable without maximum length. ``many``: it isn't a literal."""

    unbounded: str | None
    many: bool


class _Scope:
    """The evaluation of one function's body."""

    def __init__(
        self, reader: _Reader, function: Any, node: FunctionNode, arguments: Mapping[str, Value], loops: Sequence[_Loop]
    ) -> None:
        self.reader = reader
        self.code = reader.code
        self.design = reader.design
        self.globals: Mapping[str, Any] = getattr(function, "__globals__", {})
        self.names = {name: Value() for name in function.__code__.co_varnames} | _closure(function)
        self.loops = list(loops)
        self.returned: list[Value] = []
        for argument in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs):
            value = arguments.get(argument.arg, Value(known=LOCAL) if argument.arg == "cls" else Value())
            cls = self.entity_class(argument.annotation)
            if cls is not None and value.cls is None and value.known is OPEN:
                value = replace(value, cls=cls, read=True)
            self.names[argument.arg] = value

    # Statements

    def statement(self, node: ast.AST) -> None:
        match node:
            case ast.Assign(targets=targets, value=value):
                result = self._kept(value)
                for target in targets:
                    self._bind(target, result)
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                self._bind(target, self._kept(value))
            case ast.AugAssign(target=target, op=op, value=value):
                loaded = ast.Name(target.id, ast.Load()) if isinstance(target, ast.Name) else target
                self._bind(target, self._kept(ast.BinOp(loaded, op, value)))
            case ast.If(test=test):
                results, before = self._tested(test).results, len(self.code.actions)
                self._statements((*node.body, *node.orelse))
                for read in results:
                    self.code.decided.setdefault(read, []).extend(self.code.actions[before:])
            case ast.While(test=test):
                ends = any(isinstance(each, _LEAVES) for each in ast.walk(node))
                if isinstance(test, ast.Constant) and test.value and not ends:
                    self.code.endless = True
                self.loops.append(_Loop(None, many=True))
                self._tested(test)
                self._statements(node.body)
                self.loops.pop()
            case ast.For():
                self._for(node)
            case ast.Assert(test=test):
                self._tested(test)
            case ast.Match(subject=subject, cases=cases):
                self._tested(subject)
                for case in cases:
                    if case.guard is not None:
                        self._tested(case.guard)
                    self._statements(case.body)
            case ast.FunctionDef(name=name):  # assume that the inner function is called
                self.names |= {argument.arg: Value() for argument in node.args.args} | {name: Value(known=LOCAL)}
                self._statements(node.body)
            case ast.Return(value=ast.expr() as value):
                self.returned.append(self.value(value))
            case ast.Import() | ast.ImportFrom():
                self._imported(node)
            case ast.With():
                for item in node.items:
                    if not isinstance(item.context_expr, ast.Call):
                        self.code.not_followed[ast.unparse(item.context_expr)] = None
                self._children(node)
            case ast.AsyncFor() | ast.AsyncWith():
                self.code.outside["uses an event loop"] = None
                self._children(node)
            case _:
                self._children(node)

    def _statements(self, nodes: Iterable[ast.stmt]) -> None:
        for node in nodes:
            self.statement(node)

    def _children(self, node: ast.AST) -> None:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.expr):
                self.value(child)
            else:
                self.statement(child)

    def _for(self, node: ast.For) -> None:
        source = self.value(node.iter)
        self._draw(node.target, source)
        self.loops.append(_Loop(source.unbounded, not isinstance(node.iter, ast.Tuple | ast.List)))
        self._statements(node.body)
        self.loops.pop()
        self._statements(node.orelse)

    def _imported(self, node: ast.Import | ast.ImportFrom) -> None:
        for alias in node.names:
            if isinstance(node, ast.Import):
                name = alias.name if alias.asname else alias.name.partition(".")[0]
                found = sys.modules.get(name, OPEN)
            else:
                name = alias.name
                found = getattr(sys.modules.get(self._module(node)), name, OPEN)
            self.names[alias.asname or name] = Value(found)

    def _module(self, node: ast.ImportFrom) -> str:
        if not node.level:
            return node.module or ""
        try:
            return resolve_name("." * node.level + (node.module or ""), str(self.globals["__package__"]))
        except (ImportError, KeyError):
            return ""

    # Variables

    def _kept(self, node: ast.expr) -> Value:
        """The value to assign to a variable. It depends on a read's result only if the expression is the read."""
        value = self.value(node)
        if not isinstance(node, ast.YieldFrom):
            value = replace(value, results=frozenset())
        return replace(value, unbounded=None, actions=value.actions if len(value.actions) == 1 else ())

    def _bind(self, target: ast.expr, value: Value) -> None:
        match target:
            case ast.Name(id=name):
                self.names[name] = value
            case ast.Tuple(elts=targets) | ast.List(elts=targets):
                parts = value.parts if len(value.parts) == len(targets) else [Value(read=value.read)] * len(targets)
                for element, part in zip(targets, parts, strict=True):
                    read = part.read or value.read
                    self._bind(element, replace(part, read=read, results=frozenset(), unbounded=None))
            case ast.Subscript(value=ast.Name(id=name), slice=key):  # the variable no longer has the read value
                self.value(key)
                owner = self.names.get(name, Value())
                if owner.read and owner.cls is None:
                    grown = owner.grown or not isinstance(key, ast.Constant)
                    self.names[name] = replace(owner, computed=True, grown=grown)
            case ast.Starred(value=inner):
                self._bind(inner, Value(read=value.read))
            case _:
                self._children(target)

    def _draw(self, target: ast.expr, source: Value) -> None:
        """Bind a loop's variables to elements of a value."""
        element = Value(read=source.read, cls=source.cls if isinstance(target, ast.Name) else None)
        if isinstance(target, ast.Tuple | ast.List):
            element = replace(element, parts=tuple(Value(read=source.read) for _ in target.elts))
        self._bind(target, element)

    def _tested(self, test: ast.expr) -> Value:
        """Evaluate a test, and record the fields and counts that it tests."""
        for node in ast.walk(test):
            entity, name = self._field(node)
            if entity is not None and isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
                self.names[node.value.id].checked.add(name)
            if isinstance(node, ast.Compare):
                entity, name = self._field(node.left)
                values = [value for part in node.comparators for value in self._constants(part)]
                self.code.compared += [(entity.name, name, value) for value in values if entity is not None]
        value = self.value(test)
        self.code.counted |= value.counts
        return value

    def _field(self, node: ast.expr | ast.AST) -> tuple[CompiledEntity | None, str]:
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            entity = self._entity(self.names.get(node.value.id, Value()).cls)
            if entity is not None and node.attr in entity.fields:
                return entity, node.attr
        return None, ""

    def _constants(self, node: ast.expr) -> Iterator[Any]:
        """The values of a literal, of an enum member, or of a tuple, list or set of literals and enum members."""
        if isinstance(node, ast.Tuple | ast.List | ast.Set):
            for part in node.elts:
                yield from self._constants(part)
        elif isinstance(node, ast.Constant):
            yield node.value
        elif isinstance(node, ast.Attribute):
            cls = self._known(node.value)
            if isinstance(cls, type) and issubclass(cls, enum.Enum) and hasattr(cls, node.attr):
                yield getattr(cls, node.attr)

    # Names

    def _known(self, node: ast.AST | None) -> Any:
        """The object that a name or a dotted name refers to."""
        if isinstance(node, ast.Name):
            if node.id in self.names:
                return self.names[node.id].known
            entity = self.design.by_name.get(node.id)  # a local class of the function that declares the design
            local = OPEN if entity is None else entity.cls
            return self.globals.get(node.id, getattr(builtins, node.id, local))
        if isinstance(node, ast.Attribute):
            return _member_of(self._known(node.value), node.attr)
        return OPEN

    def _entity(self, cls: Any) -> CompiledEntity | None:
        return self.design.entities.get(cls) if isinstance(cls, type) else None

    def entity_class(self, annotation: ast.expr | None) -> type[Any] | None:
        found: dict[type[Any], None] = {}
        for node in () if annotation is None else ast.walk(annotation):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                entity = self.design.by_name.get(node.value)
            else:
                entity = self._entity(self._known(node))
            if entity is not None:
                found[entity.cls] = self.code.entities[entity.name] = None
        return next(iter(found)) if len(found) == 1 else None

    def _mention(self, known: Any) -> None:
        kind = _kind(known, _ACTIONS)
        if kind:
            self.code.mentioned[kind] = None
            self.code.loops |= bool(self.loops)
        elif (entity := self._entity(known)) is not None:
            self.code.entities[entity.name] = None

    # Expressions

    def value(self, node: ast.expr) -> Value:
        match node:
            case ast.Name():
                value = self.names.get(node.id)
                value = Value(self._known(node)) if value is None else value
                self._mention(value.known)
                return value
            case ast.Attribute():
                return self._member(node)[1]
            case ast.Call():
                return self._call(node)
            case ast.YieldFrom(value=ast.Call(func=function) as call) if _read_of(function) in self.design.reads:
                self.value(call)
                return self._read(str(_read_of(function)))
            case ast.YieldFrom(value=inner):
                value = self.value(inner)
                return replace(value, cls=value.returns, actions=())
            case ast.NamedExpr(target=target, value=inner):
                self._bind(target, self._kept(inner))
                return self.names[target.id]
            case ast.IfExp(test=test, body=body, orelse=orelse):
                return _union([self._tested(test), self.value(body), self.value(orelse)])
            case ast.BinOp(left=left, op=op, right=right):
                parts = [self.value(left), self.value(right)]
                value = _union(parts)
                display = isinstance(left, _DISPLAYS) or isinstance(right, _DISPLAYS)
                grown = value.read and display and isinstance(op, ast.Add | ast.BitOr)
                computed = value.computed or (value.read and isinstance(op, _ARITHMETIC))
                return replace(value, grown=grown, computed=computed or grown)
            case ast.List(elts=elements) | ast.Tuple(elts=elements) | ast.Set(elts=elements):
                values = [self.value(element) for element in elements]
                pairs = zip(elements, values, strict=True)
                grown = len(values) > 1 and any(isinstance(each, ast.Starred) and value.read for each, value in pairs)
                value = _union(values)
                return replace(value, grown=grown, computed=value.computed or grown, parts=tuple(values))
            case ast.Dict(keys=keys, values=elements):
                values = [self.value(element) for element in elements]
                unpacked = [value for key, value in zip(list(keys), values, strict=True) if key is None]
                grown = len(values) > 1 and any(value.read for value in unpacked)
                value = _union([*values, *(self.value(key) for key in keys if key is not None)])
                return replace(value, grown=grown, computed=value.computed or grown)
            case ast.Lambda(body=body):
                return replace(self.value(body), known=LOCAL)
            case _ if isinstance(node, _Comprehension):
                return self._comprehension(node)
            case ast.Await():
                self.code.outside["uses an event loop"] = None
            case _:
                pass
        return _union([self.value(child) for child in ast.iter_child_nodes(node) if isinstance(child, ast.expr)])

    def _comprehension(self, node: _Comprehension) -> Value:
        names, before = dict(self.names), len(self.loops)
        sources: list[Value] = []
        for generator in node.generators:
            sources.append(self.value(generator.iter))
            self._draw(generator.target, sources[-1])
            self.loops.append(_Loop(sources[-1].unbounded, many=True))
            for test in generator.ifs:
                self.value(test)
        elements = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
        values = [self.value(element) for element in elements]
        del self.loops[before:]
        self.names = names
        return _union([*sources, *values])

    def _member(self, node: ast.Attribute) -> tuple[Value, Value]:
        """The values of ``owner`` and of ``owner.member``."""
        name = _read_of(node)
        if name in self.design.reads:
            self.code.asks.append(Ask(name, node.lineno, looped=any(loop.many for loop in self.loops)))
            entities = self.design.reads[name].shape.entities
            self.code.entities.update(dict.fromkeys(entity.__name__ for entity in entities))
            return Value(), Value()
        owner = self.value(node.value)
        known = _member_of(owner.known, node.attr)
        self._mention(known)
        entity = self._entity(owner.cls)
        fields = owner.fields if entity is None else frozenset({(entity.name, node.attr)})
        value = replace(_union([owner]), known=known, fields=fields)
        return owner, value

    def _read(self, name: str) -> Value:
        pattern = self.design.reads[name]
        shape = pattern.shape
        cls = shape.entities[0] if len(shape.entities) == 1 and not shape.told else None
        counts = frozenset({name}) if shape.kind is ShapeKind.COUNT else frozenset[str]()
        unbounded = name if shape.many and pattern.limit is None else None
        asked, results = cls is not None, frozenset({name})
        return Value(cls=cls, read=True, asked=asked, counts=counts, results=results, unbounded=unbounded)

    # Calls

    def _call(self, node: ast.Call) -> Value:
        function = node.func
        helpers = self._judged(function)
        if isinstance(function, ast.Attribute):
            owner, target = self._member(function)
        else:
            owner, target = Value(), self.value(function)
        kind = _kind(target.known, _ACTIONS)
        self.reader.batches += kind == "Batch"
        positional = [self.value(argument) for argument in node.args]
        named = [(keyword.arg, keyword.value, self.value(keyword.value)) for keyword in node.keywords]
        self.reader.batches -= kind == "Batch"
        if kind and kind != "Batch":
            return Value(actions=(self._action(kind, node, positional, named),))
        attribute = function.attr if isinstance(function, ast.Attribute) else ""
        if owner.actions and attribute in _METHODS:
            for action in owner.actions:
                self._further(action, attribute, node, owner.path, positional, named)
            path = node.args[0] if attribute == "at" and node.args else None
            return replace(owner, path=path)
        result = _union([owner, *positional, *(value for _, _, value in named)])
        given = {name: (expression, value) for name, expression, value in named if name is not None}
        if isinstance(target.known, type) and issubclass(target.known, Entity):
            return replace(result, cls=target.known, given=given, built=True)
        if attribute == "model_copy" and owner.cls is not None:
            return replace(result, cls=owner.cls, asked=owner.asked, given=self._updated(node))
        if isinstance(function, ast.Name) and function.id in _SUMS and function.id not in self.names:
            many = {name for value in positional for name in value.results if self.design.reads[name].shape.many}
            return replace(result, computed=result.computed or result.read, counts=result.counts | many)
        if isinstance(function, ast.Attribute):
            self._method(function, owner)
        results = [self._followed(helper, node, positional, given) for helper in helpers]
        followed = [each for each in results if each is not None]
        if len(followed) == 1:
            return followed[0]
        return _union([result, *followed])

    def _updated(self, call: ast.Call) -> Mapping[str, tuple[ast.expr, Value]]:
        """The fields in ``item.model_copy(update={...})``."""
        update = next((keyword.value for keyword in call.keywords if keyword.arg == "update"), None)
        if not isinstance(update, ast.Dict):
            return {}
        pairs = zip(update.keys, update.values, strict=True)
        return {str(key.value): (value, self.value(value)) for key, value in pairs if isinstance(key, ast.Constant)}

    def _method(self, function: ast.Attribute, owner: Value) -> None:
        """Record a call of a pattern, a conversion to one letter case, or an extended copy of a read value."""
        name = function.value.id if isinstance(function.value, ast.Name) else ""
        if name == "self":
            verb = getattr(self.reader.owner, function.attr, None)
            if function.attr in self.design.patterns or getattr(verb, "__module__", "").startswith("keyplan."):
                self.code.direct_calls.setdefault(function.attr, function.lineno)
        if function.attr in _FOLDS:
            self.code.folded.update(_named(function.value))
        if function.attr in _GROWTH and name in self.names and owner.read and owner.cls is None:
            self.names[name] = replace(owner, grown=True, computed=True)

    def _judged(self, function: ast.expr) -> list[Any]:
        """The author's functions that a call can refer to. Records the side effects of the call."""
        base = function.value if isinstance(function, ast.Subscript) else function  # ``set[str]()``
        known = self._known(base) if base is function or isinstance(self._known(base), type) else OPEN
        owner = self._known(function.value) if isinstance(function, ast.Attribute) else OPEN
        helpers = list(self._called(function, known))
        root = function
        while isinstance(root, ast.Attribute):
            root = root.value
        call = Call(function, known, owner, self._known(root), bool(helpers))
        for what, name in outside_calls(call, self.reader.is_followed, self.names):
            if what is None:
                self.code.not_followed[name] = None
            else:
                self.code.outside[what] = None
        return helpers

    def _called(self, function: ast.expr, known: Any) -> Iterator[Any]:
        if inspect.isfunction(known) or isinstance(known, staticmethod | classmethod):
            yield known
        elif isinstance(function, ast.Attribute) and known is OPEN:
            write = function.value.attr if isinstance(function.value, ast.Attribute) else ""
            if function.attr == "in_transaction" and write in self.design.writes:
                yield self.design.writes[write].function
            else:
                yield from self.reader.methods(function.attr)

    def _followed(
        self, helper: Any, call: ast.Call, positional: Sequence[Value], given: Mapping[str, tuple[ast.expr, Value]]
    ) -> Value | None:
        """Evaluate a function of the design's author with these arguments."""
        helper = getattr(helper, "__func__", helper)
        code = unwrapped(helper)
        writes = {write.function for write in self.design.writes.values()}
        if code is None or not (helper in writes or self.reader.is_followed(helper)):
            return None
        names = list(code.co_varnames[: code.co_argcount])
        if names[:1] in (["self"], ["cls"]) and isinstance(call.func, ast.Attribute):
            del names[0]
        arguments = dict(zip(names, positional, strict=False)) | {name: value for name, (_, value) in given.items()}
        arguments = {name: replace(each, results=frozenset(), unbounded=None) for name, each in arguments.items()}
        folded = self.code.folded
        self.code.folded = set()
        result = self.reader.call(helper, arguments, self.loops)
        own, self.code.folded = self.code.folded, folded
        expressions = dict(zip(names, call.args, strict=False)) | {name: node for name, (node, _) in given.items()}
        self.code.folded.update(own, *(_named(node) for name, node in expressions.items() if name in own))
        return result

    # Actions

    def _action(self, kind: str, node: ast.Call, positional: Sequence[Value], named: Sequence[_Named]) -> Action:
        target = positional[0] if positional else Value()
        by_class = isinstance(target.known, type)
        cls = target.known if by_class else target.cls
        entity = self._entity(cls)
        outside = isinstance(cls, type) and issubclass(cls, Entity) and entity is None
        action = Action(
            kind,
            entity,
            node.lineno,
            checked=self._checked(node.args[0] if node.args else None, target, entity),
            built=frozenset(target.given) if target.built else None,
            looped=bool(self.loops),
            batched=self.reader.batches > 0,
            by_instance=not by_class,
            outside=cls.__name__ if outside and cls is not None else None,
            asked_for=target.asked,
            unbounded=next((loop.unbounded for loop in self.loops if loop.unbounded), None),
        )
        if kind == "Update" and not by_class:
            self._changed(action, named)
        if kind in {"Put", "Create"}:
            for name, (expression, value) in target.given.items():
                _note_value(action, name, expression, value)
        self.code.actions.append(action)
        return action

    def _checked(self, node: ast.expr | None, target: Value, entity: CompiledEntity | None) -> frozenset[str]:
        if isinstance(node, ast.Name) and target.cls is not None:
            return frozenset(target.checked)
        same = (value for value in self.names.values() if entity is not None and value.cls is entity.cls)
        return frozenset(name for value in same for name in value.checked)

    def _changed(self, action: Action, named: Iterable[_Named]) -> None:
        for name, node, value in named:
            if name is None:
                action.open = True
                continue
            change = (_kind(self._known(node.func), _CHANGES) if isinstance(node, ast.Call) else "") or "set"
            action.changes[name] = change
            if change == "set":
                _note_value(action, name, node, value)
            elif change == "Add" and isinstance(node, ast.Call) and node.args:
                added = node.args[0]
                if isinstance(added, ast.UnaryOp) and not isinstance(added.operand, ast.Constant):
                    action.lowered |= {name} if isinstance(added.op, ast.USub) else set()
            entity = action.entity
            if entity is None or (entity.name, name) not in value.fields or name not in entity.fields:
                continue
            stored = entity.fields[name]
            adds = isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.BitOr)
            if adds or isinstance(node, ast.JoinedStr):  # ``note=f"{item.note} {text}"``
                if kind_of(stored.annotation) in {str, bytes, *_COLLECTIONS}:
                    action.from_read.add(name)
                    action.grown.add(name)
            elif change == "Add" and not stored.bounds:  # ``stock=Add(-min(item.stock, wanted))``
                action.from_read.add(name)

    def _further(
        self,
        action: Action,
        method: str,
        call: ast.Call,
        path: ast.expr | None,
        positional: Sequence[Value],
        named: Sequence[_Named],
    ) -> None:
        """Apply a method of an action: further changes, or a condition."""
        if path is not None and method in _PART_CHANGES:
            name, keyed = _changed_part(path)
            if name is None:
                return
            if action.changes.get(name) not in {"Add", "Append"}:
                action.changes[name] = _PART_CHANGES[method]
            action.keyed |= {name} if keyed and method != "remove" else set()
            if method == "set" and positional and positional[0].computed:
                action.from_read.add(name)
        elif method == "set":
            self._changed(action, named)
        elif method == "only_if":
            action.conditional = True
            self._conditioned(action, call)
        elif method == "idempotent":
            action.once = True
            arguments = (*call.args, *(keyword.value for keyword in call.keywords))
            action.named_by |= {
                name
                for node in arguments
                for name in _named(node)
                if self.names.get(name, Value()).cls is None and not isinstance(self.globals.get(name), str | int)
            }
        action.creates |= method == "or_create"
        action.must_exist |= method == "if_missing"

    def _conditioned(self, action: Action, call: ast.Call) -> None:
        given = {keyword.arg: keyword.value for keyword in call.keywords if keyword.arg is not None}
        text = call.args[0].value if call.args and isinstance(call.args[0], ast.Constant) else None
        pairs = [(name, name) for name in given]
        if call.args:
            text = text if isinstance(text, str) else ""
            pairs = re.findall(r"(\w+) *(?:=|<>|<=?|>=?) *:(\w+)", text)
            action.expects |= {*re.findall(r"(?<!:)\b\w+", text)}
        action.expects |= given.keys()
        for name, parameter in pairs:
            value = given.get(parameter)
            if not isinstance(value, ast.Constant):
                continue
            if not call.args:
                _note_constant(action, name, value)
            near = [value.value + step for step in (-1, 0, 1)] if type(value.value) is int else [value.value]
            if action.entity is not None:
                self.code.compared += [(action.entity.name, name, each) for each in near]


def _note_value(action: Action, name: str, node: ast.expr, value: Value) -> None:
    if value.computed:
        action.from_read.add(name)
    if value.grown:
        action.grown.add(name)
    _note_constant(action, name, node)


def _note_constant(action: Action, name: str, node: ast.expr) -> None:
    if isinstance(node, ast.Constant) and isinstance(node.value, str | int | float | bool | bytes):
        action.constants.append((name, node.value))


def _changed_part(path: ast.expr) -> tuple[str | None, bool]:
    """The field in ``lambda item: item.field[key]``, and whether any key isn't a literal."""
    node = path.body if isinstance(path, ast.Lambda) else None
    name, keyed = None, False
    while isinstance(node, ast.Attribute | ast.Subscript):
        if isinstance(node, ast.Attribute):
            name = node.attr
        elif not isinstance(node.slice, ast.Constant) and isinstance(node.value, ast.Attribute):
            keyed = True
        node = node.value
    return name, keyed


def _kind(known: Any, kinds: Iterable[type[Any]]) -> str:
    if not isinstance(known, type):
        return ""
    return next((cls.__name__ for cls in kinds if issubclass(known, cls)), "")


def _member_of(owner: Any, name: str) -> Any:
    if isinstance(owner, ModuleType):
        return getattr(owner, name, OPEN)
    return inspect.getattr_static(owner, name, OPEN) if isinstance(owner, type) else OPEN


def _read_of(node: ast.expr) -> str | None:
    """The name of the read in ``self.article.read``."""
    if isinstance(node, ast.Attribute) and node.attr == "read" and isinstance(node.value, ast.Attribute):
        return node.value.attr
    return None


def _named(node: ast.expr) -> Iterator[str]:
    for part in ast.walk(node):
        if isinstance(part, ast.Name):
            yield part.id
        elif isinstance(part, ast.Attribute):
            yield part.attr


def _closure(function: Any) -> dict[str, Value]:
    result = {name: Value() for name in function.__code__.co_freevars}
    for name, cell in zip(result, function.__closure__ or (), strict=False):
        with suppress(ValueError):  # the closure cell has no value yet
            result[name] = Value(cell.cell_contents)
    return result
