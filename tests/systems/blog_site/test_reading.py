"""Pages for readers and the costs of the pages: front page, lists, posts, authors, tags and search."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from starlette.background import BackgroundTask

from keyplan import now
from keyplan_systems.blog.design import Blog
from keyplan_systems.blog.entities import Post, User
from keyplan_systems.blog.site.rendering import blog_environment
from keyplan_systems.blog.site.site import Site
from tests.systems.blog_site.support import Visit, make_post, make_user, text_of
from tests.systems.support import recorded

PAGES = [
    ("/", 1),
    ("/latest", 14),  # four shards of the index, one to three requests each, the authors, the trending tags
    ("/popular", 14),
    ("/posts/keys-and-doors", 5),  # slug, post with text, author, further posts, comments
    ("/authors/ada", 2),
    ("/tags", 1),
    ("/tags/keys", 3),
    ("/tags/doors,keys", 3),
    ("/search", 1),
    ("/search?q=keys", 5),
    ("/search/tags?prefix=k", 1),
    ("/feed.atom", 2),
    ("/sitemap.xml", 1),
    ("/sitemap-2026.xml", 0),
    ("/robots.txt", 5),
    ("/contact", 0),
    ("/sign-in", 0),
]
MERGED = {"/latest", "/popular"}
"""Pages of shards: how often one is asked depends on how the posts' ids, which are random, fall into them."""
PAGE_BYTES_MAX = 100_000


def many_posts(blog: Blog, user: User, count: int, start: int = 0) -> None:
    for number in range(start, start + count):
        make_post(blog, user, f"Post {number}", "Words. " * 300, ("keys", "doors", f"t{number}"))
    blog.refresh_front_page(force=True)


def test_views_are_written_in_a_separate_thread(
    site: Site, post: Post, rita: User, anybody: Visit, visit: Callable[[], Visit], monkeypatch: pytest.MonkeyPatch
) -> None:
    left: list[int] = []

    def noted(job: Any, after: list[Any]) -> Any:
        left.append(len(after))
        return BackgroundTask(job, after)

    monkeypatch.setattr("keyplan_systems.site.serving.BackgroundTask", noted)
    anybody.get(f"/posts/{post.slug}")
    assert left == []
    signed_in = visit().sign_in(rita.username)
    signed_in.get(f"/posts/{post.slug}")
    signed_in.get(f"/posts/{post.slug}")
    assert left == [1]


def test_sidebars_are_cached_for_two_seconds(
    blog: Blog, site: Site, ada: User, post: Post, anybody: Visit, monkeypatch: pytest.MonkeyPatch
) -> None:
    seconds = [0.0]
    for kept in (site.views._posts, site.views._lists):
        monkeypatch.setattr(kept, "_clock", lambda: seconds[0])
    recorder = recorded(blog)

    def requests_of(path: str) -> int:
        recorder.clear()
        anybody.get(path)
        return len([name for name in recorder.operations if name in {"Query", "GetItem", "BatchGetItem"}])

    for path, first, next_ones in (("/search", 1, 0), (f"/posts/{post.slug}", 5, 3)):
        assert [requests_of(path), requests_of(path)] == [first, next_ones]
        seconds[0] += 3
        assert requests_of(path) == first
        site.changed(post, listed=True)
        assert requests_of(path) == first
    other = make_post(blog, ada, "Another of hers")
    site.changed(other, listed=True)
    assert "Another of hers" in anybody.get(f"/posts/{post.slug}").text


@pytest.mark.parametrize(("path", "most"), PAGES)
def test_requests_per_page_do_not_depend_on_the_number_of_posts(
    blog: Blog, site: Site, ada: User, post: Post, anybody: Visit, path: str, most: int
) -> None:
    many_posts(blog, ada, 12)
    anybody.get("/")  # the first one builds the front page
    recorder = recorded(blog)
    anybody.get(path)
    few = len(
        [operation for operation in recorder.operations if operation in {"Query", "GetItem", "BatchGetItem", "Scan"}]
    )
    many_posts(blog, ada, 15, start=12)
    site.views.forget(post.post_id)
    site.views.forget_lists()
    recorder.clear()
    response = anybody.get(path)
    operations = [
        operation for operation in recorder.operations if operation in {"Query", "GetItem", "BatchGetItem", "Scan"}
    ]
    assert len(operations) <= most
    assert few <= most
    assert len(operations) == few or path in MERGED
    assert few >= 6 or path not in MERGED
    assert "Scan" not in operations
    assert len(response.content) < PAGE_BYTES_MAX


def test_the_front_page_of_a_signed_in_user_costs_three_requests(blog: Blog, post: Post, author: Visit) -> None:
    author.get("/")
    recorder = recorded(blog)
    author.get("/")
    assert recorder.operations == ["GetItem"] * 3  # the session, its user, the front page


