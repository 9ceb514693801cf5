"""Errors of expressions, with DynamoDB's messages.

``ExpressionFault`` reports an invalid expression, and ``UpdateFault`` an update that can't be applied to an item. The
store reports both exceptions as ValidationException.
"""

from __future__ import annotations


class ExpressionFault(ValueError):
    """An expression or a placeholder that DynamoDB rejects. ``message`` is the service's full message, ``older`` the
    message of operations in the older layer (decision 0029).
    """

    def __init__(self, message: str, older: str | None = None) -> None:
        self.message = message
        self.older = message if older is None else older
        super().__init__(message)


class UpdateFault(ExpressionFault):
    """An update that can't be applied to the item: a missing attribute, a wrong type, an invalid path."""
