"""The settings file of the shop, the network, the catalogue and the CMS (docs/serving.md), and formatting of prices."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Annotated, NamedTuple

from pydantic import AfterValidator, Field

from keyplan_systems.pages.site import Look
from keyplan_systems.site.mail import Mail
from keyplan_systems.site.settings import SiteFile, read_settings

_SYMBOLS = {"EUR": "€", "USD": "$", "GBP": "£", "INR": "₹"}
_OTHER_UNITS = frozenset(
    {
        *("BHD", "BIF", "CLP", "DJF", "GNF", "IQD", "ISK", "JOD", "JPY", "KMF", "KRW", "KWD", "LYD", "OMR", "PYG"),
        *("RWF", "TND", "UGX", "VND", "VUV", "XAF", "XOF", "XPF"),
    }
)
"""Currencies of ISO 4217 whose minor unit isn't a hundredth."""


def money_in(currency: str) -> Callable[[int], str]:
    """A function that formats an amount in minor units of a currency (``EUR``): ``€12.50``."""
    sign = _SYMBOLS.get(currency, f"{currency} ")
    return lambda amount: f"{sign}{amount // 100:,}.{amount % 100:02d}"


def _with_hundredths(currency: str) -> str:
    if currency in _OTHER_UNITS:
        raise ValueError(f"{currency} isn't supported, because prices need exactly two decimal places")
    return currency


class _File(SiteFile):
    currency: Annotated[str, Field(pattern="^[A-Z]{3}$"), AfterValidator(_with_hundredths)] = "EUR"


class SmallFile(NamedTuple):
    """The settings of a small site."""

    look: Look
    mail: Mail
    files: str | None


def read_small_file(path: Path | None, look: Look) -> SmallFile:
    """The settings of a file; without one, those of ``look``. Raises RequestError with all errors of the file."""
    given = read_settings(_File, path)
    words = {name: value for name in ("title", "tagline") if (value := getattr(given, name))}
    filters = {**look.filters, "money": money_in(given.currency)}
    return SmallFile(replace(look, filters=filters, **words), given.mail, given.files)
