"""Papers are exported to other formats, exported files are imported again, and citations are formatted."""

from __future__ import annotations

import re
import tracemalloc
from datetime import UTC, datetime
from pathlib import Path

import pytest

from keyplan.errors import ItemNotFound, Refused
from keyplan_systems.papers import Papers
from keyplan_systems.papers.design import Membership, Paper, PaperDetails, Status
from keyplan_systems.papers.export import citation, to_bibtex
from keyplan_systems.papers.loader import load
from keyplan_systems.papers.sample import whole_paper
from tests.systems.support import silent

FIRST_OF_MAY = datetime(2026, 5, 1, tzinfo=UTC)
WHOLE = Paper(
    paper_id="erdos26",
    title="On $5 & 100% of {keys}_x ~ # \\ “quotes”",
    abstract="A backslash \\ and {braces}, 50% & more; Naïve — ø.",
    collection="Theory & Practice",
    kind="article",
    status="published",
    published_at=FIRST_OF_MAY,
    topics={"keys", "c#"},
    doi="10.1000/a_b%20(1)",
    url="https://example.com/~a?b=1&c=%20#d",
    volume="12",
    issue="3–4",
    pages="101–117",
    publisher="Smith & Sons",
    editors=["Ed Itor", "Research, Inc."],
    further={"article-number": "7", "isbn": "3-540", "note": "See {also} & 50%", "series": "Lecture Notes"},
)
PEOPLE = ("Paul Erdős", "Johannes van der Waals", "Health and Safety Office", "Smith, Inc.", "Anderson Band")


def members(paper: Paper, *names: str) -> list[Membership]:
    return [
        Membership(paper_id=paper.paper_id, handle=f"h{at}", position=at, name=name, published_at=paper.published_at)
        for at, name in enumerate(names, 1)
    ]


def again(text: str, path: Path) -> tuple[Paper, list[str]]:
    """Import the text into an empty catalogue, and return the paper with its authors' names."""
    path.write_text(text, encoding="utf-8")
    with Papers.open(":memory:") as papers:
        report = load(papers, path, silent)
        assert (report.loaded, report.errors) == (1, [])
        (paper_id,) = (element["paper_id"]["S"] for element in scan(papers) if element["SK"]["S"].startswith("PAPER#"))
        authors = papers.paper_with_authors(paper_id)
        assert authors is not None
        return authors.paper, [
            author.name for author in sorted(authors.authors, key=lambda membership: membership.position)
        ]


def scan(papers: Papers) -> list[dict[str, dict[str, str]]]:
    items: list[dict[str, dict[str, str]]] = papers.store.transport.call("Scan", {"TableName": "papers"})["Items"]
    return items


def test_exported_papers_can_be_imported(tmp_path: Path) -> None:
    wholes = [(WHOLE, members(WHOLE, *PEOPLE))]
    for number in range(8):
        element = whole_paper(number, FIRST_OF_MAY)
        paper = element.paper.model_copy(
            update={"status": "published", "kind": "article", "published_at": FIRST_OF_MAY, "expires_at": None}
        )
        wholes.append((paper, element.members))
    for paper, people in wholes:
        result, names = again(to_bibtex(paper, people), tmp_path / "a.bib")
        ours = {"title", "abstract", "collection", "published_at", "topics", "doi", "url", "volume", "issue", "pages"}
        ours |= {"publisher", "editors", "further", "paper_id"}
        assert result.model_dump(include=ours) == paper.model_dump(include=ours)
        assert sorted(names) == sorted(person.name for person in people)


def test_papers_without_a_date_are_exported_without_a_date() -> None:
    draft = Paper(paper_id="a", title="A draft", collection="data")
    assert "year" not in to_bibtex(draft, [])
    assert citation(draft, []) == "(undated) “A draft.” Data."


def test_citations_of_a_paper_are_formatted() -> None:
    assert citation(WHOLE.model_copy(update={"title": "Keys"}), members(WHOLE, "Paul Erdős")) == (
        "Paul Erdős (2026) “Keys.” Theory & Practice 12(3–4), 101–117. https://doi.org/10.1000/a_b%20(1)"
    )
    for count, people in ((2, "N1 and N2"), (3, "N1, N2 and N3"), (9, "N1, N2, N3, N4, N5, N6 et al.")):
        names = [f"N{number}" for number in range(1, count + 1)]
        assert citation(WHOLE, members(WHOLE, *names)).startswith(f"{people} (2026) ")


