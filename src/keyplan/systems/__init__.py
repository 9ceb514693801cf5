"""The systems built on Keyplan, by name. Each uses keyplan's public names only.

A system is a design with what makes it usable: sample data, and a loader of real input. Its parts are imported when it
is asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any, Literal, Protocol

from keyplan import Design
from keyplan.errors import Fault

__all__ = [
    "FAULTS_KEPT",
    "SYSTEM_NAMES",
    "LoadReport",
    "Progress",
    "Site",
    "SiteMaker",
    "SiteOptions",
    "System",
    "system",
]

SYSTEM_NAMES = ("blog", "cms", "social", "shop", "papers")

Progress = Callable[[int, int | None], None]
"""Called with how many are done, and how many there are in all (None: not known yet)."""


FAULTS_KEPT = 1000
"""Faults that a report keeps: a huge file may hold nothing else, and memory is bounded."""


@dataclass
class LoadReport:
    """What a loader did: how many entries went in, and a fault for each that didn't, with its file and line.

    ``more_faults`` counts the faults that came after ``FAULTS_KEPT`` of them.
    """

    loaded: int = 0
    faults: list[Fault] = field(default_factory=list[Fault])
    more_faults: int = 0

    def fault(self, fault: Fault) -> None:
        """Note a fault: in full, or, when there are very many, by its number."""
        if len(self.faults) < FAULTS_KEPT:
            self.faults.append(fault)
        else:
            self.more_faults += 1


class Sampler(Protocol):
    """Writes sample data."""

    def __call__(self, design: Any, count: int, progress: Progress) -> int:
        """Write about ``count`` main items, the same ones each time; gives how many were written."""
        ...


class Loader(Protocol):
    """Loads real input."""

    def __call__(self, design: Any, path: Path, progress: Progress, /) -> LoadReport:
        """Load a file or a folder. What can't be loaded is a fault of the report; the rest goes in."""
        ...


@dataclass(frozen=True)
class SiteOptions:
    """How a system's site is served.

    ``secret`` signs its cookies; ``hosts`` are the names that requests may use; ``origin`` is its public address
    (``https://blog.example.com``) where another server stands before it, else None.
    """

    secret: bytes
    hosts: tuple[str, ...]
    origin: str | None = None


class Site(Protocol):
    """A system's pages for people, beside its API."""

    @property
    def application(self) -> Any:
        """The Starlette application of the pages. It leaves the design open when it ends."""
        ...

    @property
    def policy(self) -> Any:
        """Who may call what of the API: a ``keyplan.web.policy.Policy``."""
        ...

    @property
    def told(self) -> Sequence[str]:
        """Lines for whoever started the server: how to sign in to the sample, say."""
        ...


class SiteMaker(Protocol):
    """Makes a system's site. It may import what the extra ``web`` brings."""

    def __call__(self, design: Any, options: SiteOptions, /) -> Site:
        """The site on an open design."""
        ...


@dataclass(frozen=True)
class System:
    """One system: its design, its sample, its loader, and its site where it has one.

    ``input`` says in words what the loader takes (``a folder of Markdown posts``), ``takes`` whether that is a file, a
    folder, or either: the loader is called with nothing else.
    """

    name: str
    title: str
    design: type[Design]
    sample: Sampler
    sample_count: int
    load: Loader
    input: str
    takes: tuple[Literal["file", "folder"], ...]
    site: SiteMaker | None = None


def system(name: str) -> System:
    """The system of that name. Raises KeyError for an unknown one."""
    if name not in SYSTEM_NAMES:
        raise KeyError(name)
    found: System = import_module(f"keyplan.systems.{name}.system").SYSTEM
    return found
