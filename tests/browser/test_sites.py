"""Browser tests of the sites of shop, social network, papers and CMS: the tasks of each kind of user, by mouse and
keyboard, on desktop and phone; and the appearance of every kind of page.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest
from PIL import Image

from keyplan import now
from keyplan_systems.cms.design import BODY_BYTES_MAX
from keyplan_systems.cms.sample import DEMO_PASSWORD as CMS_PASSWORD
from keyplan_systems.papers.design import Paper
from keyplan_systems.papers.sample import DEMO_PASSWORD as PAPERS_PASSWORD
from keyplan_systems.papers.sample import DEMO_USERS as PAPERS_USERS
from keyplan_systems.shop.entities import HELD
from keyplan_systems.shop.keeping import release_unpaid
from keyplan_systems.shop.sample import DEMO_PASSWORD as SHOP_PASSWORD
from keyplan_systems.shop.sample import DEMO_USERS as SHOP_USERS
from keyplan_systems.social.sample import DEMO_PASSWORD as SOCIAL_PASSWORD
from keyplan_systems.social.sample import DEMO_USERS as SOCIAL_USERS
from tests.browser.sites import Arrive, arriving, faults_of_load, letter, serving, sign_in

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

CUSTOMER, MERCHANT = (email for email, _ in SHOP_USERS)
COUNTS = {"shop": 40, "social": 20, "papers": 30, "cms": 25}


class Place(NamedTuple):
    """A system's open design, and a function that opens its site for a person."""

    design: Any
    arrive: Arrive


@pytest.fixture(scope="module")
def served() -> Iterator[dict[str, tuple[Any, str]]]:
    """Serve all sites."""
    with ExitStack() as stack:
        yield {name: stack.enter_context(serving(name, count)) for name, count in COUNTS.items()}


@pytest.fixture
def shop(browser: Browser, served: dict[str, tuple[Any, str]]) -> Iterator[Place]:
    with arriving(browser, served["shop"][1]) as arrive:
        yield Place(served["shop"][0], arrive)


@pytest.fixture
def social(browser: Browser, served: dict[str, tuple[Any, str]]) -> Iterator[Place]:
    with arriving(browser, served["social"][1]) as arrive:
        yield Place(served["social"][0], arrive)


@pytest.fixture
def papers(browser: Browser, served: dict[str, tuple[Any, str]]) -> Iterator[Place]:
    with arriving(browser, served["papers"][1]) as arrive:
        yield Place(served["papers"][0], arrive)


@pytest.fixture
def cms(browser: Browser, served: dict[str, tuple[Any, str]]) -> Iterator[Place]:
    with arriving(browser, served["cms"][1]) as arrive:
        yield Place(served["cms"][0], arrive)


def join(page: Page, label: str, login: str, name: str) -> None:
    """Join with the form on the current page, and confirm the email address, if one is given."""
    page.get_by_role("link", name="Join", exact=True).first.click()
    page.get_by_label(label).fill(login)
    page.get_by_label("Name", exact=True).fill(name)
    if label == "Email":
        with letter() as link:
            page.get_by_role("button", name="Join").click()
            page.goto(link())
    page.get_by_label("Password").fill("a quiet sentence of mine")
    page.get_by_role("button", name="Join").click()
    page.get_by_text(f"Menu of {name}").wait_for(state="attached")


def add_address(page: Page) -> None:
    """Add a postal address with the keyboard."""
    page.get_by_role("link", name="Add your address").click()
    page.get_by_label("Name", exact=True).focus()
    for text in ("Nora Brook", "1 Mill Lane", "BS1 4DJ", "Bristol", "gb"):
        page.keyboard.type(text)
        page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.get_by_text("Address saved.").wait_for()