@pytest.mark.parametrize(
    ("entry", "written"),
    [
        ("@techreport{a, title={T}, institution={I}, number={3}, type={Memo}, year={2020}}", "institution = {I}"),
        ("@phdthesis{a, title={T}, school={S}, address={P}, year={2020}}", "school = {S}"),
        ("@book{a, title={T}, publisher={P}, edition={2}, year={2020}}", "edition = {2}"),
        ("@misc{a, title={T}, howpublished={Letter}, year={in press}}", "year = {in press}"),
        ("@article{a, title={T}, journal={J}, issue={1}, year={2020}, month={12--15 June}}", "month = {12–15 June}"),
        (
            "@inproceedings{a, title={T}, booktitle={B}, series={LNCS}, organization={O}, year={2020}}",
            "series = {LNCS}",
        ),
    ],
)
def test_an_imported_bibtex_entry_is_exported_unchanged(entry: str, written: str, tmp_path: Path) -> None:
    paper, _ = again(entry, tmp_path / "a.bib")
    text = to_bibtex(paper, [])
    said = dict(re.findall(r"(\w+) ?= ?\{+([^{}]+)\}+", text.replace("–", "--")))
    given = dict(re.findall(r"(\w+)=\{([^{}]+)\}", entry))
    assert written in text
    assert {name: said.get(name) for name in given} == given
    assert again(text, tmp_path / "a.bib")[0] == paper


def test_exported_keys_are_valid_in_bibtex() -> None:
    odd = WHOLE.model_copy(update={"paper_id": 'a b,c{d}"#%'})
    assert to_bibtex(odd, []).startswith("@article{a-b-c-d-,\n")


# Limits of files


def bomb(doublings: int) -> str:
    lines = ['@string{a0 = "' + "lol" * 10 + '"}']
    lines += [f"@string{{a{n} = a{n - 1} # a{n - 1}}}" for n in range(1, doublings)]
    return "\n".join([*lines, f"@article{{x, title = {{T}}, journal = a{doublings - 1}, abstract = a{doublings - 1}}}"])


def test_the_expansion_of_bibtex_macros_is_limited_in_size(tmp_path: Path) -> None:
    """Without a limit, 30 @string lines would expand to 16 GB."""
    (tmp_path / "a.bib").write_text(bomb(30), encoding="utf-8")
    many = bomb(6) + "".join(f"\n@string{{b{n} = a5 # {{{n}}}}}" for n in range(12_000)) + "\n@misc{y, title = {U}}\n"
    (tmp_path / "b.bib").write_text(many, encoding="utf-8")
    tracemalloc.start()
    try:
        with Papers.open(":memory:") as papers:
            report = load(papers, tmp_path, silent)
            _, peak = tracemalloc.get_traced_memory()
            assert papers.paper("y") is not None
    finally:
        tracemalloc.stop()
    assert report.loaded == 2  # both contain an x, which is reported
    assert peak < 40_000_000
    assert "a.bib:8: macro a7 isn't expanded: it has more than 2,000 characters" in str(report.errors[0])


# Editing


def test_every_field_of_a_paper_can_be_edited(papers: Papers) -> None:
    papers.add_paper(Paper(paper_id="a", title="A", collection="c", topics={"x"}), {"jon": "author"})
    edited = papers.edit_paper("a", PaperDetails(title="B", collection="d", doi="10.1/x", editors=["E"]))
    assert papers.paper("a") == edited
    assert [paper.paper_id for paper in papers.papers_in_collection("d")] == ["a"]
    assert not papers.papers_in_collection("c")


def test_cited_and_citing_papers_of_a_paper_are_listed(papers: Papers) -> None:
    for name in ("a", "b", "c"):
        papers.add_paper(Paper(paper_id=name, title=name, collection="c"), {})
    papers.refer("a", "b")
    papers.refer("a", "b")
    papers.refer("c", "b")
    assert [reference.paper_id for reference in papers.references("a")] == ["b"]
    assert [paper.paper_id for paper in papers.cited_by("b")] == ["a", "c"]
    whole = papers.paper_with_authors("a")
    assert whole is not None
    papers.unrefer("a", "b")
    assert not papers.references("a")
    for wrong in ("a", "nothing"):
        with pytest.raises((Refused, ItemNotFound), match=r"can't refer to itself|there is no paper"):
            papers.refer("a", wrong)


def test_the_public_list_contains_only_published_papers(papers: Papers) -> None:
    for number in range(6):
        status: Status = "published" if number % 2 else "draft"
        papers.add_paper(Paper(paper_id=f"p{number}", title="P", collection="c", status=status), {})
    papers.supersede("p1", "p3")
    assert [paper.paper_id for paper in papers.published_in_collection("c", limit=2)] == ["p5", "p3"]
