"""Pages for readers: front page, lists, a post, an author, tags, search; likes and ratings."""

from __future__ import annotations

import re
from datetime import datetime
from functools import partial
from urllib.parse import quote

from markupsafe import Markup
from starlette.responses import JSONResponse, RedirectResponse, Response

from keyplan import Page
from keyplan.errors import RequestError
from keyplan_systems.blog.entities import Post, PostWithContent, User
from keyplan_systems.blog.ranking import front_page
from keyplan_systems.blog.searching import found_posts
from keyplan_systems.blog.site.cards import card, cards, shown_cards
from keyplan_systems.blog.site.pages.commenting import published_post, said
from keyplan_systems.blog.site.rendering import TAG_SLUGS, post_path, tags_path
from keyplan_systems.blog.site.site import Turn
from keyplan_systems.site.markdown import render_markdown, without_title
from keyplan_systems.site.problems import not_found
from keyplan_systems.words import TAG_MAX, tag_from

PAGE = 10
FRONT_LATEST = 7
FRONT_POPULAR = 5
FRONT_TAGS = 14
MORE_BY_AUTHOR = 3
TAGS_TOGETHER_MAX = 5
SUGGESTIONS = 8
SUGGESTED_POSTS = 5
SUGGESTED_FROM = 2
"""Minimum query length for suggested posts."""
FOUND_FIRST, FOUND_MAX = 10, 30
"""Number of posts that a search shows at first, and on request."""
TAGS_SHOWN = 60
_USERNAME = re.compile(r"[a-z0-9-]{3,40}")


def front(turn: Turn) -> Response:
    page = front_page(turn.blog)
    authors = {user_id: (byline.name, byline.username) for user_id, byline in page.bylines.items()}
    return turn.page(
        "front.html",
        latest=cards(page.latest[:FRONT_LATEST], authors),
        more=len(page.latest) >= FRONT_LATEST,
        popular=cards(page.popular[:FRONT_POPULAR], authors),
        trending=[tag.tag for tag in page.tags[:FRONT_TAGS]],
    )


def latest(turn: Turn) -> Response:
    page = turn.blog.latest_posts(limit=PAGE, cursor=turn.cursor)
    return _list(turn, page, "Latest", "All posts, newest first.", "/latest")


def popular(turn: Turn) -> Response:
    page = turn.blog.popular_posts(limit=PAGE, cursor=turn.cursor)
    return _list(turn, page, "Popular", "The most viewed, liked and rated posts.", "/popular", more="Less popular")


def _list(turn: Turn, page: Page[Post], heading: str, lede: str, path: str, **more: str) -> Response:
    return turn.page(
        "list.html",
        heading=heading,
        lede=lede,
        path=path,
        cards=shown_cards(turn.blog, page.items),
        cursor=page.cursor,
        first=turn.cursor is not None,
        trending=_trending(turn),
        **more,
    )


def _trending(turn: Turn) -> list[str]:
    tags = turn.site.views.kept("trending", "", partial(turn.blog.trending_tags, limit=FRONT_TAGS))
    return [tag.tag for tag in tags]


def post(turn: Turn) -> Response:
    """A post. A former slug redirects; a draft is visible only to its author and co-authors."""
    text = _by_slug(turn)
    if text is None:
        raise not_found()
    whole = turn.site.views.whole_post(text)
    visitor = turn.visitor
    if whole is None or not _visible(turn, whole.post):
        raise not_found()
    about = whole.post
    if about.slug != turn.path("slug"):
        return RedirectResponse(post_path(about.slug), status_code=301)
    people = {user.user_id: user for user in turn.blog.users([about.user_id, *about.co_authors])}
    writer = people.get(about.user_id)
    if (writer is None or writer.status != "active") and not visitor.moderator:
        raise not_found()
    name, username = (writer.name, writer.username) if writer is not None else ("Deleted user", "")
    beside = [people[text] for text in about.co_authors if text in people and people[text].status == "active"]
    impression = None
    mine = visitor.user is not None and visitor.user.user_id == about.user_id
    if visitor.user is not None and about.status == "published":
        impression = turn.blog.post_seen(about.post_id, visitor.user.user_id)
    if about.status == "published" and not mine and turn.request.method == "GET":
        _saw(turn, about, seen=impression is not None)
    asked = partial(turn.blog.posts_of_user, about.user_id, "published", limit=MORE_BY_AUTHOR + 1)
    further = turn.site.views.kept("further", about.user_id, asked)
    others = [element for element in further if element.post_id != about.post_id][:MORE_BY_AUTHOR]
    return turn.page(
        "post.html",
        post=card(about, name, username),
        body=Markup(render_markdown(without_title(whole.content.content, about.title))),  # noqa: S704 - the renderer removes unsafe markup
        modified=_modified(whole),
        mine=mine,
        beside=beside,
        comments=said(turn, about),
        liked=impression is not None and impression.liked,
        rated=impression.stars if impression is not None else None,
        more=cards(others, {about.user_id: (name, username)}),
    )


