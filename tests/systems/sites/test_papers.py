"""The site of the catalogue shows readers only published papers."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from keyplan.web import app
from keyplan.web.application import Beside
from keyplan_systems.pages.application import ServedSite
from keyplan_systems.papers import Papers
from keyplan_systems.papers.design import Author, Paper, PaperDetails
from keyplan_systems.papers.sample import DEMO_PASSWORD, DEMO_USERS, sample
from keyplan_systems.papers.searching import found_papers, keep_found, search_of
from keyplan_systems.papers.site.making import make_site
from keyplan_systems.site.searching import Document
from tests.systems.sites.support import OPTIONS, Visit
from tests.systems.support import silent
from tests.web.support import TestClient


@pytest.fixture(scope="module")
def papers() -> Iterator[Papers]:
    with Papers.open(":memory:", secret="s") as opened:
        sample(opened, 40, silent)
        opened.add_author(Author(handle="jon/x", name="Jon"))
        new = Paper(paper_id="a/b c", title="A <Paper>", collection="ethics & law", status="published", topics={"c#"})
        opened.add_paper(new, {"jon/x": "author"})
        further = {"note": "Withdrawn.", "isbn": "3-540", "article-number": "7"}
        opened.edit_paper("a/b c", PaperDetails(title="A <Paper>", collection="ethics & law", further=further))
        opened.add_paper(Paper(paper_id="draft", title="Hidden", collection="ethics & law"), {"jon/x": "author"})
        opened.refer("a/b c", "wp-0000")
        yield opened


@pytest.fixture(scope="module")
def site(papers: Papers) -> ServedSite:
    return make_site(papers, OPTIONS)


def test_readers_can_browse_published_papers(site: ServedSite) -> None:
    reader = Visit(site.application)
    assert reader.get("/search?q=ethics+%26+law") == 200
    assert reader.path == "/collections/ethics & law"
    assert reader.says("A <Paper>")
    assert not reader.says("Hidden")
    assert reader.get("/papers/a/b%20c") == 200
    assert reader.says("Jon")
    assert "“A <Paper>.” ethics &" in " ".join(reader.text.replace("&lt;", "<").replace("&gt;", ">").split())
    assert "/papers/wp-0000" in reader.text
    for said in ("Note Withdrawn.", "ISBN 3-540", "Article number 7"):
        assert reader.says(said)
    reader.get("/papers/wp-0000")
    assert reader.says("Cited by")
    assert reader.get("/search?q=Data+and+storage") == 200
    assert reader.path == "/collections/data-and-storage"
    assert reader.says("Data and storage")
    assert not reader.says("data-and-storage")
    for path in ("/authors/jon/x", "/topics/c%23"):
        reader.get(path)
        assert reader.says("A <Paper>")
        assert not reader.says("Hidden")
    assert reader.get("/") == 200
    assert "/collections/ethics%20%26%20law" in reader.text
    assert reader.says("A <Paper> Jon ethics & law")
    assert re.search(r"<dt>Papers</dt><dd>\d\d</dd>", reader.text)
    assert reader.says("c# 1")
    assert not reader.says("Hidden")
    assert reader.get("/collections/not%20there") == 404
    assert reader.get("/search?q=draft") == 200
    assert not reader.says("Hidden")
    assert reader.get("/search?q=nobody+knows") == 200
    assert reader.says("No paper matches “nobody knows”.")
    for path in ("/papers/draft", "/papers/none", "/papers/draft/as/bibtex", "/papers/a/b%20c/as/pdf", "/topics/none"):
        assert reader.get(path) == 404


def test_papers_are_found_by_search_words(papers: Papers, site: ServedSite) -> None:
    reader = Visit(site.application)
    for query in ("paper+jon", "c%23+ethics+pap"):
        assert reader.get(f"/search?q={query}") == 200
        assert "/papers/a/b%20c" in reader.text, query
    search = search_of(papers)
    title = papers.published_in_collection("data-and-storage").items[0]
    assert title.paper_id in [paper.paper_id for paper in found_papers(papers, search, title.title, 20)]
    assert found_papers(papers, search, "Hidden", 20) == []
    search.put(Document("draft", "Hidden", "", "", ""))  # an outdated index shows nothing by itself
    assert found_papers(papers, search, "Hidden", 20) == []
    papers.add_paper(Paper(paper_id="new", title="Marmalade", collection="kitchen"), {"jon/x": "author"})
    for found, change in (
        ([], lambda: None),
        (["new"], lambda: papers.publish("new")),
        ([], lambda: papers.supersede("new", "wp-0000")),
    ):
        change()
        keep_found(papers, search, "new")
        assert list(search.find("marmalade jon", 20)) == found


def test_the_paper_page_shows_the_full_text_reading_time_and_old_versions(papers: Papers, site: ServedSite) -> None:
    papers.add_paper(
        Paper(paper_id="long", title="Long", abstract="The first.", collection="c", status="published"),
        {"jon/x": "author"},
    )
    papers.new_version("long", "2.0", abstract="The second.")
    reader = Visit(site.application)
    reader.get("/papers/long")
    assert reader.says("1 min read")
    assert reader.says("The second.")
    assert reader.says("The first.")
    assert reader.get("/papers/long/text") == 404
    papers.set_text("long", "word " * 2300)
    reader.get("/papers/long")
    assert reader.says("10 min read")
    assert reader.get("/papers/long/text") == 200
    assert reader.says("word word")


def test_drafts_are_visible_only_to_their_author(papers: Papers, site: ServedSite) -> None:
    ada, barbara, anyone = (Visit(site.application) for _ in range(3))
    ada.sign_in(DEMO_USERS[0], DEMO_PASSWORD)
    barbara.sign_in("Barbara Almeida", DEMO_PASSWORD)  # a name from which the handle is derived
    ada.get("/drafts")
    assert ada.send("/drafts", title="Quiet Indexes", collection="Data and storage") == 200
    path = ada.path
    assert ada.says("This is a draft.")
    assert ada.send(f"{path}/version", version="0.1", abstract="Sparse.") == 422
    assert ada.says("isn't higher than 0.1")
    assert ada.send(f"{path}/version", version="0.2", abstract="Sparse ones.", text="Every word.") == 200
    ada.get("/drafts")
    assert ada.says("Quiet Indexes")
    for other in (barbara, anyone):
        for page in (path, f"{path}/text", f"{path}/as/bibtex"):
            assert other.get(page) == 404
        other.get("/search?q=quiet")
        assert not other.says("Quiet Indexes")
    barbara.get("/drafts")
    assert not barbara.says("Quiet Indexes")
    assert barbara.post(f"{path}/publish", {"csrf": barbara.csrf()}) == 404
    ada.get(path)
    assert ada.send(f"{path}/publish") == 200
    assert anyone.get(path) == 200
    assert not anyone.says("Earlier versions")  # drafts
    anyone.get("/search?q=quiet")
    assert anyone.says("Quiet Indexes")
    anyone.get("/sign-in")
    assert not anyone.says("Join")
    assert anyone.get("/sign-up") == 404


def test_papers_are_exported_as_bibtex(site: ServedSite) -> None:
    reader = Visit(site.application)
    assert reader.get("/papers/a/b%20c/as/bibtex") == 200
    assert reader.text.startswith("@misc{a/b-c,")
    assert "A <Paper>" in reader.text


def test_the_api_shows_only_published_papers(papers: Papers, site: ServedSite) -> None:
    served = Beside(app(papers, hosts=("testserver",), policy=site.policy), site.application)
    client = TestClient(served)
    assert client.get("/api/paper?paper_id=a%2Fb%20c").status_code == 200
    assert client.get("/api/paper?paper_id=draft").status_code == 404
    assert client.get("/api/paper_with_authors?paper_id=draft").status_code == 404
    assert client.get("/api/published_in_collection?collection=ethics").status_code == 200
    for pattern in ("papers_by_author?handle=ada", "papers_on_topic?topic=none"):
        assert client.get(f"/api/{pattern}").status_code == 200
    tried = client.get("/try/papers_by_author?handle=jon%2Fx").json()  # one of the papers is a draft
    assert (tried["status"], tried["requests"]) == (200, [])
    for pattern in ("add_paper", "credential", "edit_paper"):
        assert client.get(f"/api/{pattern}").status_code == 404


def test_urls_with_names_that_are_invalid_in_keys_return_status_404(site: ServedSite) -> None:
    reader = Visit(site.application)
    for path in (
        "/papers/",
        "/authors/",
        "/topics/",
        f"/papers/{'x' * 3000}",
        f"/authors/{'x' * 3000}",
        f"/topics/{'x' * 3000}",
    ):
        assert reader.get(path) == 404, path[:20]
        assert reader.says("Page not found"), path[:20]
