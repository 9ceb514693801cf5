"""The shop's site: customers browse, order and pay; merchants ship orders, edit products and read device data."""

from __future__ import annotations

import contextlib
import io
import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from threading import Barrier

import pytest
from PIL import Image

from keyplan import now
from keyplan.errors import RequestError
from keyplan.web import app
from keyplan.web.application import Beside
from keyplan_systems.pages.application import ServedSite
from keyplan_systems.shop import Shop
from keyplan_systems.shop.entities import HELD, Merchant, Product, cents_of
from keyplan_systems.shop.keeping import release_unpaid
from keyplan_systems.shop.payments import OfflineProvider
from keyplan_systems.shop.sample import DEMO_PASSWORD, DEMO_USERS, sample
from keyplan_systems.shop.searching import found_products, keep_found, rebuild, search_of
from keyplan_systems.shop.site.making import make_site
from tests.systems.mailbox import Box
from tests.systems.shop.support import assert_consistent, edit
from tests.systems.sites.support import OPTIONS, Visit
from tests.systems.support import silent
from tests.web.support import TestClient

CUSTOMER, MERCHANT = (email for email, _ in DEMO_USERS)


@pytest.fixture(scope="module")
def shop() -> Iterator[Shop]:
    with Shop.open(":memory:", secret="s") as opened:
        sample(opened, 40, silent)
        yield opened


@pytest.fixture(scope="module")
def site(shop: Shop) -> ServedSite:
    return make_site(shop, OPTIONS)


def visit(site: ServedSite, login: str | None = None) -> Visit:
    made = Visit(site.application)
    if login is not None:
        made.sign_in(login, DEMO_PASSWORD)
    return made


def order(customer: Visit, quantity: int = 2) -> str:
    """Order green tea, and return the URL of the order."""
    customer.get("/products/green-tea")
    assert customer.send("/cart", quantity=str(quantity)) == 200
    assert customer.send("/checkout") == 200
    assert customer.says("Order placed.")
    return customer.path


HOME = {"name": "Ann", "street": "1 Mill Lane", "city": "Bristol", "country": "gb"}


def test_a_new_customer_can_enter_an_address_and_order(shop: Shop, site: ServedSite) -> None:
    somebody = visit(site)
    assert somebody.join("moving@example.org") == 200
    for path, said in (
        ("/cart", "Your cart is empty. Browse new products"),
        ("/orders", "No orders yet. Browse new products"),
        ("/search?q=unheard-of", "No products match all of these words. Browse new products"),
    ):
        somebody.get(path)
        assert somebody.says(said)
    somebody.get("/products/green-tea")
    somebody.send("/cart", quantity="2")
    assert somebody.send("/checkout") == 422
    somebody.get("/address")
    assert somebody.send("/address", **{**HOME, "country": "Germany"}) == 422
    assert somebody.send("/address", **HOME) == 200
    assert (somebody.path, somebody.says("To Ann, 1 Mill Lane, Bristol, GB")) == ("/cart", True)
    removing = next(form for form in re.findall(r"<form.*?</form>", somebody.text) if "Remove" in form)
    fields = dict(re.findall(r'name="([^"]+)" value="([^"]+)"', removing))
    assert somebody.post("/cart", fields) == 200
    assert somebody.says("Your cart is empty.")


def test_the_cart_page_shows_why_the_cart_cannot_be_ordered(shop: Shop, site: ServedSite) -> None:
    somebody = visit(site)
    assert somebody.join("late@example.org") == 200
    somebody.get("/address")
    somebody.send("/address", **HOME)
    product = shop.product("smoked-tea")
    assert product is not None
    shop.update(product, stock=40)
    somebody.get("/products/smoked-tea")
    assert somebody.send("/cart", quantity="41") == 409
    assert somebody.says("Only 40 of Smoked Tea are in stock")
    somebody.get("/products/smoked-tea")
    somebody.send("/cart", quantity="40")
    product = shop.product("smoked-tea")
    assert product is not None
    shop.update(product, stock=2)
    assert (somebody.send("/checkout"), somebody.path) == (409, "/checkout")
    assert somebody.says("Smoked Tea: 40 ordered, 2 in stock")
    somebody.send("/cart", quantity="1")
    edit(shop, "smoked-tea", price_cents=product.price_cents + 100)
    assert somebody.send("/checkout") == 409
    assert somebody.says("a price has changed since the cart was shown")
    edit(shop, "smoked-tea", price_cents=product.price_cents, listed=False)
    assert somebody.send("/checkout") == 409
    assert somebody.says("Smoked Tea is no longer available")
    edit(shop, "smoked-tea", listed=True)
    somebody.get("/cart")
    old = dict(re.findall(r'name="(csrf|merchant|total)"[^>]* value="([^"]*)"', somebody.text))
    assert somebody.send("/checkout") == 200
    placed = somebody.path
    assert somebody.post("/checkout", {**old, "token": "another click"}) == 409
    assert somebody.says("Your cart has changed No order was placed.")
    somebody.get(placed)
    cancel = {"csrf": somebody.csrf()}
    for _ in range(2):  # a second click changes nothing
        assert somebody.post(f"{placed}/cancel", cancel) == 200
    somebody.get("/search?q=")
    assert somebody.says("Enter one or more words.")


