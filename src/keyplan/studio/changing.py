"""Compares a changed module with the open design. ``change_json`` doesn't execute the source code;
``change_made`` executes it in the child process, to find the differences, the prices, and the map with marked changes.
"""

from __future__ import annotations

import difflib
import hashlib
import inspect
import linecache
import sys
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from types import ModuleType
from typing import Any

from keyplan.analysis.cost.bills import Payer
from keyplan.analysis.cost.estimate import estimate
from keyplan.analysis.cost.pricelist import price_list
from keyplan.analysis.diff.changes import Severity
from keyplan.analysis.diff.diff_report import Difference, difference
from keyplan.errors import DesignError, ErrorDetail, KeyplanError, RequestError, is_interrupt
from keyplan.model.deferral import is_deferred
from keyplan.session.design import Design
from keyplan.studio.collections import template_picture
from keyplan.studio.design_file import line_in
from keyplan.studio.drawing import picture_json
from keyplan.studio.module_edits import module_outline
from keyplan.studio.reviewing import REGION

MODULE = "keyplan_studio_module"
MESSAGE_MAX = 5_000
"""Maximum number of reported characters of an exception's message."""
_MARKS = {Severity.BREAKING: "delete", Severity.MIGRATION: "update", Severity.API: "check", Severity.SAFE: "put"}


@dataclass(frozen=True)
class Source:
    """The file of a design, with the names of its class and package."""

    path: Path
    class_name: str
    package: str | None

    def text(self) -> str:
        return self.path.read_text(encoding="utf-8", errors="replace")


def source_of(design: type[Design]) -> Source | None:
    module = sys.modules.get(design.__module__)
    try:
        path = inspect.getsourcefile(design)
    except TypeError:
        path = None
    path = path or getattr(module, "__file__", None)
    if path is None or not Path(path).is_file():
        return None
    return Source(Path(path), design.__name__, getattr(module, "__package__", None) or None)


def change_json(design: type[Design], answer: dict[str, Any], opened: Source) -> dict[str, Any]:
    """A runner's response, with the difference from the file, and the names for code completion."""
    if answer.get("unchanged") or "text" not in answer:
        return answer
    try:
        stored = opened.text()
    except OSError:  # without a file, the patch is empty
        stored = answer["text"]
    text = answer["text"]
    more = {"patch": _patch(opened, stored, text), "words": _words(design), "file_version": version_of(stored)}
    return {**answer, **more, "outline": module_outline(text, design.compiled)}


def version_of(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:16]


def write_module(source: Source, text: str, version: str) -> None:
    """Write the design's file, if it still has the given version. Raises RequestError."""
    try:
        if version_of(source.text()) != version:
            raise RequestError("another program changed the file", hint="copy your changes, and reload the file")
        source.path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise RequestError(f"{source.path} can't be written: {error.strerror}") from None


def change_made(source: Source, opened: str, text: str) -> dict[str, Any]:
    """The differences of a module's source from ``opened``, with prices and a map. Executes both sources."""
    made = loaded(source, text)
    if not isinstance(made, type):
        return {"error": made}
    before = made if text == opened else loaded(source, opened)
    if not isinstance(before, type):
        message = f"the original module can no longer be compiled: {before['message']}"
        return {"error": {**before, "message": message, "hint": "restart the studio", "line": None}}
    compared = difference(before.compiled, made.compiled)
    return {
        "same": not compared.changes,
        "summary": compared.summary,
        "changes": [change.as_json() for change in compared.changes],
        "prices": [_prices(before), _prices(made)],
        "map": _map(made, compared),
    }


def _words(design: type[Design]) -> list[str]:
    import keyplan  # noqa: PLC0415 - needed only for the names that it exports

    own = {name for entity in design.compiled.entities.values() for name in (entity.name, *entity.fields)}
    return sorted({*own, *design.compiled.patterns, *keyplan.__all__})


def _patch(source: Source, stored: str, given: str) -> str:
    """The difference between the scratch copy and the file, for ``patch`` or ``git apply``."""
    name = source.path.name
    lines = difflib.unified_diff(
        stored.splitlines(keepends=True), given.splitlines(keepends=True), f"a/{name}", f"b/{name}"
    )
    return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)


# Loading


def loaded(source: Source, text: str) -> type[Design] | dict[str, Any]:
    """Execute a module. Call it only in the child process. Returns the design, or an error as JSON data."""
    name = f"{MODULE}_{version_of(text)}"
    module = ModuleType(name)
    module.__file__ = str(source.path)
    module.__package__ = source.package or ""
    sys.modules[name] = module  # pydantic looks up annotations in sys.modules
    folder = str(source.path.parent)
    if folder not in sys.path:
        sys.path.append(folder)  # at the end, so that no file in the folder shadows an installed module
    try:
        code = compile(text, str(source.path), "exec")
        linecache.checkcache(str(source.path))
        exec(code, module.__dict__)  # noqa: S102 - the user's own file, or code that the user chose to run
    except DesignError as error:
        return {**_problem(error.message, line_in(source.path, error), tuple(error.errors)), "hint": error.hint}
    except KeyplanError as error:
        return _problem(str(error), line_in(source.path, error))
    except SyntaxError as error:
        return _problem(f"{type(error).__name__}: {error.msg}", error.lineno)
    except MemoryError:
        return _problem("the module exceeded its memory limit and was stopped")
    except (Exception, SystemExit) as error:
        if is_interrupt(error):
            raise KeyboardInterrupt from error
        return _problem(f"{type(error).__name__}: {error}"[:MESSAGE_MAX], line_in(source.path, error))
    result = module.__dict__.get(source.class_name)
    if isinstance(result, type) and issubclass(result, Design) and (is_deferred() or hasattr(result, "compiled")):
        return result
    return _problem(f"the module has no design {source.class_name}")


def _problem(message: str, line: int | None = None, faults: tuple[ErrorDetail, ...] = ()) -> dict[str, Any]:
    return {"message": message, "line": line, "errors": [{**asdict(fault), "line": None} for fault in faults]}


# Effects


def _prices(design: type[Design]) -> dict[str, Any]:
    result = estimate(design)
    payer = Payer(result, price_list(REGION))
    calls = {pattern.name: payer.call_usd(pattern) for pattern in result.patterns}
    return {
        "questions": {name: None if usd is None else usd * 1_000_000 for name, usd in calls.items()},
        "region": REGION,
        "failures": list(result.failures),
    }


def _map(design: type[Design], compared: Difference) -> dict[str, Any]:
    worst: dict[str, Severity] = {}
    for change in sorted(compared.changes, key=lambda change: change.severity.rank):
        _, _, rest = change.place.partition(".")
        worst.setdefault(rest.partition(".")[0], change.severity)
    drawn = template_picture(design.compiled.name, design.compiled)
    for collection in (collection for place in drawn.places for collection in place.collections):
        for at, entry in enumerate(collection.entries):
            if entry.kind in worst:
                collection.entries[at] = replace(entry, mark=_MARKS[worst[entry.kind]])
    return picture_json(drawn)
