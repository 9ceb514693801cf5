"""Derives from each access pattern's signature and options what keys it requires of each entity that it reads.

A read becomes one need per entity: the fields that are compared by equality, the field with a range condition, and the
field that orders the result. ``candidates.py`` generates the keys that could meet the needs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from decimal import Decimal
from typing import Any

from pydantic import BaseModel

from keyplan.errors import ErrorDetail
from keyplan.model.compiled.compiler import junctions_of, named_in
from keyplan.model.compiled.constants import domain_of
from keyplan.model.compiled.return_types import ShapeKind
from keyplan.model.compiled.signatures import Parameter, ParameterKind, Signature
from keyplan.model.declared.declaration_errors import Problem
from keyplan.model.declared.entity import Entity
from keyplan.model.declared.fields import is_optional, kind_of, ulid
from keyplan.model.declared.parameters import Through
from keyplan.model.declared.patterns import Options, ReadMethod
from keyplan.planner.facts import DesignFacts, EntityFacts, copy_hint

_TIME_WORDS = (
    *("created", "placed", "posted", "sent", "published", "ordered", "started", "opened", "at", "on", "time", "date"),
)
"""Words in the name of the timestamp that ``newest_first`` refers to, the most likely first."""
_COLLECTIONS = (tuple, list, set, frozenset)


@dataclass(frozen=True)
class Need:
    """The requirements of one access pattern for one entity's keys.

    ``known``: fields compared by equality; ``each``: known fields with a list of values. ``constants``: fields that
    ``where=`` compares with constants; ``several``: those with several constants. ``following``: the field of a range
    or prefix. ``order``: the field that orders the result. ``free``: other known fields, which a key can contain.
    ``narrow``: known fields whose parameter accepts only some values, with these values. ``one``: the pattern reads at
    most one item; ``exists``: it only checks whether an item exists. ``together``: the entities of an item collection;
    ``interleaved``: their items have a common order. ``latest``: the key is in descending order, so that the latest of
    several items is next to the single item. ``closed``: at most one item is read, next to ordered items of other
    entities, so the key contains only known fields or begins with the ordering field. ``sorted_as``: the entity whose
    name is in the sort key, if a result merges several junctions. ``whole``: the index that the pattern scans.
    """

    place: str
    entity: type[Entity]
    known: frozenset[str]
    constants: Mapping[str, Any] = field(default_factory=dict[str, Any])
    each: frozenset[str] = frozenset()
    following: str | None = None
    order: str | None = None
    one: bool = False
    exists: bool = False
    consistent: bool = False
    together: tuple[type[Entity], ...] = ()
    interleaved: bool = False
    latest: bool = False
    closed: bool = False
    free: frozenset[str] = frozenset()
    end: bool = False
    sorted_as: type[Entity] | None = None
    several: frozenset[str] = frozenset()
    narrow: Mapping[str, Any] = field(default_factory=dict[str, Any])
    whole: str | None = None

    @property
    def claimable(self) -> bool:
        """Whether a unique value supports the need: the parameters find one item, or check whether it exists."""
        return (self.one or self.exists) and bool(self.known) and not (self.constants or self.end or self.each)

    @property
    def next(self) -> str | None:
        """The field that must follow the known fields in the sort key."""
        return self.following or self.order

    def __str__(self) -> str:
        parts = [", ".join(sorted(self.known or self.free)) or "no parameters"]
        if self.constants:
            parts.append("where " + ", ".join(f"{name} = {value!r}" for name, value in self.constants.items()))
        if self.following:
            parts.append(f"{self.following} in a range")
        if self.order:
            parts.append(f"ordered by {self.order}")
        return f"{self.entity.__name__} by {', '.join(parts)}" + (f", all of {self.whole}" if self.whole else "")


@dataclass
class Needs:
    """The needs of a design's reads, the filters (by place) of reads that require no other key, and the errors."""

    all: list[Need] = field(default_factory=list[Need])
    filters: dict[str, str] = field(default_factory=dict[str, str])
    faults: list[ErrorDetail] = field(default_factory=list[ErrorDetail])


def needs_of(facts: DesignFacts, orders: Mapping[str, str | None]) -> Needs:
    result = Needs()
    reader = _Reader(facts, orders, result)
    for name, pattern in facts.patterns.items():
        known = name in facts.signatures and all(cls in facts.entities for cls in facts.about(name))
        if isinstance(pattern, ReadMethod) and known:
            signature = facts.signatures[name]
            try:
                result.all.extend(reader.read(name, signature, pattern.options))
            except Problem as problem:
                result.faults.append(ErrorDetail(signature.place, str(problem), problem.hint))
    return result


