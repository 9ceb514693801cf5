"""What a design's questions ask of each entity's keys, read from signatures and options alone.

A question becomes one need for each entity that it is about: what is known by equality, what is a range, what orders
the answer. Keys that meet needs are made in ``candidates.py``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from typing import Any

from pydantic import BaseModel

from keyplan.errors import ErrorDetail
from keyplan.model.compiled.compiler import junctions_of, named_in
from keyplan.model.compiled.constants import domain_of
from keyplan.model.compiled.return_types import ShapeKind, shape_of
from keyplan.model.compiled.signatures import Parameter, ParameterKind, Signature
from keyplan.model.declared.declaration_errors import Problem
from keyplan.model.declared.entity import Entity
from keyplan.model.declared.fields import is_optional, kind_of, ulid
from keyplan.model.declared.indexes import Index
from keyplan.model.declared.parameters import Through
from keyplan.model.declared.patterns import Options, Pattern, ReadMethod
from keyplan.planner.copies import how_to_have
from keyplan.planner.facts import EntityFacts

__all__ = ["ANY_INDEX", "Need", "NeedReader"]

ANY_INDEX = "any"

_TIMELY = (
    "created",
    "placed",
    "posted",
    "sent",
    "published",
    "ordered",
    "started",
    "opened",
    "at",
    "on",
    "time",
    "date",
)
"""Words in a moment's name that make it the one that ``newest_first`` means, the likeliest first."""


@dataclass(frozen=True)
class Need:
    """What one question asks of one entity's keys.

    ``known``: fields known by equality, ``each`` among them those of many values. ``constants``: fields that the
    question fixes. ``following``: the field of a range or prefix. ``order``: the field that orders the answer.
    ``one``: the key must name at most one item. ``together``: the entities of an item collection.
    """

    place: str
    entity: type[Entity]
    known: frozenset[str]
    constants: Mapping[str, Any] = field(default_factory=dict[str, Any])
    each: frozenset[str] = frozenset()
    following: str | None = None
    order: str | None = None
    descending: bool = False
    one: bool = False
    consistent: bool = False
    together: tuple[type[Entity], ...] = ()
    interleaved: bool = False
    """Whether the items of several entities stand in one order, and not each entity's in its own."""
    latest: bool = False
    """Whether it wants the last of several items beside a single one: the key is turned then, and read from its front.
    """

    free: frozenset[str] = frozenset()
    """Fields that are known besides, which the key may hold and needn't."""
    end: bool = False
    """Whether it is for what a junction leads to."""
    sorted_as: type[Entity] | None = None
    """The entity whose sort key its own must be, where several junctions make one answer."""

    several: frozenset[str] = frozenset()
    """The constants with several values: a partition or a sparse key has them, a sort key can't."""

    narrow: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """The known fields whose parameter takes no more than some of the field's few values, with these: ``status:
    Literal["open"]``.
    """

    exists: bool = False
    """Whether it asks no more than whether there is such an item."""
    scan_index: str | None = None
    """The index that is read whole; ``ANY_INDEX``: one that the planner names."""

    @property
    def claimable(self) -> bool:
        """Whether a claim of a unique value could answer it: a single item by a parameter, or whether there is it."""
        return (self.one or self.exists) and bool(self.known) and not (self.constants or self.end or self.each)

    @property
    def sweepable(self) -> bool:
        """Whether all of a sparse index could answer it: constants alone are known, and it asks for no order."""
        open_ = not (self.known or self.free or self.next or self.one or self.consistent or self.together or self.end)
        return open_ and bool(self.constants) and self.scan_index is None

    @property
    def next(self) -> str | None:
        """The field that must stand behind what is known."""
        return self.following or self.order

    def __str__(self) -> str:
        parts = [", ".join(sorted(self.known or self.free)) or "nothing known"]
        if self.constants:
            parts.append("where " + ", ".join(f"{name} = {value!r}" for name, value in self.constants.items()))
        if self.following:
            parts.append(f"{self.following} in a range")
        if self.order:
            parts.append(f"ordered by {self.order}")
        return f"{self.entity.__name__} by {', '.join(parts)}" + (
            f", all of {self.scan_index}" if self.scan_index else ""
        )