def test_the_page_of_an_unpaid_order_shows_when_it_expires(shop: Shop, site: ServedSite) -> None:
    customer = visit(site, CUSTOMER)
    placed = order(customer, 1)
    made = shop.order_details(placed.rpartition("/")[2])
    assert made is not None
    until = (made.order.created_at + HELD).strftime("%H:%M UTC")
    assert customer.says("Items are reserved for you until")
    assert until in customer.text
    assert customer.send(f"{placed}/cancel") == 200


def test_an_order_can_be_placed_paid_and_shipped(shop: Shop, site: ServedSite) -> None:
    customer, merchant = visit(site, CUSTOMER), visit(site, MERCHANT)
    for path in ("/", "/merchants/lumen", "/categories/tea", "/products/green-tea"):
        assert customer.get(path) == 200
        assert '<img src="/static/shop-' in customer.text, path
    placed = order(customer)
    assert customer.send(f"{placed}/pay", card=OfflineProvider.DECLINED) == 422
    assert customer.says("The card was declined.")
    assert customer.send(f"{placed}/pay", card=OfflineProvider.CARD) == 200
    assert customer.says("Your order is paid")
    order_id = placed.rpartition("/")[2]
    merchant.get("/selling")
    assert f"/selling/{order_id}" in merchant.text
    merchant.get(f"/selling/{order_id}")
    assert merchant.send(f"/selling/{order_id}/ship", tracking="KP 7") == 200
    merchant.get("/selling")
    assert f"/selling/{order_id}" not in merchant.text
    merchant.get("/selling/events")
    assert merchant.text.count(f"/selling/{order_id}") == 3  # placed, paid, shipped
    customer.get(placed)
    assert customer.says("Tracking number KP 7")
    assert_consistent(shop)


def test_merchants_see_device_readings_and_order_events_of_a_day(shop: Shop, site: ServedSite) -> None:
    merchant = visit(site, MERCHANT)
    merchant.get(f"/selling/devices?device=cold-store&day={now() - timedelta(days=1):%Y-%m-%d}")
    assert merchant.says("readings")
    assert merchant.says("cold-store tea-room")
    merchant.get("/selling/devices?day=2001-01-01")
    assert merchant.says("No readings on this day.")
    assert merchant.get("/selling/devices?device=forge") == 404  # another merchant's
    assert merchant.get("/selling/events?day=never") == 400
    merchant.get("/selling/events?day=2001-01-01")
    assert merchant.says("No events of your orders.")


def png(color: str) -> bytes:
    buffer = io.BytesIO()
    Image.new("RGB", (8, 8), color).save(buffer, "PNG")
    return buffer.getvalue()


def test_a_merchant_adds_and_edits_a_product_with_a_picture(shop: Shop, site: ServedSite) -> None:
    merchant, anyone = visit(site, MERCHANT), visit(site)
    merchant.get("/selling/goods/new")
    assert merchant.send("/selling/goods/new", name="Tea Cosy", price="a lot") == 422
    token = {"x-csrf-token": merchant.csrf()}
    assert merchant.client.post("/selling/pictures", content=b"no picture", headers=token).status_code == 422
    assert anyone.client.post("/selling/pictures", content=png("red")).status_code == 403
    picture = merchant.client.post("/selling/pictures", content=png("red"), headers=token).json()["url"]
    assert merchant.send("/selling/goods/new", name="Tea Cosy", price="14.50", picture=picture, more="3") == 200
    assert merchant.path == "/products/tea-cosy"
    anyone.get("/search?q=cosy")
    assert f'<img src="{picture}"' in anyone.text
    assert anyone.client.get(picture).headers["content-type"] == "image/png"
    merchant.get("/selling/goods/tea-cosy")
    address = "https://pictures.example/cosy.jpg"
    assert merchant.send("/selling/goods/tea-cosy", price="15", picture=address, more="2") == 200
    product = shop.product("tea-cosy")
    assert product is not None
    assert (product.price_cents, product.stock, product.picture) == (1500, 5, address)
    merchant.get("/selling/goods/new")
    assert merchant.send("/selling/goods/new", name="Tea Cosy", price="9") == 200
    assert merchant.path == "/products/tea-cosy-2"
    merchant.get("/selling/goods/tea-cosy-2")
    merchant.post("/selling/goods/tea-cosy-2", {"csrf": merchant.csrf(), "name": "Tea Cosy", "price": "9", "more": "0"})
    anyone.get("/products/tea-cosy-2")
    assert anyone.says("No longer available.")


