"""A local folder in place of Amazon S3: a bucket is a subfolder, an object is a file.

Object keys can't refer to files outside the bucket, for reading or writing.
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
from pathlib import Path
from typing import IO, Any, Literal, cast

from keyplan.store.background_work import has_ended, this_process

Compression = Literal["NONE", "GZIP", "ZSTD"]

PARTIAL = ".keyplan-partial"
"""The folder in a bucket for objects being written, which are then moved as a whole. Object keys can't refer to it."""
LOGS = ".logs"
"""The folder next to the buckets for errors of items. It isn't a valid bucket name."""


class S3Error(Exception):
    """An error that Amazon S3 would return. ``code`` is the failure code of a job."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


class Bucket:
    """One bucket. Raises S3Error if the bucket doesn't exist."""

    def __init__(self, folder: str | None, name: str) -> None:
        self.name = name
        if folder is None:
            raise S3Error(
                "S3NoSuchBucket", f"The specified bucket does not exist: {name}; --s3 isn't set to a folder of buckets"
            )
        self._path = Path(folder) / name
        if not os.path.isdir(self._path) or self._path.is_symlink():  # noqa: PTH112 - Path raises an error for names that are too long
            raise S3Error("S3NoSuchBucket", f"The specified bucket does not exist: {name}, in {folder}")
        self._resolved = self._path.resolve()

    def keys(self, prefix: str) -> list[tuple[str, int]]:
        # Search only the folder that the prefix names before its last slash: other folders have no matching keys.
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
        """An object's decompressed content. Raises S3Error if the object doesn't exist, or can't be decompressed."""
        path = self._place(key)
        if path is None or not os.path.isfile(path):  # noqa: PTH113
            raise S3Error("S3NoSuchKey", f"The specified key does not exist: {key}")
        if compression == "GZIP":
            return cast("AbstractContextManager[IO[bytes]]", gzip.open(path, "rb"))
        if compression == "ZSTD":
            return _unpacked_zstd(path)
        return path.open("rb")

    @contextmanager
    def writing(self, key: str) -> Generator[DigestingFile]:
        """A file to write an object. The object appears under its key when it is complete."""
        path = self._place(key)
        if path is None:
            raise S3Error("S3AccessDenied", f"The object key is invalid, or outside the bucket: {key}")
        try:
            with self._partial() as partial, partial.open("wb") as raw:
                yield DigestingFile(raw)
                raw.close()
                path.parent.mkdir(parents=True, exist_ok=True)
                partial.replace(path)
        except OSError as error:
            raise S3Error("S3AccessDenied", f"The object {key} can't be written: {error.strerror or error}") from error

    @contextmanager
    def _partial(self) -> Generator[Path]:
        """The temporary file of an object. Files left by processes that have ended are removed."""
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

    def put(self, key: str, body: bytes) -> None:
        """Write a whole object to the bucket. Raises S3Error for an invalid key."""
        with self.writing(key) as file:
            file.write(body)

    def _place(self, key: str) -> Path | None:
        parts = key.split("/")
        if parts[0] == PARTIAL:
            return None
        if "\0" in key or any(part in {"", ".", ".."} for part in parts) or len(key.encode(errors="replace")) > 1024:
            return None
        path = self._path.joinpath(*parts)
        return path if self._is_inside(path) else None

    def _is_inside(self, path: Path) -> bool:
        """Whether a path is in the bucket. A link to a file outside would let a request read any file of the user."""
        try:
            return path.resolve().is_relative_to(self._resolved)
        except (OSError, RuntimeError, ValueError):  # the path is too long, has circular links, or isn't encodable
            return False


class DigestingFile:
    """Forwards writes to a file and computes the MD5 digest of the data."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._digest = hashlib.md5(usedforsecurity=False)

    def write(self, data: Any) -> int:
        self._digest.update(data)
        return self._file.write(data)

    def flush(self) -> None:
        self._file.flush()

    @property
    def md5(self) -> str:
        return base64.b64encode(self._digest.digest()).decode()

    @property
    def etag(self) -> str:
        """The ETag of a single-part upload, in the service's form."""
        return f"{hashlib.md5(self._digest.digest(), usedforsecurity=False).hexdigest()}-1"


def md5_of(body: bytes) -> str:
    return base64.b64encode(hashlib.md5(body, usedforsecurity=False).digest()).decode()


def _unpacked_zstd(path: Path) -> AbstractContextManager[IO[bytes]]:
    try:
        import zstandard  # noqa: PLC0415 - imported only when needed
    except ModuleNotFoundError:
        raise S3Error(
            "UnsupportedCompression", "Reading ZSTD needs the package zstandard: pip install 'keyplan[zstd]'"
        ) from None
    # zstandard's file object doesn't support iteration over lines.
    return cast(
        "AbstractContextManager[IO[bytes]]", io.BufferedReader(cast("io.RawIOBase", zstandard.open(path, "rb")))
    )


def log_error(folder: str | None, kind: str, job: str, line: bytes) -> None:
    """Append a line to the log of a job's errors, which AWS writes to CloudWatch Logs."""
    if folder is None:
        return
    path = Path(folder) / LOGS / "aws-dynamodb" / kind / job / "error"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("ab") as file:
            file.write(line + b"\n")
    except OSError:
        return  # the job also counts its errors
