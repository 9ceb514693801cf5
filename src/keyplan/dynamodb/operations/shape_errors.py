"""Validation errors of a request's shape, with AWS's messages, order and format.

AWS validates members in two layers, and the operation determines the wording (decision 0029). The older layer lists
every violated constraint and repeats the value. The current layer reports some errors by the member's name: empty table
names, lengths, and enumerations with specific messages. The older layer always reports missing required members.
SearchVectors has a newer JSON reader, which rejects the first unreadable member and reports its column (recorded from
the service in October 2026).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, Literal

import orjson

from keyplan.dynamodb.operations import shapes
from keyplan.dynamodb.service_errors import SerializationException, ValidationException

Wording = Literal["enveloped", "current", "older"]
"""The wording of an operation's validation errors: the current texts within ``1 validation error detected: `` (PutItem,
UpdateItem, DeleteItem), the current texts (GetItem, BatchGetItem, Query), or the older texts (all others).
"""

FAULTS_MAX = 10
"""The maximum number of validation errors that AWS lists."""

_CURRENT_DEPTH_MAX = 127
"""The maximum JSON depth that the current layer reads; the older layer reports deeper requests. Recorded between 62 and
63 maps around a value, each of which is two levels of JSON.
"""

_INTEGER_END = 2.0**63
"""From here, the server's JSON reader turns integers into floats, too."""
_ECHO_MAX = 16_384
"""The maximum number of characters of a rejected value to repeat. A longer value is reported by the member's name, as
in AWS's current texts.
"""


def explain(shape: shapes.Structure, request: Any, wording: Wording = "older") -> None:
    """Raise AWS's error for an invalid request of this shape, which is SerializationException if a member has the wrong
    JSON type, or ValidationException, which lists up to ten violated constraints.
    """
    if request is None:
        raise SerializationException("Unexpected value type in payload")
    # Check counts before types, to avoid walking a list that is too long.
    _refuse(_too_many(shape, request, ""))
    _truncate(shape, request)
    check_types(shape, request)
    wording = wording_for(wording, request)
    _refuse_lengths(shape, request)
    complete = all(request.get(name) is not None for name in shape.required)
    if complete:
        if wording != "older":
            _refuse_first(shape, request, wording)
        _refuse(_named_faults(shape, request, ""))
    _refuse_all(_faults(shape, request, "", is_current=complete and wording != "older"))
    _refuse_all(_key_faults(shape, request))


def wording_for(wording: Wording, request: Any) -> Wording:
    """The wording of the error: that of the older layer if the request is nested too deeply for the current layer."""
    level: list[Any] = [request]
    for _ in range(_CURRENT_DEPTH_MAX):
        level = [
            member
            for each in level
            if isinstance(each, (dict, list))
            for member in (each.values() if isinstance(each, dict) else each)
            if isinstance(member, (dict, list))
        ]
    return "older" if level else wording


def _refuse(faults: Iterator[str]) -> None:
    for fault in faults:
        raise ValidationException(f"1 validation error detected: {fault}")


def _refuse_all(faults: Iterator[str]) -> None:
    result: list[str] = []
    for fault in faults:
        result.append(fault)
        if len(result) == FAULTS_MAX:
            break
    if result:
        plural = "s" if len(result) > 1 else ""
        raise ValidationException(f"{len(result)} validation error{plural} detected: {'; '.join(result)}")


def _truncate(shape: shapes.Shape, value: Any) -> None:
    """Truncate numbers to integers in place where the shape expects integers, as the service does."""
    match shape:
        case shapes.Structure() if type(value) is dict:
            for name, member in shape.members.items():
                given = value.get(name)
                if isinstance(member, shapes.Whole):
                    if type(given) is float and abs(given) < _INTEGER_END:
                        value[name] = int(given)
                elif given is not None:
                    _truncate(member, given)
        case shapes.ListOf() if type(value) is list:
            for member in value:
                _truncate(shape.of, member)
        case shapes.MapOf() if type(value) is dict:
            for member in value.values():
                _truncate(shape.of, member)
        case _:
            return


