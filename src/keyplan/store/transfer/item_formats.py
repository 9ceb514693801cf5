"""Records of imported and exported objects in DynamoDB JSON, Amazon Ion and CSV.

The formats are those of the developer guide, "DynamoDB table export output format" and "Amazon S3 import formats". An
unreadable record ends the import of its object, as the service documents; the caller validates items. Ion requires the
package amazon.ion (the extra ``ion``).
"""

from __future__ import annotations

import csv
import io
import math
import re
import zlib
from base64 import b64decode, b64encode
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from importlib import import_module
from types import ModuleType
from typing import IO, Any, Literal

import orjson

from keyplan.store.transfer.bucket_folder import S3Error

Format = Literal["DYNAMODB_JSON", "ION", "CSV"]
Fields = dict[str, Any]

LINE_BYTES_MAX = 8 * 1024 * 1024
"""The line of an item of 400 KB is shorter, even with escapes."""
ION_BYTES_MAX = 3_000_000
"""The Ion record of an item of 400 KB is shorter, even if every character is escaped."""
_DELIMITER = ","
_BROKEN = (OSError, EOFError, zlib.error, UnicodeError, csv.Error)
"""Errors of reading an object with another compression, a truncated one, or one that isn't text."""


class UnreadableError(Exception):
    """The rest of an object can't be read."""


@dataclass(frozen=True, slots=True)
class Csv:
    """Options for CSV: the delimiter, the header if it isn't in the file, and the types of key attributes."""

    types: Mapping[str, str]
    delimiter: str = _DELIMITER
    header: Sequence[str] | None = None


def read_records(file: IO[bytes], format_: Format, how: Csv) -> Iterator[Fields | UnreadableError]:
    """The fields of each record, and the error of the first record that can't be read."""
    try:
        if format_ == "CSV":
            yield from _csv_records(file, how)
        elif format_ == "ION":
            yield from _ion_records(file)
        else:
            yield from _json_records(file)
    except UnreadableError as error:
        yield error
    except Exception as error:
        # The optional package zstandard raises its own exception class, which can't always be imported.
        if not isinstance(error, _BROKEN) and type(error).__name__ != "ZstdError":
            raise
        yield UnreadableError(f"The object can't be read: {error}")


def _lines(file: IO[bytes]) -> Iterator[bytes]:
    while line := file.readline(LINE_BYTES_MAX):
        if len(line) == LINE_BYTES_MAX:
            raise UnreadableError(f"A line is longer than {LINE_BYTES_MAX} bytes")
        yield line


def _json_records(file: IO[bytes]) -> Iterator[Fields]:
    for line in _lines(file):
        if not line.strip():
            continue
        try:
            record = orjson.loads(line)
        except orjson.JSONDecodeError as error:
            raise UnreadableError(f"A line isn't JSON: {error}") from None
        if not isinstance(record, dict):
            raise UnreadableError("A line isn't a JSON object")
        yield record


def _ion() -> ModuleType:
    try:
        return import_module("amazon.ion.simpleion")
    except ModuleNotFoundError:
        raise S3Error("UnsupportedFormat", "ION needs the package amazon.ion: pip install 'keyplan[ion]'") from None


_LONG_NUMBER = re.compile(rb"[:,\[(\s]-?(?:0[xXbB])?[0-9a-fA-F_]{500}")
"""A number with so many digits is invalid, and amazon.ion takes hours to parse one of a megabyte."""


