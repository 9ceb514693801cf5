"""Atom feeds, the sitemap, robots.txt.

The sitemap is a file per day, and a list of days per year, so that requests don't grow with the number of posts.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from typing import NamedTuple
from urllib.parse import quote
from xml.sax.saxutils import escape, quoteattr

from starlette.responses import PlainTextResponse, Response

from keyplan import Range
from keyplan_systems.blog.ranking import front_page
from keyplan_systems.blog.site.cards import Card, cards, shown_cards
from keyplan_systems.blog.site.pages.reading import author_of, tags_of
from keyplan_systems.blog.site.rendering import post_path, tags_path
from keyplan_systems.blog.site.site import Turn
from keyplan_systems.site.filters import iso
from keyplan_systems.site.markdown import render_markdown, without_title
from keyplan_systems.site.problems import not_found

DAY_MAX = 1000
"""Maximum number of posts in a day's sitemap."""
SITEMAPS = "http://www.sitemaps.org/schemas/sitemap/0.9"
BEGINNING = datetime(1970, 1, 1, tzinfo=UTC)
FEED_POSTS = 10
_TAGS = re.compile(r"<(?:a|img)\s[^>]*>")
_ADDRESS = re.compile(r'\b(href|src)="(/(?!/)|#)')
_UNFIT = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def _text(text: str) -> str:
    """A string escaped for XML, without characters that XML doesn't allow."""
    return escape(_UNFIT.sub("", text))


def _xml(kind: str, text: str) -> Response:
    content = f'<?xml version="1.0" encoding="utf-8"?>\n{text}'.encode()
    return Response(content, media_type=f"{kind}; charset=utf-8", headers={"cache-control": "public, max-age=60"})


class Feed(NamedTuple):
    """A feed: its title, description, page and posts."""

    title: str
    about: str
    path: str
    cards: Sequence[Card]

    @property
    def updated(self) -> datetime:
        """The latest change of one of its posts."""
        return max((card.updated_at for card in self.cards), default=BEGINNING)


def _feed(turn: Turn) -> Feed:
    """The feed of the latest posts, or of an author or tags in the URL."""
    settings, given = turn.site.settings, turn.request.path_params
    if "username" in given:
        user = author_of(turn)
        posts = turn.blog.posts_of_user(user.user_id, "published", FEED_POSTS).items
        path = f"/authors/{quote(user.username, safe='')}"
        result = cards(posts, {user.user_id: (user.name, user.username)})
        return Feed(f"{user.name} · {settings.title}", user.bio or f"Posts by {user.name}", path, result)
    if "tags" in given:
        chosen = tags_of(turn)
        tagged = turn.blog.posts_by_tags(chosen, limit=FEED_POSTS)
        named = " + ".join(chosen)
        return Feed(
            f"{named} · {settings.title}",
            f"Posts about {named}",
            tags_path(chosen),
            shown_cards(turn.blog, tagged.items),
        )
    return Feed(settings.title, settings.tagline, "/", _latest(turn)[:FEED_POSTS])


def _latest(turn: Turn) -> list[Card]:
    page = front_page(turn.blog)
    return cards(page.latest, {user_id: (byline.name, byline.username) for user_id, byline in page.bylines.items()})


def _address(turn: Turn, path: str) -> str:
    return turn.site.origin(turn.request) + path


def _texts(turn: Turn, feed: Feed) -> dict[str, str]:
    """The posts' content as HTML with absolute URLs, read in one request."""
    titles = {element.post_id: element for element in feed.cards}
    origin = turn.site.origin(turn.request)
    texts: dict[str, str] = {}
    for content in turn.blog.contents(list(titles)) if titles else ():
        card = titles[content.post_id]
        html = render_markdown(without_title(content.content, card.title))
        texts[card.post_id] = absolute(html, origin, origin + post_path(card.slug))
    return texts


def absolute(html: str, origin: str, page: str) -> str:
    """HTML with absolute URLs, because ``/files/a.png`` and ``#note`` don't work in a feed."""

    def whole(match: re.Match[str]) -> str:
        return _ADDRESS.sub(lambda at: f'{at[1]}="{page if at[2] == "#" else origin}{at[2]}', match[0])

    return _TAGS.sub(whole, html)