def test_a_cancelled_order_is_refunded(shop: Shop, site: ServedSite) -> None:
    customer = visit(site, CUSTOMER)
    placed = order(customer, 1)
    customer.send(f"{placed}/pay", card=OfflineProvider.CARD)
    assert customer.send(f"{placed}/cancel") == 200
    assert customer.says("Cancelled")
    assert_consistent(shop)


class Late(OfflineProvider):
    """A payment provider that responds only after the stock reservation has expired."""

    def __init__(self, shop: Shop) -> None:
        self.shop = shop
        self.given_back: list[str] = []

    def take(self, order_id: str, amount_cents: int, card: str):  # type: ignore[no-untyped-def]
        header = self.shop.order_details(order_id)
        assert header is not None
        release_unpaid(self.shop, moment=header.order.created_at + 2 * HELD)
        return super().take(order_id, amount_cents, card)

    def give_back(self, key: str, payment_id: str, amount_cents: int):  # type: ignore[no-untyped-def]
        self.given_back.append(key)
        return super().give_back(key, payment_id, amount_cents)


def test_a_payment_of_a_released_order_is_refunded(shop: Shop) -> None:
    provider = Late(shop)
    customer = visit(make_site(shop, OPTIONS, provider), CUSTOMER)
    placed = order(customer, 1)
    assert customer.send(f"{placed}/pay", card=OfflineProvider.CARD) == 409
    assert customer.says("The order was cancelled")
    assert provider.given_back == [f"{placed.rpartition('/')[2]}/late"]


def test_private_pages_are_accessible_only_to_permitted_users(site: ServedSite) -> None:
    anyone, customer = visit(site), visit(site, CUSTOMER)
    for path in ("/cart", "/orders", "/selling"):
        anyone.get(path)
        assert anyone.path == "/sign-in"
    for path in ("/selling", "/selling/goods", "/orders/o-000001", "/selling/o-000001", "/products/none", "/nothing"):
        assert customer.get(path) == 404
    merchant = visit(site, MERCHANT)
    assert merchant.get("/selling/o-000002") == 404  # another merchant's
    merchant.get("/selling/goods/new")
    token = merchant.csrf()
    assert merchant.post("/selling/goods/brass-lamp", {"csrf": token, "price": "0.01"}) == 404
    assert merchant.get("/selling/goods/brass-lamp") == 404


def test_cross_site_forms_are_rejected(site: ServedSite) -> None:
    customer = visit(site, CUSTOMER)
    customer.get("/products/green-tea")
    fields = {"product": "green-tea", "quantity": "1"}
    assert customer.post("/cart", fields) == 403
    customer.get("/products/green-tea")
    fields["csrf"] = customer.csrf()
    assert customer.post("/cart", fields, {"origin": "https://evil.example"}) == 403
    assert customer.post("/cart", fields, {"sec-fetch-site": "cross-site"}) == 403
    assert customer.post("/cart", fields) == 200


def test_a_user_joins_and_signs_out(site: ServedSite) -> None:
    somebody = visit(site)
    somebody.get("/sign-up")
    assert somebody.send("/sign-up", login="nobody", name="N") == 422
    assert somebody.says("invalid email address")
    assert somebody.join("new@example.com") == 200
    assert somebody.get("/orders") == 200
    somebody.send("/sign-out")
    somebody.get("/orders")
    assert somebody.path == "/sign-in"
    assert somebody.send("/sign-in", login="new@example.com", password="wrong password") == 422


def test_joining_does_not_reveal_registered_email_addresses(site: ServedSite) -> None:
    somebody, box = visit(site), Box()
    site.application.state.site.joining.mail = box
    pages: set[str] = set()
    for login in (CUSTOMER, "unknown@example.com"):
        somebody.get("/sign-up")
        assert somebody.send("/sign-up", login=login, name="N") == 200
        pages.add(somebody.text.replace(login, ""))
    assert len(pages) == 1
    reminder, invitation = box.letters
    assert "token=" not in reminder.text
    token = invitation.token
    assert somebody.get(invitation.link) == 200
    fields = {"csrf": somebody.csrf(), "token": token, "password": "long enough"}
    assert somebody.post("/sign-up/finish", {**fields, "token": token[:-1]}) == 410
    assert somebody.post("/sign-up/finish", {**fields, "password": "short"}) == 422
    assert somebody.post("/sign-up/finish", fields) == 200
    assert visit(site).get(invitation.link) == 410


