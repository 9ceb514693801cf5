"""Bibliographies are imported completely and once, and errors have line numbers."""

from __future__ import annotations

import json
import tracemalloc
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from keyplan.errors import RequestError
from keyplan.systems import LoadReport
from keyplan_systems.papers import Papers
from keyplan_systems.papers.design import byline
from keyplan_systems.papers.loader import load
from keyplan_systems.papers.records import FILE_BYTES_MAX, UNDATED, handle_of, moment_of, topics_of
from tests.cli.support import run
from tests.systems.papers.support import assert_consistent, plain_items
from tests.systems.support import all_pages, recorded, silent

KRR = Path(__file__).parents[4] / "shared" / "data" / "krr.bib"

BIBTEX = r"""
% a comment by custom
@comment{jabref-meta: x}
@preamble{"\newcommand{\x}{}"}
@string{tplp = "Theory and " # {Practice}}

@article{good,
  title = {On {\"U}ber--keys and $n^2$ {SQL}},
  author = "Erd{\H o}s, Paul and van der Waals, Johannes and {The Group} and others",
  journal = tplp # { of X}, year = 2020, month = mar,
  keywords = {Keys; Indexes, keys},
  doi = {10.1/a\_b}, url = {https://example.com/~a?b=1},
  abstract = {Na{\"\i}ve \emph{text} -- with
    two lines.}
}
@inproceedings{child, title = {A Child}, crossref = {proc}, author = {M{\"u}ller, Jr., Hans and M{\"u}ller, Jr., Hans}}
@article(round, title = "Round (brackets)", author = {A. B.}, year = "in press")
@proceedings{proc, title = {Proc. of Y}, editor = {Ed Itor}, year = {1999}, month = {12--15 June}}
@phdthesis{thesis, title={A Thesis}, author={Knuth, D.}, date={1963-06-02}}
"""
CSL = """[
  {"id": "x1", "type": "article-journal", "title": "A <i>B</i>", "container-title": "J", "keyword": "A, b",
   "author": [{"family": "Erdős", "given": "Paul"}, {"literal": "ACM"}, {"family": "Beethoven",
   "non-dropping-particle": "van", "given": "L."}],
   "issued": {"date-parts": [[2020, 5, 17]]}, "abstract": "{", "DOI": "10.1/x", "URL": "https://example.com"},
  {"id": 7, "title": "Braces } in \\"texts\\"", "issued": {"raw": "2019-03-04"}, "editor": [{"family": "E"}]}
]"""


@pytest.fixture
def empty() -> Iterator[Papers]:
    with Papers.open(":memory:") as opened:
        yield opened


def loaded(papers: Papers, path: Path, text: str) -> LoadReport:
    path.write_text(text, encoding="utf-8")
    return load(papers, path, silent)


def told(report: LoadReport) -> list[str]:
    return [str(fault) for fault in report.errors]


def people(papers: Papers, paper_id: str) -> list[tuple[str, str, str]]:
    whole = papers.paper_with_authors(paper_id)
    assert whole is not None
    return [(membership.name, membership.handle, membership.role) for membership in byline(whole.authors)]


# BibTeX


def test_bibtex_entries_are_imported_as_papers(empty: Papers, tmp_path: Path) -> None:
    report = loaded(empty, tmp_path / "a.bib", BIBTEX)
    assert report.loaded == 5
    (others,) = told(report)
    assert "entry good omits authors: 'and others' isn't imported" in others
    good = empty.paper("good")
    assert good is not None
    assert (good.title, good.collection, good.kind, good.status) == (
        "On Über–keys and n^2 SQL",
        "Theory and Practice of X",
        "article",
        "published",
    )
    assert good.published_at == datetime(2020, 3, 1, tzinfo=UTC)
    assert good.topics == {"keys", "indexes"}
    assert good.abstract == "Naïve text – with two lines."
    assert (good.doi, good.url) == ("10.1/a_b", "https://example.com/~a?b=1")
    assert people(empty, "good") == [
        ("Paul Erdős", "paul-erdos", "author"),
        ("Johannes van der Waals", "johannes-van-der-waals", "author"),
        ("The Group", "the-group", "author"),
    ]
    assert people(empty, "child") == [("Hans Müller Jr.", "hans-muller-jr", "author")]  # repeated names are listed once
    child, thesis, round_ = (empty.paper(name) for name in ("child", "thesis", "round"))
    assert child is not None
    assert thesis is not None
    assert round_ is not None
    assert (child.collection, child.published_at) == ("Proc. of Y", datetime(1999, 6, 1, tzinfo=UTC))
    assert (thesis.collection, thesis.published_at) == ("Theses", datetime(1963, 6, 2, tzinfo=UTC))
    assert (round_.title, round_.published_at) == ("Round (brackets)", UNDATED)
    assert people(empty, "proc") == [("Ed Itor", "ed-itor", "editor")]
    assert [paper.paper_id for paper in empty.papers_by_author("paul-erdos")] == ["good"]
    assert [paper.paper_id for paper in empty.papers_on_topic("indexes")] == ["good"]
    author = empty.author("paul-erdos")
    assert author is not None
    assert author.name == "Paul Erdős"
    assert_consistent(empty)


