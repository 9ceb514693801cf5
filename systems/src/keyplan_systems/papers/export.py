"""Export of a paper as BibTeX and as a citation. An import of the BibTeX results in the same paper."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from keyplan_systems.papers.design import Membership, Paper, byline
from keyplan_systems.papers.records import UNDATED, collection_of

_COLLECTION_ID = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_BIBTEX_KINDS = {
    "article-journal": "article",
    "article-magazine": "article",
    "paper-conference": "inproceedings",
    "chapter": "incollection",
    "thesis": "phdthesis",
    "report": "techreport",
}
_BIBTEX = {
    "article", "book", "booklet", "inbook", "incollection", "inproceedings", "manual", "mastersthesis", "misc",
    "phdthesis", "proceedings", "techreport", "unpublished",
}  # fmt: skip
_CONTAINERS = {
    "inproceedings": "booktitle",
    "incollection": "booktitle",
    "inbook": "booktitle",
    "book": "series",
    "proceedings": "series",
    "techreport": "institution",
}
"""The field of the collection, by kind of entry; ``journal`` for others."""
_LATEX = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "%": r"\%", "&": r"\&", "$": r"\$", "#": r"\#", "_": r"\_",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
}  # fmt: skip


def collection_name(collection: str) -> str:
    """A collection's display name: the words of an id (``data-and-storage``), or the name itself."""
    return collection.replace("-", " ").capitalize() if _COLLECTION_ID.fullmatch(collection) else collection


def citation(paper: Paper, members: Sequence[Membership]) -> str:
    """A citation: authors, year, title, collection, address."""
    people = _names(members, "author", "contributor") or _names(members, "editor")
    where = collection_name(paper.collection)
    if paper.volume:
        where += f" {paper.volume}" + (f"({paper.issue})" if paper.issue else "")
    where += f", {paper.pages}" if paper.pages else ""
    year = _year(paper) or (paper.further or {}).get("year")
    parts = [_joined(people), f"({year})" if year else "(undated)", _ended(f"“{paper.title}”"), f"{where}."]
    parts += [f"https://doi.org/{paper.doi}"] if paper.doi else [paper.url] if paper.url else []
    return " ".join(part for part in parts if part)


def _joined(names: Sequence[str]) -> str:
    if len(names) > 7:
        return f"{', '.join(names[:6])} et al."
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def _ended(text: str) -> str:
    return text if text[:-1].endswith((".", "?", "!")) else f"{text[:-1]}.{text[-1]}"


def _names(members: Sequence[Membership], *roles: str) -> list[str]:
    return [membership.name for membership in byline(list(members)) if membership.role in roles]


def _year(paper: Paper) -> str | None:
    if paper.published_at is None or paper.published_at.year == UNDATED.year:
        return None
    return f"{paper.published_at.year:04d}"


def _date_parts(paper: Paper) -> list[int]:
    """The year, month and day of a paper, as far as known: an unknown part is 1."""
    if paper.published_at is None or _year(paper) is None:
        return []
    parts = [paper.published_at.year, paper.published_at.month, paper.published_at.day]
    while len(parts) > 1 and parts[-1] == 1:
        parts.pop()
    return parts


def _own_collection(paper: Paper, kind: str) -> str | None:
    """A paper's collection; None if it only follows from its kind (``Theses``)."""
    return None if paper.collection == collection_of(kind) else paper.collection


# BibTeX


def to_bibtex(paper: Paper, members: Sequence[Membership]) -> str:
    kind = _BIBTEX_KINDS.get(paper.kind, paper.kind if paper.kind in _BIBTEX else "misc")
    editors, further = paper.editors or _names(members, "editor"), paper.further or {}
    container = _CONTAINERS.get(kind, "journal")
    fields: dict[str, str | None] = {
        "author": _people(_names(members, "author", "contributor")),
        "editor": _people(editors),
        "title": f"{{{_latex(paper.title)}}}",  # double braces preserve capital letters
        "journal" if container in further else container: _latex(_own_collection(paper, kind)),
        "volume": _latex(paper.volume),
        "number": _latex(paper.issue),
        "pages": _latex(paper.pages and paper.pages.replace("–", "--")),
        "school" if kind in {"phdthesis", "mastersthesis"} else "publisher": _latex(paper.publisher),
        "date": "-".join(f"{part:02d}" for part in _date_parts(paper)),
        "year": _year(paper),
        "doi": paper.doi,
        "url": paper.url,
        "keywords": _latex(", ".join(sorted(paper.topics))),
        "abstract": _latex(paper.abstract),
        **{name: _latex(value) for name, value in further.items()},
    }
    written = (f"  {name} = {{{value}}}" for name, value in fields.items() if value)
    return "@{}{{{},\n{}\n}}\n".format(kind, _key(paper.paper_id), ",\n".join(written))


def _key(paper_id: str) -> str:
    """The id as a valid BibTeX key."""
    return re.sub(r"[\s,{}\"#%\\~()=@']+", "-", paper_id) or "paper"


def _people(names: Iterable[str]) -> str:
    """Names separated by ``and``. Names that BibTeX would split are in braces."""
    divided = re.compile(r",|\band\b", re.IGNORECASE)
    return " and ".join(f"{{{_latex(name)}}}" if divided.search(name) else str(_latex(name)) for name in names)


def _latex(text: str | None) -> str | None:
    return None if text is None else "".join(_LATEX.get(letter, letter) for letter in text)
