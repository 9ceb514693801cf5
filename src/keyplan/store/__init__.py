"""The embedded store, which reproduces DynamoDB's operations exactly on SQLite.

``Engine.open`` opens a file or an in-memory store; ``Engine.call`` runs one operation with parameters in the API's JSON
form.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from keyplan.store.engine import Engine
from keyplan.store.streams import SHARD_S
from keyplan.store.work_budget import REMOVED_TOGETHER, LongError

if TYPE_CHECKING:
    from keyplan.store.integrity_check import Finding, check_file
    from keyplan.store.multi_region import Regions

__all__ = ["REMOVED_TOGETHER", "SHARD_S", "Engine", "Finding", "LongError", "Regions", "check_file"]

_MODULES = {"Finding": "integrity_check", "check_file": "integrity_check", "Regions": "multi_region"}
"""Names whose modules are loaded when they are first used."""

if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        if name not in _MODULES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        value = globals()[name] = getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
        return value
