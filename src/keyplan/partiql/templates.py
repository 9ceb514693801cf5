"""Statements lowered before their parameters are known, so that what a text says is worked out once for all its uses.

What can't be said without the values of parameters (a set to add, a list that holds one) is refused here, and lowered
each time anew.
"""

from __future__ import annotations

from collections.abc import Sequence

from keyplan.expressions import CheckedPlaceholders, Placeholders, tree
from keyplan.partiql import syntax
from keyplan.partiql.faults import StatementFault
from keyplan.partiql.lowering import Lowering
from keyplan.partiql.syntax import Node
from keyplan.values import AttributeValue

__all__ = ["Template"]

_PARAMETER = "?"
"""The tag of what stands for a parameter's value until it is known."""


class Template(Lowering):
    """What one statement says, whatever its parameters are: its condition and its update; ``filled`` is one use of it.

    Raises:
        StatementFault, ExpressionFault, ValueFault: it can't be lowered, or not before the parameters are known.
    """

    def __init__(
        self,
        where: Node | None = None,
        changes: Sequence[syntax.Assignment | syntax.Removal] = (),
        paths: Sequence[Node] = (),
    ) -> None:
        super().__init__(())
        self.changed = self.update(changes) if changes else None
        self.where = None if where is None else self.condition(where)
        for path in paths:
            self.path(path)
        self.given()

    def value(self, node: Node) -> AttributeValue:
        """The attribute value of a literal, in normal form; for a parameter, what stands for it.

        Raises:
            StatementFault, ValueFault: it can't be one, or not before the parameters are known.
        """
        if isinstance(node, syntax.Parameter):
            return {_PARAMETER: node.number}
        return super().value(node)

    def _value(self, node: Node, under: str, depth: int = 0) -> AttributeValue:
        if isinstance(node, syntax.Parameter):
            raise StatementFault("A parameter within a value isn't known yet")
        return super()._value(node, under, depth)

    def given(self) -> Placeholders:
        """The names of all that was lowered; the values aren't known.

        Raises:
            ExpressionFault: a name is too long.
        """
        return Placeholders(self._names or None)

    def filled(self, parameters: Sequence[AttributeValue]) -> Filled:
        """All that was lowered, with these parameters in normal form."""
        values = {
            name: parameters[value[_PARAMETER]] if _PARAMETER in value else value
            for name, value in self._values.items()
        }
        return Filled(self, parameters, dict(self._names), values)


class Filled(Lowering):
    """One use of a template: what was kept is given as it is, and other values are lowered with these parameters."""

    def __init__(
        self,
        template: Template,
        parameters: Sequence[AttributeValue],
        names: dict[str, str],
        values: dict[str, AttributeValue],
    ) -> None:
        super().__init__(parameters)
        self._template = template
        self._names = names
        self._values = values

    def given(self) -> Placeholders:
        """The placeholders of all that was lowered; they were checked before."""
        return CheckedPlaceholders(self._names, self._values)

    def condition(self, node: Node) -> tree.Condition:
        """The condition of the statement's WHERE, as it was kept."""
        kept = self._template.where
        return super().condition(node) if kept is None else kept

    def update(self, changes: Sequence[syntax.Assignment | syntax.Removal]) -> tree.Update:
        """The update that the statement makes, as it was kept."""
        kept = self._template.changed
        return super().update(changes) if kept is None else kept
