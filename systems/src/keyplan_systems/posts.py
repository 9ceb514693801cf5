"""Posts: the Markdown files in the folder of a site generator, each parsed as one post.

This module decides which files are posts, and interprets their names and fields as Jekyll, Hugo and Zola do;
``frontmatter`` parses front matter.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import Any

from keyplan import now
from keyplan.errors import ErrorDetail, RequestError
from keyplan.systems import LoadReport
from keyplan_systems.frontmatter import FrontMatter, FrontMatterError, plain_text, read_front_matter, split_front_matter
from keyplan_systems.grouped_faults import GroupedFaults
from keyplan_systems.markdown_parsing import first_heading
from keyplan_systems.site.files import KINDS
from keyplan_systems.words import is_storable

SUFFIXES = frozenset({".md", ".markdown"})
NO_TEXT = frozenset({*(f".{ending}" for ending in KINDS), ".jpeg", ".css", ".scss", ".js", ".toml", ".yaml", ".yml"})
"""Media that posts can link to, styles, scripts and settings. Any other file that isn't a post is reported."""
NOT_CONTENT = frozenset({"_data", "_includes", "_layouts", "_sass", "_site", "archetypes", "node_modules", "themes"})
"""Folders of site generators without posts. Hidden folders are skipped, too."""
FILE_BYTES_MAX = 4 * 1024 * 1024
"""Larger files aren't read: no article is so large."""
TITLE_LINES_MAX = 6
"""A file without front matter has its title in one of the first lines, possibly after badges."""
FIELD_CHARACTERS_MAX = 4_000
"""Maximum length of a field."""
_DATES = ("date", "publishDate", "publishdate", "pubDate")
TAKEN = frozenset({
    "alias", "aliases", "author", "authors", "categories", "category", "description", "draft", "excerpt",
    "path", "permalink", "published", "redirect_from", "slug", "status", "summary", "tag", "tags", "title", "url",
    *_DATES,
})  # fmt: skip
"""Fields that describe a post."""


@dataclass(frozen=True, slots=True)
class Post:
    """A parsed post. ``path`` is relative to the folder, with slashes; ``date`` is in UTC, and None without a date in
    fields or name. ``permalink`` is the former URL, ``aliases`` the former redirects. ``fields`` is the front matter.
    ``said`` are messages with hints, for example about an empty, an unlisted or a translated post.
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


# Finding files


def find_posts(folder: Path) -> tuple[list[Path], list[ErrorDetail]]:
    """The Markdown files in a folder, sorted by name, and skipped files to report.

    Symbolic links aren't followed. Raises RequestError for a missing folder.
    """
    if not folder.is_dir():
        what = "is not a folder" if folder.exists() else "does not exist"
        raise RequestError(
            f"{shown(str(folder))} {what}", place=shown(str(folder)), hint="pass the folder that contains the posts"
        )
    paths: list[Path] = []
    faults, others = LoadReport(), GroupedFaults()

    def place(path: Path) -> str:
        return shown(path.relative_to(folder).as_posix())

    def report(path: Path, message: str, hint: str) -> None:
        faults.errors.append(ErrorDetail(place(path), message, hint))

    def unreadable(error: OSError) -> None:
        report(Path(error.filename), f"the folder can't be listed: {error.strerror}", "make the folder readable")

    for directory, folders, names in os.walk(folder, onerror=unreadable):
        here = Path(directory)
        for name in folders:
            if (here / name).is_symlink():
                report(here / name, "symbolic links aren't followed", "copy the link's target into the folder")
            elif name == "_data":
                report(here / name, "the site's data files aren't imported", "copy their content into posts")
        folders[:] = sorted(name for name in folders if not name.startswith(".") and name not in NOT_CONTENT)
        for name in sorted(names):
            path, suffix = here / name, Path(name).suffix.lower()
            if name.startswith("."):
                continue
            if path.is_symlink() and (suffix in SUFFIXES or not path.is_file()):
                report(path, "symbolic links aren't followed", "copy the link's target into the folder")
            elif suffix in SUFFIXES:
                paths.append(path)
            elif suffix not in NO_TEXT:
                others.add("files that aren't Markdown, skipped", place(path), {suffix or name: 1}, "convert them")
    others.report_to(faults)
    return sorted(paths, key=lambda path: path.relative_to(folder).parts), faults.errors


def shown(path: str) -> str:
    """A file's name as text: undecodable bytes become marks."""
    return os.fsencode(path).decode("utf-8", "replace")


def fault_of(path: str, error: FrontMatterError) -> ErrorDetail:
    return ErrorDetail(path if error.line is None else f"{path}:{error.line}", error.message, error.hint)


# Reading a file


