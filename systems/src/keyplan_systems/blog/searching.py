"""What of the blog can be found: published posts of active authors, kept by the writes, made anew by one command.

``python -m keyplan_systems.blog.searching blog.db`` makes the index anew. It is in ``blog.search`` beside ``blog.db``;
for a store elsewhere it is in memory, and filled when the site begins.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from functools import partial

from keyplan_systems.blog.design import Blog
from keyplan_systems.blog.entities import Post
from keyplan_systems.paging import items_of_ids, pages_of
from keyplan_systems.site.searching import Document, FtsSearch, Search, search_beside
from keyplan_systems.words import plain_words

__all__ = ["found_posts", "keep_found", "rebuild", "search_of"]

PAGE = 100


def search_of(blog: Blog, place: str | None = None) -> FtsSearch:
    """The index of a blog, in a file of its own where the store is one. An empty one is made anew."""
    return search_beside(blog.store.url, partial(rebuild, blog), place)


def rebuild(blog: Blog, search: Search) -> int:
    """Make the index anew from the store; gives how many posts can be found."""
    return search.replace_all(_documents(blog))


def _documents(blog: Blog) -> Iterator[Document]:
    for page in pages_of(partial(blog.latest_posts, limit=PAGE)):
        yield from _of_posts(blog, page.items)


def _of_posts(blog: Blog, posts: list[Post]) -> Iterator[Document]:
    """Posts as documents: two requests for a page of them."""
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
    """Bring what can be found of a post to what it is now: nothing, unless it is published."""
    post = blog.post(post_id)
    documents = [] if post is None or post.status != "published" else list(_of_posts(blog, [post]))
    if documents:
        search.put(documents[0])
    else:
        search.remove(post_id)


def found_posts(blog: Blog, search: Search, query: str, limit: int) -> list[Post]:
    """The published posts that have all words of a query, the best first.

    They are read from the store, so that nothing is shown that isn't published now, whatever the index says.
    """
    posts = items_of_ids(search.find(query, limit), blog.posts, lambda post: post.post_id)
    return [post for post in posts if post.status == "published"]


def _main(url: str) -> None:
    with Blog.open(url, create=False) as blog, contextlib.closing(search_of(blog)) as search:
        sys.stdout.write(f"{rebuild(blog, search):,} posts can be found.\n")


if __name__ == "__main__":
    _main(*sys.argv[1:2])
