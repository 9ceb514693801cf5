"""Access control of the REST APIs. Each caller calls each read pattern of each system, for an owner's items that
contain a marker. A table lists the callers that receive the marker. Callers without permission call each write pattern.
The tests fail for a pattern that isn't in the tables.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any, NamedTuple

import pytest

from keyplan import now
from keyplan.systems import system
from keyplan.web import app
from keyplan_systems.blog.entities import ContactMessage, Credential, Post
from keyplan_systems.blog.entities import User as BlogUser
from keyplan_systems.cms.entities import Article, Member
from keyplan_systems.papers.design import Author, Paper
from keyplan_systems.papers.design import Credential as PapersCredential
from keyplan_systems.shop.entities import Merchant, PostalAddress, Product, Reading
from keyplan_systems.shop.entities import User as Customer
from keyplan_systems.site.limits import Limit, RateLimiter
from keyplan_systems.social.entities import Credential as SocialCredential
from keyplan_systems.social.entities import conversation_of
from tests.systems.sites.support import OPTIONS
from tests.systems.support import stored
from tests.web.support import TestClient

MARK = "hush"
REFUSED = {401, 403, 404}
Case = tuple[str, dict[str, Any]]
"""The callers who see the mark (for a write: who may call it), by their letters, and the arguments."""


class World(NamedTuple):
    """A system with items of an owner, the ids of the callers by letter (``a`` is anonymous), and the test cases."""

    callers: dict[str, str | None]
    reads: dict[str, Case]
    writes: dict[str, Case]


def closed(*names: str) -> dict[str, Case]:
    """Return test cases for patterns that the API doesn't expose."""
    return dict.fromkeys(names, ("", {}))


def social(design: Any) -> World:
    """Return a network with an owner, a friend, a blocked user and a stranger."""
    owner, friend, blocked, stranger = "hush", "friend-hush", "blocked", "stranger"
    for name in (owner, friend, blocked, stranger):
        design.sign_up(name, name, user_id=name)
        design.put(SocialCredential(user_id=name, password_hash="hash"))
    post, by_friend, by_blocked = (design.publish(user, f"{MARK} {user}") for user in (owner, friend, blocked))
    for user in (friend, blocked):
        design.follow(user, owner)
        design.follow(owner, user)
        design.like(post.post_id, user)
    for heard in (by_friend, by_blocked):
        design.comment(heard.post_id, owner, MARK)
    said = design.comment(post.post_id, friend, MARK)
    design.comment(by_friend.post_id, blocked, "blocked")
    design.send_message(owner, friend, MARK)
    design.block(owner, blocked)
    talk = conversation_of(owner, friend)
    seen = "asfo"
    of_post = {"post_id": post.post_id}
    of_comment = {**of_post, "created_at": said.created_at.isoformat(), "comment_id": said.comment_id}
    return World(
        {"a": None, "s": stranger, "b": blocked, "f": friend, "o": owner},
        {
            **dict.fromkeys(("profile", "profiles"), (seen, {"user_id": owner})),
            "latest_posts": ("asbfo", {}),  # a blocked user sees what others write
            "user_by_handle": (seen, {"handle": "hush"}),
            "posts_of_user": (seen, {"user_id": owner}),
            "post_by_id": (seen, of_post),
            "comments_on_post": (seen, of_post),
            "likes_of_post": (seen, of_post),
            "followers": (seen, {"user_id": owner}),
            "following": (seen, {"user_id": owner}),
            "follows": (seen, {"user_id": friend, "followed_id": owner}),
            "feed": ("fo", {}),
            "like_of": ("f", of_post),
            "conversations": ("fo", {}),
            "membership": ("fo", {"conversation_id": talk}),
            "messages": ("fo", {"conversation_id": talk}),
            "block_of": ("o", {"blocked_id": blocked}),
            "blocks": ("o", {}),
            "notifications": ("fo", {}),
            "notifications_seen": ("", {}),
            **closed("audience", "user_tallies", "post_tallies", "undelivered", "deliveries_of", "subscription"),
            **closed("credential", "blocked_by", "blocked_of", "comment_of", "session", "sessions"),
        },
        {
            "delete_post": ("o", of_post),
            "delete_comment": ("fo", of_comment),
            "comment": (seen.replace("a", ""), {**of_post, "text": "x"}),
            "like": (seen.replace("a", ""), of_post),
            "unlike": ("sbfo", of_post),
            "follow": ("sf", {"followed_id": owner}),
            "send_message": ("sfo", {"to_user_id": owner, "text": "x"}),
            "mark_read": ("fo", {"conversation_id": talk}),
            **dict.fromkeys(("unfollow", "block", "unblock", "edit_profile"), ("sbfo", {})),
            **dict.fromkeys(("see_notifications", "remove_follower", "publish"), ("sbfo", {})),
            "end_session": ("sbfo", {}),
            **closed("sign_up", "join", "set_password", "deliver", "sweep_post", "gather", "gather_post"),
            **closed("open_session"),
        },
    )


