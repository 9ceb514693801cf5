"""A local folder in place of Amazon S3: a bucket is a subfolder, an object is a file.

No key leads out of its bucket, for reading or for writing.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import io
import os
import secrets
from collections.abc import Generator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Literal, cast

from keyplan.store.background_work import has_ended, this_process

Compression = Literal["NONE", "GZIP", "ZSTD"]

PARTIAL = ".keyplan-partial"
"""The folder in a bucket in which objects are written: they are moved to their places as a whole. No key leads there.
"""
LOGS = ".logs"
"""The folder beside the buckets in which errors of items are written. No bucket's name begins so."""


class S3Error(Exception):
    """Something that Amazon S3 would refuse. ``code`` is the failure code of a job."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


@dataclass(frozen=True, slots=True)
class Written:
    """An object that was written: the MD5 of its bytes in base 64, and its ETag."""

    md5: str
    etag: str


class Bucket:
    """One bucket.

    Raises:
        S3Error: it isn't there.
    """

    def __init__(self, folder: str | None, name: str) -> None:
        self.name = name
        if folder is None:
            raise S3Error(
                "S3NoSuchBucket", f"The specified bucket does not exist: {name}. The store has no folder for buckets"
            )
        self._path = Path(folder) / name
        if not os.path.isdir(self._path) or self._path.is_symlink():  # noqa: PTH112 - a Path raises when a name is too long
            raise S3Error("S3NoSuchBucket", f"The specified bucket does not exist: {name}, in {folder}")
        self._resolved = self._path.resolve()

    def keys(self, prefix: str) -> list[tuple[str, int]]:
        """The keys of the objects that begin with a prefix, in order, each with its size in bytes."""
        # The part of a prefix before its last slash is a folder: nothing outside of it can begin so.
        below, slash, _ = prefix.rpartition("/")
        root = self._place(below) if slash and below else self._path
        if root is None or not os.path.isdir(root):  # noqa: PTH112
            return []
        result = [
            (path.relative_to(self._path).as_posix(), path.stat().st_size)
            for path in root.rglob("*")
            if path.is_file() and self._is_inside(path)
        ]
        return sorted(
            (key, size) for key, size in result if key.startswith(prefix) and not key.startswith(f"{PARTIAL}/")
        )

    def read(self, key: str, compression: Compression) -> AbstractContextManager[IO[bytes]]:
        """An object, unpacked.

        Raises:
            S3Error: it isn't there, or can't be unpacked here.
        """
        path = self._place(key)
        if path is None or not os.path.isfile(path):  # noqa: PTH113
            raise S3Error("S3NoSuchKey", f"The specified key does not exist: {key}")
        if compression == "GZIP":
            return cast("AbstractContextManager[IO[bytes]]", gzip.open(path, "rb"))
        if compression == "ZSTD":
            return _unpacked_zstd(path)
        return path.open("rb")

    @contextmanager
    def writing(self, key: str, written: list[Written], *, packed: bool) -> Generator[IO[bytes]]:
        """A file to write an object to, packed by gzip or not. At the end, what it is comes into ``written``, and only
        then it is there, under its key.

        Raises:
            S3Error: there can't be an object of this key.
        """
        path = self._place(key)
        if path is None:
            raise S3Error("S3AccessDenied", f"A key can't lead out of its bucket: {key}")
        try:
            with self._partial() as partial, partial.open("wb") as raw:
                digesting = _Digesting(raw)
                if packed:
                    with gzip.GzipFile(filename="", mode="wb", compresslevel=6, fileobj=digesting, mtime=0) as packing:
                        yield cast("IO[bytes]", packing)
                else:
                    yield cast("IO[bytes]", digesting)
                raw.close()
                path.parent.mkdir(parents=True, exist_ok=True)
                partial.replace(path)
        except OSError as error:
            raise S3Error("S3AccessDenied", f"The object {key} can't be written: {error.strerror or error}") from error
        written.append(digesting.written())

    @contextmanager
    def _partial(self) -> Generator[Path]:
        """Where an object is written first. What a process left there that has ended is removed."""
        folder = self._path / PARTIAL
        folder.mkdir(exist_ok=True)
        for path in folder.iterdir():
            process, _, started = path.stem.partition("-")
            if process.isdigit() and has_ended({"Process": int(process), "Started": started}):
                path.unlink(missing_ok=True)
        me = this_process()
        path = folder / f"{me['Process']}-{me['Started']}.{secrets.token_hex(8)}"
        try:
            yield path
        finally:
            path.unlink(missing_ok=True)

    def put(self, key: str, body: bytes) -> Written:
        """Write a whole object.

        Raises:
            S3Error: there can't be an object of this key.
        """
        written: list[Written] = []
        with self.writing(key, written, packed=False) as file:
            file.write(body)
        return written[0]

    def _place(self, key: str) -> Path | None:
        """Where an object is; None when its key would lead out of the bucket."""
        parts = key.split("/")
        if parts[0] == PARTIAL:
            return None
        if "\0" in key or any(part in {"", ".", ".."} for part in parts) or len(key.encode(errors="replace")) > 1024:
            return None
        path = self._path.joinpath(*parts)
        return path if self._is_inside(path) else None

    def _is_inside(self, path: Path) -> bool:
        """Whether a path is in the bucket after its symbolic links are resolved. A link to a file or folder outside of
        the bucket would let a request read or overwrite any file of the user.
        """
        try:
            return path.resolve().is_relative_to(self._resolved)
        except (OSError, RuntimeError, ValueError):  # too long, links in a circle, not encodable
            return False


class _Digesting:
    """Writes through, and digests what is written."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._digest = hashlib.md5(usedforsecurity=False)

    def write(self, data: Any) -> int:
        """Write bytes."""
        self._digest.update(data)
        return self._file.write(data)

    def flush(self) -> None:
        """Pass on what is held back."""
        self._file.flush()

    def written(self) -> Written:
        """What was written. The ETag is that of an upload in one part, as the service makes them."""
        digest = self._digest.digest()
        parts = hashlib.md5(digest, usedforsecurity=False).hexdigest()
        return Written(base64.b64encode(digest).decode(), f"{parts}-1")


def md5_of(body: bytes) -> str:
    """The MD5 of bytes, in base 64."""
    return base64.b64encode(hashlib.md5(body, usedforsecurity=False).digest()).decode()


def _unpacked_zstd(path: Path) -> AbstractContextManager[IO[bytes]]:
    try:
        import zstandard  # noqa: PLC0415 - few need it
    except ModuleNotFoundError:
        raise S3Error(
            "UnsupportedCompression", "Reading ZSTD needs the package zstandard: pip install 'keyplan[zstd]'"
        ) from None
    # What the package gives has no lines by itself.
    return cast(
        "AbstractContextManager[IO[bytes]]", io.BufferedReader(cast("io.RawIOBase", zstandard.open(path, "rb")))
    )


def log_error(folder: str | None, kind: str, job: str, line: bytes) -> None:
    """Add a line to the log of a job's errors: what stands in CloudWatch's logs at AWS."""
    if folder is None:
        return
    path = Path(folder) / LOGS / "aws-dynamodb" / kind / job / "error"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("ab") as file:
            file.write(line + b"\n")
    except OSError:
        return  # what is counted is what matters
