"""The shape of a value below the design: DynamoDB's own JSON.

Only names of types live here. What a value may hold is in ``check``, how it is made from Python in ``codec``.
"""

from __future__ import annotations

from typing import Any, TypeAlias

__all__ = ["SET_TAGS", "TAGS", "AttributeValue", "Item"]

AttributeValue: TypeAlias = dict[str, Any]
"""One value as on the wire: a dict of one key, its type tag (``{"S": "x"}``); B is base64 text, N decimal
text.
"""

Item: TypeAlias = dict[str, AttributeValue]
"""Attribute values by attribute name."""

TAGS = frozenset({"S", "N", "B", "BOOL", "NULL", "L", "M", "SS", "NS", "BS"})
SET_TAGS = frozenset({"SS", "NS", "BS"})