def test_a_new_customer_buys_a_product_and_the_merchant_ships_it(shop: Place) -> None:
    """The customer uses a phone, and the merchant a desktop."""
    page = shop.arrive(390, "dark")
    page.goto("/categories/tea")
    page.get_by_role("link", name="Green Tea", exact=True).click()
    page.get_by_role("link", name="Sign in to buy").click()
    join(page, "Email", "nora@example.org", "Nora Brook")
    page.goto("/products/green-tea")
    page.get_by_label("Quantity").fill("2")
    page.get_by_role("button", name="Add to cart").click()
    page.get_by_text("Cart updated.").wait_for()
    add_address(page)
    page.get_by_role("button", name=re.compile("^Order for €")).click()
    page.get_by_text("Order placed.").wait_for()
    order_path = page.url
    page.get_by_label("Card number").fill("4000 0000 0000 0002")
    page.get_by_role("button", name="Pay").click()
    page.get_by_role("alert").wait_for()
    page.get_by_label("Card number").fill("4242 4242 4242 4242")
    page.keyboard.press("Enter")
    page.get_by_text("Your order is paid").wait_for()

    seller = shop.arrive()
    sign_in(seller, "Email", MERCHANT, SHOP_PASSWORD)
    seller.locator("summary").focus()
    seller.keyboard.press("Enter")
    seller.get_by_role("link", name="Orders to ship").click()
    seller.get_by_role("link", name="Nora Brook").click()
    seller.get_by_label("Tracking number").fill("KP 1")
    seller.get_by_role("button", name="Mark as shipped").click()
    seller.goto("/selling/events")
    assert seller.get_by_text("Shipped", exact=True).count() >= 1
    page.goto(order_path)
    page.get_by_text("Tracking number KP 1").wait_for()
    page.goto("/selling")
    page.get_by_role("heading", name="Page not found").wait_for()
    an_unpaid_order_is_released(shop, page)


def an_unpaid_order_is_released(shop: Place, page: Page) -> None:
    """Place an order and let its payment time expire: the stock is restored, and the customer sees the reason."""
    before = shop.design.product("green-tea").stock
    page.goto("/products/green-tea")
    page.get_by_role("button", name="Add to cart").click()
    page.get_by_role("button", name=re.compile("^Order for €")).click()
    page.get_by_text("Order placed.").wait_for()
    assert shop.design.product("green-tea").stock == before - 1
    assert release_unpaid(shop.design, moment=now() + HELD) >= 1
    page.reload()
    page.locator(".badge", has_text="Cancelled").wait_for()
    assert page.get_by_label("Card number").count() == 0
    assert shop.design.product("green-tea").stock >= before  # other unpaid orders are released as well


@pytest.mark.nightly
def test_a_merchant_manages_orders_and_stock_by_keyboard(shop: Place) -> None:
    """On a phone, the merchant finds orders of every status, cancels one and restocks a product."""
    seller = shop.arrive(390, "dark")
    sign_in(seller, "Email", MERCHANT, SHOP_PASSWORD)
    seller.goto("/selling")
    for label, status in (
        ("Unpaid", "pending"),
        ("Shipped", "shipped"),
        ("Cancelled", "cancelled"),
        ("To ship", "paid"),
    ):
        seller.get_by_role("link", name=label, exact=True).focus()
        seller.keyboard.press("Enter")
        seller.wait_for_url(f"**/selling?status={status}")
        sold = len(shop.design.orders_of_merchant("leafhouse", [status], limit=20).items)
        assert seller.locator(f"ul.rows .badge.{status}").count() == sold
    seller.locator("ul.rows h2 a").last.focus()
    seller.keyboard.press("Enter")
    seller.get_by_role("button", name="Cancel the order").focus()
    seller.keyboard.press("Enter")
    seller.locator(".badge", has_text="Cancelled").wait_for()


@pytest.mark.parametrize("scripts", [True, pytest.param(False, marks=pytest.mark.nightly)])
def test_a_merchant_can_add_a_product_with_a_picture(shop: Place, tmp_path: Path, scripts: bool) -> None:
    picture, name = tmp_path / "cosy.png", f"Cosy {scripts}"
    Image.new("RGB", (60, 40), "teal").save(picture)
    seller = shop.arrive(390, "dark", scripts=scripts)
    sign_in(seller, "Email", MERCHANT, SHOP_PASSWORD)
    seller.goto("/selling/goods")
    seller.get_by_role("link", name="Add a product").click()
    seller.get_by_label("Name", exact=True).fill(name)
    seller.get_by_label("Price").fill("14.50")
    seller.get_by_label("Pieces to add").fill("5")
    if scripts:
        seller.get_by_label("Add a picture").set_input_files(picture)
        seller.get_by_text("Added. Save to show it.").wait_for()
    else:
        seller.get_by_label("Picture", exact=False).first.fill("/static/shop-tea.svg")
    seller.get_by_role("button", name="Save").click()
    seller.get_by_text("Saved.").wait_for()
    shown = seller.locator(".product .swatch img")
    handle = shown.element_handle()
    seller.wait_for_function("picture => picture.naturalWidth > 0", arg=handle)
    seller.get_by_role("link", name="Edit").click()
    seller.get_by_label("Price").fill("12.50")
    seller.get_by_role("button", name="Save").click()
    seller.get_by_text("€12.50").wait_for()
    assert shop.design.products_of_merchant("leafhouse", limit=1).items[0].stock == 5


