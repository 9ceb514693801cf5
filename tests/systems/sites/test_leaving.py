"""Leaving the shop and the CMS: what people take along, what goes, what stays, and who can't leave yet."""

from __future__ import annotations

import json

import pytest

from keyplan.errors import ItemNotFound, Refused
from keyplan.testing.world import scan
from keyplan_systems.cms.design import Cms
from keyplan_systems.cms.entities import Article
from keyplan_systems.cms.site.making import make_site as make_cms
from keyplan_systems.shop import Product, Shop, User
from keyplan_systems.shop.entities import Merchant, PostalAddress
from keyplan_systems.shop.site.making import make_site as make_shop
from tests.systems.sites.support import OPTIONS, Visit

HOME = PostalAddress(name="Nora Brook", street="1 Mill Lane", city="Bristol", country="GB")


def kinds(design: Shop | Cms, *texts: str) -> set[str]:
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
        shop.save_address(user.user_id, "home", HOME)
        placed = shop.place_order(user.user_id, "t", {"tea": 2}, "home")
        shop.put_in_cart(user.user_id, "cup", 1)

        assert nora.get("/account/export") == 200
        taken = json.loads(nora.text)
        assert (taken["profile"]["email"], taken["addresses"][0]["postal"]["city"]) == ("nora@example.org", "Bristol")
        assert ([cart["items"] for cart in taken["carts"]], len(taken["orders"])) == ([{"cup": 1}], 1)
        assert [line["product_id"] for line in taken["orders"][0]["lines"]] == ["tea"]

        nora.get("/account")
        assert nora.send("/account/delete", password="not this") == 422
        assert nora.send("/account/delete", password="long enough") == 422
        assert nora.says("an order isn't shipped yet")
        shop.cancel(placed.order_id)
        assert nora.send("/account/delete", password="long enough") == 200
        assert nora.says("1 order, in the books of those who sold")
        assert kinds(shop, "nora@example.org", "CREDENTIAL") == set()
        assert kinds(shop, user.user_id) == {"Order", "OrderToken", "Payment"}
        assert nora.get("/account") == 200
        assert nora.path == "/sign-in"
        with pytest.raises(ItemNotFound):
            shop.leave(user.user_id)
        assert Visit(make_shop(shop, OPTIONS).application).join("nora@example.org") == 200  # the address is free


def test_a_member_leaves_and_the_founder_stays() -> None:
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


def test_a_seller_stays() -> None:
    with Shop.open(":memory:") as shop:
        shop.register(User(user_id="s", email="s@example.org", name="S", merchant_id="m"))
        with pytest.raises(Refused):
            shop.leave("s")