class NeedReader:
    """Reads the needs of all questions of a design, and collects what is wrong with them."""

    def __init__(
        self, facts: Mapping[type[Entity], EntityFacts], orders: Mapping[str, str | None] | None = None
    ) -> None:
        self.facts = facts
        self.orders = orders or {}
        self.faults: list[ErrorDetail] = []

    def needs(self, patterns: Mapping[str, Pattern], signatures: Mapping[str, Signature]) -> list[Need]:
        """The needs of every read that isn't answered by an item's identity."""
        result: list[Need] = []
        for name, pattern in patterns.items():
            if isinstance(pattern, ReadMethod) and name in signatures:
                try:
                    result.extend(self._of(signatures[name], pattern.options))
                except Problem as problem:
                    self.faults.append(ErrorDetail(signatures[name].place, str(problem), problem.hint))
        return result

    def _of(self, signature: Signature, options: Options) -> Iterator[Need]:
        shape = shape_of(signature.returns, options.entity)
        if options.scan:
            return
        if options.scan_index is not None:
            yield from self._whole(options.scan_index, signature, options, shape.entities)
            return
        if options.through is not None:
            yield from self._through(signature, options)
            return
        together = shape.entities if len(shape.entities) > 1 else ()
        latest = shape.kind is ShapeKind.COLLECTION and not any(member.many for member in shape.members)
        for cls in shape.entities:
            need = self._need(
                signature, options, self.facts[cls], one=shape.kind is ShapeKind.ONE, several=bool(together)
            )
            if need is not None:
                latest_of_it = latest and need.descending and need.order is not None
                exists = shape.kind is ShapeKind.EXISTS and not together
                interleaved = bool(together) and shape.kind is not ShapeKind.COLLECTION
                yield replace(need, together=together, latest=latest_of_it, exists=exists, interleaved=interleaved)

    def _whole(
        self, index: Index, signature: Signature, options: Options, entities: Sequence[type[Entity]]
    ) -> Iterator[Need]:
        """All of an index: its items are those of the constants, or those that have an optional field in its key."""
        for cls in entities:
            need = self._need(signature, replace(options, order_by=None, newest_first=None), self.facts[cls], one=False)
            if need is not None:
                yield replace(need, scan_index=index.name)

    def _need(
        self,
        signature: Signature,
        options: Options,
        entity: EntityFacts,
        *,
        one: bool,
        names: frozenset[str] | None = None,
        several: bool = False,
    ) -> Need | None:
        """The need of one entity; None where its identity answers the question."""
        named = named_in(options.where)
        conditions = [
            each
            for each in signature.parameters
            if each.condition and each.name not in named and (names is None or each.name in names)
        ]
        self._must_have(entity, [each.name for each in conditions])
        known = frozenset(
            condition.name for condition in conditions if condition.kind in {ParameterKind.VALUE, ParameterKind.EACH}
        )
        ranges = [
            condition.name for condition in conditions if condition.kind in {ParameterKind.RANGE, ParameterKind.PREFIX}
        ]
        if len(ranges) > 1:
            raise Problem(
                f"{' and '.join(ranges)} are ranges, and a key answers one",
                "know one of them by equality, or filter by it: where= with a :parameter",
            )
        constants = dict(options.where) if isinstance(options.where, Mapping) else {}
        constants = {name: _in_turn(value) for name, value in constants.items() if name in entity.kinds}
        self._must_stand_in_keys(entity, [condition.name for condition in conditions])
        unsure = [
            condition.name
            for condition in conditions
            if condition.kind is ParameterKind.VALUE and is_optional(condition.annotation)
        ]
        if unsure:
            raise Problem(
                f"{', '.join(unsure)} may be None, and items without it stand in no key",
                "leave None out of the parameter's type; what lacks the field is asked for by where=, and filtered",
            )
        if not several and not constants and not ranges and known == frozenset(entity.identity):
            return None  # a primary key answers it, whatever it is
        directed = any(parameter.kind is ParameterKind.DIRECTION for parameter in signature.parameters)
        ordered = directed or options.order_by is not None or options.newest_first is not None
        order = None
        if ordered and not ranges and (not several or set(entity.identity) - known):
            order = self._order(signature, options, entity, known | frozenset(constants))
        if ranges and options.order_by is not None and options.order_by.lstrip("-") != ranges[0]:
            raise Problem(
                f"{ranges[0]} is a range, and the answer is to be ordered by {options.order_by.lstrip('-')}",
                f"order by {ranges[0]}, or sort the answer where it is used",
            )
        return Need(
            signature.place,
            entity.cls,
            known,
            constants,
            each=frozenset(condition.name for condition in conditions if condition.kind is ParameterKind.EACH),
            following=next(iter(ranges), None),
            order=order,
            descending=bool(options.newest_first) or (options.order_by or "").startswith("-"),
            one=one and not ordered,
            consistent=options.consistent,
            several=frozenset(name for name, value in constants.items() if _is_several(entity.kinds[name], value)),
            narrow=dict(_narrow(entity, conditions)),
        )

    def _must_have(self, entity: EntityFacts, names: Sequence[str], what: str = "") -> None:
        missing = [name for name in names if name not in entity.kinds]
        if not missing:
            return
        shown = " and ".join(map(repr, missing))
        message = (
            f"{what} {shown}, which is no field of {entity.name}" if what else f"{entity.name} has no field {shown}"
        )
        raise Problem(message, how_to_have(self.facts, entity, missing))

    def _must_stand_in_keys(self, entity: EntityFacts, names: Sequence[str]) -> None:
        for name in names:
            kind = kind_of(entity.kinds[name])
            if kind is bytes:
                raise Problem(
                    f"{entity.name}.{name} is bytes, which stand in no text",
                    "keep their hexadecimal text in a field, and ask by it; or declare the key and its index: "
                    f'Index("BY_{name.upper()}", Binary("{name}"))',
                )
            if kind in {list, dict, set, frozenset} or (isinstance(kind, type) and issubclass(kind, BaseModel)):
                raise Problem(
                    f"{entity.name}.{name} is a {kind.__name__}, which no key can hold",
                    f"keep an item for each of its values, as an entity of {', '.join(entity.identity)} and the value, "
                    f'and ask through= it; or filter: where="contains({name}, :value)"',
                )

    def _order(self, signature: Signature, options: Options, entity: EntityFacts, known: frozenset[str]) -> str | None:
        if options.order_by is not None:
            name = options.order_by.lstrip("-")
            self._must_have(entity, [name], "order_by= names")
            self._must_stand_in_keys(entity, [name])
            return name
        if signature.place in self.orders:  # a design that has keys says by them what it means
            meant = self.orders[signature.place]
            return meant if meant in entity.kinds.keys() - known else None
        rest = [name for name in entity.identity if name not in known]
        for name in rest:
            if kind_of(entity.kinds[name]) in {datetime, date, int} or _is_ulid(entity, name):
                return name
        moments = [
            name
            for name, annotation in entity.kinds.items()
            if name not in known and kind_of(annotation) in {datetime, date}
        ]
        certain = [name for name in moments if name not in entity.optional] or moments
        if len(certain) > 1:
            ranked = sorted(certain, key=_timeliness)
            if _timeliness(ranked[0]) == _timeliness(ranked[1]):
                raise Problem(f"newest_first could mean {' or '.join(certain)}", 'say which with order_by="-field"')
            return ranked[0]
        if certain:
            return certain[0]
        numbers = [name for name, value in entity.kinds.items() if name not in known and kind_of(value) is int]
        if len(numbers) == 1:
            return numbers[0]
        raise Problem(
            f"newest_first orders by time, and {entity.name} has no field that is one",
            "say which field orders the answer with order_by=",
        )

    def _through(self, signature: Signature, options: Options) -> Iterator[Need]:
        end = self.facts[shape_of(signature.returns).entities[0]]
        junctions = list(junctions_of(options.through))
        for through in junctions:
            yield from self._way(signature, options, through, end, several=len(junctions) > 1)

    def _way(
        self, signature: Signature, options: Options, through: Through, end: EntityFacts, *, several: bool
    ) -> Iterator[Need]:
        """The needs of one junction: its own items, and the ends that they name."""
        element = shape_of(signature.returns).kind is ShapeKind.ONE
        junction = self.facts[through.entity]
        own = frozenset(each.name for each in signature.parameters if each.name in junction.kinds)
        stored = junction.kinds.keys() - junction.cls.model_computed_fields.keys()
        mapped = {name for name in end.kinds if name in through.fields or name in stored}
        plain = replace(options, through=None)
        unordered = replace(plain, newest_first=None, order_by=None)
        single = set(end.identity) <= mapped
        wanted = [name for name in dict(options.where if isinstance(options.where, Mapping) else {}) if single]
        if single and not several and any(name in end.kinds and name not in junction.kinds for name in wanted):
            missing = [name for name in wanted if name not in junction.kinds]
            raise Problem(
                f"{' and '.join(missing)} is a field of {end.name}, each of which is read by its key, unfiltered",
                how_to_have(self.facts, junction, missing),
            )
        # Where the ends are many items each, the order is theirs; else it is the junction's.
        first = self._need(signature, plain if single else unordered, junction, one=element, names=own)
        if first is not None:
            yield replace(first, sorted_as=end.cls if several and single else None)
        if not single:
            rest = frozenset(signature.by_name) - own
            second = self._need(signature, plain, end, one=element, names=rest)
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
    """A constant as it stands in plans: of a list or a set the values as a tuple, which can be compared and counted."""
    if isinstance(value, set | frozenset):
        return tuple(sorted(value, key=str))
    return tuple(value) if isinstance(value, list) else value


def _is_several(annotation: Any, value: Any) -> bool:
    """Whether a constant gives several values, any of which is asked for."""
    many = (tuple, list, set, frozenset)
    return isinstance(value, many) and kind_of(annotation) not in many and len(value) > 1


def _is_ulid(entity: EntityFacts, name: str) -> bool:
    info = entity.cls.model_fields.get(name)
    return info is not None and info.default_factory is ulid


def _timeliness(name: str) -> int:
    words = name.split("_")
    return next((rank for rank, word in enumerate(_TIMELY) if word in words), len(_TIMELY))
