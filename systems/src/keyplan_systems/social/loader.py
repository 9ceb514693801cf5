"""Import of edge lists as SNAP publishes graphs, and of posts as JSON lines.

Files are read line by line and written in steps, in bounded memory. A line that can't be loaded is reported by its
number. Loading a file again changes nothing.
"""

from __future__ import annotations

import gzip
import hashlib
import zlib
from collections.abc import Generator, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, BinaryIO, cast

import orjson
from pydantic import BaseModel, BeforeValidator, ConfigDict, ValidationError

from keyplan.errors import ErrorDetail, KeyplanError, RequestError, StoreError
from keyplan.systems import LoadReport, Progress
from keyplan_systems.lines import LINE_BYTES_MAX, Lines, count_lines, readable
from keyplan_systems.social.bulk import add_follows, add_posts, add_users, parts_of, users_by_id
from keyplan_systems.social.design import Social
from keyplan_systems.social.entities import Following, Id, Post, Text, User

__all__ = ["load"]

EDGES_STEP = 2000
"""Edges in memory at a time."""
POSTS_STEP = 500
COLUMNS_MAX = 4
"""Columns of an edge: two users, and the weight, sign or time that SNAP may add."""
DIGITS_MAX = 20
SINCE = datetime(2012, 1, 1, tzinfo=UTC)
"""The time of the follows of an edge list, which has none."""
_NumberedLines = Iterable[tuple[int, str]]
SUFFIXES = frozenset({".txt", ".csv", ".tsv", ".edges", ".jsonl", ".ndjson"})


def load(design: Social, path: Path, progress: Progress) -> LoadReport:
    """Load an edge list, a file of posts, or the files of a folder, edge lists first; also compressed ones (``.gz``).

    An edge is two follows, unless a comment of the file says "Directed graph". ``loaded`` counts the lines that are
    stored, now or before. Progress is in lines. Raises RequestError for a file that can't be opened, StoreError if the
    store can't be written.
    """
    report = LoadReport()
    files = sorted(_files(path), key=lambda path: (_holds_posts(path), path.name))
    with readable(path):
        packed = any(file.suffix.lower() == ".gz" for file in files)
        total = None if packed else sum(count_lines(file) for file in files)
    done = 0
    for file in files:
        reading, before = _Reading(file.name, report), len(report.errors)
        with _binary(file) as opened:
            progress(done, total)
            lines = reading.lines(opened)
            for _ in (_load_posts if _holds_posts(file) else _load_edges)(design, reading, lines):
                progress(done + reading.number, total)
            done += reading.number
            progress(done, total)
        report.errors[before:] = sorted(report.errors[before:], key=lambda fault: int(fault.place.rpartition(":")[2]))
    return report


@dataclass
class _Reading:
    """The reading of one file: the number of the last line, and the report."""

    name: str
    report: LoadReport
    number: int = 0

    def lines(self, file: BinaryIO) -> Iterator[tuple[int, str]]:
        """The lines that aren't empty, with their numbers."""
        for number, text in Lines(file, self.fault):
            self.number = number
            if text.strip():
                yield number, text.strip()

    def fault(self, number: int, message: str, hint: str | None = None) -> None:
        """Report a line that can't be loaded."""
        self.report.fault(ErrorDetail(f"{self.name}:{number}", message, hint))


# Files


def _files(path: Path) -> list[Path]:
    if not path.is_dir():
        return [path]
    return [element for element in sorted(path.iterdir()) if element.is_file() and _kind(element) in SUFFIXES]


def _kind(path: Path) -> str:
    return Path(path.stem if path.suffix.lower() == ".gz" else path).suffix.lower()


@contextmanager
def _binary(path: Path) -> Generator[BinaryIO]:
    with readable(path), path.open("rb") as file:
        try:
            if path.suffix.lower() == ".gz":
                with gzip.open(file) as unpacked:
                    yield cast("BinaryIO", unpacked)
            else:
                yield file
        except (gzip.BadGzipFile, EOFError, zlib.error) as error:
            raise RequestError(f"{path.name} can't be unpacked: {error}", hint="fetch it again") from None


def _holds_posts(path: Path) -> bool:
    """Whether a file holds posts: its first non-blank line starts with a brace."""
    with _binary(path) as file:
        while line := file.readline(LINE_BYTES_MAX):
            text = line.removeprefix(b"\xef\xbb\xbf").strip()
            if text:
                return text.startswith((b"{", b"["))
    return False


# Edges


