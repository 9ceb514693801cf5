"""Keyplan: single-table data models on Amazon DynamoDB, where an access pattern is a typed function signature."""

from importlib import import_module
from typing import TYPE_CHECKING

from keyplan._version import __version__

if TYPE_CHECKING:
    from pydantic import Field

    from keyplan.client.call_records import CallRecord, PatternRecord
    from keyplan.client.usage_report import Usage
    from keyplan.model.declared.actions import (
        Add,
        Append,
        Batch,
        Check,
        Create,
        Delete,
        IfNotExists,
        Put,
        Remove,
        SetAdd,
        SetRemove,
        Update,
        Writes,
    )
    from keyplan.model.declared.entity import Entity
    from keyplan.model.declared.fields import CounterShards, Id, IdempotencyTokens, Ttl, Version, now, ulid
    from keyplan.model.declared.indexes import Binary, Index, Number
    from keyplan.model.declared.keys import Discriminator, Key, KeyStyle, Unique
    from keyplan.model.declared.parameters import Cursor, Each, InvalidItem, Page, Prefix, Range, Through
    from keyplan.model.declared.patterns import Example, read, write
    from keyplan.model.declared.stored_as import StoredAs
    from keyplan.model.declared.table import Table
    from keyplan.model.declared.views import View
    from keyplan.session.design import Design
    from keyplan.session.multi_design import transact

__all__ = [
    "Add",
    "Append",
    "Batch",
    "Binary",
    "CallRecord",
    "Check",
    "CounterShards",
    "Create",
    "Cursor",
    "Delete",
    "Design",
    "Discriminator",
    "Each",
    "Entity",
    "Example",
    "Field",
    "Id",
    "IdempotencyTokens",
    "IfNotExists",
    "Index",
    "InvalidItem",
    "Key",
    "KeyStyle",
    "Number",
    "Page",
    "PatternRecord",
    "Prefix",
    "Put",
    "Range",
    "Remove",
    "SetAdd",
    "SetRemove",
    "StoredAs",
    "Table",
    "Through",
    "Ttl",
    "Unique",
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
    "keyplan.client.usage_report": ("Usage",),
    "keyplan.client.call_records": ("CallRecord", "PatternRecord"),
    "keyplan.model.declared.actions": (
        "Add",
        "Append",
        "Batch",
        "Check",
        "Create",
        "Delete",
        "SetRemove",
        "SetAdd",
        "IfNotExists",
        "Put",
        "Remove",
        "Update",
        "Writes",
    ),
    "keyplan.model.declared.entity": ("Entity",),
    "keyplan.model.declared.fields": ("Id", "CounterShards", "IdempotencyTokens", "Ttl", "Version", "now", "ulid"),
    "keyplan.model.declared.stored_as": ("StoredAs",),
    "keyplan.model.declared.keys": ("Key", "KeyStyle", "Discriminator", "Unique"),
    "keyplan.model.declared.parameters": ("Cursor", "Each", "Page", "Prefix", "Range", "Through", "InvalidItem"),
    "keyplan.model.declared.patterns": ("Example", "read", "write"),
    "keyplan.model.declared.indexes": ("Binary", "Index", "Number"),
    "keyplan.model.declared.table": ("Table",),
    "keyplan.model.declared.views": ("View",),
    "keyplan.session.design": ("Design",),
    "keyplan.session.multi_design": ("transact",),
}
"""The module of each public name. Modules are imported on first access: ``keyplan --help`` needs none."""

if not TYPE_CHECKING:  # with __getattr__, type checkers would accept any name

    def __getattr__(name: str) -> object:
        module = next((module for module, names in _MODULES.items() if name in names), None)
        if module is None:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        value = globals()[name] = getattr(import_module(module), name)
        return value

    def __dir__() -> list[str]:
        return sorted({*globals(), *__all__})
