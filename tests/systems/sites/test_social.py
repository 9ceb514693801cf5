"""The site and API of the social network: users follow, post, comment and send messages, and can't read private data of
others.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from urllib.parse import quote

import pytest

from keyplan import now
from keyplan.errors import Refused
from keyplan.web import app
from keyplan.web.application import Beside
from keyplan_systems.pages.application import ServedSite
from keyplan_systems.site.limits import Limit, RateLimiter
from keyplan_systems.social import Social
from keyplan_systems.social.bulk import add_posts
from keyplan_systems.social.entities import Credential, Post, conversation_of
from keyplan_systems.social.site.making import make_site
from tests.systems.sites.support import OPTIONS, Visit
from tests.systems.support import recorded
from tests.web.support import TestClient

PASSWORD = "long enough"


@pytest.fixture
def social() -> Iterator[Social]:
    with Social.open(":memory:", secret="s") as opened:
        yield opened


@pytest.fixture
def site(social: Social) -> ServedSite:
    return make_site(social, OPTIONS)


def join(site: ServedSite, handle: str) -> Visit:
    made = Visit(site.application)
    made.get("/sign-up")
    assert made.send("/sign-up", login=handle, name=handle.title(), password=PASSWORD) == 200
    return made


@pytest.fixture
def people(site: ServedSite) -> dict[str, Visit]:
    return {handle: join(site, handle) for handle in ("ada", "bob", "eve")}


def test_users_can_join_follow_others_and_publish_posts(people: dict[str, Visit]) -> None:
    ada, bob, eve = people.values()
    bob.get("/people/ada")
    assert bob.send("/people/ada/follow") == 200
    assert bob.says("1 follower")
    ada.get("/")
    assert ada.send("/posts", text="A first post\nin two lines <b>") == 200
    post = ada.path
    bob.get("/")
    assert bob.says("A first post in two lines <b>")
    bob.get(post)
    bob.send(f"{post}/like")
    assert bob.says("1 like")
    bob.send(f"{post}/unlike")
    assert bob.says("0 likes")
    assert bob.send(f"{post}/comments", text="Well said") == 200
    eve.get(post)
    assert eve.says("Well said")
    assert "comments/delete" not in eve.text
    ada.get(post)
    assert ada.send(f"{post}/comments/delete") == 200  # on the user's own post
    assert ada.says("No comments yet.")
    assert eve.post(f"{post}/delete", {"csrf": eve.csrf()}) == 404
    assert ada.send(f"{post}/delete") == 200
    assert eve.get(post) == 404


def test_messages_are_visible_only_to_their_sender_and_recipient(people: dict[str, Visit]) -> None:
    ada, bob, eve = people.values()
    ada.get("/messages/bob")
    assert ada.send("/messages/bob", text="For you alone") == 200
    bob.get("/messages")
    assert bob.says("1 new")
    bob.get("/messages/ada")
    assert bob.says("For you alone")
    bob.get("/messages")
    assert not bob.says("1 new")
    for path in ("/messages", "/messages/ada", "/messages/bob"):
        eve.get(path)
        assert not eve.says("For you alone")


def test_a_blocked_user_cannot_read_or_contact_the_user_who_blocked_them(people: dict[str, Visit]) -> None:
    ada, _, eve = people.values()
    eve.get("/people/ada")
    assert eve.send("/people/ada/follow") == 200
    ada.get("/")
    ada.send("/posts", text="Another")
    post = ada.path
    assert eve.get(post) == 200
    ada.get("/people/eve")
    assert ada.send("/people/eve/block") == 200
    assert eve.get(post) == 404
    assert eve.post(f"{post}/comments", {"csrf": eve.csrf(), "text": "No"}) == 404
    assert eve.post(f"{post}/like", {"csrf": eve.csrf()}) == 404
    eve.get("/")
    assert not eve.says("Another")
    for path in ("/people/ada", "/messages/ada", "/people/ada/followers"):
        assert eve.get(path) == 404
    assert eve.post("/people/ada/follow", {"csrf": eve.csrf()}) == 404
    assert eve.post("/messages/ada", {"csrf": eve.csrf(), "text": "No"}) == 404
    assert eve.get("/people?handle=ada") == 200
    assert eve.path == "/people"
    ada.get("/people/eve")
    ada.send("/people/eve/unblock")
    eve.get("/people/ada")
    assert eve.send("/people/ada/follow") == 200


def test_users_are_found_by_handle(people: dict[str, Visit], site: ServedSite) -> None:
    ada = people["ada"]
    for typed in ("@Bob", " bob ", "BOB"):
        ada.get(f"/people?handle={quote(typed)}")
        assert ada.path == "/people/bob", typed
    for typed in ("nobody", "x" * 300, "a/b#c", "@"):
        assert ada.get(f"/people?handle={quote(typed)}") == 200
        assert ada.path == "/people"
        assert ada.says("No user has the handle @") is (typed != "@")
    new = join(site, "newcomer")
    new.get("/")
    assert new.says("Find people to follow by their handles")
    assert new.get("/messages") == 200
    assert new.says("Find people by their handles")


def test_users_can_edit_their_profiles(people: dict[str, Visit]) -> None:
    ada = people["ada"]
    ada.get("/settings")
    assert ada.send("/settings", name="Ada L.", bio="Counts\nthings") == 200
    assert ada.path == "/people/ada"
    assert ada.says("Ada L.")
    ada.get("/settings")
    assert ada.send("/settings", name="", bio="") == 422


def test_a_user_changes_their_password(people: dict[str, Visit], site: ServedSite) -> None:
    bob, other = people["bob"], Visit(site.application)
    other.sign_in("bob", PASSWORD)
    bob.get("/password")
    assert bob.send("/password", old="wrong one, this", new="another long one") == 422
    assert bob.says("the password is wrong")
    assert bob.send("/password", old=PASSWORD, new="another long one") == 200
    assert bob.says("Your password is changed.")
    assert bob.get("/settings") == 200
    other.get("/settings")
    assert other.path == "/sign-in"


def test_the_operator_can_close_an_account(social: Social, site: ServedSite) -> None:
    zed = join(site, "zed")
    user = social.user_by_handle("zed")
    assert user is not None
    social.delete(Credential, user_id=user.user_id)
    for session in social.sessions(user.user_id):
        social.end_session(user.user_id, session.session_id)
    assert (zed.get("/settings"), zed.path) == (200, "/sign-in")
    assert zed.send("/sign-in", login="zed", password=PASSWORD) == 422


def test_users_receive_notifications(site: ServedSite) -> None:
    gus, hal = join(site, "gus"), join(site, "hal")
    gus.get("/")
    gus.send("/posts", text="Listen")
    post = gus.path
    hal.get("/people/gus")
    hal.send("/people/gus/follow")
    hal.get(post)
    hal.send(f"{post}/like")
    hal.send(f"{post}/comments", text="I do")
    hal.get("/messages/gus")
    hal.send("/messages/gus", text="For you")
    gus.get("/")
    assert gus.says("Notifications 3 new")
    gus.get("/notifications")
    for text in (
        "Hal likes your post",
        "Hal commented on your post",
        "I do",
        "Hal follows you",
        "Hal sent you a message",
    ):
        assert gus.says(text)
    gus.get("/")
    assert not gus.says("3 new")
    hal.get("/notifications")
    assert hal.says("No notifications yet.")


def test_a_block_prevents_reading_and_liking_in_both_directions(social: Social, site: ServedSite) -> None:
    served = Beside(app(social, hosts=("testserver",), policy=site.policy), site.application)
    visit = join(site, "reader")
    bearer = {"authorization": "Bearer " + visit.client.cookies["social_session"].strip('"')}
    user = social.user_by_handle("reader")
    assert user is not None
    reader, client = user.user_id, TestClient(served)
    for direction in (1, -1):
        writer = social.sign_up(f"writer{direction + 1}", "Writer").user_id
        social.follow(reader, writer)
        social.send_message(writer, reader, "hush")
        post = social.publish(writer, "hush").post_id
        talk = f"messages?conversation_id={conversation_of(reader, writer)}"
        asked = [f"posts_of_user?user_id={writer}", f"post_by_id?post_id={post}", "feed", "latest_posts", talk]
        asked += ["conversations", talk.replace("messages", "membership")]
        assert all("hush" in client.get(f"/api/{path}", headers=bearer).text for path in asked)
        visit.get("/")
        blocker, blocked = (writer, reader)[::direction]
        social.block(blocker, blocked)
        for path in asked:
            assert "hush" not in client.get(f"/api/{path}", headers=bearer).text, path
        for path in ("/", "/everyone", "/messages", f"/messages/writer{direction + 1}"):
            visit.get(path)
            assert not visit.says("hush"), path
        assert client.post("/api/like", json={"post_id": post}, headers=bearer).status_code == 404
        with pytest.raises(Refused):
            social.like(post, reader)
        assert "like" not in {heard.kind for heard in social.notifications(writer)}


def test_the_public_timeline_shows_the_posts_of_all_users(social: Social, site: ServedSite) -> None:
    author = social.sign_up("gardener", "The Gardener", "Beans.").user_id
    for name in ("ada", "bob"):
        social.follow(social.sign_up(name, name.title()).user_id, author)
    post = social.publish(author, "First frost").post_id
    anyone = Visit(site.application)
    anyone.get("/")
    assert anyone.says("First frost")
    assert f"/posts/{post}/likes" in anyone.text
    assert anyone.says("People to follow")
    assert anyone.says("@gardener · 2 followers")


def test_pages_list_the_posts_of_a_day_and_the_likes_of_a_post(social: Social, site: ServedSite) -> None:
    moment = now() - timedelta(days=40)
    author = social.sign_up("diarist", "Diarist").user_id
    add_posts(social, [Post(user_id=author, text=f"day {at}", created_at=moment - timedelta(days=at)) for at in (0, 1)])
    anyone = Visit(site.application)
    anyone.get(f"/people/diarist?day={moment:%Y-%m-%d}")
    assert (anyone.says("day 0"), anyone.says("day 1")) == (True, False)
    anyone.get("/people/diarist?day=2001-01-01")
    assert anyone.says("No posts on this day.")
    assert anyone.get("/people/diarist?day=yesterday") == 400
    post = social.posts_of_user(author).items[0].post_id
    social.like(post, social.sign_up("fan", "A Fan").user_id)
    anyone.get(f"/posts/{post}/likes")
    assert anyone.says("A Fan @fan")


def test_the_feed_page_of_a_user_is_cached(social: Social, site: ServedSite) -> None:
    reader = join(site, "again")
    user = social.user_by_handle("again")
    assert user is not None
    writers = [social.sign_up(f"busy{number}", "Busy").user_id for number in range(30)]
    for writer in writers:
        social.follow(user.user_id, writer)
        social.publish(writer, "busy")

    def asked() -> int:
        recorder = recorded(social)
        assert reader.get("/") == 200
        social.store.transport = recorder.inner
        return sum("#post" in str(parameters) for operation, parameters, _ in recorder.made if operation == "Query")

    reader.get("/people/busy0")
    reader.send("/people/busy0/unfollow")  # clear the cache
    assert asked() >= 29
    assert asked() == asked() == 0
    reader.send("/posts", text="mine")
    assert asked() >= 29


def test_api_writes_share_the_rate_limits_of_the_site(
    social: Social, site: ServedSite, people: dict[str, Visit], monkeypatch: pytest.MonkeyPatch
) -> None:
    limiters = site.application.state.site.limiters
    monkeypatch.setitem(limiters, "write", RateLimiter(Limit(attempts=3, seconds=600), lambda: 0.0))
    client = TestClient(Beside(app(social, hosts=("testserver",), policy=site.policy), site.application))
    ada, bob = (
        {"authorization": "Bearer " + people[handle].client.cookies["social_session"].strip('"')}
        for handle in ("ada", "bob")
    )
    answers = [client.post("/api/publish", json={"text": "x"}, headers=ada) for _ in range(4)]
    assert [answer.status_code for answer in answers] == [200, 200, 200, 429]
    assert answers[-1].headers["retry-after"] == "200"
    assert client.get("/api/feed", headers=ada).status_code == 200
    assert client.post("/api/publish", json={"text": "x"}, headers=bob).status_code == 200


def test_the_social_api_authenticates_callers(social: Social, site: ServedSite, people: dict[str, Visit]) -> None:
    served = Beside(app(social, hosts=("testserver",), policy=site.policy), site.application)
    ids = {user.handle: user.user_id for name in people if (user := social.user_by_handle(name))}
    post = social.publish(ids["ada"], "hello")
    said = social.comment(post.post_id, ids["bob"], "hm")
    social.send_message(ids["ada"], ids["bob"], "hush")
    name = conversation_of(ids["ada"], ids["bob"])
    headers = {
        who: {"authorization": "Bearer " + visit.client.cookies["social_session"].strip('"')}
        for who, visit in people.items()
    }
    client = TestClient(served)

    def get(path: str, who: str | None = None) -> int:
        return int(client.get(f"/api/{path}", headers=headers[who] if who else {}).status_code)

    def post_as(who: str, pattern: str, **given: str) -> int:
        return int(client.post(f"/api/{pattern}", json=given, headers=headers[who]).status_code)

    assert get(f"post_by_id?post_id={post.post_id}") == 200
    for pattern in ("credential", "sign_up", "join", "sweep_post", "deliver", "audience", "gather", "undelivered"):
        assert get(pattern) == 404
    assert get(f"messages?conversation_id={name}") == 401
    assert get(f"messages?conversation_id={name}", "eve") == 404
    assert get(f"messages?conversation_id={name}", "bob") == 200
    for own in ("feed", "conversations", "blocks"):
        assert get(own, "eve") == 200
        assert get(f"{own}?user_id={ids['ada']}", "eve") == 400
    assert post_as("eve", "send_message", user_id=ids["ada"], to_user_id=ids["bob"], text="forged") == 400
    assert post_as("eve", "delete_post", post_id=post.post_id) == 404
    at = said.created_at.isoformat()
    for who, status in (("eve", 404), ("bob", 204), ("bob", 404)):
        given = {"post_id": post.post_id, "created_at": at, "comment_id": said.comment_id}
        assert post_as(who, "delete_comment", **given) == status
    assert post_as("ada", "delete_post", post_id=post.post_id) == 204
