"""Helpers that build designs from source text, and list the keys in their plans."""

from __future__ import annotations

import linecache
import sys
from itertools import count
from types import ModuleType
from typing import Any

from keyplan.analysis.traffic.traffic_file import Traffic, traffic_from
from keyplan.errors import DesignError
from keyplan.model.deferral import deferred
from keyplan.planner import Plan, plan, provisional_design

_HEAD = """
from datetime import *
from decimal import *
from enum import *
from typing import *
from keyplan import *
"""
_numbers = count()


def design(text: str, name: str = "Zoo") -> Any:
    """The uncompiled design with this name that a source text defines."""
    module = ModuleType(f"tests.planner.made_{next(_numbers)}")
    sys.modules[module.__name__] = module  # annotations are resolved there
    source, file = _HEAD + text, f"<{module.__name__}>"
    linecache.cache[file] = len(source), None, source.splitlines(keepends=True), file  # the source of writes is parsed
    with deferred():
        exec(compile(source, file, "exec", dont_inherit=True), vars(module))
    made = vars(module)[name]
    made.uncompiled = vars(module)
    return made


def keys_of(made: Plan, *, new: bool = False) -> dict[str, str]:
    """The templates and index of each key in a plan, by place."""
    return {key.place: key.text for key in made.keys if key.new or not new}


def refusal(made: Any, **options: Any) -> str:
    try:
        plan(made, **options)
    except DesignError as error:
        return str(error)
    raise AssertionError("it was planned")


def traffic_of(made: Any, patterns: dict[str, Any], **entities: Any) -> Traffic:
    given = {"patterns": patterns, "entities": entities}
    return traffic_from(given, provisional_design(made), source="traffic.toml")