def test_the_front_page_shows_posts_authors_and_tags(blog: Blog, post: Post, draft: Post, anybody: Visit) -> None:
    blog.refresh_front_page(force=True)
    page = text_of(anybody.get("/"))
    assert "Keys and doors" in page
    assert "Ada Example" in page
    assert "doors" in page
    assert "Half a thought" not in page


def test_the_card_of_a_post_is_cached_until_it_changes(blog: Blog, post: Post, anybody: Visit, reader: Visit) -> None:
    card: Any = blog_environment().globals["card"]
    anybody.get("/latest")
    made = card.cache_info().misses
    first, second = anybody.get("/latest").text, reader.get("/tags/keys").text
    assert card.cache_info().misses == made
    assert "Keys and doors" in first
    assert "Keys and doors" in second
    whole = blog.whole_post(post.post_id)
    assert whole is not None
    version = whole.content.version
    blog.edit_post(post.post_id, version, "Keys and locks", "Text.", post.slug, post.tags, post.user_id)
    assert "Keys and locks" in anybody.get("/latest").text
    assert card.cache_info().misses == made + 1


def test_pages_of_an_empty_blog_are_displayed(anybody: Visit) -> None:
    for path in ("/", "/latest", "/popular", "/tags", "/search", "/feed.atom", "/sitemap.xml"):
        assert anybody.get(path).status_code == 200, path
    assert "No posts have been published yet" in anybody.get("/").text


def test_a_post_is_rendered_with_its_author_and_its_tags(post: Post, anybody: Visit) -> None:
    page = anybody.get("/posts/keys-and-doors")
    assert "<strong>one</strong>" in page.text
    assert 'href="/authors/ada"' in page.text
    assert 'href="/tags/doors"' in page.text
    assert '<link rel="canonical" href="http://testserver/posts/keys-and-doors">' in page.text


def test_a_heading_that_repeats_the_title_is_omitted(blog: Blog, ada: User, anybody: Visit) -> None:
    make_post(blog, ada, "Twice", "# Twice\n\nOnce is enough.")
    assert anybody.get("/posts/twice").text.count("Twice</h") == 1


def test_an_old_address_of_a_post_redirects_to_the_new_one(blog: Blog, post: Post, ada: User, anybody: Visit) -> None:
    blog.edit_post(post.post_id, 1, post.title, "Text", "doors-and-keys", post.tags, edited_by=ada.user_id)
    answer = anybody.get("/posts/keys-and-doors")
    assert answer.status_code == 301
    assert answer.headers["location"] == "/posts/doors-and-keys"
    assert anybody.get("/posts/doors-and-keys").status_code == 200


def test_views_by_a_reader_count_once_and_anonymous_views_are_batched(
    blog: Blog, site: Site, post: Post, rita: User, anybody: Visit, reader: Visit
) -> None:
    for _ in range(3):
        anybody.get("/posts/keys-and-doors")
        reader.get("/posts/keys-and-doors")
    assert blog.post_seen(post.post_id, rita.user_id) is not None
    recorder = recorded(blog)
    site.views.flush()
    assert recorder.operations == ["UpdateItem"]  # three views, one request
    blog.refresh_ranking(post.post_id)
    result = blog.post(post.post_id)
    assert result is not None
    assert result.views == 4


def test_views_by_the_author_and_by_head_requests_are_not_counted(
    blog: Blog, site: Site, post: Post, author: Visit, anybody: Visit
) -> None:
    author.get("/posts/keys-and-doors")
    anybody.client.head("/posts/keys-and-doors")
    recorder = recorded(blog)
    site.views.flush()
    assert recorder.operations == []


def test_a_reader_likes_and_unlikes_a_post(blog: Blog, post: Post, rita: User, reader: Visit) -> None:
    path = "/posts/keys-and-doors"
    assert reader.send(f"{path}/like", path).headers["location"] == f"{path}#page_response"
    seen = blog.post_seen(post.post_id, rita.user_id)
    assert seen is not None
    assert seen.liked
    assert "Liked" in text_of(reader.get(path))
    reader.send(f"{path}/like", path)
    seen = blog.post_seen(post.post_id, rita.user_id)
    assert seen is not None
    assert not seen.liked


@pytest.mark.parametrize(("stars", "status"), [("4", 303), ("0", 400), ("6", 400), ("x", 400), ("", 400), ("٣", 400)])
def test_a_rating_has_one_to_five_stars(
    blog: Blog, post: Post, rita: User, reader: Visit, stars: str, status: int
) -> None:
    path = "/posts/keys-and-doors"
    assert reader.send(f"{path}/rate", path, stars=stars).status_code == status
    seen = blog.post_seen(post.post_id, rita.user_id)
    assert (seen.stars if seen else None) == (4 if status == 303 else None)