def _modified(whole: PostWithContent) -> datetime | None:
    """When a published post's text was last changed; None if that was before its publication, or on the same day."""
    published, content = whole.post.published_at, whole.content
    edited = published is not None and content.version > 1 and content.edited_at.date() > published.date()
    return content.edited_at if edited else None


def _saw(turn: Turn, about: Post, *, seen: bool) -> None:
    """Count a view: in memory immediately, or with a write after the response, in a thread."""
    user = turn.visitor.user
    if user is None:
        turn.site.views.saw(about, None, seen=seen)
    elif not seen:
        turn.after.append(partial(turn.site.views.saw, about, user.user_id, seen=False))


def _by_slug(turn: Turn) -> str | None:
    slug = turn.path("slug")
    post_slug = turn.blog.slug_of(slug) if 0 < len(slug) <= 200 else None
    return None if post_slug is None else post_slug.post_id


def _visible(turn: Turn, about: Post) -> bool:
    user = turn.visitor.user
    if about.status == "published":
        return True
    if user is None:
        return False
    return user.user_id in {about.user_id, *about.co_authors}


def like(turn: Turn) -> Response:
    turn.limit("respond", turn.user.user_id)
    about = published_post(turn)
    impression = turn.blog.post_seen(about.post_id, turn.user.user_id)
    if impression is not None and impression.liked:
        turn.blog.unlike_post(about.post_id, turn.user.user_id)
    else:
        turn.blog.like_post(about.post_id, turn.user.user_id)
    return _answered(turn, about)


def rate(turn: Turn) -> Response:
    turn.limit("respond", turn.user.user_id)
    about = published_post(turn)
    stars = turn.form.number("stars", "Rating")
    if stars is None or not 1 <= stars <= 5:
        raise RequestError("a rating must be from 1 to 5 stars")
    turn.blog.rate_post(about.post_id, turn.user.user_id, stars)
    return _answered(turn, about)


def _answered(turn: Turn, about: Post) -> Response:
    turn.site.views.answered(about)
    return turn.go(post_path(about.slug) + "#page_response")


def author_of(turn: Turn) -> User:
    """The author in the URL. Raises Problem for one that this visitor can't see."""
    username = turn.path("username")
    user = turn.blog.user_by_username(username) if _USERNAME.fullmatch(username) else None
    if user is None or (user.status != "active" and not turn.visitor.moderator):
        raise not_found()
    return user


def author(turn: Turn) -> Response:
    user = author_of(turn)
    page = turn.blog.posts_of_user(user.user_id, "published", PAGE, turn.cursor)
    reader = turn.visitor.user
    mine = reader is not None and reader.user_id == user.user_id
    if reader is not None and not mine and turn.request.method == "GET":
        turn.after.append(partial(_saw_author, turn, reader.user_id, user.user_id))
    return turn.page(
        "author.html",
        author=user,
        mine=mine,
        feed=f"/authors/{quote(user.username, safe='')}/feed",
        heading=user.name,
        lede=user.bio or f"Posts by {user.name}",
        path=turn.request.url.path,
        cards=cards(page.items, {user.user_id: (user.name, user.username)}),
        cursor=page.cursor,
        first=turn.cursor is not None,
    )


def _saw_author(turn: Turn, user_id: str, viewed_id: str) -> None:
    if turn.blog.view_user(user_id, viewed_id):
        turn.site.views.saw_author(viewed_id)


def tags(turn: Turn) -> Response:
    return turn.page("tags.html", trending=turn.blog.trending_tags(limit=TAGS_SHOWN))