def shop(design: Any) -> World:
    """Return a shop with a customer who has a cart, an address and orders, another customer, and two sellers."""
    for name in ("hush-shop", "other"):
        design.add_merchant(Merchant(merchant_id=name, name=name, devices=[f"{name}-device"]))
    for name, merchant in (("hush-owner", None), ("stranger", None), ("seller", "hush-shop"), ("rival", "other")):
        design.register(Customer(user_id=name, email=f"{name}@example.com", name=name, merchant_id=merchant), "hash")
    for name in ("hush-tea", "hush-pot"):
        design.add_product(
            Product(product_id=name, merchant_id="hush-shop", name=name, price_cents=100, stock=50, category="tea")
        )
    design.relate("hush-tea", "hush-pot")
    owner = "hush-owner"
    home = {"name": MARK, "street": "1", "city": "Bristol", "country": "GB"}
    design.set_address(owner, PostalAddress(**home))
    pending, paid, shipped = (design.place_order(owner, token, {"hush-tea": 2}) for token in ("t1", "t2", "t3"))
    for order in (paid, shipped):
        design.pay(order.order_id, f"pi_{order.order_id}", 200)
    design.ship(shipped.order_id)
    design.put_in_cart(owner, "hush-tea", 1)
    design.record_readings([Reading(device_id="hush-shop-device", at=now(), value=1)])
    of, everyone = {"order_id": pending.order_id}, "asmvo"
    sold, product = {"merchant_id": "hush-shop"}, {"product_id": "hush-tea"}
    own: Case = ("smvo", {})
    return World(
        {"a": None, "s": "stranger", "m": "rival", "v": "seller", "o": owner},
        {
            "user": ("vo", {}),
            "orders_of_user": ("o", {}),
            "order_details": ("vo", of),
            "order_parts": ("vo", of),
            "order": ("o", {**of, "created_at": pending.created_at.isoformat()}),
            "order_token": ("o", {"token": "t1"}),
            "cart": ("o", sold),
            "carts": ("o", {}),
            "pending_orders": ("v", sold),
            "orders_to_ship": ("v", sold),
            "orders_of_merchant": ("v", {**sold, "status": "shipped"}),
            "events_of_day": ("v", {"day": f"{now():%Y-%m-%d}"}),
            "readings": ("v", {"device_id": "hush-shop-device"}),
            **dict.fromkeys(("product", "products", "related_products"), (everyone, product)),
            "products_leading_to": (everyone, {"related_id": "hush-pot"}),
            **dict.fromkeys(("merchant", "products_of_merchant"), (everyone, sold)),
            "products_in_category": (everyone, {"category": "tea"}),
            **dict.fromkeys(("new_products", "merchants"), (everyone, {})),
            **closed("user_by_email", "order_by_payment", "unpaid_orders"),
            **closed("unpaid_refunds", "credential", "session", "sessions"),
        },
        {
            "cancel": ("vo", of),
            "ship": ("v", of),
            "restock": ("v", {**product, "quantity": 1}),
            "edit_product": ("v", {**product, "details": {"name": "x", "price_cents": 1}}),
            "set_address": ("smvo", {"address": home}),
            **dict.fromkeys(("place_order", "put_in_cart", "end_session"), own),
            **closed("pay", "release", "record_events", "record_readings", "settle_refund", "register"),
            **closed("set_password", "add_product", "relate", "add_merchant", "open_session"),
        },
    )


