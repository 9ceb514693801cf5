"""Account deletion in the shop and the network: exported data, what is deleted, what stays, who must stay."""

from __future__ import annotations

import json

import pytest

from keyplan import now
from keyplan.errors import ItemNotFound, Refused
from keyplan.testing.stored_world import scan
from keyplan_systems.shop import Product, Shop, User
from keyplan_systems.shop.entities import Merchant, PostalAddress
from keyplan_systems.shop.site.making import make_site as make_shop
from keyplan_systems.social import Social
from keyplan_systems.social.site.making import make_site as make_social
from tests.systems.sites.support import OPTIONS, Visit
from tests.systems.social.support import people

HOME = PostalAddress(name="Nora Brook", street="1 Mill Lane", city="Bristol", country="GB")


def kinds(design: Shop, *texts: str) -> set[str]:
    """The kinds of items that hold one of these texts."""
    return {type(row.instance).__name__ for row in scan(design).rows if any(text in str(row.item) for text in texts)}


def test_a_customer_takes_their_data_along_and_leaves_when_nothing_is_on_its_way() -> None:
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
        assert Visit(make_shop(shop, OPTIONS).application).join("nora@example.org") == 200  # the address is free


def test_a_member_of_the_network_leaves_with_posts_follows_and_their_side_of_conversations() -> None:
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
    """What stays of a user who has left is what they said to others, and all counters still count."""
    left = {type(row.instance).__name__ for row in scan(social).rows if user_id in str(row.item)}
    assert left == {"Comment", "Like", "Message", "Membership", "Notification"}  # the other's, and what others heard
    profile = social.profile("ann")
    assert profile is not None
    assert profile.followers == 0
    assert social.user_by_handle("nora") is None
    assert [user.following for name in ("ben", "cleo") if (user := social.profile(name)) is not None] == [0, 0]
    assert list(social.followers("ann")) == []


def test_a_user_with_posts_is_not_deleted_alone() -> None:
    with Social.open(":memory:") as social:
        people(social, "ann")
        social.publish("ann", "Flour.")
        with pytest.raises(Refused):
            social.leave("ann")


def test_a_seller_stays() -> None:
    with Shop.open(":memory:") as shop:
        shop.register(User(user_id="s", email="s@example.org", name="S", merchant_id="m"))
        with pytest.raises(Refused):
            shop.leave("s")
