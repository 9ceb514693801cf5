"""The signing secret of a served system: from the environment, or from a file next to its database."""

from __future__ import annotations

import base64
import os
import secrets
from pathlib import Path

from keyplan.errors import RequestError, StoreError

VARIABLE = "KEYPLAN_SECRET"
SECRET_BYTES = 32
GIVEN_CHARACTERS_MIN = 16


def secret_of(db: str, file: Path | None = None) -> bytes:
    """The secret for a store: the environment variable, or the content of ``file`` or of a file next to the database
    (remote store: in the working directory). A store in memory gets a new secret. Raises RequestError, StoreError.
    """
    given = os.environ.get(VARIABLE)
    if given is not None:
        if len(given) < GIVEN_CHARACTERS_MIN:
            raise RequestError(
                f"{VARIABLE} is too short", hint=f"use at least {GIVEN_CHARACTERS_MIN} random characters"
            )
        return given.encode("utf-8", "surrogateescape")
    if file is None and db == ":memory:":
        return secrets.token_bytes(SECRET_BYTES)
    return _kept(file or Path("keyplan.secret" if "://" in db else f"{db}.secret"))


def _kept(path: Path) -> bytes:
    """The secret in a file. A missing file is created atomically, readable by its owner only."""
    try:
        if not path.exists():
            _make(path)
        result = path.read_bytes().strip()
    except OSError as error:
        raise StoreError(
            f"the secret file {path} can't be read or created: {error.strerror or error}",
            hint=f"choose another file with --secret-file, or set {VARIABLE}",
        ) from None
    if len(result) < SECRET_BYTES:
        raise StoreError(
            f"the secret in {path} is too short", hint="delete the file to get a new secret; users must sign in again"
        )
    return result


def _make(path: Path) -> None:
    fresh = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(base64.urlsafe_b64encode(secrets.token_bytes(SECRET_BYTES)))
    try:
        os.link(fresh, path)
    except FileExistsError:
        pass  # another process created the file first
    finally:
        fresh.unlink()
