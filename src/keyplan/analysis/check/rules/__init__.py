"""The rules, one file each, in the order of their codes.

The docstring of a rule's file is its manual, and the first line its title. ``RULE`` has its code, its severity, and a
function from a subject to remarks. Codes don't change. Groups: KP1 validity, KP2 keys, KP3 patterns, KP4 indexes, KP5
cost and throughput, KP6 operations, KP9 the check itself, which uses the findings of the other rules.
"""

from __future__ import annotations

from importlib import import_module
from operator import attrgetter
from pkgutil import iter_modules

from keyplan.analysis.check.rule import Rule

__all__ = ["RULES"]

_MODULES = (import_module(f"{__name__}.{module.name}") for module in iter_modules(__path__))
RULES: tuple[Rule, ...] = tuple(sorted((module.RULE for module in _MODULES), key=attrgetter("code")))
"""All rules: each module of this package has one."""