@pytest.mark.parametrize(
    ("written", "printed"),
    [
        (r"{\TeX} and \LaTeX{} users", "TeX and LaTeX users"),
        (r"A {\mtex}, \mtex\ and a {\it last} \mtex", "A mtex, mtex and a last mtex"),
        (r"The {B} to {X} of \BibTeX", "The B to X of BibTeX"),
        (r"The \BibTeX\ \emph{file} on \acro{CTAN}, {\tt x} in \XML", "The BibTeX file on CTAN, x in XML"),
        (r"\texttt{gringo} \textsf{a\_b} and \unknown{\texttt{c}}", "gringo a_b and c"),
        (r"{\noopsort{1973b}}1973, {\'E}t{\'e} \O re \Omega, a\Dash b", "1973, Été Øre Ω, a—b"),
    ],
)
def test_latex_commands_are_imported_as_text(empty: Papers, tmp_path: Path, written: str, printed: str) -> None:
    (tmp_path / "a.bib").write_text(f"@misc{{a, title = {{{written}}}, year = 2001}}")
    load(empty, tmp_path / "a.bib", silent)
    paper = empty.paper("a")
    assert paper is not None
    assert paper.title == printed


def test_an_id_that_is_invalid_in_urls_is_reported(empty: Papers, tmp_path: Path) -> None:
    (tmp_path / "a.bib").write_text(
        "".join(f"@misc{{{key}, title = {{T}}}}\n" for key in ("../../a", "b/../c", "d..e/f"))
    )
    report = load(empty, tmp_path / "a.bib", silent)
    assert (report.loaded, [fault.place for fault in report.errors]) == (1, ["a.bib:1", "a.bib:2"])


def test_errors_in_bibtex_have_line_numbers(empty: Papers, tmp_path: Path) -> None:
    text = (
        "A header that is no entry\n"
        "@article{a, title={A}}\n"
        "@article{notitle, author={A}}\n"
        "@article{open, title = {never closed,\n"
        "  year = 2020\n"
        "@article{b, title={B}}\n"
        "@article{a, title={again}}\n"
        "\n"
        "stray text\n"
        "and more\n"
        "@article{twice, title={T}, title={U}}\n"
        "@article{, title={No key}}\n"
        "@article{lost, title={L}, crossref={nowhere}}\n"
        "@article{end, title={E}"
    )
    report = loaded(empty, tmp_path / "a.bib", text)
    assert report.loaded == 4
    assert [word.partition(" (")[0] for word in told(report)] == [
        "a.bib:1: text outside of an entry is ignored: 'A header that is no entry'",
        "a.bib:3: entry notitle has no title",
        (
            "a.bib:4: the entry can't be read: Unexpected block start: `@article`. "
            "Was still looking for field-value closing `}`"
        ),
        "a.bib:7: a is the id of an earlier entry",
        "a.bib:9: text outside of an entry is ignored: 'stray text'",
        "a.bib:11: entry twice has title twice: the first is used",
        "a.bib:12: the entry has no key",
        "a.bib:14: the entry can't be read: Unexpectedly reached end of file",
        "a.bib:13: cross-references to 1 missing entries",
    ]
    lost = empty.paper("lost")
    assert lost is not None
    assert lost.collection == "nowhere"  # the key is the best available name
    again = empty.paper("a")
    assert again is not None
    assert again.title == "A"