def cms_articles(design: Any) -> tuple[dict[str, str], dict[str, str]]:
    """Add an author who has a draft and a published article with a later draft, another author, an editor, and a
    member without a role.
    """
    for name, role in (
        ("founder", "admin"),
        ("hush", "author"),
        ("other", "author"),
        ("editor", "editor"),
        ("new", ""),
    ):
        design.join(Member(member_id=name, email=f"{name}@example.com", name=name), "hash")
        if role:
            design.set_role(name, role)
    draft = design.create_article(Article(title=f"{MARK} draft", slug="hush-draft", author_id="hush"))
    design.save_draft(draft.article_id, MARK, "hush")
    shown = design.create_article(Article(title="Shown", slug="shown", author_id="hush"))
    design.publish(shown.article_id, MARK, "hush")
    design.retag(shown.article_id, {"hush-tag"})
    design.save_draft(shown.article_id, f"{MARK} later", "hush", "Shown", f"{MARK} excerpt")
    return {"article_id": draft.article_id}, {"article_id": shown.article_id}


def cms(design: Any) -> World:
    """Return the callers and test cases of the CMS, with the callers that each pattern allows."""
    everyone = "anseo"
    of_draft, of_shown = cms_articles(design)
    made = {"articleId": "n", "title": "x", "slug": "x", "authorId": "hush"}
    return World(
        {"a": None, "n": "new", "s": "other", "e": "editor", "o": "hush"},
        {
            "article": ("eo", of_draft),
            "article_version": ("eo", {**of_draft, "version": 1}),
            "article_by_slug": ("eo", {"slug": "hush-draft"}),
            "article_with_latest": ("eo", of_shown),
            "article_versions": ("eo", of_shown),
            "article_history": ("eo", of_shown),
            "version_cards": ("eo", of_shown),
            "version_card": ("eo", {**of_draft, "version": 1}),
            "tags_of_article": ("eo", of_shown),
            "articles_by_author": ("eo", {"author_id": "hush"}),
            "articles_by_tag": ("e", {"tag": "hush-tag"}),
            "articles_by_state": ("e", {"status": "draft"}),
            "published_articles": (everyone, {}),
            "published_by_tag": (everyone, {"tag": "hush-tag"}),
            "published_by_author": (everyone, {"author_id": "hush"}),
            "members": ("e", {}),
            **closed("preview", "member", "member_by_email", "credential", "founded", "session", "sessions"),
        },
        {
            "create_article": ("eo", {"article": made}),
            "save_draft": ("eo", {**of_draft, "body": "x"}),
            "restore_version": ("eo", {**of_draft, "version": 1}),
            "share_preview": ("eo", of_draft),
            "publish": ("e", {**of_draft, "body": "x"}),
            "edit": ("e", {**of_draft, "title": "x", "slug": "x"}),
            "retag": ("e", {**of_draft, "tags": ["x"]}),
            "publish_version": ("e", {**of_draft, "version": 1}),
            "revoke_preview": ("e", {"token": "x"}),
            **dict.fromkeys(("archive", "unarchive", "delete_article", "unpublish"), ("e", of_draft)),
            "end_session": ("nseo", {}),
            **closed("join", "set_role", "set_password", "open_session"),
        },
    )