def _load_edges(design: Social, reading: _Reading, lines: _NumberedLines) -> Iterator[None]:
    for part in parts_of(_edges(reading, lines), EDGES_STEP):
        links = [
            Following(user_id=text, followed_id=other, since=SINCE)
            for first, second, directed in part
            for text, other in ([(first, second)] if directed else [(first, second), (second, first)])
        ]
        names = dict.fromkeys(name for link in links for name in (link.user_id, link.followed_id))
        there = users_by_id(design, names)
        add_users(design, (_newcomer(name) for name in names if name not in there))
        add_follows(design, links)
        reading.report.loaded += len(part)
        yield


def _newcomer(name: str) -> User:
    return User(user_id=name, handle=f"user{name}", name=f"User {name}", joined_at=SINCE)


def _edges(reading: _Reading, lines: _NumberedLines) -> Iterator[tuple[str, str, bool]]:
    """The edges, each with whether it is directed. Other lines are reported."""
    directed = False
    for number, text in lines:
        if text[0] in "#%":
            words = text.lower().split()
            directed = directed or "directed" in words
            continue
        columns = text.replace(",", " ").split()
        problem = _problem(columns)
        if problem:
            reading.fault(number, problem, "an edge is two users' numbers: 17 42")
            continue
        first, second = (str(int(column)) for column in columns[:2])
        if first == second:
            reading.fault(number, f"user {first} follows themselves", "leave it out")
            continue
        yield first, second, directed


def _problem(columns: list[str]) -> str | None:
    """The error in the columns of an edge, if any."""
    if not 2 <= len(columns) <= COLUMNS_MAX:
        return f"{len(columns)} columns" if len(columns) != 1 else "one column only"
    for column in columns[:2]:
        if not (column.isascii() and column.isdecimal()) or len(column) > DIGITS_MAX:
            return f"{column[:40]!r} isn't a user's number"
    for column in columns[2:]:
        try:
            float(column)
        except ValueError:
            return f"{column[:40]!r} isn't a number"
    return None


# Posts


def _text(value: Any) -> Any:
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


def _zoned(value: datetime) -> datetime:
    return value if value.tzinfo else value.replace(tzinfo=UTC)


class _Line(BaseModel):
    """A line of posts."""

    model_config = ConfigDict(extra="ignore")

    user: Annotated[Id, BeforeValidator(_text)]
    text: Text
    created_at: datetime
    id: Annotated[Id, BeforeValidator(_text)] | None = None

    def post(self) -> Post:
        """The post. Without an id it gets a digest of its content."""
        moment = _zoned(self.created_at)
        said = "\0".join((self.user, moment.astimezone(UTC).isoformat(), self.text))
        made = hashlib.blake2b(said.encode("utf-8", "surrogatepass"), digest_size=13).hexdigest()
        return Post(post_id=self.id or made, user_id=self.user, text=self.text, created_at=moment)


def _load_posts(design: Social, reading: _Reading, lines: _NumberedLines) -> Iterator[None]:
    for part in parts_of(_posts(reading, lines), POSTS_STEP):
        users = users_by_id(design, (post.user_id for _, post, _ in part))
        taken: dict[str, Post] = {}
        for number, post, named in part:
            same = taken.get(post.post_id) or (design.post_by_id(post.post_id) if named else None)
            if post.user_id not in users:
                reading.fault(number, f"there is no user {post.user_id!r}", "load the users first, as an edge list")
            elif same is not None and (same.user_id, same.created_at) != (post.user_id, post.created_at):
                reading.fault(number, f"the id {post.post_id!r} belongs to another post", "give each post its own")
            else:
                taken[post.post_id] = post
        try:
            add_posts(design, taken.values())
        except StoreError:
            raise
        except KeyplanError as error:
            reading.fault(part[0][0], f"this and the {len(part) - 1} lines after it: {error.message}", error.hint)
        else:
            reading.report.loaded += len(taken)
        yield


def _posts(reading: _Reading, lines: _NumberedLines) -> Iterator[tuple[int, Post, bool]]:
    """The posts with their lines, and whether they have an id. Other lines are reported."""
    for number, text in lines:
        try:
            line = _Line.model_validate(orjson.loads(text))
            yield number, line.post(), line.id is not None
        except orjson.JSONDecodeError as error:
            reading.fault(number, f"not JSON: {error.msg} at column {error.colno}", "one object a line")
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            where = ".".join(str(part) for part in first["loc"]) or "the line"
            message = f"{where}: {first['msg'][:1].lower()}{first['msg'][1:]}"
            reading.fault(
                number, message, 'a post is {"user": "17", "text": "…", "created_at": "2026-05-04T09:30:00Z"}'
            )
        except OverflowError:
            reading.fault(number, "created_at: no such time")