def test_cross_references_and_macros_of_other_files_are_resolved(empty: Papers, tmp_path: Path) -> None:
    (tmp_path / "a.bib").write_text(
        "@inproceedings{c, title={C}, crossref={P}}\n@misc{m, title={M}, year=y}", encoding="utf-8"
    )
    (tmp_path / "b.bib").write_text(
        "@string{y={1999}}\n@book{p, booktitle={Proc}, year=y, title={T}}", encoding="utf-8"
    )
    report = load(empty, tmp_path, silent)
    assert (report.loaded, told(report)) == (3, [])
    papers = [(paper.collection, paper.published_at) for paper in empty.papers(["c", "m"])]
    assert papers == [("Proc", datetime(1999, 1, 1, tzinfo=UTC)), ("Miscellaneous", datetime(1999, 1, 1, tzinfo=UTC))]


def test_an_id_that_occurs_in_two_files_is_reported(empty: Papers, tmp_path: Path) -> None:
    (tmp_path / "a.bib").write_text("@article{a, title={First}}", encoding="utf-8")
    (tmp_path / "b.json").write_text('[{"id": "a", "title": "Second"}]', encoding="utf-8")
    report = load(empty, tmp_path, silent)
    assert (report.loaded, [fault.place for fault in report.errors]) == (1, ["b.json:1"])
    paper = empty.paper("a")
    assert paper is not None
    assert paper.title == "First"


def test_files_in_latin_1_are_imported_and_reported(empty: Papers, tmp_path: Path) -> None:
    for name, text in (("a.bib", "@article{a,\n title={Größe}}\n"), ("b.json", '[{"id": "b",\n "title": "Größe"}]')):
        (tmp_path / name).write_bytes(text.encode("latin-1"))
    hint = "the file isn't UTF-8, so invalid bytes are read as Latin-1 (save the file as UTF-8)"
    assert told(load(empty, tmp_path, silent)) == [f"a.bib:2: {hint}", f"b.json:2: {hint}"]
    assert [paper.title for paper in empty.papers(["a", "b"])] == ["Größe", "Größe"]


def test_papers_with_too_many_authors_or_topics_are_reported(empty: Papers, tmp_path: Path) -> None:
    authors = " and ".join(f"Author{number}" for number in range(80))
    topics = ", ".join(f"topic {number}" for number in range(25))
    report = loaded(
        empty, tmp_path / "a.bib", f"@article{{a, title={{A}}, author={{{authors}}}, keywords={{{topics}}}}}"
    )
    assert report.loaded == 1
    assert told(report) == [
        "a.bib:1: entry a has 25 topics: the first 20 are kept",
        "a.bib:1: entry a has 80 authors: the first 75 are kept",
    ]
    assert_consistent(empty)


def test_an_imported_byline_keeps_the_order_of_the_authors(empty: Papers, tmp_path: Path) -> None:
    report = loaded(
        empty, tmp_path / "a.bib", "@article{a, title={A}, author={C. X and A. Y and C. X and ... and B. Z}}"
    )
    assert [person[0] for person in people(empty, "a")] == ["C. X", "A. Y", "B. Z"]
    assert told(report) == ["a.bib:1: entry a: the name '...' has no letters or digits"]


# CSL-JSON


@pytest.mark.parametrize("form", ["array", "items", "lines"])
def test_csl_json_entries_are_imported_as_papers(empty: Papers, tmp_path: Path, form: str) -> None:
    text = CSL
    if form == "items":
        text = f'{{"items": {CSL}}}'
    elif form == "lines":
        first, _, second = CSL.strip("[]\n ").partition(',\n  {"id": 7')
        text = f'{" ".join(first.split())}\n{{"id": 7{second}\n'
    report = loaded(empty, tmp_path / "a.json", text)
    assert (report.loaded, told(report)) == (2, [])
    paper = empty.paper("x1")
    assert paper is not None
    assert (paper.title, paper.collection, paper.abstract) == ("A B", "J", "{")
    assert paper.published_at == datetime(2020, 5, 17, tzinfo=UTC)
    assert (paper.topics, paper.doi, paper.url) == ({"a", "b"}, "10.1/x", "https://example.com")
    assert people(empty, "x1") == [
        ("Paul Erdős", "paul-erdos", "author"),
        ("ACM", "acm", "author"),
        ("L. van Beethoven", "l-van-beethoven", "author"),
    ]
    seventh = empty.paper("7")
    assert seventh is not None
    assert (seventh.title, seventh.collection) == ('Braces } in "texts"', "Miscellaneous")
    assert people(empty, "7") == [("E", "e", "editor")]


