"""The public names: exporting one is a decision, and so is taking one back."""

from __future__ import annotations

import keyplan

PUBLIC = [
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


def test_the_public_names_are_these() -> None:
    """Adding a name here means documenting it in docs/designing.md; taking one out, a line in CHANGELOG.md."""
    assert sorted(keyplan.__all__) == PUBLIC


def test_every_public_name_is_there() -> None:
    """``from keyplan import *`` works."""
    assert [name for name in keyplan.__all__ if not hasattr(keyplan, name)] == []
