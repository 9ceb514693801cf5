"""From the lines of objects to items, and back: DynamoDB JSON, Amazon Ion and CSV.

A line that can't be read ends its object, as the service documents it; what is wrong with an item is its own affair.
"""

from __future__ import annotations

import csv
import io
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import IO, Any, Literal

import orjson

from keyplan.store.transfer import ion

Format = Literal["DYNAMODB_JSON", "ION", "CSV"]
Fields = dict[str, Any]

LINE_BYTES_MAX = 8 * 1024 * 1024
"""A line of an item of 400 KB, however it is escaped, is shorter."""
ITEM_LINES_MAX = 20_000
"""An item in Ion may stand on so many lines."""
_DELIMITER = ","
_BROKEN = (OSError, EOFError, zlib.error, UnicodeError, csv.Error)
"""What reading an object raises that is packed otherwise, cut short or no text."""


class UnreadableError(Exception):
    """The rest of an object can't be read."""


@dataclass(frozen=True, slots=True)
class Csv:
    """How CSV is to be read: what separates, the header if it isn't in the file, and the types of key attributes."""

    types: Mapping[str, str]
    delimiter: str = _DELIMITER
    header: Sequence[str] | None = None


def read_records(file: IO[bytes], format_: Format, how: Csv) -> Iterator[Fields]:
    """The records of an object, one after the other: of each its fields, such as ``Item``.

    Raises:
        UnreadableError: the next one can't be read; those before are good.
    """
    try:
        if format_ == "CSV":
            yield from _csv_records(file, how)
        elif format_ == "ION":
            yield from _ion_records(file)
        else:
            yield from _json_records(file)
    except _BROKEN as error:
        raise UnreadableError(f"The object can't be read: {error}") from None
    except Exception as error:
        # The package for ZSTD has an error of its own, which can't be named where it isn't installed.
        if type(error).__name__ == "ZstdError":
            raise UnreadableError(f"The object can't be read: {error}") from None
        raise


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


def _ion_records(file: IO[bytes]) -> Iterator[Fields]:
    waiting: list[str] = []
    length = 0
    brackets = ion.Brackets()
    for line in _lines(file):
        text = line.decode()
        if not waiting and ion.is_blank(text):
            continue
        length += len(text)
        if length >= LINE_BYTES_MAX:
            raise UnreadableError(f"An item is longer than {LINE_BYTES_MAX} characters")
        waiting.append(text)
        if len(waiting) > ITEM_LINES_MAX:
            raise UnreadableError(f"An item stands on more than {ITEM_LINES_MAX} lines")
        # Only where its last bracket closes it is read: else a long item would be read over and over.
        if not brackets.may_end(text):
            continue
        try:
            fields = ion.read_struct("".join(waiting))
        except ion.IonError as error:
            raise UnreadableError(f"A line isn't Ion: {error}") from None
        waiting.clear()
        length = 0
        brackets = ion.Brackets()
        yield {name: _plain(name, value) for name, value in fields.items()}
    if waiting:
        raise UnreadableError("The last item isn't whole")


_STRUCTS = frozenset(("Item", "ExpressionAttributeValues", "Keys", "NewImage", "OldImage"))


def _plain(name: str, value: dict[str, Any]) -> Any:
    """A field of a record as it stands in JSON: an item as its attributes, a text as itself."""
    if name in _STRUCTS and "M" in value:
        return value["M"]
    if name == "ExpressionAttributeNames" and "M" in value:
        return {placeholder: each.get("S") for placeholder, each in value["M"].items()}
    return value.get("S", value)


def _csv_records(file: IO[bytes], how: Csv) -> Iterator[Fields]:
    csv.field_size_limit(max(csv.field_size_limit(), LINE_BYTES_MAX))
    text = io.TextIOWrapper(file, "utf-8-sig", newline="")
    try:
        yield from _csv_rows(text, how)
    finally:
        text.detach()  # who opened the file closes it


class _RowLines:
    """The lines of a file of rows. No line is read, and no row put together of lines, that is longer than any may be:
    of a file that was packed from one letter they would take all memory.
    """

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


def _csv_rows(text: io.TextIOWrapper, how: Csv) -> Iterator[Fields]:
    header = how.header
    lines = _RowLines(text)
    for row in csv.reader(lines, delimiter=how.delimiter, strict=True):
        lines.row_length = 0
        if not row:
            continue
        if header is None:
            header = row
        elif len(row) != len(header):
            yield {"ErrorDetail": f"The row has {len(row)} columns, the header {len(header)}"}
        else:
            yield {"Item": {name: {how.types.get(name, "S"): cell} for name, cell in zip(header, row, strict=True)}}


def write_record(fields: Mapping[str, Any], format_: Format) -> bytes:
    """The line of a record. The members of ``fields`` are items, or maps of attribute values."""
    if format_ == "ION":
        return ion.write_struct({name: {"M": dict(item)} for name, item in fields.items()}).encode() + b"\n"
    return orjson.dumps(fields) + b"\n"
