# mypy: disable-error-code="empty-body"
"""Helpers for tests of invalid designs: valid entities, and functions that check errors."""

from __future__ import annotations

import re
import sys
from datetime import datetime
from types import ModuleType
from typing import Any, Literal, NamedTuple

import pytest

from keyplan import Entity, Index, Key, Number, Table
from keyplan.errors import DesignError

GSI1 = Index("GSI1", "gsi1pk", "gsi1sk")
GSI2 = Index("GSI2", "gsi2pk", Number("gsi2sk"))
OTHER = Index("OTHER", "otherpk", "othersk")
NATIVE = Index("NATIVE", ["kind"], ["name"])
KEYS_ONLY = Index("KEYS", "kpk", "ksk", projection="KEYS_ONLY")
LOCAL = Index("LOCAL", "pk", "lsk", local=True)


class Article(Entity):
    article_id: str
    author_id: str
    title: str
    status: Literal["draft", "published"] = "draft"
    rating: int = 0
    at: datetime

    primary = Key("ARTICLE#{article_id}", "#METADATA")
    by_author = Key("AUTHOR#{author_id}", "{at}#{article_id}", index=GSI1)
    published = Key("STATUS#{status}", "{rating}", index=GSI2, when={"status": "published"})


class Version(Entity):
    """A version of an article. The keys of versions sort in ascending order."""

    article_id: str
    version: int

    primary = Key("ARTICLE#{article_id}", "VERSION#{version:08d}")


class WithVersion(NamedTuple):
    """An article and its newest version."""

    article: Article
    version: Version | None


TABLE = Table("articles", indexes=[GSI1, GSI2], entities=[Article, Version])


def told(error: pytest.ExceptionInfo[DesignError], *parts: str) -> None:
    """Check that one of the errors matches all of these regular expressions."""
    faults = [str(fault) for fault in error.value.errors]
    assert any(all(re.search(part, fault) for part in parts) for fault in faults), "\n".join(faults)


def faults(text: str, **names: Any) -> list[str]:
    """Return the errors of a design, each with its place and hint. ``names`` are available in the design's source."""
    module = sys.modules["tests.design.rejected"] = ModuleType("tests.design.rejected")
    vars(module).update({name: value for name, value in names.items() if not name.startswith("__")})
    with pytest.raises(DesignError) as caught:
        exec(compile(text, module.__name__, "exec", dont_inherit=True), vars(module))
    return [str(fault) for fault in caught.value.errors]
