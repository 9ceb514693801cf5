"""Error pages: status, text, and links."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import ValidationError

from keyplan.errors import CursorError, ItemNotFound, KeyFieldError, KeyplanError, Refused, RequestError, WriteFailed
from keyplan_systems.site.incoming import BadRequest, local_path
from keyplan_systems.site.limits import TooBusy

__all__ = ["Problem", "SignInFirst", "expired_form", "foreign_form", "not_found", "problem_of"]

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
    return Problem(404, "There is nothing here", "The page may have moved, or it never existed.")


def expired_form() -> Problem:
    """The page for a form whose token belongs to another visitor."""
    return Problem(
        403,
        "This form is out of date",
        "It was made before you signed in or out, or in another browser. Open the page again, and send it from there.",
        (("Sign in", "/sign-in"), FRONT),
    )


def foreign_form() -> Problem:
    """The page for a form from another site."""
    return Problem(403, "From another site", "This form was sent by a page of another site, and isn't taken.")


def problem_of(error: Exception, path: str) -> Problem:
    """The page for an error of the store, the design or the request, on this path."""
    match error:
        case Problem():
            return error
        case BadRequest():
            return Problem(error.status, "That can't be read", error.text)
        case CursorError():
            ways = (("To the beginning", local_path(path)), FRONT)
            return Problem(400, "This page has moved on", "Its address is cut short or out of date.", ways)
        case ItemNotFound() | KeyFieldError():  # an invalid key identifies nothing
            return not_found()
        case TooBusy():
            return Problem(
                503, "Not just now", "Many people are here at this moment. Please try again in a few seconds."
            )
        case ValidationError():
            return Problem(400, "That can't be done", "It can't be stored.")
        case RequestError():
            return Problem(400, "That can't be done", _sentence(_said(error)))
        case Refused():
            return Problem(409, "That can't be done now", _sentence(_said(error)))
        case WriteFailed():
            text = "Somebody else was faster. Look at it again, and try once more."
            return Problem(409, "That can't be done now", text)
        case KeyplanError():
            return Problem(503, "Not just now", "The store doesn't answer. Please try again in a moment.")
        case _:
            raise error


def _said(error: KeyplanError) -> str:
    return "; ".join(fault.message for fault in error.errors) or error.message


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}".removesuffix(".") + "."
