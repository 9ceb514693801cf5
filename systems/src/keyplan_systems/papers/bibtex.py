"""Reads BibTeX: macros, cross-references, names, LaTeX's accents.

bibtexparser parses the file in parts, cut at an ``@`` at the beginning of a line. pylatexenc decodes LaTeX. A file with
cross-references is read twice, first for macros and inherited fields.
"""

from __future__ import annotations

import logging
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache
from pathlib import Path

from bibtexparser.entrypoint import parse_string
from bibtexparser.middlewares.names import parse_single_name_into_parts, split_multiple_persons_names
from bibtexparser.model import (
    Block,
    DuplicateBlockKeyBlock,
    DuplicateFieldKeyBlock,
    Entry,
    ImplicitComment,
    ParsingFailedBlock,
    String,
)
from pylatexenc.latex2text import LatexNodes2Text  # type: ignore[import-untyped] # it ships no types

from keyplan_systems.lines import Lines, Tell
from keyplan_systems.papers.design import FURTHER_MAX, Role
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
    topics_of,
)

PART_CHARACTERS = 256 * 1024
"""The file is parsed in parts of this size, each extended to the end of its last entry."""
KEY_CHARACTERS_MAX = 500
TEXT_CHARACTERS_MAX = 40_000
"""Maximum number of decoded characters of a value: twice the limit of an abstract."""
NAMES_CHARACTERS_MAX = 100_000
COMMAS_MAX = 2
"""Maximum number of commas in a name: ``Last, Jr., First``."""
ENTRY_CHARACTERS_MAX = 4 * 1024 * 1024
"""Maximum length of an entry: a longer one is split."""
VALUE_CHARACTERS_MAX = 200_000
"""Maximum length of an expanded value: nested macros can double it with each line."""
MACROS_CHARACTERS_MAX = 20_000_000
"""Maximum total length of all macros."""
PARENTS_MAX = 100_000
"""Maximum number of entries that others inherit from."""
USED = frozenset({
    "abstract", "author", "booktitle", "crossref", "date", "doi", "editor", "institution", "journal", "journaltitle",
    "keyword", "keywords", "month", "number", "pages", "publisher", "school", "series", "title", "url", "volume",
    "year",
})  # fmt: skip
"""The fields that are mapped to fields of a paper; the others are kept as further fields."""
INHERITED = (
    "address", "booktitle", "date", "edition", "editor", "eventtitle", "institution", "isbn", "issn", "journal",
    "location", "month", "number", "organization", "publisher", "series", "title", "volume", "year",
)  # fmt: skip
"""The fields that an entry inherits from its volume."""

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH_NUMBERS = frozenset(str(number) for number in range(1, 13))
_ROLES: tuple[tuple[str, Role], ...] = (("author", "author"), ("editor", "editor"))

# bibtexparser logs and returns unparsable blocks, which are reported from the result.
logging.getLogger("bibtexparser").addHandler(logging.NullHandler())


@dataclass
class _Known:
    """The macros and parents of all files, and the missing ones."""

    macros: dict[str, str] = field(default_factory=lambda: {name: str(at) for at, name in enumerate(_MONTHS, 1)})
    parents: dict[str, dict[str, str]] = field(default_factory=dict[str, dict[str, str]])
    """Raw fields by the lowercase key of the entry."""
    lost: Counter[str] = field(default_factory=Counter[str])
    """The keys of missing entries, with the number of references to them."""
    lost_line: int = 1
    """The line of the first entry that refers to a missing one."""
    macro_characters: int = 0
    cut: bool = False
    """Whether a value was truncated since the last report."""

    def define(self, name: str, raw: str) -> None:
        """Store a macro, unless the total length of all macros exceeds its maximum."""
        value = self.value(raw)
        before = len(self.macros.get(name, ""))
        if self.macro_characters + len(value) - before > MACROS_CHARACTERS_MAX:
            self.cut = True
            return
        self.macro_characters += len(value) - before
        self.macros[name] = value

    def value(self, raw: str) -> str:
        """A field's value without its braces or quotes, with macros expanded and pieces (``a # " b"``) joined, up to
        the maximum length. The value of an unknown macro is its name, as in BibTeX (which warns).
        """
        taken: list[str] = []
        room = VALUE_CHARACTERS_MAX
        for piece in _pieces(raw):
            text = _piece(piece, self.macros)
            taken.append(text[:room])
            if len(text) > room:
                self.cut = True
                break
            room -= len(text)
        return "".join(taken)

    def was_cut(self, line: int) -> Iterator[Trouble]:
        """The report of a truncated value, once."""
        if self.cut:
            yield Trouble(
                line,
                f"a value is longer than {VALUE_CHARACTERS_MAX:,} characters after macro expansion: it is truncated",
                "shorten its @string macros",
            )
        self.cut = False


