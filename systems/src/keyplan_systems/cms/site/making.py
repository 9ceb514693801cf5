"""The CMS's site: URLs, authorization of the API, background jobs."""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence
from functools import partial
from typing import Any

from keyplan.errors import ItemNotFound
from keyplan.systems import SiteOptions
from keyplan_systems.cms.design import Cms
from keyplan_systems.cms.entities import Article, ArticleVersion
from keyplan_systems.cms.keeping import deliver, publish_due
from keyplan_systems.cms.leaving import CmsLeaving
from keyplan_systems.cms.sample import DEMO_PASSWORD, DEMO_USERS
from keyplan_systems.cms.settings import Settings, read_settings
from keyplan_systems.cms.site import delivering, desk, team, versions
from keyplan_systems.cms.site.editor import Editor
from keyplan_systems.cms.site.people import CmsPeople, may_publish, may_write
from keyplan_systems.pages.application import ServedSite, mail_warnings, sample_logins, small_application
from keyplan_systems.pages.keeping import again_and_again
from keyplan_systems.pages.people import Person
from keyplan_systems.pages.policy import Rule, TablePolicy
from keyplan_systems.pages.site import Look, SmallSite, Turn
from keyplan_systems.site.limits import Limit, RateLimiter
from keyplan_systems.site.mail import Mail, mail_of

__all__ = ["make_site", "rules"]

_LOG = logging.getLogger("keyplan.cms")
KEEP_SECONDS = 15
PREVIEWS = Limit(attempts=120, seconds=300)
NOTICES = {
    "made": "The article is there. Nobody but you and the editors sees it.",
    "published": "The article is published.",
    "unpublish": "The article is taken back. Readers don't see it any more.",
    "archive": "The article is archived.",
    "unarchive": "The article is a draft again.",
    "restored": "The earlier text is the newest draft now.",
    "scheduled": "Scheduled.",
    "deleted": "The article is deleted.",
    "welcome": "Welcome!",
}


class CmsSite(SmallSite[Cms]):
    """The CMS's site: previews are counted separately from forms."""

    def __init__(self, cms: Cms, look: Look, options: SiteOptions, mail: Mail) -> None:
        super().__init__(cms, look, options, CmsPeople(cms), mail)
        self.limiters["preview"] = RateLimiter(PREVIEWS, time.monotonic)

    def begin(self, turn: Turn[Cms], *, sent: bool) -> None:
        """Count a form; a preview's handler counts itself."""
        super().begin(turn, sent=sent and turn.request.url.path != "/write/preview")


def make_site(cms: Cms, options: SiteOptions) -> ServedSite:
    """The site for an open design. Raises RequestError for invalid settings."""
    settings = Settings() if options.settings is None else read_settings(options.settings)
    look = Look(
        system="cms",
        title=settings.title,
        tagline=settings.tagline,
        package="keyplan_systems.cms.site",
        navigation=(("Articles", "/"), ("New article", "/new")),
        notices=NOTICES,
    )
    site, editor = CmsSite(cms, look, options, mail_of(settings.smtp, settings.mail_from)), Editor(settings)

    application = small_application(
        site,
        pages=(
            ("/", desk.desk, "person"),
            ("/new", desk.new, "author"),
            ("/articles/{article_id}", editor.edit, "author"),
            ("/articles/{article_id}/versions", versions.versions, "author"),
            ("/articles/{article_id}/versions/{version}", versions.version, "author"),
            ("/members", team.members, "admin"),
            ("/token", team.token_form, "author"),
            ("/content", delivering.articles, "anyone"),
            ("/content/{slug:path}", delivering.article, "anyone"),
            ("/preview/{token}", delivering.preview, "anyone"),
        ),
        forms=(
            ("/new", desk.create, "author"),
            ("/write/preview", editor.preview, "author"),
            ("/articles/{article_id}", editor.save, "author"),
            ("/articles/{article_id}/versions/{version}/restore", versions.restore, "author"),
            ("/articles/{article_id}/{action}", editor.act, "author"),
            ("/members/{member_id}", team.set_role, "admin"),
            ("/token", team.token, "author"),
        ),
        beside=again_and_again(KEEP_SECONDS, _LOG, partial(publish_due, cms), partial(deliver, cms, settings.webhooks)),
        leaving=CmsLeaving(cms),
    )
    return ServedSite(application, TablePolicy(site, rules(cms)), _told(site, cms))


