"""Front matter in YAML and TOML is parsed, and errors have line numbers."""

from __future__ import annotations

import datetime as dt

import pytest

from keyplan_systems.frontmatter import FrontMatterError, plain_text, read_front_matter, split_front_matter

YAML = "---\ntitle: A\ntags: [x, y]\n---\n\nText\n"


def test_yaml_front_matter_is_parsed() -> None:
    matter = read_front_matter(YAML)
    assert matter.fields == {"title": "A", "tags": ["x", "y"]}
    assert matter.body == "Text\n"


def test_toml_front_matter_is_parsed() -> None:
    matter = read_front_matter('+++\ntitle = "A"\n\ndate = 2020-01-02\n[author]\nname = "B"\n+++\nText\n')
    assert matter.fields == {"title": "A", "date": dt.date(2020, 1, 2), "author": {"name": "B"}}
    assert matter.body == "Text\n"


@pytest.mark.parametrize(
    ("text", "fields", "body"),
    [
        ("---\n---\n", {}, ""),
        ("---\n---", {}, ""),
        ("---  \na: 1\n...\nb: 2\n---\n", {"a": 1}, "b: 2\n---\n"),
        ("---\n# nothing\n---\nText", {}, "Text"),
        ("---\na: |\n  one\n  ---\n  two\n---\nText", {"a": "one\n---\ntwo\n"}, "Text"),
        ("+++\n+++\nText", {}, "Text"),
        ("---\na: 2013-13-45\n---\n", {"a": "2013-13-45"}, ""),
        ("---\n2013: x\n---\n", {"2013": "x"}, ""),
    ],
)
def test_front_matter_ends_at_its_closing_delimiter(text: str, fields: dict[str, object], body: str) -> None:
    matter = read_front_matter(text)
    assert (matter.fields, matter.body) == (fields, body)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Text",
        "# Title\n---\n",
        "{% include x %}\n",
        "{{ page.title }}",
        "----\na: 1\n----\n",
        "Title: a\n\nText",
        "{}\nText",
    ],
)
def test_texts_without_front_matter_are_read_unchanged(text: str) -> None:
    assert split_front_matter(text) is None
    assert read_front_matter(text) == ({}, text)


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ("---\ntitle: A\n", 1, "no end"),
        ("+++\ntitle = 'A'\n---\n", 1, "no end"),
        ("---\ntitle: A\nlist: [1, 2\nb: c\n---\n", 4, "YAML"),
        ("---\nok: 1\ntitle: Part: two\n---\n", 3, "mapping values are not allowed"),
        ("---\na: 1\nb: !ruby/object:Gem {}\n---\n", 3, "constructor"),
        ("---\na: 1\nb: \x00\n---\n", 3, "YAML"),
        ("---\n- a\n- b\n---\n", 2, "list"),
        ("---\njust words\n---\n", 2, "str"),
        ("---\na: " + "[" * 3000 + "\n---\n", 2, "YAML"),
        ("---\na: " + "x" * 64_000 + "\n---\n", 1, "64,004 characters"),
        ("---\na: " + "1" * 5000 + "\n---\n", 2, "YAML"),
        ("+++\nok = 1\ntitle = \n+++\n", 3, "TOML"),
        ('+++\nok = 1\ntitle = "A\n+++\n', 3, "TOML"),
    ],
)
def test_front_matter_errors_have_line_numbers(text: str, line: int, said: str) -> None:
    with pytest.raises(FrontMatterError, match=said) as caught:
        read_front_matter(text)
    assert caught.value.line == line


def test_byte_order_marks_and_encodings_of_files_are_recognized() -> None:
    assert plain_text(b"\xef\xbb\xbf---\r\na: 1\r\n---\r\nText\rmore\n") == "---\na: 1\n---\nText\nmore\n"
    with pytest.raises(FrontMatterError, match="0xe9") as caught:
        plain_text("---\na: 1\n---\nd\u00e9j\u00e0\n".encode("latin-1"))
    assert caught.value.line == 4


@pytest.mark.parametrize("number", ["9223372036854775808", "59" + ":59" * 10_000])
def test_front_matter_integers_that_are_too_large_are_read_as_strings(number: str) -> None:
    """Python raises ValueError if it converts an integer of more than 4,300 digits to a string."""
    assert read_front_matter(f"---\ntitle: {number}\n---\n").fields == {"title": number}
