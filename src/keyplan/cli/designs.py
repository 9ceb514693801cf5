"""Find the design that a NAME refers to: an installed system, ``module:Class``, or ``path/to/file.py:Class``."""

from __future__ import annotations

import difflib
import hashlib
import importlib
import importlib.util
import os
import re
import sys
import traceback
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

from keyplan.errors import KeyplanError, UnknownDesign, is_interrupt
from keyplan.session.design import Design
from keyplan.systems import System, hint_for, system, system_names

_HINT = "NAME is an installed system, module:Class, or path/to/file.py:Class"


@dataclass(frozen=True)
class Found:
    """A design, the name of its default database file without ``.db``, and its system (None if it has no system)."""

    name: str
    design: type[Design]
    system: System | None = None

    def open(self, db: str | None, *, create: bool | None = None, secret: bytes | None = None) -> Design:
        """Open the design. Only the current user can read a new database file. Raises StoreError."""
        before = os.umask(0o077)
        try:
            return self.design.open(self.db(db), create=create, secret=secret)
        finally:
            os.umask(before)

    def db(self, db: str | None) -> str:
        return db or f"{self.name}.db"

    def system_with(self, what: str, called: str | None = None) -> System:
        """The design's system. Raises UnknownDesign if the design has no system; ``what`` names the missing feature."""
        if self.system is None:
            hint = f"choose one of the installed systems: {', '.join(system_names()) or 'none'}"
            raise UnknownDesign(f"{called or self.design.__name__} has no {what}", hint=hint)
        return self.system


def find(name: str) -> Found:
    if ":" not in name and not name.endswith(".py") and name in system_names():
        known = system(name)
        return Found(name, known.design, known)
    module, where, class_name = _imported(name)
    design = _design_in(module, where, class_name)
    return Found(_file_name(design.__name__), design)


def find_all(name: str) -> list[Found]:
    """The design that ``name`` refers to, or all designs of a file. Raises UnknownDesign or DesignError."""
    if not name.endswith(".py"):
        return [find(name)]
    module, where, _ = _imported(name)
    local = [each for each in _designs_of(module).values() if each.__module__ == module.__name__]
    return [Found(_file_name(each.__name__), each) for each in local or [_design_in(module, where, "")]]


def find_apart(name: str) -> Found:
    """The design that ``name`` refers to. After the import, ``sys.modules`` doesn't contain modules of its folder."""
    with apart(name):
        return find(name)


@contextmanager
def apart(name: str) -> Generator[dict[str, ModuleType]]:
    """At the end of the context, move new modules of the design's folder from ``sys.modules`` to the yielded dict."""
    known, path = set(sys.modules), list(sys.path)
    forgotten: dict[str, ModuleType] = {}
    try:
        yield forgotten
    finally:
        where = name.rpartition(":")[0] or name
        if where.endswith(".py"):
            sys.path[:] = path
            folder = Path(where).expanduser().resolve().parent
            own = [text for text in sys.modules.keys() - known if _is_in(folder, sys.modules[text])]
            forgotten.update((text, sys.modules.pop(text)) for text in own)


def _is_in(folder: Path, module: ModuleType) -> bool:
    """Whether a module is in the folder, and neither installed below it (``.venv``) nor part of Keyplan."""
    file = getattr(module, "__file__", None)
    if file is None or module.__name__.partition(".")[0] == "keyplan":
        return False
    path = Path(file).resolve()
    return path.is_relative_to(folder) and not {"site-packages", "dist-packages"} & set(path.parts)


def _imported(name: str) -> tuple[ModuleType, str, str]:
    where, _, class_name = name.rpartition(":") if ":" in name else (name, "", "")
    if where.endswith(".py"):
        return _file(where), where, class_name
    if where and class_name:
        return _module(where), where, class_name
    raise UnknownDesign(f"unknown system {name!r}", hint=f"{hint_for(name)}; {_HINT}")


def _file_name(class_name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", class_name).lower()


def _file(where: str) -> ModuleType:
    path = Path(where).expanduser().resolve()
    if not os.path.isfile(path):  # noqa: PTH113 - Path raises an error for names that are too long
        raise UnknownDesign(f"file not found: {where}", hint="write path/to/file.py:Class")
    name = f"keyplan_design_{path.stem}_{hashlib.sha256(str(path).encode()).hexdigest()[:8]}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise UnknownDesign(f"{where} isn't a Python file", hint="write path/to/file.py:Class")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # needed to resolve the module's annotations
    _reachable(path.parent)
    try:
        spec.loader.exec_module(module)
    except KeyplanError:
        raise
    except (Exception, SystemExit) as error:  # noqa: BLE001 - the file's code may raise any exception
        raise _not_imported(where, error) from None
    return module


def _module(where: str) -> ModuleType:
    _reachable(Path.cwd())
    try:
        return importlib.import_module(where)
    except KeyplanError:
        raise
    except ModuleNotFoundError as error:
        if error.name is None or not (where == error.name or where.startswith(f"{error.name}.")):
            raise _not_imported(where, error) from None
        raise UnknownDesign(f"module not found: {where}", hint="install the module, or change to its folder") from None
    except (Exception, SystemExit) as error:  # noqa: BLE001 - the module's code may raise any exception
        raise _not_imported(where, error) from None


def _reachable(folder: Path) -> None:
    """Let a design import modules from its folder, which is appended to avoid shadowing installed modules."""
    if str(folder) not in sys.path:
        sys.path.append(str(folder))


def _not_imported(where: str, error: BaseException) -> UnknownDesign:
    """The error for a module that can't be imported, with the failing line. Raises KeyboardInterrupt for Ctrl-C."""
    if is_interrupt(error):
        raise KeyboardInterrupt from error
    line = f"{error.filename}:{error.lineno}" if isinstance(error, SyntaxError) else None
    frames = [summary for summary in traceback.extract_tb(error.__traceback__) if "importlib" not in summary.filename]
    if line is None and frames:
        line = f"{frames[-1].filename}:{frames[-1].lineno}"
    text = f"{where} can't be imported: {type(error).__name__}: {error}"
    return UnknownDesign(text, place=line, hint="fix the module, or choose another module")


def _designs_of(module: ModuleType) -> dict[str, type[Design]]:
    return {
        name: value
        for name, value in vars(module).items()
        if isinstance(value, type) and issubclass(value, Design) and value is not Design
    }


def _design_in(module: ModuleType, where: str, class_name: str) -> type[Design]:
    own = _designs_of(module)
    if class_name in own:
        return own[class_name]
    if class_name:
        near = difflib.get_close_matches(class_name, own)
        known = f"did you mean {near[0]}?" if near else f"designs in {where}: {', '.join(own) or 'none'}"
        what = "isn't a design" if hasattr(module, class_name) else "doesn't exist"
        raise UnknownDesign(f"{class_name} in {where} {what}", hint=known)
    local = [value for value in own.values() if value.__module__ == module.__name__]
    if len(local) == 1:
        return local[0]
    if not local:
        raise UnknownDesign(f"{where} contains no design", hint="define a class that inherits from keyplan.Design")
    names = ", ".join(each.__name__ for each in local)
    raise UnknownDesign(f"{where} contains several designs: {names}", hint=f"choose one: {where}:{local[0].__name__}")