def test_lists_of_posts_continue_at_a_cursor(blog: Blog, ada: User, anybody: Visit) -> None:
    many_posts(blog, ada, 12)
    first = anybody.get("/latest")
    following = first.text.split('rel="next" href="')[1].split('"')[0].replace("&amp;", "&")
    second = anybody.get(following)
    assert "Post 11" in first.text
    assert "Post 0" in second.text
    assert "First page" in second.text
    assert anybody.get("/latest?cursor=cut-short").status_code == 400
    assert anybody.get(following.replace("/latest", "/popular")).status_code == 400


def test_posts_are_listed_by_one_or_several_tags(blog: Blog, ada: User, post: Post, anybody: Visit) -> None:
    make_post(blog, ada, "Only keys", tags=("keys",))
    both = text_of(anybody.get("/tags/keys"))
    assert "Only keys" in both
    assert "Keys and doors" in both
    text = text_of(anybody.get("/tags/keys,doors"))
    assert "Keys and doors" in text
    assert "Only keys" not in text
    assert anybody.get("/tags/a,b,c,d,e,f").status_code == 404
    assert "No post has" in anybody.get("/tags/nothing").text


@pytest.mark.parametrize("tag", ["c++", "c#", "a/b", "50%", "q?", "über", "日本"])
def test_the_link_of_a_tag_opens_a_list_of_its_posts(blog: Blog, ada: User, anybody: Visit, tag: str) -> None:
    about = make_post(blog, ada, "Signs", tags=(tag,))
    (link,) = re.findall(r'<li><a href="(/tags/[^"]+)"', anybody.get(f"/posts/{about.slug}").text)
    assert f"/posts/{about.slug}" in anybody.get(link).text


def test_a_search_without_results_suggests_posts(post: Post, anybody: Visit) -> None:
    page = anybody.get("/search?q=nothing+of+the+kind").text
    assert "No post contains all of these words." in page
    assert 'href="/tags/keys"' in page


def test_search_finds_posts_by_tag_and_author_and_suggests_tags(post: Post, anybody: Visit) -> None:
    page = text_of(anybody.get("/search?q=keys+doors"))
    assert "Keys and doors" in page
    assert "Ada Example" in text_of(anybody.get("/search?q=%40ada"))
    assert anybody.get("/search/tags?prefix=ke").json() == {"tags": ["keys"], "posts": []}
    assert anybody.get("/search/tags?prefix=").json() == {"tags": [], "posts": []}
    assert anybody.get(f"/search?q={'x' * 5000}").status_code == 200


def test_a_deleted_author_has_no_page(blog: Blog, post: Post, ada: User, anybody: Visit) -> None:
    assert anybody.get("/authors/ada").status_code == 200
    blog.set_status(ada.user_id, "deleted")
    assert anybody.get("/authors/ada").status_code == 404


@pytest.mark.parametrize(
    "path", ["/nothing", "/posts/nothing", "/authors/nobody", "/static/none.css", f"/tags/{'x' * 5000}"]
)
def test_urls_of_unknown_pages_return_status_404(anybody: Visit, path: str) -> None:
    answer = anybody.get(path)
    assert answer.status_code == 404
    assert "Page not found" in answer.text


def test_unsupported_http_methods_return_status_405(visit: Callable[[], Visit], post: Post) -> None:
    for path in ("/", "/latest", "/posts/keys-and-doors"):
        answer = visit().client.delete(path)
        assert answer.status_code == 405
        assert "GET" in answer.headers["allow"]


def test_an_edited_post_shows_when_it_was_modified(author: Visit, blog: Blog, post: Post) -> None:
    blog.update(post, published_at=now() - timedelta(days=3))
    path, edit = "/posts/keys-and-doors", f"/write/{post.post_id}"
    assert "modified" not in text_of(author.get(path))
    content = blog.whole_post(post.post_id)
    assert content is not None
    fields = {"title": post.title, "slug": post.slug, "tags": "keys", "version": str(content.content.version)}
    assert author.send(edit, content="Another text.", action="save", **fields).status_code == 303
    assert "modified" in text_of(author.get(path))


def test_a_byline_names_only_active_co_authors(blog: Blog, post: Post, visit: Callable[[], Visit]) -> None:
    ben, cleo = make_user(blog, "ben"), make_user(blog, "cleo")
    blog.name_co_authors(post.post_id, (ben.user_id, cleo.user_id))
    blog.set_status(cleo.user_id, "suspended")
    page = text_of(visit().get(f"/posts/{post.slug}"))
    assert "Ada Example and Ben Example" in page
    assert "Cleo" not in page
