"""The process that plans a design's keys for the studio: a request on standard input, progress and plans on its output.

The request is one line of JSON. Whatever is asked, standard input stays open while an answer is wanted: when it is
closed, the best so far is the answer, as with Ctrl-C. Each line of the output is an object with ``progress``, ``made``
or ``error``.
"""

from __future__ import annotations

import _thread
import json
import os
import sys
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TextIO

from pydantic_core import SchemaError

from keyplan.design.deferral import deferred
from keyplan.design.traffic.files import Traffic, traffic_from
from keyplan.errors import DesignError, Fault, KeyplanError, is_interrupt
from keyplan.opening import Design
from keyplan.plain.answers import error_json, json_text
from keyplan.planner import Plan, plan, spare_indexes
from keyplan.planner.planning import provisional_design
from keyplan.studio.alternatives import side_by_side
from keyplan.studio.changing import Source, loaded

__all__ = ["answered", "main", "read"]

Tell = Callable[[Mapping[str, Any]], None]


def main() -> None:
    """Answer the request that standard input has."""
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what the design's module prints is no answer

    def tell(answer: Mapping[str, Any]) -> None:
        out.write(f"{json_text(answer)}\n".encode())
        out.flush()

    request = json.loads(sys.stdin.readline())
    try:
        design = read(request)
        if not isinstance(design, type):
            tell({"error": design})
            return
        # Only now: what is interrupted while a module is read looks like a fault of the module.
        threading.Thread(target=_stop_at_end, args=(sys.stdin,), daemon=True).start()
        tell(answered(design, request, tell))
    except (KeyboardInterrupt, SchemaError) as error:
        if not is_interrupt(error):
            raise
        tell({"error": {"message": "stopped before there was a plan", "hint": None, "faults": []}})
    except BrokenPipeError:  # nobody waits for it any more
        os._exit(0)


def _stop_at_end(given: TextIO) -> None:
    given.read()
    _thread.interrupt_main()


def read(request: Mapping[str, Any]) -> type[Design] | dict[str, Any]:
    """The design that a request speaks of, not compiled; or what is wrong with its module."""
    source = Source(Path(request["path"]), request["class_name"], request["package"])
    with deferred():
        return loaded(source, request["text"], kept=True)


def answered(design: type[Design], request: Mapping[str, Any], tell: Tell) -> Mapping[str, Any]:
    """The plans for a request, or the error."""

    def report(what: str, done: int, whole: int | None) -> None:
        tell({"progress": {"what": what, "done": done, "whole": whole}})

    try:
        return {"made": _made(design, request, report)}
    except DesignError as error:
        faults = [_fault(fault, request["text"]) for fault in error.faults]
        return {"error": {**error_json(error)["error"], "message": error.message, "hint": error.hint, "faults": faults}}
    except KeyplanError as error:
        return error_json(error)


def _made(
    design: type[Design], request: Mapping[str, Any], report: Callable[[str, int, int | None], None]
) -> dict[str, Any]:
    report("choosing keys", 0, None)
    traffic = _traffic(request["traffic"], design)
    wanted = {name: request[name] for name in ("anew", "attributes")}
    plans = plan(design, traffic, **wanted, progress=report)
    refused: list[tuple[Plan, str]] = []
    if not plans[0].stopped:
        plans, refused = _verified(plans, report)
    spare = [] if request["anew"] or any(key.new for key in plans[0].keys) else spare_indexes(design)
    return side_by_side(plans, request["text"], spare=spare, refused=refused)


def _verified(
    plans: list[Plan], report: Callable[[str, int, int | None], None]
) -> tuple[list[Plan], list[tuple[Plan, str]]]:
    """The plans that give right answers on generated stores, and those that don't. Raises DesignError without any."""
    try:
        from keyplan.testing.planned import verified  # noqa: PLC0415 - of an extra that may be missing
    except ImportError:
        return plans, []
    outcome = verified(plans, progress=lambda done, whole: report("verifying", done, whole))
    if not outcome.plans:
        faults = [Fault(f"plan {number}", text) for number, (_, text) in enumerate(outcome.refused, 1)]
        raise DesignError("every plan that was found gives a wrong answer on generated items", faults=faults)
    return outcome.plans, outcome.refused


def _traffic(given: Mapping[str, Any] | None, design: type[Design]) -> Traffic | None:
    """The traffic that the studio was started with, as far as the module still has what it speaks of."""
    if given is None:
        return None
    compiled = provisional_design(design)
    known = {"patterns": compiled.patterns.keys(), "entities": compiled.by_name.keys()}
    document = {name: {key: value for key, value in given[name].items() if key in known[name]} for name in known}
    return traffic_from({**document, "table": given["table"]}, compiled, source="the studio's traffic")


def _fault(fault: Fault, text: str) -> dict[str, Any]:
    """A fault with the line of the pattern, or the class, that it speaks of."""
    owner, _, name = (fault.place or "").rpartition(".")
    words = (f"def {name}(", f"class {name}(") if owner else (f"class {name}(",)
    lines = (number for number, line in enumerate(text.splitlines(), 1) if line.strip().startswith(words))
    return {"place": fault.place, "message": fault.message, "hint": fault.hint, "line": next(lines, None)}


if __name__ == "__main__":
    main()
