"""Slugs, tags and excerpts are normalized and validated."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from keyplan_systems.blog.entities import Post
from keyplan_systems.words import (
    EXCERPT_MAX,
    SLUG_MAX,
    TAG_MAX,
    excerpt_from,
    is_line,
    is_slug,
    is_tag,
    slug_from,
    tag_from,
    word_count,
)


@pytest.mark.parametrize(
    ("title", "slug"),
    [
        ("Über uns & so", "uber-uns-so"),
        ("  C# — and .NET! ", "c-and-net"),
        ("日本語の 題", "日本語の-題"),
        ("がぎ", "がぎ"),
        ("हिन्दी में", "हिन्दी-में"),
        ("שָׁלוֹם", "שלום"),
        ("①②", "12"),
        ("৴", "৴"),  # a numeral that Python considers a letter, but pydantic's regular expressions don't
        ("İ", "i"),
        ("a/../b?c=d", "a-b-c-d"),
        ("snake_case", "snake-case"),
        ("!!!", "post"),
        ("", "post"),
        ("x" * 150, "x" * SLUG_MAX),
        ("word " * 50, "-".join(["word"] * 20)),
    ],
)
def test_slugs_are_generated_from_titles(title: str, slug: str) -> None:
    assert slug_from(title) == slug


@given(st.text())
def test_the_slug_of_a_slug_is_the_same_slug(title: str) -> None:
    slug = slug_from(title)
    assert 1 <= len(slug) <= SLUG_MAX
    assert not set(slug) & set("/?#%& <>\"'")
    assert Post(user_id="u", slug=slug, title="T").slug == slug.lower()


@pytest.mark.parametrize("text", ["", "-", "a--b", "-a", "a-", "a b", "a_b", "a/b", "a\n", "‿", "\ud800"])
def test_invalid_slugs_are_rejected(text: str) -> None:
    assert not is_slug(text)
    with pytest.raises(ValidationError):
        Post(user_id="u", slug=text, title="T")


@given(st.text(st.characters(categories=["Nd", "Nl", "No", "Lo", "Mn", "Mc"]), min_size=1))
def test_letters_marks_and_numbers_of_every_script_are_valid_in_slugs(title: str) -> None:
    slug = slug_from(title)
    assert is_slug(slug)
    assert slug_from(slug) == slug
    assert Post(user_id="u", slug=slug, title="T").slug == slug


@pytest.mark.parametrize(
    ("text", "tag"),
    [
        ("Web Design", "web-design"),
        ("#C#", "c#"),
        (".NET", ".net"),
        ("F#,", "f#"),
        (".#a.", "a"),
        ("  ", ""),
        ("snake_case", "snake-case"),
        ("ÄÖ", "äö"),
        ("a,b", "a-b"),
        ("c++", "c++"),
        ("a\x07\u202eb", "ab"),
    ],
)
def test_tags_are_normalized(text: str, tag: str) -> None:
    assert tag_from(text) == tag
    assert len(tag_from(text * 50)) <= TAG_MAX


@given(st.text(max_size=80))
def test_random_strings_are_normalized_to_a_valid_tag_or_to_none(text: str) -> None:
    tag = tag_from(text)
    assert tag_from(tag) == tag
    assert not set(tag) & set(", \n\0")


@pytest.mark.parametrize("text", ["", " ", "\u200b", "a\nb", "a\0", "\u202eabc", "a\u2066", "a\u2028b"])
def test_invisible_and_bidirectional_control_characters_are_rejected(text: str) -> None:
    assert not is_line(text)
    assert not is_tag(text)


@pytest.mark.parametrize("text", ["A", "Où ?\xa0Là", "👩‍💻", "می‌خواهم", "שלום"])
def test_text_of_every_script_is_accepted(text: str) -> None:
    assert is_line(text)


def test_excerpts_are_short_plain_text() -> None:
    assert excerpt_from("# Title\n\nSome *text* with [a link](x).\n\nMore.") == "Some text with a link."
    assert excerpt_from("") == ""
    assert len(excerpt_from("word " * 500)) <= EXCERPT_MAX
    assert word_count("a  b\nc") == 3
