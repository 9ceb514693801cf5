"""A site's settings file, in TOML: name, colors, navigation, files, mail, identity providers.

``settings`` has the settings of the server that runs the site (secret, hosts).
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from keyplan.errors import ErrorDetail, RequestError
from keyplan_systems.words import is_line

__all__ = ["SiteFile", "read_site_file", "read_toml", "text_fault"]

LOGO_BYTES_MAX = 256 * 1024
_LOGOS = {".svg": "image/svg+xml", ".png": "image/png", ".jpg": "image/jpeg", ".webp": "image/webp"}
_COLOUR = re.compile(r"#[0-9a-fA-F]{6}")
_COLOURS = ("accent", "paper", "ink")
SHOWN_MAX = 200
"""Maximum length of a site's title and of its tagline."""
_SHOWN = ("title", "tagline")
_TEXTS = ("title", "tagline", "files", "smtp", "mail_from", "analytics")
_PROVIDER = ("name", "title", "issuer", "client_id", "client_secret")
_PROVIDER_NAME = re.compile(r"[a-z][a-z0-9]{0,30}")
_ISSUER = re.compile(r"https://[^\s?#]+|http://127\.0\.0\.1:\d+[^\s?#]*")
_AUTHORS = ("open", "invited", "reviewed")
NAVIGATION = (("Latest", "/latest"), ("Popular", "/popular"), ("Tags", "/tags"))


@dataclass(frozen=True)
class SiteFile:
    """The settings. ``colours`` are by scheme (``light``, ``dark``) and name."""

    title: str = "Marginalia"
    tagline: str = "Notes on things made carefully, by the people who make them."
    navigation: tuple[tuple[str, str], ...] = NAVIGATION
    logo: tuple[bytes, str] | None = None
    colours: Mapping[str, Mapping[str, str]] | None = None
    files: str | None = None
    smtp: str | None = None
    mail_from: str | None = None
    providers: tuple[Mapping[str, str], ...] = ()
    """OpenID Connect providers, each with ``name``, ``title``, ``issuer``, ``client_id`` and ``client_secret``."""
    authors: str = "reviewed"
    """How readers become authors: ``open`` (immediately), ``reviewed`` (a moderator approves the request), or
    ``invited`` (only moderators make authors).
    """

    @property
    def style(self) -> str:
        """The site's colors as a style sheet; empty without any."""
        if not self.colours:
            return ""
        light, dark = (_properties(self.colours.get(scheme, {})) for scheme in ("light", "dark"))
        parts = [f":root {{ {light} }}"] if light else []
        if dark:
            parts.append(
                f'@media (prefers-color-scheme: dark) {{ :root:not([data-theme="light"]) {{ {dark} }} }}\n'
                f':root[data-theme="dark"] {{ {dark} }}'
            )
        if light and dark:
            parts.append(f':root[data-theme="light"] {{ {light} }}')
        return "\n".join(parts)


def _properties(colours: Mapping[str, str]) -> str:
    more = {"accent": ("--accent", "--accent-deep"), "paper": ("--paper",), "ink": ("--ink",)}
    return " ".join(f"{name}: {value};" for text, value in colours.items() for name in more[text])


