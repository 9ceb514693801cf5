"""What the planner knows of an entity: its fields, which of them identify an item, may be missing, or change."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from keyplan.model.declared.declaration_errors import Problem
from keyplan.model.declared.entity import Entity
from keyplan.model.declared.fields import ID, is_optional, marks_of
from keyplan.model.declared.keys import Key

__all__ = ["EntityFacts", "facts_of", "word"]


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


def facts_of(cls: type[Entity], asked: Iterable[frozenset[str]] = ()) -> EntityFacts:
    """What an entity's class says. What identifies an item is marked with ``Id``, or said by a primary key that stands;
    failing both it is the fewest fields that one item is asked for by (``asked``). A primary key without a field names
    the only item that there is. Raises Problem where nothing says it.
    """
    kinds: dict[str, Any] = {name: info.rebuild_annotation() for name, info in cls.model_fields.items()}
    kinds |= {name: info.return_type for name, info in cls.model_computed_fields.items()}
    optional = frozenset(name for name, annotation in kinds.items() if is_optional(annotation))
    marked = tuple(name for name, annotation in kinds.items() if ID.name in marks_of(annotation))
    identity = marked or _fields_of_primary(cls) or _fewest(asked, kinds)
    if not identity and not any(key.index is None for key in _keys_of(cls)):
        raise Problem(
            "nothing says what identifies an item", "mark the fields that do: order_id: Id[str], for instance"
        )
    return EntityFacts(cls, identity, kinds, optional)


def _fields_of_primary(cls: type[Entity]) -> tuple[str, ...]:
    templates = [text for key in _keys_of(cls) if key.index is None for text in (*key.partition, *key.sort)]
    names = [name for text in templates for name in re.findall(r"\{(\w+)", text)]
    return tuple(dict.fromkeys(names))


def _keys_of(cls: type[Entity]) -> list[Key]:
    return [value for base in cls.__mro__ for value in vars(base).values() if isinstance(value, Key)]


def _fewest(asked: Iterable[frozenset[str]], kinds: Mapping[str, Any]) -> tuple[str, ...]:
    sets = sorted((element for element in asked if element and element <= kinds.keys()), key=len)
    return tuple(name for name in kinds if name in sets[0]) if sets else ()


def word(name: str) -> str:
    """An entity's name as it stands in keys: ``OrderLine`` as ``ORDER_LINE``."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).upper()
