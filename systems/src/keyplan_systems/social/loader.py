"""Loading real input into the social network: an edge list as SNAP publishes graphs, and JSON lines of posts.

A file is read line by line and written in steps, so that memory doesn't grow with it. A line that can't be read is a
fault with its number, and the rest goes in. The same file can be loaded again: nothing doubles.
"""

from __future__ import annotations

import gzip
import hashlib
import zlib
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, BinaryIO, cast

import orjson
from pydantic import BaseModel, BeforeValidator, ConfigDict, ValidationError

from keyplan.errors import ErrorDetail, KeyplanError, RequestError, StoreError
from keyplan.systems import LoadReport, Progress
from keyplan_systems.lines import readable
from keyplan_systems.social.bulk import add_follows, add_posts, add_users, parts_of, users_by_id
from keyplan_systems.social.design import Social
from keyplan_systems.social.entities import Following, Id, Post, Text, User

__all__ = ["load"]

EDGES_STEP = 2000
"""Edges that are in memory at a time."""
POSTS_STEP = 500
LINE_BYTES_MAX = 64 * 1024
"""A longer line is no edge, and no post: 5,000 characters, escaped, are less."""
BLOCK_BYTES = 1 << 20
COLUMNS_MAX = 4
"""Columns of an edge: two users, and what SNAP may add: a weight, a sign, a time."""
DIGITS_MAX = 20
SINCE = datetime(2012, 1, 1, tzinfo=UTC)
"""Since when an edge of a list is a follow: the lists don't say."""
SUFFIXES = frozenset({".txt", ".csv", ".tsv", ".edges", ".jsonl", ".ndjson"})


def load(design: Social, path: Path, progress: Progress) -> LoadReport:
    """Load an edge list, a file of posts, or the files of a folder, edge lists first; compressed ones (``.gz``) too.

    An edge of an undirected graph, which is what a list is unless its comments say "Directed graph", is two follows.
    ``loaded`` counts the lines that now stand in the network, those that already did included. Progress is in lines.
    Raises RequestError for a file that can't be opened, StoreError when the store can't be written.
    """
    report = LoadReport()
    files = _files(path)
    total = _lines_in(files)
    done = 0
    for file in sorted(files, key=lambda path: (_holds_posts(path), path.name)):
        number = len(report.errors)
        with _binary(file) as opened:
            lines = _Lines(opened, file.name, report)
            progress(done, total)
            for read in (_load_posts if _holds_posts(file) else _load_edges)(design, lines, report):
                progress(done + read, total)
            done += lines.number
            progress(done, total)
        report.errors[number:] = sorted(report.errors[number:], key=_line_of)
    return report


# Files and lines


class _Lines:
    """The lines of a file with their numbers, each of bounded length."""

    def __init__(self, file: BinaryIO, shown: str, report: LoadReport) -> None:
        self._file = file
        self._shown = shown
        self._report = report
        self.number = 0

    def __iter__(self) -> Iterator[tuple[int, str]]:
        while line := self._file.readline(LINE_BYTES_MAX):
            self.number += 1
            if not line.endswith(b"\n") and len(line) == LINE_BYTES_MAX:
                while line and not line.endswith(b"\n"):
                    line = self._file.readline(LINE_BYTES_MAX)
                self.fault(self.number, f"the line is longer than {LINE_BYTES_MAX:,} bytes")
                continue
            try:
                text = line.decode("utf-8-sig" if self.number == 1 else "utf-8").strip()
            except UnicodeDecodeError as error:
                self.fault(self.number, f"it isn't UTF-8: {error.reason} at byte {error.start + 1}")
                continue
            if text:
                yield self.number, text

    def fault(self, number: int, message: str, hint: str | None = None) -> None:
        """Note that a line can't be taken."""
        self._report.fault(ErrorDetail(f"{self._shown}:{number}", message, hint))


def _line_of(fault: ErrorDetail) -> int:
    return int(fault.place.rpartition(":")[2])


def _files(path: Path) -> list[Path]:
    if not path.is_dir():
        return [path]
    return [element for element in sorted(path.iterdir()) if element.is_file() and _kind(element) in SUFFIXES]


def _kind(path: Path) -> str:
    suffixes = [suffix.lower() for suffix in path.suffixes]
    return (suffixes[-2:-1] or [""])[0] if suffixes[-1:] == [".gz"] else (suffixes or [""])[-1]


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


def _lines_in(files: list[Path]) -> int | None:
    """How many lines there are in all; None where finding out would mean unpacking."""
    number = 0
    for path in files:
        if path.suffix.lower() == ".gz":
            return None
        with _binary(path) as file:
            last = b""
            while block := file.read(BLOCK_BYTES):
                number += block.count(b"\n")
                last = block
            number += bool(last) and not last.endswith(b"\n")
    return number


