"""Defines the interface of systems, and finds installed systems.

A system is a design with sample data, a loader for real input and, optionally, web pages. Packages provide systems
through entry points in the group ``keyplan.systems``: an entry point has the system's name and refers to a ``System``::

    [project.entry-points."keyplan.systems"]
    library = "my_package.system:SYSTEM"

With this entry point, ``keyplan serve library`` and other commands accept the name ``library``. The package
``keyplan-systems``, in this repository's folder ``systems/``, provides five systems.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol

from keyplan.errors import ErrorDetail, KeyplanError, RequestError, UnknownDesign
from keyplan.web.policy import is_foreign, named_host
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
"""The entry point group of systems."""

_OURS = "keyplan-systems"
_OUR_SYSTEMS = "blog, cms, papers, shop and social"

Progress = Callable[[int, int | None], None]
"""Called with the number of finished entries and the total (None: unknown)."""


FAULTS_KEPT = 1000
"""The maximum number of errors in a report, to bound memory."""


@dataclass
class LoadReport:
    """The result of a load: the number of loaded entries, and an error, with its file and line, for each failed entry.
    ``counts`` has further counts by name, such as ``posts dated by git``. ``more_faults`` counts the errors beyond
    ``FAULTS_KEPT``.
    """

    loaded: int = 0
    errors: list[ErrorDetail] = field(default_factory=list[ErrorDetail])
    more_faults: int = 0
    counts: Counter[str] = field(default_factory=Counter[str])

    def fault(self, fault: ErrorDetail) -> None:
        """Record an error; after ``FAULTS_KEPT`` errors, only count it."""
        if len(self.errors) < FAULTS_KEPT:
            self.errors.append(fault)
        else:
            self.more_faults += 1


class Sampler(Protocol):
    """Writes sample data."""

    def __call__(self, design: Any, count: int, progress: Progress) -> int:
        """Write about ``count`` main items, the same ones in each run; returns the number written."""
        ...


class Loader(Protocol):
    """Loads real input."""

    def __call__(self, design: Any, path: Path, progress: Progress, /) -> LoadReport:
        """Load a file or a folder. Entries that can't be loaded are errors in the report; the others are loaded."""
        ...


@dataclass(frozen=True)
class SiteOptions:
    """Options for serving a system's site.

    ``secret`` signs cookies; ``hosts`` are the accepted host names; ``origin`` is the public address
    (``https://blog.example.com``) behind a reverse proxy, else None. ``settings`` is a file with the site's settings,
    such as its name and colors.
    """

    secret: bytes
    hosts: tuple[str, ...]
    origin: str | None = None
    settings: Path | None = None


class Site(Protocol):
    """A system's web pages, in addition to its API."""

    @property
    def application(self) -> Any:
        """The Starlette application of the pages. It doesn't close the design on shutdown."""
        ...

    @property
    def policy(self) -> Any:
        """The authorization policy of the API, which is a ``keyplan.web.policy.Policy``."""
        ...

    @property
    def told(self) -> Sequence[str]:
        """Lines to print when the server starts, for example, how to sign in to a site with sample data."""
        ...


class SiteMaker(Protocol):
    """Builds a system's site. It can import packages of the extra ``web``."""

    def __call__(self, design: Any, options: SiteOptions, /) -> Site:
        """The site for an open design."""
        ...


@dataclass(frozen=True)
class System:
    """A system: its design, sampler, loader and, optionally, site.

    ``input`` describes the loader's input (``a folder of Markdown posts``), ``takes`` specifies whether it is a file, a
    folder, or either. With ``maps_columns``, the loader also accepts the argument ``columns``, which maps each expected
    column name to the name in the file.
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
    """The names of the installed systems, sorted, without importing the systems."""
    return tuple(sorted(_installed()))


def system(name: str) -> System:
    """The installed system with this name.

    Raises UnknownDesign if it isn't installed, and RequestError if several packages provide it, or if it can't be
    imported or isn't a ``System``.
    """
    brought = _installed().get(name, [])
    if not brought:
        raise UnknownDesign(f"unknown system {name!r}", hint=hint_for(name))
    if len(brought) > 1:
        packages = ", ".join(sorted(_package(each) for each in brought))
        raise RequestError(f"several packages provide a system {name!r}: {packages}", hint="uninstall all but one")
    return _loaded(brought[0])


def hint_for(name: str) -> str:
    """The hint for a system that isn't installed: a similar name, or the package to install."""
    import difflib  # noqa: PLC0415 - needed only for unknown names

    installed = _installed()
    near = difflib.get_close_matches(name, installed, n=1)
    if near:
        return f"did you mean {near[0]}?"
    ours = any(_package(each) == _OURS for brought in installed.values() for each in brought)
    names = f"the installed systems are {', '.join(sorted(installed))}" if installed else "no system is installed"
    return names if ours else f"{names}; pip install {_OURS} adds {_OUR_SYSTEMS}"


def _installed() -> dict[str, list[EntryPoint]]:
    """Entry points by name. Duplicates with the same object, from two copies of a package, count once."""
    from importlib.metadata import entry_points  # noqa: PLC0415 - needed only for systems

    installed: dict[str, dict[str, EntryPoint]] = {}
    for each in entry_points(group=GROUP):
        installed.setdefault(each.name, {}).setdefault(each.value, each)
    return {name: list(by_value.values()) for name, by_value in installed.items()}


def _package(entry: EntryPoint) -> str:
    return entry.dist.name if entry.dist is not None else entry.value


def _loaded(entry: EntryPoint) -> System:
    """The object of an entry point. Raises RequestError if it is invalid."""
    where = f"the system {entry.name} of the package {_package(entry)}"
    try:
        brought: object = entry.load()
    except KeyplanError:
        raise
    except ModuleNotFoundError as error:
        hint = f"install it, or reinstall the system: pip install --force-reinstall {_package(entry)}"
        raise RequestError(f"{where} requires {error.name}, which isn't installed", hint=hint) from error
    except (Exception, SystemExit) as error:
        text = f"{where} can't be imported: {type(error).__name__}: {error}"
        raise RequestError(text, place=entry.value, hint=f"fix or uninstall {_package(entry)}") from error
    if not isinstance(brought, System):
        text = f"{where} isn't a keyplan.systems.System: {type(brought).__name__}"
        raise RequestError(text, place=entry.value, hint=f"fix or uninstall {_package(entry)}")
    if brought.name != entry.name:
        text = f"{where} is named {brought.name}"
        raise RequestError(text, place=entry.value, hint="give the entry point and the system the same name")
    return brought
