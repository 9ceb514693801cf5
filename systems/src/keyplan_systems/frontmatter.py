"""Front matter: the fields that stand before a Markdown text, as Jekyll and Hugo write them, with their line numbers.

YAML between lines of ``---``, TOML between lines of ``+++``, one JSON object, or lines of ``Title: …`` that nothing
stands around, as Pelican and MultiMarkdown have them. What the fields mean to a post, and
which files of a folder are posts, is in ``posts.py``.
"""

from __future__ import annotations

import functools
import json
import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from keyplan.errors import RequestError

__all__ = ["FrontMatter", "FrontMatterError", "load_yaml", "plain_text", "read_front_matter", "split_front_matter"]


class FrontMatterError(Exception):
    """A file that can't be read. ``line`` is the file's, from 1 on; None when the whole file is meant."""

    def __init__(self, message: str, *, line: int | None = None, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.line = line
        self.hint = hint


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """The fields before a text, the line each begins at, and the text."""

    fields: Mapping[str, Any]
    lines: Mapping[str, int]
    body: str


@dataclass(frozen=True, slots=True)
class Parts:
    """A file's front matter as it stands there, and its body. ``first_line``: the file's line the header begins at."""

    kind: str
    header: str
    first_line: int
    body: str


HEADER_CHARACTERS_MAX = 64_000
"""Longer front matter is refused: reading YAML is slow, and a file can be a trap."""

TOO_DEEP = "values within values, too many"

_YAML = re.compile(r"---[ \t]*\n(.*?)^(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL | re.MULTILINE)
_TOML = re.compile(r"\+\+\+[ \t]*\n(.*?)^\+\+\+[ \t]*(?:\n|\Z)", re.DOTALL | re.MULTILINE)
_JSON = re.compile(r'\{\s*["}]')
_METADATA = re.compile(r"(?:[A-Za-z][\w-]*:(?:[ \t][^\n]*)?\n(?:(?: {4}|\t)[^\n]*\n)*)+(?=\n|\Z)")
"""Lines of names with values, a value going on in lines that are indented; a blank line ends them."""
_METADATA_NAMES = frozenset({"title", "date"})
_OTHER_NAMES = frozenset({"author", "authors", "category", "lang", "modified", "slug", "status", "summary", "tags"})
"""Two of them are metadata too: a date may stand in the file's name, and a title in the text."""
"""Of these there must be one, else a text begins with a colon in its first line."""
_OPENED = re.compile(r"(---|\+\+\+)[ \t]*(?:\n|\Z)")


def plain_text(data: bytes) -> str:
    """A file's bytes as text: without a byte order mark, its lines ended by newlines. Raises FrontMatterError."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise FrontMatterError(
            f"not UTF-8: the byte 0x{data[error.start]:02x} can't stand there", line=line, hint="save the file as UTF-8"
        ) from None
    return text.replace("\r\n", "\n").replace("\r", "\n")


def split_front_matter(text: str) -> Parts | None:
    """The parts of a text (newlines as ``plain_text`` gives them), or None where no front matter begins it.

    Raises FrontMatterError for front matter that doesn't end.
    """
    for kind, pattern in (("YAML", _YAML), ("TOML", _TOML)):
        match = pattern.match(text)
        if match:
            return Parts(kind, match[1], 2, text[match.end() :].lstrip("\n"))
    if _JSON.match(text):
        end = _json_end(text)
        return Parts("JSON", text[:end], 1, text[end:].lstrip("\n"))
    opened = _OPENED.match(text)
    if opened:
        raise FrontMatterError(
            "the front matter that begins here has no end", line=1, hint=f"close it with a line of {opened[1]}"
        )
    match = _METADATA.match(text if text.endswith("\n") else f"{text}\n")
    names = {line.partition(":")[0].lower() for line in match[0].split("\n")} if match else set[str]()
    if match and (_METADATA_NAMES & names or len(_OTHER_NAMES & names) > 1):
        return Parts("metadata", match[0], 1, text[match.end() :].lstrip("\n"))
    return None


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
    """The fields and the body of a text. Raises FrontMatterError, with the line of what is wrong."""
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
    """PyYAML, and its safe loader with dates that aren't any left as texts."""
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
    """A document of YAML as plain values. Raises FrontMatterError."""
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
    except ValueError as error:  # tomllib's own errors are of this kind
        text, _, place = str(error).rpartition(" (at ")
        match = re.search(r"line (\d+)", place)
        line = int(match[1]) if match else parts.header.count("\n")
        raise FrontMatterError(f"the TOML can't be read: {text or error}", line=line + parts.first_line - 1) from None
    return fields, _lines(parts, fields, r"^[ \t]*\[*[\"']?{name}[\"']?[ \t]*[\]=.]")


def _read_json(parts: Parts) -> tuple[dict[str, Any], dict[str, int]]:
    fields = _mapping(json.loads(parts.header), "JSON", parts.first_line)
    return fields, _lines(parts, fields, r'"{name}"[ \t\n]*:')


def _read_metadata(parts: Parts) -> tuple[dict[str, Any], dict[str, int]]:
    """Names in lower case, with texts; ``authors: A; B`` and ``tags: a, b`` are lists."""
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
        parted = re.split(r";|\n" if ";" in fields[name] else r",|\n", fields[name])
        fields[name] = [part.strip() for part in parted if part.strip()]
    return fields, lines


_METADATA_LISTS = frozenset({"author", "authors", "tags", "keywords"})


def _lines(parts: Parts, fields: Mapping[str, Any], pattern: str) -> dict[str, int]:
    """The line of each field, found by its name: the parsers of TOML and JSON don't tell."""
    result: dict[str, int] = {}
    for name in fields:
        match = re.search(pattern.format(name=re.escape(name)), parts.header, re.MULTILINE)
        if match:
            result[name] = parts.header.count("\n", 0, match.start()) + parts.first_line
    return result


_READERS: Mapping[str, Callable[[Parts], tuple[dict[str, Any], dict[str, int]]]] = {
    "YAML": _read_yaml,
    "TOML": _read_toml,
    "JSON": _read_json,
    "metadata": _read_metadata,
}
