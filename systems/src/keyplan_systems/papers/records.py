"""The entries of a bibliography in any format. ``bibtex.py`` and ``csl.py`` read them, ``loader.py`` stores them."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from keyplan_systems.papers.design import Role

FIELD_NAME = re.compile(r"[a-z][a-z0-9_:+.-]{0,59}")
"""The name of a further field."""
FILE_BYTES_MAX = 64 * 1024 * 1024
WORD_CHARACTERS_MAX = 1_000
"""Maximum number of characters of a name or an address that are read."""
UNDATED = datetime(1, 1, 1, tzinfo=UTC)
"""The date of undated papers, which are last in lists."""
NAMED_KINDS = {
    "book": "Books",
    "inbook": "Books",
    "incollection": "Books",
    "chapter": "Books",
    "proceedings": "Proceedings",
    "inproceedings": "Proceedings",
    "conference": "Proceedings",
    "paper-conference": "Proceedings",
    "article": "Articles",
    "article-journal": "Articles",
    "phdthesis": "Theses",
    "mastersthesis": "Theses",
    "thesis": "Theses",
    "techreport": "Reports",
    "report": "Reports",
    "manual": "Manuals",
}
"""The collections of papers without one, by kind."""
OTHERS = "Miscellaneous"


@dataclass(frozen=True, slots=True)
class Person:
    """A contributor, by printed name."""

    name: str
    role: Role


@dataclass(frozen=True, slots=True)
class Record:
    """One entry of a bibliography, with the line that it begins on."""

    line: int
    paper_id: str
    title: str
    collection: str
    kind: str
    published_at: datetime
    people: tuple[Person, ...]
    topics: tuple[str, ...]
    abstract: str = ""
    doi: str | None = None
    url: str = ""
    volume: str = ""
    issue: str = ""
    pages: str = ""
    publisher: str = ""
    editors: tuple[str, ...] = ()
    further: Mapping[str, str] = field(default_factory=dict[str, str])
    """Further fields by BibTeX's names."""


@dataclass(frozen=True, slots=True)
class Trouble:
    """An error in a line of the file."""

    line: int
    message: str
    hint: str | None = None


def text_of(path: Path) -> tuple[str, Trouble | None]:
    """The text of a file, and an error in it. Bytes that aren't UTF-8 are read as Latin-1. Raises OSError."""
    if path.stat().st_size > FILE_BYTES_MAX:
        return "", Trouble(1, f"the file is larger than {FILE_BYTES_MAX:,} bytes", "split the file")
    text = path.read_bytes().decode("utf-8-sig", "surrogateescape")
    odd = re.search("[\udc80-\udcff]", text)
    if odd is None:
        return text, None
    line = text.count("\n", 0, odd.start()) + 1
    text = text.translate({0xDC00 + byte: chr(byte) for byte in range(0x80, 0x100)})
    return text, Trouble(line, "the file isn't UTF-8, so invalid bytes are read as Latin-1", "save the file as UTF-8")


def doi_of(text: str, url: str) -> str | None:
    """The DOI from a DOI field, which can be a URL, or from the paper's URL."""
    return _doi_in(text) or text[:500] or _doi_in(url[:WORD_CHARACTERS_MAX].partition("doi.org/")[2])


def _doi_in(text: str) -> str | None:
    """The first word that is a DOI, or ends with one."""
    for word in text[:WORD_CHARACTERS_MAX].split():
        at = word.find("10.")
        registrant, slash, suffix = word[at + 3 :].partition("/")
        is_word = at == 0 or (at > 0 and not word[at - 1].isalnum())
        if is_word and slash and suffix and registrant.replace(".", "").isdecimal():
            return word[at : at + 500]
    return None


def handle_of(name: str) -> str:
    """The handle of a name: ``Erdős, P.`` and ``Erdos, P.`` share it. Letters that aren't Latin stay; "" for none."""
    decomposed = unicodedata.normalize("NFKD", name[:WORD_CHARACTERS_MAX])
    plain = "".join(letter for letter in decomposed if not unicodedata.combining(letter)).casefold()
    return "-".join("".join(letter if letter.isalnum() else " " for letter in plain).split())[:250].strip("-")


def topics_of(text: str) -> tuple[str, ...]:
    """Unique lowercase keywords, separated by commas or semicolons."""
    parts = (" ".join(part.split()).lower() for part in text.replace(";", ",").replace("\n", ",").split(","))
    return tuple(dict.fromkeys(part for part in parts if part))


def collection_of(kind: str) -> str:
    """The collection of a paper that names none."""
    return NAMED_KINDS.get(kind, OTHERS)


def moment_of(year: object, month: object = None, day: object = None) -> datetime | None:
    """The start of a day in UTC; an unknown month or day is 1. None without a valid year."""
    try:
        return datetime(int(str(year)), int(str(month or 1)), int(str(day or 1)), tzinfo=UTC)
    except (ValueError, OverflowError):
        return None if month is None and day is None else moment_of(year)


def day_in(text: str) -> datetime | None:
    """The date at the start of a text: ``2026``, ``2026-05``, ``2026-05-04``."""
    year, *rest = text.strip()[:10].split("-")
    numbers = [part for part in rest[:2] if part.isdecimal() and len(part) <= 2]
    return moment_of(year[:4], *numbers) if year[:4].isdecimal() and len(year) >= 4 else None
