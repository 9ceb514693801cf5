"""The CMS's site: URLs, and authorization of the API."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from keyplan.errors import ItemNotFound
from keyplan.systems import SiteOptions
from keyplan_systems.cms.design import Cms
from keyplan_systems.cms.entities import Article, ArticleVersion
from keyplan_systems.cms.sample import DEMO_PASSWORD, DEMO_USERS
from keyplan_systems.cms.site import delivering, desk, editor, team, versions
from keyplan_systems.cms.site.people import CmsPeople, may_publish, may_write
from keyplan_systems.pages.application import ServedSite, mail_warnings, sample_logins, small_application
from keyplan_systems.pages.people import Person
from keyplan_systems.pages.policy import Rule, TablePolicy
from keyplan_systems.pages.settings import read_small_file
from keyplan_systems.pages.site import Look, SmallSite, Turn
from keyplan_systems.site.limits import Limit, RateLimiter
from keyplan_systems.site.mail import Mail

PREVIEWS = Limit(attempts=120, seconds=300)
NOTICES = {
    "made": "The draft is created. Only you and the editors can see it.",
    "publish": "The article is published.",
    "unpublish": "The article is unpublished. Readers can't see it.",
    "archive": "The article is archived.",
    "unarchive": "The article is a draft again.",
    "restored": "The earlier text is now the newest draft.",
    "deleted": "The article is deleted.",
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
    look = Look(
        system="cms",
        title="Copydesk",
        tagline="Write, review and publish articles.",
        package="keyplan_systems.cms.site",
        navigation=(("Articles", "/"), ("New article", "/new")),
        notices=NOTICES,
    )
    settings = read_small_file(options.settings, look)
    site = CmsSite(cms, settings.look, options, settings.mail)
    application = small_application(
        site,
        pages=(
            ("/", desk.desk, "anyone"),
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
    )
    return ServedSite(application, TablePolicy(site, rules(cms)), _messages(site, cms))


_OF_WRITERS = (
    *("article_with_latest", "article_versions", "article_history", "version_cards", "version_card"),
    "tags_of_article",
)
_OF_EDITORS = (
    *("retag", "edit", "archive", "unarchive", "delete_article", "publish_version", "unpublish"),
    *("members", "revoke_preview"),
    *("articles_by_state", "articles_by_tag"),  # their results contain titles and excerpts of other authors' drafts
)


def rules(cms: Cms) -> dict[str, Rule]:
    """Authorization of the API: the public reads published articles, members read what they work on, and editors
    publish.

    The API has no other patterns: joining, roles and passwords are closed.
    """

    def writes(caller: Person | None, given: dict[str, Any]) -> None:
        article = cms.article(str(given["article_id"]))
        if article is None or not may_write(caller, article):
            raise ItemNotFound(f"you have no article {given['article_id']!r}", place="Cms.article")

    def lists(caller: Person | None, given: dict[str, Any]) -> None:
        if not (may_publish(caller) or (caller is not None and given["author_id"] == caller.user_id)):
            raise ItemNotFound("authors can list only their own articles", place="Cms.articles_by_author")

    def creates(caller: Person | None, given: dict[str, Any]) -> None:
        article = given["article"]  # a JSON object whose names are fields or attributes
        said = article if isinstance(article, dict) else {"author_id": getattr(article, "author_id", None)}
        authors = {said[name] for name in ("author_id", "authorId") if name in said}
        if not (may_publish(caller) or (caller is not None and authors == {caller.user_id})):
            raise ItemNotFound("authors can create only their own articles", place="Cms.create_article")

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
        **dict.fromkeys(("article", "article_by_slug"), public),
        "article_version": Rule("anyone", shown=shown_versions),
        "articles_by_author": Rule("author", check=lists),
        **dict.fromkeys(_OF_WRITERS, Rule("author", check=writes)),
        **dict.fromkeys(("save_draft", "restore_version", "share_preview"), Rule("author", ("created_by",), writes)),
        "create_article": Rule("author", check=creates),
        "publish": Rule("editor", ("created_by",)),
        **dict.fromkeys(_OF_EDITORS, Rule("editor")),
        "end_session": Rule(own=("user_id",)),
    }


def _messages(site: SmallSite[Cms], cms: Cms) -> list[str]:
    """How to sign in to the sample, or to become the first member."""
    result = sample_logins(site, [f"{name}@example.com" for name, _ in DEMO_USERS], DEMO_PASSWORD)
    if cms.founded("cms") is None:
        result.append("There are no members yet: the first person who joins, at /sign-up, becomes the administrator")
    return [*result, *mail_warnings(site)]
