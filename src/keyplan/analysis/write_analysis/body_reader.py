"""What a write's body can do, read from its syntax tree: the reads and actions of every branch.

Names are resolved: ``from keyplan import Create as New`` is Create, and a variable called ``Delete`` is a variable.
What the code doesn't say (an entity chosen at run time, changes passed on with ``**``) is left open here, and shown by
dry runs (``typical_world.py``).
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from keyplan.analysis.write_analysis.body_values import (
    OPEN,
    BodyValues,
    arguments_of,
    asked,
    chain,
    compared,
    constants,
    copied,
    expected,
    fields_given,
    folded_by,
    loaded,
    lowers,
    named,
    new_keys,
    parts_changed,
)
from keyplan.analysis.write_analysis.code import Action, Ask, FieldNeed, WrittenCode
from keyplan.analysis.write_analysis.outside_calls import outside_calls
from keyplan.analysis.write_analysis.sources import FunctionNode, Sources, is_authors, package_of, unwrapped
from keyplan.model.compiled.compiled_design import CompiledDesign, WritePattern, entities_in
from keyplan.model.declared import actions as words
from keyplan.model.declared.entity import Entity
from keyplan.model.declared.example_values import limits
from keyplan.model.declared.fields import kind_of
from keyplan.model.stored.stored_entity import CompiledEntity

__all__ = ["code_of"]

ACTIONS: Mapping[type[Any], str] = {
    element: element.__name__ for element in (words.Put, words.Create, words.Update, words.Delete, words.Check)
}
_OF_ACTIONS = frozenset({"only_if", "or_create", "idempotent", "if_missing", "set", "at"})
"""Methods that actions alone have."""


def code_of(pattern: WritePattern, design: CompiledDesign, owner: type[Any] | None, sources: Sources) -> WrittenCode:
    """The code of a write. ``owner``: the design's class, where helpers are methods of it."""
    code = WrittenCode(pattern)
    kinds_by_parameter = {
        parameter.name: entities_in(parameter.annotation) for parameter in pattern.signature.parameters
    }
    by_instance = {
        name: design.entities[kinds[0]]
        for name, kinds in kinds_by_parameter.items()
        if len(set(kinds)) == 1 and kinds[0] in design.entities
    }
    code.entities.update(dict.fromkeys(entity.name for entity in by_instance.values()))
    reader = _Reader(design, owner, sources, code)
    code.known = reader.function(pattern.function, by_instance)
    return code


class _Reader:
    """Follows a write's function, and the functions that it calls: its own, not those of libraries."""

    def __init__(self, design: CompiledDesign, owner: type[Any] | None, sources: Sources, code: WrittenCode) -> None:
        self.design = design
        self.owner = owner
        self.sources = sources
        self.found = code
        self.seen: dict[Any, bool] = {}
        """The functions that were read, and whether they make actions."""
        self._package = package_of(code.pattern.function)

    def function(
        self,
        function: Any,
        instances: Mapping[str, CompiledEntity],
        *,
        looped: bool = False,
        unbounded: str | None = None,
    ) -> bool:
        code = unwrapped(function)
        if code is None:
            return False
        node = self.sources.function(code)
        if node is None:
            return False
        scope = _Scope(self, inspect.unwrap(function), node, instances, looped=looped)
        scope.unbounded.append(unbounded)
        for statement in node.body:
            scope.visit(statement)
        is_followed = self._is_followed
        for what, name in outside_calls(node.body, scope, is_followed):
            if what is not None:
                self.found.outside[what] = None
            else:
                self.found.not_followed[name] = None
        return True

    def _is_followed(self, function: Any) -> bool:
        return self.authors(function) is not None

    def follow(self, value: Any, *, looped: bool, unbounded: str | None = None) -> None:
        """Read a helper too, once. ``unbounded``: what the loop goes through in which it is called."""
        function = getattr(value, "__func__", value)
        if function in self.seen:
            self.found.repeats |= self.seen[function]
        elif inspect.isfunction(function) and is_authors(function, self._package):
            self.seen[function] = False
            before = len(self.found.actions)
            self.function(function, {}, looped=looped, unbounded=unbounded)
            self.seen[function] = any(not action.batched for action in self.found.actions[before:])

    def authors(self, value: Any) -> FunctionNode | None:
        """The code of a function that is the author's own."""
        function = getattr(value, "__func__", value)
        code = unwrapped(function) if inspect.isfunction(function) and is_authors(function, self._package) else None
        return None if code is None else self.sources.function(code)

    def methods(self, name: str) -> Iterator[Any]:
        """The functions of that name that the design and its entities have."""
        owners = [*([] if self.owner is None else [self.owner]), *self.design.entities]
        for base in dict.fromkeys(base for owner in owners for base in owner.__mro__):
            value = vars(base).get(name)
            if value is not None and base.__module__.partition(".")[0] not in {"builtins", "pydantic", "keyplan"}:
                yield getattr(value, "fget", None) or value