def _refuse_lengths(shape: shapes.Structure, request: dict[str, Any]) -> None:
    """Raise the service's special text for a name of the wrong length."""
    for name, member in shape.members.items():
        if not isinstance(member, shapes.Text) or member.length_message is None or request.get(name) is None:
            continue
        length = len(request[name])
        if (member.min is not None and length < member.min) or (member.max is not None and length > member.max):
            raise ValidationException(member.length_message)


def _refuse_first(shape: shapes.Structure, request: dict[str, Any], wording: Wording) -> None:
    """Raise the errors that the current layer reports first: an empty name, some enumerations."""
    for name, member in shape.members.items():
        value = request.get(name)
        if not isinstance(member, shapes.Text) or value is None:
            continue
        if member.never_empty and not value:
            _refuse(_by_name(name, rule) for rule in shapes.text_faults(member, value))
        if member.first and member.message is not None and value not in member.enum:
            raise ValidationException(
                f"1 validation error detected: {member.message}" if wording == "enveloped" else member.message
            )


# --- types --------------------------------------------------------------------------------------------------


def check_types(shape: shapes.Shape, value: Any) -> None:
    """Reject a member of the wrong JSON type, including members of attribute values. Raises SerializationException."""
    if value is None:
        return
    match shape:
        case shapes.Text():
            _expect_scalar(value, str, "String")
        case shapes.Whole():
            kind = "Long" if shape.bits == 64 else "Integer"
            _expect_scalar(value, int, kind)
            if not -(2 ** (shape.bits - 1)) <= value < 2 ** (shape.bits - 1):
                raise SerializationException(f"NUMBER_VALUE cannot be converted to {kind}")
        case shapes.Real():
            if type(value) is not int:
                _expect_scalar(value, float, "Double")
        case shapes.Flag():
            _expect_scalar(value, bool, "Boolean")
        case shapes.Value():
            _check_attribute_value(value)
        case shapes.ListOf():
            _expect_container(value, list)
            for member in value:
                check_types(shape.of, member)
        case shapes.MapOf():
            _expect_container(value, dict)
            for member in value.values():
                check_types(shape.of, member)
        case shapes.Structure():
            _expect_container(value, dict)
            for name, member in shape.members.items():
                check_types(member, value.get(name))


def _check_attribute_value(value: Any) -> None:
    """Reject an attribute value with content of the wrong JSON type. Iterative, because nesting isn't limited here."""
    stack = [value]
    while stack:
        each = stack.pop()
        if each is None:
            continue
        _expect_container(each, dict)
        for tag, content in each.items():
            if content is None:
                continue
            match tag:
                case "S" | "N":
                    if type(content) is not str:
                        _expect_scalar(content, str, "String")
                case "B":
                    _check_binary(content)
                case "BOOL" | "NULL":
                    _expect_scalar(content, bool, "Boolean")
                case "SS" | "NS":
                    _expect_container(content, list)
                    if {*map(type, content)} != {str}:
                        for member in content:
                            if member is not None:
                                _expect_scalar(member, str, "String")
                case "BS":
                    _expect_container(content, list)
                    if {*map(type, content)} != {str} or not all(map(_BASE64.fullmatch, content)):
                        for member in content:
                            if member is not None:
                                _check_binary(member)
                case "L":
                    _expect_container(content, list)
                    stack.extend(reversed(content))
                case "M":
                    _expect_container(content, dict)
                    stack.extend(reversed(content.values()))
                case _:
                    pass


_BASE64 = re.compile(r"(?:[a-zA-Z0-9+/]{4})*(?:[a-zA-Z0-9+/]{2}(?:==|[a-zA-Z0-9+/]=))?")
_NO_BASE64 = re.compile(r"[^a-zA-Z0-9+/=]|=[^=]")


def _check_binary(content: Any) -> None:
    _expect_scalar(content, str, "Blob")
    if len(content) % 4:
        raise SerializationException(
            f"Base64 encoded length is expected a multiple of 4 bytes but found: {len(content)}"
        )
    wrong = _NO_BASE64.search(content)
    if wrong is not None:
        raise SerializationException(f"Invalid Base64 character: '{wrong[0][0]}'")
    if content.count("=") > 2:
        raise SerializationException("Invalid last non-pad Base64 character dectected")


