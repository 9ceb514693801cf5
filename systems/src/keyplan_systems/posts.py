"""Posts: the Markdown files in the folder of a site generator, each parsed as one post.

This module decides which files are posts, and interprets their names and fields; ``frontmatter`` parses front matter.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import Any

from keyplan import now
from keyplan.errors import ErrorDetail, RequestError
from keyplan_systems.frontmatter import FrontMatter, FrontMatterError, plain_text, read_front_matter, split_front_matter
from keyplan_systems.markdown_parsing import first_heading

__all__ = [
    "FILE_BYTES_MAX",
    "TAKEN",
    "Post",
    "day_named",
    "fault_of",
    "find_posts",
    "is_pattern",
    "read_post",
    "shown",
    "stable_id",
]

SUFFIXES = frozenset({".md", ".markdown", ".mdown", ".mkdown", ".mkdn", ".mkd", ".mdx"})
OTHER_SUFFIXES = frozenset({".adoc", ".asciidoc", ".html", ".htm", ".ipynb", ".org", ".rst", ".textile", ".njk"})
"""Text formats of site generators that this import doesn't support; their presence is reported."""
NOT_CONTENT = frozenset({"_site", "_includes", "_layouts", "_sass", "_data", "node_modules", "archetypes", "themes"})
"""Folders of Jekyll and Hugo without posts. Hidden folders are skipped, too."""
FILE_BYTES_MAX = 4 * 1024 * 1024
"""Larger files aren't read: no article is so large."""
TITLE_LINES_MAX = 6
"""Documentation without front matter has its title in one of the first lines, possibly after badges."""
FIELD_CHARACTERS_MAX = 4_000
"""Maximum length of a field's text."""
TAKEN = frozenset({
    "alias", "aliases", "author", "authors", "categories", "category", "date", "description", "draft", "excerpt",
    "path", "permalink", "pubDate", "publishDate", "published", "published_at", "publishdate", "redirect_from", "slug",
    "status", "summary", "tag", "tags", "title", "url",
})  # fmt: skip
"""Fields that describe a post."""


@dataclass(frozen=True, slots=True)
class Post:
    """A parsed post. ``path`` is relative to the folder, with slashes; ``date`` is in UTC, and None without a date in
    fields, name or URL; ``dated_by`` is its source. ``permalink`` is the former URL, ``aliases`` the former redirects.
    ``fields`` is the front matter. ``said`` are reports with hints: an empty text, an unlisted one, a translation.
    """

    path: str
    title: str
    slug: str
    date: datetime | None
    draft: bool
    authors: tuple[str, ...]
    tags: tuple[str, ...]
    categories: tuple[str, ...]
    excerpt: str | None
    body: str
    modified: datetime
    lines: Mapping[str, int]
    dated_by: str | None = None
    permalink: str | None = None
    aliases: tuple[str, ...] = ()
    fields: Mapping[str, Any] = field(default_factory=dict[str, Any])
    said: tuple[tuple[str, str], ...] = ()

    def not_taken(self) -> list[str]:
        """The names of fields that a post doesn't support, with a dot for tables."""
        flat = dict(self.fields)
        for table in ("taxonomies", "extra"):
            inner = flat.pop(table, None)
            flat |= {f"{table}.{name}": value for name, value in inner.items()} if isinstance(inner, dict) else {}
        return [
            name for name, value in flat.items() if name.split(".")[-1] not in TAKEN and value not in (None, "", [], {})
        ]


# Which files


