"""CSL-JSON read object by object: the form that Zotero, Mendeley and pandoc give bibliographies in.

A file is an array of objects, objects line by line, or ``{"items": [...]}``; it may be larger than memory. An object
that can't be parsed is told by its line, and reading goes on with the next one.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any, BinaryIO

import orjson

from keyplan_systems.papers.design import Role
from keyplan_systems.papers.records import (
    FIELD_NAME,
    UNDATED,
    Person,
    Record,
    Trouble,
    collection_of,
    doi_of,
    moment_of,
    topics_of,
)

__all__ = ["read_csl"]

READ_BYTES = 64 * 1024
OBJECT_CHARACTERS_MAX = 4 * 1024 * 1024
"""No entry is longer: a brace isn't closed."""
TOLD_TOGETHER = 100
"""Faults between two objects that are kept: a file may hold no object at all."""

_WRAPPER = re.compile(r'\s*\{\s*"(?:items|references)"\s*:\s*\[')
_TAKEN = frozenset({
    "id", "type", "title", "publisher", "issued", "author", "contributor", "editor", "keyword", "abstract", "DOI",
    "URL", "volume", "issue", "page",
})  # fmt: skip
_BIBTEX_NAMES = {
    "collection-title": "series",
    "publisher-place": "address",
    "genre": "type",
    "chapter-number": "chapter",
    "event-title": "eventtitle",
    "accessed": "urldate",
}
"""What BibTeX calls what CSL has another name for."""
_BETWEEN = " \t\r\n,[]}"
_MARKS = re.compile(r'["\\{}]')
_ROLES: tuple[tuple[str, Role], ...] = (
    ("author", "author"),
    ("contributor", "contributor"),
    ("editor", "editor"),
)


def read_csl(path: Path) -> Iterator[Record | Trouble]:
    """The records of a file, and what isn't an entry. Raises OSError."""
    with path.open("rb") as file:
        objects = _Objects(file)
        for line, text in objects:
            yield from objects.others()
            if text is None:
                yield Trouble(line, "an object isn't closed", "close its braces and its texts")
                continue
            try:
                data = orjson.loads(text)
            except ValueError as error:
                at = line + getattr(error, "lineno", 1) - 1
                yield Trouble(at, f"the entry can't be read: {getattr(error, 'msg', error)}")
                continue
            yield from _read(line, data)
        yield from objects.others()


class _Objects:
    """The outermost objects of a file, as texts with the lines that they begin on; None for one that has no end."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._decoder = codecs.getincrementaldecoder("utf-8-sig")("replace")
        self._text = ""
        self._line = 1
        self._others: list[Trouble] = []
        self._open = 0
        """How many brackets between the objects are open."""
        self._broken = False
        """Whether a fault was found that may be why a bracket isn't seen to be closed."""

    def __iter__(self) -> Iterator[tuple[int, str | None]]:
        self._more()
        wrapper = _WRAPPER.match(self._text)
        if wrapper:
            self._open = 1
            self._drop(wrapper.end())
        while self._begin():
            line, end = self._line, self._end()
            if end is None or self._swallowed(end):
                again = self._next_like_this(end)
                self._broken = True
                yield line, None
                self._drop(again)
            else:
                text = self._text[:end]
                self._drop(end)
                yield line, text
        if self._open > 0 and not self._broken:
            self._others.append(Trouble(self._line, "the list isn't closed", "the file may be cut off: fetch it again"))

    def _more(self) -> bool:
        """Read on; False at the end of the file."""
        data = self._file.read(max(READ_BYTES, len(self._text)))
        self._text += self._decoder.decode(data, final=not data)
        return bool(data)

    def _drop(self, count: int) -> None:
        self._line += self._text.count("\n", 0, count)
        self._text = self._text[count:]

    def _begin(self) -> bool:
        """Go to the next object; False where there is none."""
        while (at := self._text.find("{")) < 0:
            self._pass(len(self._text))
            if not self._more():
                return False
        self._pass(at)
        return True

    def _pass(self, count: int) -> None:
        """Pass over what stands between objects: commas and brackets, and nothing else."""
        self._open += self._text.count("[", 0, count) - self._text.count("]", 0, count)
        other = self._text[:count].lstrip(_BETWEEN)
        self._broken = self._broken or bool(other)
        if other and len(self._others) < TOLD_TOGETHER:
            line = self._line + self._text.count("\n", 0, count - len(other))
            self._others.append(Trouble(line, f"not an entry: {' '.join(other.split())[:60]!r}"))
        self._drop(count)

    def others(self) -> Iterator[Trouble]:
        """What stood between the objects up to here."""
        yield from self._others
        self._others.clear()

    def _end(self) -> int | None:
        """Where the object that the text begins with ends; None for one without an end."""
        depth, quoted, at = 0, False, 0
        while True:
            for mark in _MARKS.finditer(self._text, at):
                if mark.start() < at:
                    continue  # behind a backslash
                at = mark.end()
                if mark[0] == "\\":
                    at += 1
                elif mark[0] == '"':
                    quoted = not quoted
                elif not quoted:
                    depth += 1 if mark[0] == "{" else -1
                    if depth == 0:
                        return at
            at = max(at, len(self._text))
            if len(self._text) > OBJECT_CHARACTERS_MAX or not self._more():
                return None

    def _swallowed(self, end: int) -> bool:
        """Whether an object isn't one, and has others within it: its own end was missing."""
        if self._resume(end) is None:
            return False
        try:
            orjson.loads(self._text[:end])
        except ValueError:
            return True
        return False

    def _next_like_this(self, end: int | None) -> int:
        """Where to go on behind an object that has no end of its own."""
        return self._resume(end) or end or len(self._text)

    def _resume(self, end: int | None) -> int | None:
        """The beginning of a line with another object, before ``end``."""
        match = re.compile(r'\n[ \t]*\{(?=\s*"(?:id|type|title|citation-key)")').search(
            self._text, 1, end or len(self._text)
        )
        return match.start() if match else None


