"""Storage for images and other files: a folder or an Amazon S3 bucket, with names derived from the content.

A file's name is a digest of its content, so that identical files are stored once, and a URL never changes its content.
``pictures`` decides what can be uploaded, and in which format it is stored.
"""

from __future__ import annotations

import hashlib
import importlib
import os
import re
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import urlsplit

from keyplan.errors import RequestError, StoreError

KINDS = {
    "avif": "image/avif",
    "gif": "image/gif",
    "jpg": "image/jpeg",
    "png": "image/png",
    "svg": "image/svg+xml",
    "webp": "image/webp",
    "csv": "text/csv; charset=utf-8",
    "mp3": "audio/mpeg",
    "mp4": "video/mp4",
    "ogg": "audio/ogg",
    "pdf": "application/pdf",
    "txt": "text/plain; charset=utf-8",
    "webm": "video/webm",
    "zip": "application/zip",
}
"""Media types by file extension."""
_NAME = re.compile(rf"[0-9a-f]{{32}}\.(?:{'|'.join(KINDS)})")


class Files(Protocol):
    """Stores files by name (``name_of``). A file with an existing name has the same content. Raises StoreError."""

    def put(self, name: str, content: bytes) -> None: ...
    def get(self, name: str) -> bytes | None: ...
    def delete(self, name: str) -> None: ...


def name_of(content: bytes, ending: str, owner: str = "") -> str:
    """The name of a file with this content. ``ending`` is one of KINDS. It differs for each ``owner``."""
    digest = hashlib.blake2b(content, digest_size=16, key=owner.encode()[:64])
    return f"{digest.hexdigest()}.{ending}"


def is_name(name: str) -> bool:
    return _NAME.fullmatch(name) is not None


@dataclass(frozen=True)
class FolderFiles:
    """Files in a folder, which is created with the first file."""

    folder: Path

    def put(self, name: str, content: bytes) -> None:
        """Write the file atomically."""
        path = self._path(name)
        try:
            if path.exists():
                return
            path.parent.mkdir(parents=True, exist_ok=True)
            with tempfile.NamedTemporaryFile(dir=path.parent, prefix=".", delete=False) as file:
                file.write(content)
            os.replace(file.name, path)  # noqa: PTH105 - both paths are strings
        except OSError as error:
            raise StoreError(f"the file can't be written: {error.strerror or error}", place=str(path)) from None

    def get(self, name: str) -> bytes | None:
        try:
            return self._path(name).read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise StoreError(f"the file can't be read: {error.strerror or error}", place=name) from None

    def delete(self, name: str) -> None:
        try:
            self._path(name).unlink(missing_ok=True)
        except OSError as error:
            raise StoreError(f"the file can't be deleted: {error.strerror or error}", place=name) from None

    def _path(self, name: str) -> Path:
        if not is_name(name):
            raise RequestError(f"{name!r} is not a valid file name", place="files")
        return self.folder / name[:2] / name


class MemoryFiles:
    """Files in memory: for tests, and for imports that write nothing."""

    def __init__(self) -> None:
        self.kept: dict[str, bytes] = {}

    def put(self, name: str, content: bytes) -> None:
        self.kept[name] = content

    def get(self, name: str) -> bytes | None:
        return self.kept.get(name)

    def delete(self, name: str) -> None:
        self.kept.pop(name, None)


class S3Files:
    """Files in an S3 bucket, under a prefix. ``client`` is botocore's S3 client."""

    def __init__(self, client: Any, bucket: str, prefix: str = "") -> None:
        self.client = client
        self.bucket = bucket
        self.prefix = prefix

    def put(self, name: str, content: bytes) -> None:
        kind = KINDS[name.rpartition(".")[2]]
        self._call("put_object", name, Body=content, ContentType=kind, CacheControl="public, max-age=31536000")

    def get(self, name: str) -> bytes | None:
        answer = self._call("get_object", name)
        return None if answer is None else bytes(answer["Body"].read())

    def delete(self, name: str) -> None:
        self._call("delete_object", name)

    def _call(self, operation: str, name: str, **more: Any) -> Any:
        if not is_name(name):
            raise RequestError(f"{name!r} is not a valid file name", place="files")
        try:
            return getattr(self.client, operation)(Bucket=self.bucket, Key=self.prefix + name, **more)
        except Exception as error:  # noqa: BLE001 - botocore creates its exception classes at run time
            response: Any = getattr(error, "response", {})
            if response.get("Error", {}).get("Code") in {"NoSuchKey", "404"}:
                return None
            raise StoreError(
                f"the request to S3 failed: {error}", place=f"s3://{self.bucket}/{self.prefix}{name}"
            ) from None


def files_at(place: str) -> Files:
    """The files at a location: a folder, or ``s3://bucket/prefix``. Raises RequestError."""
    if not place.startswith("s3://"):
        return FolderFiles(Path(place).expanduser())
    try:
        session: Any = importlib.import_module("botocore.session")  # an optional dependency
    except ModuleNotFoundError:
        raise RequestError("botocore isn't installed", place=place, hint="pip install 'keyplan[aws]'") from None
    parts = urlsplit(place)
    prefix = parts.path.strip("/")
    if not parts.netloc:
        raise RequestError(f"{place} has no bucket", place="files", hint="use the form s3://bucket/prefix")
    client: Any = session.get_session().create_client("s3")
    return S3Files(client, parts.netloc, f"{prefix}/" if prefix else "")
