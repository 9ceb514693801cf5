"""Compile the table, entities, reads and writes of a design, and report all errors together."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import Any, TypeAlias, get_args, get_type_hints

from keyplan.errors import DesignError, ErrorDetail, UnknownPattern
from keyplan.model.compiled.collisions import can_collide
from keyplan.model.compiled.compiled_entities import compile_entity
from keyplan.model.compiled.compiler import compile_read, junctions_of
from keyplan.model.compiled.option_checks import attempts_problems, example_problems, kind_problems
from keyplan.model.compiled.plans import BatchGetPlan, Plan, QueryPlan, ReadPattern, ScanPlan, ThroughPlan
from keyplan.model.compiled.reserved_names import entity_problems, forgotten_problems, pattern_problem
from keyplan.model.compiled.return_types import ShapeKind, is_awaited
from keyplan.model.compiled.signatures import Signature, signature_of, type_name
from keyplan.model.declared.declaration_errors import Problem
from keyplan.model.declared.entity import Entity, is_entity
from keyplan.model.declared.fields import is_optional, kind_of, unaliased
from keyplan.model.declared.indexes import Index, KeyAttribute
from keyplan.model.declared.pattern_load import Load, checked_load
from keyplan.model.declared.patterns import Example, Pattern, ReadMethod, WriteMethod
from keyplan.model.declared.table import Table
from keyplan.model.declared.views import View, entity_of_view, is_view, types_in, views_in
from keyplan.model.stored.stored_entity import CompiledEntity

GLOBAL_INDEXES_MAX = 20
LOCAL_INDEXES_MAX = 5
INDEX_KEY_ATTRIBUTES_MAX = 4


@dataclass(frozen=True)
class WritePattern:
    """A compiled write: its signature, and the generator function that yields its actions."""

    id: str
    name: str
    place: str
    signature: Signature
    function: Any
    attempts: int
    load: Load = field(default_factory=Load)
    examples: tuple[Example, ...] = ()


@dataclass
class CompiledDesign:
    """A compiled design: table, entities and patterns."""

    name: str
    doc: str
    table: Table
    entities: dict[type[Entity], CompiledEntity]
    reads: dict[str, ReadPattern]
    writes: dict[str, WritePattern]
    by_name: dict[str, CompiledEntity] = field(default_factory=dict[str, CompiledEntity])
    ignore: Mapping[str, str] = field(default_factory=dict[str, str])
    """Ignored findings of ``keyplan check``: a code, or a code and a place, with the reason."""

    @property
    def patterns(self) -> dict[str, ReadPattern | WritePattern]:
        return {**self.reads, **self.writes}

    def pattern(self, name: str) -> ReadPattern | WritePattern:
        """The pattern with this name. Raises UnknownPattern, whose hint contains the most similar name."""
        result = self.patterns.get(name)
        if result is None:
            import difflib  # noqa: PLC0415 - needed only for wrong names

            near = difflib.get_close_matches(name, self.patterns)
            hint = f"did you mean {near[0]}?" if near else f"the access patterns are {', '.join(self.patterns)}"
            raise UnknownPattern(f"{self.name} has no access pattern {name!r}", place=self.name, hint=hint)
        return result

    @property
    def ttl_attribute(self) -> str | None:
        return next((entity.ttl.attribute for entity in self.entities.values() if entity.ttl is not None), None)

    def entity_of(self, item: Mapping[str, Mapping[str, Any]]) -> CompiledEntity | None:
        """The entity whose key matches an item; None for an item of another program."""
        return next((entity for entity in self.entities.values() if entity.matches(item)), None)


def compile_design(
    cls: type[Any], namespace: Mapping[str, Any], ignore: Mapping[str, str] | None = None
) -> CompiledDesign:
    """Compile a design's class. ``namespace``: the local names around the class. Raises DesignError with all errors."""
    return _Compiler(cls, namespace, ignore or {}).compile()


