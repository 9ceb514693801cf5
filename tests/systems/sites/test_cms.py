"""The site of the CMS: authors write, editors publish, and readers open only published articles."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from keyplan.web import app
from keyplan.web.application import Beside
from keyplan_systems.cms import Article, Cms
from keyplan_systems.cms.differences import LINES_MAX, differences
from keyplan_systems.cms.entities import BODY_BYTES_MAX, Preview
from keyplan_systems.cms.publishing import token_hash
from keyplan_systems.cms.sample import DEMO_PASSWORD, sample
from keyplan_systems.cms.site.making import make_site
from keyplan_systems.pages.application import ServedSite
from tests.systems.cms.test_publishing import assert_lists_agree
from tests.systems.sites.support import OPTIONS, Visit
from tests.systems.support import silent
from tests.web.support import TestClient


@pytest.fixture(scope="module")
def cms() -> Iterator[Cms]:
    with Cms.open(":memory:", secret="s") as opened:
        sample(opened, 30, silent)
        yield opened


@pytest.fixture(scope="module")
def site(cms: Cms) -> ServedSite:
    return make_site(cms, OPTIONS)


def visit(site: ServedSite, who: str | None = None) -> Visit:
    made = Visit(site.application)
    if who is not None:
        made.sign_in(f"{who}@example.com", DEMO_PASSWORD)
    return made


def begun(member: Visit, title: str, text: str = "") -> str:
    """Create an article with a first text, and return the URL of the article."""
    member.get("/new")
    assert member.send("/new", title=title) == 200
    path = member.path
    if text:
        assert member.send(path, content=text, action="save") == 200
        assert member.says("Saved.")
    return path


def test_an_author_writes_and_an_editor_publishes(cms: Cms, site: ServedSite) -> None:
    author, editor, anyone = visit(site, "author"), visit(site, "editor"), visit(site)
    path = begun(author, "Bread & butter", "Some **strong** words.")
    assert "<strong>strong</strong>" in author.text
    assert "Save and publish" not in author.text
    slug = "bread-butter"
    assert anyone.get(f"/content/{slug}") == 404
    assert author.post(path, {"csrf": author.csrf(), "title": "T", "version": "1", "action": "publish"}) == 404
    author.get(path)
    assert author.post(f"{path}/archive", {"csrf": author.csrf()}) == 404

    editor.get("/?state=draft")
    assert editor.says("Bread & butter")
    editor.get(path)
    assert editor.send(path, content="Better words.", title="Bread and butter", action="publish") == 200
    assert editor.says("The article is published.")
    anyone.get(f"/content/{slug}")
    article = json.loads(anyone.text)
    assert (article["title"], article["body"], article["version"]) == ("Bread and butter", "Better words.", 2)
    anyone.get("/content")
    assert slug in {item["slug"] for item in json.loads(anyone.text)["items"]}

    author.get(path)
    assert author.send(path, content="Not yet.", title="Later", action="save") == 200
    assert author.says("Newer draft")
    anyone.get(f"/content/{slug}")
    assert json.loads(anyone.text)["title"] == "Bread and butter"
    editor.get(path)
    assert editor.send(f"{path}/publish") == 200
    anyone.get(f"/content/{slug}")
    assert json.loads(anyone.text)["body"] == "Not yet."
    editor.get(path)
    assert editor.send(f"{path}/describe", slug="butter", tags="bread, Butter , bread") == 200
    for text in (slug, "butter"):
        anyone.get(f"/content/{text}")
        assert json.loads(anyone.text)["tags"] == ["Butter", "bread"]
    anyone.get("/content?tag=Butter")
    assert [item["slug"] for item in json.loads(anyone.text)["items"]] == ["butter"]
    editor.get(path)
    assert editor.send(f"{path}/unpublish") == 200
    assert anyone.get("/content/butter") == 404
    assert_lists_agree(cms)


def test_the_largest_body_that_fits_in_an_item_is_saved_unchanged(site: ServedSite) -> None:
    editor = visit(site, "editor")
    path = begun(editor, "A long text", "word " * (BODY_BYTES_MAX // 5 - 1))
    editor.get(path)
    assert editor.send(path, action="save", excerpt="A summary.") == 200
    assert editor.send(path, action="save", content="ä" * (BODY_BYTES_MAX // 2 + 1)) == 422
    assert editor.says(f"a version holds at most {BODY_BYTES_MAX:,}")


def test_the_second_of_two_concurrent_saves_of_an_article_is_rejected(site: ServedSite) -> None:
    author, editor = visit(site, "author"), visit(site, "editor")
    path = begun(author, "Two at once", "First.")
    editor.get(path)
    author.get(path)
    assert author.send(path, content="The quicker text.", action="save") == 200
    assert editor.send(path, content="The slower text.", action="save") == 409
    assert editor.says("The quicker text.")
    assert editor.says("The slower text.")
    assert editor.send(path, content="Both.", action="save") == 200
    editor.get(f"{path}/versions")
    assert editor.says("Version 3")
    editor.get(f"{path}/versions/3")
    assert editor.says("Removed: The quicker text.")
    assert editor.says("Added: Both.")
    editor.get(f"{path}/versions/1")
    assert editor.send(f"{path}/versions/1/restore") == 200
    assert editor.says("The earlier text is now the newest draft.")
    for wrong in ("9", "x", "0", "99999999999999"):
        assert editor.get(f"{path}/versions/{wrong}") == 404


def test_a_preview_link_shows_a_draft_until_it_expires(cms: Cms, site: ServedSite) -> None:
    author, anyone = visit(site, "author"), visit(site)
    path = begun(author, "Secret plans", "For **your** eyes.")
    assert author.send(f"{path}/share") == 200
    link = author.text.partition('class="token" href="')[2].partition('"')[0]
    token = link.rpartition("/")[2]
    assert anyone.get(f"/preview/{token}") == 200
    assert "<strong>your</strong>" in anyone.text
    assert "noindex" in anyone.text
    assert anyone.get(f"/preview/{token}x") == anyone.get("/preview/" + "x" * 5000) == 404
    cms.update(Preview, token_hash=token_hash(token), expires_at=datetime.now(UTC) - timedelta(seconds=1))
    assert anyone.get(f"/preview/{token}") == 404


def test_an_article_is_unpublished_before_it_is_deleted(cms: Cms, site: ServedSite) -> None:
    editor = visit(site, "editor")
    path = begun(editor, "Later on", "Text.")
    editor.send(f"{path}/publish")
    assert editor.post(f"{path}/delete", {"csrf": editor.csrf(), "confirm": "Later on"}) == 409
    editor.get(path)
    assert editor.send(f"{path}/unpublish") == 200
    assert editor.send(f"{path}/archive") == 200
    assert editor.send(f"{path}/unarchive") == 200
    assert editor.send(f"{path}/delete", confirm="Later") == 422
    editor.get(path)
    assert editor.send(f"{path}/delete", confirm="Later on") == 200
    assert editor.get(path) == 404
    assert_lists_agree(cms)


def test_the_front_page_shows_published_articles_only(cms: Cms, site: ServedSite) -> None:
    anyone = visit(site)
    assert anyone.get("/") == 200
    newest = cms.published_articles(limit=1).items[0]
    draft = cms.articles_by_state("draft", limit=1).items[0]
    assert anyone.says(newest.title)
    assert f"/content/{newest.slug}" in anyone.text
    assert f"/content/{draft.slug}" not in anyone.text


def test_two_articles_cannot_have_the_same_address(site: ServedSite) -> None:
    author = visit(site, "author")
    begun(author, "Taken")
    author.get("/new")
    assert author.send("/new", title="Taken", slug="taken") == 422
    assert author.says("another article has the slug taken")
    assert author.send("/new", title="Taken", slug="free") == 200


def test_new_members_without_a_role_cannot_write(site: ServedSite) -> None:
    somebody, admin = visit(site), visit(site, "admin")
    somebody.get("/sign-up")
    assert somebody.send("/sign-up", login="nobody", name="N") == 422
    assert somebody.join("new@example.com", "Nora") == 200
    assert somebody.says("An administrator must assign you a role")
    for path in ("/new", "/members", "/token"):
        assert somebody.get(path) == 404
    admin.get("/members")
    assert admin.says("Nora")
    target = next(part for part in admin.text.split('action="') if "Role of Nora" in part).partition('"')[0]
    assert admin.send(target, role="author") == 200
    assert somebody.get("/new") == 200
    admin.get("/members")
    assert admin.post("/members/u_03", {"csrf": admin.csrf(), "role": "author"}) == 409  # the founder
    for other in ("editor", "author"):
        assert visit(site, other).get("/members") == 404


def test_the_first_member_becomes_an_administrator() -> None:
    with Cms.open(":memory:") as empty:
        site = make_site(empty, OPTIONS)
        assert any("becomes the administrator" in line for line in site.told)
        for number, founder in enumerate((True, False)):
            somebody = Visit(site.application)
            somebody.join(f"n{number}@example.com")
            assert (somebody.get("/members") == 200) is founder


def test_cross_site_forms_are_rejected(site: ServedSite) -> None:
    editor = visit(site, "editor")
    path = begun(editor, "Foreign", "x")
    fields = {"csrf": editor.csrf()}
    assert editor.post(f"{path}/archive", {"a": "b"}) == 403
    editor.get(path)
    assert editor.post(f"{path}/archive", fields, {"origin": "https://evil.example"}) == 403
    assert editor.post(f"{path}/archive", fields, {"sec-fetch-site": "cross-site"}) == 403
    assert editor.post(f"{path}/archive", fields) == 200


# The API

_READS_OF_DRAFTS = ("article", "article_with_latest", "article_versions", "article_history", "version_cards")


@pytest.fixture(scope="module")
def client(cms: Cms, site: ServedSite) -> TestClient:
    return TestClient(Beside(app(cms, hosts=("testserver",), policy=site.policy), site.application))


def bearer(member: Visit) -> dict[str, str]:
    member.get("/token")
    member.send("/token")
    token = member.text.partition('class="token" tabindex="0">')[2].partition("<")[0]
    assert token
    return {"authorization": f"Bearer {token}"}


def test_authors_cannot_list_drafts_of_others(cms: Cms, site: ServedSite, client: TestClient) -> None:
    """Titles and excerpts of drafts are visible only to their authors and to editors."""
    cms.create_article(Article(title="A secret title", slug="hidden", author_id="u_99", tags={"hush"}))
    author, editor = (bearer(visit(site, literal)) for literal in ("author", "editor"))
    lists = (
        "articles_by_state?status=draft&limit=100",
        "articles_by_author?author_id=u_99",
        "articles_by_tag?tag=hush",
    )
    for pattern in lists:
        assert "secret" not in client.get(f"/api/{pattern}", headers=author).text
        assert "secret" in client.get(f"/api/{pattern}", headers=editor).text, pattern


def test_the_api_returns_no_drafts_to_anonymous_callers(cms: Cms, site: ServedSite, client: TestClient) -> None:
    draft = cms.create_article(Article(title="Draft", slug="hush", author_id="u_02", tags={"hush"}))
    cms.save_draft(draft.article_id, "a secret text", "u_02", title="A secret title")
    shown = cms.create_article(Article(title="Shown", slug="shown", author_id="u_02", tags={"hush"}))
    cms.publish(shown.article_id, "open", "u_02")
    cms.save_draft(shown.article_id, "a secret text", "u_02", title="A secret title", excerpt="a secret text")
    author, editor = (bearer(visit(site, literal)) for literal in ("author", "editor"))
    for name in (draft.article_id, shown.article_id):
        for pattern in _READS_OF_DRAFTS:
            answer = client.get(f"/api/{pattern}?article_id={name}")
            assert answer.status_code in ({200} if (pattern, name) == ("article", shown.article_id) else {401, 404})
            assert "secret" not in answer.text
        assert client.get(f"/api/article_version?article_id={name}&version=2").status_code == 404
    assert client.get(f"/api/article_version?article_id={shown.article_id}&version=1").status_code == 200
    assert client.get(f"/api/article_version?article_id={draft.article_id}&version=1").status_code == 404
    assert client.get("/api/article_by_slug?slug=hush").status_code == 404
    listed = client.get("/api/published_by_tag?tag=hush")
    assert [item["slug"] for item in listed.json()["items"]] == ["shown"]
    assert "secret" not in listed.text
    for path in ("/content", "/content/shown", "/content/hush", "/content?tag=hush"):
        assert "secret" not in client.get(path).text
    for headers in (author, editor):
        result = client.get(f"/api/article_with_latest?article_id={draft.article_id}", headers=headers)
        assert result.json()["version"]["body"] == "a secret text"


def test_the_cms_api_authenticates_callers(cms: Cms, site: ServedSite, client: TestClient) -> None:
    made = cms.create_article(Article(title="Of the editor", slug="of-the-editor", author_id="u_01"))
    author, editor = (bearer(visit(site, literal)) for literal in ("author", "editor"))
    given = {"article_id": made.article_id, "body": "x"}
    for pattern in ("publish", "save_draft"):
        assert client.post(f"/api/{pattern}", json=given).status_code == 401
        assert client.post(f"/api/{pattern}", json=given, headers=author).status_code in {403, 404}
        assert client.post(f"/api/{pattern}", json={**given, "created_by": "u_09"}, headers=editor).status_code == 400
        assert client.post(f"/api/{pattern}", json=given, headers=editor).json()["created_by"] == "u_01"
    for name in (
        "join",
        "set_role",
        "set_password",
        "credential",
        "member_by_email",
        "preview",
    ):
        assert client.get(f"/api/{name}", headers=editor).status_code == 404
        assert client.post(f"/api/{name}", json={}, headers=editor).status_code == 404
    article: dict[str, object] = {"title": "T", "slug": "api", "author_id": "u_01"}
    assert client.post("/api/create_article", json={"article": article}, headers=author).status_code == 404
    article |= {"author_id": "u_02", "status": "published", "current_version": 7, "published_version": 7}
    answer = client.post("/api/create_article", json={"article": article}, headers=author)
    assert answer.status_code == 200, answer.text
    assert (answer.json()["status"], answer.json()["current_version"]) == ("draft", 0)
    assert client.post("/api/create_article", json={"article": article}, headers=author).status_code == 409


def test_the_cms_api_rejects_values_over_its_limits(cms: Cms, site: ServedSite, client: TestClient) -> None:
    name = cms.create_article(Article(title="Attacked", slug="attacked", author_id="u_01")).article_id
    cms.save_draft(name, "x", "u_01")
    editor = bearer(visit(site, "editor"))
    edges = ("9999-12-31T23:59:59-12:00", "0001-01-01T00:00:00+14:00", "10000-01-01T00:00:00Z", "soon", "")
    attacks: list[tuple[str, dict[str, Any]]] = [
        ("publish_version", {"article_id": name, "version": 0}),
        ("publish_version", {"article_id": name, "version": 10**12}),
        ("share_preview", {"article_id": name, "hours": 10**9}),
        ("save_draft", {"article_id": name, "body": "x" * 500_000}),
        ("save_draft", {"article_id": name, "body": "x", "based_on": -1}),
        ("save_draft", {"article_id": name, "body": "x", "title": ""}),
        ("edit", {"article_id": name, "title": "T", "slug": "🎉" * 501}),
        ("edit", {"article_id": name, "title": "T", "slug": "#" * 500, "excerpt": "x" * 1001}),
        ("retag", {"article_id": name, "tags": [str(number) for number in range(41)]}),
        ("restore_version", {"article_id": name, "version": 99}),
    ]
    for pattern, given in attacks:
        status = client.post(f"/api/{pattern}", json=given, headers=editor).status_code
        assert 400 <= status < 500, (pattern, given)
    made = {"title": "T", "slug": "edge", "author_id": "u_01"}
    for at in (*edges, "9999-12-31T23:59:59Z"):
        for field in ("created_at", "published_at", "updated_at"):
            given = {"article": {**made, "slug": f"{field}-{at}", field: at}}
            assert client.post("/api/create_article", json=given, headers=editor).status_code < 500, given
    foreign = {"origin": "https://evil.example", "content-type": "application/json"}
    assert (
        client.post("/api/archive", content="", headers={**editor, "origin": "https://evil.example"}).status_code >= 400
    )
    assert client.post("/api/archive", json={"article_id": name}, headers={**editor, **foreign}).status_code == 403
    for path in (
        "/content?cursor=x",
        "/content?tag=%00",
        "/content/%ff",
        "/content/" + "x" * 3000,
        "/content?tag=" + "x" * 300,
    ):
        assert client.get(path).status_code < 500, path
    article = cms.article(name)
    assert article is not None
    assert (article.status, article.current_version) == ("draft", 1)


# Differences


def test_differences_between_two_versions_are_shown() -> None:
    before = "\n".join(f"line {number}" for number in range(20))
    lines = differences(before, before.replace("line 10\n", "").replace("line 12", "twelve"))
    assert lines is not None
    assert [line for line in lines if line.kind in {"gone", "new"}] == [
        ("gone", "line 10"),
        ("gone", "line 12"),
        ("new", "twelve"),
    ]
    assert lines[0].kind == "skipped"
    assert differences(before, before) == []
    assert differences("", "a\n" * (LINES_MAX + 1)) is None