def test_users_of_the_social_network_can_follow_others_and_post_and_send_messages(social: Place) -> None:
    page, handle = social.arrive(390, "dark"), SOCIAL_USERS[0]
    page.goto("/")
    join(page, "Handle", "nora", "Nora Brook")
    page.get_by_text("Welcome!").wait_for()
    page.goto(f"/people/{handle}")
    page.get_by_role("button", name="Follow", exact=True).click()
    page.get_by_role("button", name="Unfollow").wait_for()

    other = social.arrive()
    sign_in(other, "Handle", handle, SOCIAL_PASSWORD)
    other.get_by_label("What is new?").fill("A loaf that rose.\nAt last.")
    other.keyboard.press("Tab")
    other.keyboard.press("Enter")
    other.wait_for_url("**/posts/*")
    post = other.url

    page.goto("/")
    page.get_by_text("A loaf that rose.").wait_for()
    page.goto(post)
    page.get_by_role("button", name="Like", exact=True).click()
    page.get_by_text("1 like").wait_for()
    page.get_by_label("Your comment").fill("Well done!")
    page.get_by_role("button", name="Comment").click()
    page.get_by_text("Well done!").wait_for()
    page.goto(f"/messages/{handle}")
    page.get_by_label("Your message").fill("May I have a slice?")
    page.get_by_role("button", name="Send").click()

    other.get_by_role("link", name="Messages").click()
    other.get_by_role("link", name="Nora Brook").click()
    other.get_by_text("May I have a slice?").wait_for()
    other.goto("/people/nora")
    other.get_by_role("button", name="Block").click()
    other.get_by_role("button", name="Unblock").wait_for()
    page.get_by_label("Your message").fill("Please?")
    page.get_by_role("button", name="Send").click()
    page.get_by_role("heading", name="Page not found").wait_for()  # blocked users don't see the blocker
    assert page.get_by_label("Text").input_value() == "Please?"


@pytest.mark.nightly
def test_a_visitor_can_browse_posts_likes_and_profiles_without_signing_in(social: Place) -> None:
    """The visitor opens the public timeline, likes of a post, a profile, and the profile's posts of one day."""
    page = social.arrive(390, "dark")
    page.goto("/")
    page.get_by_role("heading", name="People to follow").wait_for()
    page.locator(".note", has_text=re.compile("[1-9][0-9]* likes")).first.get_by_role("link", name="likes").click()
    page.get_by_role("heading", name="Liked by").wait_for()
    assert page.locator(".people-list li").count() > 1
    page.goto("/everyone")
    page.locator(".note .when").first.click()
    page.wait_for_url("**?day=*")
    assert page.locator(".note").count() >= 1
    page.get_by_label("Posts by day").fill("2001-01-01")
    page.get_by_role("button", name="Show").click()
    page.get_by_text("No posts on this day.").wait_for()


@pytest.mark.nightly
def test_a_reader_can_find_and_cite_a_paper(papers: Place) -> None:
    """The test adds the paper to a collection that has no other papers."""
    paper = Paper(paper_id="by-hand", title="Added by hand", collection="data-and-storage", status="published")
    papers.design.add_paper(paper, {"ada-almeida": "author"})
    page = papers.arrive()
    page.goto("/")
    page.get_by_role("heading", name="Newest papers").wait_for()
    page.get_by_role("searchbox").focus()
    page.keyboard.type("data-and-storage")
    page.keyboard.press("Enter")
    page.wait_for_url("**/collections/data-and-storage")
    page.locator(".cards h2 a").first.click()
    page.get_by_role("heading", level=1, name="Added by hand").wait_for()
    page.get_by_role("heading", name="Cite this paper").wait_for()
    with page.expect_download() as started:
        page.get_by_role("link", name="BibTeX").click()
    assert started.value.suggested_filename == "paper.bib"


