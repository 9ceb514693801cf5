"""Reads the access patterns and entities of a design's class for planning, even if the class doesn't compile."""

from __future__ import annotations

import difflib
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from keyplan.errors import ErrorDetail
from keyplan.model.compiled.compiled_design import entities_in
from keyplan.model.compiled.compiler import junctions_of
from keyplan.model.compiled.return_types import Shape, ShapeKind, shape_of
from keyplan.model.compiled.signatures import ParameterKind, Signature, signature_of
from keyplan.model.declared.declaration_errors import Problem
from keyplan.model.declared.entity import Entity
from keyplan.model.declared.fields import ID, is_optional, marks_of
from keyplan.model.declared.indexes import Index
from keyplan.model.declared.keys import Key, Unique
from keyplan.model.declared.patterns import Pattern, ReadMethod


@dataclass(frozen=True)
class EntityFacts:
    """The facts about an entity that the planner needs.

    ``kinds``: the type of each field, in the order in which the design's patterns name the fields, so that shared
    fields have the same order in all entities. ``identity``: the fields that identify an item. ``changing``: fields
    that updates change. ``unkeyable``: fields that updates change without reading the item, so that no index key that
    contains them can be recomputed, each with the write that updates it.
    """

    cls: type[Entity]
    identity: tuple[str, ...]
    kinds: Mapping[str, Any]
    optional: frozenset[str]
    changing: frozenset[str] = frozenset()
    unkeyable: Mapping[str, str] = field(default_factory=dict[str, str])

    @property
    def name(self) -> str:
        return self.cls.__name__

    def in_order(self, names: Collection[str]) -> tuple[str, ...]:
        """The given fields, in the order of ``kinds``."""
        return tuple(name for name in self.kinds if name in names)


@dataclass
class DesignFacts:
    """A design's class, with its patterns, their signatures, its entities, and the errors in them."""

    cls: type[Any]
    namespace: Mapping[str, Any]
    faults: list[ErrorDetail] = field(default_factory=list[ErrorDetail])
    patterns: dict[str, Pattern] = field(default_factory=dict[str, Pattern])
    signatures: dict[str, Signature] = field(default_factory=dict[str, Signature])

    def __post_init__(self) -> None:
        members = [pair for base in reversed(self.cls.__mro__) for pair in vars(base).items()]
        self.patterns = {name: value for name, value in members if isinstance(value, Pattern)}
        for name, pattern in self.patterns.items():
            place = f"{self.cls.__name__}.{name}"
            try:
                signature = signature_of(pattern.function, place, self.namespace)
                if isinstance(pattern, ReadMethod):
                    shape_of(signature.returns, pattern.options.entity)
                self.signatures[name] = signature
            except Problem as problem:
                self.faults.append(ErrorDetail(place, str(problem), problem.hint))

    def shape(self, name: str) -> Shape:
        return shape_of(self.signatures[name].returns, self.patterns[name].options.entity)

    @cached_property
    def classes(self) -> list[type[Entity]]:
        result = dict.fromkeys(self.cls.table.entities)
        for name, signature in self.signatures.items():
            named = [cls for parameter in signature.parameters for cls in entities_in(parameter.annotation)]
            result.update(dict.fromkeys([*named, *self.about(name)]))
        return list(result)

    def about(self, name: str) -> list[type[Entity]]:
        """The entities of a pattern's result and of its junctions."""
        options = self.patterns[name].options
        junctions = (junction.entity for junction in junctions_of(options.through))
        return [*entities_in(self.signatures[name].returns), *options.entity, *junctions]

    @cached_property
    def entities(self) -> dict[type[Entity], EntityFacts]:
        """The facts of each entity. An entity without an identity is reported as an error and omitted."""
        named = [parameter.name for signature in self.signatures.values() for parameter in signature.parameters]
        ranks = {name: rank for rank, name in reversed(list(enumerate(named)))}
        result: dict[type[Entity], EntityFacts] = {}
        for cls in self.classes:
            kinds: dict[str, Any] = {name: info.rebuild_annotation() for name, info in cls.model_fields.items()}
            kinds |= {name: info.return_type for name, info in cls.model_computed_fields.items()}
            kinds = dict(sorted(kinds.items(), key=lambda pair: ranks.get(pair[0], len(named))))
            identity = self._identity(cls, kinds)
            if identity is None:
                hint = "mark the identifying fields, for example order_id: Id[str]"
                self.faults.append(ErrorDetail(cls.__name__, "no field identifies an item", hint))
                continue
            optional = frozenset(name for name, annotation in kinds.items() if is_optional(annotation))
            result[cls] = EntityFacts(cls, identity, kinds, optional)
        return result

    def _identity(self, cls: type[Entity], kinds: Mapping[str, Any]) -> tuple[str, ...] | None:
        """The ``Id`` fields; those of a declared primary key; the fewest by which one item is read; or None."""
        marked = {name for name, annotation in kinds.items() if ID.name in marks_of(annotation)}
        primary = [key for key in declared_keys(cls).values() if isinstance(key, Key) and key.index is None]
        keyed = {name for key in primary for text in (*key.partition, *key.sort) for name in fields_of(text)}
        single = sorted((names for names in self._single_reads(cls) if names and names <= kinds.keys()), key=len)
        chosen = marked or keyed or (single[0] if single and not primary else set[str]())
        if not chosen and not primary:
            return None
        return tuple(name for name in kinds if name in chosen)

    def _single_reads(self, cls: type[Entity]) -> Iterator[frozenset[str]]:
        for name, signature in self.signatures.items():
            pattern = self.patterns[name]
            if not isinstance(pattern, ReadMethod) or pattern.options.through is not None or pattern.options.where:
                continue
            directed = any(parameter.kind is ParameterKind.DIRECTION for parameter in signature.parameters)
            ordered = directed or pattern.options.newest_first is not None or pattern.options.order_by is not None
            shape = self.shape(name)
            if shape.kind is ShapeKind.ONE and shape.entities == (cls,) and not ordered:
                yield frozenset(parameter.name for parameter in signature.parameters if parameter.condition)


