"""Every function that reads user text takes linear time, even if the text repeats one token."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from keyplan_systems import words
from keyplan_systems.blog.site.pages.feeds import absolute
from keyplan_systems.cms.differences import differences
from keyplan_systems.frontmatter import FrontMatterError, read_front_matter
from keyplan_systems.linking import Links, SiteFolder
from keyplan_systems.markdown_parsing import first_heading, first_paragraph
from keyplan_systems.papers.bibtex import BibtexFiles
from keyplan_systems.papers.csl import read_csl
from keyplan_systems.papers.records import doi_of, handle_of, topics_of
from keyplan_systems.plain_markdown import plain_markdown
from keyplan_systems.posts import day_named, is_pattern, read_post
from keyplan_systems.shop.tables import Table
from keyplan_systems.site.markdown import looked_at, render_markdown, without_title
from keyplan_systems.site.safety import left_out, safe
from keyplan_systems.site.searching import Document, Search
from tests.executed_lines import growth

FEW = ("``a `", "<b ", "{{", "> ", "\\", '"', "{", "\n\n[a]: b")
MORE = (
    "[",
    *(
        "`a",
        "*",
        "**a",
        "*a",
        "_",
        "__a",
        "~~~\n",
        "```x\n",
        "<b",
        "<noscript>",
        "<!-- ",
        '<p a="',
        "<p a='\"",
        "<p a=b ",
    ),
    *(
        "![",
        "[a](",
        "[](",
        "[^",
        "[^a]: b\n\n",
        "[]",
        "[[]",
        "(",
        ")",
        "<",
        "<a",
        "<!--",
        "&",
        "&amp;",
        "{%",
        "}}",
        "{#",
    ),
    *(
        "#",
        "# ",
        "a ",
        "a",
        " ",
        "\t",
        "\n",
        "=\n",
        "\n- ",
        "  - a\n",
        "1. a\n",
        "    a\n",
        "a\n: b\n",
        "|-",
        "|a|\n|-|\n",
    ),
    *("{{< a >}}", "{{< a ", "{{</* ", "{% a %}", "{% comment %}", "{: .a}\n", "[a](b){.c}"),
    *("[[a]]", "[a]({{ b }})", "](a b", "[a](<", "<a href='", "x: y\n"),
    *(
        "}",
        "@a{b,",
        "@a{b,c={",
        "\\a",
        "\\{",
        '\\"',
        "$",
        "~",
        "%\n",
        "--",
        " and ",
        "crossref={",
        "10.",
        "10.1/",
        ";",
        "-",
    ),
    *(
        '{"id":1\n',
        '{"id":"\n',
        '{"a":[',
        '{"id":"1","title":"x"}\n',
        "http://",
        "mailto:",
        ".#",
        "2024-01-",
        "é",
        "\u0301",
    ),
)


def in_file(folder: Path, name: str, read: Callable[[Path], object]) -> Callable[[str], object]:
    path = folder / name

    def called(text: str) -> object:
        path.write_text(text, encoding="utf-8")
        return read(path)

    return called


def rows_of(path: Path) -> list[object]:
    return list(Table(path, lambda *_: None).rows())


def functions(folder: Path) -> dict[str, Callable[[str], object]]:
    """Return functions that read user text: in posts, headings, search, imports, bibliographies and links."""
    site = SiteFolder(folder)
    links, search = Links(site, {"a.md": "/posts/a"}, {}, lambda _: None), Search(None)
    return {
        "render": render_markdown,
        "render a heading": lambda text: render_markdown(f"# {text} {{#a}}"),
        "look": looked_at,
        "without title": lambda text: without_title(f"# {text}", text),
        "safe": safe,
        "left out": lambda text: list(left_out(text)),
        "feed": lambda text: absolute(safe(text), "https://a", "https://a/b"),
        "excerpt": first_paragraph,
        "heading": first_heading,
        "search words": words.plain_words,
        "search": lambda text: search.find(text, 5) if search.replace_all([Document("1", *(text,) * 4)]) else None,
        "slug": lambda text: words.is_slug(words.slug_from(text)),
        "tag": lambda text: (words.tag_from(text), words.is_tag(text), words.is_line(text)),
        "address": lambda text: (words.address_key(text), words.has_scheme(text), is_pattern(text), day_named(text)),
        "link": lambda text: links.address("a.md", text, False),
        "import": lambda text: plain_markdown(text, lambda given, _: links.address("a.md", given, False)),
        "front matter": lambda text: read_front_matter(f"---\na: 1\n---\n{text}"),
        "front matter in TOML": lambda text: read_front_matter(f"+++\n{text}\n+++\n"),
        "post": in_file(folder, "post.md", lambda path: read_post(folder, path)),
        "BibTeX": in_file(folder, "a.bib", lambda path: list(BibtexFiles([path]).read(path))),
        "a title of BibTeX": in_file(
            folder,
            "b.bib",
            lambda path: (
                path.write_text(f"@a{{k, title = {{{path.read_text()}}}}}") and list(BibtexFiles([path]).read(path))
            ),
        ),
        "names of BibTeX": in_file(
            folder,
            "c.bib",
            lambda path: (
                path.write_text(f"@a{{k, title={{x}}, author={{{path.read_text()}}}}}")
                and list(BibtexFiles([path]).read(path))
            ),
        ),
        "CSL": in_file(folder, "a.json", lambda path: list(read_csl(path))),
        "a title of CSL": in_file(
            folder,
            "b.json",
            lambda path: (
                path.write_text(json.dumps({"id": "1", "title": f"{path.read_text()}>"})) and list(read_csl(path))
            ),
        ),
        "a record": lambda text: (doi_of(text, text), handle_of(text), topics_of(text)),
        "CSV": in_file(folder, "a.csv", rows_of),
        "versions": lambda text: differences(text, text[::-1]),
    }


@pytest.mark.parametrize("mark", (*FEW, *MORE) if os.environ.get("KEYPLAN_NIGHTLY") else FEW)
def test_the_number_of_executed_lines_is_linear_in_the_text_length(mark: str, tmp_path: Path) -> None:
    size = 1_500
    grown: dict[str, float] = {}
    for name, call in functions(tmp_path).items():
        for before in ("", "a "):
            small, large = (before + (mark * length)[:length] for length in (size, 2 * size))
            if times := growth(call, small, large, FrontMatterError):
                grown[f"{name} of {before}{mark}"] = times
    assert grown == {}


@pytest.mark.nightly
@pytest.mark.parametrize("mark", FEW)
def test_very_large_user_text_is_processed(mark: str, tmp_path: Path, record_property: Callable[..., None]) -> None:
    """The texts have 400,000 characters. The CPU time of each function is recorded, but not limited."""
    text = (mark * 400_000)[:400_000]
    start = time.process_time()
    for name, call in functions(tmp_path).items():
        with suppress(FrontMatterError):
            call(text)
        record_property(name, time.process_time() - start)
        start = time.process_time()


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("**Bold** and *light*, `code` and ``two ` ticks``", "Bold and light, code and two ` ticks"),
        ("2 * 3 * 4 is 24", "2 * 3 * 4 is 24"),
        ("See [the docs](/docs) and ![a picture](/a.png).", "See the docs and ."),
        ("A note with <b>HTML</b>", "A note with HTML"),
    ],
)
def test_an_excerpt_contains_no_markup(text: str, plain: str) -> None:
    assert first_paragraph(text) == plain


def test_indexed_search_words_contain_no_urls_and_no_html() -> None:
    text = 'See [the *docs*](https://a.example/x "t") at https://b.example, <a href="c">here</a>: 1 < 2 `code`'
    assert words.plain_words(text).split() == ["See", "the", "docs", '"t"', "at", "here", ":", "1", "<", "2", "code"]


def test_the_content_of_a_noscript_element_is_shown_as_html() -> None:
    shown = '<div><img src="/a.png" alt="A chart"></div>'
    assert safe('<div><noscript><img src="/a.png" alt="A chart"></noscript></div>') == shown
    assert safe("<scr<noscript>ipt>alert(1)</scr</noscript>ipt>") == safe("<script>alert(1)</script>") == ""
    assert list(left_out("<noscript><img src='/a.png' onload=x></noscript>")) == ["<img onload>"]


@pytest.mark.parametrize("heading", ["# A title", "\n# A title #  ", "#\tA title"])
def test_a_heading_that_repeats_the_title_is_removed(heading: str) -> None:
    assert without_title(f"{heading}\n\nText.", "A title").strip() == "Text."