@pytest.mark.nightly
def test_an_author_can_write_and_publish_a_paper(papers: Place) -> None:
    author, anyone = papers.arrive(390, "dark"), papers.arrive()
    sign_in(author, "Handle", PAPERS_USERS[0], PAPERS_PASSWORD)
    author.goto("/drafts")
    author.get_by_label("Title").fill("Sorted at last")
    author.get_by_label("Collection").fill("Ethics")
    author.get_by_role("button", name="Add").click()
    author.get_by_text("This is a draft.").wait_for()
    author.get_by_label("Version", exact=True).fill("0.2")
    author.get_by_label("Abstract").fill("In order.")
    author.get_by_label("Full text").fill("Word by word. " * 200)
    author.get_by_role("button", name="Save").click()
    author.get_by_text("3 min read").wait_for()
    anyone.goto(author.url)
    anyone.get_by_role("heading", name="Page not found").wait_for()
    author.get_by_role("button", name="Publish").click()
    author.get_by_text("Saved.").wait_for()
    anyone.reload()
    anyone.get_by_role("link", name="Read the full text").click()
    anyone.get_by_text("Word by word.").first.wait_for()


@pytest.mark.nightly
def test_an_author_can_write_an_article_that_an_editor_publishes(cms: Place) -> None:
    """The author types on a phone. The editor corrects and publishes on a desktop, and compares versions."""
    page = cms.arrive(390, "dark")
    sign_in(page, "Email", "author@example.com", CMS_PASSWORD)
    page.get_by_role("link", name="New article").first.click()
    page.get_by_label("Title").focus()
    page.keyboard.type("A loaf, step by step")
    page.keyboard.press("Enter")
    page.get_by_text("The draft is created.").wait_for()
    page.get_by_label("Text").focus()
    page.keyboard.type("Some **strong** words.")
    page.get_by_role("region", name="Preview").locator("strong").get_by_text("strong").wait_for()
    page.get_by_role("button", name="Save draft").focus()
    page.keyboard.press("Enter")
    page.get_by_text("Saved.").wait_for()
    page.get_by_role("button", name="Create a link").click()
    link = page.locator("a.token").inner_text()

    stranger = cms.arrive()
    stranger.goto(link)
    stranger.get_by_role("heading", level=1, name="A loaf, step by step").wait_for()

    editor = cms.arrive()
    sign_in(editor, "Email", "editor@example.com", CMS_PASSWORD)
    editor.get_by_role("link", name="A loaf, step by step").click()
    editor.get_by_label("Text").fill("Some strong words.\n\nAnd more.")
    editor.get_by_role("button", name="Save and publish").click()
    editor.get_by_text("The article is published.").wait_for()
    editor.get_by_role("link", name="All versions").click()
    editor.get_by_role("link", name="Version 2").click()
    editor.locator(".difference .new").get_by_text("And more.").wait_for()
    editor.get_by_role("link", name="A loaf, step by step").click()
    page.get_by_label("Text").fill("The slower text.")
    page.get_by_role("button", name="Save draft").click()
    page.get_by_text("Another version was saved after you opened this one.").wait_for()
    assert "And more." in page.locator(".versions").inner_text()


def new_draft(cms: Place, title: str) -> Page:
    """Create an article without scripts, and return the page with its editor."""
    page = cms.arrive(scripts=False)
    sign_in(page, "Email", "editor@example.com", CMS_PASSWORD)
    page.goto("/new")
    page.get_by_label("Title").fill(title)
    page.get_by_role("button", name="Create draft").click()
    return page


@pytest.mark.nightly
def test_the_cms_editor_works_without_scripts(cms: Place) -> None:
    page = new_draft(cms, "Without scripts")
    page.get_by_label("Text").fill("*Plain* forms.")
    page.get_by_role("button", name="Preview").click()
    assert page.locator(".preview em").inner_text() == "Plain"
    page.get_by_role("button", name="Save and publish").click()
    page.get_by_text("The article is published.").wait_for()


@pytest.mark.nightly
def test_the_cms_editor_accepts_an_article_of_maximum_size(cms: Place) -> None:
    page = new_draft(cms, "As long as it gets")
    page.get_by_label("Text").fill("a" * BODY_BYTES_MAX)
    page.get_by_role("button", name="Save draft").click()
    page.get_by_text("Saved.").wait_for()
    assert page.get_by_label("Text").input_value() == "a" * BODY_BYTES_MAX


