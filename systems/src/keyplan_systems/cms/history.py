"""The git history of a folder: the contents of each file, with dates and authors. One ``git log`` lists all changes,
including those before a file was moved into the folder; contents are read on demand. Git runs without a shell, and
without the repository's hooks and filters. Systems interpret the history.
"""

from __future__ import annotations

import os
import subprocess
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from keyplan_systems.frontmatter import FrontMatterError, plain_text, split_front_matter
from keyplan_systems.posts import FILE_BYTES_MAX

LOG_SECONDS_MAX = 60
_FILE_MODES = frozenset({"100644", "100755"})
_KEPT = ("PATH", "HOME")
"""Environment variables of git. Others would make it use another repository."""


class HistoryError(Exception):
    """A history that can't be read."""


@dataclass(frozen=True, slots=True)
class Revision:
    """The content of a file from a time on, and its author (None: unknown)."""

    body: str
    author: str | None
    moment: datetime


@dataclass(frozen=True, slots=True)
class Change:
    """One commit's change of one file: the object id of its new content."""

    blob: str
    author: str
    moment: datetime


class History:
    """The history of files in a folder. ``changes`` is by relative path, oldest first."""

    def __init__(self, folder: Path, changes: dict[str, list[Change]], former: dict[str, list[str]]) -> None:
        self._folder = folder
        self._changes = changes
        self._former = former

    @classmethod
    def of(cls, folder: Path) -> History | None:
        """The folder's history; None if git isn't installed or the folder isn't in a work tree.

        Raises HistoryError if git fails or times out.
        """
        try:
            inside = _git(folder, "rev-parse", "--is-inside-work-tree")
            if b"not a git repository" in inside.stderr or inside.stdout.strip() == b"false":
                return None
            _checked(inside)
            if _git(folder, "rev-parse", "--quiet", "--verify", "HEAD").returncode:
                return None  # the repository has no commits yet
            prefix = _checked(_git(folder, "rev-parse", "--show-prefix")).decode("utf-8", "replace").strip("\n")
            changes, former = _changes(_checked(_git(folder, *_LOG)))
            below = {path[len(prefix) :]: result for path, result in changes.items() if path.startswith(prefix)}
            moved = {
                path[len(prefix) :]: [old[len(prefix) :] for old in names if old.startswith(prefix)]
                for path, names in former.items()
                if path.startswith(prefix)
            }
            return cls(folder, below, moved)
        except FileNotFoundError:
            return None
        except subprocess.TimeoutExpired:
            raise HistoryError(f"git log took more than {LOG_SECONDS_MAX} s") from None
        except (ValueError, OverflowError) as error:
            raise HistoryError(f"the output of git log can't be parsed: {error}") from None

    def revisions(self, path: str) -> list[Revision]:
        """The contents of a file, oldest first, without front matter. Raises HistoryError. Skips contents that aren't
        UTF-8 or are too large.
        """
        result: list[Revision] = []
        for change in self._changes.get(path, ()):
            data = self._blob(change.blob)
            body = None if data is None else _body(data)
            if body is not None:
                result.append(Revision(body, change.author or None, change.moment))
        return result

    def former(self, path: str) -> list[str]:
        """The former names of a file in the folder, latest first."""
        return self._former.get(path, [])[::-1]

    def _blob(self, name: str) -> bytes | None:
        """The content of an object; None if it is too large, or missing in a partial clone."""
        size = _git(self._folder, "cat-file", "-s", name)
        if size.returncode or int(size.stdout) > FILE_BYTES_MAX:
            return None
        return _checked(_git(self._folder, "cat-file", "blob", name))


_LOG = (
    *("log", "--reverse", "--topo-order", "--raw", "-z", "--no-abbrev", "-M"),
    *("--no-color", "--no-ext-diff", "--no-textconv", "--no-show-signature"),
    "--format=%x02%aI%x00%aN",
)


_SAFE = ("-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "-c", "log.showSignature=false")
_SETTINGS = {"LC_ALL": "C.UTF-8", "GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0", "GIT_NO_LAZY_FETCH": "1"}


def _git(folder: Path, *arguments: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(  # noqa: S603 - no shell; fixed arguments and a folder
        ["git", "-C", str(folder), *_SAFE, *arguments],  # noqa: S607 - git is found in PATH
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=LOG_SECONDS_MAX,
        env={**{name: os.environ[name] for name in _KEPT if name in os.environ}, **_SETTINGS},
        check=False,
    )


def _checked(done: subprocess.CompletedProcess[bytes]) -> bytes:
    if done.returncode:
        said = done.stderr.decode("utf-8", "replace").strip().splitlines()
        raise HistoryError(f"git failed: {said[0] if said else done.returncode}")
    return done.stdout


def _changes(log: bytes) -> tuple[dict[str, list[Change]], dict[str, list[str]]]:
    """The changes of each file by its current name, including those before a rename; and its former names, earliest
    first.
    """
    result: dict[str, list[Change]] = {}
    former: dict[str, list[str]] = {}
    tokens = iter(log.split(b"\0"))
    moment, author = datetime.fromtimestamp(0, UTC), ""
    for token in tokens:
        if token.startswith(b"\x02"):
            moment = datetime.fromisoformat(token[1:].decode("ascii")).astimezone(UTC)
            author = " ".join(next(tokens).decode("utf-8", "replace").split())
            continue
        line = token.lstrip(b"\n").decode("ascii", "replace")
        if not line.startswith(":"):
            continue
        _, mode, before, blob, status = line.split(" ")
        path = next(tokens).decode("utf-8", "replace")
        if status.startswith("R"):
            old, path = path, next(tokens).decode("utf-8", "replace")
            result[path] = result.pop(old, [])
            former[path] = [*(text for text in former.pop(old, []) if text != path), old]
        if blob != before and mode in _FILE_MODES:
            result.setdefault(path, []).append(Change(blob, author, moment))
    return result, former


def _body(data: bytes) -> str | None:
    try:
        text = plain_text(data)
    except FrontMatterError:
        return None
    with suppress(FrontMatterError):
        parts = split_front_matter(text)
        return text if parts is None else parts.body
    return text
