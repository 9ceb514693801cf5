"""The errors of statements, with DynamoDB's texts."""

from __future__ import annotations

from keyplan.dynamodb.expressions import ExpressionFault

__all__ = ["StatementFault", "not_well_formed"]


class StatementFault(ExpressionFault):
    """A statement that DynamoDB refuses. ``message`` is the whole text of the service."""


def not_well_formed(detail: str = "") -> StatementFault:
    """The fault of a statement that can't be read. What isn't even made of tokens has no detail."""
    return StatementFault(f"Statement wasn't well formed, can't be processed: {detail}")