# Entries


def _read(line: int, data: Any) -> Iterator[Record | Trouble]:
    identity, title = _text(data.get("id")), _text(data.get("title"))
    if not identity or not title:
        yield Trouble(line, f"the entry has no {'title' if identity else 'id'}", "an entry needs both")
        return
    kind = _text(data.get("type")) or "document"
    named = "container-title"
    if not _text(data.get(named)):
        named = {"book": "collection-title", "report": "publisher"}.get(kind, named)
    issue = "issue" if _text(data.get("issue")) else "number"
    further, odd = _further({name: value for name, value in data.items() if name not in {named, issue}})
    issued = data.get("issued")
    published = _issued(issued)
    if odd:
        yield Trouble(line, f"entry {identity} has fields that can't be kept: {', '.join(odd)[:200]}")
    if issued and published is None:
        yield Trouble(
            line, f"entry {identity} has a date that can't be read: {str(issued)[:60]}", "it is taken as undated"
        )
    yield Record(
        line=line,
        paper_id=identity,
        title=title,
        collection=collection_of(kind, [_text(data.get(named))]),
        kind=kind,
        published_at=published or UNDATED,
        people=tuple(_people(data)),
        topics=topics_of(_keywords(data)),
        abstract=_text(data.get("abstract")),
        doi=doi_of(_text(data.get("DOI")), _text(data.get("URL"))),
        url=_text(data.get("URL")) or None,
        volume=_text(data.get("volume")) or None,
        issue=_text(data.get(issue)) or None,
        pages=_text(data.get("page")) or None,
        publisher=_text(data.get("publisher")) or None,
        editors=tuple(_editors(data)),
        further=further,
    )


def _people(data: Mapping[str, Any]) -> Iterator[Person]:
    """Who wrote it; editors are its people where nobody wrote it."""
    for name, role in _ROLES:
        if role != "editor" or not data.get("author"):
            for printed in _names(data.get(name)):
                yield Person(printed, role)


def _editors(data: Mapping[str, Any]) -> list[str]:
    """Who edited what a paper appeared in."""
    return list(_names(data.get("editor"))) if data.get("author") else []


def _further(data: Mapping[str, Any]) -> tuple[dict[str, str], list[str]]:
    """What else an entry says, by BibTeX's names where it has one; and the fields that can't be kept."""
    said = {name.lower(): value for name, value in data.items() if name not in _TAKEN}
    custom = said.pop("custom", None)
    said |= custom if isinstance(custom, Mapping) else {}
    further: dict[str, str] = {}
    odd: list[str] = []
    for name, value in said.items():
        text = _text(value) or "; ".join(_names(value)) or "; ".join(filter(None, map(_text, _list(value))))
        if isinstance(value, Mapping) and (moment := _issued(value)):
            text = f"{moment:%Y-%m-%d}"
        key = _BIBTEX_NAMES.get(name, name)
        if text and FIELD_NAME.fullmatch(key):
            further[key] = text
        elif value:
            odd.append(str(name))
    return {name: further[name] for name in sorted(further)}, odd


def _names(people: Any) -> Iterator[str]:
    for value in _list(people):
        if not isinstance(value, Mapping):
            continue
        parts = ("given", "dropping-particle", "non-dropping-particle", "family", "suffix")
        printed = _text(value.get("literal")) or " ".join(text for part in parts if (text := _text(value.get(part))))
        if printed:
            yield printed


def _issued(issued: Any) -> datetime | None:
    """The date: ``{"date-parts": [[2026, 5, 4]]}``, ``{"raw": "2026-05-04"}``, or the text alone."""
    if isinstance(issued, Mapping):
        parts = _list(issued.get("date-parts"))
        if parts and isinstance(parts[0], list) and parts[0]:
            return moment_of(*parts[0][:3])
        issued = issued.get("raw") or issued.get("literal")
    dated = re.match(r"\s*(\d{4})(?:-(\d{1,2}))?(?:-(\d{1,2}))?", _text(issued))
    return moment_of(*dated.groups()) if dated else None


def _keywords(data: Mapping[str, Any]) -> str:
    return ";".join(_text(value) for value in _list(data.get("keyword")))


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [] if value is None else [value]


def _text(value: Any) -> str:
    """A text on one line without marks of formatting (``<i>``); "" for what is no text and no number."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return ""
    return " ".join(re.sub(r"</?(?:i|b|sub|sup|sc|span)\b[^<>]*>", "", str(value)).split())
