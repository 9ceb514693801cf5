"""Following on the site and in the API: the button, the page of followed authors' posts, and who may know of it."""

from __future__ import annotations

import json

from keyplan.web.application import Beside
from keyplan_systems.blog.design import Blog
from keyplan_systems.blog.entities import Post, User
from keyplan_systems.blog.site.site import Site
from tests.systems.blog_site.support import Visit, make_post, make_user, text_of
from tests.systems.blog_site.test_api import Api
from tests.systems.support import recorded


def test_a_reader_follows_reads_and_stops(blog: Blog, site: Site, ada: User, post: Post, reader: Visit) -> None:
    other = make_user(blog, "otto")
    make_post(blog, other, "Bread", "Flour.")
    assert "Nothing here yet" in text_of(reader.get("/following"))
    shown = reader.get("/posts/keys-and-doors")
    assert "Follow Ada Example" in text_of(shown)
    answer = reader.send("/authors/ada/follow", "/posts/keys-and-doors", action="follow", next="/posts/keys-and-doors")
    assert (answer.status_code, answer.headers["location"]) == (303, "/posts/keys-and-doors")
    assert "You follow Ada Example" in text_of(reader.get("/posts/keys-and-doors"))
    assert "1 follower ·" in text_of(reader.get("/authors/ada"))  # counted or not, the reader knows of themselves
    assert "follower" not in text_of(Visit(reader.client.app).get("/authors/ada"))
    blog.refresh_user(ada.user_id)
    assert "1 follower ·" in text_of(Visit(reader.client.app).get("/authors/ada"))
    page = text_of(reader.get("/following"))
    assert "Keys and doors" in page
    assert "Bread" not in page
    assert "1 of at most 50 authors" in text_of(reader.get("/following/authors"))
    follows = json.loads(reader.get("/account/export").text)["follows"]
    assert [value["username"] for value in follows] == ["ada"]
    reader.send("/authors/ada/follow", "/authors/ada", action="unfollow", next="//elsewhere.example")
    assert "Nothing here yet" in text_of(reader.get("/following"))


def test_nobody_follows_by_a_foreign_form_nor_themselves(blog: Blog, ada: User, author: Visit, anybody: Visit) -> None:
    assert "/sign-in?next=/authors/ada" in anybody.get("/authors/ada").text
    assert anybody.get("/following").headers["location"] == "/sign-in?next=%2Ffollowing"
    assert "/follow" not in author.get("/authors/ada").text.replace("/following", "")
    assert author.send("/authors/ada/follow", "/account", action="follow").status_code == 409
    assert author.send("/authors/nobody/follow", "/account", action="follow").status_code == 404
    assert author.client.post("/authors/ada/follow", data={"action": "follow"}).status_code == 403
    assert blog.follows_of(ada.user_id) == []


def test_what_a_suspended_author_wrote_is_gone_and_comes_back(
    blog: Blog, ada: User, post: Post, rita: User, reader: Visit
) -> None:
    blog.follow(rita.user_id, ada.user_id)
    blog.set_status(ada.user_id, "suspended")
    assert "Keys and doors" not in text_of(reader.get("/following"))
    assert "0 of at most" in text_of(reader.get("/following/authors"))
    blog.set_status(ada.user_id, "active")
    assert "Keys and doors" in text_of(reader.get("/following"))


def test_pages_go_on_and_cost_a_query_for_each_author(blog: Blog, rita: User, reader: Visit) -> None:
    for number in range(5):
        author = make_user(blog, f"author-{number}")
        blog.follow(rita.user_id, author.user_id)
        for place in range(3):
            make_post(blog, author, f"Post {number} {place}")
    requests = recorded(blog)
    first = reader.get("/following")
    # the session, the follows, each author's newest, those who have more again, the names
    assert len(requests.operations) <= 1 + 1 + 3 * 5 + 1
    assert first.text.count("<article") == 10
    cursor = first.text.partition("/following?cursor=")[2].partition('"')[0]
    second = reader.get(f"/following?cursor={cursor}")
    assert second.text.count("<article") == 5
    assert reader.get("/following?cursor=x").status_code == 400


def test_the_api_knows_only_ones_own_follows(
    blog: Blog, site: Site, beside: Beside, ada: User, rita: User, post: Post
) -> None:
    as_rita, nobody = Api(site, beside, rita), Api(site, beside, None)
    assert nobody.read("followed_posts")[0] == 401
    assert as_rita.write("follow", author_id=ada.user_id) == (200, True)
    assert as_rita.write("follow", author_id=ada.user_id, user_id="other")[0] == 400
    assert as_rita.read("follows", author_id=ada.user_id)[1]["user_id"] == rita.user_id
    assert [value["slug"] for value in as_rita.read("followed_posts")[1]["items"]] == ["keys-and-doors"]
    assert [value["username"] for value in as_rita.read("followed_authors")[1]["items"]] == ["ada"]
    assert as_rita.read("followers_of", author_id=ada.user_id)[0] == 404
    blog.set_status(ada.user_id, "suspended")
    assert as_rita.read("followed_posts")[1]["items"] == []
    assert as_rita.read("followed_authors")[1]["items"] == []
    assert as_rita.write("unfollow", author_id=ada.user_id) == (200, True)
    assert as_rita.write("follow", author_id=ada.user_id)[0] == 404