def papers(design: Any) -> World:
    """Return a catalogue with a draft and a published paper of one author that cite each other, and another author."""
    for handle in ("ada", "bob"):
        design.add_author(Author(handle=handle, name=handle.title()))
        design.put(PapersCredential(handle=handle, password_hash="hash"))
    for name, date in (("hush-draft", None), ("hush-paper", datetime(2026, 1, 1, tzinfo=UTC))):
        status = "draft" if date is None else "published"
        paper = Paper(
            paper_id=name,
            title=name,
            abstract=name,
            collection="c",
            status=status,  # type: ignore[arg-type]
            topics={"t"},
            published_at=date,
        )
        design.add_paper(paper, {"ada": "author"})
    design.refer("hush-paper", "hush-draft")
    design.refer("hush-draft", "hush-paper")
    design.new_version("hush-draft", "1.1")
    design.set_text("hush-draft", MARK)
    everyone, draft = "abo", {"paper_id": "hush-draft"}
    return World(
        {"a": None, "b": "bob", "o": "ada"},
        {
            **dict.fromkeys(("paper", "paper_with_authors", "papers", "paper_versions", "full_text"), ("o", draft)),
            "references": ("o", {"paper_id": "hush-paper"}),
            "cited_by": ("o", {"cited_id": "hush-paper"}),
            **dict.fromkeys(("papers_in_collection", "published_in_collection"), (everyone, {"collection": "c"})),
            "newest_papers": (everyone, {}),
            "papers_by_author": (everyone, {"handle": "ada"}),
            "papers_on_topic": (everyone, {"topic": "t"}),
            "author": ("", {"handle": "ada"}),
            "authors": ("", {"handle": "ada"}),
            "collections": ("", {}),
            "collection": ("", {"collection": "c"}),
            **closed("credential", "session", "sessions"),
        },
        {
            "new_version": ("o", {**draft, "version": "9"}),
            "publish": ("o", draft),
            "set_text": ("o", {**draft, "text": "x"}),
            "retopic": ("o", {**draft, "topics": ["x"]}),
            "end_session": ("bo", {}),
            **closed("add_author", "add_paper", "supersede", "edit_paper", "refer", "unrefer", "set_password"),
            **closed("open_session"),
        },
    )


def blog_posts(design: Any) -> tuple[dict[str, str], dict[str, str], dict[str, str]]:
    """Add an author with a draft and a post, another one whose post has a hidden comment, a reader and a moderator."""
    ids: dict[str, str] = {}
    for name, role in (("hush", "author"), ("reader", "reader"), ("other", "author"), ("mod", "moderator")):
        user = BlogUser(user_id=name, username=f"{name}-name", name=name, role=role)  # type: ignore[arg-type]
        ids[name] = design.register(user, Credential(user_id=name, email=f"{name}@example.com")).user_id
    draft = design.create_post(Post(user_id="hush", slug="hush-draft", title=MARK, tags=("hidden",)), MARK).post
    begun = design.create_post(Post(user_id="hush", slug="hush-post", title=MARK, tags=("hush-tag",)), MARK).post
    shown = design.publish(begun.post_id)
    theirs = design.create_post(Post(user_id="other", slug="theirs", title="theirs", tags=("t",)), "x").post
    design.publish(theirs.post_id)
    said = design.add_comment(theirs.post_id, "reader", MARK)
    design.moderate_comment(theirs.post_id, said.thread_id, said.comment_id, "hidden")
    design.add_comment(shown.post_id, "reader", MARK)
    design.view_post(shown.post_id, "reader")
    design.view_user("reader", "hush")
    sent = datetime(2026, 11, 1, tzinfo=UTC)
    design.send_message(ContactMessage(message_id="m", name="n", email="a@example.com", text=MARK, at=sent))
    design.refresh_front_page(force=True)
    comment = {"post_id": theirs.post_id, "thread_id": said.thread_id, "comment_id": said.comment_id}
    return {"post_id": draft.post_id}, {"post_id": shown.post_id}, comment


