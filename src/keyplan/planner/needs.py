"""What a design's questions ask of each entity's keys, read from signatures and options alone.

A question becomes one need for each entity that it is about: what is known by equality, what is a range, what orders
the answer. Keys that meet needs are made in ``candidates.py``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from typing import Any

from keyplan.design.compiled.compiler import junctions_of, named_in
from keyplan.design.compiled.questions import ParameterKind, Signature
from keyplan.design.compiled.shapes import ShapeKind, shape_of
from keyplan.design.declared.entity import Entity
from keyplan.design.declared.fields import ID, is_optional, kind_of, marks_of, ulid
from keyplan.design.declared.keys import Key
from keyplan.design.declared.options import Options
from keyplan.design.declared.parameters import Through
from keyplan.design.declared.patterns import Pattern, ReadMethod
from keyplan.design.declared.problems import Problem
from keyplan.errors import Fault

__all__ = ["EntityFacts", "Need", "NeedReader", "facts_of"]

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
class EntityFacts:
    """What the planner knows of an entity: its fields, which name an item, which may be missing, which change."""

    cls: type[Entity]
    identity: tuple[str, ...]
    kinds: Mapping[str, Any]
    optional: frozenset[str]
    changing: frozenset[str] = frozenset()
    """Fields that updates change."""
    blind: frozenset[str] = frozenset()
    """Those of them that updates change by class and key fields alone: no index key may hold them."""

    @property
    def name(self) -> str:
        """The entity's name."""
        return self.cls.__name__


@dataclass(frozen=True)
class Need:
    """What one question asks of one entity's keys.

    ``known``: fields known by equality, ``each`` among them the one of many values. ``constants``: fields that the
    question fixes. ``following``: the field of a range or prefix. ``order``: the field that orders the answer.
    ``one``: the key must name at most one item. ``together``: the entities of an item collection.
    """

    place: str
    entity: type[Entity]
    known: frozenset[str]
    constants: Mapping[str, Any] = field(default_factory=dict[str, Any])
    each: str | None = None
    following: str | None = None
    order: str | None = None
    descending: bool = False
    one: bool = False
    consistent: bool = False
    together: tuple[type[Entity], ...] = ()
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

    @property
    def claimable(self) -> bool:
        """Whether a claim of a unique value could answer it: a single item by a parameter."""
        return self.one and bool(self.known) and not self.constants and not self.end

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
        return f"{self.entity.__name__} by {', '.join(parts)}"


