"""Co-authors: whatever happens to posts and people, their lists are what a look at every post gives, page by page."""

from __future__ import annotations

import random
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from keyplan import Cursor, Page
from keyplan.errors import CursorError, ItemNotFound, Refused, RequestError, WriteFailed
from keyplan_systems.blog.design import Blog
from keyplan_systems.blog.entities import CO_AUTHORS_MAX, CoAuthor, Post, PostStatus, User
from keyplan_systems.blog.loader import load
from keyplan_systems.blog.naming import posts_by
from keyplan_systems.blog.removing import delete_account, delete_post, export_of
from keyplan_systems.blog.searching import search_of
from keyplan_systems.paging import pages_of
from keyplan_systems.site.files import MemoryFiles
from tests.systems.blog.support import check_books, items_of, new_post, new_user, published, recorded, silent

STATUSES: tuple[PostStatus, ...] = ("unpublished", "published", "archived")
FIRST = datetime(2026, 1, 1, tzinfo=UTC)


def happens(blog: Blog, chance: random.Random, people: list[User], number: int) -> None:
    """Something that an author, a moderator or an import does."""
    posts: list[Post] = sorted(items_of(blog, Post), key=lambda post: post.post_id)
    others = tuple(user.user_id for user in chance.choices(people, k=chance.randrange(4)))
    if number < 12 or not posts:
        author = chance.choice(people)
        made = FIRST + timedelta(hours=chance.randrange(40))  # some at the same moment
        fields: dict[str, Any] = {"post_id": f"p{number:02}", "created_at": made, "co_authors": others}
        new_post(blog, author, f"post-{number}", ("a",), **fields)
        blog.publish_as_of(f"p{number:02}", made)
        return
    post_id = chance.choice(posts).post_id
    acts: list[Callable[[], object]] = [
        lambda: blog.publish(post_id),
        lambda: blog.unpublish(post_id),
        lambda: blog.archive(post_id),
        lambda: blog.restore(post_id),
        lambda: blog.take_down(post_id, "m"),
        lambda: blog.name_co_authors(post_id, others),
        lambda: blog.name_co_authors(post_id, others),
        lambda: blog.ask_co_authors(post_id, others),
        lambda: blog.ask_co_authors(post_id, others),
        *(partial(blog.agree_to_be_named, post_id, user.user_id) for user in people),
        lambda: blog.be_named_no_more(post_id, chance.choice(people).user_id),
        lambda: delete_post(blog, post_id) if number % 5 == 0 else None,
    ]
    with suppress(Refused, ItemNotFound):  # nobody asked them
        chance.choice(acts)()


@pytest.mark.parametrize("seed", range(4))
def test_lists_are_what_a_look_at_every_post_gives(blog: Blog, seed: int) -> None:
    chance = random.Random(seed)
    people = [new_user(blog, name, user_id=name, role="author") for name in ("ada", "ben", "cleo")]
    for number in range(48):
        happens(blog, chance, people, number)
    check_books(blog)
    posts: list[Post] = items_of(blog, Post)
    for user in blog.users([user.user_id for user in people]):
        named = [post for post in posts if user.user_id in post.co_authors]
        whole = [post for post in posts if post.status == "published" and post.user_id == user.user_id]
        public = [post for post in named if post.status == "published"]
        for limit in (1, 2, 3, 50):
            ask = partial(blog.co_authored_posts, user.user_id, limit=limit)
            check_pages(partial(ask, status=["published"]), public, limit)
            check_pages(partial(ask, status=STATUSES), named, limit)
            check_pages(partial(posts_by, blog, user, limit), [*whole, *public], limit)


def check_pages(ask: Callable[..., Page[Post]], expected: list[Post], limit: int) -> None:
    """Raises AssertionError unless a question gives these posts, newest first, in full pages."""
    pages = list(pages_of(ask))
    shown = [post for page in pages for post in page.items]
    assert sorted(post.post_id for post in shown) == sorted(post.post_id for post in expected)
    assert all(first.listed_at >= second.listed_at for first, second in pairwise(shown))
    assert {len(page.items) for page in pages[:-1]} <= {limit}


