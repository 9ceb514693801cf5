"""The blog's search index: published posts of active authors, updated by the site's writes.

``python -m keyplan_systems.blog.searching blog.db`` rebuilds it. It is in ``blog.search`` next to ``blog.db``; for a
remote store it is in memory, and filled when the site starts.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from functools import partial

from keyplan_systems.blog.design import Blog
from keyplan_systems.blog.entities import Post
from keyplan_systems.paging import items_of_ids, pages_of
from keyplan_systems.site.searching import Document, Search, search_beside
from keyplan_systems.words import plain_words

PAGE = 100


def search_of(blog: Blog, place: str | None = None) -> Search:
    """The index of a blog, in a file if the store is one. An empty one is filled."""
    return search_beside(blog.store.url, partial(rebuild, blog), place)


def rebuild(blog: Blog, search: Search) -> int:
    """Rebuild the index from the store; returns the number of documents."""
    return search.replace_all(_documents(blog))


def _documents(blog: Blog) -> Iterator[Document]:
    for page in pages_of(partial(blog.latest_posts, limit=PAGE)):
        yield from _of_posts(blog, page.items)


def _of_posts(blog: Blog, posts: list[Post]) -> Iterator[Document]:
    """Posts as documents: two requests per page."""
    ids = list(dict.fromkeys(word for post in posts for word in (post.user_id, *post.co_authors)))
    users = {user.user_id: user for user in blog.users(ids) if user.status == "active"} if ids else {}
    texts = (
        {content.post_id: content.content for content in blog.contents([post.post_id for post in posts])}
        if posts
        else {}
    )
    for post in posts:
        if post.user_id in users:
            names = [users[word] for word in (post.user_id, *post.co_authors) if word in users]
            authors = " ".join(f"{name.name} {name.username}" for name in names)
            text = plain_words(texts.get(post.post_id, ""))
            yield Document(post.post_id, post.title, " ".join(post.tags), authors, text)


def keep_found(blog: Blog, search: Search, post_id: str) -> None:
    """Update the index for a post: it contains only published posts."""
    post = blog.post(post_id)
    documents = [] if post is None or post.status != "published" else list(_of_posts(blog, [post]))
    if documents:
        search.put(documents[0])
    else:
        search.remove(post_id)


def found_posts(blog: Blog, search: Search, query: str, limit: int) -> list[Post]:
    """The published posts with all words of a query, best first.

    They are read from the store, so that only published posts are shown, whatever the index contains.
    """
    posts = items_of_ids(search.find(query, limit), blog.posts, lambda post: post.post_id)
    return [post for post in posts if post.status == "published"]


def _main(url: str) -> None:
    with Blog.open(url, create=False) as blog, contextlib.closing(search_of(blog)) as search:
        sys.stdout.write(f"{rebuild(blog, search):,} posts are indexed for search.\n")


if __name__ == "__main__":
    _main(*sys.argv[1:2])
