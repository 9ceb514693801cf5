"""The network's site and API: people follow, post, comment and write; and nobody reads or changes what isn't theirs."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from keyplan.web import app
from keyplan.web.beside import Beside
from keyplan_systems.pages.application import ServedSite
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
    ada.get("/people/eve")
    assert ada.send("/people/eve/block") == 200
    ada.get("/")
    ada.send("/posts", text="Another")
    post = ada.path
    eve.get(post)
    assert eve.send(f"{post}/comments", text="No") == 409
    eve.get("/people/ada")
    assert eve.send("/people/ada/follow") == 409
    eve.get("/messages/ada")
    assert eve.send("/messages/ada", text="No") == 409
    ada.get("/people/eve")
    ada.send("/people/eve/unblock")
    eve.get("/people/ada")
    assert eve.send("/people/ada/follow") == 200


def test_profiles_are_edited(people: dict[str, Visit]) -> None:
    ada = people["ada"]
    ada.get("/settings")
    assert ada.send("/settings", name="Ada L.", bio="Counts\nthings") == 200
    assert ada.path == "/people/ada"
    assert ada.says("Ada L.")
    ada.get("/settings")
    assert ada.send("/settings", name="", bio="") == 422


def test_the_api_knows_who_asks(social: Social, site: ServedSite, people: dict[str, Visit]) -> None:
    served = Beside(app(social, hosts=("testserver",), policy=site.policy), site.application)
    ids = {user.handle: user.user_id for name in people if (user := social.user_by_handle(name))}
    post = social.publish(ids["ada"], "hello")
    said = social.comment(post.post_id, ids["bob"], "hm")
    social.send_message(ids["ada"], ids["bob"], "hush")
    name = conversation_of(ids["ada"], ids["bob"])
    headers = {
        who: {"authorization": "Bearer " + visit.client.cookies["keyplan_session"].strip('"')}
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