def blog(design: Any) -> World:
    """Return the callers and test cases of the blog, with the callers that each pattern allows."""
    everyone = "arsmo"
    of_draft, of_shown, comment = blog_posts(design)
    at = "2026-11-01T00:00:00Z"
    edit = {"version": 1, "title": "x", "content": "x", "slug": "x", "tags": ["x"], "excerpt": "x"}
    new = {"slug": "new", "title": "x", "user_id": "hush"}
    return World(
        {"a": None, "r": "reader", "s": "other", "m": "mod", "o": "hush"},
        {
            **dict.fromkeys(("latest_posts", "popular_posts", "published_between"), (everyone, {})),
            "post_by_slug": ("mo", {"slug": "hush-draft"}),
            "slug_of": ("mo", {"slug": "hush-draft"}),
            **dict.fromkeys(("whole_post", "post"), ("mo", of_draft)),
            "posts_of_user": ("mo", {"user_id": "hush", "status": "unpublished"}),
            "posts_by_tags": ("", {"tags": "hidden"}),
            "trending_tags": (everyone, {}),
            "tags_starting": (everyone, {"tag": "hush"}),
            **dict.fromkeys(("tag", "tags"), (everyone, {"tag": "hush-tag"})),
            "front_page": (everyone, {"replica": 0}),
            "user_by_email": ("m", {"email": "hush@example.com"}),
            "user_by_username": (everyone, {"username": "hush-name"}),
            **dict.fromkeys(("user", "users"), (everyone, {"user_id": "hush"})),
            **dict.fromkeys(("users_by_rating", "latest_users"), ("m", {"status": "active"})),
            "post_seen": ("", of_shown),
            "who_saw_post": ("", of_shown),
            "user_viewed": ("r", {"viewed_id": "hush"}),
            "contact_messages": ("m", {"month": "2026-11"}),
            "comments": ("m", {"post_id": comment["post_id"]}),
            "latest_comments": ("m", {"status": "shown"}),
            "comments_of_user": ("m", {"user_id": "reader"}),
            **closed("user_to_sign_in", "user_by_provider", "counters", "provider_user"),
            **closed("redirect", "addresses_of", "uploads_of", "comment", "viewed_by", "contents", "posts"),
            **closed("session", "sessions"),
        },
        {
            "create_post": ("o", {"post": new, "content": "x"}),
            "edit_post": ("o", {**of_draft, **edit}),
            **dict.fromkeys(("publish", "unpublish", "archive", "restore"), ("mo", of_draft)),
            **dict.fromkeys(("edit_profile", "end_session", "end_sessions"), ("rsmo", {})),
            **dict.fromkeys(("view_post", "like_post"), ("", of_draft)),
            "rate_post": ("", {**of_draft, "stars": 1}),
            "add_comment": ("", {**of_draft, "text": "x"}),
            "unlike_post": ("rsmo", {}),
            "view_user": ("rsmo", {}),
            "set_role": ("m", {"user_id": "hush", "role": "reader"}),
            "set_status": ("m", {"user_id": "hush", "status": "suspended"}),
            "handle_message": ("m", {"month": "2026-11", "at": at, "message_id": "m", "handled": True}),
            "delete_message": ("m", {"month": "2026-11", "at": at, "message_id": "m"}),
            "remove_comment": ("r", comment),
            "moderate_comment": ("m", {**comment, "status": "shown"}),
            **closed("name_co_authors", "publish_as_of"),
            **closed("delete_post", "lead", "open_session", "register", "set_password", "link_provider"),
            **closed("note_upload", "send_message", "count_view", "refresh_ranking", "refresh_tag"),
            **closed("refresh_user", "refresh_front_page"),
        },
    )


WORLDS: dict[str, tuple[str, Callable[[Any], World]]] = {
    "blog": ("blog", blog),
    "cms": ("cms", cms),
    "papers": ("papers", papers),
    "social": ("social", social),
    "shop": ("shop", shop),
}


class Served(NamedTuple):
    """A system that is open, its API, and an API client for each caller."""

    world: World
    design: Any
    site: Any
    clients: dict[str, TestClient]
    offered: set[str]


