"""The network's site and API: people follow, post, comment and write; and nobody reads or changes what isn't theirs."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import quote

import pytest

from keyplan.errors import Refused
from keyplan.web import app
from keyplan.web.application import Beside
from keyplan_systems.pages.application import ServedSite
from keyplan_systems.site.limits import Limit, RateLimiter
from keyplan_systems.social import Social
from keyplan_systems.social.entities import conversation_of
from keyplan_systems.social.site.making import make_site
from tests.systems.sites.support import OPTIONS, Visit
from tests.web.support import TestClient

PASSWORD = "long enough"


@pytest.fixture(scope="module")
def social() -> Iterator[Social]:
    with Social.open(":memory:", secret="s") as opened:
        yield opened


@pytest.fixture(scope="module")
def site(social: Social) -> ServedSite:
    return make_site(social, OPTIONS)


def join(site: ServedSite, handle: str) -> Visit:
    made = Visit(site.application)
    made.get("/sign-up")
    assert made.send("/sign-up", login=handle, name=handle.title(), password=PASSWORD) == 200
    return made


@pytest.fixture(scope="module")
def people(site: ServedSite) -> dict[str, Visit]:
    return {handle: join(site, handle) for handle in ("ada", "bob", "eve")}


def test_people_meet(people: dict[str, Visit]) -> None:
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
    assert ada.send(f"{post}/comments/delete") == 200  # on one's own post
    assert ada.says("No comments yet.")
    assert eve.post(f"{post}/delete", {"csrf": eve.csrf()}) == 404
    assert ada.send(f"{post}/delete") == 200
    assert eve.get(post) == 404


def test_messages_are_between_two(people: dict[str, Visit]) -> None:
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


def test_a_block_holds(people: dict[str, Visit]) -> None:
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


def test_somebody_is_found_by_their_handle(people: dict[str, Visit], site: ServedSite) -> None:
    ada = people["ada"]
    for typed in ("@Bob", " bob ", "BOB"):
        ada.get(f"/people?handle={quote(typed)}")
        assert ada.path == "/people/bob", typed
    for typed in ("nobody", "x" * 300, "a/b#c", "@"):
        assert ada.get(f"/people?handle={quote(typed)}") == 200
        assert ada.path == "/people"
        assert ada.says("Nobody here is called @") is (typed != "@")
    new = join(site, "newcomer")
    new.get("/")
    assert new.says("Find people by their handles")
    assert new.get("/messages") == 200
    assert new.says("Find somebody by their handle")


def test_profiles_are_edited(people: dict[str, Visit]) -> None:
    ada = people["ada"]
    ada.get("/settings")
    assert ada.send("/settings", name="Ada L.", bio="Counts\nthings") == 200
    assert ada.path == "/people/ada"
    assert ada.says("Ada L.")
    ada.get("/settings")
    assert ada.send("/settings", name="", bio="") == 422


def test_a_password_is_changed(people: dict[str, Visit], site: ServedSite) -> None:
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


def test_people_hear_of_each_other(site: ServedSite) -> None:
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
        "Hal has commented on your post",
        "I do",
        "Hal follows you",
        "Hal has written to you",
    ):
        assert gus.says(text)
    gus.get("/")
    assert not gus.says("3 new")
    hal.get("/notifications")
    assert hal.says("No notifications yet.")


def test_a_private_account_is_for_those_who_follow_it(social: Social, site: ServedSite) -> None:
    pia, quin, anyone = join(site, "pia"), join(site, "quin"), Visit(site.application)
    pia.get("/")
    pia.send("/posts", text="Between us")
    post = pia.path
    pia.get("/settings")
    assert pia.send("/settings", name="Pia", bio="", private="yes") == 200
    assert " checked" in (pia.get("/settings"), pia.text)[1]
    for visit in (quin, anyone):
        assert visit.get(post) == 404
        assert visit.get("/people/pia") == 200
        assert visit.says("This account is private")
        assert not visit.says("Between us")
        assert visit.get("/people/pia/followers") == 404
    token = pia.csrf()
    assert quin.post(f"{post}/like", {"csrf": token}) == 403
    quin.get("/people/pia")
    assert quin.post(f"{post}/like", {"csrf": quin.csrf()}) == 404
    quin.get("/people/pia")
    assert quin.post("/people/pia/follow", {"csrf": quin.csrf()}) == 409
    quin.get("/people/pia")
    quin.send("/people/pia/ask")
    assert quin.says("You have asked.")
    quin.send("/people/pia/withdraw")
    quin.send("/people/pia/ask")
    pia.get("/notifications")
    assert pia.says("Quin would like to follow you.")
    assert pia.send("/notifications", answer="accept") == 200
    assert quin.get(post) == 200
    quin.get("/")
    assert quin.says("Between us")
    quin.get("/notifications")
    assert quin.says("Pia lets you follow")
    pia.get("/people/pia/followers")
    assert pia.send("/people/quin/remove") == 200
    assert quin.get(post) == 404
    quin.get("/people/pia")
    quin.send("/people/pia/ask")
    pia.get("/notifications")
    assert pia.send("/notifications", answer="decline") == 200
    assert pia.says("No notifications yet.")
    pia.get("/notifications")
    assert pia.post("/notifications", {"csrf": pia.csrf(), "answer": "accept", "follower": "nobody"}) == 404


def test_the_api_hides_what_is_private(social: Social, site: ServedSite) -> None:
    served = Beside(app(social, hosts=("testserver",), policy=site.policy), site.application)
    owner, friend = social.sign_up("owner", "Owner").user_id, social.sign_up("friend", "Friend").user_id
    social.follow(friend, owner)
    social.set_private(owner, True)
    post = social.publish(owner, "hush").post_id
    social.comment(post, friend, "hush too")
    eve = join(site, "evelyn")
    bearer = {"authorization": "Bearer " + eve.client.cookies["social_session"].strip('"')}
    asked = [
        *(f"{name}?user_id={owner}" for name in ("posts_of_user", "followers", "following")),
        *(f"{name}?post_id={post}" for name in ("post_by_id", "comments_on_post", "likes_of_post")),
        f"follows?user_id={friend}&followed_id={owner}",
        f"follows?user_id={owner}&followed_id={friend}",
    ]
    client = TestClient(served)  # without its end, which closes the design
    for headers in ({}, bearer):
        for path in asked:
            answer = client.get(f"/api/{path}", headers=headers)
            assert (answer.status_code, "hush" in answer.text) == (404, False), path
    for pattern, status in (("like", 404), ("comment", 404), ("follow", 409)):
        given = {"followed_id": owner} if pattern == "follow" else {"post_id": post, "text": "x"}
        given = {name: value for name, value in given.items() if (pattern, name) != ("like", "text")}
        assert client.post(f"/api/{pattern}", json=given, headers=bearer).status_code == status
    assert client.post("/api/ask_to_follow", json={"followed_id": owner}, headers=bearer).status_code == 200
    assert client.get(f"/api/request_of?user_id={owner}", headers=bearer).status_code == 200
    name = social.user_by_handle("evelyn")
    assert name is not None
    social.accept_request(owner, name.user_id)
    for path in asked[:6]:
        assert client.get(f"/api/{path}", headers=bearer).status_code == 200, path
    for path in ("notifications", "follow_requests"):
        assert client.get(f"/api/{path}?user_id={owner}", headers=bearer).status_code == 400
        assert client.get(f"/api/{path}", headers=bearer).status_code == 200


def test_a_block_ends_reading_and_liking_in_both_directions(social: Social, site: ServedSite) -> None:
    served = Beside(app(social, hosts=("testserver",), policy=site.policy), site.application)
    visit = join(site, "reader")
    bearer = {"authorization": "Bearer " + visit.client.cookies["social_session"].strip('"')}
    user = social.user_by_handle("reader")
    assert user is not None
    reader, client = user.user_id, TestClient(served)
    for private in (True, False):
        for direction in (1, -1):
            writer = social.sign_up(f"writer{private}{direction + 1}", "Writer").user_id
            social.follow(reader, writer)
            social.set_private(writer, private)
            post = social.publish(writer, "hush").post_id
            asked = (f"posts_of_user?user_id={writer}", f"post_by_id?post_id={post}", "feed")
            assert all("hush" in client.get(f"/api/{path}", headers=bearer).text for path in asked)
            blocker, blocked = (writer, reader)[::direction]
            social.block(blocker, blocked)
            for path in asked:
                assert "hush" not in client.get(f"/api/{path}", headers=bearer).text, path
            visit.get("/")
            assert not visit.says("hush")
            assert client.post("/api/like", json={"post_id": post}, headers=bearer).status_code == 404
            with pytest.raises(Refused):
                social.like(post, reader)
            assert "like" not in {heard.kind for heard in social.notifications(writer)}


def test_writes_of_the_api_count_against_the_limit_of_the_site(
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


def test_the_api_knows_who_asks(social: Social, site: ServedSite, people: dict[str, Visit]) -> None:
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
    with TestClient(served) as client:

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
