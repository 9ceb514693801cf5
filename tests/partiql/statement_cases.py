"""A parsed statement as one line of text."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import Any

from keyplan.dynamodb.partiql import StatementFault, parse
from keyplan.dynamodb.partiql.syntax import Place


def shown(node: Any) -> str:
    """A tree in one line; where a node stands behind it."""
    match node:
        case Place(line, column, length):
            return f"@{line}:{column}:{length}"
        case tuple():
            return f"({', '.join(map(shown, node))})"
        case _ if is_dataclass(node):
            parts = [shown(getattr(node, field.name)) for field in fields(node)]
            return f"{type(node).__name__}({', '.join(parts)})"
        case _:
            return repr(node)


def read(statement: str) -> str:
    try:
        return shown(parse(statement))
    except StatementFault as fault:
        return f"! {fault}"
