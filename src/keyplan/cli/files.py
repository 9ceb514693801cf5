"""Files that a command reads or writes where it is told to; what goes wrong with them is reported, not raised raw."""

from __future__ import annotations

from pathlib import Path

from keyplan.errors import RequestError

__all__ = ["read_text", "write_text"]


def read_text(where: str) -> str:
    """A file's text. Raises RequestError for one that can't be read, or isn't UTF-8."""
    try:
        return Path(where).expanduser().read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise RequestError(f"{where} can't be read: {error.strerror or error}", hint="give a file") from None
    except UnicodeDecodeError as error:
        raise RequestError(f"{where} isn't text in UTF-8: byte {error.start} is wrong", place=where) from None


def write_text(where: Path, text: str) -> None:
    """Write a file, whatever stood there. Raises RequestError for one that can't be written."""
    try:
        where.write_bytes(text.encode())
    except OSError as error:
        raise RequestError(f"{where} can't be written: {error.strerror or error}", hint="give another place") from None
