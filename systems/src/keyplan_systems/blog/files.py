"""Where the blog's pictures and files are kept: beside its store, unless the environment says otherwise."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

from keyplan.errors import RequestError
from keyplan_systems.blog.design import Blog
from keyplan_systems.site.files import Files, MemoryFiles, files_at

__all__ = ["FILES_VARIABLE", "files_of"]

FILES_VARIABLE = "KEYPLAN_FILES"
"""A folder, or ``s3://bucket/prefix``."""


_IN_MEMORY: WeakKeyDictionary[Any, MemoryFiles] = WeakKeyDictionary()
"""The files of each store in memory, as long as it lasts."""


class _Nowhere:
    """No place for files: a store elsewhere has no folder beside it."""

    def put(self, name: str, content: bytes) -> None:  # noqa: ARG002 - as of every place for files
        """Raises RequestError."""
        raise RequestError(
            "there is no place for files", place="files", hint=f"set {FILES_VARIABLE} to a folder, or to s3://bucket"
        )

    def get(self, name: str) -> bytes | None:  # noqa: ARG002
        """Nothing."""
        return None

    def delete(self, name: str) -> None:
        """Nothing is to be removed."""


def files_of(blog: Blog, place: str | None = None) -> Files:
    """The files of a blog: at ``place``, else where KEYPLAN_FILES says, else in ``blog.files`` beside ``blog.db``.

    A store in memory has files in memory; one elsewhere has none until it is given a place. Raises RequestError.
    """
    named = place or os.environ.get(FILES_VARIABLE)
    if named:
        return files_at(named)
    url = blog.store.url
    if url == ":memory:":
        return _IN_MEMORY.setdefault(blog.store, MemoryFiles())
    if "://" in url:
        return _Nowhere()
    return files_at(str(Path(url).with_suffix(".files")))