def read_post(folder: Path, path: Path) -> Post:
    """Parse a file. Raises FrontMatterError."""
    data, modified = _bytes_of(path)
    front = _front_of(path.stem, plain_text(data))
    fields = _Fields(front)
    relative = path.relative_to(folder)
    stem, language = _language(path)
    name = relative.parent.name if stem in {"index", "_index"} and relative.parent.name else stem
    day, undated = day_named(name)
    permalink = fields.text("permalink", "url", "path")
    slug = fields.text("slug") or _last_segment(permalink) or shown(undated)
    slug = f"{slug}-{language.lower()}" if language else slug
    unlisted, is_empty = fields.unlisted(), not front.body.strip()
    title = fields.text("title") or _heading(front.body) or slug.replace("-", " ").replace("_", " ").capitalize()
    authors, tags = fields.people("author", "authors"), fields.words("tag", "tags")
    categories = fields.words("category", "categories")
    said: list[tuple[str, str]] = []
    if unlisted:
        said.append((f"posts imported as drafts because of the field {unlisted!r}", "publish the drafts"))
    if language:
        said.append((f"translations ({language}), each imported as a separate post", "import them into the CMS"))
    if is_empty:
        said.append(("posts without text, imported as drafts", "add text, then publish them"))
    said += [
        (f"lists of {text} with empty or nested entries, skipped", "write each entry as a string")
        for text in fields.unusable
    ]
    return Post(
        path=shown(relative.as_posix()),
        title=title,
        slug=slug,
        date=fields.moment(*_DATES) or day,
        draft="_drafts" in relative.parts or fields.is_draft() or unlisted is not None or is_empty,
        authors=authors,
        tags=tags,
        categories=categories,
        excerpt=fields.text("excerpt", "description", "summary"),
        body=front.body,
        modified=modified,
        permalink=permalink,
        aliases=fields.paths("aliases", "alias", "redirect_from"),
        fields=front.fields,
        said=tuple(said),
    )


def day_named(name: str) -> tuple[datetime | None, str]:
    """The date at the start of a file's name (``2024-03-05-hello``), or None, and the rest of the name."""
    try:
        day = datetime.combine(date.fromisoformat(name[:10]), time(), UTC) if name[10:11] in {"", "-", "_"} else None
    except ValueError:
        day = None
    return (None, name) if day is None else (day, name[11:] or name)


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
    """The front matter of a file. Without it, a heading at the start is the title. Raises FrontMatterError."""
    if split_front_matter(text) is not None:
        return read_front_matter(text)
    if stem.lower().startswith(_ABOUT_FOLDER):
        raise FrontMatterError(
            "the file describes the folder and has no front matter, so it isn't imported",
            line=1,
            hint="to import the file, start it with a line of ---, a title, and another line of ---",
        )
    heading = first_heading(text)
    if heading is None or heading.level != 1 or heading.start >= TITLE_LINES_MAX:
        return FrontMatter({}, text)
    lines = text.split("\n")
    parts = ("\n".join(part).strip("\n") for part in (lines[: heading.start], lines[heading.end :]))
    return FrontMatter({"title": _without_attributes(heading.title)}, "\n\n".join(filter(None, parts)) + "\n")


def _without_attributes(title: str) -> str:
    """A title without the attributes after it: ``Title {#id}``, ``Title {: #id }``."""
    words, mark, rest = title.rpartition("{")
    return words.strip() if mark and rest.lstrip(": ").startswith("#") and rest.rstrip("# ").endswith("}") else title


def _bytes_of(path: Path) -> tuple[bytes, datetime]:
    """A file's content and modification time. Links, pipes and devices are rejected."""
    try:
        status = path.lstat()
        if not stat.S_ISREG(status.st_mode):
            raise FrontMatterError("the path isn't a regular file")
        if status.st_size > FILE_BYTES_MAX:
            raise FrontMatterError(
                f"the file is {status.st_size:,} bytes; the maximum is {FILE_BYTES_MAX:,}",
                hint="split the file, or import a text that links to it",
            )
        data = path.read_bytes()
    except OSError as error:
        raise FrontMatterError(f"the file can't be read: {error.strerror or error}") from None
    return data, datetime.fromtimestamp(status.st_mtime, UTC)