class _Compiler:
    def __init__(self, cls: type[Any], namespace: Mapping[str, Any], ignore: Mapping[str, str]) -> None:
        self.cls = cls
        self.namespace = namespace
        self.ignore = ignore
        self.faults: list[ErrorDetail] = []
        self.wrong_views: set[type[View[Any]]] = set()

    def fault(self, place: str, message: str, hint: str | None = None) -> None:
        self.faults.append(ErrorDetail(place, message, hint))

    def report(self, place: str, problem: Problem) -> None:
        self.fault(place, str(problem), problem.hint)

    def compile(self) -> CompiledDesign:
        table = getattr(self.cls, "table", None)
        if not isinstance(table, Table):
            raise DesignError(
                f"{self.cls.__name__} has no table", place=self.cls.__name__, hint='add a table: table = Table("name")'
            )
        self._check_table(table)
        patterns = self._patterns()
        signatures = self._signatures(patterns)
        entities = self._entities(table, patterns, signatures)
        self._check_ttl(entities)
        self._check_collisions(entities)
        self._check_silence()
        self._check_views(signatures, entities)
        reads, writes = self._compile_patterns(patterns, signatures, entities)
        self._raise()
        inherited: CompiledDesign | None = getattr(self.cls, "compiled", None)  # the base class's compiled design
        return CompiledDesign(
            name=self.cls.__name__,
            doc=self._doc(),
            table=table,
            entities=entities,
            reads=reads,
            writes=writes,
            by_name={entity.name: entity for entity in entities.values()},
            ignore={**(inherited.ignore if inherited is not None else {}), **self.ignore},
        )

    def _doc(self) -> str:
        designs = [self.cls, *(base for base in self.cls.__mro__[1:] if "compiled" in vars(base))]
        return next((inspect.cleandoc(design.__doc__) for design in designs if design.__doc__), "")

    def _raise(self) -> None:
        if self.faults:
            count = len(self.faults)
            raise DesignError(
                f"invalid design: {count} error{'s' if count > 1 else ''}", place=self.cls.__name__, errors=self.faults
            )

    def _check_silence(self) -> None:
        given: Any = self.ignore
        if not isinstance(given, Mapping) or not all(
            isinstance(value, str) for pair in given.items() for value in pair
        ):
            self.fault(
                self.cls.__name__,
                "ignore= must map each ignored finding (a string) to a reason (a string)",
                'write ignore={"KP201 Message.primary": "a few per day"}',
            )

    def _check_table(self, table: Table) -> None:
        place = f"{self.cls.__name__}.table"
        names = [index.name for index in table.indexes]
        for name in (table.name, *names):
            if not re.fullmatch(r"[A-Za-z0-9_.-]{3,255}", name):
                self.fault(place, f"invalid table or index name {name!r}", "use 3-255 characters of A-Z a-z 0-9 _ . -")
        for name in {name for name in names if names.count(name) > 1}:
            self.fault(place, f"two indexes are named {name}")
        local = sum(index.local for index in table.indexes)
        if len(names) - local > GLOBAL_INDEXES_MAX:
            self.fault(place, f"{len(names) - local} global indexes exceed the limit of {GLOBAL_INDEXES_MAX}")
        if local > LOCAL_INDEXES_MAX:
            self.fault(place, f"{local} local indexes exceed the limit of {LOCAL_INDEXES_MAX}")
        types: dict[str, str] = {}
        for owner, attributes in _key_attributes(table):
            for attribute in attributes:
                if types.setdefault(attribute.name, attribute.type) != attribute.type:
                    self.fault(
                        place,
                        f"the key attribute {attribute.name} has type {types[attribute.name]} in one key, but type "
                        f"{attribute.type} in {owner}",
                    )
        for index in table.indexes:
            self._check_index(place, table, index)

    def _check_index(self, place: str, table: Table, index: Index) -> None:
        if len(index.partition) > INDEX_KEY_ATTRIBUTES_MAX or len(index.sort) > INDEX_KEY_ATTRIBUTES_MAX:
            self.fault(place, f"{index.name} has more than {INDEX_KEY_ATTRIBUTES_MAX} partition or sort key attributes")
        if index.local and (index.partition != (table.partition,) or len(index.sort) != 1):
            self.fault(place, f"the local index {index.name} must have the table's partition key and one sort key")

    def _patterns(self) -> dict[str, Pattern]:
        members = [pair for base in reversed(self.cls.__mro__) for pair in vars(base).items()]
        result = {name: value for name, value in members if isinstance(value, Pattern)}
        for name, forgotten in forgotten_problems(self.cls):
            self.report(f"{self.cls.__name__}.{name}", forgotten)
        ids: dict[str, str] = {}
        for name, pattern in result.items():
            problem = pattern_problem(self.cls, name)
            if problem is not None:
                self.report(f"{self.cls.__name__}.{name}", problem)
            other = ids.setdefault(str(pattern.options.id) or name, name)
            if other != name:
                self.fault(
                    f"{self.cls.__name__}.{name}",
                    f"the id {pattern.options.id} is already used by {other}",
                    "give each access pattern its own id",
                )
        return result

    def _signatures(self, patterns: Mapping[str, Pattern]) -> dict[str, Signature]:
        result: dict[str, Signature] = {}
        for name, pattern in patterns.items():
            place = f"{self.cls.__name__}.{name}"
            problems = list(kind_problems(pattern.options))
            if isinstance(pattern, WriteMethod):
                problems += attempts_problems(pattern.attempts)
            try:
                signature = signature_of(pattern.function, place, self.namespace)
            except Problem as wrong:
                problems.append(wrong)
            else:
                if not problems:
                    result[name] = signature
            for problem in problems:
                self.report(place, problem)
        return result

    # Entities

    def _entities(
        self, table: Table, patterns: Mapping[str, Pattern], signatures: Mapping[str, Signature]
    ) -> dict[type[Entity], CompiledEntity]:
        classes: dict[type[Entity], None] = dict.fromkeys(table.entities)
        for name, signature in signatures.items():
            classes.update(dict.fromkeys(_mentioned(patterns[name], signature)))
        result: dict[type[Entity], CompiledEntity] = {}
        names: dict[str, type[Entity]] = {}
        for cls in classes:
            other = names.setdefault(cls.__name__, cls)
            if other is not cls:
                where = f"{other.__module__}.{other.__qualname__} and {cls.__module__}.{cls.__qualname__}"
                self.fault(cls.__name__, f"two entities have the same name: {where}", "rename one entity")
            problems = list(entity_problems(cls))
            for name, problem in problems:
                self.report(f"{cls.__name__}.{name}", problem)
            compiled = None if problems else compile_entity(cls, table, self.faults)
            if compiled is not None:
                result[cls] = compiled
        return result

    def _check_ttl(self, entities: Mapping[type[Entity], CompiledEntity]) -> None:
        result = {entity.ttl.attribute: entity for entity in entities.values() if entity.ttl is not None}
        first, *others = result or [""]
        for attribute in others:
            entity = result[attribute]
            self.fault(
                entity.name,
                f"the TTL attribute is {attribute}, but {first} in {result[first].name}; a table has one TTL attribute",
                "give the Ttl fields the same name or alias",
            )

    def _check_views(
        self, signatures: Mapping[str, Signature], entities: Mapping[type[Entity], CompiledEntity]
    ) -> None:
        views = dict.fromkeys(view for signature in signatures.values() for view in views_in(signature.returns))
        for view in views:
            entity = entities.get(entity_of_view(view) or Entity)
            for name, problem in () if entity is None else view_problems(view, entity):
                self.report(f"{view.__name__}.{name}".rstrip("."), problem)
                self.wrong_views.add(view)

    def _check_collisions(self, entities: Mapping[type[Entity], CompiledEntity]) -> None:
        keys = [(entity, key) for entity in entities.values() for key in (entity.primary, *entity.claims)]
        for (left, compiled_key), (right, other) in combinations(keys, 2):
            if not can_collide(compiled_key, other):
                continue
            if left.is_told_from(right) and not compiled_key.is_claim and not other.is_claim:
                left.shares_keys = right.shares_keys = True
            else:
                self.fault(
                    f"{right.name}.{other.name}",
                    f"the key can equal that of {left.name}.{compiled_key.name}, so one item could overwrite the "
                    f"other: {other} and {compiled_key}",
                    "start one of the templates with a different constant, such as the entity's name; if other "
                    'programs create the keys, give both entities a Discriminator("type", "...")',
                )

    # Patterns

    def _compile_patterns(
        self,
        patterns: Mapping[str, Pattern],
        signatures: Mapping[str, Signature],
        entities: Mapping[type[Entity], CompiledEntity],
    ) -> tuple[dict[str, ReadPattern], dict[str, WritePattern]]:
        reads: dict[str, ReadPattern] = {}
        writes: dict[str, WritePattern] = {}
        for name, pattern in patterns.items():
            signature = signatures.get(name)
            if signature is None or any(
                entity_class not in entities for entity_class in _mentioned(pattern, signature)
            ):
                continue  # an error of the pattern or its entity is already reported
            if not self.wrong_views.isdisjoint(views_in(signature.returns)):
                continue
            if isinstance(pattern, WriteMethod):
                if not inspect.isgeneratorfunction(pattern.function):
                    hint = "declare the write with def, not async def, and yield a Put, for example"
                    self.fault(signature.place, "a write must yield actions", hint)
                writes[name] = WritePattern(
                    pattern.options.id,
                    name,
                    signature.place,
                    signature,
                    pattern.function,
                    pattern.attempts,
                    self._load(pattern, signature),
                    pattern.options.examples,
                )
            elif isinstance(pattern, ReadMethod):
                try:
                    reads[name] = compile_read(signature, pattern.options, entities)
                    if reads[name].shape.kind is ShapeKind.ITERATOR:
                        pattern.answers_in_parts(awaited=is_awaited(signature.returns))
                except Problem as problem:
                    self.report(signature.place, problem)
        for write in writes.values():
            for wrong in example_problems(write.examples, write.signature, entities, reads):
                self.report(write.place, wrong)
        return reads, writes

    def _load(self, pattern: Pattern, signature: Signature) -> Load:
        try:
            return checked_load(pattern.options.load)
        except Problem as problem:
            self.report(signature.place, problem)
            return Load()


