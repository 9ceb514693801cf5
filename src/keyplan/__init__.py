"""Keyplan: single-table data models on Amazon DynamoDB, where an access pattern is a typed function signature."""

from pydantic import Field

from keyplan._version import __version__
from keyplan.design.actions import (
    Add,
    Append,
    Batch,
    Check,
    Create,
    Delete,
    Discard,
    Include,
    Put,
    Remove,
    Update,
    Writes,
)
from keyplan.design.entity import Entity
from keyplan.design.fields import Ttl, Version, now, ulid
from keyplan.design.keys import Key, Unique
from keyplan.design.parameters import Cursor, Each, Page, Prefix, Range, Through
from keyplan.design.patterns import read, write
from keyplan.design.table import Binary, Index, Number, Table
from keyplan.opening import Design

__all__ = [
    "Add",
    "Append",
    "Batch",
    "Binary",
    "Check",
    "Create",
    "Cursor",
    "Delete",
    "Design",
    "Discard",
    "Each",
    "Entity",
    "Field",
    "Include",
    "Index",
    "Key",
    "Number",
    "Page",
    "Prefix",
    "Put",
    "Range",
    "Remove",
    "Table",
    "Through",
    "Ttl",
    "Unique",
    "Update",
    "Version",
    "Writes",
    "__version__",
    "now",
    "read",
    "ulid",
    "write",
]
