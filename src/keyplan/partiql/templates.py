"""Statements lowered before their parameters are known, so that what a text says is worked out once for all its uses.

What can't be said without the values of parameters (a set to add, a list that holds one) is refused here, and lowered
each time anew.
"""

from __future__ import annotations

from collections.abc import Sequence

from keyplan.expressions import CheckedPlaceholders, Placeholders
from keyplan.partiql import syntax
from keyplan.partiql.faults import StatementFault
from keyplan.partiql.lowering import Lowering
from keyplan.partiql.syntax import Node
from keyplan.values import AttributeValue

__all__ = ["Template"]

_PARAMETER = "?"
"""The tag of what stands for a parameter's value until it is known."""


class Template(Lowering):
    """What one statement says, whatever its parameters are; ``filled`` has the names and values of one use."""

    def __init__(self) -> None:
        super().__init__(())
        self._is_checked = False

    def value(self, node: Node) -> AttributeValue:
        """The attribute value of a literal, in normal form; for a parameter, what stands for it.

        Raises:
            StatementFault, ValueFault: it can't be one, or not before the parameters are known.
        """
        if isinstance(node, syntax.Parameter):
            return {_PARAMETER: node.number}
        return super().value(node)

    def _value(self, node: Node, under: str) -> AttributeValue:
        if isinstance(node, syntax.Parameter):
            raise StatementFault("A parameter within a value isn't known yet")
        return super()._value(node, under)

    def filled(self, parameters: Sequence[AttributeValue]) -> Placeholders:
        """The placeholders of all that was lowered, with these parameters in normal form.

        Raises:
            ExpressionFault: a name is too long.
        """
        if not self._is_checked:
            Placeholders(self._names or None)
            self._is_checked = True
        return CheckedPlaceholders(
            self._names,
            {
                name: parameters[value[_PARAMETER]] if _PARAMETER in value else value
                for name, value in self._values.items()
            },
        )
