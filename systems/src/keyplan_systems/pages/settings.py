"""The settings file of a small site, in TOML: name, mail, currency, and where uploaded pictures are stored.

::

title = "Counter"
tagline = "Made by four small workshops."
smtp = "smtps://user:password@mail.example.com"
mail_from = "shop@example.com"
currency = "USD"
files = "s3://bucket/pictures"
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from keyplan.errors import ErrorDetail, RequestError
from keyplan_systems.pages.site import Look
from keyplan_systems.site.mail import Mail, mail_of
from keyplan_systems.site.own_settings import read_toml, text_fault

__all__ = ["SmallFile", "money_in", "read_small_file"]

_NAMES = ("title", "tagline", "smtp", "mail_from", "currency", "files")
_SYMBOLS = {"EUR": "€", "USD": "$", "GBP": "£", "JPY": "¥", "INR": "₹"}
_WHOLE = frozenset({"JPY", "KRW", "CLP", "ISK", "VND"})
"""Currencies without a smaller unit."""


def money_in(currency: str) -> Callable[[int], str]:
    """The text of an amount in minor units of a currency (``EUR``): ``€12.50``."""
    sign = _SYMBOLS.get(currency, f"{currency} ")
    if currency in _WHOLE:
        return lambda amount: f"{sign}{amount:,}"
    return lambda amount: f"{sign}{amount // 100:,}.{amount % 100:02d}"


class SmallFile(NamedTuple):
    """The settings of a small site."""

    look: Look
    mail: Mail
    files: str | None


def read_small_file(path: Path | None, look: Look) -> SmallFile:
    """The settings of a file; without one, those of ``look``. Raises RequestError with all faults of the file."""
    given = {} if path is None else read_toml(path)
    hint = f"settings are {', '.join(_NAMES)}"
    faults = [ErrorDetail(name, "unknown setting", hint) for name in given if name not in _NAMES]
    faults += [fault for name, value in given.items() if name in _NAMES and (fault := text_fault(name, value))]
    currency = given.get("currency", "EUR")
    if isinstance(currency, str) and not (len(currency) == 3 and currency.isascii() and currency.isupper()):
        faults.append(ErrorDetail("currency", f"{currency!r} isn't a currency", "write its three letters, such as USD"))
    if faults:
        raise RequestError("invalid settings", place=str(path), errors=faults)
    words = {name: given[name] for name in ("title", "tagline") if name in given}
    filters = {**look.filters, "money": money_in(currency)}
    mail = mail_of(given.get("smtp"), given.get("mail_from"))
    return SmallFile(replace(look, filters=filters, **words), mail, given.get("files"))