def find_posts(folder: Path) -> tuple[list[Path], list[ErrorDetail]]:
    """The Markdown files in a folder, sorted by name, and skipped files to report.

    Symbolic links aren't followed: targets in the folder are found in their place, and targets outside weren't given.
    Raises RequestError for a missing folder.
    """
    if not folder.is_dir():
        what = "is not a folder" if folder.exists() else "is not there"
        raise RequestError(
            f"{shown(str(folder))} {what}", place=shown(str(folder)), hint="give the folder of the posts"
        )
    root = folder.resolve()
    paths: list[Path] = []
    faults: list[ErrorDetail] = []
    passed_over: dict[str, list[Path]] = {}

    def unreadable(error: OSError) -> None:
        faults.append(ErrorDetail(shown(os.path.relpath(error.filename, folder)), f"can't be listed: {error.strerror}"))

    for directory, folders, names in os.walk(folder, onerror=unreadable):
        here = Path(directory)
        faults.extend(_links_out(root, folder, (here / name for name in folders)))
        folders[:] = sorted(name for name in folders if not name.startswith(".") and name not in NOT_CONTENT)
        for name in sorted(names):
            path = here / name
            if name.startswith(".") or path.suffix.lower() not in SUFFIXES:
                if path.suffix.lower() in OTHER_SUFFIXES and _is_text_of_site(path):
                    passed_over.setdefault(path.suffix.lower(), []).append(path)
            elif path.stem.partition(".")[0] == "_index":
                faults.extend(_section(folder, path))
            elif path.is_symlink():
                faults.extend(_links_out(root, folder, [path]))
            else:
                paths.append(path)
    for suffix, others in sorted(passed_over.items()):
        place = shown(min(others).relative_to(folder).as_posix())
        more = f", as {len(others) - 1:,} more" if len(others) > 1 else ""
        faults.append(
            ErrorDetail(place, f"{suffix} isn't Markdown: not read{more}", "convert what is to be taken along")
        )
    return sorted(paths, key=lambda path: path.relative_to(folder).parts), faults


def _is_text_of_site(path: Path) -> bool:
    """Whether a file is a text: HTML only with front matter, because otherwise it is a template or an asset."""
    if path.suffix.lower() not in {".html", ".htm", ".njk"}:
        return True
    try:
        with path.open("rb") as file:
            return file.read(4).startswith((b"---", b"+++"))
    except OSError:
        return True


SECTION_FIELDS = ("aliases", "alias", "redirect_from", "description", "summary", "cascade")
"""Fields of a section's page other than its place in a menu."""


def _section(folder: Path, path: Path) -> Iterator[ErrorDetail]:
    """What is lost from a section's page (``_index.md``), which isn't a post: nothing if it has only a title."""
    place = shown(path.relative_to(folder).as_posix())
    try:
        text = plain_text(_bytes_of(path)[0])
        front = read_front_matter(text) if text.strip() else FrontMatter({}, {}, "")
    except FrontMatterError as error:
        yield fault_of(place, error)
        return
    what = ["text"] if front.body.strip() else []
    what += [name for name in SECTION_FIELDS if front.fields.get(name)]
    if what:
        message = f"a section's page isn't a post: without its {', '.join(what)}"
        yield ErrorDetail(place, message, "rename it to index.md to take it along")


def _links_out(root: Path, folder: Path, paths: Iterator[Path] | list[Path]) -> Iterator[ErrorDetail]:
    for path in paths:
        if path.is_symlink() and not _inside(root, path):
            place = shown(path.relative_to(folder).as_posix())
            yield ErrorDetail(
                place, "a link that leads out of the folder, or nowhere: not followed", "copy what it leads to"
            )


def _inside(root: Path, path: Path) -> bool:
    try:
        return path.resolve(strict=True).is_relative_to(root)
    except (OSError, RuntimeError):  # a missing or circular target
        return False


def shown(path: str) -> str:
    """A file's name as text: undecodable bytes become marks."""
    return os.fsencode(path).decode("utf-8", "replace")


def fault_of(path: str, error: FrontMatterError) -> ErrorDetail:
    """The error of a file, with its line."""
    return ErrorDetail(path if error.line is None else f"{path}:{error.line}", error.message, error.hint)


# One file