def test_an_author_without_co_authored_posts_costs_what_they_did(blog: Blog, ada: User, eve: User) -> None:
    for number in range(3):
        published(blog, ada, f"post-{number}")
    requests = recorded(blog)
    page = posts_by(blog, ada, 2)
    assert page == blog.posts_of_user(ada.user_id, "published", 2)
    assert requests.operations == ["Query", "Query"]
    blog.name_co_authors(page.items[0].post_id, (eve.user_id,))
    named = blog.user(eve.user_id)
    assert named is not None
    requests.made.clear()
    assert [post.post_id for post in posts_by(blog, named, 2)] == [page.items[0].post_id]
    assert requests.operations == ["Query", "Query", "BatchGetItem"]
    assert requests.units() == 0.5 + 0.5 + 0.5
    # a cursor from when nobody named ada leads on
    third = published(blog, eve, "third", co_authors=(ada.user_id,))
    again = blog.user(ada.user_id)
    assert again is not None
    assert third.post_id in {post.post_id for post in posts_by(blog, again, 5, page.cursor)}
    with pytest.raises(CursorError):
        posts_by(blog, again, 5, Cursor("x.y"))


def test_who_is_asked_is_named_when_they_agree(blog: Blog, ada: User, eve: User) -> None:
    ben = new_user(blog, "ben", role="author")
    post = published(blog, ada, "one")
    for nobody, error in (("nobody", ItemNotFound), (eve.user_id, Refused)):  # a reader writes nothing
        with pytest.raises(error):
            blog.ask_co_authors(post.post_id, (nobody,))
    with pytest.raises(ItemNotFound):
        blog.agree_to_be_named(post.post_id, ben.user_id)
    assert blog.ask_co_authors(post.post_id, (ben.user_id, ada.user_id)).co_authors == ()
    blog.ask_co_authors(post.post_id, ())
    assert items_of(blog, CoAuthor) == []
    blog.ask_co_authors(post.post_id, (ben.user_id,))
    asked = partial(blog.co_authored_posts, ben.user_id, ["asked"])
    assert [value.post_id for value in asked()] == [post.post_id]
    assert [list(posts_by(blog, ben, 5)), export_of(blog, ben.user_id)["asked_to_be_named_on"]] == [
        [],
        [{"title": "One"}],
    ]
    blog.set_status(ben.user_id, "suspended")
    with pytest.raises(WriteFailed):
        blog.agree_to_be_named(post.post_id, ben.user_id)
    blog.set_status(ben.user_id, "active")
    assert blog.agree_to_be_named(post.post_id, ben.user_id).co_authors == (ben.user_id,)
    assert blog.agree_to_be_named(post.post_id, ben.user_id).co_authors == (ben.user_id,)  # a second press
    assert list(asked()) == []
    check_books(blog)
    assert blog.be_named_no_more(post.post_id, ben.user_id)
    assert not blog.be_named_no_more(post.post_id, ben.user_id)
    blog.ask_co_authors(post.post_id, (ben.user_id,))
    draft = new_post(blog, ada, "two")
    blog.ask_co_authors(draft.post_id, (ben.user_id,))
    delete_post(blog, draft.post_id)
    delete_account(blog, ben.user_id, MemoryFiles(), search_of(blog))
    assert items_of(blog, CoAuthor) == []
    check_books(blog)


