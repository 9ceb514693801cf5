"""Strict parsing of requests: query strings, forms, cookies, redirect targets.

Bodies are bounded and must be UTF-8; otherwise ``BadRequest`` is raised with a status, never a server error. Pages
validate fields with ``Form``.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping
from urllib.parse import parse_qsl, urlsplit

from starlette.requests import ClientDisconnect, Request

from keyplan.errors import ErrorDetail, KeyplanError
from keyplan_systems.words import is_line, shows_something

BODY_BYTES_MAX = 2 * 1024 * 1024
FIELDS_MAX = 50
QUERY_BYTES_MAX = 8 * 1024


class BadRequest(Exception):
    """A request that can't be parsed, with its HTTP status."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.status = status
        self.text = text


def _pairs(raw: bytes, what: str) -> dict[str, str]:
    """The fields of a query string or a form; for repeated names, the last value."""
    try:
        pairs = parse_qsl(
            raw.decode("ascii"), keep_blank_values=True, encoding="utf-8", errors="strict", max_num_fields=FIELDS_MAX
        )
    except UnicodeDecodeError:
        raise BadRequest(400, f"The {what} isn't UTF-8.") from None
    except ValueError:
        raise BadRequest(400, f"The {what} has more than {FIELDS_MAX} fields.") from None
    return dict(pairs)


def query_of(request: Request) -> dict[str, str]:
    """The values of the query string. Raises BadRequest if it is too long or isn't UTF-8."""
    raw: bytes = request.scope["query_string"]
    if len(raw) > QUERY_BYTES_MAX:
        raise BadRequest(414, "The URL is too long.")
    return _pairs(raw, "address")


async def read_form(request: Request) -> Form:
    """The form in a request's body. Raises BadRequest."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/x-www-form-urlencoded":
        raise BadRequest(415, "The request must have the content type application/x-www-form-urlencoded.")
    return Form(_pairs(await read_body(request, BODY_BYTES_MAX), "form"))


async def read_body(request: Request, bytes_max: int) -> bytes:
    """The bytes of a request's body. Raises BadRequest."""
    parts: list[bytes] = []
    size = 0
    try:
        async for part in request.stream():
            size += len(part)
            if size > bytes_max:
                raise BadRequest(413, f"The request is larger than {bytes_max // 1024 // 1024} MB.")
            parts.append(part)
    except ClientDisconnect:
        raise BadRequest(400, "The form is incomplete.") from None
    return b"".join(parts)


def text_fault(text: str, *, lines: bool) -> str | None:
    """The error in the characters of a string to display, if any; with ``lines`` it can have several lines."""
    if not lines and "\n" in text:
        return "must be one line"
    if any(unicodedata.category(character) in {"Cc", "Cs"} and character not in "\n\r\t" for character in text):
        return "contains a control character"
    if lines:
        return None if shows_something(text) else "has no visible characters"
    return None if is_line(text) else "has no visible characters, or contains one that hides or reorders text"


class Form:
    """The fields of a form: values, labels, and errors. ``data`` is an uploaded file."""

    def __init__(self, typed: Mapping[str, str] | None = None, data: bytes = b"") -> None:
        self.typed = dict(typed or {})
        self.data = data
        self.faults: dict[str, str] = {}
        self.labels: dict[str, str] = {}

    def __getitem__(self, name: str) -> str:
        return self.typed.get(name, "")

    def __bool__(self) -> bool:
        return not self.faults

    def text(self, name: str, label: str, longest: int, *, required: bool = True, lines: bool = False) -> str:
        """A field's text, stripped; an error if it is empty, too long, or contains invisible characters.

        ``longest`` is in characters. With ``lines`` it can have several lines, which end with a line feed.
        """
        self.labels[name] = label
        result = self[name].replace("\r\n", "\n").replace("\r", "\n").strip()
        if required and not result:
            self.fault(name, "this field is required")
        elif len(result) > longest:
            self.fault(name, f"enter at most {longest:,} characters; the text has {len(result):,}")
        elif result and (fault := text_fault(result, lines=lines)):
            self.fault(name, fault)
        return result

    def password(self, name: str, label: str, *, shortest: int = 0, longest: int = 256) -> str:
        self.labels[name] = label
        text = self[name]
        if not text:
            self.fault(name, "this field is required")
        elif len(text) < shortest:
            self.fault(name, f"enter at least {shortest} characters")
        elif len(text) > longest:
            self.fault(name, f"enter at most {longest} characters")
        return text

    def number(self, name: str, label: str) -> int | None:
        """An integer of up to nine digits; None, with an error, for other input."""
        self.labels[name] = label
        text = self[name].strip()
        if not (text.isascii() and text.isdigit() and len(text) < 10):
            self.fault(name, "enter a whole number of at most nine digits")
            return None
        return int(text)

    def fault(self, name: str, text: str) -> None:
        """Add an error to a field; the first error of a field is kept."""
        self.faults.setdefault(name, text)

    def take(self, error: KeyplanError, known: Iterable[str] = ()) -> None:
        """Add an error's details to their fields; details without a field are shown at the top."""
        names = set(known) | set(self.typed) | set(self.labels)
        result = error.errors or [ErrorDetail(error.place or "", error.message, error.hint)]
        for fault in result:
            name = next((part for part in reversed(fault.place.split(".")) if part in names), "")
            self.fault(name, f"{fault.message}; {fault.hint}" if fault.hint else fault.message)


def local_path(text: str) -> str:
    """The path if it is on this site, otherwise ``/``, to prevent redirects to other sites."""
    plain = text.isprintable() and "\\" not in text and len(text) <= 2000
    if not (plain and text.startswith("/") and not text.startswith("//")):
        return "/"
    try:
        parts = urlsplit(text)
    except ValueError:
        return "/"
    return "/" if parts.scheme or parts.netloc else text