def read_post(folder: Path, path: Path) -> Post:
    """Parse a file. Raises FrontMatterError."""
    data, modified = _bytes_of(path)
    front = _front_of(path.stem, plain_text(data))
    fields = _Fields(front)
    relative = path.relative_to(folder)
    stem, language = _language(path)
    name = relative.parent.name if stem == "index" and relative.parent.name else stem
    day, undated = day_named(name)
    permalink = fields.text("permalink", "url", "path")
    slug = fields.text("slug") or _last_segment(permalink) or shown(undated)
    slug = f"{slug}-{language.lower()}" if language else slug
    hidden = fields.hidden()
    is_empty = not front.body.strip()
    said: list[tuple[str, str]] = []
    if hidden:
        said.append(
            (f"drafts, since their site doesn't list them ({hidden.split(' ')[0].rstrip(':')})", "publish them")
        )
    if language:
        said.append((f"translations ({language}), each a post of its own", "the CMS has articles in several languages"))
    if is_empty:
        said.append(("drafts, since they have no text", "write a text, then publish them"))
    moment, dated_by = _dated(fields, day, permalink, shown(relative.as_posix()))
    return Post(
        path=shown(relative.as_posix()),
        title=fields.text("title") or _heading(front.body) or slug.replace("-", " ").replace("_", " ").capitalize(),
        slug=slug,
        date=moment,
        draft="_drafts" in relative.parts or fields.is_draft() or hidden is not None or is_empty,
        authors=fields.people("author", "authors"),
        tags=fields.words("tag", "tags"),
        categories=fields.words("category", "categories"),
        excerpt=fields.text("excerpt", "description", "summary"),
        body=front.body,
        modified=modified,
        lines=front.lines,
        dated_by=dated_by,
        permalink=permalink,
        aliases=fields.paths("aliases", "alias", "redirect_from"),
        fields=front.fields,
        said=tuple(said),
    )


def day_named(name: str) -> tuple[str | None, str]:
    """The date at the start of a file's name (``2024-03-05-hello``), or None, and the rest of the name."""
    parts = name.replace("_", "-", 3).split("-", 3)
    if len(parts) < 4 or not parts[3] or not _is_day(*parts[:3]):
        return None, name
    day = "-".join(parts[:3])
    return day, name[len(day) + 1 :]


def _is_day(year: str, month: str, day: str) -> bool:
    numbers = f"{year}{month}{day}"
    return len(year) == 4 and all(1 <= len(text) <= 2 for text in (month, day)) and _is_number(numbers)


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdecimal()


def _language(path: Path) -> tuple[str, str | None]:
    """A file's name without its extension, and without the language of a translation."""
    stem, _, language = path.stem.rpartition(".")
    code, _, region = language.replace("_", "-").partition("-")
    is_language = len(code) == 2 and code.isascii() and code.islower() and (not region or 2 <= len(region) <= 4)
    if not stem or not is_language or not path.with_name(f"{stem}{path.suffix}").is_file():
        return path.stem, None
    return stem, language


_ABOUT_FOLDER = (
    *("readme", "contributing", "changelog", "changes", "history", "license", "licence", "security", "authors"),
    *("code_of_conduct", "code-of-conduct", "codeofconduct", "todo"),
)
"""Starts of names of files about a folder."""


def _front_of(stem: str, text: str) -> FrontMatter:
    """The front matter of a text. Documentation has none: a heading at the start is the title.

    Raises FrontMatterError.
    """
    if split_front_matter(text) is None and not stem.lower().startswith(_ABOUT_FOLDER):
        heading = first_heading(text)
        if heading is not None and heading.level == 1 and heading.start < TITLE_LINES_MAX:
            lines = text.split("\n")
            parts = ("\n".join(part).strip("\n") for part in (lines[: heading.start], lines[heading.end :]))
            body = "\n\n".join(filter(None, parts))
            if body:
                return FrontMatter({"title": _without_attributes(heading.title)}, {}, f"{body}\n")
    return read_front_matter(text)