@pytest.fixture(scope="module", params=WORLDS)
def served(request: pytest.FixtureRequest) -> Iterator[Served]:
    name, made = WORLDS[request.param]
    brought = system(name)
    assert brought.site is not None
    design: Any
    with brought.design.open(":memory:", secret="s") as design:
        world = made(design)
        site = brought.site(design, OPTIONS)
        api = app(design, hosts=("testserver",), policy=site.policy)
        clients: dict[str, TestClient] = {}
        for letter, user_id in world.callers.items():
            clients[letter] = TestClient(api, raise_server_exceptions=False)
            if user_id is not None:
                token = bearer(site.application.state.site, user_id)
                clients[letter].headers["authorization"] = f"Bearer {token}"
        yield Served(world, design, site.application.state.site, clients, set(site.policy.patterns))


def bearer(site: Any, user_id: str) -> str:
    """Return a user's session token for the Authorization header."""
    sessions = site.visitors.sessions
    person = sessions.people(user_id)
    assert person is not None, user_id
    return str(sessions.open(person))


def test_each_api_read_returns_items_only_to_permitted_callers(served: Served) -> None:
    world = served.world
    assert world.reads.keys() == served.design.compiled.reads.keys()
    wrong: dict[str, tuple[str, dict[str, int]]] = {}
    for name, (wanted, given) in world.reads.items():
        seen, statuses = "", {}
        for letter, client in served.clients.items():
            params = {
                key: str(value) if not isinstance(value, datetime) else value.isoformat()
                for key, value in given.items()
            }
            answer = client.get(f"/api/{name}", params=params)
            statuses[letter] = answer.status_code
            assert answer.status_code in {200, *REFUSED}, (name, letter, answer.text)
            if answer.status_code == 200 and MARK in answer.text:
                seen += letter
        if seen != wanted or (name not in served.offered and set(statuses.values()) != {404}):
            wrong[name] = (seen, statuses)
    assert wrong == {}


def test_api_writes_reject_callers_without_permission(served: Served) -> None:
    world = served.world
    assert world.writes.keys() == served.design.compiled.writes.keys()
    before = stored(served.design)
    wrong: dict[tuple[str, str], int] = {}
    for name, (allowed, given) in world.writes.items():
        for letter in served.clients.keys() - set(allowed):
            answer = served.clients[letter].post(f"/api/{name}", json=given)
            if answer.status_code not in {*REFUSED, 409}:
                wrong[name, letter] = answer.status_code
    assert wrong == {}
    assert stored(served.design) == before


@pytest.mark.parametrize("text", ["a\0b", "a\u202eb", "\u200b"])
def test_api_writes_reject_invisible_text(served: Served, text: str) -> None:
    """Each string argument is tested separately, with a caller that has permission. Multi-line strings may contain
    bidirectional control characters.
    """
    several = {"text", "body", "content", "excerpt", "abstract"} if text == "a\u202eb" else set()
    for name, (allowed, given) in served.world.writes.items():
        for argument in [each for each in given.keys() - several if isinstance(given[each], str) and allowed]:
            answer = served.clients[allowed[-1]].post(f"/api/{name}", json={**given, argument: text})
            assert answer.status_code == 400, (name, argument, answer.text)


def test_reads_of_the_api_are_rate_limited_by_caller(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    """Authenticated callers aren't counted by IP address. Systems without accounts also limit reads."""
    limiters = served.site.limiters
    monkeypatch.setitem(limiters, "read", RateLimiter(Limit(attempts=2, seconds=60), lambda: 0.0))
    name = next(name for name, (seen, _) in served.world.reads.items() if "a" in seen)
    path, given = f"/api/{name}", served.world.reads[name][1]
    for client in served.clients.values():
        answers = [client.get(path, params=given) for _ in range(3)]
        assert [answer.status_code for answer in answers][1:] == [answers[0].status_code, 429]
        assert answers[-1].headers["retry-after"] == "30"


@pytest.mark.parametrize("served", ["cms"], indirect=True)
def test_a_later_draft_of_a_published_article_is_hidden_from_readers(served: Served) -> None:
    shown = served.world.reads["article_versions"][1]
    for letter in "ans":
        answer = served.clients[letter].get("/api/article", params=shown)
        assert answer.status_code == 200
        assert f"{MARK} excerpt" not in answer.text
