"""Arguments as typed: ``name=value``, ``name:=json``, ``created_at.ge=…``, and repeated names."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Any

from keyplan.errors import ErrorDetail
from keyplan.formatting.arguments import arguments_of
from keyplan.model.compiled.signatures import Signature

__all__ = ["typed_arguments"]

_PAIR = re.compile(r"([^\W\d][\w.]*)(:?=)(.*)", re.DOTALL)


def typed_arguments(signature: Signature, texts: Iterable[str]) -> dict[str, Any]:
    """The arguments of a call. Raises ArgumentError with all errors."""
    pairs: list[tuple[str, Any]] = []
    faults: list[ErrorDetail] = []
    for text in texts:
        match = _PAIR.fullmatch(text)
        if match is None:
            faults.append(ErrorDetail(text, "isn't name=value", "write name=value, or name:=json"))
            continue
        name, how, value = match.groups()
        if how == "=":
            pairs.append((name, value))
            continue
        try:
            pairs.append((name, json.loads(value)))
        except ValueError as error:
            faults.append(ErrorDetail(name, f"isn't JSON: {error}", 'quote it for the shell: name:=\'{"title": "…"}\''))
    return arguments_of(signature, pairs, faults)