def read_toml(path: Path) -> dict[str, Any]:
    """The contents of a settings file. Raises RequestError if it can't be read."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise RequestError(f"the settings can't be read: {error}", place=str(path)) from None


def read_site_file(path: Path) -> SiteFile:
    """The settings of a file. Raises RequestError with all its errors."""
    faults: list[ErrorDetail] = []
    given: dict[str, Any] = {}
    for name, value in read_toml(path).items():
        if name in _TEXTS:
            if name == "analytics":
                if value is not False and value not in ("", "off"):
                    words = "there is none to switch on: pages load nothing from elsewhere"
                    faults.append(ErrorDetail(name, words, "leave it out"))
            elif (fault := text_fault(name, value)) is not None:
                faults.append(fault)
            else:
                given[name] = value
        elif name == "authors":
            if value in _AUTHORS:
                given[name] = value
            else:
                faults.append(ErrorDetail(name, f"must be one of {', '.join(_AUTHORS)}", 'authors = "reviewed"'))
        elif name == "providers":
            given[name] = _providers(value, faults)
        elif name == "navigation":
            given[name] = _navigation(value, faults)
        elif name == "colours":
            given[name] = _colours(value, faults)
        elif name == "logo":
            given[name] = _logo(path.parent, value, faults)
        else:
            known = ", ".join((*_TEXTS, "authors", "providers", "navigation", "colours", "logo"))
            faults.append(ErrorDetail(name, "is no setting", f"these are: {known}"))
    if faults:
        raise RequestError("the site's settings can't be taken", place=str(path), errors=faults)
    return SiteFile(**given)


def text_fault(name: str, value: Any) -> ErrorDetail | None:
    """The error of a text setting; texts on every page must be one line."""
    hint = f'{name} = "…"'
    if not isinstance(value, str):
        return ErrorDetail(name, "must be a text", hint)
    if name in _SHOWN and not (is_line(value.strip()) and len(value) <= SHOWN_MAX):
        return ErrorDetail(name, f"must be a line of 1 to {SHOWN_MAX} characters that shows something", hint)
    return None


def _navigation(value: Any, faults: list[ErrorDetail]) -> tuple[tuple[str, str], ...]:
    links: list[tuple[str, str]] = []
    for number, element in enumerate(value if isinstance(value, list) else [value]):
        text, to = (element.get("text"), element.get("to")) if isinstance(element, dict) else (None, None)
        if (
            isinstance(text, str)
            and isinstance(to, str)
            and (to.startswith("https://") or (to.startswith("/") and not to.startswith("//")))
        ):
            links.append((text, to))
        else:
            hint = 'navigation = [{ text = "About", to = "/posts/about" }]'
            faults.append(ErrorDetail(f"navigation[{number}]", "needs a text, and a path or an https address", hint))
    return tuple(links)


def _providers(value: Any, faults: list[ErrorDetail]) -> tuple[Mapping[str, str], ...]:
    made: dict[str, Mapping[str, str]] = {}
    for number, element in enumerate(value if isinstance(value, list) else [value]):
        place = f"providers[{number}]"
        if not (
            isinstance(element, dict)
            and {*element} == {*_PROVIDER}
            and all(isinstance(text, str) and is_line(text) for text in element.values())
        ):
            faults.append(ErrorDetail(place, f"must have the texts {', '.join(_PROVIDER)}, and no others"))
        elif not _PROVIDER_NAME.fullmatch(element["name"]) or element["name"] in made:
            faults.append(ErrorDetail(f"{place}.name", "must be unique, of letters a–z and digits", 'name = "google"'))
        elif not _ISSUER.fullmatch(element["issuer"]):
            hint = 'issuer = "https://accounts.google.com"'
            faults.append(ErrorDetail(f"{place}.issuer", "must be an https URL without a query", hint))
        else:
            made[element["name"]] = element
    return tuple(made.values())


def _colours(value: Any, faults: list[ErrorDetail]) -> dict[str, dict[str, str]]:
    made: dict[str, dict[str, str]] = {}
    for scheme, colours in (value if isinstance(value, dict) else {"": value}).items():
        if scheme not in {"light", "dark"} or not isinstance(colours, dict):
            faults.append(
                ErrorDetail(f"colours.{scheme}".strip("."), "colours are of light or of dark", "[colours.light]")
            )
            continue
        for name, colour in colours.items():
            if name not in _COLOURS or not isinstance(colour, str) or not _COLOUR.fullmatch(colour):
                hint = f'{" or ".join(_COLOURS)} = "#1a5f7a"'
                faults.append(ErrorDetail(f"colours.{scheme}.{name}", "isn't a colour that can be set", hint))
            else:
                made.setdefault(scheme, {})[name] = colour
    return made


def _logo(folder: Path, value: Any, faults: list[ErrorDetail]) -> tuple[bytes, str] | None:
    path = folder / value if isinstance(value, str) else folder
    kind = _LOGOS.get(path.suffix.lower())
    try:
        if kind is not None and path.stat().st_size <= LOGO_BYTES_MAX:
            return path.read_bytes(), kind
    except OSError:
        pass
    faults.append(ErrorDetail("logo", f"must be a picture ({', '.join(_LOGOS)}) of at most {LOGO_BYTES_MAX:,} bytes"))
    return None