def tagged(turn: Turn) -> Response:
    chosen = tags_of(turn)
    path = tags_path(chosen)
    page = turn.blog.posts_by_tags(chosen, limit=PAGE, cursor=turn.cursor)
    shown = shown_cards(turn.blog, page.items)
    seen = {tag for element in shown for tag in element.tags} - set(chosen)
    adding = sorted(seen)[:12] if len(chosen) < TAGS_TOGETHER_MAX else []
    return turn.page(
        "tagged.html",
        heading=" + ".join(chosen),
        lede="Posts with " + ("this tag." if len(chosen) == 1 else "all of these tags."),
        path=path,
        feed=f"{path}/feed",
        cards=shown,
        cursor=page.cursor,
        first=turn.cursor is not None,
        empty="No post has " + ("this tag." if len(chosen) == 1 else "all of these tags."),
        chosen=[
            (tag, tags_path(rest) if (rest := [text for text in chosen if text != tag]) else "/tags") for tag in chosen
        ],
        adding=[(tag, tags_path([*chosen, tag])) for tag in adding],
    )


def tags_of(turn: Turn) -> tuple[str, ...]:
    """The tags in the URL. Raises Problem for none, or too many."""
    chosen = _tags(turn.path("tags"))
    if not chosen or len(chosen) > TAGS_TOGETHER_MAX:
        raise not_found()
    return chosen


def _tags(path: str) -> tuple[str, ...]:
    """The tags in a path, without duplicates, as ``tags_path`` writes them; ``c++`` is one."""
    meant = {slug: tag for tag, slug in TAG_SLUGS.items()}
    given = {tag.strip().lower() for tag in path.split(",")} - {""}
    if any(len(tag) > TAG_MAX for tag in given):
        raise not_found()
    return tuple(sorted({meant.get(tag, tag) for tag in given}))


def _words(text: str) -> tuple[str, ...]:
    """The words of a string as normalized tags, without duplicates."""
    return tuple(sorted({tag_from(word) for word in text.replace(",", " ").split()} - {""}))


def search(turn: Turn) -> Response:
    """Posts with the words of a query, best first, the author with that name, and tags with that prefix."""
    query = turn.query.get("q", "").strip()[:100]
    words = _words(query)[:TAGS_TOGETHER_MAX]
    more = turn.query.get("more") == "yes"
    author_found = None
    suggested: list[str] = []
    posts: list[Post] = []
    if words:
        turn.limit("search", turn.address)
        posts = found_posts(turn.blog, turn.site.search, query, FOUND_MAX if more else FOUND_FIRST)
        if len(words) == 1 and _USERNAME.fullmatch(words[0].removeprefix("@")):
            author_found = turn.blog.user_by_username(words[0].removeprefix("@"))
            if author_found is not None and author_found.status != "active":
                author_found = None
        last = _last_word(query)
        suggested = [tag.tag for tag in turn.blog.tags_starting(last, limit=SUGGESTIONS)] if last else []
    return turn.page(
        "search.html",
        query=query,
        author=author_found,
        lede="Search titles, texts, authors and tags.",
        cards=shown_cards(turn.blog, posts),
        more=not more and len(posts) == FOUND_FIRST,
        suggested=suggested,
        trending=[] if suggested else _trending(turn),
    )


def _last_word(query: str) -> str:
    words = query.replace(",", " ").split()
    return tag_from(words[-1]) if words and not query[-1:].isspace() and query[-1] != "," else ""


def suggest(turn: Turn) -> Response:
    """Tags with a prefix, as JSON for the tag input; with ``posts``, also posts, for the search box."""
    prefix = turn.query.get("prefix", "").strip().strip("#").lower()
    tags: list[str] = []
    if prefix and len(prefix) <= TAG_MAX:
        tags = [tag.tag for tag in turn.blog.tags_starting(prefix, limit=SUGGESTIONS)]
    query = turn.query.get("posts", "").strip()[:100]
    result: list[Post] = []
    if len(query) >= SUGGESTED_FROM:
        turn.limit("search", turn.address)
        result = found_posts(turn.blog, turn.site.search, query, SUGGESTED_POSTS)
    posts = [{"title": element.title, "path": post_path(element.slug)} for element in shown_cards(turn.blog, result)]
    return JSONResponse({"tags": tags, "posts": posts})
