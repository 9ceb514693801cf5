"""The names that AWS has for tables, their indexes and streams."""

from __future__ import annotations

__all__ = ["REGION", "arn_of", "stream_arn"]

REGION = "local"
"""The region of everything that is here."""
_ARN = f"arn:aws:dynamodb:{REGION}:000000000000:table/{{name}}"


def arn_of(table: str, index: str | None = None) -> str:
    """The ARN of a table, or of one of its indexes."""
    arn = _ARN.format(name=table)
    return arn if index is None else f"{arn}/index/{index}"


def stream_arn(table: str, label: str) -> str:
    """The ARN of a stream."""
    return f"{arn_of(table)}/stream/{label}"