class _Scope(BodyValues, ast.NodeVisitor):
    """One function's body: what names stand for, which hold instances, and which hold what was read."""

    def __init__(
        self,
        reader: _Reader,
        function: Any,
        node: FunctionNode,
        instances: Mapping[str, CompiledEntity],
        *,
        looped: bool,
    ) -> None:
        super().__init__(reader, reader.found, function, instances)
        self.reader = reader
        for argument in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs):
            entity = self._one(argument.annotation)
            if entity is not None:
                self.instances.setdefault(argument.arg, entity)
        self.read = set(self.instances)
        self.built: dict[str, frozenset[str]] = {}
        self.held: dict[str, int] = {}
        self.checked: dict[str, set[str]] = {}
        self.results: dict[str, str] = {}
        self.loops = int(looped)
        self.unbounded: list[str | None] = []
        self.rounds = int(looped)
        self.asked: set[str] = set()
        self.many = {
            argument.arg
            for argument in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)
            if self._is_unbounded(argument)
        }
        self.batches = 0

    # Statements

    def visit_Import(self, node: ast.Import) -> None:
        self.imported(node)

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        self.imported_from(node)

    def visit_Assign(self, node: ast.Assign) -> None:
        self._assigned(node.targets, node.value)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self._assigned([node.target], node.value)

    def visit_NamedExpr(self, node: ast.NamedExpr) -> None:
        self._assigned([node.target], node.value)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        self._assigned([node.target], ast.BinOp(loaded(node.target), node.op, node.value))

    def _assigned(self, targets: Iterable[ast.expr], value: ast.expr) -> None:
        entity, read = self._value(value)
        built = self._built(value)
        known, computed, grown = self.value_of(value), self.is_computed(value), self.is_grown(value)
        asked = self._asks_for(value) or self._is_asked_for(value)
        many, result = self.asked_many(value), self._read_of(value)
        sources = frozenset(source for kind in {*self.instances.values()} for source in self.fields_in(value, kind))
        before = len(self.reader.found.actions)
        self.visit(value)
        held = self._held_by(value, before)
        for target in targets:
            if isinstance(target, ast.Subscript):
                self.set_within(target)
                continue
            if isinstance(target, ast.Tuple | ast.List):
                self._unpacked(target, value, read=read)
                continue
            for name in ast.walk(target):
                if not isinstance(name, ast.Name):
                    continue
                self._forget(name.id)
                self.names[name.id] = known
                if entity is not None:
                    self.instances[name.id] = entity
                if built is not None:
                    self.built[name.id] = built
                if held is not None:
                    self.held[name.id] = held
                if sources:
                    self.sources[name.id] = sources
                if many is not None:
                    self.lists[name.id] = many
                if result is not None:
                    self.results[name.id] = result
                self.counts.update((name.id, element) for element in self.counts_in(value))
                noted = ((self.read, read), (self.computed, computed), (self.grown, grown), (self.asked, asked))
                for names, holds in noted:
                    if holds:
                        names.add(name.id)

    def _unpacked(self, target: ast.Tuple | ast.List, value: ast.expr, *, read: bool) -> None:
        """Several variables are given the parts of one value."""
        parts = value.elts if isinstance(value, ast.Tuple | ast.List) else self._parts(value)
        for position, expression in enumerate(target.elts):
            part = parts[position] if len(parts) == len(target.elts) else None
            for name in (each for each in ast.walk(expression) if isinstance(each, ast.Name)):
                self._forget(name.id)
                self.names[name.id] = OPEN
                entity = self._part_of(part) if name is expression else None
                if entity is not None:
                    self.instances[name.id] = entity
                if read or (part is not None and self.from_read(part)):
                    self.read.add(name.id)

    def _part_of(self, part: ast.expr | None) -> CompiledEntity | None:
        if isinstance(part, ast.Name) and part.id in self.instances:
            return self.instances[part.id]
        return self.entity_named(part.func if isinstance(part, ast.Call) else part)

    def _parts(self, value: ast.expr) -> Sequence[ast.expr]:
        """The parts of the tuple that a helper is declared to give."""
        call = value.value if isinstance(value, ast.YieldFrom) else value
        helper = unwrapped(next(iter(self.called(call.func)), None)) if isinstance(call, ast.Call) else None
        node = None if helper is None else self.reader.sources.function(helper)
        for subscript in () if node is None or node.returns is None else ast.walk(node.returns):
            if (
                isinstance(subscript, ast.Subscript)
                and self.value_of(subscript.value) is tuple
                and isinstance(subscript.slice, ast.Tuple)
            ):
                return subscript.slice.elts
        return ()

    def _forget(self, name: str) -> None:
        """A variable is given another value."""
        self.instances.pop(name, None)
        self.built.pop(name, None)
        self.held.pop(name, None)
        self.checked.pop(name, None)
        self.counts.pop(name, None)
        self.sources.pop(name, None)
        self.lists.pop(name, None)
        self.results.pop(name, None)
        for names in (self.read, self.computed, self.grown, self.asked):
            names.discard(name)

    def _asks_for(self, value: ast.expr) -> bool:
        """Whether a value is what a read of the write gives, and one item."""
        if not isinstance(value, ast.YieldFrom) or not isinstance(value.value, ast.Call):
            return False
        return self._value(value)[0] is not None

    def _held_by(self, value: ast.expr, before: int) -> int | None:
        """Which action an expression is: one made in it, or one that a variable holds."""
        base, _ = chain(value)
        if isinstance(base, ast.Name):
            return self.held.get(base.id)
        if not isinstance(base, ast.Call):
            return None
        made = len(self.reader.found.actions) - before  # by a helper, of which one action can be held
        return before if self.kind_of(base.func, ACTIONS) or (made == 1 and isinstance(value, ast.Call)) else None

    def _value(self, value: ast.expr) -> tuple[CompiledEntity | None, bool]:
        """The entity that a value is an instance of, and whether the value comes from what was read."""
        if isinstance(value, ast.YieldFrom) and isinstance(value.value, ast.Call):
            name = asked(value.value.func)
            if name in self.reader.design.reads:
                shape = self.reader.design.reads[name].shape
                element = len(shape.entities) == 1 and not shape.told
                return self.reader.design.entities[shape.entities[0]] if element else None, True
            helper = unwrapped(next(iter(self.called(value.value.func)), None))
            node = None if helper is None else self.reader.sources.function(helper)
            return (None if node is None else self._one(node.returns)), helper is not None
        if isinstance(value, ast.Call):
            return self.entity_named(value.func), self.from_read(value)
        if isinstance(value, ast.Name):
            return self.instances.get(value.id), value.id in self.read
        return None, self.from_read(value)

    def visit_If(self, node: ast.If) -> None:
        self._decided_by(node.test)
        self.visit(node.test)
        if isinstance(node.body[-1], ast.Raise):
            self._needed(node.test, holds=False)
        elif node.orelse and isinstance(node.orelse[-1], ast.Raise):
            self._needed(node.test, holds=True)
        reads = set(self._tested_reads(node.test))
        before = len(self.found.actions)
        for statement in (*node.body, *node.orelse):
            self.visit(statement)
        for read in reads:
            self.found.decided.setdefault(read, []).extend(range(before, len(self.found.actions)))

    def _tested_reads(self, test: ast.expr) -> Iterator[str]:
        """The reads whose result a test looks at."""
        for node in ast.walk(test):
            read = self.results.get(node.id) if isinstance(node, ast.Name) else self._read_of(node)
            if read is not None:
                yield read

    def visit_IfExp(self, node: ast.IfExp) -> None:
        self._decided_by(node.test)
        self.generic_visit(node)

    def visit_Assert(self, node: ast.Assert) -> None:
        self._decided_by(node.test)
        self.generic_visit(node)
        self._needed(node.test, holds=True)

    def _needed(self, test: ast.expr, *, holds: bool) -> None:
        """Note what a test says of reads and fields where it holds, or doesn't, since the body raises otherwise."""
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            self._needed(test.operand, holds=not holds)
        elif isinstance(test, ast.BoolOp):
            if isinstance(test.op, ast.And) is holds:
                for part in test.values:
                    self._needed(part, holds=holds)
        elif isinstance(test, ast.Compare):
            op = test.ops[0]
            if len(test.ops) == 1 and isinstance(op, ast.Eq | ast.NotEq | ast.Is | ast.IsNot | ast.In | ast.NotIn):
                equal = isinstance(op, ast.Eq | ast.Is | ast.In) is holds
                values = self.constants_in(test.comparators[0])
                if values is not None:
                    self._needed_value(test.left, values, equal=equal)
        else:
            self._needed_value(test, (None, False, 0, ""), equal=not holds)

    def _needed_value(self, tested: ast.expr, values: tuple[Any, ...], *, equal: bool) -> None:
        if isinstance(tested, ast.NamedExpr):
            tested = tested.target
        read = self.results.get(tested.id) if isinstance(tested, ast.Name) else self._read_of(tested)
        if read is not None and None in values:
            there = not equal
            self.found.needs[read] = there if self.found.needs.get(read, there) is there else None
        elif isinstance(tested, ast.Attribute) and isinstance(tested.value, ast.Name):
            entity = self.instances.get(tested.value.id)
            if entity is not None and tested.attr in entity.fields:
                self.found.field_needs.append(FieldNeed(entity.name, tested.attr, values, equal))

    def _read_of(self, value: ast.AST) -> str | None:
        """The read whose result an expression is."""
        if isinstance(value, ast.YieldFrom) and isinstance(value.value, ast.Call):
            return asked(value.value.func)
        return None

    def visit_While(self, node: ast.While) -> None:
        self._decided_by(node.test)
        self._loop(node)

    def visit_match_case(self, node: ast.match_case) -> None:
        if node.guard is not None:
            self._decided_by(node.guard)
        self.generic_visit(node)

    def visit_Match(self, node: ast.Match) -> None:
        self._decided_by(node.subject)
        self.generic_visit(node)

    def _decided_by(self, test: ast.expr) -> None:
        """Note the fields of instances that a test looks at, and the counts."""
        self.found.counted.update(self.counts_in(test))
        for attribute in ast.walk(test):
            if (
                isinstance(attribute, ast.Attribute)
                and isinstance(attribute.value, ast.Name)
                and attribute.value.id in self.instances
            ):
                entity = self.instances[attribute.value.id]
                if attribute.attr in entity.fields:
                    self.checked.setdefault(attribute.value.id, set()).add(attribute.attr)

    def visit_For(self, node: ast.For) -> None:
        self._drawn(node.target, node.iter)
        self.visit(node.iter)
        self.loops += 1
        many = not isinstance(node.iter, ast.Tuple | ast.List)
        self.rounds += many
        self.unbounded.append(self._unbounded_in(node.iter))
        for statement in node.body:
            self.visit(statement)
        self.unbounded.pop()
        self.rounds -= many
        self.loops -= 1
        for statement in node.orelse:
            self.visit(statement)

    def _is_unbounded(self, argument: ast.arg) -> bool:
        """Whether a parameter of the write is a collection of any length."""
        parameter = self.found.pattern.signature.by_name.get(argument.arg)
        if parameter is None or kind_of(parameter.annotation) not in {list, tuple, set, frozenset, dict}:
            return False
        return limits(parameter.annotation, "length")[1] is None

    def _unbounded_in(self, source: ast.expr) -> str | None:
        """What a loop goes through, if nothing bounds it: a parameter, or all that a read without a limit gives."""
        for node in ast.walk(source):
            if isinstance(node, ast.Name) and node.id in self.many:
                return node.id
            name = asked(node) if isinstance(node, ast.Attribute) else None
            pattern = self.design.reads.get(name or "")
            if pattern is not None and pattern.shape.many and pattern.limit is None:
                return pattern.name
        return None

    def _drawn(self, target: ast.expr, source: ast.expr) -> None:
        """A loop's variables are drawn from what it goes through."""
        entity, read = self._value(source)
        for name in ast.walk(target):
            if isinstance(name, ast.Name):
                self._forget(name.id)
                self.names[name.id] = OPEN
                if read:
                    self.read.add(name.id)
                if entity is not None and name is target:
                    self.instances[name.id] = entity

    def _comprehended(self, node: ast.GeneratorExp | ast.ListComp | ast.SetComp | ast.DictComp) -> None:
        """Its variables are its own."""
        before = dict(self.names), dict(self.instances), set(self.read), dict(self.built), dict(self.held)
        for generator in node.generators:
            self._drawn(generator.target, generator.iter)
        self.unbounded += [self._unbounded_in(generator.iter) for generator in node.generators]
        self._loop(node)
        del self.unbounded[-len(node.generators) :]
        self.names, self.instances, self.read, self.built, self.held = before

    def visit_GeneratorExp(self, node: ast.GeneratorExp) -> None:
        self._comprehended(node)

    def visit_ListComp(self, node: ast.ListComp) -> None:
        self._comprehended(node)

    def visit_SetComp(self, node: ast.SetComp) -> None:
        self._comprehended(node)

    def visit_DictComp(self, node: ast.DictComp) -> None:
        self._comprehended(node)

    def _loop(self, node: ast.AST) -> None:
        self.loops += 1
        self.rounds += 1
        self.generic_visit(node)
        self.rounds -= 1
        self.loops -= 1

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        """A function within: what it does is done where it is called, and taken for done here."""
        self.names[node.name] = OPEN
        self.generic_visit(node)

    # Names and calls

    def visit_Name(self, node: ast.Name) -> None:
        if isinstance(node.ctx, ast.Load):
            self._mention(node)

    def visit_Attribute(self, node: ast.Attribute) -> None:
        name = asked(node)
        if name in self.reader.design.reads:
            self.reader.found.asks.append(Ask(name, node.lineno, looped=self.rounds > 0))
            entities = self.reader.design.reads[name].shape.entities
            self.reader.found.entities.update(dict.fromkeys(entity.__name__ for entity in entities))
        self._mention(node)
        self.generic_visit(node)

    def _mention(self, node: ast.expr) -> None:
        kind = self.kind_of(node, {**ACTIONS, words.Batch: "Batch"})
        if kind:
            self.reader.found.mentioned[kind] = None
            self._in_loop()
        else:
            self.entity_named(node)

    def _in_loop(self) -> None:
        self.reader.found.loops |= self.loops > 0

    def visit_Call(self, node: ast.Call) -> None:
        base, methods = chain(node)
        self.found.folded.update(folded_by(ast.Expression(node)))
        if isinstance(base, ast.Name) and base.id in self.held:
            self._further(self.held[base.id], methods)
            self.generic_visit(node)
            return
        if isinstance(base, ast.Call):
            kind = self.kind_of(base.func, ACTIONS)
            if kind:
                self._action(kind, base, methods)
                return
            if self.kind_of(base.func, {words.Batch: "Batch"}):
                self.batches += 1
                self.generic_visit(node)
                self.batches -= 1
                return
        if isinstance(base, ast.Call) and base is not node and methods.keys() & _OF_ACTIONS:
            self._made_elsewhere(base, methods)
            return
        self._calls_directly(node.func)
        self.grows(node)
        looped, unbounded = self.loops > 0, self._gone_through()
        for helper in self.called(node.func):
            self._folds(node, helper)
            self.reader.follow(helper, looped=looped, unbounded=unbounded)
        self.generic_visit(node)

    def _calls_directly(self, function: ast.expr) -> None:
        """Note a call of a pattern, or of a verb that every design has."""
        if isinstance(function, ast.Attribute) and isinstance(function.value, ast.Name) and function.value.id == "self":
            verb = getattr(self.reader.owner, function.attr, None)
            if function.attr in self.design.patterns or getattr(verb, "__module__", "").startswith("keyplan."):
                self.found.direct_calls.setdefault(function.attr, function.lineno)

    def _made_elsewhere(self, base: ast.Call, methods: Mapping[str, list[ast.Call]]) -> None:
        """An action that a helper makes is given further changes, or a condition: ``moved(item).only_if(...)``."""
        before = len(self.reader.found.actions)
        self.visit(base)
        for position in range(before, len(self.reader.found.actions)):
            self._further(position, methods)
        for call in (each for calls in methods.values() for each in calls):
            for part in (*call.args, *(keyword.value for keyword in call.keywords)):
                self.visit(part)

    def _gone_through(self) -> str | None:
        """What a loop goes through that stands around, if nothing bounds it."""
        return next((text for text in self.unbounded if text is not None), None)

    def _folds(self, node: ast.Call, helper: Any) -> None:
        """What a helper folds of what it is given is folded here."""
        function = self.reader.authors(helper)
        if function is not None:
            folded = {*folded_by(function)}
            for name, value in arguments_of(node, function):
                if name in folded:
                    self.found.folded.update(named(value))

    def _further(self, position: int, methods: Mapping[str, list[ast.Call]]) -> None:
        """A variable's action is given further changes, or a condition."""
        actions = self.reader.found.actions
        action = actions[position]
        changes = {
            keyword.arg: keyword.value for call in methods.get("set", ()) for keyword in call.keywords if keyword.arg
        }
        actions[position] = replace(
            action,
            changes={
                **action.changes,
                **parts_changed(methods),
                **{name: self.change_of(value) for name, value in changes.items()},
            },
            from_read=action.from_read | self.computed_fields(changes, None) | self.computed_parts(methods),
            grown=action.grown | {name for name, value in changes.items() if self.is_grown(value)},
            keyed=action.keyed.union(new_keys(methods)),
            lowered=action.lowered | {name for name, value in changes.items() if lowers(value)},
            conditional=action.conditional or "only_if" in methods,
            expects=action.expects.union(expected(methods.get("only_if", ()))),
            creates=action.creates or "or_create" in methods,
            once=action.once or "idempotent" in methods,
            named_by=action.named_by | self.named_in(methods.get("idempotent", ())),
            must_exist=action.must_exist or "if_missing" in methods,
            open=action.open
            or any(keyword.arg is None for call in methods.get("set", ()) for keyword in call.keywords),
        )

    def _action(self, kind: str, base: ast.Call, methods: Mapping[str, list[ast.Call]]) -> None:
        self._mention(base.func)
        target = base.args[0] if base.args else None
        entity, built = self._target(target)
        by_class = not self._is_instance(target) and (
            self.entity_named(target) is not None or isinstance(self.value_of(target), type)
        )
        changes: dict[str, ast.expr] = {}
        unnamed = False
        if kind == "Update":
            calls = [*methods.get("set", ()), *([] if by_class else [base])]
            keywords = [keyword for call in calls for keyword in call.keywords]
            changes = {keyword.arg: keyword.value for keyword in keywords if keyword.arg is not None}
            unnamed = any(keyword.arg is None for keyword in keywords)
        given = fields_given(target) if kind in {"Put", "Create"} else {}
        self.reader.found.actions.append(
            Action(
                kind=kind,
                entity=entity,
                line=base.lineno,
                changes={**parts_changed(methods), **{name: self.change_of(value) for name, value in changes.items()}},
                from_read=self.computed_fields(changes, given)
                | self.computed_parts(methods)
                | self.own_fields(entity, changes),
                grown=frozenset(
                    name
                    for name, value in {**changes, **given}.items()
                    if self.is_grown(value) or self.of_itself(entity, name, value)
                ),
                keyed=frozenset(new_keys(methods)),
                checked=frozenset(self._checked(target, entity)),
                built=built,
                conditional="only_if" in methods,
                expects=frozenset(expected(methods.get("only_if", ()))),
                creates="or_create" in methods,
                once="idempotent" in methods,
                named_by=self.named_in(methods.get("idempotent", ())),
                must_exist="if_missing" in methods,
                looped=self.loops > 0,
                batched=self.batches > 0,
                lowered=frozenset(name for name, value in changes.items() if lowers(value)),
                open=unnamed,
                by_instance=not by_class,
                outside=self._outside(target),
                asked_for=self._is_asked_for(target),
                unbounded=self._gone_through(),
                constants=tuple(constants({**changes, **given}, methods.get("only_if", ()))),
                compared=tuple(compared(methods.get("only_if", ()))),
            )
        )
        for call in (base, *(node for calls in methods.values() for node in calls)):
            for part in (*call.args, *(keyword.value for keyword in call.keywords)):
                self.visit(part)

    def _is_asked_for(self, target: ast.expr | None) -> bool:
        target = copied(target) or target
        return isinstance(target, ast.Name) and target.id in self.asked

    def _outside(self, target: ast.expr | None) -> str | None:
        """The class of entities, if it isn't in the design."""
        node = target.func if isinstance(target, ast.Call) else target
        value = self.value_of(node)
        is_entity = isinstance(value, type) and issubclass(value, Entity)
        return value.__name__ if is_entity and value not in self.reader.design.entities else None

    def _checked(self, target: ast.expr | None, entity: CompiledEntity | None) -> set[str]:
        """The fields of the action's item that were looked at before."""
        if isinstance(target, ast.Name) and target.id in self.instances:
            return self.checked.get(target.id, set())
        same = (names for name, names in self.checked.items() if self.instances.get(name) is entity)
        return {name for names in same for name in names}

    def _is_instance(self, node: ast.expr | None) -> bool:
        return isinstance(node, ast.Name) and node.id in self.instances

    def _target(self, node: ast.expr | None) -> tuple[CompiledEntity | None, frozenset[str] | None]:
        """The entity of an action's target, and the fields it is built with right there."""
        if isinstance(node, ast.Name) and node.id in self.instances:
            return self.instances[node.id], self.built.get(node.id)
        original = copied(node)
        if original is not None:
            return self._target(original)[0], None
        if isinstance(node, ast.Call):
            return self.entity_named(node.func), self._built(node)
        return self.entity_named(node), None

    def _built(self, node: ast.expr) -> frozenset[str] | None:
        if not isinstance(node, ast.Call) or self.entity_named(node.func) is None:
            return None
        return frozenset(keyword.arg for keyword in node.keywords if keyword.arg is not None)