def _expect_scalar(value: Any, kind: type[object], name: str) -> None:
    if isinstance(value, list):
        raise SerializationException("Unrecognized collection type class java.lang." + name)
    if isinstance(value, dict):
        raise SerializationException("Start of structure or map found where not expected")
    if isinstance(value, bool) and kind is not bool:
        raise SerializationException(f"{'TRUE' if value else 'FALSE'}_VALUE cannot be converted to {name}")
    if isinstance(value, str) and kind is not str:
        raise SerializationException(f"STRING_VALUE cannot be converted to {name}")
    if type(value) is not kind:
        if isinstance(value, int) or (isinstance(value, float) and abs(value) >= 2**64 and value.is_integer()):
            # The server's JSON reader turns integers of more than 64 bits into floats.
            raise SerializationException(f"NUMBER_VALUE cannot be converted to {name}")
        if isinstance(value, float):
            raise SerializationException(f"DECIMAL_VALUE cannot be converted to {name}")
        raise SerializationException(f"{type(value).__name__} cannot be converted to {name}")


def _expect_container(value: Any, kind: type[object]) -> None:
    if type(value) is kind:
        return
    if isinstance(value, dict):
        raise SerializationException("Start of structure or map found where not expected")
    if isinstance(value, list):
        raise SerializationException("Start of list found where not expected")
    raise SerializationException("Unexpected value type in payload")


# --- errors that name the member without its value ------------------------------------------------------------------


def _too_many(shape: shapes.Shape, value: Any, place: str) -> Iterator[str]:
    """Lists and maps that are too long and are reported by name, before their contents are checked."""
    match shape:
        case shapes.ListOf() if type(value) is list:
            yield from _too_long(shape, value, place)
        case shapes.MapOf() if type(value) is dict:
            yield from _too_long(shape, value, place)
            for name, member in value.items():
                yield from _too_many(shape.of, member, f"{place}.{name}.member")
        case shapes.Structure() if type(value) is dict:
            for name, member in shape.members.items():
                if member.__class__ in {shapes.ListOf, shapes.MapOf} and value.get(name) is not None:
                    yield from _too_many(member, value[name], f"{place}.{name}" if place else name)
        case _:
            return


def _too_long(shape: shapes.ListOf | shapes.MapOf, value: Any, place: str) -> Iterator[str]:
    # For a value with too many members, the service reports only the member's name.
    is_named = shape.named != "none" or len(value) > _ECHO_MAX
    if is_named and shape.max is not None and len(value) > shape.max:
        yield _by_name(place, f"Member must have length less than or equal to {shape.max}")


def _named_faults(shape: shapes.Shape, value: Any, place: str) -> Iterator[str]:
    if value is None:
        return
    match shape:
        case shapes.Structure():
            for name, member in shape.members.items():
                yield from _named_faults(member, value.get(name), f"{place}.{name}" if place else name)
        case shapes.MapOf():
            yield from _named_length(shape, value, place)
            if isinstance(shape.of, (shapes.ListOf, shapes.Structure)):
                for name, member in value.items():
                    yield from _named_faults(shape.of, member, f"{place}.{name}.member")
        case shapes.ListOf():
            yield from _named_length(shape, value, place)
        case shapes.Text():
            if shape.named != "none":
                for rule in shapes.text_faults(shape, value):
                    yield _by_name(place, rule)
        case shapes.Whole():
            if shape.named != "none":
                for rule in _bounds(shape, value):
                    yield _by_name(place, rule)
        case _:
            return


def _named_length(shape: shapes.ListOf | shapes.MapOf, value: Any, place: str) -> Iterator[str]:
    if shape.named == "both" and shape.min is not None and len(value) < shape.min:
        yield _by_name(place, f"Member must have length greater than or equal to {shape.min}")


def _by_name(place: str, rule: str) -> str:
    return f"Value at '{place}' failed to satisfy constraint: {rule}"


# --- listed errors -----------------------------------------------------------------------------------------------


