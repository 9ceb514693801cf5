"""The settings file of a small site, in TOML: what it is called, and how it sends mail.

::

title = "Counter"
tagline = "Made by four small workshops."
smtp = "smtps://user:password@mail.example.com"
mail_from = "shop@example.com"
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from keyplan.errors import ErrorDetail, RequestError
from keyplan_systems.pages.site import Look
from keyplan_systems.site.mail import Mail, mail_of
from keyplan_systems.site.own_settings import read_toml, text_fault

__all__ = ["read_small_file"]

_NAMES = ("title", "tagline", "smtp", "mail_from")


def read_small_file(path: Path | None, look: Look) -> tuple[Look, Mail]:
    """A site's look with its own words, and its mail; without a file, as it comes. Raises RequestError with every fault
    of the file.
    """
    given = {} if path is None else read_toml(path)
    faults = [
        ErrorDetail(name, "is no setting", f"these are: {', '.join(_NAMES)}") for name in given if name not in _NAMES
    ]
    faults += [fault for name, value in given.items() if name in _NAMES and (fault := text_fault(name, value))]
    if faults:
        raise RequestError("the site's settings can't be taken", place=str(path), errors=faults)
    words = {name: given[name] for name in ("title", "tagline") if name in given}
    return replace(look, **words), mail_of(given.get("smtp"), given.get("mail_from"))