def test_errors_in_csl_json_have_line_numbers(empty: Papers, tmp_path: Path) -> None:
    text = """[
  {"id": "a", "title": "A"},
  {
    "id": "c", "title": "C",
    "issued": "soon"
  },
  {"title": "no id"},
  {"id": "a", "title": "again"},
  {"id": "f", "title": "F", "author": "nobody", "keyword": 7, "issued": {"date-parts": [[2020, 13]]}},
  {"id": "b", "title": "B" "type": "book"},
  {"id": "d", "title": "D"}
]"""
    report = loaded(empty, tmp_path / "a.json", text)
    assert [word.partition(" (")[0] for word in told(report)] == [
        "a.json:3: entry c has an invalid date: soon",
        "a.json:7: the entry has no id",
        "a.json:8: a is the id of an earlier entry",
        "a.json:10: the rest of the file can't be read: Expecting ',' delimiter",
    ]
    assert report.loaded == 3
    assert all(empty.paper(name) for name in "acf")


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ('[\n{"id": "a", "title": "A [1"},\n', "2: the rest of the file can't be read: the list isn't closed"),
        ('{"items": [{"id": "a", "title": "A"}\n', "1: the rest of the file can't be read: the list isn't closed"),
        ('[{"id": "a", "title": "A"}, x, {}]', "1: the rest of the file can't be read: ', x, {}]' isn't an entry"),
        ('[{"id": "a", "title": "A"}]', None),
        ('{"items": [{"id": "a", "title": "A [1"}]}', None),
        ('{"id": "a", "title": "A ["}\n{"id": "b", "title": "B"}\n', None),
    ],
)
def test_a_truncated_csl_json_file_is_reported(empty: Papers, tmp_path: Path, text: str, error: str | None) -> None:
    report = loaded(empty, tmp_path / "a.json", text)
    hint = "the file may be truncated: repeat the export"
    assert told(report) == ([] if error is None else [f"a.json:{error} ({hint})"])
    assert empty.paper("a") is not None


def test_markup_in_csl_json_is_removed(empty: Papers, tmp_path: Path) -> None:
    text = json.dumps({
        "id": "a", "title": "R&amp;D of <i>E. coli</i>, a < b and x<y> &lt;c&gt;", "author": [{"literal": "A &amp; B"}],
        "abstract": "<jats:title>Abstract</jats:title><jats:p>One&#8217;s <jats:italic>two</jats:italic>.</jats:p>"
        "<jats:p>H<sub>2</sub>O &lt; p</jats:p>", "container-title": "J. &amp; K.", "keyword": "R&amp;D, <b>x</b>",
    })  # fmt: skip
    assert told(loaded(empty, tmp_path / "a.json", text)) == []
    paper = empty.paper("a")
    assert paper is not None
    assert (paper.title, paper.collection, paper.topics) == (
        "R&D of E. coli, a < b and x<y> <c>",
        "J. & K.",
        {"r&d", "x"},
    )
    assert paper.abstract == "Abstract One’s two. H2O < p"
    assert people(empty, "a")[0][0] == "A & B"


