"""Account deletion in shop, CMS and social network: exported data, deleted and remaining items, and accounts that
can't be deleted yet.
"""

from __future__ import annotations

import json

import pytest

from keyplan import now
from keyplan.errors import ItemNotFound, Refused
from keyplan.testing.stored_world import scan
from keyplan_systems.cms.design import Cms
from keyplan_systems.cms.entities import Article
from keyplan_systems.cms.site.making import make_site as make_cms
from keyplan_systems.shop import Product, Shop, User
from keyplan_systems.shop.entities import Merchant, PostalAddress
from keyplan_systems.shop.site.making import make_site as make_shop
from keyplan_systems.social import Social
from keyplan_systems.social.site.making import make_site as make_social
from tests.systems.sites.support import OPTIONS, Visit
from tests.systems.social.support import people

HOME = PostalAddress(name="Nora Brook", street="1 Mill Lane", city="Bristol", country="GB")


def kinds(design: Shop | Cms, *texts: str) -> set[str]:
    """The kinds of items that contain one of these strings."""
    return {type(row.instance).__name__ for row in scan(design).rows if any(text in str(row.item) for text in texts)}


def test_a_customer_exports_data_and_leaves_without_open_orders() -> None:
    with Shop.open(":memory:", secret="s") as shop:
        shop.add_merchant(Merchant(merchant_id="m", name="M"))
        for name in ("tea", "cup"):
            shop.add_product(Product(product_id=name, merchant_id="m", name=name, price_cents=100, stock=9))
        nora = Visit(make_shop(shop, OPTIONS).application)
        assert nora.join("nora@example.org", "Nora Brook") == 200
        user = shop.user_by_email("nora@example.org")
        assert user is not None
        shop.set_address(user.user_id, HOME)
        placed = shop.place_order(user.user_id, "t", {"tea": 2})
        shop.put_in_cart(user.user_id, "cup", 1)

        assert nora.get("/account/export") == 200
        taken = json.loads(nora.text)
        assert (taken["profile"]["email"], taken["profile"]["address"]["city"]) == ("nora@example.org", "Bristol")
        assert ([cart["items"] for cart in taken["carts"]], len(taken["orders"])) == ([{"cup": 1}], 1)
        assert [line["product_id"] for line in taken["orders"][0]["lines"]] == ["tea"]

        nora.get("/account")
        assert nora.send("/account/delete", password="not this") == 422
        assert nora.send("/account/delete", password="long enough") == 422
        assert nora.says("an order isn't shipped yet")
        shop.cancel(placed.order_id)
        assert nora.send("/account/delete", password="long enough") == 200
        assert nora.says("1 order, in the books of the merchants")
        assert kinds(shop, "nora@example.org", "CREDENTIAL") == set()
        assert kinds(shop, user.user_id) == {"Order", "OrderToken", "Payment"}
        assert nora.get("/account") == 200
        assert nora.path == "/sign-in"
        with pytest.raises(ItemNotFound):
            shop.leave(user.user_id)
        # the address can be used again
        assert Visit(make_shop(shop, OPTIONS).application).join("nora@example.org") == 200


def test_a_member_can_leave_and_the_founder_cannot() -> None:
    with Cms.open(":memory:", secret="s") as cms:
        site = make_cms(cms, OPTIONS)
        founder, author = Visit(site.application), Visit(site.application)
        founder.join("first@example.org", "First")
        author.join("nora@example.org", "Nora Brook")
        member = cms.member_by_email("nora@example.org")
        assert member is not None
        cms.set_role(member.member_id, "author")
        article = cms.create_article(Article(author_id=member.member_id, title="Bread", slug="bread"))
        cms.save_draft(article.article_id, "Flour.", member.member_id)

        author.get("/account/export")
        taken = json.loads(author.text)
        assert taken["profile"]["email"] == "nora@example.org"
        assert [(each["title"], each["body"]) for each in taken["articles"]] == [("Bread", "Flour.")]
        author.get("/account")
        assert author.send("/account/delete", password="long enough") == 200
        assert author.says("Articles that you began")
        assert kinds(cms, "nora@example.org", "Nora Brook") == set()
        assert "Member" not in kinds(cms, member.member_id)
        assert cms.article(article.article_id) is not None
        author.get("/")
        assert author.path == "/sign-in"

        founder.get("/account")
        assert founder.send("/account/delete", password="long enough") == 422
        assert founder.says("who founded the CMS stays its administrator")


def test_a_user_leaves_with_posts_follows_and_conversations() -> None:
    with Social.open(":memory:", secret="s") as social:
        people(social, "ann", "ben", "cleo")
        nora = Visit(make_social(social, OPTIONS).application)
        nora.get("/sign-up")
        assert nora.send("/sign-up", login="nora", name="Nora Brook", password="long enough") == 200
        user = social.user_by_handle("nora")
        assert user is not None
        me = user.user_id
        social.follow(me, "ann")
        social.follow("ben", me)
        social.follow("cleo", me)
        post, hers = social.publish(me, "A loaf."), social.publish("ann", "Flour.")
        social.comment(post.post_id, "ben", "Yes.")
        social.like(post.post_id, "cleo")
        social.comment(hers.post_id, me, "Which?")
        social.like(hers.post_id, me)
        social.send_message(me, "ben", "Hello.")
        social.block(me, "cleo")
        social.see_notifications(me, now())

        nora.get("/account/export")
        taken = json.loads(nora.text)
        assert ([each["text"] for each in taken["posts"]], len(taken["followers"])) == (["A loaf."], 1)
        assert taken["conversations"][0]["messages"][0]["text"] == "Hello."
        nora.get("/account")
        assert nora.send("/account/delete", password="long enough") == 200
        assert nora.says("by somebody who has left")
        assert_whole_without(social, me)
        ann = Visit(nora.application)
        ann.get(f"/posts/{hers.post_id}")
        assert ann.says("Somebody who has left")
        assert ann.says("Which?")
        with pytest.raises(ItemNotFound):
            social.send_message("ben", me, "Are you there?")
        with pytest.raises(ItemNotFound):
            social.follow("ben", me)


def assert_whole_without(social: Social, user_id: str) -> None:
    """Of a deleted user, only messages to others remain, and all counters are exact."""
    left = {type(row.instance).__name__ for row in scan(social).rows if user_id in str(row.item)}
    # the other user's, and messages that others received
    assert left == {"Comment", "Like", "Message", "Membership", "Notification"}
    profile = social.profile("ann")
    assert profile is not None
    assert profile.followers == 0
    assert social.user_by_handle("nora") is None
    assert [user.following for name in ("ben", "cleo") if (user := social.profile(name)) is not None] == [0, 0]
    assert list(social.followers("ann")) == []


def test_a_user_with_posts_cannot_be_deleted_alone() -> None:
    with Social.open(":memory:") as social:
        people(social, "ann")
        social.publish("ann", "Flour.")
        with pytest.raises(Refused):
            social.leave("ann")


def test_a_seller_cannot_leave() -> None:
    with Shop.open(":memory:") as shop:
        shop.register(User(user_id="s", email="s@example.org", name="S", merchant_id="m"))
        with pytest.raises(Refused):
            shop.leave("s")
