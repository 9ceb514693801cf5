"""What programs read: RSS and Atom feeds, the sitemap, robots.txt.

The sitemap is a file for each day, and a list of the days of each year, so that no request grows with the number of
posts: a year has 366 days at most, and a day's file at most ``DAY_MAX`` posts.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from xml.sax.saxutils import escape, quoteattr

from starlette.responses import PlainTextResponse, Response

from keyplan import Range
from keyplan_systems.blog.ranking import front_page
from keyplan_systems.blog.site.cards import Card, cards
from keyplan_systems.blog.site.rendering import http_date, iso, post_path
from keyplan_systems.blog.site.site import Turn
from keyplan_systems.site.problems import not_found

__all__ = ["atom", "robots", "rss", "sitemap", "sitemap_of_day", "sitemap_of_year"]

DAY_MAX = 1000
SITEMAPS = "http://www.sitemaps.org/schemas/sitemap/0.9"
BEGINNING = datetime(1970, 1, 1, tzinfo=UTC)
_UNFIT = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def _text(text: str) -> str:
    """A text in XML; characters that XML can't hold are left out."""
    return escape(_UNFIT.sub("", text))


def _xml(kind: str, text: str) -> Response:
    content = f'<?xml version="1.0" encoding="utf-8"?>\n{text}'.encode()
    return Response(content, media_type=f"{kind}; charset=utf-8", headers={"cache-control": "public, max-age=60"})


def _latest(turn: Turn) -> list[Card]:
    found = front_page(turn.blog)
    return cards(found.latest, {user_id: (one.name, one.username) for user_id, one in found.bylines.items()})


def _address(turn: Turn, path: str) -> str:
    return turn.site.origin(turn.request) + path


def _post(turn: Turn, one: Card) -> str:
    return _address(turn, post_path(one.slug))


def rss(turn: Turn) -> Response:
    """The latest posts as RSS 2.0."""
    settings = turn.site.settings
    items = "".join(
        f"<item><title>{_text(one.title)}</title><link>{_text(_post(turn, one))}</link>"
        f'<guid isPermaLink="false">{_text(one.post_id)}</guid><pubDate>{http_date(one.at)}</pubDate>'
        f"<dc:creator>{_text(one.author_name)}</dc:creator>"
        + "".join(f"<category>{_text(tag)}</category>" for tag in one.tags)
        + f"<description>{_text(one.excerpt)}</description></item>\n"
        for one in _latest(turn)
    )
    itself = quoteattr(_address(turn, "/feed.rss"))
    return _xml(
        "application/rss+xml",
        '<rss version="2.0" xmlns:atom="http://www.w3.org/2005/Atom" xmlns:dc="http://purl.org/dc/elements/1.1/">'
        f"<channel><title>{_text(settings.title)}</title><link>{_text(_address(turn, '/'))}</link>"
        f"<description>{_text(settings.tagline)}</description>"
        f'<atom:link href={itself} rel="self" type="application/rss+xml"/>\n{items}</channel></rss>\n',
    )


def atom(turn: Turn) -> Response:
    """The latest posts as an Atom feed."""
    settings = turn.site.settings
    latest = _latest(turn)
    updated = max((one.updated_at for one in latest), default=BEGINNING)
    entries = "".join(
        f"<entry><title>{_text(one.title)}</title><id>urn:post:{_text(one.post_id)}</id>"
        f"<link href={quoteattr(_post(turn, one))}/><published>{iso(one.at)}</published>"
        f"<updated>{iso(one.updated_at)}</updated><author><name>{_text(one.author_name)}</name></author>"
        + "".join(f"<category term={quoteattr(_UNFIT.sub('', tag))}/>" for tag in one.tags)
        + f"<summary>{_text(one.excerpt)}</summary></entry>\n"
        for one in latest
    )
    return _xml(
        "application/atom+xml",
        f'<feed xmlns="http://www.w3.org/2005/Atom"><title>{_text(settings.title)}</title>'
        f"<subtitle>{_text(settings.tagline)}</subtitle><id>{_text(_address(turn, '/'))}</id>"
        f"<link href={quoteattr(_address(turn, '/'))}/><updated>{iso(updated)}</updated>"
        f'<link rel="self" href={quoteattr(_address(turn, "/feed.atom"))}/>\n{entries}</feed>\n',
    )


def robots(turn: Turn) -> Response:
    """What robots may read, and where the sitemaps are: one for each year since the first post."""
    oldest = list(turn.blog.published_between(Range(ge=BEGINNING), limit=1))
    now = datetime.fromtimestamp(turn.site.settings.clock(), UTC)
    first = min(oldest[0].listed_at.year, now.year) if oldest else now.year
    closed = ("/account", "/desk", "/inbox", "/moderation", "/search", "/sign-in", "/sign-up", "/write")
    lines = ["User-agent: *", *(f"Disallow: {path}" for path in closed), ""]
    lines += [f"Sitemap: {_address(turn, '/sitemap.xml')}"]
    lines += [f"Sitemap: {_address(turn, f'/sitemap-{year}.xml')}" for year in range(now.year, first - 1, -1)]
    return PlainTextResponse("\n".join(lines) + "\n")


def sitemap(turn: Turn) -> Response:
    """The pages that aren't posts, and the latest posts."""
    pages = [(_address(turn, path), None) for path in ("/", "/latest", "/popular", "/tags", "/contact")]
    return _urls([*pages, *((_post(turn, one), one.updated_at) for one in _latest(turn))])


def sitemap_of_year(turn: Turn) -> Response:
    """The days of a year that are over or have begun, each with its own file."""
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
        f"<sitemap><loc>{_text(_address(turn, f'/sitemap-{one:%Y-%m-%d}.xml'))}</loc></sitemap>\n" for one in days
    )
    return _xml("application/xml", f'<sitemapindex xmlns="{SITEMAPS}">\n{files}</sitemapindex>\n')


def sitemap_of_day(turn: Turn) -> Response:
    """The posts that were published on a day."""
    try:
        start = datetime.strptime(turn.path("day"), "%Y-%m-%d").replace(tzinfo=UTC)
        span = Range(ge=start, lt=start + timedelta(days=1))
    except (OverflowError, ValueError):
        raise not_found() from None
    page = turn.blog.published_between(span, limit=DAY_MAX)
    return _urls((_post(turn, one), one.updated_at) for one in cards(page, {}))


def _urls(places: Iterable[tuple[str, datetime | None]]) -> Response:
    lines = "".join(
        f"<url><loc>{_text(place)}</loc>{f'<lastmod>{iso(at)}</lastmod>' if at else ''}</url>\n" for place, at in places
    )
    return _xml("application/xml", f'<urlset xmlns="{SITEMAPS}">\n{lines}</urlset>\n')