def _without_attributes(title: str) -> str:
    """A title without the attributes after it: ``Title {#id}``, ``Title {: #id }``."""
    words, mark, rest = title.rpartition("{")
    return words.strip() if mark and rest.lstrip(": ").startswith("#") and rest.rstrip("# ").endswith("}") else title


def _dated(fields: _Fields, named: str | None, permalink: str | None, path: str) -> tuple[datetime | None, str | None]:
    """The publication date of a post, and its source: fields, file name, URL, or folders."""
    moment = fields.moment("date", "publishDate", "publishdate", "pubDate", "published_at")
    if moment is not None:
        return moment, "front matter"
    if named is not None:
        return _moment_named(named), "name"
    for text, what in ((permalink or "", "address"), (path, "path")):
        result = _day_in(text)
        if result is not None:
            return result, what
    result = fields.moment("lastmod", "last_modified_at", "modified", "updated")
    return result, None if result is None else "last change"


def _day_in(path: str) -> datetime | None:
    """The date in the folders of a path: ``2015/01/09/hello``, ``2015-01-09/hello``."""
    parts = path[:FIELD_CHARACTERS_MAX].replace("-", "/").replace("_", "/").split("/")
    days = (three for three in zip(parts, parts[1:], parts[2:], strict=False) if _is_day(*three))
    return next((moment for three in days if (moment := _moment("-".join(three))) is not None), None)


def _bytes_of(path: Path) -> tuple[bytes, datetime]:
    """A file's content and modification time. Links, pipes and devices are rejected."""
    try:
        status = path.lstat()
        if not stat.S_ISREG(status.st_mode):
            raise FrontMatterError("not a file")
        if status.st_size > FILE_BYTES_MAX:
            raise FrontMatterError(
                f"the file is {status.st_size:,} bytes: files over {FILE_BYTES_MAX:,} are not read",
                hint="split it, or import a text that links to it",
            )
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
        with open(handle, "rb") as file:  # noqa: PTH123 - a handle, which Path doesn't open
            data = file.read(FILE_BYTES_MAX + 1)
    except OSError as error:
        raise FrontMatterError(f"can't be read: {error.strerror or error}") from None
    return data, datetime.fromtimestamp(status.st_mtime, UTC)