def _holds_posts(path: Path) -> bool:
    """Whether a file holds posts: its first line that isn't blank begins with a brace."""
    with _binary(path) as file:
        while line := file.readline(LINE_BYTES_MAX):
            text = line.removeprefix(b"\xef\xbb\xbf").strip()
            if text:
                return text.startswith((b"{", b"["))
    return False


# Edges


def _load_edges(design: Social, lines: _Lines, report: LoadReport) -> Iterator[int]:
    for part in parts_of(_edges(lines), EDGES_STEP):
        links = [
            Following(user_id=text, followed_id=other, since=SINCE)
            for first, second, directed in part
            for text, other in ([(first, second)] if directed else [(first, second), (second, first)])
        ]
        names = dict.fromkeys(name for link in links for name in (link.user_id, link.followed_id))
        there = users_by_id(design, names)
        add_users(design, (_newcomer(name) for name in names if name not in there))
        add_follows(design, links)
        report.loaded += len(part)
        yield lines.number


def _newcomer(name: str) -> User:
    return User(user_id=name, handle=f"user{name}", name=f"User {name}", joined_at=SINCE)


def _edges(lines: _Lines) -> Iterator[tuple[str, str, bool]]:
    """The edges, each with whether it goes one way only; what isn't one is told."""
    directed = False
    for number, text in lines:
        if text[0] in "#%":
            words = text.lower().split()
            directed = directed or "directed" in words
            continue
        columns = text.replace(",", " ").split()
        problem = _problem(columns)
        if problem:
            lines.fault(number, problem, "an edge is two users' numbers: 17 42")
            continue
        first, second = (str(int(column)) for column in columns[:2])
        if first == second:
            lines.fault(number, f"user {first} follows themselves", "leave it out")
            continue
        yield first, second, directed


def _problem(columns: list[str]) -> str | None:
    """What is wrong with the columns of an edge."""
    if not 2 <= len(columns) <= COLUMNS_MAX:
        return f"{len(columns)} columns" if len(columns) != 1 else "one column only"
    for column in columns[:2]:
        if not (column.isascii() and column.isdecimal()) or len(column) > DIGITS_MAX:
            return f"{column[:40]!r} is no user's number"
    for column in columns[2:]:
        try:
            float(column)
        except ValueError:
            return f"{column[:40]!r} is no number"
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
        """The post. Without an id it gets one that is made of what it says: the same one each time."""
        moment = _zoned(self.created_at)
        said = "\0".join((self.user, moment.astimezone(UTC).isoformat(), self.text))
        made = hashlib.blake2b(said.encode("utf-8", "surrogatepass"), digest_size=13).hexdigest()
        return Post(post_id=self.id or made, user_id=self.user, text=self.text, created_at=moment)


def _load_posts(design: Social, lines: _Lines, report: LoadReport) -> Iterator[int]:
    for part in parts_of(_posts(lines), POSTS_STEP):
        users = users_by_id(design, (post.user_id for _, post, _ in part))
        taken: dict[str, Post] = {}
        for number, post, named in part:
            same = taken.get(post.post_id) or (design.post_by_id(post.post_id) if named else None)
            if post.user_id not in users:
                lines.fault(number, f"there is no user {post.user_id!r}", "load the users first, as an edge list")
            elif same is not None and (same.user_id, same.created_at) != (post.user_id, post.created_at):
                lines.fault(number, f"the id {post.post_id!r} belongs to another post", "give each post its own")
            else:
                taken[post.post_id] = post
        try:
            add_posts(design, taken.values())
        except StoreError:
            raise
        except KeyplanError as error:
            lines.fault(part[0][0], f"this and the {len(part) - 1} lines after it: {error.message}", error.hint)
        else:
            report.loaded += len(taken)
        yield lines.number


def _posts(lines: _Lines) -> Iterator[tuple[int, Post, bool]]:
    """The posts with their lines, and whether they were given an id; what isn't one is told."""
    for number, text in lines:
        try:
            line = _Line.model_validate(orjson.loads(text))
            yield number, line.post(), line.id is not None
        except orjson.JSONDecodeError as error:
            lines.fault(number, f"it isn't JSON: {error.msg} at column {error.colno}", "one object a line")
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            where = ".".join(str(part) for part in first["loc"]) or "the line"
            message = f"{where}: {first['msg'][:1].lower()}{first['msg'][1:]}"
            lines.fault(number, message, 'a post is {"user": "17", "text": "…", "created_at": "2026-05-04T09:30:00Z"}')
        except OverflowError:
            lines.fault(number, "created_at: no such moment")
