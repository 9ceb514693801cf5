"""Browser tests of the blog for readers, authors and moderators, from joining to moderation, and of its appearance."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from PIL import Image

from keyplan_systems.blog.design import Blog
from keyplan_systems.blog.sample import DEMO_PASSWORD
from tests.browser.sites import Arrive, arriving, faults_of_load, letter, serving
from tests.browser.sites import sign_in as sign_in_at

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page, Route

POSTS = 40
READABLE = (
    "/",
    "/latest",
    "/popular",
    "/authors/author",
    "/tags",
    "/search?q=notes",
    "/search",
    "/sign-in",
    "/sign-up",
    "/sign-in/with/offline/choose",
    "/contact",
    "/password/forgotten",
    "/password/reset?token=none",
    "/email/verify?token=none",
    "/nothing",
)
OWN = ("/", "/authors/author", "/desk?status=published", "/write", "/account")
MODERATED = ("/moderation", "/moderation/posts", "/inbox?month=2026-11")


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Blog, str]]:
    settings = tmp_path_factory.mktemp("blog") / "site.toml"
    settings.write_text('authors = "open"\n')
    with serving("blog", POSTS, settings) as (blog, address):
        yield blog, address


@pytest.fixture(scope="module")
def blog(served: tuple[Blog, str]) -> Blog:
    return served[0]


@pytest.fixture
def visitor(browser: Browser, served: tuple[Blog, str]) -> Iterator[Arrive]:
    """A function that opens a browser context for a person."""
    with arriving(browser, served[1]) as arrive:
        yield arrive


def sign_in(page: Page, login: str) -> None:
    """Sign in as a user of the sample data."""
    sign_in_at(page, "Email or username", login, DEMO_PASSWORD)


def join(page: Page, name: str, *, writes: bool = True) -> None:
    """Join with the form, and confirm with the link in the email."""
    page.goto("/")
    page.get_by_role("link", name="Join", exact=True).click()
    page.get_by_label("Name", exact=True).fill(name)
    page.get_by_label("Username").fill(name.split(maxsplit=1)[0].lower())
    page.get_by_label("Email").fill(f"{name.split(maxsplit=1)[0].lower()}@example.org")
    page.get_by_label("I would like to write posts").set_checked(writes)
    with letter() as link:
        page.get_by_role("button", name="Join").click()
        page.goto(link())
    assert page.get_by_label("Username").get_attribute("autocomplete") == "username"  # for password managers
    page.get_by_label("Password").fill("a quiet sentence of mine")
    page.get_by_role("button", name="Join").click()
    page.get_by_text(f"Menu of {name}").wait_for(state="attached")


def test_a_new_reader_can_sign_up_and_like_and_rate_a_post(visitor: Arrive) -> None:
    page = visitor()
    page.goto("/")
    page.locator(".card.lead h3 a").click()
    page.wait_for_url("**/posts/*")  # the last link is in the footer
    page.get_by_role("link", name="Sign in").last.click()
    page.wait_for_url("**/sign-in?next=**")
    post = page.url.partition("next=")[2]
    page.get_by_role("link", name="Continue with a demo identity").click()
    page.get_by_text("It isn't available on public sites.").wait_for()
    page.goto("/")
    join(page, "Nora Reader", writes=False)
    assert page.get_by_role("link", name="Write", exact=True).count() == 0
    page.goto(post.replace("%2F", "/"))
    like = page.get_by_role("button", name=re.compile("^Like"))
    assert like.get_attribute("aria-pressed") == "false"
    like.click()
    page.get_by_role("button", name=re.compile("^Liked"), pressed=True).wait_for()
    page.get_by_role("button", name="4 of 5").click()
    page.get_by_text("Your rating").wait_for()
    assert page.get_by_role("button", name="4 of 5").get_attribute("aria-current") == "true"
    page.goto("/write")
    assert "For authors" in page.get_by_role("main").inner_text()
    forget_and_leave(page)


def forget_and_leave(page: Page) -> None:
    """Reset a forgotten password by email, export personal data, and delete the account."""
    page.locator(".menu summary").click()
    page.get_by_role("button", name="Sign out").click()
    page.get_by_role("link", name="Join", exact=True).wait_for()
    page.goto("/sign-in")
    page.get_by_role("link", name="Forgot your password?").click()
    page.get_by_label("Email").fill("nora@example.org")
    with letter() as link:
        page.get_by_role("main").get_by_role("button").click()
        page.goto(link())
    page.get_by_label("New password").fill("another quiet sentence")
    page.get_by_role("button", name="Set the password").click()
    page.get_by_text("Your password is set.").wait_for()
    sign_in_at(page, "Email or username", "nora", "another quiet sentence")
    page.goto("/account")
    with page.expect_download() as started:
        page.get_by_role("link", name="Download your data").click()
    taken = json.loads(Path(started.value.path()).read_text(encoding="utf-8"))
    assert (taken["email"], taken["profile"]["name"]) == ("nora@example.org", "Nora Reader")
    page.get_by_role("link", name="Delete your account").click()
    page.get_by_label("Type your username").fill("nora")
    page.get_by_label("Password").fill("another quiet sentence")
    page.get_by_role("button", name="Delete my account").press("Enter")
    page.get_by_role("link", name="Sign in").first.wait_for()
    page.goto("/account")
    assert "/sign-in" in page.url


@pytest.mark.nightly
def test_suggested_tags_can_be_chosen_by_keyboard(visitor: Arrive) -> None:
    page = visitor()
    page.goto("/tags")
    tag = page.locator(".cloud a span").first.inner_text()
    box = page.get_by_role("combobox", name="Search", exact=True)
    box.press_sequentially(tag[:2])
    page.get_by_role("option").first.wait_for()
    names = page.get_by_role("option").all_inner_texts()
    box.press("ArrowDown")
    while page.locator('[role="option"][aria-selected="true"]').inner_text() != f"#{tag}":
        box.press("ArrowDown")
    assert box.get_attribute("aria-activedescendant")
    box.press("Enter")
    assert box.input_value() == f"{tag} "
    box.press("Enter")
    page.wait_for_url("**/search?q=*")
    assert f"#{tag}" in names
    assert page.locator(".card").count() > 0
    box = page.get_by_role("combobox", name="Search", exact=True)
    box.fill("")
    box.press_sequentially(tag[:2])
    page.get_by_role("option").first.wait_for()
    box.press("Escape")
    assert box.get_attribute("aria-expanded") == "false"


@pytest.mark.nightly
def test_an_author_previews_and_publishes_a_post_and_edits_it_in_two_windows(visitor: Arrive) -> None:
    page = visitor()
    join(page, "Otto Author")
    page.get_by_text("This page lists your posts").wait_for()
    page.get_by_role("link", name="New post").click()
    page.get_by_label("Title").fill("Bread & butter <notes>")
    page.get_by_label("Text").fill("Some **strong** words.\n\n| a | b |\n|---|---|\n| 1 | 2 |")
    preview = page.get_by_role("region", name="Preview")
    preview.locator("strong").get_by_text("strong").wait_for()
    assert preview.locator("td").count() == 2
    page.get_by_label("Text").fill("שלום עולם")
    words = preview.get_by_text("שלום עולם")
    words.wait_for()
    gap = (
        "one => { const r = document.createRange(); r.selectNodeContents(one); return one.getBoundingClientRect().right"
    )
    assert words.evaluate(gap + " - r.getBoundingClientRect().right; }") < 2
    page.get_by_label("Text").fill("Some **strong** words.")
    page.locator("#tags").fill("bread, notes")
    page.get_by_role("button", name="Publish").click()
    page.get_by_role("heading", level=1, name="Bread & butter <notes>").wait_for()
    page.get_by_text("The post is published.").wait_for()
    page.goto("/")
    assert page.locator(".card.lead").get_by_text("Bread & butter <notes>").count() == 1
    page.goto("/desk?status=published")
    page.get_by_role("link", name="Bread & butter <notes>").first.click()
    other = page.context.new_page()
    other.goto(page.url)
    other.get_by_label("Text").fill("The quicker text.")
    other.get_by_role("button", name="Save").click()
    other.get_by_text("Saved.").wait_for()
    page.get_by_label("Text").fill("The slower text.")
    page.get_by_role("button", name="Save").click()
    page.get_by_text("This post has changed since you opened it").wait_for()
    assert "The quicker text." in page.locator(".versions").inner_text()
    assert "The slower text." in page.locator(".versions").inner_text()
    page.get_by_role("button", name="Save").click()
    page.get_by_text("Saved.").wait_for()


@pytest.mark.nightly
def test_a_rate_limited_preview_is_retried(visitor: Arrive) -> None:
    page = visitor()
    join(page, "Petra Preview")
    page.goto("/write")
    refused: list[str] = []

    def once(route: Route) -> None:
        if refused:
            route.continue_()
        else:
            refused.append(route.request.url)
            route.fulfill(status=429, body="")

    page.route("**/write/preview", once)
    page.get_by_label("Text").fill("Some **strong** words.")
    page.get_by_role("region", name="Preview").locator("strong").get_by_text("strong").wait_for()
    assert len(refused) == 1


@pytest.mark.nightly
def test_a_moderator_suspends_an_author_and_reads_the_inbox(visitor: Arrive) -> None:
    author = visitor()
    join(author, "Zoe Spam")
    writer = visitor()
    writer.goto("/contact")
    writer.get_by_label("Your name").fill("Nina")
    writer.get_by_label("Your email address").fill("nina@example.org")
    writer.get_by_label("Subject").fill("Somebody floods the tags")
    writer.get_by_label("Message").fill("Look at Zoe's posts, please.")
    writer.get_by_role("button", name="Send").click()
    writer.get_by_text("Your message has been sent").wait_for()
    page = visitor()
    sign_in(page, "moderator")
    page.locator(".menu summary").click()
    page.get_by_role("link", name="Inbox").click()
    message = page.get_by_role("article").filter(has_text="Somebody floods the tags")
    assert "Look at Zoe's posts, please." in message.inner_text()
    message.get_by_role("button", name="Mark as handled").click()
    message.get_by_text("· handled").wait_for()
    page.goto("/moderation?order=newest")
    page.get_by_role("row").filter(has_text="@zoe").get_by_role("button", name="Suspend").click()
    page.get_by_text("The account's status is changed.").wait_for()
    assert page.get_by_role("row").filter(has_text="@zoe").count() == 0
    author.goto("/desk")
    assert "/sign-in" in author.url
    page.goto("/moderation?status=suspended&order=newest")
    page.get_by_role("row").filter(has_text="@zoe").get_by_role("button", name="Activate").click()
    page.get_by_text("The account's status is changed.").wait_for()


@pytest.mark.nightly
def test_commenting_moderating_and_deleting_a_post_work_on_a_phone_in_dark_mode(
    visitor: Arrive, blog: Blog, tmp_path: Path
) -> None:
    author, reader, moderator = (visitor(390, "dark") for _ in range(3))
    sign_in(author, "author")
    author.goto("/write")
    author.get_by_label("Title").press_sequentially("Night bus")
    picture = tmp_path / "bus.png"
    Image.new("RGB", (64, 36), "#8a2f23").save(picture)
    author.locator("#page_picture").set_input_files(picture)
    author.get_by_role("region", name="Preview").locator("img").wait_for()
    author.locator("#tags").fill("notes")
    author.get_by_role("button", name="Publish").press("Enter")
    author.get_by_text("The post is published.").wait_for()
    place = author.url.partition("?")[0]
    sign_in(reader, "reader")
    reader.goto(place)
    reader.get_by_label("Your comment").press_sequentially("Which line is it?")
    reader.keyboard.press("Tab")
    reader.keyboard.press("Enter")
    reader.get_by_text("Which line is it?").wait_for()
    author.goto(place)
    author.locator(".comment summary").press("Enter")
    author.get_by_label("Your reply").press_sequentially("The N7.")
    author.get_by_role("button", name="Reply", exact=True).press("Enter")
    author.locator(".comment.reply").get_by_text("The N7.").wait_for()
    sign_in(moderator, "moderator")
    moderator.goto(place)
    moderator.get_by_role("button", name="Hide the comment of Robin Reader").press("Enter")
    moderator.get_by_role("button", name="Show again").wait_for()
    reader.goto(place)
    reader.get_by_text("This comment was hidden by a moderator.").wait_for()
    moderator.goto("/moderation/posts")
    moderator.get_by_role("button", name="Unpublish Night bus").press("Enter")
    moderator.get_by_text("The post is no longer published.").wait_for()
    reader.goto(place)
    assert "404" in reader.get_by_role("main").inner_text()
    author.goto(place)
    author.get_by_text("only its author can see this page").wait_for()
    author.get_by_role("link", name="Edit", exact=True).click()
    author.get_by_role("link", name="Delete…").press("Enter")
    author.get_by_label("Type the title").fill("Night bus")
    author.get_by_role("button", name="Delete permanently").press("Enter")
    author.get_by_text("The post is deleted.").wait_for()
    assert blog.slug_of("night-bus") is None


@pytest.mark.nightly
def test_a_double_click_publishes_one_post_and_equal_slugs_are_numbered(visitor: Arrive, blog: Blog) -> None:
    page = visitor()
    sign_in(page, "author")
    for slug in ("night-market", "night-market-2"):
        page.goto("/write")
        page.get_by_label("Title").fill("Night market")
        page.get_by_role("button", name="Publish").click()
        page.get_by_text("a published post must contain text").first.wait_for()
        page.get_by_label("Text").fill("Lamps and oranges.")
        page.get_by_role("button", name="Publish").dblclick()
        page.get_by_text("The post is published.").wait_for()
        assert f"/posts/{slug}?" in page.url
    assert blog.slug_of("night-market-3") is None


def test_authors_and_readers_can_use_the_blog_without_scripts(visitor: Arrive, blog: Blog) -> None:
    page = visitor(scripts=False)
    sign_in(page, "author")
    page.get_by_role("link", name="Write", exact=True).click()
    page.get_by_label("Title").fill("Without scripts")
    page.get_by_label("Text").fill("*Plain* forms.")
    page.locator("#tags").fill("plain")
    page.get_by_role("button", name="Preview").click()
    assert page.locator(".preview em").inner_text() == "Plain"
    page.get_by_role("button", name="Publish").click()
    assert page.get_by_role("heading", level=1).inner_text() == "Without scripts"
    page.get_by_role("searchbox").fill("plain")
    page.get_by_role("searchbox").press("Enter")
    assert "Without scripts" in page.get_by_role("main").inner_text()
    page.locator(".menu summary").click()
    page.get_by_role("button", name="Sign out").click()
    page.get_by_role("link", name="Sign in").wait_for()


@pytest.mark.nightly
def test_the_chosen_theme_is_kept_on_other_pages(visitor: Arrive) -> None:
    page = visitor(scheme="light")
    page.goto("/")
    before = page.evaluate("getComputedStyle(document.body).backgroundColor")
    page.get_by_role("button", name="Switch between light and dark theme").click()
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") != before
    page.goto("/tags")
    assert page.locator("html").get_attribute("data-theme") == "dark"


def test_the_menu_opens_and_closes_by_keyboard(visitor: Arrive) -> None:
    page = visitor()
    sign_in(page, "reader")
    page.goto("/")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the content"
    page.locator(".menu summary").focus()
    page.keyboard.press("Enter")
    assert page.locator("details.menu").get_attribute("open") is not None
    page.keyboard.press("Escape")
    assert page.locator("details.menu").get_attribute("open") is None
    assert page.evaluate("document.activeElement.tagName") == "SUMMARY"


def every_page(visitor: Arrive) -> Iterator[tuple[str, Page]]:
    """Open a page of every kind, as a role that may view it."""
    anybody, author, moderator = (visitor() for _ in range(3))
    sign_in(author, "author")
    sign_in(moderator, "moderator")
    anybody.goto("/latest")
    posts = anybody.locator(".card h2 a").evaluate_all("all => all.map(one => one.getAttribute('href'))")
    tag = anybody.locator(".card .tags a").first.get_attribute("href") or "/tags"
    for page, paths in (
        (anybody, (*READABLE, posts[0], posts[1], tag)),
        (author, (*OWN, posts[0], posts[1])),
        (moderator, MODERATED),
    ):
        for path in paths:
            page.goto(path)
            yield path, page
    author.goto("/desk?status=published")
    author.locator(".rows h2 a").first.click()
    author.wait_for_url("**/write/**")
    yield "editor", author


@pytest.mark.nightly
def test_every_page_is_responsive_and_accessible(visitor: Arrive) -> None:
    """Each page is loaded once to check widths, colors and accessibility."""
    wrong = {path: faults for path, page in every_page(visitor) if (faults := faults_of_load(page))}
    assert wrong == {}
