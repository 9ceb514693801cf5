"""Feeds, sitemaps and robots.txt are valid, complete and limited in size."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from datetime import UTC, datetime, timedelta

from keyplan_systems.blog.design import Blog
from keyplan_systems.blog.entities import Post, User
from tests.systems.blog_site.support import Visit, make_post

ATOM = "{http://www.w3.org/2005/Atom}"
MAP = "{http://www.sitemaps.org/schemas/sitemap/0.9}"


def test_the_feed_contains_the_latest_posts(blog: Blog, ada: User, post: Post, draft: Post, anybody: Visit) -> None:
    make_post(blog, ada, "Marks & <signs>", "One\u0001 two.", ("c&a",))
    blog.refresh_front_page(force=True)
    answer = anybody.get("/feed.atom")
    assert answer.headers["content-type"] == "application/atom+xml; charset=utf-8"
    feed = ET.fromstring(answer.content)
    entries = feed.findall(f"{ATOM}entry")
    assert [entry.findtext(f"{ATOM}title") for entry in entries] == ["Marks & <signs>", "Keys and doors"]
    assert entries[0].findtext(f"{ATOM}author/{ATOM}name") == "Ada Example"
    assert feed.findtext(f"{ATOM}updated") == entries[0].findtext(f"{ATOM}updated")


def test_robots_txt_links_to_a_sitemap_per_year(blog: Blog, post: Post, anybody: Visit) -> None:
    blog.update(post, published_at=datetime(2025, 3, 1, 12, tzinfo=UTC))
    lines = anybody.get("/robots.txt").text.splitlines()
    maps = [line.removeprefix("Sitemap: http://testserver") for line in lines if line.startswith("Sitemap: ")]
    assert maps == ["/sitemap.xml", "/sitemap-2027.xml", "/sitemap-2026.xml", "/sitemap-2025.xml"]
    assert "Disallow: /moderation" in lines


def test_the_sitemap_of_a_year_lists_every_published_post(blog: Blog, ada: User, draft: Post, anybody: Visit) -> None:
    start = datetime(2025, 3, 1, 0, 0, tzinfo=UTC)
    for number in range(5):
        made = make_post(blog, ada, f"Post {number}")
        blog.update(made, published_at=start + timedelta(hours=12 * number))
    year = ET.fromstring(anybody.get("/sitemap-2025.xml").content)
    days = [element.text or "" for element in year.iter(f"{MAP}loc")]
    assert len(days) == 365
    assert days[59] == "http://testserver/sitemap-2025-03-01.xml"
    result = [
        [element.text for element in ET.fromstring(anybody.get(day).content).iter(f"{MAP}loc")] for day in days[58:62]
    ]
    assert result == [
        [],
        ["http://testserver/posts/post-0", "http://testserver/posts/post-1"],
        ["http://testserver/posts/post-2", "http://testserver/posts/post-3"],
        ["http://testserver/posts/post-4"],
    ]
    assert anybody.get("/sitemap-2028.xml").status_code == 404


def test_feeds_of_authors_and_tags_contain_complete_texts(blog: Blog, ada: User, rita: User, anybody: Visit) -> None:
    text = 'One **two** ![It](/files/a.png) [there](/posts/x) [up](#top) [out](https://a.example/b)\n\n`<a href="/x">`'
    make_post(blog, ada, "Whole", text, ("c#",))
    make_post(blog, ada, "Other", "Text.", ("b",))
    feed = ET.fromstring(anybody.get("/authors/ada/feed.atom").content)
    assert [element.text for element in feed.iter(f"{ATOM}title")] == ["Ada Example · Marginalia", "Other", "Whole"]
    html = feed.findall(f"{ATOM}entry")[1].findtext(f"{ATOM}content") or ""
    for part in (
        "<strong>two</strong>",
        'src="http://testserver/files/a.png"',
        'href="http://testserver/posts/x"',
        'href="http://testserver/posts/whole#top"',
        'href="https://a.example/b"',
        '&lt;a href="/x"&gt;',
    ):
        assert part in html
    tagged = ET.fromstring(anybody.get("/tags/c-sharp/feed.atom").content)
    assert [element.text for element in tagged.iter(f"{ATOM}title")] == ["c# · Marginalia", "Whole"]
    assert tagged.findtext(f"{ATOM}id") == "http://testserver/tags/c-sharp"
    assert "/authors/ada/feed.atom" in anybody.get("/authors/ada").text
    assert "/tags/b/feed.atom" in anybody.get("/tags/b").text
    for path in ("/authors/nobody/feed.atom", "/tags/a,b,c,d,e,f/feed.atom"):
        assert anybody.get(path).status_code == 404
    blog.set_status(ada.user_id, "suspended")
    assert anybody.get("/authors/ada/feed.atom").status_code == 404
    assert b"<entry>" not in anybody.get("/tags/b/feed.atom").content


def test_unchanged_feeds_and_pages_return_status_304(blog: Blog, ada: User, post: Post, anybody: Visit) -> None:
    for path in ("/feed.atom", "/authors/ada/feed.atom", "/latest", f"/posts/{post.slug}"):
        anybody.get(path)
        answer = anybody.get(path)
        again = anybody.get(path, headers={"if-none-match": f'"other", W/{answer.headers["etag"]}'})
        assert (again.status_code, again.content, again.headers["etag"]) == (304, b"", answer.headers["etag"])
        assert again.headers["cache-control"] == answer.headers["cache-control"]
        assert anybody.get(path, headers={"if-none-match": '"other"'}).status_code == 200


def test_personalized_pages_have_no_etag(author: Visit) -> None:
    assert "etag" not in author.get("/").headers