def test_naming_costs_what_the_table_says_and_fits_a_transaction(blog: Blog, ada: User) -> None:
    people = [new_user(blog, f"user-{number}").user_id for number in range(2 * CO_AUTHORS_MAX)]
    first, second = tuple(people[:CO_AUTHORS_MAX]), tuple(people[CO_AUTHORS_MAX:])
    draft = new_post(blog, ada, "one", tuple("abcde"), co_authors=(*first, ada.user_id, first[0])[:CO_AUTHORS_MAX])
    assert draft.co_authors == first
    requests = recorded(blog)

    def actions(call: Callable[[], object]) -> int:
        requests.made.clear()
        call()
        return max(len(given["TransactItems"]) for name, given, _ in requests.made if name == "TransactWriteItems")

    assert actions(lambda: blog.publish(draft.post_id)) == 38 + 2 * CO_AUTHORS_MAX
    assert actions(lambda: blog.name_co_authors(draft.post_id, second)) == 1 + 4 * CO_AUTHORS_MAX
    for user_id in first:
        blog.set_role(user_id, "author")
    assert actions(lambda: blog.ask_co_authors(draft.post_id, first)) == 1 + 4 * CO_AUTHORS_MAX
    assert actions(lambda: blog.name_co_authors(draft.post_id, second)) == 1 + 3 * CO_AUTHORS_MAX
    assert actions(lambda: blog.archive(draft.post_id)) == 38 + 2 * CO_AUTHORS_MAX
    blog.delete_post(draft.post_id)
    assert items_of(blog, CoAuthor) == []
    check_books(blog)
    with pytest.raises(RequestError):
        blog.name_co_authors(draft.post_id, (*people[: CO_AUTHORS_MAX + 1],))


def test_a_status_costs_four_and_five_units_for_each_co_author(blog: Blog, ada: User) -> None:
    requests = recorded(blog)
    costs: list[tuple[float, float]] = []
    for count in range(3):
        people = tuple(new_user(blog, f"user-{count}-{number}").user_id for number in range(count))
        draft = new_post(blog, ada, f"post-{count}", co_authors=people)
        requests.made.clear()
        blog.publish(draft.post_id)
        places = requests.units_by_place()
        costs.append((places.pop("table"), sum(places.values())))
    assert [(more[0] - less[0], more[1] - less[1]) for less, more in pairwise(costs)] == [(4, 5), (4, 5)]


def test_who_is_deleted_is_named_no_more(blog: Blog, ada: User, eve: User) -> None:
    post = published(blog, ada, "one", co_authors=(eve.user_id,))
    draft = new_post(blog, ada, "two", co_authors=(eve.user_id,))
    taken: list[dict[str, Any]] = export_of(blog, eve.user_id)["named_on"]
    assert {(value["title"], value["status"]) for value in taken} == {("One", "published"), ("Two", "unpublished")}
    blog.set_status(eve.user_id, "deleted")
    other = new_post(blog, ada, "three")
    for late in (other.post_id, published(blog, ada, "four").post_id):
        with pytest.raises(ItemNotFound):
            blog.name_co_authors(late, (eve.user_id,))
    delete_account(blog, eve.user_id, MemoryFiles(), search_of(blog))
    assert [value.co_authors for value in blog.posts([post.post_id, draft.post_id])] == [(), ()]
    assert items_of(blog, CoAuthor) == []
    check_books(blog)
    with pytest.raises(ItemNotFound):
        blog.name_co_authors(post.post_id, ("nobody",))


def test_an_import_names_co_authors_changes_them_and_reports_those_beyond(blog: Blog, tmp_path: Path) -> None:
    def names(*authors: str) -> list[str]:
        (tmp_path / "a.md").write_text(
            f"---\ntitle: A\ndate: 2024-01-01\nauthors: [{', '.join(authors)}]\n---\nText.\n"
        )
        report = load(blog, tmp_path, silent)
        check_books(blog)
        return [fault.message for fault in report.errors]

    assert names("Ada L", "Ben M", "Cleo N") == []
    assert names("Ada L", "Cleo N", "Dan O") == []
    (post,) = items_of(blog, Post)
    assert [user.name for user in blog.users(list(post.co_authors))] == ["Cleo N", "Dan O"]
    many = [f"Writer {number}" for number in range(CO_AUTHORS_MAX + 2)]
    (message,) = names("Ada L", *many)
    assert message == "22 co-authors: the post has the first 20, without Writer 20, Writer 21"