def test_folders_are_searched_for_bibliographies(empty: Papers, tmp_path: Path) -> None:
    for name in ("b.bib", "2024/may/a.bib", "2024/.trash/c.bib"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(f"@misc{{{Path(name).stem}, title={{T}}}}\nstray\n")
    report = load(empty, tmp_path, silent)
    assert (report.loaded, [fault.place for fault in report.errors]) == (2, ["2024/may/a.bib:2", "b.bib:2"])


def test_keywords_that_are_too_long_are_reported_and_omitted(empty: Papers, tmp_path: Path) -> None:
    report = loaded(empty, tmp_path / "a.bib", f"@misc{{a, title={{T}}, keywords={{one, {'x' * 201}, two}}}}\n")
    assert report.loaded == 1
    assert [message.partition(": 'xx")[0] for message in told(report)] == [
        "a.bib:1: entry a: a keyword is too long (maximum: 200 characters)"
    ]
    paper = empty.paper("a")
    assert paper is not None
    assert paper.topics == {"one", "two"}


def test_author_names_that_cannot_be_imported_unchanged_are_reported(empty: Papers, tmp_path: Path) -> None:
    authors = "Smith, John, Jr., PhD, Sir and Erdős, P. and Erdos, P. and {The Group}"
    report = loaded(empty, tmp_path / "a.bib", f"@misc{{a, title={{T}}, author={{{authors}}}}}\n")
    assert [message.partition(" (")[0] for message in told(report)] == [
        "a.bib:1: entry a: 'P. Erdos' and 'P. Erdős' have the same handle: only 'P. Erdős' is listed",
        "a.bib:1: entry a has a name with more than two commas, kept as written: 'Smith, John, Jr., PhD, Sir'",
    ]


ZOTERO = r"""
@article{mehra_indexing_2024,
	title = {Indexing at {Rest}: {A} {Field} {Study}},
	volume = {12},
	issn = {1234-5678},
	url = {https://example.org/a?b=1&c=2},
	doi = {10.1234/idx.2024.7},
	abstract = {We study {\textless}b{\textgreater}indexes. They cost 12\% of writes.},
	language = {en},
	urldate = {2024-06-01},
	journal = {Journal of Tables},
	author = {Mehra, Asha and {van der Berg}, Jan and others},
	month = may,
	year = {2024},
	note = {arXiv:2405.00001 [cs]},
	keywords = {Computer Science - Databases, indexes},
	pages = {101--117},
	file = {Full Text PDF:files/12/Mehra et al. - 2024.pdf:application/pdf},
}
"""
JABREF = r"""% Encoding: UTF-8

@Article{Lind2020,
  author       = {Lind, Åsa and Ek, {\"O}rjan},
  date         = {2020-04-12},
  journaltitle = {Nordic Journal of Storage},
  title        = {A Note on {GSI}s},
  doi          = {https://doi.org/10.5555/njs.4},
  eprint       = {2004.01234},
  file         = {:Lind2020.pdf:PDF},
  groups       = {To read, Indexes},
  keywords     = {indexes; cost},
  timestamp    = {2021-01-05},
}

@Comment{jabref-meta: databaseType:biblatex;}

@Comment{jabref-meta: grouping:
0 AllEntriesGroup:;
1 StaticGroup:To read\;0\;1\;0x8a8a8aff\;\;\;;
}
"""
ZOTERO_CSL = """[
  {"id": "http://zotero.org/users/1/items/ABCD", "type": "article-journal", "title": "On <i>Tables</i>",
   "abstract": "<jats:p>Short &amp; clear.</jats:p>", "container-title": "ACM Queue", "DOI": "10.1145/1",
   "source": "DOI.org (Crossref)", "title-short": "On Tables", "accessed": {"date-parts": [["2024", 6, 1]]},
   "author": [{"family": "Berg", "given": "Jan", "non-dropping-particle": "van der"}, {"literal": "The Table Group"}],
   "issued": {"date-parts": [["2019", 3]]}, "citation-key": "berg2019"}
]
"""


def test_exports_of_zotero_and_jabref_are_imported(empty: Papers, tmp_path: Path) -> None:
    for name, text in (("zotero.bib", ZOTERO), ("jabref.bib", JABREF), ("zotero.json", ZOTERO_CSL)):
        (tmp_path / name).write_text(text, encoding="utf-8")
    report = load(empty, tmp_path, silent)
    assert report.loaded == 3
    assert [fault.place for fault in report.errors] == ["zotero.bib:2"]
    assert "'and others' isn't imported" in report.errors[0].message
    names = ("mehra_indexing_2024", "Lind2020", "http://zotero.org/users/1/items/ABCD")
    mehra, lind, tables = papers = [empty.paper_with_authors(name) for name in names]
    assert mehra is not None
    assert lind is not None
    assert tables is not None
    assert [[author.name for author in byline(whole.authors)] for whole in papers if whole] == [
        ["Asha Mehra", "Jan van der Berg"],
        ["Åsa Lind", "Örjan Ek"],
        ["Jan van der Berg", "The Table Group"],
    ]
    assert mehra.paper.abstract == "We study <b>indexes. They cost 12% of writes."
    assert (mehra.paper.pages, mehra.paper.published_at) == ("101–117", datetime(2024, 5, 1, tzinfo=UTC))
    assert set(mehra.paper.further or {}) == {"file", "issn", "language", "note", "urldate"}
    assert (lind.paper.doi, lind.paper.topics) == ("10.5555/njs.4", {"indexes", "cost"})
    assert set(lind.paper.further or {}) == {"eprint", "file", "groups", "timestamp"}
    assert (tables.paper.title, tables.paper.abstract) == ("On Tables", "Short & clear.")
    assert set(tables.paper.further or {}) == {"citation-key", "source", "title-short", "urldate"}


def test_importing_a_file_that_is_not_a_bibliography_raises_an_error(empty: Papers, tmp_path: Path) -> None:
    report = loaded(empty, tmp_path / "a.json", '"just a text"\n')
    assert "'\"just a text\"' isn't an entry" in report.errors[0].message
    report = loaded(empty, tmp_path / "notes.txt", "Dear diary,\n\ntoday I read.\n")
    assert told(report) == ["notes.txt:1: text outside of an entry is ignored: 'Dear diary,' (2 lines)"]
    (tmp_path / "folder").mkdir()
    with pytest.raises(RequestError, match="contains no bibliography"):
        load(empty, tmp_path / "folder", silent)
    assert loaded(empty, tmp_path / "empty.bib", "").loaded == 0


# Importing again, and large files


def test_importing_an_unchanged_file_again_writes_nothing(empty: Papers, tmp_path: Path) -> None:
    loaded(empty, tmp_path / "a.bib", BIBTEX)
    before = plain_items(empty)
    recorder = recorded(empty)
    assert load(empty, tmp_path / "a.bib", silent).loaded == 5
    assert plain_items(empty) == before
    assert set(recorder.operations) <= {"BatchGetItem", "TransactWriteItems", "Query", "GetItem"}


def test_importing_a_changed_file_updates_papers(empty: Papers, tmp_path: Path) -> None:
    loaded(empty, tmp_path / "a.bib", BIBTEX)
    changed = BIBTEX.replace("Erd{\\H o}s, Paul", "Hilbert, David").replace("year = 2020", "year = 2021")
    changed = changed.replace("Keys; Indexes", "Tables")
    assert loaded(empty, tmp_path / "a.bib", changed).loaded == 5
    good = empty.paper("good")
    assert good is not None
    assert good.published_at == datetime(2021, 3, 1, tzinfo=UTC)
    assert good.topics == {"tables", "keys"}
    assert people(empty, "good")[0] == ("David Hilbert", "david-hilbert", "author")
    assert not empty.papers_by_author("paul-erdos")
    assert_consistent(empty)


def test_a_paper_changed_during_its_import_stays_consistent(empty: Papers, tmp_path: Path) -> None:
    """The topics of the paper change after the loader has read the paper."""
    entry = "@article{{a, title={{A}}, author={{B C}}, year={{{}}}, keywords={{{}}}}}\n"
    assert loaded(empty, tmp_path / "a.bib", entry.format(2001, "one, two")).errors == []
    recorder = recorded(empty)

    def meanwhile(operation: str, parameters: object) -> None:
        if operation == "TransactWriteItems" and recorder.operations[-1:] == ["Query"]:
            recorder.before = lambda *_: None
            empty.retopic("a", {"one", "meanwhile"})

    recorder.before = meanwhile
    report = loaded(empty, tmp_path / "a.bib", entry.format(2002, "two, three"))
    assert (report.loaded, report.errors) == (1, [])
    assert sorted(empty.paper("a").topics) == ["three", "two"]  # type: ignore[union-attr]
    assert_consistent(empty)


def test_importing_a_superseded_paper_does_not_change_it(empty: Papers, tmp_path: Path) -> None:
    loaded(empty, tmp_path / "a.bib", BIBTEX)
    empty.supersede("good", "thesis")
    before = plain_items(empty)
    loaded(empty, tmp_path / "a.bib", BIBTEX.replace("Naive", "Other"))
    assert plain_items(empty) == before


def test_a_very_long_abstract_is_truncated_and_reported(empty: Papers, tmp_path: Path) -> None:
    text = f"@article{{a, title={{A}},\n abstract={{{'x' * 300_000}}}}}\n@article{{b, title={{B}}}}\n"
    report = loaded(empty, tmp_path / "a.bib", text)
    assert (report.loaded, told(report)) == (2, ["a.bib:1: entry a: the abstract is truncated to 20,000 characters"])


@pytest.mark.parametrize("name", ["a.bib", "a.json"])
def test_a_bibliography_file_over_the_size_limit_is_reported(empty: Papers, tmp_path: Path, name: str) -> None:
    with (tmp_path / name).open("wb") as file:
        file.truncate(FILE_BYTES_MAX + 1)
    report = load(empty, tmp_path / name, silent)
    assert told(report) == [f"{name}:1: the file is larger than 67,108,864 bytes (split the file)"]


def test_importing_a_large_file_takes_limited_memory_and_reports_progress(empty: Papers, tmp_path: Path) -> None:
    """Most entries of the 10 MB file are invalid, and keeping all of them would exceed the memory limit."""
    path = tmp_path / "a.bib"
    entries, filler = 4000, "n" * 2500
    with path.open("w", encoding="utf-8") as file:
        for number in range(entries):
            title = "T" if number % 100 == 0 else ""
            file.write(f"@article{{e{number}, title={{{title}}}, abstract={{{filler}}}}}\n")
    steps: list[tuple[int, int | None]] = []
    tracemalloc.start()
    try:
        report = load(empty, path, lambda done, total: steps.append((done, total)))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert path.stat().st_size > 10_000_000
    assert peak < 25_000_000
    assert report.loaded == entries // 100
    assert len(report.errors) + report.more_faults == entries - entries // 100
    assert steps == sorted(steps)
    assert (steps[0], steps[-1]) == ((0, entries), (entries, entries))
    assert len(steps) > 100


def test_the_import_command_reports_errors(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.bib").write_text("@article{a, title={A}}\nstray\n", encoding="utf-8")
    result = run("import", "papers", "a.bib")
    assert result.exit_code == 3
    assert "a.bib:2: text outside of an entry is ignored: 'stray'" in result.stderr
    assert "Imported 1 into papers.db; 1 error, listed above." in result.stdout


# Units


def test_handles_are_generated_from_author_names() -> None:
    names = {
        "Erdős, P.": "erdos-p",
        "ERDOS  P": "erdos-p",
        "Łukasz": "łukasz",
        "Strauß": "strauss",
        "…": "",
        "李 明": "李-明",
    }
    assert {name: handle_of(name) for name in names} == names


def test_topics_and_dates_of_imported_papers_are_normalized() -> None:
    assert topics_of("A, b;C,,a") == ("a", "b", "c")
    assert moment_of("2020", "13") == datetime(2020, 1, 1, tzinfo=UTC)
    assert moment_of("soon") is None


# A complete bibliography


@pytest.fixture(scope="module")
def krr() -> Iterator[tuple[Papers, LoadReport]]:
    if not KRR.is_file():
        pytest.skip(f"{KRR} isn't there")
    with Papers.open(":memory:") as opened:
        yield opened, load(opened, KRR, silent)


def test_a_real_bibliography_is_imported_completely(krr: tuple[Papers, LoadReport]) -> None:
    _, report = krr
    text = KRR.read_text(encoding="utf-8")
    entries = sum(line.startswith("@") and not line.lower().startswith("@string") for line in text.splitlines())
    assert report.loaded == entries == 3195
    assert [fault.place for fault in report.errors] == ["krr.bib:249"]  # its proceedings are in another file
    assert "cross-references to 527 missing entries (jelia14, " in report.errors[0].message


def test_a_real_bibliography_is_listed_by_author_collection_and_topic(krr: tuple[Papers, LoadReport]) -> None:
    papers, _ = krr
    by_author = all_pages(papers.papers_by_author, "t-schaub", limit=100)
    assert len(by_author) == 418
    dates = [value.published_at for value in by_author]
    assert dates == sorted(dates, reverse=True)
    journal = all_pages(papers.papers_in_collection, "Theory and Practice of Logic Programming", limit=100)
    assert len(journal) == 151
    assert [paper.paper_id for paper in papers.papers_on_topic("circumscription")]
    names = [item["name"] for item in plain_items(papers) if "name" in item]
    assert not [name for name in names if "\\" in name or "{" in name or "\N{SOFT HYPHEN}" in name]
    assert "A. Erdős" in names
    assert_consistent(papers)
