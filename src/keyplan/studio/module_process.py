"""The process that runs a design's module for the studio: a request on standard input, answers on standard output.

The request is one line of JSON. When standard input is closed, the process ends: with the best plan so far, if it has
one. Each line of the output is an object with ``progress``, or the result: ``made``, ``error``, or a change's members.

The limits bound mistakes such as an endless loop. They are no sandbox: the module has the user's rights.
"""

from __future__ import annotations

import _thread
import json
import os
import sys
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, TextIO

from pydantic_core import SchemaError

from keyplan.analysis.traffic.traffic_file import Traffic, traffic_from
from keyplan.errors import DesignError, ErrorDetail, KeyplanError, is_interrupt
from keyplan.formatting.results import error_json, json_text
from keyplan.model.deferral import deferred
from keyplan.planner import Plan, plan, provisional_design, spare_indexes
from keyplan.session.design import Design
from keyplan.studio.alternatives import side_by_side
from keyplan.studio.changing import Source, change_made, loaded

__all__ = ["answered", "main", "read"]

Tell = Callable[[Mapping[str, Any]], None]

CPU_SECONDS = {"change": 30, "plan": 240}
"""CPU time that a task may use."""
MEMORY_BYTES = 4 << 30
"""Address space that the process may use."""


def main() -> None:
    """Answer the request on standard input."""
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # the output of the module is no answer

    def tell(answer: Mapping[str, Any]) -> None:
        out.write(f"{json_text(answer)}\n".encode())
        out.flush()

    request = json.loads(sys.stdin.readline())
    limit(CPU_SECONDS[request["task"]], MEMORY_BYTES)
    planning = threading.Event()
    threading.Thread(target=_stop_at_end, args=(sys.stdin, planning, tell), daemon=True).start()
    try:
        if request["task"] == "change":
            tell(change_made(_source(request), request["opened"], request["text"]))
            return
        design = read(request)
        if not isinstance(design, type):
            tell({"error": design})
            return
        planning.set()
        tell(answered(design, request, tell))
    except (KeyboardInterrupt, SchemaError) as error:
        if not is_interrupt(error):
            raise
        tell(_STOPPED)
    except BrokenPipeError:  # the studio has ended
        os._exit(0)


def limit(cpu_seconds: int, memory_bytes: int) -> None:
    """Limit this process, where the system can (not on Windows); a macOS kernel ignores the memory limit."""
    try:
        import resource  # noqa: PLC0415 - not on Windows
    except ModuleNotFoundError:
        return
    for name, soft, hard in (
        (resource.RLIMIT_CORE, 0, 0),
        (resource.RLIMIT_CPU, cpu_seconds, cpu_seconds + 1),
        (resource.RLIMIT_AS, memory_bytes, memory_bytes),
    ):
        with suppress(OSError, ValueError):  # a lower limit holds already
            resource.setrlimit(name, (soft, hard))


_STOPPED: Mapping[str, Any] = {
    "error": {"message": "stopped before there was a result", "hint": None, "line": None, "errors": []}
}


def _stop_at_end(given: TextIO, planning: threading.Event, tell: Tell) -> None:
    given.read()
    if planning.is_set():  # the planner turns an interrupt into the best plans so far
        _thread.interrupt_main()
    else:  # the module's own code may catch an interrupt
        with suppress(OSError):
            tell(_STOPPED)
        os._exit(0)


def _source(request: Mapping[str, Any]) -> Source:
    return Source(Path(request["path"]), request["class_name"], request["package"])


def read(request: Mapping[str, Any]) -> type[Design] | dict[str, Any]:
    """The design of a request, not compiled; or the error of its module."""
    with deferred():
        return loaded(_source(request), request["text"])


def answered(design: type[Design], request: Mapping[str, Any], tell: Tell) -> Mapping[str, Any]:
    """The plans for a request, or the error."""

    def report(what: str, done: int, whole: int | None) -> None:
        tell({"progress": {"what": what, "done": done, "whole": whole}})

    try:
        return {"made": _made(design, request, report)}
    except DesignError as error:
        faults = [_fault(fault, request["text"]) for fault in error.errors]
        return {"error": {**error_json(error)["error"], "message": error.message, "hint": error.hint, "errors": faults}}
    except KeyplanError as error:
        return error_json(error)


def _made(
    design: type[Design], request: Mapping[str, Any], report: Callable[[str, int, int | None], None]
) -> dict[str, Any]:
    report("choosing keys", 0, None)
    traffic = _traffic(request["traffic"], design)
    wanted = {name: request[name] for name in ("ignore_existing", "attributes")}
    plans = plan(design, traffic, **wanted, progress=report)
    refused: list[tuple[Plan, str]] = []
    if not plans[0].stopped:
        plans, refused = _verified(plans, report)
    spare = [] if request["ignore_existing"] or any(key.new for key in plans[0].keys) else spare_indexes(design)
    return side_by_side(plans, request["text"], spare=spare, refused=refused)


def _verified(
    plans: list[Plan], report: Callable[[str, int, int | None], None]
) -> tuple[list[Plan], list[tuple[Plan, str]]]:
    """The plans that give right answers on generated stores, and those that don't. Raises DesignError without any."""
    try:
        from keyplan.testing.plan_verification import verified  # noqa: PLC0415 - of an extra that may be missing
    except ImportError:
        return plans, []
    outcome = verified(plans, progress=lambda done, whole: report("verifying", done, whole))
    if not outcome.plans:
        faults = [ErrorDetail(f"plan {number}", text) for number, (_, text) in enumerate(outcome.refused, 1)]
        raise DesignError("every plan that was found gives a wrong result on generated items", errors=faults)
    return outcome.plans, outcome.refused


def _traffic(given: Mapping[str, Any] | None, design: type[Design]) -> Traffic | None:
    """The studio's traffic, without access patterns and entities that the module no longer has."""
    if given is None:
        return None
    compiled = provisional_design(design)
    known = {"patterns": compiled.patterns.keys(), "entities": compiled.by_name.keys()}
    document = {name: {key: value for key, value in given[name].items() if key in known[name]} for name in known}
    return traffic_from({**document, "table": given["table"]}, compiled, source="the studio's traffic")


def _fault(fault: ErrorDetail, text: str) -> dict[str, Any]:
    """A fault with the line of its access pattern or class."""
    owner, _, name = (fault.place or "").rpartition(".")
    words = (f"def {name}(", f"class {name}(") if owner else (f"class {name}(",)
    lines = (number for number, line in enumerate(text.splitlines(), 1) if line.strip().startswith(words))
    return {"place": fault.place, "message": fault.message, "hint": fault.hint, "line": next(lines, None)}


if __name__ == "__main__":
    main()