class _Reader:
    def __init__(self, facts: DesignFacts, orders: Mapping[str, str | None], out: Needs) -> None:
        self.design = facts
        self.facts = facts.entities
        self.orders = orders
        self.out = out

    def read(self, name: str, signature: Signature, options: Options) -> Iterator[Need]:
        shape = self.design.shape(name)
        if options.scan:
            return
        if options.scan_index is not None:
            for cls in shape.entities:
                plain = replace(options, order_by=None, newest_first=None)
                need = self._need(signature, plain, self.facts[cls], one=False)
                if need is not None:
                    yield replace(need, whole=options.scan_index.name)
            return
        if options.through is not None:
            end = self.facts[shape.entities[0]]
            junctions = list(junctions_of(options.through))
            for through in junctions:
                single = shape.kind is ShapeKind.ONE
                yield from self._way(signature, options, through, end, one=single, several=len(junctions) > 1)
            return
        together = shape.entities if len(shape.entities) > 1 else ()
        collection = shape.kind is ShapeKind.COLLECTION
        latest = collection and not any(member.many for member in shape.members)
        given = {parameter.name for parameter in signature.parameters if parameter.condition}
        some_open = bool(together) and any(set(self.facts[cls].identity) - given for cls in together)
        single = shape.kind is ShapeKind.ONE
        for cls in shape.entities:
            need = self._need(
                signature, options, self.facts[cls], one=single, several=bool(together), some_open=some_open
            )
            if need is not None:
                descending = bool(options.newest_first) or (options.order_by or "").startswith("-")
                yield replace(
                    need,
                    together=together,
                    latest=latest and descending and need.order is not None,
                    exists=shape.kind is ShapeKind.EXISTS and not together,
                    interleaved=bool(together) and not collection,
                )

    def _need(
        self,
        signature: Signature,
        options: Options,
        entity: EntityFacts,
        *,
        one: bool,
        names: frozenset[str] | None = None,
        several: bool = False,
        some_open: bool = False,
    ) -> Need | None:
        """The need of one entity; None if its identity is sufficient. ``some_open``: other entities need an order."""
        named = named_in(options.where)
        left_out = named if names is None else named | (signature.by_name.keys() - names)
        conditions = [each for each in signature.parameters if each.condition and each.name not in left_out]
        given = {parameter.name: parameter.kind for parameter in conditions}
        self._check_conditions(entity, conditions)
        known = frozenset(name for name, kind in given.items() if kind in {ParameterKind.VALUE, ParameterKind.EACH})
        ranges = [name for name, kind in given.items() if kind in {ParameterKind.RANGE, ParameterKind.PREFIX}]
        where = options.where if isinstance(options.where, Mapping) else {}
        constants = {name: _in_turn(value) for name, value in where.items() if name in entity.kinds}
        identity = frozenset(entity.identity)
        directed = any(parameter.kind is ParameterKind.DIRECTION for parameter in signature.parameters)
        ordered = directed or options.order_by is not None or options.newest_first is not None
        each = frozenset(name for name, kind in given.items() if kind is ParameterKind.EACH)
        alone = not several and not constants and not ranges
        if alone and known == identity and (one or not ordered):
            return None
        if alone and names is None and identity:
            stored = known <= entity.cls.model_fields.keys()
            if known > identity and stored and not (each or ordered or options.where or options.scan_index):
                rest = entity.in_order(known - identity)
                self.out.filters[signature.place] = " AND ".join(f"{name} = :{name}" for name in rest)
                return None
        order = None
        closed = ordered and some_open and not identity - known
        lacks = closed and (options.order_by or "").lstrip("-") not in entity.kinds
        if ordered and not ranges and not lacks:
            order = self._order(signature, options, entity, known | frozenset(constants))
        if ranges and options.order_by is not None and options.order_by.lstrip("-") != ranges[0]:
            raise Problem(
                f"{ranges[0]} is a range, but the result is ordered by {options.order_by.lstrip('-')}",
                f"order by {ranges[0]}, or sort the result in your code",
            )
        return Need(
            signature.place,
            entity.cls,
            known,
            constants,
            each=each,
            following=next(iter(ranges), None),
            order=order,
            one=one and not ordered,
            closed=closed,
            consistent=options.consistent,
            several=frozenset(name for name, value in constants.items() if _is_several(entity.kinds[name], value)),
            narrow=dict(_narrow(entity, conditions)),
        )

    def _check_conditions(self, entity: EntityFacts, conditions: Sequence[Parameter]) -> None:
        self._check_fields(entity, [parameter.name for parameter in conditions])
        ranges = [p.name for p in conditions if p.kind in {ParameterKind.RANGE, ParameterKind.PREFIX}]
        if len(ranges) > 1:
            raise Problem(
                f"{' and '.join(ranges)} are ranges, and a key supports only one range",
                "use an equality condition on one of them, or filter by it with where= and a :parameter",
            )
        unsure = [p.name for p in conditions if p.kind is ParameterKind.VALUE and is_optional(p.annotation)]
        if unsure:
            raise Problem(
                f"{', '.join(unsure)} can be None, and no key contains items without a value",
                "remove None from the parameter's type; to read items without the field, use a filter in where=",
            )

    def _check_fields(self, entity: EntityFacts, names: Sequence[str], what: str = "") -> None:
        missing = [name for name in names if name not in entity.kinds]
        if missing:
            shown = " and ".join(map(repr, missing))
            message = f"{what} {shown}, which isn't a field of {entity.name}"
            message = message if what else f"{entity.name} has no field {shown}"
            raise Problem(message, copy_hint(self.facts.values(), entity, missing))
        for name in names:
            kind = kind_of(entity.kinds[name])
            if kind is bytes:
                raise Problem(
                    f"{entity.name}.{name} is bytes, which a string key can't contain",
                    "store the hexadecimal string in another field and read by it, or declare the key and index: "
                    f'Index("BY_{name.upper()}", Binary("{name}"))',
                )
            if kind in {list, dict, set, frozenset} or (isinstance(kind, type) and issubclass(kind, BaseModel)):
                raise Problem(
                    f"{entity.name}.{name} is a {kind.__name__}, which no key can contain",
                    f"store one item per value, as an entity with {', '.join(entity.identity)} and the value, "
                    f'and read it with through=; or filter: where="contains({name}, :value)"',
                )

    def _order(self, signature: Signature, options: Options, entity: EntityFacts, known: frozenset[str]) -> str | None:
        """The field that orders the result: that of ``order_by``, that of a deployed key, or the time."""
        if options.order_by is not None:
            name = options.order_by.lstrip("-")
            self._check_fields(entity, [name], "order_by= names")
            return name
        rest = entity.kinds.keys() - known
        if signature.place in self.orders:
            meant = self.orders[signature.place]
            return meant if meant in rest else None
        for name in entity.identity:
            info = entity.cls.model_fields.get(name)
            is_ulid = info is not None and info.default_factory is ulid
            if name in rest and (is_ulid or kind_of(entity.kinds[name]) in {datetime, date, int}):
                return name
        timestamps = [name for name in entity.kinds if name in rest and kind_of(entity.kinds[name]) in {datetime, date}]
        certain = sorted([name for name in timestamps if name not in entity.optional] or timestamps, key=_timeliness)
        if len(certain) > 1 and _timeliness(certain[0]) == _timeliness(certain[1]):
            raise Problem(f"newest_first could mean {' or '.join(certain)}", 'set the field with order_by="-field"')
        numbers = [name for name in entity.kinds if name in rest and kind_of(entity.kinds[name]) is int]
        if certain or len(numbers) == 1:
            return certain[0] if certain else numbers[0]
        raise Problem(
            f"newest_first orders by time, but {entity.name} has no date or time field",
            "use order_by= to set the field that orders the result",
        )

    def _way(
        self, signature: Signature, options: Options, through: Through, end: EntityFacts, *, one: bool, several: bool
    ) -> Iterator[Need]:
        junction = self.facts[through.entity]
        own = frozenset(parameter.name for parameter in signature.parameters if parameter.name in junction.kinds)
        stored = junction.kinds.keys() - junction.cls.model_computed_fields.keys()
        mapped = {name for name in end.kinds if name in through.fields or name in stored}
        plain = replace(options, through=None)
        single = set(end.identity) <= mapped
        where = options.where if isinstance(options.where, Mapping) else {}
        missing = [name for name in where if name in end.kinds and name not in junction.kinds]
        if single and not several and missing:
            raise Problem(
                f"where= names {' and '.join(missing)}, but {end.name} is read by its key, without a filter",
                copy_hint(self.facts.values(), junction, missing),
            )
        # If each junction item leads to several end items, the end's key orders the result, else the junction's key
        ordering = plain if single else replace(plain, newest_first=None, order_by=None)
        first = self._need(signature, ordering, junction, one=one, names=own)
        if first is not None:
            yield replace(first, sorted_as=end.cls if several and single else None)
        if not single:
            rest = frozenset(signature.by_name) - own
            second = self._need(signature, plain, end, one=one, names=rest)
            if second is not None:
                must = second.known | frozenset(through.fields)
                yield replace(second, known=must, free=frozenset(mapped) - must, end=True)


def _narrow(entity: EntityFacts, conditions: Sequence[Parameter]) -> Iterator[tuple[str, Any]]:
    for condition in conditions:
        if condition.kind is ParameterKind.VALUE:
            given, whole = domain_of(condition.annotation), domain_of(entity.kinds[condition.name])
            if given is not None and whole is not None and set(given) < set(whole):
                first, *others = (value for value in whole if value in given)
                yield condition.name, (first, *others) if others else first


def _in_turn(value: Any) -> Any:
    """A constant, with the values of a list or a set as a tuple, which can be compared and hashed."""
    if isinstance(value, set | frozenset):
        return tuple(sorted(value, key=str))
    return tuple(value) if isinstance(value, list) else value


def _is_several(annotation: Any, value: Any) -> bool:
    return isinstance(value, _COLLECTIONS) and kind_of(annotation) not in _COLLECTIONS and len(value) > 1


def is_fraction(annotation: Any) -> bool:
    """Whether a type is float or Decimal, which a string key can't sort."""
    return kind_of(annotation) in {float, Decimal}


def _timeliness(name: str) -> int:
    words = name.split("_")
    return next((rank for rank, word in enumerate(_TIME_WORDS) if word in words), len(_TIME_WORDS))
