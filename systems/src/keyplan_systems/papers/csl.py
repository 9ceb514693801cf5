"""Reads CSL-JSON, the bibliography format of Zotero, Mendeley, Crossref and pandoc.

A file is an array of objects, objects line by line, or ``{"items": [...]}``. Reading ends at a syntax error.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from keyplan_systems.html_tags import html_text
from keyplan_systems.papers.design import Role
from keyplan_systems.papers.records import (
    FIELD_NAME,
    UNDATED,
    Person,
    Record,
    Trouble,
    collection_of,
    day_in,
    doi_of,
    moment_of,
    text_of,
    topics_of,
)

TEXT_CHARACTERS_MAX = 40_000
"""Maximum number of characters of a field that are read: twice the limit of an abstract."""
_WRAPPERS = ('"items"', '"references"')
_BETWEEN = " \t\r\n,[]}"
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
"""BibTeX's names of CSL fields."""
_BYLINE: tuple[Role, ...] = ("author", "contributor")


def read_csl(path: Path) -> Iterator[Record | Trouble]:
    """The records of a file, and its errors. Raises OSError."""
    text, trouble = text_of(path)
    if trouble is not None:
        yield trouble
    for line, entry in _objects(text):
        if isinstance(entry, Trouble):
            yield entry
        else:
            yield from _read(line, entry)


def _objects(text: str) -> Iterator[tuple[int, Any]]:
    """The outermost objects of a string with their lines, up to a syntax error, which is a Trouble."""
    decoder = json.JSONDecoder()
    start = text.find("[", 0, 200) + 1 if text[:200].lstrip("{ \t\r\n").startswith(_WRAPPERS) else 0
    line, counted, place, reason = 1, 0, start, ""
    while not reason and (begin := text.find("{", place)) >= 0:
        line, counted = line + text.count("\n", counted, begin), begin
        if text[place:begin].strip(_BETWEEN):
            break
        try:
            entry, place = decoder.raw_decode(text, begin)
        except RecursionError:
            reason = "the values are nested too deeply"
        except ValueError as error:
            reason = error.msg if isinstance(error, json.JSONDecodeError) else str(error)
        else:
            yield line, entry
    is_list = start or text.lstrip().startswith("[")
    if not reason and text[place:].strip(_BETWEEN):
        reason = f"{' '.join(text[place : place + 200].split())[:60]!r} isn't an entry"
    elif not reason and is_list and "]" not in text[place:]:
        reason = "the list isn't closed"
    if reason:
        line += text.count("\n", counted, place) if place > counted else 0
        message = f"the rest of the file can't be read: {reason}"
        yield line, Trouble(line, message, "the file may be truncated: repeat the export")


# Entries


def _read(line: int, data: Mapping[str, Any]) -> Iterator[Record | Trouble]:
    texts = defaultdict(str, {name: _text(value) for name, value in data.items()})
    identity, title = texts["id"], texts["title"]
    if not identity or not title:
        yield Trouble(line, f"the entry has no {'title' if identity else 'id'}", "add this field")
        return
    kind = texts["type"] or "document"
    named = "container-title"
    if not texts[named]:
        named = {"book": "collection-title", "report": "publisher"}.get(kind, named)
    issue = "issue" if texts["issue"] else "number"
    further, odd = _further({name: value for name, value in data.items() if name not in {named, issue}})
    issued = data.get("issued")
    published = _issued(issued)
    if odd:
        yield Trouble(line, f"entry {identity} has fields that can't be stored: {', '.join(odd)[:200]}")
    if issued and published is None:
        yield Trouble(
            line, f"entry {identity} has an invalid date: {str(issued)[:60]}", "the entry is imported without a date"
        )
    people = [Person(name, role) for role in _BYLINE for name in _names(data.get(role))]
    editors = list(_names(data.get("editor")))
    if not data.get("author"):
        people, editors = people + [Person(name, "editor") for name in editors], []
    yield Record(
        line=line,
        paper_id=identity,
        title=title,
        collection=texts[named] or collection_of(kind),
        kind=kind,
        published_at=published or UNDATED,
        people=tuple(people),
        topics=topics_of(";".join(map(_text, _list(data.get("keyword"))))),
        abstract=texts["abstract"],
        doi=doi_of(texts["DOI"], texts["URL"]),
        url=texts["URL"],
        volume=texts["volume"],
        issue=texts[issue],
        pages=texts["page"],
        publisher=texts["publisher"],
        editors=tuple(editors),
        further=further,
    )


def _further(data: Mapping[str, Any]) -> tuple[dict[str, str], list[str]]:
    """The further fields, by BibTeX's names where they exist, and the fields that can't be stored."""
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
    return day_in(_text(issued))


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [] if value is None else [value]


_BLOCKS = frozenset({"p", "div", "br", "li", "ul", "ol", "title", "sec", "label", "list", "list-item"})
_INLINE = frozenset({"a", "b", "bold", "em", "i", "italic", "sc", "scp", "span", "strong", "sub", "sup", "tt", "u"})
"""Tags that are removed. Other words between ``<`` and ``>`` stay."""


def _text(value: Any) -> str:
    """A text or number on one line, without HTML (``<i>``, ``&amp;``) and JATS (``<jats:p>``); "" for other values."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return ""
    text = str(value)[:TEXT_CHARACTERS_MAX]
    if "<" in text or "&" in text:
        text = "".join(html_text(text, _tag_text))
    return " ".join(text.split())


def _tag_text(name: str, tag: str) -> str:
    if name.rpartition(":")[2] in _BLOCKS:
        return " "
    return "" if ":" in name or name in _INLINE else tag
