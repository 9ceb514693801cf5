"""Forms of the sites: repeated submissions, invisible text, and addresses that are already used."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from keyplan_systems.cms import Cms
from keyplan_systems.cms.site.making import make_site as make_cms
from keyplan_systems.pages.application import ServedSite
from keyplan_systems.site.passwords import hash_password
from keyplan_systems.social import Social
from keyplan_systems.social.site.making import make_site
from tests.systems.sites.support import OPTIONS, Visit

INVISIBLE = ("\u200b", "\u200d\ufeff", "\u3164", " \u2800 ", "\u2060\u00ad")


@pytest.fixture
def social() -> Iterator[Social]:
    with Social.open(":memory:", secret="s") as opened:
        yield opened


@pytest.fixture
def site(social: Social) -> ServedSite:
    return make_site(social, OPTIONS)


@pytest.fixture
def ada(site: ServedSite) -> Visit:
    visit = Visit(site.application)
    visit.get("/sign-up")
    assert visit.send("/sign-up", login="ada", name="Ada", password="long enough") == 200
    visit.get("/")
    return visit


def texts(social: Social) -> list[str]:
    user = social.user_by_handle("ada")
    assert user is not None
    return [post.text for post in social.posts_of_user(user.user_id)]


def test_a_repeated_form_submission_is_applied_once(social: Social, ada: Visit) -> None:
    fields = {"csrf": ada.csrf(), "once": ada.once(), "text": "Once"}
    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(lambda _: ada.client.post("/posts", data=fields, follow_redirects=False), range(6)))
    assert {answer.status_code for answer in answers} == {303}
    assert len({answer.headers["location"] for answer in answers}) == 1
    assert texts(social) == ["Once"]


def test_a_changed_or_reloaded_form_is_not_treated_as_repeated(social: Social, ada: Visit) -> None:
    fields = {"csrf": ada.csrf(), "once": ada.once()}
    ada.post("/posts", {**fields, "text": "One"})
    ada.post("/posts", {**fields, "text": "Two"})
    for _ in range(2):
        ada.get("/")
        ada.send("/posts", text="Three")
    assert sorted(texts(social)) == ["One", "Three", "Three", "Two"]


def test_a_rejected_form_can_be_sent_again(social: Social, ada: Visit) -> None:
    fields = {"csrf": ada.csrf(), "once": ada.once(), "text": ""}
    assert [ada.post("/posts", fields) for _ in range(2)] == [422, 422]


def test_each_submission_of_a_repeated_sign_in_creates_a_session(site: ServedSite, ada: Visit) -> None:
    somebody = Visit(site.application)
    somebody.get("/sign-in")
    fields = {"csrf": somebody.csrf(), "once": somebody.once(), "login": "ada", "password": "long enough"}
    visit = somebody.client.cookies["social_visit"]
    for _ in range(2):
        somebody.client.cookies.clear()
        somebody.client.cookies["social_visit"] = visit
        assert somebody.post("/sign-in", fields) == 200
        assert "social_session" in somebody.client.cookies


@pytest.mark.parametrize("text", INVISIBLE)
def test_forms_with_invisible_text_are_rejected(social: Social, ada: Visit, text: str) -> None:
    assert ada.send("/posts", text=text) == 422
    assert texts(social) == []


def test_a_second_article_with_the_same_title_gets_a_numbered_address() -> None:
    with Cms.open(":memory:", secret="s") as cms:
        application = make_cms(cms, OPTIONS).application
        application.state.site.people.join("ada@example.com", "Ada", hash_password("long enough"))
        ada = Visit(application)
        ada.sign_in("ada@example.com", "long enough")
        for slug in ("a-title", "a-title-2", "a-title-3"):
            ada.get("/new")
            assert ada.send("/new", title="A title") == 200
            assert cms.article_by_slug(slug) is not None
        ada.get("/new")
        assert ada.send("/new", title="A title", slug="a-title") == 422
