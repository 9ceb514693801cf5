"""Entity that no access pattern reads.

Either the access pattern is missing, or the entity's items are stored and charged without use. An entity isn't reported
if a write yields ``Create``, ``Check`` or a conditional action for it, because its items can be markers.

The rule reports, as info, an entity class in the design's module that neither an access pattern nor
``Table(entities=[...])`` names.

Add the access pattern, or remove the entity. Ignore the finding if a stream or an export reads the items.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

from keyplan.analysis.check.rule import Remark, Remarks, Rule, Severity, Subject
from keyplan.model.compiled.plans import entities_read
from keyplan.model.declared.entity import Entity
from keyplan.model.declared.keys import Key


def _find(subject: Subject) -> Remarks:
    read = {entity.name for pattern in subject.design.reads.values() for entity in entities_read(pattern.plan)}
    asked = {
        entity.name for _, action, entity in subject.actions if action.kind in {"Create", "Check"} or action.conditional
    }
    for entity in subject.design.entities.values():
        if entity.name not in read | asked:
            yield Remark(entity.name, "no pattern reads the entity", "add an access pattern, or remove the entity")
    yield from _unnamed(subject)


def _unnamed(subject: Subject) -> Remarks:
    """Report the entities in the design's module that no design contains and no class extends."""
    owner = subject.owner
    if owner is None:
        return
    names = vars(sys.modules[owner.__module__]) if owner.__module__ in sys.modules else {}
    if owner.__name__ not in names or names[owner.__name__] is not owner:
        return
    bases = [base for base in owner.__mro__ if base is not object]
    designs = {design for base in bases for design in _subclasses(base)}
    named = {cls for each in designs for cls in getattr(getattr(each, "compiled", None), "entities", ())}
    named |= subject.design.entities.keys()
    for cls in names.values():
        if not isinstance(cls, type) or not issubclass(cls, Entity) or cls.__module__ != owner.__module__:
            continue
        declared = any(isinstance(value, Key) and value.index is None for value in vars(cls).values())
        if declared and cls not in named and not cls.__subclasses__():
            message = "the entity is in the design's module, but no access pattern names it"
            hint = "add an access pattern that reads it, or remove the entity"
            yield Remark(cls.__name__, message, hint, severity=Severity.INFO)


def _subclasses(cls: type[Any]) -> Iterator[type[Any]]:
    for subclass in cls.__subclasses__():
        yield subclass
        yield from _subclasses(subclass)


RULE = Rule("KP310", Severity.WARNING, _find, __name__, __doc__)
