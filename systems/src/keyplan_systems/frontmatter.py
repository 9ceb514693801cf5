"""Front matter: the fields before a Markdown text.

It is YAML between lines of ``---``, or TOML between lines of ``+++``. ``posts`` interprets the fields.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from typing import Any, NamedTuple

import yaml

HEADER_CHARACTERS_MAX = 64_000
"""Longer front matter is rejected: YAML is slow to parse, and a file can be malicious."""
INTEGER_MAX = 2**63
TOO_DEEP = "its values are nested too deeply"
HEADER_LINE = 2
"""The line of a file on which the fields start."""
_ENDS = {"---": ("---", "..."), "+++": ("+++",)}


class FrontMatterError(Exception):
    """A file that can't be read. ``line`` counts from 1; None for the whole file."""

    def __init__(self, message: str, *, line: int | None = None, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.line = line
        self.hint = hint


class FrontMatter(NamedTuple):
    """The fields before a text, and the text."""

    fields: Mapping[str, Any]
    body: str


class Parts(NamedTuple):
    """A file's front matter as text, with its delimiter, and its body."""

    mark: str
    header: str
    body: str


def plain_text(data: bytes) -> str:
    """A file's bytes as text: without a byte order mark, with newlines normalized. Raises FrontMatterError."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise FrontMatterError(
            f"the file isn't UTF-8: invalid byte 0x{data[error.start]:02x}", line=line, hint="save the file as UTF-8"
        ) from None
    return text.replace("\r\n", "\n").replace("\r", "\n")


def split_front_matter(text: str) -> Parts | None:
    """The parts of a text with normalized newlines, or None without front matter.

    Raises FrontMatterError for front matter without an end.
    """
    first, _, rest = text.partition("\n")
    mark = first.rstrip(" \t")
    if mark not in _ENDS:
        return None
    at = 0
    while at < len(rest):
        end = rest.find("\n", at)
        end = len(rest) if end < 0 else end
        if rest[at:end].rstrip(" \t") in _ENDS[mark]:
            return Parts(mark, rest[:at], rest[end:].lstrip("\n"))
        at = end + 1
    raise FrontMatterError("the front matter has no end", line=1, hint=f"end the front matter with a line of {mark}")


def read_front_matter(text: str) -> FrontMatter:
    """The fields and the body of a text; no fields without front matter. Raises FrontMatterError with the line of the
    error.
    """
    parts = split_front_matter(text)
    if parts is None:
        return FrontMatter({}, text)
    if len(parts.header) > HEADER_CHARACTERS_MAX:
        raise FrontMatterError(
            f"the front matter has {len(parts.header):,} characters; the maximum is {HEADER_CHARACTERS_MAX:,}",
            line=1,
            hint="move the text below the front matter",
        )
    fields = _read_yaml(parts.header) if parts.mark == "---" else _read_toml(parts.header)
    return FrontMatter(fields, parts.body)


class _Loader(yaml.SafeLoader):
    """PyYAML's safe loader, with invalid dates and very large integers as strings."""


def _date(loader: yaml.SafeLoader, node: yaml.ScalarNode) -> object:
    try:
        return loader.construct_yaml_timestamp(node)
    except (ValueError, OverflowError):
        return node.value


def _integer(loader: yaml.SafeLoader, node: yaml.ScalarNode) -> object:
    value = loader.construct_yaml_int(node)
    return value if abs(value) < INTEGER_MAX else node.value  # Python's digit limit doesn't apply to 59:59:59…


_Loader.add_constructor("tag:yaml.org,2002:timestamp", _date)
_Loader.add_constructor("tag:yaml.org,2002:int", _integer)


def load_yaml(text: str) -> Any:
    """A YAML document as plain values. Raises FrontMatterError, with the line in a file of which it is the header."""
    line, hint = HEADER_LINE, None
    try:
        return _Loader(text).get_single_data()
    except yaml.reader.ReaderError as error:
        said, line = error.reason, text.count("\n", 0, error.position) + HEADER_LINE
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        said, line = error.problem or error.context, HEADER_LINE + (mark.line if mark else 0)
        hint = "quote values that contain :, # or quotes"
    except RecursionError:
        said = TOO_DEEP
    except (ValueError, OverflowError) as error:
        said = str(error)
    raise FrontMatterError(f"the YAML is invalid: {said}", line=line, hint=hint)


def _read_yaml(header: str) -> dict[str, Any]:
    fields = load_yaml(header)
    if fields is None or isinstance(fields, dict):
        return {str(name): value for name, value in (fields or {}).items()}
    said = f"the front matter must be a mapping (name: value), but is of type {type(fields).__name__}"
    raise FrontMatterError(said, line=HEADER_LINE)


def _read_toml(header: str) -> dict[str, Any]:
    try:
        return tomllib.loads(header)
    except RecursionError:
        raise FrontMatterError(f"the TOML is invalid: {TOO_DEEP}", line=HEADER_LINE) from None
    except ValueError as error:  # tomllib's errors are ValueErrors
        said, _, place = str(error).rpartition(" (at ")
        number = place.partition("line ")[2].partition(",")[0]
        line = int(number) if number.isdecimal() else header.count("\n")
        raise FrontMatterError(f"the TOML is invalid: {said or error}", line=line + HEADER_LINE - 1) from None