def read_bibtex(path: Path, beside: Sequence[Path] = ()) -> Iterator[Record | Trouble]:
    """The records of a file, and its errors. Its entries can inherit from entries of the files in ``beside``.

    Raises OSError.
    """
    known = _Known()
    files = dict.fromkeys((*beside, path))
    wanted = {name for _, text in _parts(path, _untold) for name in _crossrefs(text.lower())}
    for file in files:
        for start, text in _parts(file, _untold) if wanted or file != path else ():
            for _, block in _blocks(start, text):
                _keep(block, wanted, known)
    troubles: list[Trouble] = []
    for start, text in _parts(path, lambda *what: troubles.append(Trouble(*what))):
        yield from troubles
        troubles.clear()
        for line, block in _blocks(start, text):
            yield from _read(line, block, known)
            yield from known.was_cut(line)
    yield from troubles
    if known.lost:
        some = ", ".join([*sorted(known.lost)[:3], *["..."] * (len(known.lost) > 3)])
        yield Trouble(
            known.lost_line,
            f"cross-references to missing entries: {known.lost.total():,} (to {some}); inherited fields are missing",
            "import a folder that contains those entries",
        )


def _crossrefs(text: str) -> Iterator[str]:
    """The keys of cross-referenced entries in a lowercase text."""
    place = 0
    while (place := text.find("crossref", place)) >= 0:
        place += len("crossref")
        words = text[place : place + KEY_CHARACTERS_MAX].lstrip(" \t\n=")
        end = min((at for at in (words.find("}"), words.find('"', 1)) if at > 0), default=0)
        if words[:1] in {"{", '"'} and end:
            yield words[1:end].strip()


def _untold(line: int, message: str, hint: str | None) -> None:
    """Unreadable entries are reported when the records are read."""


def _keep(block: Block, wanted: Collection[str], known: _Known) -> None:
    """Store macros, and the inheritable fields of the entries that others refer to."""
    if isinstance(block, String):
        if block.key.lower() not in known.macros:
            known.define(block.key.lower(), str(block.value))
    elif isinstance(block, Entry) and block.key.lower() in wanted and len(known.parents) < PARENTS_MAX:
        fields = {element.key.lower(): str(element.value) for element in reversed(block.fields)}
        kept = {name: fields[name] for name in INHERITED if name in fields}
        known.parents.setdefault(block.key.lower(), kept)


# Blocks


def _parts(path: Path, tell: Tell) -> Iterator[tuple[int, str]]:
    """The parts of the file, each beginning with an entry, with the numbers of their first lines."""
    with path.open("rb") as file:
        taken: list[str] = []
        start, size = 1, 0
        for number, line in Lines(file, tell, fallback="latin-1"):
            if (size >= PART_CHARACTERS and _starts_entry(line)) or size >= ENTRY_CHARACTERS_MAX:
                yield start, "".join(taken)
                taken, start, size = [], number, 0
            # Empty lines replace skipped ones, so that line numbers stay correct.
            gap = "\n" * (number - start - len(taken)) if len(taken) < number - start else ""
            taken.extend(gap)
            taken.append(line)
            size += len(line)
        if taken:
            yield start, "".join(taken)


def _starts_entry(line: str) -> bool:
    words = line.lstrip(" \t")
    opened = words.replace("(", "{", 1).partition("{")[0]
    return words.startswith("@") and opened != words and opened[1:].strip().isidentifier()


def _blocks(start: int, text: str) -> Iterator[tuple[int, Block]]:
    """The blocks of a part, with their line numbers in the file."""
    for block in parse_string(text, parse_stack=[]).blocks:
        yield start + (block.start_line or 0), block


