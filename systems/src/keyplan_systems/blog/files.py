"""The location of the blog's images and files: next to its store by default."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

from keyplan.errors import RequestError
from keyplan_systems.blog.design import Blog
from keyplan_systems.site.files import Files, MemoryFiles, files_at

FILES_VARIABLE = "KEYPLAN_FILES"
"""A folder, or ``s3://bucket/prefix``."""


_IN_MEMORY: WeakKeyDictionary[Any, MemoryFiles] = WeakKeyDictionary()
"""The files of in-memory stores."""


class _Nowhere:
    """No location for files: a remote store has no folder next to it."""

    def put(self, name: str, content: bytes) -> None:  # noqa: ARG002
        raise RequestError(
            "no location is set for files", place="files", hint=f"set {FILES_VARIABLE} to a folder, or to s3://bucket"
        )

    def get(self, name: str) -> bytes | None:  # noqa: ARG002
        return None

    def delete(self, name: str) -> None: ...


def files_of(blog: Blog, place: str | None = None) -> Files:
    """The files of a blog: at ``place``, else at KEYPLAN_FILES, else in ``blog.files`` next to ``blog.db``.

    An in-memory store has files in memory; a remote one has none without a location. Raises RequestError.
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
