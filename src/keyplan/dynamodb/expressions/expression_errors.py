"""Errors of expressions, with DynamoDB's texts.

``ExpressionFault`` is an expression that is invalid; ``UpdateFault`` an update that can't be applied to its item. The
engine turns both into a ValidationException.
"""

from __future__ import annotations


class ExpressionFault(ValueError):
    """An expression or a placeholder that DynamoDB refuses. ``message`` is the whole text of the service, ``older``
    that of the operations which still have its earlier words (decision 0029).
    """

    def __init__(self, message: str, older: str | None = None) -> None:
        self.message = message
        self.older = message if older is None else older
        super().__init__(message)


class UpdateFault(ExpressionFault):
    """An update that can't be applied to this item: a missing attribute, a wrong type, an invalid path."""
