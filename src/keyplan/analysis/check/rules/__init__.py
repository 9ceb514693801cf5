"""The rules of the check, one module each, in the order of their codes.

A module's docstring contains the rule's title and manual. ``RULE`` has the stable code, the severity, and a function
that yields remarks about a subject. Codes start with the group: validity (KP1), keys (KP2), patterns (KP3), indexes
(KP4), cost and throughput (KP5), operations (KP6), and the check itself (KP9), which uses findings of other rules.
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
