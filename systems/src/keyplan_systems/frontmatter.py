"""Front matter: the fields before a Markdown text, with line numbers.

YAML between lines of ``---``, TOML between lines of ``+++``, one JSON object, or lines of ``Title: …`` without
delimiters, as in Pelican and MultiMarkdown. ``posts`` interprets the fields.
"""

from __future__ import annotations

import functools
import json
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from keyplan.errors import RequestError

__all__ = ["FrontMatter", "FrontMatterError", "load_yaml", "plain_text", "read_front_matter", "split_front_matter"]


class FrontMatterError(Exception):
    """A file that can't be read. ``line`` counts from 1; None for the whole file."""

    def __init__(self, message: str, *, line: int | None = None, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.line = line
        self.hint = hint


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """The fields before a text, the line of each, and the text."""

    fields: Mapping[str, Any]
    lines: Mapping[str, int]
    body: str


@dataclass(frozen=True, slots=True)
class Parts:
    """A file's raw front matter, and its body. ``first_line``: the line of the header."""

    kind: str
    header: str
    first_line: int
    body: str


HEADER_CHARACTERS_MAX = 64_000
"""Longer front matter is rejected: YAML is slow to parse, and a file can be malicious."""

TOO_DEEP = "values within values, too many"

_ENDS = {"---": ("---", "..."), "+++": ("+++",)}
_METADATA_NAMES = frozenset({"title", "date"})
_OTHER_NAMES = frozenset({"author", "authors", "category", "lang", "modified", "slug", "status", "summary", "tags"})
"""Metadata without delimiters has one of ``_METADATA_NAMES`` or two of these; other lines with a colon are text."""


def plain_text(data: bytes) -> str:
    """A file's bytes as text: without a byte order mark, with newlines normalized. Raises FrontMatterError."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise FrontMatterError(
            f"not UTF-8: the byte 0x{data[error.start]:02x} is invalid there", line=line, hint="save the file as UTF-8"
        ) from None
    return text.replace("\r\n", "\n").replace("\r", "\n")


def split_front_matter(text: str) -> Parts | None:
    """The parts of a text with normalized newlines, or None without front matter.

    Raises FrontMatterError for front matter without an end.
    """
    first, _, rest = text.partition("\n")
    mark = first.rstrip(" \t")
    if mark in _ENDS:
        return _fenced(mark, rest)
    if text.startswith("{") and text[1:].lstrip()[:1] in {'"', "}"}:
        end = _json_end(text)
        return Parts("JSON", text[:end], 1, text[end:].lstrip("\n"))
    end = _metadata_end(text)
    names = {line.partition(":")[0].lower() for line in text[:end].split("\n")}
    if _METADATA_NAMES & names or len(_OTHER_NAMES & names) > 1:
        return Parts("metadata", text[:end], 1, text[end:].lstrip("\n"))
    return None


def _fenced(mark: str, rest: str) -> Parts:
    at = 0
    while at < len(rest):
        end = rest.find("\n", at)
        end = len(rest) if end < 0 else end
        if rest[at:end].rstrip(" \t") in _ENDS[mark]:
            return Parts("YAML" if mark == "---" else "TOML", rest[:at], 2, rest[end:].lstrip("\n"))
        at = end + 1
    raise FrontMatterError(
        "the front matter that begins here has no end", line=1, hint=f"close it with a line of {mark}"
    )


def _metadata_end(text: str) -> int:
    """The end of metadata lines, before a blank line; 0 if there are none. Indented lines continue a value."""
    at = 0
    for line in text.split("\n"):
        name, colon, value = line.partition(":")
        is_name = colon and name[:1].isalpha() and name.isascii() and name.replace("-", "").replace("_", "").isalnum()
        if not line:
            return at
        if not ((is_name and value[:1] in {"", " ", "\t"}) or (at and line.startswith(("    ", "\t")))):
            return 0
        at = min(at + len(line) + 1, len(text))
    return at


def _json_end(text: str) -> int:
    try:
        _, end = json.JSONDecoder().raw_decode(text)
    except json.JSONDecodeError as error:
        raise FrontMatterError(f"the JSON can't be read: {error.msg}", line=error.lineno) from None
    except RecursionError:
        raise FrontMatterError(f"the JSON can't be read: {TOO_DEEP}", line=1) from None
    except ValueError as error:
        raise FrontMatterError(f"the JSON can't be read: {error}", line=1) from None
    rest = text[end:].partition("\n")[0]
    if rest.strip():
        raise FrontMatterError(
            f"the JSON can't be read: {rest.strip()[:20]!r} behind its end",
            line=text.count("\n", 0, end) + 1,
            hint="begin the text on a line of its own",
        )
    return end


def read_front_matter(text: str) -> FrontMatter:
    """The fields and the body of a text. Raises FrontMatterError with the line of the error."""
    parts = split_front_matter(text)
    if parts is None:
        raise FrontMatterError(
            "no front matter, so it isn't a post",
            line=1,
            hint="begin the file with a line of ---, fields such as title: …, and another line of ---",
        )
    if len(parts.header) > HEADER_CHARACTERS_MAX:
        raise FrontMatterError(
            f"the front matter is {len(parts.header):,} characters; it may have {HEADER_CHARACTERS_MAX:,}",
            line=1,
            hint="keep the text below it",
        )
    fields, lines = _READERS[parts.kind](parts)
    return FrontMatter(fields, lines, parts.body)


def _mapping(result: Any, kind: str, line: int) -> dict[str, Any]:
    if result is None:
        return {}
    if not isinstance(result, dict):
        raise FrontMatterError(
            f"the front matter must be fields with values; this {kind} is one {type(result).__name__}", line=line
        )
    return {str(name): value for name, value in result.items()}


# YAML


@functools.cache
def _yaml() -> tuple[Any, type[Any]]:
    """PyYAML, and its safe loader with invalid dates as texts."""
    try:
        import yaml  # noqa: PLC0415 - an extra, which only YAML needs
    except ImportError:
        raise RequestError(
            "YAML front matter needs PyYAML, which isn't installed", hint="pip install keyplan-systems"
        ) from None

    class Loader(yaml.SafeLoader):
        """The safe loader."""

    def moment(loader: Any, node: Any) -> Any:
        try:
            return yaml.SafeLoader.construct_yaml_timestamp(loader, node)
        except (ValueError, OverflowError):
            return node.value

    Loader.add_constructor("tag:yaml.org,2002:timestamp", moment)
    return yaml, Loader


def load_yaml(text: str) -> Any:
    """A YAML document as plain values. Raises FrontMatterError."""
    yaml, loader_class = _yaml()
    try:
        return loader_class(text).get_single_data()
    except (yaml.YAMLError, RecursionError, ValueError, OverflowError) as error:
        raise FrontMatterError(f"the YAML can't be read: {error}") from None


def _read_yaml(parts: Parts) -> tuple[dict[str, Any], dict[str, int]]:
    yaml, loader_class = _yaml()
    first = parts.first_line
    try:
        loader = loader_class(parts.header)
        node = loader.get_single_node()
        if node is None:
            return {}, {}
        fields = _mapping(loader.construct_document(node), "YAML", node.start_mark.line + first)
    except yaml.reader.ReaderError as error:
        line = parts.header.count("\n", 0, error.position) + first
        raise FrontMatterError(f"the YAML can't be read: {error.reason}", line=line) from None
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        said = ", ".join(value for value in (error.context, error.problem) if value)
        raise FrontMatterError(
            f"the YAML can't be read: {said}",
            line=mark.line + first if mark else first,
            hint="put values with : or # or quotes in them between quotes",
        ) from None
    except RecursionError:
        raise FrontMatterError(f"the YAML can't be read: {TOO_DEEP}", line=first) from None
    except (ValueError, OverflowError) as error:
        raise FrontMatterError(f"the YAML can't be read: {error}", line=first) from None
    return fields, {str(key.value): key.start_mark.line + first for key, _ in node.value}


# TOML and JSON


def _read_toml(parts: Parts) -> tuple[dict[str, Any], dict[str, int]]:
    try:
        fields = tomllib.loads(parts.header)
    except RecursionError:
        raise FrontMatterError(f"the TOML can't be read: {TOO_DEEP}", line=parts.first_line) from None
    except ValueError as error:  # tomllib's errors are ValueErrors
        text, _, place = str(error).rpartition(" (at ")
        number = place.partition("line ")[2].partition(",")[0]
        line = int(number) if number.isdecimal() else parts.header.count("\n")
        raise FrontMatterError(f"the TOML can't be read: {text or error}", line=line + parts.first_line - 1) from None
    return fields, _lines(parts, fields)


def _read_json(parts: Parts) -> tuple[dict[str, Any], dict[str, int]]:
    fields = _mapping(json.loads(parts.header), "JSON", parts.first_line)
    return fields, _lines(parts, fields)


def _read_metadata(parts: Parts) -> tuple[dict[str, Any], dict[str, int]]:
    """Lower-case names with texts; ``authors: A; B`` and ``tags: a, b`` are lists."""
    fields: dict[str, Any] = {}
    lines: dict[str, int] = {}
    name = ""
    for number, line in enumerate(parts.header.rstrip("\n").split("\n"), parts.first_line):
        if line.startswith(("    ", "\t")):
            fields[name] = f"{fields[name]}\n{line.strip()}".strip()
            continue
        name, _, value = line.partition(":")
        name = name.lower()
        fields[name], lines[name] = value.strip(), number
    for name in _METADATA_LISTS & fields.keys():
        divided = fields[name].replace("\n", ";" if ";" in fields[name] else ",")
        fields[name] = [part.strip() for part in divided.split(";" if ";" in divided else ",") if part.strip()]
    return fields, lines


_METADATA_LISTS = frozenset({"author", "authors", "tags", "keywords"})


def _lines(parts: Parts, fields: Mapping[str, Any]) -> dict[str, int]:
    """The line of each field: the first that starts with its name, because the TOML and JSON parsers give no lines."""
    result: dict[str, int] = {}
    for number, line in enumerate(parts.header.split("\n"), parts.first_line):
        words = line.strip(" \t{[")
        quoted = words[:1] in {'"', "'"}
        name = (
            words[1:].partition(words[0])[0] if quoted else words.partition("=")[0].partition("]")[0].partition(".")[0]
        )
        if name.strip() in fields:
            result.setdefault(name.strip(), number)
    return result


_READERS: Mapping[str, Callable[[Parts], tuple[dict[str, Any], dict[str, int]]]] = {
    "YAML": _read_yaml,
    "TOML": _read_toml,
    "JSON": _read_json,
    "metadata": _read_metadata,
}
