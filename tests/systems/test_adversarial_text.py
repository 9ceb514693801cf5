"""Texts of authors made of one repeated mark: excerpts, search words, titles and imports read them in bounded time."""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from pathlib import Path

import pytest
from keyplan_systems.marks import as_html, shown_raw

from keyplan_systems.frontmatter import FrontMatterError
from keyplan_systems.posts import first_paragraph, read_post
from keyplan_systems.site.markdown import render_markdown, without_title
from keyplan_systems.site.safety import left_out, safe
from keyplan_systems.words import excerpt_from, plain_words

MARKS = (
    *("`", "``a", "`a", "*", "**a", "*a", "_", "__a", "~~~\n", "```x\n"),
    *("<b ", "<b", "<noscript", "<noscript>", "<!-- ", '<p a="', "<p a='\"", "<div>"),
    *("[", "![", "](", "[a](", "[](", "[^", "[]", "[[]", "(", ")", "<", "<a", "<!--", "&", "{{", "{%", "}}"),
    *("#", "# ", "> ", "- ", "a ", " ", "\t", "\n", "\\", "=\n", "\n- "),
)
SIZE = 100_000


@pytest.mark.timeout(20)
@pytest.mark.parametrize("before", ["", "a", "# "])
@pytest.mark.parametrize("mark", MARKS)
def test_a_repeated_mark_is_read_in_bounded_time(mark: str, before: str, tmp_path: Path) -> None:
    """A cubic expression takes hours for these texts, a quadratic one longer than the limit of this test."""
    text = before + (mark * SIZE)[:SIZE]
    assert len(excerpt_from(text)) <= SIZE
    assert len(plain_words(text)) <= 2 * SIZE
    assert first_paragraph(text) is None or first_paragraph(text) != ""
    assert len(safe(text)) <= 6 * SIZE
    assert sum(1 for _ in left_out(text)) <= SIZE
    file = tmp_path / "note.md"
    file.write_text(text, encoding="utf-8")
    with suppress(FrontMatterError):
        assert read_post(tmp_path, file).title


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("**Bold** and *light*, `code` and ``two ` ticks``", "Bold and light, code and two ` ticks"),
        ("2 * 3 * 4 is 24", "2 * 3 * 4 is 24"),
        ("See [the docs](/docs) and ![a picture](/a.png)[this][one].", "See the docs and this."),
        ("A note[^1] with <b>HTML</b>", "A note with HTML"),
    ],
)
def test_an_excerpt_has_no_marks(text: str, plain: str) -> None:
    assert first_paragraph(text) == plain


def test_the_content_of_noscript_is_shown_as_html() -> None:
    assert safe('<div><noscript><img src="/a.png" alt="A chart"></noscript></div>') == (
        '<div><img src="/a.png" alt="A chart"></div>'
    )
    assert safe("<scr<noscript>ipt>alert(1)</scr</noscript>ipt>") == safe("<script>alert(1)</script>") == ""


@pytest.mark.timeout(20)
@pytest.mark.parametrize("mark", [" ", "\t", "#", " #", "{#a} ", "{#"])
def test_a_long_heading_is_shown_in_bounded_time(mark: str) -> None:
    text = f"# a{(mark * SIZE)[:SIZE]}b\n\nText."
    assert without_title(text, "Another") == text
    assert "Text." in render_markdown(text)


@pytest.mark.parametrize("heading", ["# A title", "\n# A title #  ", "#\tA title"])
def test_a_heading_that_repeats_the_title_is_not_shown(heading: str) -> None:
    assert without_title(f"{heading}\n\nText.", "A title").strip() == "Text."


@pytest.mark.timeout(20)
@pytest.mark.parametrize("mark", ["\\(", "$", "$a", "[[", ":a", "^^a", "~a", "==a", "++a", "{==a", "*[a", "![", " "])
def test_marks_of_other_renderers_are_read_in_bounded_time(mark: str) -> None:
    text = (mark * SIZE)[:SIZE]
    assert sum(shown_raw(text).values()) <= SIZE
    assert len(as_html(text, Counter(), Counter())) <= 20 * SIZE
