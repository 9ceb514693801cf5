"""Records: what a bibliography says of one paper, whatever its format. The formats are read by ``bibtex.py`` and
``csl.py``; what becomes of a record is the loader's matter.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime

from keyplan_systems.papers.design import Role

__all__ = [
    "FIELD_NAME",
    "UNDATED",
    "Person",
    "Record",
    "Trouble",
    "collection_of",
    "doi_of",
    "handle_of",
    "moment_of",
    "topics_of",
]

FIELD_NAME = re.compile(r"[a-z][a-z0-9_:+.-]{0,59}")
"""The name of a further field."""
UNDATED = datetime(1, 1, 1, tzinfo=UTC)
"""The date of what has none: it stands last where the newest stand first."""
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
"""The collections of papers that name none, by their kind."""
OTHERS = "Miscellaneous"


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody who took part, by the name that is printed."""

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
    url: str | None = None
    volume: str | None = None
    issue: str | None = None
    pages: str | None = None
    publisher: str | None = None
    editors: tuple[str, ...] = ()
    further: Mapping[str, str] = field(default_factory=dict[str, str])
    """What else the entry says, by BibTeX's names."""


@dataclass(frozen=True, slots=True)
class Trouble:
    """Something that isn't as it should be: what is told of a line."""

    line: int
    message: str
    hint: str | None = None


def doi_of(text: str | None, url: str | None) -> str | None:
    """The DOI, whether it is written alone or as an address, or in the paper's address; None where there is none."""
    match = re.search(r"\b10\.[\d.]+/\S+", text or "")
    if match is None and text:
        return text[:500]
    if match is None:
        match = re.search(r"(?<=doi\.org/)10\.[\d.]+/\S+", url or "")
    return None if match is None else match[0][:500]


def handle_of(name: str) -> str:
    """The handle of a name: ``Erdős, P.`` and ``Erdos, P.`` are one. Letters that aren't Latin stay; "" for none."""
    plain = "".join(text for text in unicodedata.normalize("NFKD", name) if not unicodedata.combining(text))
    return re.sub(r"[\W_]+", "-", plain.replace("ß", "ss").casefold()).strip("-")[:250]


def topics_of(text: str) -> tuple[str, ...]:
    """Keywords divided by commas or semicolons, in small letters, each once."""
    parts = (" ".join(part.split()).lower() for part in re.split(r"[;,\n]", text))
    return tuple(dict.fromkeys(part for part in parts if part))


def collection_of(kind: str, names: Iterable[str | None]) -> str:
    """The first of the names that is one; else that of the kind."""
    return next((name for name in names if name), NAMED_KINDS.get(kind, OTHERS))


def moment_of(year: object, month: object = None, day: object = None) -> datetime | None:
    """The day, as far as it is known, at its beginning in UTC; None where even the year isn't."""
    try:
        return datetime(int(str(year)), int(str(month or 1)), int(str(day or 1)), tzinfo=UTC)
    except (ValueError, OverflowError):
        return None if month is None and day is None else moment_of(year)