class _Fields:
    """The fields of a post, interpreted as by Jekyll and Hugo."""

    def __init__(self, front: FrontMatter) -> None:
        self.lines = front.lines
        taxonomies = front.fields.get("taxonomies")
        extra = front.fields.get("extra")  # Zola's
        self.fields = {
            **(extra if isinstance(extra, dict) else {}),
            **(taxonomies if isinstance(taxonomies, dict) else {}),
            **front.fields,
        }

    def text(self, *names: str) -> str | None:
        """The first nonempty field of these, as text on one line."""
        for name in names:
            value = self.fields.get(name)
            if isinstance(value, str | int | float | date) and not isinstance(value, bool):
                text = " ".join(self._checked(name, str(value)[:FIELD_CHARACTERS_MAX]).split())
                if text:
                    return text
        return None

    def flag(self, name: str) -> bool | None:
        """A boolean field."""
        value = self.fields.get(name)
        if isinstance(value, str):
            return {"true": True, "yes": True, "false": False, "no": False}.get(value.strip().lower())
        return value if isinstance(value, bool) else None

    def is_draft(self) -> bool:
        """Whether the fields mark a post as a draft, in any supported form."""
        status = self.text("status") or ""
        return (
            self.flag("draft") is True
            or self.flag("published") is False
            or status.lower() in {"draft", "hidden", "private", "skip"}
        )

    def hidden(self) -> str | None:
        """Why a text isn't listed on its site though it isn't a draft: it has expired, or is restricted."""
        for name in ("headless", "private", "unlisted", "hidden", "eleventyExcludeFromCollections"):
            if self.flag(name) is True:
                return name
        if self.fields.get("password"):
            return "password"
        for name in ("build", "_build"):
            build: Any = self.fields.get(name)
            for what in ("render", "list") if isinstance(build, dict) else ():
                if str(build.get(what)).lower() in {"never", "false"}:
                    return f"{name}: {what}"
        for name in ("expiryDate", "expirydate", "unpublishDate"):
            expires = _moment(self.fields.get(name))
            if expires is not None and expires <= now():
                return f"{name} {expires:%Y-%m-%d}"
        return None

    def words(self, word: str, many: str) -> tuple[str, ...]:
        """Tags or categories: ``tag: one tag``, ``tags: [a, b]``, ``tags: a, b`` or ``tags: a b``; without
        duplicates.
        """
        result: dict[str, None] = {}
        for name in (word, many):
            value = self.fields.get(name)
            if isinstance(value, str) and name == many:
                value = value.split(",") if "," in value else value.split()
            for part in value if isinstance(value, list) else [value]:
                text = self._word(name, part)
                if text:
                    result[text] = None
        return tuple(result)

    def paths(self, *names: str) -> tuple[str, ...]:
        """URLs: a text, or a list of texts."""
        result: dict[str, None] = {}
        for name in names:
            value = self.fields.get(name)
            for part in value if isinstance(value, list) else [value]:
                if isinstance(part, str) and part.strip() and len(part) <= 1000:
                    result[self._checked(name, part).strip()] = None
        return tuple(result)

    def people(self, *names: str) -> tuple[str, ...]:
        """Authors: a text, a list of texts, or mappings with names."""
        result: dict[str, None] = {}
        for name in names:
            value = self.fields.get(name)
            for part in value if isinstance(value, list) else [value]:
                person: Any = part
                if isinstance(part, dict):
                    keys = ("id", "username", "login", "nickname", "name", "email")
                    person = next((part[key] for key in keys if part.get(key)), None)
                text = self._word(name, person)
                if text:
                    result[text] = None
        return tuple(result)

    def moment(self, *names: str) -> datetime | None:
        """A date or datetime, in UTC. Raises FrontMatterError for an invalid one."""
        for name in names:
            value = self.fields.get(name)
            if value is None or value == "" or (isinstance(value, str) and value.strip().lower() in _FILE_DATES):
                continue
            result = _moment(value)
            if result is None:
                said = type(value).__name__ if isinstance(value, list | dict) else repr(str(value)[:60])
                raise FrontMatterError(
                    f"{name} is {said}, which isn't a date",
                    line=self.lines.get(name),
                    hint="write it as 2026-11-21, or 2026-11-21 09:42:00 +0100",
                )
            return result
        return None

    def _word(self, name: str, value: Any) -> str:
        if value is None or isinstance(value, list | dict):
            return ""
        text = str(value).lower() if isinstance(value, bool) else str(value)
        return " ".join(self._checked(name, text).split())

    def _checked(self, name: str, text: str) -> str:
        if any("\ud800" <= letter <= "\udfff" for letter in text):
            raise FrontMatterError(f"{name} holds half a character (a lone surrogate)", line=self.lines.get(name))
        return text


# Dates

_ZONES = {"UTC": 0, "GMT": 0, "EST": -5, "EDT": -4, "CST": -6, "CDT": -5, "MST": -7, "MDT": -6, "PST": -8, "PDT": -7}
"""Time zones of RFC 822, in hours from UTC."""
_FILE_DATES = frozenset({"last modified", "created", "git last modified", "git created"})
"""Eleventy's keywords for a file's own times."""
_WORDED = ("%B %d, %Y", "%b %d, %Y", "%d %B %Y", "%d %b %Y")