def _faults(shape: shapes.Shape, value: Any, place: str, *, is_current: bool) -> Iterator[str]:
    if value is None:
        return
    match shape:
        case shapes.Text():
            for rule in shapes.text_faults(shape, value):
                yield shape.message if is_current and shape.message is not None else _fault(shape, value, place, rule)
        case shapes.Whole():
            for rule in _bounds(shape, value):
                yield _fault(shape, value, place, rule)
        case shapes.ListOf():
            yield from _length_faults(shape, value, place)
            for number, member in enumerate(value, 1):
                yield from _member_faults(shape.of, member, f"{place}.{number}.member", is_current=is_current)
        case shapes.MapOf():
            yield from _map_faults(shape, value, place, is_current=is_current)
        case shapes.Structure():
            for name, member in shape.members.items():
                inner = f"{place}.{_lower_first(name)}" if place else _lower_first(name)
                if name in shape.required:
                    yield from _member_faults(member, value.get(name), inner, is_current=is_current)
                else:
                    yield from _faults(member, value.get(name), inner, is_current=is_current)
        case _:
            return


def _bounds(shape: shapes.Whole, value: int) -> Iterator[str]:
    if shape.min is not None and value < shape.min:
        yield f"Member must have value greater than or equal to {shape.min}"
    if shape.max is not None and value > shape.max:
        yield f"Member must have value less than or equal to {shape.max}"


def _member_faults(shape: shapes.Shape, value: Any, place: str, *, is_current: bool) -> Iterator[str]:
    if value is None:
        yield f"Value null at '{place}' failed to satisfy constraint: Member must not be null"
    else:
        yield from _faults(shape, value, place, is_current=is_current)


def _map_faults(shape: shapes.MapOf, value: dict[str, Any], place: str, *, is_current: bool) -> Iterator[str]:
    yield from _length_faults(shape, value, place)
    if not shape.keys_last:
        yield from _names_of(shape, value, place)
    if isinstance(shape.of, shapes.ListOf) and any(
        each is not None and any(_length_faults(shape.of, each, "")) for each in value.values()
    ):
        rules = (
            f"Member must have length less than or equal to {shape.of.max}",
            f"Member must have length greater than or equal to {shape.of.min}",
        )
        yield _fault(shape, value, place, f"Map value must satisfy constraint: [{', '.join(rules)}]")
        return
    for name, member in value.items():
        yield from _member_faults(shape.of, member, f"{place}.{name}.member", is_current=is_current)


def _names_of(shape: shapes.MapOf, value: dict[str, Any], place: str) -> Iterator[str]:
    if shape.key is None:
        return
    rules = (
        f"Member must have length less than or equal to {shape.key.max}",
        f"Member must have length greater than or equal to {shape.key.min}",
        f"Member must satisfy regular expression pattern: {shape.key.pattern}",
    )
    for name in value:
        if any(shapes.text_faults(shape.key, name)):
            yield _fault(shape, value, place, f"Map keys must satisfy constraint: [{', '.join(rules)}]")


def _key_faults(shape: shapes.Structure, request: dict[str, Any]) -> Iterator[str]:
    """The errors of names that are checked after everything else."""
    for name, member in shape.members.items():
        if isinstance(member, shapes.MapOf) and member.keys_last and request.get(name) is not None:
            yield from _names_of(member, request[name], _lower_first(name))


def _length_faults(shape: shapes.ListOf | shapes.MapOf, value: Any, place: str) -> Iterator[str]:
    if shape.min is not None and len(value) < shape.min:
        yield _fault(shape, value, place, f"Member must have length greater than or equal to {shape.min}")
    if shape.max is not None and len(value) > shape.max:
        yield _fault(shape, value, place, f"Member must have length less than or equal to {shape.max}")


def _fault(shape: shapes.Shape, value: Any, place: str, rule: str) -> str:
    text = _echo(shape, value)
    if text is None:
        return _by_name(place[:1].upper() + place[1:], rule)
    return f"Value '{text}' at '{place}' failed to satisfy constraint: {rule}"


# --- the rejected value, as AWS repeats it ------------------------------------------------------------------------

_ATTRIBUTE_VALUE = (
    *("s", "n", "b", "iNT", "dECIMAL", "dOUBLE", "sS", "nS", "bS", "iNTSET", "dECIMALSET", "dOUBLESET"),
    *("m", "l", "nULL", "bOOL"),
)
"""The members of an attribute value as AWS's Java prints them, including internal ones."""


