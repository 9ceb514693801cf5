"""Error pages: status, text, and links."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import ValidationError

from keyplan.errors import CursorError, ItemNotFound, KeyFieldError, KeyplanError, Refused, RequestError, WriteFailed
from keyplan_systems.site.incoming import BadRequest, local_path
from keyplan_systems.site.limits import TooBusy

Ways = Sequence[tuple[str, str]]
FRONT = ("Front page", "/")


class Problem(Exception):
    """An error page with its HTTP status. ``ways`` are labels with URLs."""

    def __init__(
        self, status: int, heading: str, text: str, ways: Ways = (FRONT,), *, retry_seconds: int | None = None
    ) -> None:
        super().__init__(heading)
        self.status = status
        self.heading = heading
        self.text = text
        self.ways = ways
        self.retry_seconds = retry_seconds


class SignInFirst(Problem):
    """Redirects a visitor to the sign-in page, and back."""

    def __init__(self, target: str) -> None:
        super().__init__(303, "Sign in first", "")
        self.target = target


def not_found() -> Problem:
    """The page for something that doesn't exist, or that this visitor can't access."""
    return Problem(404, "Page not found", "The page doesn't exist, or you don't have access to it.")


def expired_form() -> Problem:
    return Problem(
        403,
        "This form has expired",
        "The form was opened before you signed in or out, or in another browser. Reload the page and submit it there.",
        (("Sign in", "/sign-in"), FRONT),
    )


def foreign_form() -> Problem:
    return Problem(403, "Request from another site", "The form was submitted by a page of another site.")


def used_link(*ways: tuple[str, str]) -> Problem:
    text = "The link was used already, has expired or is incomplete."
    return Problem(410, "This link is no longer valid", text, ways)


def problem_of(error: Exception, path: str) -> Problem:
    """The page for an error of the store, the design or the request, on this path."""
    match error:
        case Problem():
            return error
        case BadRequest():
            return Problem(error.status, "Invalid request", error.text)
        case CursorError():
            ways = (("First page", local_path(path)), FRONT)
            return Problem(400, "This page has expired", "The address of the page is incomplete or out of date.", ways)
        case ItemNotFound() | KeyFieldError():  # an invalid key means a missing item
            return not_found()
        case TooBusy():
            return Problem(
                503, "Temporarily unavailable", "Too many requests are being processed. Try again in a few seconds."
            )
        case ValidationError():
            return Problem(400, "Invalid request", "The request contains values that can't be stored.")
        case RequestError():
            return Problem(400, "Invalid request", _sentence(_said(error)))
        case Refused():
            return Problem(409, "Conflict", _sentence(_said(error)))
        case WriteFailed():
            text = "Another user changed the same data. Reload the page and try again."
            return Problem(409, "Conflict", text)
        case KeyplanError():
            return Problem(503, "Temporarily unavailable", "The database request failed. Try again later.")
        case _:
            raise error


def _said(error: KeyplanError) -> str:
    return "; ".join(fault.message for fault in error.errors) or error.message


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}".removesuffix(".") + "."