@dataclass(frozen=True)
class Deployed:
    """The table's existing indexes and each entity's existing keys (by name), which the plans keep."""

    indexes: tuple[Index, ...] = ()
    keys: Mapping[type[Entity], Mapping[str, Key | Unique]] = field(
        default_factory=dict[type[Entity], dict[str, Key | Unique]]
    )

    @classmethod
    def of(cls, facts: DesignFacts, *, ignore_existing: bool) -> Deployed:
        """The keys of entities that have a primary key; with ``ignore_existing``, only keys of single items."""
        keys: dict[type[Entity], Mapping[str, Key | Unique]] = {}
        for entity in facts.classes:
            declared = declared_keys(entity)
            primary = {name: key for name, key in declared.items() if isinstance(key, Key) and key.index is None}
            if primary and not ignore_existing:
                keys[entity] = {name: key for name, key in declared.items() if isinstance(key, Key)}
            elif primary and entity in facts.entities and not facts.entities[entity].identity:
                keys[entity] = primary
        used = {key.index.name for own in keys.values() for key in own.values() if isinstance(key, Key) and key.index}
        if ignore_existing:
            return cls((), keys)
        scanned = (pattern.options.scan_index for pattern in facts.patterns.values())
        whole = {index.name for index in scanned if index is not None}  # an index that only scan_index= names is new
        indexes = (index for index in facts.cls.table.indexes if index.name in used or index.name not in whole)
        return cls(tuple(indexes), keys)


def declared_keys(cls: type[Entity]) -> dict[str, Key | Unique]:
    members = [pair for base in reversed(cls.__mro__) for pair in vars(base).items()]
    return {name: value for name, value in members if isinstance(value, Key | Unique)}


def fields_of(template: str) -> list[str]:
    return re.findall(r"\{(\w+)", template)


def word(name: str) -> str:
    """An entity's name as it is written in keys: ``OrderLine`` as ``ORDER_LINE``."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).upper()


def copy_hint(facts: Iterable[EntityFacts], entity: EntityFacts, missing: Sequence[str]) -> str:
    """The hint for each field that an entity lacks: a similar name, a copy from another entity, or a junction."""
    return "; ".join(_copy_hint(list(facts), entity, name) for name in missing)


def _copy_hint(facts: Sequence[EntityFacts], entity: EntityFacts, name: str) -> str:
    near = difflib.get_close_matches(name, entity.kinds, n=1, cutoff=0.75)
    if near:
        return f"did you mean {near[0]}?"
    having = [other for other in facts if name in other.kinds]
    owners = [other for other in having if set(other.identity) <= entity.kinds.keys()]
    if owners:
        owner = min(owners, key=lambda other: (len(other.identity), other.name))
        return (
            f"copy {owner.name}.{name} to a field of {entity.name}: each {entity.name} refers to one "
            f"{owner.name} by {' and '.join(owner.identity)}; a write that changes {owner.name}.{name} must also update"
            f" the {entity.name} items that refer to it"
        )
    links = [other for other in having if set(entity.identity) <= other.kinds.keys()]
    if links:
        link = min(links, key=lambda other: (len(other.kinds), other.name))
        return (
            f"{link.name} has {name}, and refers to {entity.name} by {' and '.join(entity.identity)}: read "
            f"with through={link.name}, or copy the required fields of {entity.name} into {link.name}"
        )
    return f"rename the parameter to one of the fields of {entity.name}: {', '.join(entity.kinds)}"
