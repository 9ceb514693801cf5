"""Settings files of sites, in TOML. ``SiteFile`` has the settings of every site; systems add their own."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Annotated, Any, ClassVar, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, ValidationError

from keyplan.errors import ErrorDetail, RequestError
from keyplan_systems.site.mail import Mail, mail_of
from keyplan_systems.words import is_line

LINE_CHARACTERS_MAX = 200


def _line(text: str) -> str:
    if not is_line(text.strip()) or len(text) > LINE_CHARACTERS_MAX:
        raise ValueError(f"must be one visible line of at most {LINE_CHARACTERS_MAX} characters")
    return text


Line = Annotated[str, AfterValidator(_line)]
"""A string on one line."""


class SiteFile(BaseModel):
    """The settings of every site. ``files`` is the location of images: a folder, or ``s3://bucket/prefix``."""

    model_config: ClassVar[ConfigDict] = ConfigDict(extra="forbid", frozen=True)

    title: Line = ""
    tagline: Line = ""
    smtp: str | None = None
    mail_from: str | None = None
    files: str | None = None

    @property
    def mail(self) -> Mail:
        """The mail transport. Raises RequestError for invalid settings."""
        return mail_of(self.smtp, self.mail_from)


S = TypeVar("S", bound=SiteFile)


def read_settings(kind: type[S], path: Path | None) -> S:
    """The settings of a file; without one, the defaults. Raises RequestError with all errors of the file."""
    try:
        return kind.model_validate({} if path is None else read_toml(path))
    except ValidationError as error:
        known = f"settings are {', '.join(kind.model_fields)}"
        faults = [
            ErrorDetail(".".join(map(str, each["loc"])), each["msg"].removeprefix("Value error, "), known)
            for each in error.errors(include_url=False)
        ]
        raise RequestError("invalid settings", place=str(path), errors=faults) from None


def read_toml(path: Path) -> dict[str, Any]:
    """The contents of a settings file. Raises RequestError if it can't be read."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise RequestError(f"the settings can't be read: {error}", place=str(path)) from None