def _moment(value: Any) -> datetime | None:
    """The datetime of a field, in UTC, which is the default zone. None if it has none."""
    try:
        if isinstance(value, datetime):
            moment: datetime | None = value
        elif isinstance(value, date):
            moment = datetime.combine(value, time())
        else:
            moment = _moment_in(value.strip()) if isinstance(value, str) else None
        if moment is None:
            return None
        return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def _moment_in(text: str) -> datetime | None:
    text = text[:FIELD_CHARACTERS_MAX]
    day, _, rest = text.partition("T" if "T" in text[:11] else " ")
    parts = day.replace("/", "-").split("-")
    if len(parts) == 3 and _is_day(*parts):
        clock, zone = _clock(rest, parts[0])
        if clock is None or zone is None or (zone and not clock):
            return None
        year, month, number = parts
        return datetime.fromisoformat(f"{year}-{month:0>2}-{number:0>2}{clock}{zone}")
    for layout in _WORDED:
        try:
            return datetime.strptime(text, layout)  # noqa: DTZ007 - the caller gives it the zone
        except ValueError:
            continue
    return parsedate_to_datetime(text)


def _clock(rest: str, year: str) -> tuple[str | None, str | None]:
    """The time after a date, as ISO 8601 ("" without one), and its zone; None if invalid."""
    words = rest.split()
    if not words or ":" not in words[0]:
        return "", _zone(rest, year)
    end = next((at for at, letter in enumerate(words[0]) if letter in "Z+-"), len(words[0]))
    clock = words[0][:end]
    if not _is_number(clock.replace(":", "").replace(".", "", 1)) or clock.count(":") > 2:
        return None, None
    hours, colon, minutes = clock.partition(":")
    return f"T{hours:0>2}{colon}{minutes}", _zone(" ".join([words[0][end:], *words[1:]]), year)


def _zone(rest: str, year: str) -> str | None:
    """The zone after a time, "" without one; None for anything except a zone or a repeated year, which Ruby, and so
    Jekyll, accepts.
    """
    text = ""
    for word in rest.split():
        if word == year:
            continue
        if text:
            return None
        if word in _ZONES:
            text = f"{_ZONES[word]:+03d}:00"
        elif word == "Z" or (word[0] in "+-" and len(word) in {3, 5, 6} and _is_number(word[1:].replace(":", "", 1))):
            text = word
        else:
            return None
    return text


def _moment_named(text: str) -> datetime:
    moment = _moment(text)
    if moment is None:
        raise FrontMatterError(f"the file's name begins with {text}, which isn't a day")
    return moment


# Texts


def is_pattern(address: str) -> bool:
    """Whether a URL is a pattern: ``/:title/``, ``/{{ title | slug }}/``."""
    path = address.partition("://")[2] if "://" in address else address
    return "{" in path or any(part[:1].isalpha() for part in path.split(":")[1:])


def _last_segment(permalink: str | None) -> str | None:
    """The last part of a URL, without its extension; None for a pattern such as ``/:title/``."""
    if permalink is None or is_pattern(permalink):
        return None
    parts = [part for part in permalink.split("?")[0].split("#")[0].split("/") if part]
    if parts and parts[-1] in {"index.html", "index.htm"}:
        parts.pop()
    return parts[-1].removesuffix(".html").removesuffix(".htm") if parts else None


def _heading(body: str) -> str | None:
    heading = first_heading(body)
    return None if heading is None else _without_attributes(heading.title)


# Ids

_ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"


def stable_id(path: str, moment: datetime | None) -> str:
    """A file's ULID: its time is the post's, and its random part is derived from the path.

    The same file has the same id in every import, and ids sort by date. Without a date, or before 1970, the time is the
    earliest one.
    """
    millis = 0 if moment is None else min(max(int(moment.timestamp() * 1000), 0), (1 << 48) - 1)
    digest = hashlib.blake2b(path.encode("utf-8"), digest_size=10, person=b"keyplan-post").digest()
    number = millis << 80 | int.from_bytes(digest, "big")
    return "".join(_ALPHABET[number >> shift & 31] for shift in range(125, -1, -5))
