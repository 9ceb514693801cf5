"""Keyplan: single-table data models on Amazon DynamoDB, where an access pattern is a typed function signature."""

from importlib import import_module
from typing import TYPE_CHECKING

from keyplan._version import __version__

if TYPE_CHECKING:
    from pydantic import Field

    from keyplan.client.usage import Usage
    from keyplan.client.watching import CallRecord, PatternRecord
    from keyplan.design.declared.actions import (
        Add,
        Append,
        Batch,
        Check,
        Create,
        Delete,
        Discard,
        Include,
        Once,
        Put,
        Remove,
        Update,
        Writes,
    )
    from keyplan.design.declared.entity import Entity
    from keyplan.design.declared.fields import Id, Slots, Tokens, Ttl, Version, now, ulid
    from keyplan.design.declared.forms import Stored
    from keyplan.design.declared.indexes import Binary, Index, Number
    from keyplan.design.declared.keys import Key, Unique
    from keyplan.design.declared.parameters import Cursor, Each, Page, Prefix, Range, Through
    from keyplan.design.declared.patterns import read, write
    from keyplan.design.declared.styles import KeyStyle, Label
    from keyplan.design.declared.table import Table
    from keyplan.design.declared.unreadable import Unreadable
    from keyplan.design.declared.views import View
    from keyplan.opening import Design
    from keyplan.together import transact

__all__ = [
    "Add",
    "Append",
    "Batch",
    "Binary",
    "CallRecord",
    "Check",
    "Create",
    "Cursor",
    "Delete",
    "Design",
    "Discard",
    "Each",
    "Entity",
    "Field",
    "Id",
    "Include",
    "Index",
    "Key",
    "KeyStyle",
    "Label",
    "Number",
    "Once",
    "Page",
    "PatternRecord",
    "Prefix",
    "Put",
    "Range",
    "Remove",
    "Slots",
    "Stored",
    "Table",
    "Through",
    "Tokens",
    "Ttl",
    "Unique",
    "Unreadable",
    "Update",
    "Usage",
    "Version",
    "View",
    "Writes",
    "__version__",
    "now",
    "read",
    "transact",
    "ulid",
    "write",
]

_MODULES = {
    "pydantic": ("Field",),
    "keyplan.client.usage": ("Usage",),
    "keyplan.client.watching": ("CallRecord", "PatternRecord"),
    "keyplan.design.declared.actions": (
        "Add",
        "Append",
        "Batch",
        "Check",
        "Create",
        "Delete",
        "Discard",
        "Include",
        "Once",
        "Put",
        "Remove",
        "Update",
        "Writes",
    ),
    "keyplan.design.declared.entity": ("Entity",),
    "keyplan.design.declared.fields": ("Id", "Slots", "Tokens", "Ttl", "Version", "now", "ulid"),
    "keyplan.design.declared.forms": ("Stored",),
    "keyplan.design.declared.keys": ("Key", "Unique"),
    "keyplan.design.declared.parameters": ("Cursor", "Each", "Page", "Prefix", "Range", "Through"),
    "keyplan.design.declared.patterns": ("read", "write"),
    "keyplan.design.declared.indexes": ("Binary", "Index", "Number"),
    "keyplan.design.declared.styles": ("KeyStyle", "Label"),
    "keyplan.design.declared.table": ("Table",),
    "keyplan.design.declared.unreadable": ("Unreadable",),
    "keyplan.design.declared.views": ("View",),
    "keyplan.opening": ("Design",),
    "keyplan.together": ("transact",),
}
"""Where each name lives. A module is imported when a name of it is first asked for: ``keyplan --help`` needs none."""

if not TYPE_CHECKING:  # type checkers know the names from the imports above, and no others

    def __getattr__(name: str) -> object:
        module = next((module for module, names in _MODULES.items() if name in names), None)
        if module is None:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        value = globals()[name] = getattr(import_module(module), name)
        return value

    def __dir__() -> list[str]:
        return sorted({*globals(), *__all__})
