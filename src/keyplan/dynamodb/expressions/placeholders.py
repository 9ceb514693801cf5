"""ExpressionAttributeNames and ExpressionAttributeValues of a request.

All expressions of a request share one ``Placeholders``, because a placeholder is unused only if no expression uses it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from keyplan.dynamodb.expressions import tree
from keyplan.dynamodb.expressions.expression_errors import ExpressionFault
from keyplan.dynamodb.values import AttributeValue, ValueFault, check_value, name_fault, value_size
from keyplan.dynamodb.values.validation import SHORT_NAME

KEY_BYTES_MAX = 255
_CHARACTER_BYTES_MAX = 4
_TEXTS = frozenset({"S", "N", "B"})

_NAME_KEY = re.compile(r"#[A-Za-z0-9_]+")
_VALUE_KEY = re.compile(r":[A-Za-z0-9_]+")


class Placeholders:
    """The names and values of ``#name`` and ``:value``, and which of them have been used so far.

    Validates and normalizes the values. Raises ``ExpressionFault`` with the service's message for an invalid
    placeholder, name or value.
    """

    __slots__ = ("_names", "_unused_names", "_unused_values", "_values")

    def __init__(
        self, names: Mapping[str, str] | None = None, values: Mapping[str, AttributeValue] | None = None
    ) -> None:
        self._names = {} if names is None else _checked_names(names)
        self._values = {} if values is None else _checked_values(values)
        # dicts instead of sets, because error messages list the keys in the order of the request
        self._unused_names = dict.fromkeys(self._names)
        self._unused_values = dict.fromkeys(self._values)

    def name(self, part: str) -> str:
        """The attribute name of a path element, which is ``#name`` or a plain name."""
        if part[0] != "#":
            return part
        name = self._names.get(part)
        if name is None:
            raise ExpressionFault(
                f"An expression attribute name used in the document path is not defined; attribute name: {part}"
            )
        self._unused_names.pop(part, None)
        return name

    def value(self, key: str) -> AttributeValue:
        value = self._values.get(key)
        if value is None:
            raise ExpressionFault(
                f"An expression attribute value used in expression is not defined; attribute value: {key}"
            )
        self._unused_values.pop(key, None)
        return value

    @property
    def largest_bytes(self) -> int:
        """An upper bound for the size of the largest name or value in bytes, computed quickly."""
        largest = 0
        for name in self._names.values():
            largest = max(largest, len(name))
        largest *= _CHARACTER_BYTES_MAX
        for value in self._values.values():
            ((tag, content),) = value.items()
            size = len(content) * _CHARACTER_BYTES_MAX if tag in _TEXTS else value_size(value)
            largest = max(largest, size)
        return largest

    def check_unused(self) -> None:
        """Reject placeholders that no expression uses. Call this function after binding all expressions."""
        for kind, unused in (("Names", self._unused_names), ("Values", self._unused_values)):
            if unused:
                raise ExpressionFault(
                    f"Value provided in ExpressionAttribute{kind} unused in expressions: keys: {{{', '.join(unused)}}}"
                )


class CheckedPlaceholders(Placeholders):
    """Placeholders whose names and values are already validated and normalized."""

    __slots__ = ()

    def __init__(self, names: dict[str, str], values: dict[str, AttributeValue]) -> None:
        self._names = names
        self._values = values
        self._unused_names = dict.fromkeys(names)
        self._unused_values = dict.fromkeys(values)


class NewPlaceholders:
    """Placeholders created in order for names (``#0``) and values (``:0``, ``:1``)."""

    def __init__(self) -> None:
        self.names: dict[str, str] = {}
        self.values: dict[str, AttributeValue] = {}

    def path(self, name: str) -> tree.Path:
        placeholder = f"#{len(self.names)}"
        self.names[placeholder] = name
        return tree.Path((placeholder,))

    def value(self, value: Mapping[str, Any]) -> tree.Value:
        placeholder = f":{len(self.values)}"
        self.values[placeholder] = dict(value)
        return tree.Value(placeholder)

    def given(self) -> Placeholders:
        return Placeholders(self.names or None, self.values or None)


def _checked_names(names: Mapping[str, str]) -> dict[str, str]:
    kind = "ExpressionAttributeNames"
    if not names:
        raise ExpressionFault(f"{kind} must not be empty")
    for key, name in names.items():
        if len(key) > KEY_BYTES_MAX or _NAME_KEY.fullmatch(key) is None:
            raise _key_fault(kind, key)
        if not name:
            raise ExpressionFault(f"{kind} contains invalid value: Empty attribute name for key {key}")
        fault = name_fault((name,)) if len(name) > SHORT_NAME else None
        if fault is not None:
            raise ExpressionFault(fault, f"{kind} contains invalid value: {fault} for key {key}")
    return dict(names)


def _checked_values(values: Mapping[str, AttributeValue]) -> dict[str, AttributeValue]:
    kind = "ExpressionAttributeValues"
    if not values:
        raise ExpressionFault(f"{kind} must not be empty")
    checked: dict[str, AttributeValue] = {}
    for key, value in values.items():
        if len(key) > KEY_BYTES_MAX or _VALUE_KEY.fullmatch(key) is None:
            raise _key_fault(kind, key)
        try:
            checked[key] = check_value(value)
        except ValueFault as fault:
            older = f"{kind} contains invalid value: {fault.older} for key {key}"
            raise ExpressionFault(fault.message, older) from None
    return checked


def _key_fault(kind: str, key: str) -> ExpressionFault:
    if len(key) <= KEY_BYTES_MAX:
        return ExpressionFault(f'{kind} contains invalid key: Syntax error; key: "{key}"')
    # The service reports the length only for a placeholder of a name.
    size = f" size of key: {len(key)}" if kind == "ExpressionAttributeNames" else ""
    return ExpressionFault(
        f"{kind} contains invalid key: The expression attribute map contains a key that is too long;{size}"
    )
