"""Systems: what one is made of, and how the installed ones are found.

A system is a design with what makes it usable: sample data, a loader of real input, and pages for people where it has
them. Systems are no part of the library: a package brings one by an entry point of the group ``keyplan.systems``, whose
name is the system's and whose object is a ``System``::

    [project.entry-points."keyplan.systems"]
    library = "my_package.system:SYSTEM"

``keyplan serve library`` and the other commands then know it by that name. The package ``keyplan-systems``, in this
repository's folder ``systems/``, brings five.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol

from keyplan.errors import ErrorDetail, KeyplanError, RequestError, UnknownDesign
from keyplan.web.origins import is_foreign, named_host
from keyplan.web.request_queue import in_turn

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

    from keyplan.session.design import Design

__all__ = [
    "FAULTS_KEPT",
    "GROUP",
    "LoadReport",
    "Loader",
    "Progress",
    "Sampler",
    "Site",
    "SiteMaker",
    "SiteOptions",
    "System",
    "hint_for",
    "in_turn",
    "is_foreign",
    "named_host",
    "system",
    "system_names",
]

GROUP = "keyplan.systems"
"""The group of entry points in which packages name their systems."""

_OURS = "keyplan-systems"
_OUR_SYSTEMS = "blog, cms, papers, shop and social"

Progress = Callable[[int, int | None], None]
"""Called with how many are done, and how many there are in all (None: not known yet)."""


FAULTS_KEPT = 1000
"""Faults that a report keeps: a huge file may hold nothing else, and memory is bounded."""


@dataclass
class LoadReport:
    """What a loader did: how many entries went in, and a fault for each that didn't, with its file and line.

    ``counts`` says what else was done, in words: ``pictures kept``, ``posts dated by git``. ``more_faults`` counts the
    errors that came after ``FAULTS_KEPT`` of them.
    """

    loaded: int = 0
    errors: list[ErrorDetail] = field(default_factory=list[ErrorDetail])
    more_faults: int = 0
    counts: Counter[str] = field(default_factory=Counter[str])

    def fault(self, fault: ErrorDetail) -> None:
        """Note a fault: in full, or, when there are very many, by its number."""
        if len(self.errors) < FAULTS_KEPT:
            self.errors.append(fault)
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
    (``https://blog.example.com``) where another server stands before it, else None. ``settings`` is a file of the
    site's own: its name, its colours.
    """

    secret: bytes
    hosts: tuple[str, ...]
    origin: str | None = None
    settings: Path | None = None


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
    folder, or either: the loader is called with nothing else. ``maps_columns`` says that the loader also takes the
    keyword ``columns``: the names of a table's columns by the names that it expects.
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
    maps_columns: bool = False


def system_names() -> tuple[str, ...]:
    """The names of the installed systems, in order. Nothing of theirs is imported."""
    return tuple(sorted(_installed()))


def system(name: str) -> System:
    """The installed system of that name.

    Raises UnknownDesign when no installed package brings it, and RequestError when several do, or when what the package
    brings can't be imported or is no system.
    """
    brought = _installed().get(name, [])
    if not brought:
        raise UnknownDesign(f"there is no system {name!r}", hint=hint_for(name))
    if len(brought) > 1:
        packages = ", ".join(sorted(_package(each) for each in brought))
        raise RequestError(f"several packages bring a system {name!r}: {packages}", hint="uninstall all but one")
    return _loaded(brought[0])


def hint_for(name: str) -> str:
    """What to do about a system that isn't installed: the nearest one's name, or what to install."""
    import difflib  # noqa: PLC0415 - needed when a name is wrong only

    installed = _installed()
    near = difflib.get_close_matches(name, installed, n=1)
    if near:
        return f"did you mean {near[0]}?"
    ours = any(_package(each) == _OURS for brought in installed.values() for each in brought)
    names = f"installed are {', '.join(sorted(installed))}" if installed else "none is installed"
    return names if ours else f"{names}; pip install {_OURS} brings {_OUR_SYSTEMS}"


def _installed() -> dict[str, list[EntryPoint]]:
    """The entry points by name. The same object under the same name, as two copies of a package bring it, is one."""
    from importlib.metadata import entry_points  # noqa: PLC0415 - a design of one's own needs none of it

    installed: dict[str, dict[str, EntryPoint]] = {}
    for each in entry_points(group=GROUP):
        installed.setdefault(each.name, {}).setdefault(each.value, each)
    return {name: list(by_value.values()) for name, by_value in installed.items()}


def _package(entry: EntryPoint) -> str:
    return entry.dist.name if entry.dist is not None else entry.value


def _loaded(entry: EntryPoint) -> System:
    """The object that an entry point names. Raises RequestError for whatever is wrong with it."""
    where = f"the system {entry.name} of the package {_package(entry)}"
    try:
        brought: object = entry.load()
    except KeyplanError:
        raise
    except ModuleNotFoundError as error:
        hint = f"install it, or pip install --force-reinstall {_package(entry)}"
        raise RequestError(f"{where} needs {error.name}, which isn't installed", hint=hint) from error
    except (Exception, SystemExit) as error:
        text = f"{where} can't be imported: {type(error).__name__}: {error}"
        raise RequestError(text, place=entry.value, hint=f"fix or uninstall {_package(entry)}") from error
    if not isinstance(brought, System):
        text = f"{where} is no keyplan.systems.System: {type(brought).__name__}"
        raise RequestError(text, place=entry.value, hint=f"fix or uninstall {_package(entry)}")
    if brought.name != entry.name:
        text = f"{where} calls itself {brought.name}"
        raise RequestError(text, place=entry.value, hint="the entry point and the system need the same name")
    return brought