def test_a_password_reset_link_works_once(site: ServedSite) -> None:
    somebody, other, box = visit(site), visit(site), Box()
    somebody.join("forgets@example.com")
    site.application.state.site.joining.mail = box
    for login in ("forgets@example.com", "nobody@example.com"):
        other.get("/password/forgotten")
        assert other.send("/password/forgotten", login=login) == 200
        assert other.says("If this address is registered")
    (letter,) = box.letters
    assert other.get(letter.link) == 200
    assert other.send("/password/reset", password="short") == 422
    assert other.send("/password/reset", password="another long one") == 200
    assert other.get(letter.link) == other.get(f"/password/reset?token={letter.token}x") == 410
    somebody.get("/orders")
    assert somebody.path == "/sign-in"  # sessions with the old password have ended
    other.sign_in("forgets@example.com", "another long one")


class Together:
    """A lock that waits until all requests have checked their link, before any of the requests writes."""

    def __init__(self, requests: int) -> None:
        self._barrier = Barrier(requests, timeout=60)

    def __enter__(self) -> None:
        self._barrier.wait()

    def __exit__(self, *exc: object) -> None:
        pass


def test_a_reset_link_used_concurrently_works_only_once(site: ServedSite, monkeypatch: pytest.MonkeyPatch) -> None:
    visit(site).join("six@example.com")
    box = site.application.state.site.joining.mail = Box()
    visitors = [visit(site) for _ in range(6)]
    visitors[0].get("/password/forgotten")
    visitors[0].send("/password/forgotten", login="Six@Example.COM")
    (letter,) = box.letters
    assert letter.to == "six@example.com"  # the stored address, in any case
    for visitor in visitors:
        assert visitor.get(letter.link) == 200
    monkeypatch.setattr(site.application.state.site, "hashing", Together(6))
    passwords = [f"a new password {number}" for number in range(6)]
    with ThreadPoolExecutor(6) as pool:
        sent = [
            pool.submit(who.send, "/password/reset", password=new) for who, new in zip(visitors, passwords, strict=True)
        ]
        statuses = [future.result() for future in sent]
    assert sorted(statuses) == [200, *[410] * 5]
    monkeypatch.undo()
    visit(site).sign_in("six@example.com", passwords[statuses.index(200)])


def test_the_site_uses_its_configured_name_and_email_address(shop: Shop, tmp_path: Path) -> None:
    path = tmp_path / "site.toml"
    path.write_text('title = "Corner"\nsmtp = "smtp://127.0.0.1"\nmail_from = "a@example.com"\n')
    options = replace(OPTIONS, settings=path, origin="https://shop.example.com")
    made = make_site(shop, options)
    assert "<title>Corner" in TestClient(made.application).get("/").text
    assert not any("mail server" in line for line in made.told)
    assert any("mail server" in line for line in make_site(shop, replace(options, settings=None)).told)
    path.write_text('title = ""\ncolour = "red"\n')
    with pytest.raises(RequestError) as error:
        make_site(shop, options)
    assert [fault.place for fault in error.value.errors] == ["title", "colour"]


def test_changing_the_password_ends_other_sessions(shop: Shop, site: ServedSite) -> None:
    somebody = visit(site)
    somebody.join("ends@example.com")
    user = shop.user_by_email("ends@example.com")
    credential = None if user is None else shop.credential(user.user_id)
    assert credential is not None
    shop.set_password(credential.user_id, credential.password_hash, "another hash")
    somebody.get("/orders")
    assert somebody.path == "/sign-in"


