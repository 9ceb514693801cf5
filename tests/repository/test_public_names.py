"""The public names of the package ``keyplan``."""

from __future__ import annotations

import keyplan

PUBLIC = """
Add Append Batch Binary CallRecord Check CounterShards Create Cursor Delete Design Discriminator Each Entity Example
Field Id IdempotencyTokens IfNotExists Index InvalidItem Key KeyStyle Number Page PatternRecord Prefix Put Range Remove
SetAdd SetRemove StoredAs Table Through Ttl Unique Update Usage Version View Writes __version__ now read transact ulid
write
"""


def test_keyplan_exports_only_the_public_names() -> None:
    """If you add a name, document it in docs/designing.md. If you remove a name, note it in CHANGELOG.md."""
    assert sorted(keyplan.__all__) == PUBLIC.split()


def test_every_public_name_exists() -> None:
    assert [name for name in keyplan.__all__ if not hasattr(keyplan, name)] == []