def atom(turn: Turn) -> Response:
    feed = _feed(turn)
    texts = _texts(turn, feed)
    entries = "".join(
        f"<entry><title>{_text(card.title)}</title><id>urn:post:{_text(card.post_id)}</id>"
        f"<link href={quoteattr(_address(turn, post_path(card.slug)))}/><published>{iso(card.at)}</published>"
        f"<updated>{iso(card.updated_at)}</updated><author><name>{_text(card.author_name)}</name></author>"
        + "".join(f"<category term={quoteattr(_UNFIT.sub('', tag))}/>" for tag in card.tags)
        + f"<summary>{_text(card.excerpt)}</summary>"
        f'<content type="html">{_text(texts.get(card.post_id, ""))}</content></entry>\n'
        for card in feed.cards
    )
    page = _address(turn, feed.path)
    return _xml(
        "application/atom+xml",
        f'<feed xmlns="http://www.w3.org/2005/Atom"><title>{_text(feed.title)}</title>'
        f"<subtitle>{_text(feed.about)}</subtitle><id>{_text(page)}</id>"
        f"<link href={quoteattr(page)}/><updated>{iso(feed.updated)}</updated>"
        f'<link rel="self" href={quoteattr(_address(turn, turn.request.url.path))}/>\n{entries}</feed>\n',
    )


def robots(turn: Turn) -> Response:
    """robots.txt, with a sitemap for each year since the first post."""
    oldest = turn.site.views.kept("oldest", "", lambda: list(turn.blog.published_between(Range(ge=BEGINNING), limit=1)))
    now = datetime.fromtimestamp(turn.site.settings.clock(), UTC)
    first = min(oldest[0].listed_at.year, now.year) if oldest else now.year
    closed = ("/account", "/desk", "/inbox", "/moderation", "/search", "/sign-in", "/sign-up", "/write")
    lines = ["User-agent: *", *(f"Disallow: {path}" for path in closed), ""]
    lines += [f"Sitemap: {_address(turn, '/sitemap.xml')}"]
    lines += [f"Sitemap: {_address(turn, f'/sitemap-{year}.xml')}" for year in range(now.year, first - 1, -1)]
    return PlainTextResponse("\n".join(lines) + "\n")


def sitemap(turn: Turn) -> Response:
    """The sitemap of pages that aren't posts, and of the latest posts."""
    pages = [(_address(turn, path), None) for path in ("/", "/latest", "/popular", "/tags", "/contact")]
    return _urls([*pages, *((_address(turn, post_path(card.slug)), card.updated_at) for card in _latest(turn))])


def sitemap_of_year(turn: Turn) -> Response:
    """The sitemap index of a year: a file per day up to today."""
    year = int(turn.path("year"))
    now = datetime.fromtimestamp(turn.site.settings.clock(), UTC)
    day = datetime(year, 1, 1, tzinfo=UTC) if BEGINNING.year <= year <= now.year else None
    if day is None:
        raise not_found()
    days: list[datetime] = []
    while day.year == year and day <= now:
        days.append(day)
        day += timedelta(days=1)
    files = "".join(
        f"<sitemap><loc>{_text(_address(turn, f'/sitemap-{moment:%Y-%m-%d}.xml'))}</loc></sitemap>\n" for moment in days
    )
    return _xml("application/xml", f'<sitemapindex xmlns="{SITEMAPS}">\n{files}</sitemapindex>\n')


def sitemap_of_day(turn: Turn) -> Response:
    try:
        start = datetime.strptime(turn.path("day"), "%Y-%m-%d").replace(tzinfo=UTC)
        span = Range(ge=start, lt=start + timedelta(days=1))
    except (OverflowError, ValueError):
        raise not_found() from None
    page = turn.blog.published_between(span, limit=DAY_MAX)
    origin = turn.site.origin(turn.request)
    return _urls((origin + post_path(post.slug), post.updated_at) for post in page)


def _urls(places: Iterable[tuple[str, datetime | None]]) -> Response:
    lines = "".join(
        f"<url><loc>{_text(place)}</loc>{f'<lastmod>{iso(at)}</lastmod>' if at else ''}</url>\n" for place, at in places
    )
    return _xml("application/xml", f'<urlset xmlns="{SITEMAPS}">\n{lines}</urlset>\n')
