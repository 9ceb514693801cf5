"""Import of edge lists in the format of SNAP.

Files are read line by line and written in steps, in bounded memory. A line that can't be loaded is reported by its
number. Importing a file again changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from keyplan.errors import ErrorDetail, RequestError
from keyplan.systems import LoadReport, Progress
from keyplan_systems.lines import Lines, count_lines, readable
from keyplan_systems.social.bulk import add_follows, add_users, parts_of, users_by_id
from keyplan_systems.social.design import Social
from keyplan_systems.social.entities import Following, User

EDGES_STEP = 2000
"""Maximum number of edges in memory."""
COLUMNS_MAX = 4
"""Columns of an edge: two users, and optionally a weight, a sign or a time."""
DIGITS_MAX = 20
SINCE = datetime(2012, 1, 1, tzinfo=UTC)
"""The time of imported follows, because edge lists have none."""
SUFFIXES = frozenset({".txt", ".csv", ".tsv", ".edges"})


def load(design: Social, path: Path, progress: Progress) -> LoadReport:
    """Load an edge list, or all edge lists in a folder.

    An edge is two follows, unless a comment of the file says "Directed graph". ``loaded`` counts the edges that are
    stored, including those of earlier imports. Progress is in lines. Raises RequestError for a file that can't be read
    or is compressed, StoreError if the store isn't writable.
    """
    report = LoadReport()
    if path.suffix.lower() == ".gz":
        raise RequestError(f"{path.name} is compressed", hint="decompress the file with gunzip")
    files = [path]
    if path.is_dir():
        files = [file for file in sorted(path.iterdir()) if file.is_file() and file.suffix.lower() in SUFFIXES]
    with readable(path):
        total, done = sum(map(count_lines, files)), 0
        for file in files:
            progress(done, total)
            for number in _load_edges(design, file, report):
                progress(done + number, total)
            done += count_lines(file)
        progress(done, total)
    return report


def _load_edges(design: Social, path: Path, report: LoadReport) -> Iterator[int]:
    """Load one edge list; yields the number of the last processed line."""
    for part in parts_of(_edges(path, report), EDGES_STEP):
        links = [
            Following(user_id=reader, followed_id=followed, since=SINCE)
            for _, first, second, directed in part
            for reader, followed in ([(first, second)] if directed else [(first, second), (second, first)])
        ]
        names = dict.fromkeys(name for link in links for name in (link.user_id, link.followed_id))
        there = users_by_id(design, names)
        add_users(design, (_new_user(name) for name in names if name not in there))
        add_follows(design, links)
        report.loaded += len(part)
        yield part[-1][0]


def _new_user(name: str) -> User:
    return User(user_id=name, handle=f"user{name}", name=f"User {name}", joined_at=SINCE)


def _edges(path: Path, report: LoadReport) -> Iterator[tuple[int, str, str, bool]]:
    """The edges with their lines, and whether they are directed. Invalid lines are reported."""

    def fault(number: int, message: str, hint: str | None = None) -> None:
        report.fault(ErrorDetail(f"{path.name}:{number}", message, hint))

    directed = False
    with path.open("rb") as file:
        for number, line in Lines(file, fault):
            text = line.strip()
            if text.startswith(("#", "%")):
                directed = directed or "directed" in text.lower().split()
                continue
            columns = text.replace(",", " ").split()
            if not columns:
                continue
            problem = _problem(columns)
            if problem:
                fault(number, problem, "write two user numbers, such as 17 42")
                continue
            first, second = (str(int(column)) for column in columns[:2])
            if first == second:
                fault(number, f"user {first} follows themselves", "remove the line")
                continue
            yield number, first, second, directed


def _problem(columns: list[str]) -> str | None:
    if not 2 <= len(columns) <= COLUMNS_MAX:
        return f"the line has {len(columns)} of 2 to {COLUMNS_MAX} columns"
    for column in columns[:2]:
        if not (column.isascii() and column.isdecimal()) or len(column) > DIGITS_MAX:
            return f"{column[:40]!r} isn't a user number"
    for column in columns[2:]:
        try:
            float(column)
        except ValueError:
            return f"{column[:40]!r} isn't a number"
    return None