def _echo(shape: shapes.Shape, value: Any) -> str | None:
    """A value as AWS prints it; None if it is too long or too deep to repeat."""
    length = 0
    pieces: list[str] = []
    try:
        for piece in _pieces(shape, value):
            pieces.append(piece)
            length += len(piece)
            if length > _ECHO_MAX:
                return None
        if isinstance(shape, shapes.MapOf) and shape.echoed_as_json:
            return orjson.dumps(value).decode()
    except orjson.JSONEncodeError:
        return None
    return "".join(pieces)


def _pieces(shape: shapes.Shape | None, value: Any) -> Iterator[str]:
    if value is None:
        yield "null"
    elif isinstance(shape, shapes.Structure) and shape.name:
        yield f"{shape.name}("
        for number, (name, member) in enumerate(shape.members.items()):
            yield f"{', ' if number else ''}{_lower_first(name)}="
            yield from _pieces(member, value.get(name))
        yield ", workloadProfileName=null)" if shape.name == "PutRequest" else ")"
    elif isinstance(shape, shapes.Value):
        yield from _attribute_value(value)
    elif isinstance(value, bool):
        yield "true" if value else "false"
    elif isinstance(value, list):
        inner = shape.of if isinstance(shape, shapes.ListOf) else None
        yield "["
        for number, member in enumerate(value):
            yield ", " if number else ""
            yield from _pieces(inner, member)
        yield "]"
    elif isinstance(value, dict):
        yield "{"
        for number, (name, member) in enumerate(value.items()):
            yield f"{', ' if number else ''}{name}="
            yield from _pieces(_member_shape(shape, name), member)
        yield "}"
    else:
        yield str(value)


def _member_shape(shape: shapes.Shape | None, name: str) -> shapes.Shape | None:
    if isinstance(shape, shapes.MapOf):
        return shape.of
    return shape.members.get(name) if isinstance(shape, shapes.Structure) else None


def _attribute_value(value: dict[str, Any]) -> Iterator[str]:
    given = {tag[:1].lower() + tag[1:]: content for tag, content in value.items()}
    yield "AttributeValue("
    for number, name in enumerate(_ATTRIBUTE_VALUE):
        content = given.get(name)
        # Values in a list or a map are printed as JSON.
        shown = content if isinstance(content, str) else orjson.dumps(content).decode()
        yield f"{', ' if number else ''}{name}={shown}"
    yield ")"


def _lower_first(name: str) -> str:
    return name[:1].lower() + name[1:]


_READABLE: dict[type[shapes.Shape], tuple[type, str]] = {
    shapes.Text: (str, "a string"),
    shapes.Whole: (int, "i32"),
    shapes.ListOf: (list, "a sequence"),
    shapes.MapOf: (dict, "a map"),
}
"""The JSON types of the members of SearchVectors, and the newer reader's names for them."""


def refuse_unreadable(shape: shapes.Structure, request: Any) -> None:
    """Reject a request with an unreadable member, or without a required member. Raises SerializationException if a
    member has the wrong JSON type, or ValidationException if a required member is missing.
    """
    if type(request) is not dict:
        return
    for name, value in request.items():
        member = shape.members.get(name)
        if member is None or (value is None and name not in shape.required):
            continue
        kind, expected = _READABLE[type(member)]
        if type(value) is not kind:
            raise SerializationException(
                f"invalid type: {_shown(value)}, expected {expected} at line 1 column {_column(request, name)}"
            )
    missing = next((name for name in shape.members if name in shape.required and name not in request), None)
    if missing is not None:
        end = max(2, _column(request, None) + 1)
        raise ValidationException(f"missing field `{missing}` at line 1 column {end}")


def _column(request: dict[str, Any], last: str | None) -> int:
    """The column at which a member ends in the request's JSON text; without a name, the end of the last member."""
    column = 0
    for name, value in request.items():
        column += _length(name) + _length(value) + 2
        if name == last:
            break
    return column


def _length(value: Any) -> int:
    return len(_written(value).encode("utf-8", "surrogatepass"))


def _written(value: Any) -> str:
    """A value as compact JSON. Also accepts numbers and texts that strict writers reject."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str)


def _shown(value: Any) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return f"boolean `{str(value).lower()}`"
        case int():
            return f"integer `{value}`"
        case float():
            return f"floating point `{value}`"
        case str():
            return f"string {_written(value)}"
        case list():
            return "sequence"
        case _:
            return "map"
