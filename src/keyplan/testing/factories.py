"""Instances for tests, made of what entities declare: the same ones for the same seed.

Colliding and odd values, which find faults, are made in ``samples.py``; what is made here looks like an application's.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import Any, TypeVar

from pydantic import ValidationError
from pydantic.fields import FieldInfo

from keyplan.errors import ArgumentError, shown
from keyplan.model.declared.declaration_errors import Problem
from keyplan.model.declared.entity import Entity
from keyplan.model.declared.example_values import accepted_value, annotated, limits, typical
from keyplan.model.declared.fields import kind_of, now, ulid
from keyplan.session.design import Design

__all__ = ["Maker"]

E = TypeVar("E", bound=Entity)

_SERIALS = 1_000_000
"""Instances of one seed, before those of the next one begin."""


class Maker:
    """Makes instances: ``make = Maker(seed=1)``, ``make(Article, status="draft")``.

    What isn't given has its default, and else a typical value of its type, another one in each instance; ``now()`` and
    ``ulid()`` as defaults are replaced too, so that one seed makes the same instances each time.
    """

    def __init__(self, seed: int = 0) -> None:
        self.seed = seed
        self._numbers = itertools.count()

    def __call__(self, entity: type[E], /, **given: Any) -> E:
        """One instance. Raises ArgumentError for values that the entity refuses, and for a field whose validators
        refuse what can be thought of: give it.
        """
        anything: Any = entity
        if not isinstance(anything, type) or not issubclass(anything, Entity):
            raise ArgumentError(f"instances are made of an entity, not of {shown(entity)}", place="Maker")
        number = next(self._numbers)
        made = {
            name: _value(annotated(info), name, info, number, self.seed * _SERIALS + number)
            for name, info in entity.model_fields.items()
            if name not in given and (info.is_required() or info.default_factory in {now, ulid})
        }
        others: dict[str, Any] = {}
        while True:
            try:
                return entity.model_validate({**made, **others, **given}, by_name=True)
            except ValidationError as error:
                refused = {str(element["loc"][0]) for element in error.errors(include_url=False) if element["loc"]}
                wrong = refused & made.keys() - others.keys()
                if not wrong:
                    raise _refused(entity, error) from None
                others |= {name: _accepted(entity, name, error) for name in wrong}

    def many(self, entity: type[E], count: int, /, **given: Any) -> list[E]:
        """So many instances."""
        return [self(entity, **given) for _ in range(count)]

    def fill(self, design: Design, counts: Mapping[type[Entity], int]) -> list[Entity]:
        """Create so many items of each entity in a store, and give them as they are stored."""
        return [design.create(self(entity)) for entity, count in counts.items() for _ in range(count)]


def _value(annotation: Any, name: str, info: FieldInfo, number: int, serial: int) -> Any:
    if info.examples:
        return info.examples[number % len(info.examples)]
    if info.default_factory is ulid:
        return typical(str, name, serial).value[:1] + f"{serial:025d}"
    typical_value = typical(annotation, name, serial)
    if kind_of(annotation) is int and not typical_value.exact:
        low, high = limits(annotation, "value")
        value = (low or 0) + 1 + number
        return value if high is None else min(value, high)
    return typical_value.value


def _accepted(entity: type[Entity], name: str, error: ValidationError) -> Any:
    try:
        return accepted_value(annotated(entity.model_fields[name]))
    except Problem:
        raise _refused(entity, error) from None


def _refused(entity: type[Entity], error: ValidationError) -> ArgumentError:
    first = error.errors(include_url=False)[0]
    place = ".".join(map(str, (entity.__name__, *first["loc"])))
    return ArgumentError(str(first["msg"]), place=place, hint="give a value that it takes")