def test_the_shop_api_authenticates_callers(shop: Shop, site: ServedSite) -> None:
    served = Beside(app(shop, hosts=("testserver",), policy=site.policy), site.application)
    customer = visit(site, CUSTOMER)
    client = TestClient(served)
    assert client.get("/api/new_products").status_code == 200
    for name in ("pay", "settle_refund", "credential", "user_by_email", "register", "set_password", "release"):
        assert client.get(f"/api/{name}").status_code == 404
    assert client.get("/api/orders_of_user").status_code == 401
    session = customer.client.cookies["shop_session"].strip('"')
    bearer = {"authorization": f"Bearer {session}"}
    mine = client.get("/api/orders_of_user", headers=bearer)
    assert mine.status_code == 200
    assert {item["user_id"] for item in mine.json()["items"]} == {"u-000"}
    assert client.get("/api/orders_of_user?user_id=u-000", headers=bearer).status_code == 400
    assert client.get("/api/order_details?order_id=o-000001", headers=bearer).status_code == 404
    assert client.get("/api/orders_to_ship?merchant_id=leafhouse", headers=bearer).status_code == 403
    assert client.get("/api/orders_of_user", headers={"authorization": f"Bearer {session}x"}).status_code == 403
    seller = visit(site, MERCHANT).client.cookies["shop_session"].strip('"')
    bearer = {"authorization": f"Bearer {seller}"}
    assert client.get("/api/orders_to_ship?merchant_id=leafhouse", headers=bearer).status_code == 200
    assert client.get("/api/orders_to_ship?merchant_id=lumen", headers=bearer).status_code == 404
    assert client.post("/api/ship", json={"order_id": "o-000002"}, headers=bearer).status_code == 404


@pytest.mark.parametrize(
    ("text", "cents"),
    [("1.5", 150), ("12", 1200), ("0.01", 1), ("0", 0), ("1.234", None), ("-1", None), ("x", None)],
)
def test_entered_amounts_are_parsed_as_cents(text: str, cents: int | None) -> None:
    assert cents_of(text) == cents


def test_products_are_found_by_search_words() -> None:
    with Shop.open(":memory:", secret="s") as shop:
        sample(shop, 5, silent)
        products_are_found(shop, make_site(shop, OPTIONS))


def products_are_found(shop: Shop, site: ServedSite) -> None:
    anybody = visit(site)
    asked = (("jasmine tin", "Jasmine Tea Tin"), ("mill dotted", "Dotted Pad"), ("second pot smok", "Smoked Tea"))
    for query, product in asked:
        assert anybody.get(f"/search?q={query}") == 200
        assert anybody.says(product)
    anybody.get("/search?q=nothing like it")
    assert anybody.says("No products match all of these words.")
    assert anybody.get("/search") == 200
    served = Beside(app(shop, hosts=("testserver",), policy=site.policy), site.application)
    seller = visit(site, MERCHANT).client.cookies["shop_session"].strip('"')
    with TestClient(served, headers={"authorization": f"Bearer {seller}"}) as client:

        def send(pattern: str, **given: object) -> None:
            answer = client.post(f"/api/{pattern}", json={"product_id": "white-tea-sampler", **given})
            assert answer.status_code in {200, 204}, answer.text

        details = {"name": "White Tea Sampler", "price_cents": 900}
        send("edit_product", details={**details, "listed": False})
        anybody.get("/search?q=white sampler")
        assert anybody.says("No products match all of these words.")
        send("edit_product", details=details)
        anybody.get("/search?q=white sampler")
        assert anybody.says("White Tea Sampler")


def test_the_search_index_is_rebuilt_from_the_listed_products(tmp_path: Path) -> None:
    url = str(tmp_path / "shop.db")
    with Shop.open(url) as shop:
        shop.put(Merchant(merchant_id="m", name="Mill"))
        for name in ("Plain Pad", "Ruled Pad"):
            product_id = name.lower().replace(" ", "-")
            shop.add_product(Product(product_id=product_id, merchant_id="m", name=name, price_cents=1))
        with contextlib.closing(search_of(shop)) as search:
            assert (tmp_path / "shop.search").exists()
            assert [product.name for product in found_products(shop, search, "ruled pad", 5)] == ["Ruled Pad"]
            edit(shop, "plain-pad", listed=False)
            assert sorted(search.find("pad", 5)) == ["plain-pad", "ruled-pad"]
            assert [product.name for product in found_products(shop, search, "pad", 5)] == ["Ruled Pad"]
            assert rebuild(shop, search) == 1
            keep_found(shop, search, "plain-pad")
            assert list(search.find("pad", 5)) == ["ruled-pad"]


def test_the_search_index_is_rebuilt_after_the_sample_is_enlarged(tmp_path: Path) -> None:
    with Shop.open(str(tmp_path / "shop.db")) as shop:
        sample(shop, 2, silent)
        with contextlib.closing(search_of(shop)) as search:
            shop.add_product(Product(product_id="kite", merchant_id="lumen", name="Kite", price_cents=1))
            assert found_products(shop, search, "kite", 5) == []
            sample(shop, 3, silent)
            assert [product.name for product in found_products(shop, search, "kite", 5)] == ["Kite"]