def _read(line: int, block: Block, known: _Known) -> Iterator[Record | Trouble]:
    match block:
        case Entry():
            yield from _EntryReader(line, block, known).read()
        case String():
            known.define(block.key.lower(), str(block.value))
        case DuplicateBlockKeyBlock() if isinstance(block.ignore_error_block, String):
            known.define(block.key.lower(), str(block.ignore_error_block.value))
        case DuplicateBlockKeyBlock() if isinstance(block.ignore_error_block, Entry):
            yield from _EntryReader(line, block.ignore_error_block, known).read()  # the loader detects duplicates
        case DuplicateFieldKeyBlock() if isinstance(block.ignore_error_block, Entry):
            twice = ", ".join(sorted(block.duplicate_keys))
            yield Trouble(line, f"entry {block.ignore_error_block.key} has {twice} twice: the first is used")
            yield from _EntryReader(line, block.ignore_error_block, known).read()
        case ParsingFailedBlock():
            reason = str(getattr(block.error, "abort_reason", block.error)).strip().rstrip(".")
            yield Trouble(
                line, f"the entry can't be read: {_inline(reason)}", "close its braces, and its values' braces"
            )
        case ImplicitComment():
            yield from _between(line, block.comment)
        case _:
            pass  # @comment and @preamble don't describe papers


def _between(line: int, text: str) -> Iterator[Trouble]:
    """Text between entries. Lines that begin with % are comments by convention."""
    lines = [(line + number, word) for number, word in enumerate(text.split("\n"))]
    others = [(number, word) for number, word in lines if word.strip() and not word.lstrip().startswith("%")]
    if others:
        more = f" ({len(others)} lines)" if len(others) > 1 else ""
        yield Trouble(others[0][0], f"not an entry: {_inline(others[0][1])[:60]!r}{more}")


# Entries


