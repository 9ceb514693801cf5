"""Reads BibTeX: macros, cross-references, names, LaTeX's accents.

bibtexparser finds the blocks of a file, pylatexenc decodes LaTeX.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any

from bibtexparser.entrypoint import parse_string
from bibtexparser.middlewares.names import parse_single_name_into_parts, split_multiple_persons_names
from bibtexparser.model import (
    Block,
    DuplicateFieldKeyBlock,
    Entry,
    ImplicitComment,
    ParsingFailedBlock,
    String,
)
from pylatexenc.latex2text import (  # type: ignore[import-untyped] # pylatexenc has no type hints
    LatexNodes2Text,
    MacroTextSpec,
    get_default_latex_context_db,
)

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

PART_CHARACTERS = 256 * 1024
"""The text is parsed in parts of this size, as its blocks take twenty times its memory."""
TEXT_CHARACTERS_MAX = 40_000
"""Maximum number of decoded characters of a value: twice the limit of an abstract."""
NAMES_CHARACTERS_MAX = 100_000
COMMAS_MAX = 2
"""Commas in a name: ``Last, Jr., First``."""
VALUE_CHARACTERS_MAX = 200_000
"""Characters of a value: more than any field of a paper takes."""
MACROS_MAX = 10_000
MACRO_CHARACTERS_MAX = 2_000
"""The limit of an expanded macro: nested ones can double with each line."""
INHERITED = (
    "address", "booktitle", "date", "edition", "editor", "eventtitle", "institution", "isbn", "issn", "journal",
    "location", "month", "number", "organization", "publisher", "series", "title", "volume", "year",
)  # fmt: skip
"""The fields that an entry inherits from its volume."""

_ENTRY_START = re.compile(r"^[ \t]*@[ \t]*\w+[ \t]*[{(]", re.MULTILINE)
_CROSSREF = re.compile(r'crossref\s*=\s*[{"]([^{}"]*)', re.IGNORECASE)
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH_NAME = re.compile(rf"\b(?:{'|'.join(_MONTHS)})[^\W\d_]*")
_MONTH_NUMBER = re.compile(r"\b(?:0?[1-9]|1[0-2])\b")

# bibtexparser logs unparsable blocks and also returns them. The loader reports the returned blocks.
logging.getLogger("bibtexparser").addHandler(logging.NullHandler())


class BibtexFiles:
    """The files of an import, which can use each other's macros and inherit from each other's entries."""

    def __init__(self, paths: Sequence[Path]) -> None:
        """Find the macros and the entries that others inherit from. Raises OSError."""
        self._macros = {name: str(at) for at, name in enumerate(_MONTHS, 1)}
        self._volumes: dict[str, dict[str, str]] = {}
        """The inheritable fields by the lowercase key of the entry."""
        named = {key.strip().lower() for path in paths for key in _CROSSREF.findall(text_of(path)[0])}
        for path in paths:
            for _, block in _blocks(text_of(path)[0]):
                match _usable(block):
                    case String() as macro:
                        self._define(macro)
                    case Entry() as entry if entry.key.lower() in named:
                        fields = self._values(entry)
                        inherited = {name: fields[name] for name in INHERITED if name in fields}
                        self._volumes.setdefault(entry.key.lower(), inherited)
                    case _:
                        pass

    def read(self, path: Path) -> Iterator[Record | Trouble]:
        """The records of a file, and its errors. Raises OSError."""
        text, trouble = text_of(path)
        if trouble is not None:
            yield trouble
        missing: dict[str, int] = {}
        for line, block in _blocks(text):
            if isinstance(block, DuplicateFieldKeyBlock):
                twice = ", ".join(sorted(block.duplicate_keys))
                yield Trouble(
                    line, f"entry {getattr(block.ignore_error_block, 'key', '')} has {twice} twice: the first is used"
                )
            match _usable(block):
                case Entry() as entry:
                    fields = self._values(entry)
                    above = fields.get("crossref", "").strip()
                    inherited = self._volumes.get(above.lower())
                    if above and inherited is None:
                        missing.setdefault(above, line)
                    yield from _EntryReader(line, entry, fields, inherited or {}).read()
                case String() as macro:
                    if not self._define(macro):
                        yield Trouble(
                            line,
                            f"macro {macro.key} isn't expanded: it has more than {MACRO_CHARACTERS_MAX:,} characters, "
                            f"or is after the first {MACROS_MAX:,} macros",
                            "replace the macro with its text",
                        )
                case ParsingFailedBlock() as failed:
                    reason = str(getattr(failed.error, "abort_reason", failed.error)).strip().rstrip(".")
                    yield Trouble(line, f"the entry can't be read: {_inline(reason)}", "close all braces of the entry")
                case ImplicitComment() as between:
                    yield from _between(line, between.comment)
                case _:
                    pass  # @comment and @preamble don't describe papers
        if missing:
            some = ", ".join([*list(missing)[:3], *["..."] * (len(missing) > 3)])
            yield Trouble(
                next(iter(missing.values())),
                f"cross-references to {len(missing):,} missing entries ({some}): inherited fields are missing",
                "import a folder that also contains the missing entries",
            )

    def _define(self, macro: String) -> bool:
        """Store a macro; False if it is beyond the limits."""
        name, value = macro.key.lower(), self._value(str(macro.value))
        if len(value) > MACRO_CHARACTERS_MAX or (len(self._macros) >= MACROS_MAX and name not in self._macros):
            return False
        self._macros[name] = value
        return True

    def _values(self, entry: Entry) -> dict[str, str]:
        """The values of an entry by lowercase field name. Of repeated fields, the first one counts."""
        return {each.key.lower(): self._value(str(each.value)) for each in reversed(entry.fields)}

    def _value(self, raw: str) -> str:
        """A value without its braces or quotes, with macros expanded and pieces (``a # " b"``) joined. The value of an
        unknown macro is its name, as in BibTeX (which warns).
        """
        value = ""
        for piece in _pieces(raw):
            enclosed = len(piece) > 1 and (piece[0] + piece[-1]) in {"{}", '""'}
            value += piece[1:-1] if enclosed else self._macros.get(piece.lower(), piece)
            if len(value) > VALUE_CHARACTERS_MAX:
                break
        return value[:VALUE_CHARACTERS_MAX]


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


# Blocks


def _blocks(text: str) -> Iterator[tuple[int, Block]]:
    """The blocks of a text with their lines."""
    line, start = 1, 0
    while start < len(text):
        entry = _ENTRY_START.search(text, start + PART_CHARACTERS)
        end = entry.start() if entry else len(text)
        for block in parse_string(text[start:end], parse_stack=[]).blocks:
            yield line + (block.start_line or 0), block
        line += text.count("\n", start, end)
        start = end


def _usable(block: Block) -> Block:
    """The block, or the one inside a warning about repeated keys or fields. The loader reports repeated keys."""
    return (block.ignore_error_block or block) if isinstance(block, ParsingFailedBlock) else block


def _between(line: int, text: str) -> Iterator[Trouble]:
    """Text between entries. Lines that begin with % are comments by convention."""
    lines = [(line + number, word) for number, word in enumerate(text.split("\n"))]
    others = [(number, word) for number, word in lines if word.strip() and not word.lstrip().startswith("%")]
    if others:
        more = f" ({len(others)} lines)" if len(others) > 1 else ""
        yield Trouble(others[0][0], f"text outside of an entry is ignored: {_inline(others[0][1])[:60]!r}{more}")


# Entries


@dataclass
class _EntryReader:
    """Converts one entry to a record."""

    line: int
    entry: Entry
    own: Mapping[str, str]
    inherited: Mapping[str, str]
    troubles: list[Trouble] = field(default_factory=list[Trouble])
    """Warnings about names."""

    def read(self) -> Iterator[Record | Trouble]:
        own, key = self.own, self.entry.key.strip()
        both = {**self.inherited, **own}
        kind = self.entry.entry_type.lower()
        title, url = _text(own.get("title", "")), _address(own.get("url", ""))
        if not key or not title:
            yield Trouble(self.line, f"entry {key} has no title" if key else "the entry has no key", "add it")
            return
        collection, named = self._collection(kind)
        odd = sorted(name for name in own if not FIELD_NAME.fullmatch(name))
        if odd:
            yield Trouble(self.line, f"entry {key}: fields with invalid names are ignored: {', '.join(odd)[:200]}")
        people = [Person(name, "author") for name in self._names(own.get("author", ""))]
        editors = list(self._names(both.get("editor", "")))
        if not people and "editor" in own:
            people, editors = [Person(name, "editor") for name in editors], []
        yield Record(
            line=self.line,
            paper_id=key,
            title=title,
            collection=collection,
            kind=kind,
            published_at=_published(both),
            people=tuple(people),
            topics=topics_of(_text(own.get("keywords", own.get("keyword", "")))),
            abstract=_text(own.get("abstract", "")),
            doi=doi_of(_address(own.get("doi", "")), url),
            url=url,
            volume=_text(both.get("volume", "")),
            issue=_text(both.get("number", "")),
            pages=_pages(own.get("pages", "")),
            publisher=_text(both.get("publisher") or own.get("school", "")),
            editors=tuple(editors),
            further=_further(both, {*named, *odd}),
        )
        yield from self.troubles

    def _collection(self, kind: str) -> tuple[str, tuple[str, ...]]:
        """Where the entry appeared: its journal, its proceedings (from the cross-referenced entry, or the key of that
        entry if nothing else is known), or its institution. Also returns the fields that were used.
        """
        makers = ("crossref", "institution", *(["series"] if kind in {"book", "inbook", "proceedings"} else []))
        said = [
            *((self.own.get(name, ""), (name,)) for name in ("journal", "journaltitle", "booktitle")),
            *((self.inherited.get(name, ""), ("booktitle", "journal")) for name in ("booktitle", "journal", "title")),
            *((self.own.get(name, ""), (name,)) for name in makers),
        ]
        for raw, names in said:
            if text := _text(raw):
                return text, names
        return collection_of(kind), ()

    def _names(self, value: str) -> Iterator[str]:
        """The printed names of a list. Names in an invalid form are reported."""
        if len(value) > NAMES_CHARACTERS_MAX:
            self._warn(f"has a list of names with {len(value):,} characters, truncated to {NAMES_CHARACTERS_MAX:,}")
        for name in split_multiple_persons_names(value[:NAMES_CHARACTERS_MAX]):
            valid = name.count(",") <= COMMAS_MAX
            printed = _text(_first_name_first(name) if valid else name)
            if printed.lower() == "others":
                self._warn("omits authors: 'and others' isn't imported", "list all names")
            elif printed:
                if not valid:
                    self._warn(
                        f"has a name with more than two commas, kept as written: {printed[:80]!r}",
                        "write the name as Last, Jr., First",
                    )
                yield printed

    def _warn(self, message: str, hint: str | None = None) -> None:
        self.troubles.append(Trouble(self.line, f"entry {self.entry.key} {message}", hint))


def _further(said: Mapping[str, str], excluded: Collection[str]) -> dict[str, str]:
    """The fields, own or inherited, that no field of the paper represents."""
    taken = {"abstract", "author", "crossref", "doi", "editor", "number", "pages", "title", "url", "volume", *excluded}
    taken.add("publisher" if said.get("publisher") else "school")
    taken.add("keywords" if "keywords" in said else "keyword")
    if _published(said) != UNDATED:
        taken |= {name for name, form in _DATE_FORMS.items() if form.fullmatch(_date_text(said, name))}
    texts = {name: _text(said[name]) for name in sorted(said.keys() - taken)}
    return {name: text for name, text in texts.items() if text}


def _pages(value: str) -> str:
    """The printed form of pages: ``101--117`` becomes ``101–117``."""
    dashed = _text(value).replace("---", "-").replace("--", "-").replace("—", "-")
    return "–".join(part.strip() for part in dashed.split("-"))


def _first_name_first(name: str) -> str:
    """The printed form of a name: ``van Beethoven, Ludwig`` becomes ``Ludwig van Beethoven``."""
    try:
        return parse_single_name_into_parts(name, strict=False).merge_first_name_first
    except ValueError:
        return name


# Dates

_DATE_FORMS = {
    "date": re.compile(r"\d{4}(?:-\d{1,2}){0,2}"),
    "year": re.compile(r"\d{4}"),
    "month": re.compile(f"{_MONTH_NAME.pattern}|{_MONTH_NUMBER.pattern}"),
}
"""The dates that are fully represented by a paper's date."""


def _published(fields: Mapping[str, str]) -> datetime:
    """The date of the entry, in its given precision."""
    moment = day_in(fields.get("date", ""))
    year = re.search(r"\b\d{4}", fields.get("year", ""))
    if moment is None and year is not None:
        moment = moment_of(year[0], _month(_date_text(fields, "month")))
    return moment or UNDATED


def _month(text: str) -> int | None:
    """The first month in a text, by name or number."""
    if named := _MONTH_NAME.search(text):
        return _MONTHS.index(named[0][:3]) + 1
    number = _MONTH_NUMBER.search(text)
    return int(number[0]) if number else None


def _date_text(fields: Mapping[str, str], name: str) -> str:
    return fields.get(name, "").strip().rstrip(".").lower()


# Text


def _text(value: str) -> str:
    """A value as plain text on one line, with LaTeX decoded."""
    value = value[:TEXT_CHARACTERS_MAX]
    if any(mark in value for mark in ("\\", "$", "~", "--", "``", "''")):
        try:
            return _inline(_decoder().latex_to_text(_SORT_KEY.sub("", value)))
        except Exception:  # noqa: BLE001 - the decoder raises many types; only remove markup
            return _inline(re.sub(r"[{}\\$]", "", value))
    return _inline(value.replace("{", "").replace("}", ""))


_SORT_KEY = re.compile(r"\\(?:noopsort|sortnoop|noop)[ ]*\{[^{}]*\}", re.IGNORECASE)
"""Sort keys, which aren't printed: ``{\\noopsort{1973a}}1973``."""
_COMMANDS = {
    "bs": "\\",
    "Dash": "—",
    "dash": "–",
    "SS": "SS",
    "textgreater": ">",
    "textless": "<",
    "thinspace": " ",
    **dict.fromkeys(("bf", "em", "it", "itshape", "normalfont", "rm", "sc", "sf", "sl", "tt", "upshape"), ""),
    **dict.fromkeys(("kern", "relax", "MakeLowercase", "MakeUppercase"), ""),
}
"""The printed text of commands that pylatexenc doesn't define."""


@cache
def _decoder() -> LatexNodes2Text:
    commands = get_default_latex_context_db()
    commands.add_context_category("bibliographies", macros=[MacroTextSpec(*each) for each in _COMMANDS.items()])
    commands.set_unknown_macro_spec(MacroTextSpec("", _unknown))
    return LatexNodes2Text(commands, math_mode="text", keep_comments=True)


def _unknown(node: Any, l2tobj: LatexNodes2Text) -> str:
    r"""The text of a command that pylatexenc has none for: its arguments, or its name (``\XML``)."""
    if node.nodeargd is not None and any(node.nodeargd.argnlist):
        return str(l2tobj.nodelist_to_text([each for each in node.nodeargd.argnlist if each is not None]))
    end, text = node.pos + node.len, node.parsing_state.s
    argument_follows = text.startswith("{", end) and not text.startswith("{}", end)
    return "" if argument_follows else f"{node.macroname}{node.macro_post_space}"


def _address(value: str) -> str:
    """A DOI or URL, in which only escaped characters are LaTeX."""
    return _inline(re.sub(r"\\([_%&#~])|[{}]|\\url", r"\1", value))[:500]


def _inline(text: str) -> str:
    return " ".join(text.replace("\N{SOFT HYPHEN}", "").split())