class _BoundedFile:
    """A file of Ion records that ends at a too long record or number, or an error, which amazon.ion hides."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._before = b""
        self.fault: Exception | None = None
        self.record_bytes = 0
        """The number of bytes read since the last record."""

    def read(self, size: int = -1) -> bytes:
        try:
            data = b"" if self.fault else self._file.read(size)
        except Exception as error:  # noqa: BLE001 - the caller raises the error
            self.fault = error
            return b""
        self.record_bytes += len(data)
        if self.record_bytes > ION_BYTES_MAX + size:
            self.fault = UnreadableError(f"A record is longer than {ION_BYTES_MAX} bytes")
        elif _LONG_NUMBER.search(self._before + data):
            self.fault = UnreadableError("A number has more than 500 digits")
        self._before = data[-600:]
        return b"" if self.fault else data


def _ion_records(file: IO[bytes]) -> Iterator[Fields]:
    ion = _ion()
    bounded = _BoundedFile(file)
    model = ion.IonPyValueModel.MAY_BE_BARE
    records = ion.load(
        bounded, single_value=False, parse_eagerly=False, value_model=model, text_buffer_size_limit=ION_BYTES_MAX
    )
    while True:
        try:
            record = next(records, None)
            fields = None if record is None else _attribute(record)
        except (ValueError, RecursionError) as error:
            raise bounded.fault or UnreadableError(f"A record isn't valid Ion: {error}") from None
        except Exception as error:
            if type(error).__name__ != "IonException":
                raise
            raise bounded.fault or UnreadableError(f"A record isn't valid Ion: {error}") from None
        if bounded.fault is not None:
            raise bounded.fault
        if fields is None:
            return
        if "M" not in fields:
            raise UnreadableError("A record isn't an Ion struct")
        bounded.record_bytes = 0
        yield {name: _plain(name, value) for name, value in fields["M"].items()}


_SETS = {"$dynamodb_SS": "SS", "$dynamodb_NS": "NS", "$dynamodb_BS": "BS"}


def _attribute(value: Any) -> dict[str, Any]:
    """The attribute value of an Ion value. Raises ValueError if none corresponds, as for a timestamp or a symbol."""
    annotations = [annotation.text for annotation in getattr(value, "ion_annotations", ())]
    kind = getattr(getattr(value, "ion_type", None), "name", "")
    if annotations:
        return _set(annotations, value)
    match value:
        case _ if value is None or type(value).__name__ == "IonPyNull":
            return {"NULL": True}
        case _ if isinstance(value, bool) or kind == "BOOL":
            return {"BOOL": bool(value)}
        case int() | Decimal():
            return {"N": str(value)}
        case float() if math.isfinite(value):
            return {"N": repr(float(value))}
        case str() if kind in {"", "STRING"}:
            return {"S": str(value)}
        case bytes() if kind in {"", "BLOB"}:
            return {"B": b64encode(value).decode()}
        case Mapping():
            fields = [(str(name), _attribute(member)) for name, member in value.items()]
            if len(dict(fields)) < len(fields):
                raise ValueError("a struct has a duplicate field")
            return {"M": dict(fields)}
        case Sequence() if kind in {"", "LIST"} and not isinstance(value, (str, bytes, tuple)):
            return {"L": [_attribute(member) for member in value]}
        case _:
            raise ValueError(f"an item can't contain an Ion {kind.lower() or type(value).__name__}")


def _set(annotations: list[str], value: Any) -> dict[str, Any]:
    tag = _SETS.get(annotations[0]) if len(annotations) == 1 else None
    if tag is None or not isinstance(value, list):
        raise ValueError(f"the annotation {annotations[0]} isn't a set type, or its value isn't a list")
    members = [_attribute(member) for member in value]
    if any(tag[0] not in member for member in members):
        raise ValueError(f"a member of a {annotations[0]} list has the wrong type")
    return {tag: [member[tag[0]] for member in members]}


def _ion_value(value: Mapping[str, Any]) -> Any:
    ((tag, content),) = value.items()
    match tag:
        case "N":
            return Decimal(content)
        case "B":
            return b64decode(content)
        case "NULL":
            return None
        case "L":
            return [_ion_value(member) for member in content]
        case "M":
            return {name: _ion_value(member) for name, member in content.items()}
        case "SS" | "NS" | "BS":
            ion = _ion()
            members = [_ion_value({tag[0]: member}) for member in content]
            return ion.IonPyList.from_value(ion.IonType.LIST, members, annotations=(f"$dynamodb_{tag}",))
        case _:
            return content


_STRUCTS = frozenset(("Item", "ExpressionAttributeValues", "Keys", "NewImage", "OldImage"))


def _plain(name: str, value: dict[str, Any]) -> Any:
    if name in _STRUCTS and "M" in value:
        return value["M"]
    if name == "ExpressionAttributeNames" and "M" in value:
        return {placeholder: each.get("S") for placeholder, each in value["M"].items()}
    return value.get("S", value)


def _csv_records(file: IO[bytes], how: Csv) -> Iterator[Fields]:
    csv.field_size_limit(max(csv.field_size_limit(), LINE_BYTES_MAX))
    text = io.TextIOWrapper(file, "utf-8-sig", newline="")
    header = how.header
    lines = _RowLines(text)
    try:
        for row in csv.reader(lines, delimiter=how.delimiter, strict=True):
            lines.row_length = 0
            if not row:
                continue
            if header is None:
                header = row
            elif len(row) != len(header):
                yield {"ErrorDetail": f"The row has {len(row)} columns, but the header has {len(header)}"}
            else:
                yield {"Item": {name: {how.types.get(name, "S"): cell} for name, cell in zip(header, row, strict=True)}}
    finally:
        text.detach()  # the caller closes the file


class _RowLines:
    """The lines of a CSV file, of bounded length: one compressed repeated letter would use all memory."""

    def __init__(self, text: io.TextIOWrapper) -> None:
        self._text = text
        self.row_length = 0
        """Of the lines since the last row ended."""

    def __iter__(self) -> Iterator[str]:
        while line := self._text.readline(LINE_BYTES_MAX):
            self.row_length += len(line)
            if self.row_length >= LINE_BYTES_MAX:
                raise UnreadableError(f"A row is longer than {LINE_BYTES_MAX} characters")
            yield line


def write_record(fields: Mapping[str, Any], format_: Format) -> bytes:
    """The line of a record. The members of ``fields`` are items, or maps of attribute values."""
    if format_ == "ION":
        text: str = _ion().dumps(_ion_value({"M": {name: {"M": item} for name, item in fields.items()}}), binary=False)
        return text.encode() + b"\n"
    return orjson.dumps(fields) + b"\n"