@dataclass
class _EntryReader:
    """Converts one entry to a record."""

    line: int
    entry: Entry
    known: _Known
    troubles: list[Trouble] = field(default_factory=list[Trouble])
    """Warnings about names."""

    def read(self) -> Iterator[Record | Trouble]:
        fields: dict[str, str] = {}
        for element in self.entry.fields:
            fields.setdefault(element.key.lower(), str(element.value))
        kind = self.entry.entry_type.lower()
        own = {name: self.known.value(raw) for name, raw in fields.items() if name in USED}
        inherited = self._inherited(own.get("crossref", "").strip())
        title = _text(own.get("title", ""))
        if not self.entry.key.strip() or not title:
            what = "title" if self.entry.key.strip() else "key"
            yield Trouble(self.line, f"entry {self.entry.key} has no {what}".replace("  ", " "), "an entry needs both")
            return
        collection, named = self._collection(kind, own, inherited)
        odd = sorted(name for name in fields if not FIELD_NAME.fullmatch(name))
        if odd:
            yield Trouble(self.line, f"entry {self.entry.key} has fields that can't be kept: {', '.join(odd)[:200]}")
        further = self._further({**inherited, **own}, named)
        for number, name in enumerate(sorted(fields.keys() - USED - set(odd))):
            further[name] = _text(self.known.value(fields[name])) if number < FURTHER_MAX else fields[name][:1]
        yield Record(
            line=self.line,
            paper_id=self.entry.key.strip(),
            title=title,
            collection=collection,
            kind=kind,
            published_at=_published({**inherited, **own}),
            people=tuple(self._people(own, inherited, kind)),
            topics=topics_of(_text(own.get("keywords", own.get("keyword", "")))),
            abstract=_text(own.get("abstract", "")),
            doi=doi_of(_address(own.get("doi")), _address(own.get("url"))),
            url=_address(own.get("url")),
            volume=_short(own.get("volume") or inherited.get("volume")),
            issue=_short(own.get("number") or inherited.get("number")),
            pages=_pages(own.get("pages")),
            publisher=_short(own.get("publisher") or inherited.get("publisher") or own.get("school")),
            editors=tuple(self._editors(own, inherited, kind)),
            further={name: further[name] for name in sorted(further) if further[name]},
        )
        yield from self.troubles

    def _inherited(self, name: str) -> dict[str, str]:
        """The fields inherited from the cross-referenced entry."""
        parent = self.known.parents.get(name.lower())
        if name and parent is None:
            if not self.known.lost:
                self.known.lost_line = self.line
            if name in self.known.lost or len(self.known.lost) < PARENTS_MAX:
                self.known.lost[name] += 1
        return {name: self.known.value(raw) for name, raw in (parent or {}).items()}

    def _collection(
        self, kind: str, own: Mapping[str, str], inherited: Mapping[str, str]
    ) -> tuple[str, tuple[str, ...]]:
        """The publication of the entry: its journal, its proceedings (from the cross-referenced entry, or the key of
        that entry if nothing else is known), or its institution. Also returns the fields that were used.
        """
        above = {name: inherited.get(name, "") for name in ("booktitle", "journal", "title")}
        makers = ("crossref", "institution", *(["series"] if kind in {"book", "inbook", "proceedings"} else []))
        said = [
            *((own.get(name, ""), (name,)) for name in ("journal", "journaltitle", "booktitle")),
            *((text, ("booktitle", "journal")) for text in above.values()),
            *((own.get(name, ""), (name,)) for name in makers),
        ]
        for raw, names in said:
            if text := _text(raw):
                return text, names
        return collection_of(kind, ()), ()

    def _further(self, said: Mapping[str, str], named: Collection[str]) -> dict[str, str]:
        """Known fields, own or inherited, that no field of the paper represents."""
        taken = {"abstract", "author", "crossref", "doi", "editor", "number", "pages", "title", "url", "volume", *named}
        taken.add("publisher" if said.get("publisher") else "school")
        taken.add("keywords" if "keywords" in said else "keyword")
        dated = {name: said[name] for name in ("date", "month", "year") if name in said}
        if _published(dated) != UNDATED:
            taken |= {name for name, text in dated.items() if _is_date(name, text.strip().rstrip("."))}
        return {name: _text(text) for name, text in said.items() if name not in taken}

    def _people(self, own: Mapping[str, str], inherited: Mapping[str, str], kind: str) -> Iterator[Person]:
        """The authors, or the editors of an entry without authors."""
        for name, role in _ROLES:
            value = own.get(name, "") or (inherited.get(name, "") if kind == "proceedings" else "")
            if not (role == "editor" and "author" in own):
                yield from (Person(printed, role) for printed in self._names(value))

    def _editors(self, own: Mapping[str, str], inherited: Mapping[str, str], kind: str) -> Iterator[str]:
        """The editors of the volume that contains the paper."""
        if kind != "proceedings" and ("author" in own or "editor" not in own):
            yield from self._names(own.get("editor", "") or inherited.get("editor", ""))

    def _names(self, value: str) -> Iterator[str]:
        """The printed names of a list. Names in an invalid form are reported."""
        if len(value) > NAMES_CHARACTERS_MAX:
            self.troubles.append(
                Trouble(self.line, f"entry {self.entry.key} has names of {len(value):,} characters: truncated")
            )
        for name in split_multiple_persons_names(value[:NAMES_CHARACTERS_MAX]):
            printed = _text(name if name.count(",") > COMMAS_MAX else _first_name_first(name))
            if printed.lower() == "others":
                message = f"entry {self.entry.key}: 'and others' isn't imported: the paper has further authors"
                self.troubles.append(Trouble(self.line, message, "list all names"))
            if not printed or printed.lower() == "others":
                continue
            if name.count(",") > COMMAS_MAX:
                message = f"entry {self.entry.key}: the name {printed[:80]!r} has more than two commas: kept as written"
                self.troubles.append(Trouble(self.line, message, "write it as Last, Jr., First"))
            yield printed


def _is_date(name: str, text: str) -> bool:
    """Whether a value is fully represented by the parsed date."""
    if name == "month":
        return (text[:3].lower() in _MONTHS and text.isalpha()) or text.lstrip("0") in _MONTH_NUMBERS
    parts = text.split("-") if name == "date" else [text]
    return len(parts) <= 3 and len(parts[0]) == 4 and all(part.isdecimal() and len(part) <= 4 for part in parts)


def _short(value: str | None) -> str | None:
    return None if value is None else _text(value) or None


def _pages(value: str | None) -> str | None:
    """The printed form of pages: ``101--117`` becomes ``101–117``."""
    if value is None:
        return None
    dashed = _text(value).replace("---", "-").replace("--", "-").replace("—", "-")
    return "–".join(part.strip() for part in dashed.split("-")) or None


def _first_name_first(name: str) -> str:
    """The printed form of a name: ``van Beethoven, Ludwig`` becomes ``Ludwig van Beethoven``."""
    try:
        return parse_single_name_into_parts(name, strict=False).merge_first_name_first
    except ValueError:
        return name


