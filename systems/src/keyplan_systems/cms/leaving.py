"""Account deletion and data export of members."""

from __future__ import annotations

from functools import partial
from typing import Any

from keyplan.errors import ItemNotFound
from keyplan_systems.cms.design import Cms
from keyplan_systems.paging import as_json, items_of

__all__ = ["CmsLeaving"]


class CmsLeaving:
    """The CMS's rules for leaving."""

    stays = (
        "Your name, your email address, your password and your tokens go for good. Articles and their versions stay: "
        "they are the publication's, and name you by an id only. Who founded the CMS stays its administrator."
    )

    def __init__(self, cms: Cms) -> None:
        self._cms = cms

    def export(self, user_id: str) -> dict[str, Any]:
        """The profile, and the member's articles with their newest texts. Raises ItemNotFound."""
        member = self._cms.member(user_id)
        if member is None:
            raise ItemNotFound(f"there is no member {user_id!r}", place="account")
        articles: list[dict[str, Any]] = []
        for article in items_of(partial(self._cms.articles_by_author, user_id, limit=50)):
            latest = self._cms.article_with_latest(article.article_id)
            body = None if latest is None or latest.version is None else latest.version.body
            articles.append(as_json(article) | {"body": body})
        return {"profile": as_json(member), "articles": articles}

    def leave(self, user_id: str) -> list[str]:
        """Delete a member; returns what stays. Raises Refused for the founder."""
        self._cms.leave(user_id)
        wrote = bool(self._cms.articles_by_author(user_id, limit=1).items)
        return ["Articles that you began, and versions that you wrote: by an id that is nobody's."] if wrote else []
