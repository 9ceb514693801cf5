"""The table that requests address."""

from __future__ import annotations

from dataclasses import dataclass

from keyplan.model.declared.table import Table

__all__ = ["Target"]


@dataclass(frozen=True, slots=True)
class Target:
    """The table that requests address, by its name in this store. ``consistent``: use strongly consistent reads.
    ``lenient``: return unreadable items as InvalidItem.
    """

    name: str
    table: Table
    consistent: bool = False
    lenient: bool = False