def _key_attributes(table: Table) -> Iterable[tuple[str, tuple[KeyAttribute, ...]]]:
    yield "the table", (table.partition,) if table.sort is None else (table.partition, table.sort)
    for index in table.indexes:
        yield index.name, (*index.partition, *index.sort)


def _mentioned(pattern: Pattern, signature: Signature) -> list[type[Entity]]:
    entity_classes = [*entities_in(signature.returns), *pattern.options.entity]
    for parameter in signature.parameters:
        entity_classes += entities_in(parameter.annotation)
    return [*entity_classes, *(element.entity for element in junctions_of(pattern.options.through))]


def entities_in(annotation: Any) -> list[type[Entity]]:
    annotation = unaliased(annotation)
    if is_entity(annotation):
        return [] if annotation is Entity else [annotation]
    if is_view(annotation):
        entity = entity_of_view(annotation)
        return [] if entity is None else [entity]
    if isinstance(annotation, type) and issubclass(annotation, tuple) and hasattr(annotation, "_fields"):
        return [entity_class for part in get_type_hints(annotation).values() for entity_class in entities_in(part)]
    return [entity_class for part in get_args(annotation) for entity_class in entities_in(part)]


def view_problems(view: type[View[Any]], entity: CompiledEntity) -> Iterator[tuple[str, Problem]]:
    written = types_in(view)
    if not written:
        yield "", Problem("the view has no fields", f"declare the fields of {entity.name} that you need")
    for name, annotation in written.items():
        field = entity.fields.get(name)
        if field is None or field.computed:
            why = "a computed field" if name in entity.cls.model_computed_fields else "not a field"
            stored = ", ".join(
                stored_field.name for stored_field in entity.fields.values() if not stored_field.computed
            )
            yield name, Problem(f"{name} is {why} of {entity.name}, so it isn't stored", f"use one of {stored}")
        elif kind_of(annotation) is not kind_of(field.annotation) or is_optional(annotation) != field.optional:
            yield (
                name,
                Problem(
                    f"the type is {type_name(annotation)}, but {entity.name} declares {type_name(field.annotation)}",
                    "give both fields the same type",
                ),
            )


