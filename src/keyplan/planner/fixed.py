"""What is deployed and stays: the keys and indexes that a design has, when it is planned again."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from keyplan.model.declared.entity import Entity
from keyplan.model.declared.indexes import Index
from keyplan.model.declared.keys import Key
from keyplan.planner.candidates import Candidate, exclude

__all__ = ["Fixed", "fixed_of", "only_items"]


@dataclass(frozen=True)
class Fixed:
    """The indexes of a table, and each entity's keys by name."""

    indexes: tuple[Index, ...] = ()
    keys: Mapping[type[Entity], Mapping[str, Key]] = field(default_factory=dict[type[Entity], dict[str, Key]])

    def taken(self, cls: type[Entity], keys: Sequence[Candidate] = ()) -> frozenset[int]:
        """The indexes, counted from 1, in which an entity has a key that doesn't exclude the new ``keys``."""
        names = [index.name for index in self.indexes]
        own = self.keys.get(cls, {}).values()
        return frozenset(
            names.index(key.index.name) + 1
            for key in own
            if key.index is not None
            and key.index.name in names
            and not (keys and all(exclude(dict(new.when), key.when or {}) for new in keys))
        )

    @property
    def forms(self) -> dict[int, tuple[str, ...]]:
        """The types of each index's sort key attributes; of one that new keys can't use, nothing that they have."""
        return {
            number: tuple(attribute.type for attribute in index.sort)
            if len(index.partition) == 1
            and index.partition[0].type == "S"
            and index.projection == "ALL"
            and not index.local
            else ("as it is",)
            for number, index in enumerate(self.indexes, 1)
        }

    def index(self, number: int) -> Index | None:
        """The index of a number, where it is deployed."""
        return self.indexes[number - 1] if number <= len(self.indexes) else None


def fixed_of(design: type[Any], entities: Sequence[type[Entity]], whole: Collection[str]) -> Fixed:
    """What a design declares: of its entities those that have a primary key. ``whole``: the indexes that questions read
    whole; they are made anew where no key stands in them.
    """
    keys: dict[type[Entity], dict[str, Key]] = {}
    for cls in entities:
        declared = {
            name: value
            for base in reversed(cls.__mro__)
            for name, value in vars(base).items()
            if isinstance(value, Key)
        }
        if any(key.index is None for key in declared.values()):
            keys[cls] = declared
    used = {key.index.name for own in keys.values() for key in own.values() if key.index is not None}
    return Fixed(tuple(index for index in design.table.indexes if index.name in used or index.name not in whole), keys)


def only_items(entities: Sequence[type[Entity]]) -> Fixed:
    """The primary keys of entities of which there is one item: no field could name it."""
    return Fixed(
        (),
        {
            cls: {
                name: value
                for base in reversed(cls.__mro__)
                for name, value in vars(base).items()
                if _is_primary(value)
            }
            for cls in entities
        },
    )


def _is_primary(value: Any) -> bool:
    return isinstance(value, Key) and value.index is None