_OF_WRITERS = (
    *("article_with_latest", "article_versions", "article_history", "version_cards", "version_card"),
    *("tags_of_article", "translations"),
)
_OF_EDITORS = (
    *("retag", "edit", "archive", "unarchive", "delete_article", "publish_version", "unpublish"),
    *("schedule", "unschedule", "due_articles", "waiting_events", "event", "members", "revoke_preview"),
    *("articles_by_state", "articles_by_tag", "slug_holders"),  # contain titles and excerpts of others' drafts
)


def rules(cms: Cms) -> dict[str, Rule]:
    """Authorization of the API: the public reads published articles, members read what they work on, and editors
    publish.

    Unlisted patterns are closed: joining, roles, passwords, and background jobs.
    """

    def writes(caller: Person | None, given: dict[str, Any]) -> None:
        article = cms.article(str(given["article_id"]))
        if article is None or not may_write(caller, article):
            raise ItemNotFound(f"you have no article {given['article_id']!r}", place="Cms.article")

    def lists(caller: Person | None, given: dict[str, Any]) -> None:
        if not (may_publish(caller) or (caller is not None and given["author_id"] == caller.user_id)):
            raise ItemNotFound("an author lists articles of their own", place="Cms.articles_by_author")

    def creates(caller: Person | None, given: dict[str, Any]) -> None:
        article = given["article"]  # JSON, in which a field can have its name or its attribute's
        said = article if isinstance(article, dict) else {"author_id": getattr(article, "author_id", None)}
        authors = {said[name] for name in ("author_id", "authorId") if name in said}
        if not (may_publish(caller) or (caller is not None and authors == {caller.user_id})):
            raise ItemNotFound("an author creates articles of their own", place="Cms.create_article")

    def shown(caller: Person | None, articles: Sequence[Article]) -> list[Article]:
        return [article for article in articles if article.shown_version is not None or may_write(caller, article)]

    def shown_versions(caller: Person | None, versions: Sequence[ArticleVersion]) -> list[ArticleVersion]:
        articles = [(version, cms.article(version.article_id)) for version in versions]
        return [
            version
            for version, article in articles
            if article is not None and (article.shown_version == version.version or may_write(caller, article))
        ]

    public = Rule("anyone", shown=shown)
    return {
        **dict.fromkeys(("published_articles", "published_by_tag", "published_by_author"), Rule("anyone")),
        **dict.fromkeys(("article", "article_by_slug", "article_in_locale"), public),
        "article_version": Rule("anyone", shown=shown_versions),
        "articles_by_author": Rule("author", check=lists),
        **dict.fromkeys(_OF_WRITERS, Rule("author", check=writes)),
        **dict.fromkeys(("save_draft", "restore_version", "share_preview"), Rule("author", ("created_by",), writes)),
        "create_article": Rule("author", check=creates),
        "translate": Rule("editor"),
        "publish": Rule("editor", ("created_by",)),
        **dict.fromkeys(_OF_EDITORS, Rule("editor")),
        "end_session": Rule(own=("user_id",)),
    }


def _told(site: SmallSite[Cms], cms: Cms) -> list[str]:
    """How to sign in to the sample, or to become the first member."""
    result = sample_logins(site, [f"{name}@example.com" for name, _ in DEMO_USERS], DEMO_PASSWORD)
    if cms.founded("cms") is None:
        result.append("Nobody has joined yet: whoever joins first, at /sign-up, administers the site")
    return [*result, *mail_warnings(site)]
