"""The settings file of a small site, in TOML: what it is called, and how it sends mail.

::

title = "Counter"
tagline = "Made by four small workshops."
smtp = "smtps://user:password@mail.example.com"
mail_from = "shop@example.com"
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from keyplan.errors import ErrorDetail, RequestError
from keyplan_systems.pages.site import Look
from keyplan_systems.site.mail import Mail, mail_of
from keyplan_systems.site.own_settings import read_toml, text_fault

__all__ = ["money_in", "read_small_file"]

_NAMES = ("title", "tagline", "smtp", "mail_from")
_SYMBOLS = {"EUR": "€", "USD": "$", "GBP": "£", "JPY": "¥", "INR": "₹"}
_WHOLE = frozenset({"JPY", "KRW", "CLP", "ISK", "VND"})
"""Currencies without a smaller unit."""


def money_in(currency: str) -> Callable[[int], str]:
    """How a page shows an amount in the minor units of a currency (``EUR``): ``€12.50``."""
    sign = _SYMBOLS.get(currency, f"{currency} ")
    if currency in _WHOLE:
        return lambda amount: f"{sign}{amount:,}"
    return lambda amount: f"{sign}{amount // 100:,}.{amount % 100:02d}"


def read_small_file(path: Path | None, look: Look) -> tuple[Look, Mail]:
    """A site's look with its own words, and its mail; without a file, as it comes. Raises RequestError with every fault
    of the file.
    """
    given = {} if path is None else read_toml(path)
    names = (*_NAMES, "currency") if "money" in look.filters else _NAMES
    hint = f"these are: {', '.join(names)}"
    faults = [ErrorDetail(name, "is no setting", hint) for name in given if name not in names]
    faults += [fault for name, value in given.items() if name in names and (fault := text_fault(name, value))]
    currency = given.get("currency", "EUR")
    if isinstance(currency, str) and not (len(currency) == 3 and currency.isascii() and currency.isupper()):
        faults.append(ErrorDetail("currency", f"{currency!r} is no currency", "write its three letters, such as USD"))
    if faults:
        raise RequestError("the site's settings can't be taken", place=str(path), errors=faults)
    words = {name: given[name] for name in ("title", "tagline") if name in given}
    filters = {**look.filters, "money": money_in(currency)} if "money" in look.filters else look.filters
    return replace(look, filters=filters, **words), mail_of(given.get("smtp"), given.get("mail_from"))
