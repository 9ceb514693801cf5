"""The table that requests go to."""

from __future__ import annotations

from dataclasses import dataclass

from keyplan.model.declared.table import Table

__all__ = ["Target"]


@dataclass(frozen=True, slots=True)
class Target:
    """The table that requests go to, under its name in this store; ``consistent`` asks for strong reads.
    ``lenient``: an item that can't be read is given as InvalidItem.
    """

    name: str
    table: Table
    consistent: bool = False
    lenient: bool = False