def _published(fields: Mapping[str, str]) -> datetime:
    """The date of the entry, in its given precision."""
    words = _words(fields.get("year", ""))
    year = next((word[:4] for word in words if len(word) >= 4 and word[:4].isdecimal()), None)
    moment = day_in(fields.get("date", ""))
    if moment is None and year is not None:
        moment = moment_of(year, _month(fields.get("month", "")))
    return moment or UNDATED


def _month(text: str) -> int | None:
    """The first month in a string, by name or number."""
    words = [word.lower() for word in _words(text)]
    named = next((word[:3] for word in words if word[:3] in _MONTHS), None)
    number = next((word.lstrip("0") for word in words if word.lstrip("0") in _MONTH_NUMBERS), None)
    return _MONTHS.index(named) + 1 if named else int(number) if number else None


def _words(text: str) -> list[str]:
    return "".join(letter if letter.isalnum() else " " for letter in text[:KEY_CHARACTERS_MAX]).split()


# Values


def _piece(piece: str, macros: Mapping[str, str]) -> str:
    if len(piece) > 1 and (piece[0] + piece[-1]) in {"{}", '""'}:
        return piece[1:-1]
    return macros.get(piece.lower(), piece)


def _pieces(raw: str) -> Iterator[str]:
    """The parts between ``#`` signs outside braces and quotes."""
    depth, start, quoted = 0, 0, False
    for mark in re.finditer(r'(?<!\\)[{}"#]', raw):
        if mark[0] == "{":
            depth += 1
        elif mark[0] == "}":
            depth -= 1
        elif depth == 0 and mark[0] == '"':
            quoted = not quoted
        elif depth == 0 and not quoted:
            yield raw[start : mark.start()].strip()
            start = mark.end()
    yield raw[start:].strip()


def _text(value: str) -> str:
    """A value as plain text on one line, with LaTeX decoded."""
    value = value[:TEXT_CHARACTERS_MAX]
    if any(mark in value for mark in ("\\", "$", "~", "--", "``", "''")):
        try:
            return _inline(_decoder().latex_to_text(_COMMAND.sub(_spelled, _SORT_KEY.sub("", value))))
        except Exception:  # noqa: BLE001 - the decoder fails in many ways; keep the letters
            return _inline(re.sub(r"[{}\\$]", "", value))
    return _inline(value.replace("{", "").replace("}", ""))


_SORT_KEY = re.compile(r"\\(?:noopsort|sortnoop|noop)[ ]*\{[^{}]*\}", re.IGNORECASE)
"""Matches sort keys, which aren't printed: ``{\\noopsort{1973a}}1973``."""
_COMMAND = re.compile(r"\\([A-Za-z]{2,40})(?:(\{\}|(?=\}|\\ |$))|[ ]?)")
_SPELLED = {
    "bs": r"\textbackslash{}",
    "Dash": "—",
    "dash": "–",
    "kern": "",
    "LaTeXe": "LaTeX2e ",
    "MakeLowercase": "",
    "MakeUppercase": "",
    "MF": "Metafont ",
    "MP": "MetaPost ",
    "SS": "SS",
    "textgreater": ">",
    "textless": "<",
    "thinspace": " ",
}
"""The printed text of some commands."""
_SWITCHES = frozenset(
    {"bf", "em", "it", "itshape", "normalfont", "rm", "sc", "sf", "sl", "smc", "ssf", "tt", "upshape"}
)


def _spelled(match: re.Match[str]) -> str:
    """The printed form of a command that LaTeX doesn't define: with capitals, or alone, it prints its name (XML)."""
    name, alone = match[1], match[2] is not None
    if name in _SWITCHES or _decoder().latex_context.get_macro_spec(name) is not None:
        return match[0]
    if name in _SPELLED:
        return f"{{{_SPELLED[name].strip() if alone else _SPELLED[name]}}}"
    if not (alone or any(letter.isupper() for letter in name)):
        return match[0]
    return f"{{{name}}}{match[0][len(name) + 1 :].replace('{}', '')}"


@cache
def _decoder() -> LatexNodes2Text:
    return LatexNodes2Text(math_mode="text", keep_comments=True)


def _address(value: str | None) -> str | None:
    """A DOI or URL, in which only escaped characters are LaTeX."""
    if value is None:
        return None
    return _inline(re.sub(r"\\([_%&#~])|[{}]|\\url", r"\1", value))[:500] or None


def _inline(text: str) -> str:
    return " ".join(text.replace("\N{SOFT HYPHEN}", "").split())