@dataclass(frozen=True, slots=True)
class Use:
    """An operation of a pattern, and the index that the operation reads (None: the table)."""

    operation: str
    index: str | None = None


WriteOperations: TypeAlias = Mapping[str, Iterable[str]]
"""The operations of a write by name, as IAM actions: PutItem, UpdateItem, DeleteItem, ConditionCheckItem,
BatchWriteItem. Reads within a write are those of the read patterns.
"""


def uses_of(pattern: ReadPattern) -> tuple[Use, ...]:
    return tuple(dict.fromkeys(_uses(pattern.plan)))


def _uses(plan: Plan) -> Iterator[Use]:
    match plan:
        case ThroughPlan():
            for way in plan.ways:
                yield from _uses(way.junction)
                if isinstance(way.end, QueryPlan):
                    yield from _uses(way.end)
                else:
                    yield Use(replace(way, also=()).operation.rpartition(", ")[2])
        case QueryPlan():
            yield Use("Query", None if plan.index is None else plan.index.name)
            if plan.completed:
                yield Use("BatchGetItem")
        case ScanPlan():
            yield Use("Scan", None if plan.index is None else plan.index.name)
            if plan.completed:
                yield Use("BatchGetItem")
        case BatchGetPlan():
            yield Use(plan.operation)
        case _:
            yield Use("GetItem")


def patterns_of_index(design: CompiledDesign) -> dict[str, list[str]]:
    result: dict[str, list[str]] = {index.name: [] for index in design.table.indexes}
    for pattern in design.reads.values():
        for use in uses_of(pattern):
            if use.index is not None:
                result[use.index].append(pattern.name)
    return result


def key_notes(design: CompiledDesign, index: str | None) -> dict[str, str]:
    result: dict[str, dict[str, None]] = {}
    for entity in design.entities.values():
        for key in (*entity.keys, *entity.claims):
            if (key.index.name if key.index else None) == index:
                for attribute, template in key.attributes:
                    result.setdefault(attribute.name, {})[str(template)] = None
    return {name: ", ".join(texts) for name, texts in result.items()}
