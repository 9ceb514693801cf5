"""The settings file of a CMS, in TOML: the site's name, its languages, and the webhooks.

::

title = "The desk"
smtp = "smtps://user:password@mail.example.com"
mail_from = "desk@example.com"
main = "en"
locales = ["de", "pt-BR"]

[[webhooks]]
name = "site"
url = "https://example.com/hooks/cms"
secret_env = "SITE_HOOK_SECRET"
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from keyplan.errors import ErrorDetail, RequestError
from keyplan_systems.cms.webhooks import EVENTS, Webhook
from keyplan_systems.site.settings import read_toml

__all__ = ["Settings", "read_settings"]

SECRET_CHARACTERS_MIN = 16
_LOCALE = re.compile(r"[a-z]{2,3}(-[A-Z][a-z]{3})?(-([A-Z]{2}|[0-9]{3}))?")
_HOOK = ("name", "url", "secret", "secret_env", "events")


@dataclass(frozen=True)
class Settings:
    """The settings. ``main`` is the site's main language, ``locales`` the others."""

    title: str = "Copydesk"
    tagline: str = "Where articles are written, checked and sent out."
    main: str = "en"
    locales: tuple[str, ...] = ("de", "fr")
    webhooks: tuple[Webhook, ...] = ()
    smtp: str | None = None
    mail_from: str | None = None


def read_settings(path: Path) -> Settings:
    """The settings of a file. Raises RequestError with all its errors."""
    faults: list[ErrorDetail] = []
    made: dict[str, Any] = {}
    for name, value in read_toml(path).items():
        words = name in {"title", "tagline", "smtp", "mail_from"} and isinstance(value, str) and value.strip()
        if words or (name == "main" and _is_locale(value)):
            made[name] = value
        elif name == "locales" and isinstance(value, list) and all(map(_is_locale, value)):
            made[name] = tuple(value)
        elif name == "webhooks" and isinstance(value, list):
            made[name] = tuple(_webhook(number, element, faults) for number, element in enumerate(value))
        else:
            faults.append(
                ErrorDetail(
                    name, "can't be taken", "title, tagline, smtp, mail_from, main, locales = [...], [[webhooks]]"
                )
            )
    names = [element.name for element in made.get("webhooks", ())]
    if len(set(names)) < len(names):
        faults.append(
            ErrorDetail("webhooks", "two have one name", "name each differently: what was delivered is kept by it")
        )
    if faults:
        raise RequestError("the settings can't be taken", place=str(path), errors=faults)
    return Settings(**made)


def _is_locale(value: object) -> bool:
    return isinstance(value, str) and _LOCALE.fullmatch(value) is not None


def _webhook(number: int, value: Any, faults: list[ErrorDetail]) -> Webhook:
    """One webhook; its errors are appended."""
    place = f"webhooks[{number}]"
    given: Mapping[str, Any] = value if isinstance(value, dict) else {}
    faults.extend(
        ErrorDetail(f"{place}.{text}", "is no setting", ", ".join(_HOOK)) for text in given if text not in _HOOK
    )
    name, url = given.get("name"), given.get("url")
    if not isinstance(name, str) or not name:
        faults.append(ErrorDetail(f"{place}.name", "is needed"))
    if not _is_address(url):
        faults.append(ErrorDetail(f"{place}.url", "isn't an http or https address", "https://example.com/hooks/cms"))
    variable = given.get("secret_env")
    secret = os.environ.get(variable) if isinstance(variable, str) else given.get("secret")
    if not isinstance(secret, str) or len(secret) < SECRET_CHARACTERS_MIN:
        hint = "secret_env names a variable of the environment that holds it"
        faults.append(ErrorDetail(f"{place}.secret", f"needs {SECRET_CHARACTERS_MIN} characters or more", hint))
    events = given.get("events", list(EVENTS))
    if not isinstance(events, list) or not events or not set(map(str, events)) <= set(EVENTS):
        faults.append(ErrorDetail(f"{place}.events", "are some of these", ", ".join(EVENTS)))
        events = []
    return Webhook(str(name), str(url), str(secret), tuple(map(str, events)))


def _is_address(value: object) -> bool:
    if not isinstance(value, str) or not value.isascii() or not value.isprintable() or " " in value:
        return False
    try:
        parts = urlsplit(value)
        parts.port  # noqa: B018 - raises where it is none
    except ValueError:
        return False
    return parts.scheme in {"http", "https"} and bool(parts.hostname) and "@" not in parts.netloc