def pages_of(place: Place, name: str) -> Iterator[tuple[str, Page]]:
    """Open a page of every kind of a site, as a role that may view it."""
    design, stranger = place.design, place.arrive()
    seen: list[tuple[Page, tuple[str, ...]]] = []
    if name == "shop":
        customer, seller = place.arrive(), place.arrive()
        sign_in(customer, "Email", CUSTOMER, SHOP_PASSWORD)
        sign_in(seller, "Email", MERCHANT, SHOP_PASSWORD)
        customer.goto("/products/green-tea")  # always in stock
        customer.get_by_role("button", name="Add to cart").click()
        customer.wait_for_url("**/cart**")
        bought = [item.order_id for item in design.orders_of_user("u-000").items]
        sold = design.orders_to_ship("leafhouse").items[0].order_id
        seen = [
            (stranger, ("/", "/merchants/lumen", "/products/green-tea", "/search?q=tea", "/sign-in", "/nothing")),
            (customer, ("/products/green-tea", "/cart", "/address", "/orders", f"/orders/{bought[0]}", "/password")),
            (
                seller,
                ("/selling", f"/selling/{sold}", "/selling/goods", "/selling/goods/new", "/selling/goods/green-tea"),
            ),
            (seller, ("/selling/events", "/selling/devices")),
        ]
    elif name == "social":
        member = place.arrive()
        sign_in(member, "Handle", SOCIAL_USERS[0], SOCIAL_PASSWORD)
        me = design.user_by_handle(SOCIAL_USERS[0])
        post = max(design.feed(me.user_id).items, key=lambda each: each.comments)
        author = design.profile(post.user_id).handle
        own = ("/", f"/posts/{post.post_id}", f"/people/{author}", "/messages", f"/messages/{author}", "/settings")
        more = (
            "/people?handle=nobody",
            "/notifications",
            f"/people/{author}/followers",
            f"/posts/{post.post_id}/likes",
            "/everyone",
            "/password",
        )
        seen = [(stranger, ("/", f"/people/{author}", "/sign-up")), (member, (*own, *more))]
    elif name == "cms":
        author, editor, admin = (place.arrive() for _ in range(3))
        for who, member in (("author", author), ("editor", editor), ("admin", admin)):
            sign_in(member, "Email", f"{who}@example.com", CMS_PASSWORD)
        result = next(each for each in design.articles_by_state("published") if each.current_version > 1)
        path, token = f"/articles/{result.article_id}", design.share_preview(result.article_id, "u_01")
        archived = design.articles_by_state("archived").items[0].article_id
        own = design.articles_by_author("u_02", limit=1).items[0].article_id
        seen = [
            (stranger, ("/", "/sign-in", f"/preview/{token}")),
            (author, ("/", f"/articles/{own}", "/token")),
            (editor, ("/?state=published", "/new", path, f"{path}/versions", f"{path}/versions/2")),
            (admin, (f"/articles/{archived}", "/members")),
        ]
    else:
        paper = design.published_in_collection("data-and-storage").items[0].paper_id
        author = design.paper_with_authors(paper).authors[0].handle
        searches = ("/search?q=nothing", "/search?q=notes")
        looked_at = ("/", *searches, "/collections/data-and-storage", f"/papers/{paper}", f"/authors/{author}")
        writer = place.arrive()
        sign_in(writer, "Handle", PAPERS_USERS[0], PAPERS_PASSWORD)
        draft = Paper(paper_id="wip", title="In work", collection="ethics", version="0.1")
        design.add_paper(draft, {PAPERS_USERS[0]: "author"})
        seen = [(stranger, looked_at), (writer, ("/drafts", "/papers/wip"))]
    for page, paths in seen:
        for path in paths:
            page.goto(path)
            yield path, page


@pytest.mark.parametrize(
    "name", [name if name == "papers" else pytest.param(name, marks=pytest.mark.nightly) for name in COUNTS]
)
def test_every_page_is_responsive_and_accessible(request: pytest.FixtureRequest, name: str) -> None:
    """Each page is loaded once to check widths, colors and accessibility."""
    place: Place = request.getfixturevalue(name)
    wrong = {path: faults for path, page in pages_of(place, name) if (faults := faults_of_load(page))}
    assert wrong == {}