class _Fields:
    """The fields of a post."""

    def __init__(self, front: FrontMatter) -> None:
        taxonomies = front.fields.get("taxonomies")
        extra = front.fields.get("extra")  # Zola stores custom fields in extra
        self.fields = {
            **(extra if isinstance(extra, dict) else {}),
            **(taxonomies if isinstance(taxonomies, dict) else {}),
            **front.fields,
        }
        self.unusable: Counter[str] = Counter()
        """For each list, the number of entries that aren't strings."""

    def text(self, *names: str) -> str | None:
        """The first nonempty field of these, as a string on one line."""
        for name in names:
            value = self.fields.get(name)
            if isinstance(value, str | int | float | date) and not isinstance(value, bool):
                text = " ".join(self._checked(name, str(value)[:FIELD_CHARACTERS_MAX]).split())
                if text:
                    return text
        return None

    def flag(self, name: str) -> bool | None:
        value = self.fields.get(name)
        if isinstance(value, str):
            return {"true": True, "yes": True, "false": False, "no": False}.get(value.strip().lower())
        return value if isinstance(value, bool) else None

    def is_draft(self) -> bool:
        """Whether the fields mark a post as a draft."""
        status = (self.text("status") or "").lower()
        return self.flag("draft") is True or self.flag("published") is False or status in {"draft", "hidden"}

    def unlisted(self) -> str | None:
        """The reason why the site doesn't list a post that isn't a draft: it has expired, or is restricted."""
        build: Any = self.fields.get("build", self.fields.get("_build"))
        if isinstance(build, dict) and {str(build.get(name)).lower() for name in ("render", "list")} & {
            "never",
            "false",
        }:
            return "build"
        expires = _moment(self.fields.get("expiryDate"))
        if expires is not None and expires <= now():
            return "expiryDate"
        flags = (name for name in ("headless", "private", "unlisted", "hidden") if self.flag(name) is True)
        return next(flags, "password" if self.fields.get("password") else None)

    def words(self, word: str, many: str) -> tuple[str, ...]:
        """Tags or categories: ``tag: one tag``, ``tags: [a, b]``, ``tags: a, b`` or ``tags: a b``; without
        duplicates.
        """
        value = self.fields.get(many)
        if isinstance(value, str):
            value = [part for part in (value.split(",") if "," in value else value.split()) if part.strip()]
        return self._listed({word: self.fields.get(word), many: value}, lambda part: part)

    def paths(self, *names: str) -> tuple[str, ...]:
        """URLs: a string, or a list of strings."""
        given = {name: self.fields.get(name) for name in names}
        return self._listed(given, lambda part: part if isinstance(part, str) and len(part) <= 1000 else None)

    def people(self, *names: str) -> tuple[str, ...]:
        """Authors: a string, a list of strings, or mappings with names."""
        keys = ("id", "username", "login", "nickname", "name", "email")

        def person(part: Any) -> Any:
            return next((part[key] for key in keys if part.get(key)), None) if isinstance(part, dict) else part

        return self._listed({name: self.fields.get(name) for name in names}, person)

    def _listed(self, given: Mapping[str, Any], of: Callable[[Any], Any]) -> tuple[str, ...]:
        """The strings in fields with strings or lists of strings, without duplicates; counts invalid list entries."""
        result: dict[str, None] = {}
        for name, value in given.items():
            for part in value if isinstance(value, list) else [value]:
                text = self._word(name, of(part))
                if text:
                    result[text] = None
                elif isinstance(value, list):
                    self.unusable[name] += 1
        return tuple(result)

    def moment(self, *names: str) -> datetime | None:
        """The first date or datetime of these fields, in UTC. Raises FrontMatterError for an invalid one."""
        for name in names:
            value = self.fields.get(name)
            if value is None or value == "":
                continue
            result = _moment(value)
            if result is None:
                said = type(value).__name__ if isinstance(value, list | dict) else repr(str(value)[:60])
                raise FrontMatterError(
                    f"{name} is {said}, which isn't a date",
                    hint="write the date as 2026-11-21, or 2026-11-21 09:42:00 +0100",
                )
            return result
        return None

    def _word(self, name: str, value: Any) -> str:
        if value is None or isinstance(value, list | dict):
            return ""
        text = str(value).lower() if isinstance(value, bool) else str(value)
        return " ".join(self._checked(name, text).split())

    def _checked(self, name: str, text: str) -> str:
        if not is_storable(text):
            raise FrontMatterError(f"{name} contains a lone surrogate")
        return text


def _moment(value: Any) -> datetime | None:
    """The datetime of a field, in UTC, which is the default zone. None if it has none."""
    try:
        if isinstance(value, datetime):
            moment = value
        elif isinstance(value, date):
            moment = datetime.combine(value, time())
        elif isinstance(value, str):
            moment = _moment_in(value.strip()[:FIELD_CHARACTERS_MAX])
        else:
            return None
        return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def _moment_in(text: str) -> datetime:
    """Parse a datetime in ISO 8601, possibly with a space before the zone, or of a mail header. Raises ValueError."""
    try:
        return datetime.fromisoformat(text.replace(" +", "+").replace(" -", "-"))
    except ValueError:
        return parsedate_to_datetime(text)


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
