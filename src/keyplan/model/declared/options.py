"""What a pattern's decorator says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from keyplan.model.declared.entity import Entity
from keyplan.model.declared.indexes import Index
from keyplan.model.declared.keys import Key
from keyplan.model.declared.parameters import Through
from keyplan.model.declared.pattern_load import Load

__all__ = ["Options"]


@dataclass(frozen=True, slots=True)
class Options:
    """What a pattern's decorator says."""

    id: str
    newest_first: bool | None = None
    order_by: str | None = None
    key: Key | None = None
    consistent: bool = False
    where: Mapping[str, Any] | str | None = None
    through: type[Entity] | Through | Sequence[type[Entity] | Through] | None = None
    scan: bool = False
    all_of: Index | None = None
    segments: int = 1
    of: tuple[type[Entity], ...] = ()
    total: str | None = None
    complete: bool = False
    load: Load = field(default_factory=Load)