class NeedReader:
    """Reads the needs of all questions of a design, and collects what is wrong with them."""

    def __init__(
        self, facts: Mapping[type[Entity], EntityFacts], orders: Mapping[str, str | None] | None = None
    ) -> None:
        self.facts = facts
        self.orders = orders or {}
        self.faults: list[Fault] = []

    def needs(self, patterns: Mapping[str, Pattern], signatures: Mapping[str, Signature]) -> list[Need]:
        """The needs of every read that isn't answered by an item's identity."""
        found: list[Need] = []
        for name, pattern in patterns.items():
            if isinstance(pattern, ReadMethod) and name in signatures:
                try:
                    found.extend(self._of(signatures[name], pattern.options))
                except Problem as problem:
                    self.faults.append(Fault(signatures[name].place, str(problem), problem.hint))
        return found

    def _of(self, signature: Signature, options: Options) -> Iterator[Need]:
        shape = shape_of(signature.returns)
        if options.scan:
            return
        if options.through is not None:
            yield from self._through(signature, options)
            return
        together = shape.entities if len(shape.entities) > 1 else ()
        latest = shape.kind is ShapeKind.COLLECTION and not any(one.many for one in shape.members)
        for cls in shape.entities:
            need = self._need(
                signature, options, self.facts[cls], one=shape.kind is ShapeKind.ONE, several=bool(together)
            )
            if need is not None:
                yield replace(need, together=together, latest=latest and need.descending and need.order is not None)

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
        for each in conditions:
            if each.name not in entity.kinds:
                raise Problem(
                    f"{entity.name} has no field {each.name!r}",
                    f"name the parameter as the field it speaks of; {entity.name} has {', '.join(entity.kinds)}",
                )
        known = frozenset(one.name for one in conditions if one.kind in {ParameterKind.VALUE, ParameterKind.EACH})
        ranges = [one.name for one in conditions if one.kind in {ParameterKind.RANGE, ParameterKind.PREFIX}]
        if len(ranges) > 1:
            raise Problem(
                f"{' and '.join(ranges)} are ranges, and a key answers one",
                "know one of them by equality, or filter by it: where= with a :parameter",
            )
        eaches = [one.name for one in conditions if one.kind is ParameterKind.EACH]
        if len(eaches) > 1:
            raise Problem(f"{' and '.join(eaches)} have many values each", "ask by one of them, or by a junction")
        constants = dict(options.where) if isinstance(options.where, Mapping) else {}
        constants = {name: value for name, value in constants.items() if name in entity.kinds}
        if not several and not constants and not ranges and known == frozenset(entity.identity):
            return None  # a primary key answers it, whatever it is
        ordered = options.order_by is not None or options.newest_first is not None
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
            each=next(iter(eaches), None),
            following=next(iter(ranges), None),
            order=order,
            descending=bool(options.newest_first) or (options.order_by or "").startswith("-"),
            one=one and not ordered,
            consistent=options.consistent,
            several=frozenset(name for name, value in constants.items() if _is_several(entity.kinds[name], value)),
        )

    def _order(self, signature: Signature, options: Options, entity: EntityFacts, known: frozenset[str]) -> str | None:
        if options.order_by is not None:
            name = options.order_by.lstrip("-")
            if name not in entity.kinds:
                raise Problem(f"order_by= names {name!r}, which is no field of {entity.name}")
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
        numbers = [name for name, one in entity.kinds.items() if name not in known and kind_of(one) is int]
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
        one = shape_of(signature.returns).kind is ShapeKind.ONE
        junction = self.facts[through.entity]
        own = frozenset(each.name for each in signature.parameters if each.name in junction.kinds)
        mapped = {
            name
            for name in end.kinds
            if name in through.fields or (name in junction.kinds and name not in signature.by_name)
        }
        plain = replace(options, through=None)
        unordered = replace(plain, newest_first=None, order_by=None)
        single = set(end.identity) <= mapped
        # Where the ends are many items each, the order is theirs; else it is the junction's.
        first = self._need(signature, plain if single else unordered, junction, one=one, names=own)
        if first is not None:
            yield replace(first, sorted_as=end.cls if several and single else None)
        if not single:
            rest = frozenset(signature.by_name) - own
            second = self._need(signature, plain, end, one=one, names=rest)
            if second is not None:
                must = second.known | frozenset(through.fields)
                yield replace(second, known=must, free=frozenset(mapped) - must, end=True)


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


def facts_of(cls: type[Entity], asked: Iterable[frozenset[str]] = ()) -> EntityFacts:
    """What an entity's class says. What identifies an item is marked with ``Id``, or said by a primary key that stands;
    failing both it is the fewest fields that one item is asked for by (``asked``). Raises Problem where nothing says
    it.
    """
    kinds: dict[str, Any] = {name: info.rebuild_annotation() for name, info in cls.model_fields.items()}
    kinds |= {name: info.return_type for name, info in cls.model_computed_fields.items()}
    optional = frozenset(name for name, annotation in kinds.items() if is_optional(annotation))
    marked = tuple(name for name, annotation in kinds.items() if ID.name in marks_of(annotation))
    identity = marked or _fields_of_primary(cls) or _fewest(asked, kinds)
    if not identity:
        raise Problem(
            "nothing says what identifies an item", "mark the fields that do: order_id: Id[str], for instance"
        )
    return EntityFacts(cls, identity, kinds, optional)


def _fields_of_primary(cls: type[Entity]) -> tuple[str, ...]:
    keys = [value for base in cls.__mro__ for value in vars(base).values() if isinstance(value, Key)]
    templates = [text for key in keys if key.index is None for text in (*key.partition, *key.sort)]
    names = [name for text in templates for name in re.findall(r"\{(\w+)", text)]
    return tuple(dict.fromkeys(names))


def _fewest(asked: Iterable[frozenset[str]], kinds: Mapping[str, Any]) -> tuple[str, ...]:
    sets = sorted((one for one in asked if one and one <= kinds.keys()), key=len)
    return tuple(name for name in kinds if name in sets[0]) if sets else ()
