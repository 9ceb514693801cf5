"""The columns of one group of items: its attributes as fields, but for those that keys make. What keys are is found in
``drafting.py``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from keyplan.formats.workbench.declarations import IndexDeclaration
from keyplan.formats.workbench.declared import FieldDeclaration
from keyplan.formats.workbench.grouping import Group
from keyplan.formats.workbench.inference import Column, free_name
from keyplan.formats.workbench.texts import is_generic, snake
from keyplan.model.stored.key_templates import DELIMITER

__all__ = ["GroupColumns"]


class GroupColumns:
    """Makes columns of a group's attributes. ``fields`` are those that its entity declares, ``schema`` the templates
    that the model's author wrote, ``has_keys`` says whether keys are declared.
    """

    def __init__(
        self,
        group: Group,
        key: IndexDeclaration,
        key_types: Mapping[str, str],
        attributes: Mapping[str, str],
        fields: Sequence[FieldDeclaration],
        schema: Mapping[str, str],
        *,
        has_keys: bool,
    ) -> None:
        self._group = group
        self._key = key
        self._key_types = key_types
        self._attributes = attributes
        self._fields = fields
        self._schema = schema
        self._has_keys = has_keys

    def plain(self) -> list[Column]:
        """The attributes that aren't made by a key."""
        made = [
            Column(
                declaration.name,
                declaration.attribute,
                _tag(declaration),
                [_value(item.get(declaration.attribute)) for item in self._group.items],
                declared=declaration,
            )
            for declaration in self._fields
        ]
        declared = {column.attribute for column in made}
        seen = dict.fromkeys([*self._group.attributes, *(name for item in self._group.items for name in item)])
        for attribute in seen:
            if attribute not in declared and (attribute not in self._key_types or self._is_field(attribute)):
                made.append(self.column(attribute, made))
        return made

    def _is_field(self, attribute: str) -> bool:
        """Whether a key attribute is a field as it stands: its name says what it holds."""
        if self._has_keys or is_generic(attribute) or DELIMITER in attribute or attribute in self._schema:
            return False
        held = [item[attribute] for item in self._group.items if attribute in item]
        if attribute not in {name for name, _ in (*self._key.partition, *self._key.sort)}:
            return not any(DELIMITER in str(value.get("S", "")) for value in held)
        alone = self._group.aliases == ("", "") and self._group.kind is None
        return alone and len(held) == len(self._group.items)

    def column(self, attribute: str, made: Sequence[Column]) -> Column:
        """The column of an attribute as its items have it, beside those that are made already."""
        kind = self._key_types.get(attribute) or self._attributes.get(attribute, "")
        result = [item.get(attribute) for item in self._group.items]
        tags = {next(iter(value)) for value in result if value is not None} - {"NULL"}
        tag = (tags.pop() if len(tags) == 1 else "") if tags else ("" if kind == "NULL" else kind)
        values = [_value(value) for value in result]
        constant = self._group.kind is not None and attribute == self._group.kind[0]
        return Column(free_name(snake(attribute), made), attribute, tag, values, constant=constant)


def _tag(field: FieldDeclaration) -> str:
    """DynamoDB's type of a declared field, where keys say it."""
    if field.type.startswith("tuple["):
        return "L"
    return {"int": "N", "Decimal": "N", "float": "N", "bytes": "B", "Version": "N"}.get(field.type, "S")


def _value(value: Mapping[str, Any] | None) -> Any:
    """An attribute's value as columns compare it: texts and numbers as their text, a list of texts as their list."""
    if value is None or "NULL" in value:
        return None
    ((tag, content),) = value.items()
    if tag == "L" and all(isinstance(element, dict) and "S" in element for element in content):
        return [element["S"] for element in content]
    return str(content) if tag == "N" else content
