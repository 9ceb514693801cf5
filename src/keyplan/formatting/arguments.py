"""Collects arguments given as names and strings, as in a query string or on a command line. The pattern's signature
converts and validates the arguments.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from keyplan.errors import ArgumentError, ErrorDetail
from keyplan.model.compiled.signatures import Parameter, ParameterKind, Signature
from keyplan.model.declared.fields import kind_of

BOUNDS = ("ge", "gt", "le", "lt")
"""Suffixes of a range's bounds: ``created_at.ge``."""

_MANY = (list, set, frozenset, tuple)


def takes_many(parameter: Parameter) -> bool:
    """Whether a parameter can be repeated to pass several values."""
    return parameter.kind is ParameterKind.EACH or kind_of(parameter.value_type) in _MANY


def arguments_of(
    signature: Signature, pairs: Iterable[tuple[str, Any]], found: Iterable[ErrorDetail] = ()
) -> dict[str, Any]:
    """The arguments of a call. A range's bounds are ``name.ge``, ``.gt``, ``.le``, ``.lt``; several values repeat the
    name. Values that aren't strings are kept. Raises ArgumentError with all errors, including those in ``found``.
    """
    result: dict[str, Any] = {}
    faults = list(found)
    for name, value in pairs:
        base, dot, _ = name.partition(".")
        parameter = signature.by_name.get(base)
        if parameter is None:
            result[name] = value
        elif parameter.kind is ParameterKind.RANGE and isinstance(value, str):
            _add_bound(result, name, value, faults)
        elif dot:
            faults.append(ErrorDetail(name, f"{base} isn't a range", f"give {base}=…"))
        elif takes_many(parameter) and isinstance(value, str):
            result.setdefault(base, []).append(value)
        elif base in result:
            faults.append(ErrorDetail(base, "duplicate", "pass the argument once"))
        else:
            result[base] = value
    check_arguments(signature, result, faults)
    return result


def check_arguments(signature: Signature, arguments: Mapping[str, Any], found: Iterable[ErrorDetail] = ()) -> None:
    """Raises ArgumentError with all errors in a call's arguments: those in ``found``, and invalid names and values."""
    faults = list(found)
    hint = None
    try:
        signature.bind((), arguments, strict=False)
    except ArgumentError as error:
        places = {fault.place.partition(".")[0] for fault in faults}
        faults += [fault for fault in error.errors if fault.message != "missing" or fault.place not in places]
        hint = error.hint
    if faults:
        message = "invalid arguments" if len(faults) > 1 else "wrong argument"
        raise ArgumentError(message, place=signature.place, hint=hint, errors=faults)


def _add_bound(result: dict[str, Any], name: str, value: str, faults: list[ErrorDetail]) -> None:
    base, _, bound = name.partition(".")
    if bound not in BOUNDS:
        faults.append(ErrorDetail(name, "is a range", f"give {', '.join(f'{base}.{text}=…' for text in BOUNDS)}"))
    elif bound in result.setdefault(base, {}):
        faults.append(ErrorDetail(name, "duplicate", "pass the argument once"))
    else:
        result[base][bound] = value
