"""Statements lowered before their parameters are known, so that what a text says is worked out once for all its uses.

What can't be said without the values of parameters (a set to add, a list that holds one) is refused here, and lowered
each time anew.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from keyplan.dynamodb.expressions import CheckedPlaceholders, Placeholders, tree
from keyplan.dynamodb.partiql import syntax
from keyplan.dynamodb.partiql.statement_requests import Lowering
from keyplan.dynamodb.partiql.syntax import Node
from keyplan.dynamodb.values import AttributeValue

__all__ = ["Template"]

_PARAMETER = "?"
"""The tag of what stands for a parameter's value until it is known."""


class Template(Lowering):
    """What one statement says, whatever its parameters are: its condition and its update; ``filled`` is one use of it.

    Raises:
        StatementFault, ValueFault: it can't be lowered, or not before the parameters are known.
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

    def value(self, node: Node) -> AttributeValue:
        """The attribute value of a literal, in normal form; for a parameter, what stands for it.

        Raises:
            StatementFault, ValueFault: it can't be one, or not before the parameters are known.
        """
        if isinstance(node, syntax.Parameter):
            return {_PARAMETER: node.number}
        return super().value(node)

    def filled(self, parameters: Sequence[AttributeValue]) -> Filled:
        """All that was lowered, with these parameters in normal form."""
        values = {
            name: parameters[value[_PARAMETER]] if _PARAMETER in value else value
            for name, value in self._values.items()
        }
        return Filled(self, dict(self._names), values)


class Filled(Lowering):
    """One use of a template: what was kept is given as it is. It lowers nothing else but names."""

    def __init__(self, template: Template, names: dict[str, str], values: dict[str, AttributeValue]) -> None:
        self._template = template
        self._names = names
        self._values = values

    def given(self) -> Placeholders:
        """The placeholders of all that was lowered; they were checked before."""
        return CheckedPlaceholders(self._names, self._values)

    def condition(self, node: Node) -> tree.Condition:  # noqa: ARG002 - the template's own
        """The condition of the statement's WHERE, as it was kept."""
        return cast("tree.Condition", self._template.where)

    def update(self, changes: Sequence[syntax.Assignment | syntax.Removal]) -> tree.Update:  # noqa: ARG002
        """The update that the statement makes, as it was kept."""
        return cast("tree.Update", self._template.changed)
