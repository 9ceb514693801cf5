"""The files of the repository, for the tests in this folder."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
SOURCE = ROOT / "src" / "keyplan"
SYSTEMS = ROOT / "systems" / "src" / "keyplan_systems"
LEFT_OUT = {"__pycache__", "node_modules", "build", "dist"}
"""Folders of generated files, besides those whose name begins with a dot except .ci."""


def written_files(suffix: str = "", below: Path = ROOT) -> Iterator[Path]:
    """Return every file that isn't generated, sorted by path."""
    for path in sorted(below.iterdir()):
        if path.is_dir():
            hidden = path.name.startswith(".") and path.name != ".ci"
            if not hidden and path.name not in LEFT_OUT and not path.name.endswith(".egg-info"):
                yield from written_files(suffix, path)
        elif path.name.endswith(suffix) and path.name != ".git":  # a file in a second working tree
            yield path


def place(path: Path) -> str:
    """Return a path relative to the repository, with slashes."""
    return path.relative_to(ROOT).as_posix()
