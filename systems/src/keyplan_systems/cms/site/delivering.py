"""The content API: published articles as JSON; and preview pages."""

from __future__ import annotations

from typing import Any

from markupsafe import Markup
from starlette.responses import JSONResponse, Response

from keyplan_systems.cms.design import Cms
from keyplan_systems.cms.entities import PublishedArticle, PublishedTag
from keyplan_systems.cms.reading import previewed, readable
from keyplan_systems.pages.site import Turn
from keyplan_systems.plain_markdown import plain_markdown
from keyplan_systems.site.markdown import render_markdown, without_title
from keyplan_systems.site.problems import not_found

CmsTurn = Turn[Cms]
SLUG_CHARACTERS_MAX = 500


def articles(turn: CmsTurn) -> Response:
    """Published articles, optionally those with a tag, newest first."""
    tag = turn.query.get("tag", "").strip()
    page: Any
    if tag:
        page = turn.design.published_by_tag(tag[:100], limit=20, cursor=turn.cursor)
    else:
        page = turn.design.published_articles(limit=20, cursor=turn.cursor)
    return JSONResponse({"items": [_card(item) for item in page.items], "cursor": page.cursor and str(page.cursor)})


def _card(element: PublishedArticle | PublishedTag) -> dict[str, Any]:
    return {
        "article_id": element.article_id,
        "slug": element.slug,
        "title": element.title,
        "excerpt": element.excerpt,
        "author_id": element.author_id,
        "published_at": element.published_at.isoformat(),
    }


def article(turn: CmsTurn) -> Response:
    """A published article by its current or a former slug."""
    result = readable(turn.design, turn.path("slug")[:SLUG_CHARACTERS_MAX])
    if result is None:
        return JSONResponse({"error": "no published article has this slug"}, status_code=404)
    shown, version = result
    tag = f'"{shown.article_id}-{version.version}-{int(shown.updated_at.timestamp() * 1e6):x}"'
    if turn.request.headers.get("if-none-match") == tag:
        return Response(status_code=304, headers={"etag": tag})
    content = {
        "article_id": shown.article_id,
        "slug": shown.slug,
        "title": shown.title,
        "excerpt": shown.excerpt,
        "author_id": shown.author_id,
        "tags": sorted(shown.tags),
        "published_at": shown.published_at and shown.published_at.isoformat(),
        "version": version.version,
        "body": version.body,
    }
    return JSONResponse(content, headers={"etag": tag})


def shown_text(body: str, title: str) -> Markup:
    """The HTML of an article's text. Template tags become placeholders."""
    html = render_markdown(plain_markdown(without_title(body, title)).text)
    return Markup(html)  # noqa: S704 - `render_markdown` returns safe HTML


def preview(turn: CmsTurn) -> Response:
    result = previewed(turn.design, turn.path("token"))
    if result is None:
        raise not_found()
    title = result.version.title or result.article.title
    turn.limit("preview", turn.address, cost=1 + len(result.version.body) / 20_000)
    shown = shown_text(result.version.body, title)
    response = turn.page("preview.html", article=result.article, version=result.version, title=title, shown=shown)
    response.headers["referrer-policy"] = "no-referrer"  # the URL is a secret
    return response
