"""The systems built on Keyplan, by name. Each uses keyplan's public names only.

A system is a design with what makes it usable: sample data, and a loader of real input. Its parts are imported when it
is asked for.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol

from keyplan import Design
from keyplan.errors import Fault

__all__ = ["SYSTEM_NAMES", "LoadReport", "Progress", "System", "system"]

SYSTEM_NAMES = ("cms",)

Progress = Callable[[int, int | None], None]
"""Called with how many are done, and how many there are in all (None: not known yet)."""


@dataclass
class LoadReport:
    """What a loader did: how many entries went in, and a fault for each that didn't, with its file and line."""

    loaded: int = 0
    faults: list[Fault] = field(default_factory=list[Fault])


class Sampler(Protocol):
    """Writes sample data."""

    def __call__(self, design: Any, count: int, progress: Progress) -> int:
        """Write about ``count`` main items, the same ones each time; gives how many were written."""
        ...


class Loader(Protocol):
    """Loads real input."""

    def __call__(self, design: Any, folder: Path, progress: Progress) -> LoadReport:
        """Load a folder. What can't be loaded is a fault of the report; the rest goes in."""
        ...


@dataclass(frozen=True)
class System:
    """One system: its design, its sample, its loader."""

    name: str
    title: str
    design: type[Design]
    sample: Sampler
    sample_count: int
    load: Loader


def system(name: str) -> System:
    """The system of that name. Raises KeyError for an unknown one."""
    if name not in SYSTEM_NAMES:
        raise KeyError(name)
    found: System = import_module(f"keyplan.systems.{name}.system").SYSTEM
    return found
