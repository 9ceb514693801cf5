"""Writes of versions: save, publish, unpublish, restore, and preview links.

A version is immutable. Readers see the article's ``shown_version``.
"""

from __future__ import annotations

import hashlib
import secrets
from datetime import datetime, timedelta
from typing import Annotated, Any

from pydantic import Field

from keyplan import Create, Delete, Example, Writes, now, write
from keyplan.errors import ErrorDetail, ItemNotFound, Refused
from keyplan_systems.cms.articles import ArticleWrites, write_change
from keyplan_systems.cms.entities import Article, ArticleVersion, Excerpt, Id, Name, Preview
from keyplan_systems.cms.placing import check_body, new_version, word_count

PREVIEW_HOURS = 72
PREVIEW_HOURS_MAX = 30 * 24
Hours = Annotated[int, Field(ge=1, le=PREVIEW_HOURS_MAX)]
Number = Annotated[int, Field(ge=1)]


class PublishingWrites(ArticleWrites):
    """Writes of versions."""

    @write("AP8", attempts=30)
    def publish(self, article_id: str, body: str, created_by: str) -> Writes[ArticleVersion]:
        """Publish a new version with the next number.

        If two writers publish concurrently, the condition of the second one fails, and it retries with the next number.
        Raises ItemNotFound, Refused for an archived article, ItemTooLarge for a body over 395 KB.
        """
        check_body(body, "Cms.publish.body")
        article = yield from self._editable(article_id)
        moment = now()
        version = _version(article, body, created_by, moment)
        yield from new_version(version)
        yield from write_change(article, moment, current_version=version.version, **_published(article, moment))
        return version

    @write("W6", attempts=30, example=Example(based_on=None))
    def save_draft(
        self,
        article_id: str,
        body: str,
        created_by: str,
        title: Name | None = None,
        excerpt: Excerpt | None = None,
        based_on: int | None = None,
    ) -> Writes[ArticleVersion]:
        """Save the next version without publishing it: readers of a published article still see the previous one.

        A title and an excerpt become the article's on publication. ``based_on`` is the edited version: if there is a
        newer one, raises Refused at ``based_on`` and writes nothing. Raises ItemNotFound, Refused for an archived
        article, ItemTooLarge for a body over 395 KB.
        """
        check_body(body, "Cms.save_draft.body")
        article = yield from self._editable(article_id)
        if based_on is not None and based_on != article.current_version:
            raise Refused(
                f"version {based_on} isn't the newest version",
                place="Cms.save_draft",
                hint="read the newest version, apply the changes to it, then save again",
                errors=[ErrorDetail("based_on", f"is {based_on}; the newest version is {article.current_version}")],
            )
        moment = now()
        version = _version(article, body, created_by, moment, title=title, excerpt=excerpt)
        yield from new_version(version)
        yield from write_change(article, moment, current_version=version.version, **_still_shown(article))
        return version

    @write("W8", attempts=30)
    def publish_version(self, article_id: str, version: Number) -> Writes[Article]:
        """Publish an existing version: the newest draft, or an earlier one.

        Its title and excerpt, if any, become the article's. Raises ItemNotFound, Refused.
        """
        article = yield from self._editable(article_id)
        after = yield from self._shown(article, version, now())
        return after

    @write("W9", attempts=30, example=Example().found(Article, status="published"))
    def unpublish(self, article_id: str) -> Writes[Article]:
        """Unpublish an article: it becomes a draft, with all versions. Raises ItemNotFound, Refused."""
        article = yield from self._editable(article_id)
        if article.status != "published":
            raise Refused(f"article {article_id!r} isn't published", place="Cms.unpublish")
        return (yield from write_change(article, now(), status="draft", published_version=None))

    @write("W10", attempts=30)
    def restore_version(self, article_id: str, version: Number, created_by: str) -> Writes[ArticleVersion]:
        """Restore an earlier version's text as a new, unpublished version. Raises ItemNotFound."""
        article = yield from self._editable(article_id)
        earlier = yield from self.article_version.read(article_id, version)
        if earlier is None:
            raise _no_version(article_id, version)
        moment = now()
        made = _version(article, earlier.body, created_by, moment, title=earlier.title, excerpt=earlier.excerpt)
        yield from new_version(made)
        yield from write_change(article, moment, current_version=made.version, **_still_shown(article))
        return made

    # Previews

    @write("W11")
    def share_preview(
        self, article_id: str, created_by: Id, version: int | None = None, hours: Hours = PREVIEW_HOURS
    ) -> Writes[str]:
        """A token that shows a version (the newest one by default) to its holder for some hours.

        Only its hash is stored. Raises ItemNotFound.
        """
        article = yield from self._known(article_id)
        number = article.current_version if version is None else version
        if not 1 <= number <= article.current_version:
            raise _no_version(article_id, number)
        token, moment = secrets.token_urlsafe(24), now()
        yield Create(
            Preview(
                token_hash=token_hash(token),
                article_id=article_id,
                version=number,
                created_by=created_by,
                created_at=moment,
                expires_at=moment + timedelta(hours=hours),
            )
        )
        return token

    @write("W12")
    def revoke_preview(self, token: str) -> Writes:
        """Revoke a preview link. An expired link isn't an error."""
        yield Delete(Preview, token_hash=token_hash(token))

    def _shown(self, article: Article, number: int, moment: datetime) -> Writes[Article]:
        """Show a version to readers."""
        card = yield from self.version_card.read(article.article_id, number)
        if card is None:
            raise _no_version(article.article_id, number)
        own = {name: value for name in ("title", "excerpt") if (value := getattr(card, name)) is not None}
        earlier = None if number == article.current_version else number
        changes = {**_published(article, moment), "published_version": earlier, **own}
        return (yield from write_change(article, moment, **changes))


def token_hash(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


def _published(article: Article, moment: datetime) -> dict[str, Any]:
    """The changes for publishing the newest version, including the first publication's time."""
    first = article.published_at or moment
    return {"status": "published", "published_at": first, "published_version": None}


def _still_shown(article: Article) -> dict[str, Any]:
    """The changes for saving a newer version: the article then names the published one."""
    return {"published_version": article.shown_version} if article.status == "published" else {}


def _no_version(article_id: str, version: int) -> ItemNotFound:
    return ItemNotFound(f"article {article_id!r} has no version {version}", place="Cms.article_version")


def _version(
    article: Article, body: str, created_by: str, moment: datetime, title: str | None = None, excerpt: str | None = None
) -> ArticleVersion:
    """The version after the article's newest one."""
    return ArticleVersion(
        article_id=article.article_id,
        version=article.current_version + 1,
        body=body,
        word_count=word_count(body),
        created_by=created_by,
        created_at=moment,
        title=title,
        excerpt=excerpt,
    )
