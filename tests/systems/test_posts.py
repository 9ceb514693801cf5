"""Post files are found in a folder, and their names and front matter are interpreted."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path

import pytest

from keyplan.errors import RequestError
from keyplan_systems.frontmatter import FrontMatterError
from keyplan_systems.markdown_parsing import first_paragraph
from keyplan_systems.posts import Post, find_posts, read_post, stable_id


def read(folder: Path, name: str, text: str) -> Post:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return read_post(folder, path)


def with_fields(folder: Path, fields: str, body: str = "Text\n") -> Post:
    return read(folder, "post.md", f"---\n{fields}\n---\n{body}")


# Names and titles


def test_dates_slugs_and_titles_in_jekyll_file_names_are_parsed(tmp_path: Path) -> None:
    post = read(tmp_path, "2013-05-06-jekyll-1-0-0-released.markdown", "---\n---\nText\n")
    assert (post.slug, post.date) == ("jekyll-1-0-0-released", datetime(2013, 5, 6, tzinfo=UTC))
    assert post.title == "Jekyll 1 0 0 released"


@pytest.mark.parametrize(
    ("name", "slug"),
    [
        ("blog/my-trip/index.md", "my-trip"),
        ("blog/_index.md", "blog"),
        ("2020-01-02-trip/index.md", "trip"),
        ("index.md", "index"),
        ("a.MD", "a"),
        ("Ein Tag.markdown", "Ein Tag"),
        ("2024-01-05.md", "2024-01-05"),
    ],
)
def test_a_post_without_a_slug_gets_one_from_its_file_name(tmp_path: Path, name: str, slug: str) -> None:
    assert read(tmp_path, name, "---\n---\n").slug == slug


@pytest.mark.parametrize(
    ("fields", "slug"),
    [
        ("slug: own\npermalink: /a/b/", "own"),
        ("permalink: /a/b/", "b"),
        ("url: https://example.org/a/c.html?x=1", "c"),
        ("permalink: /a/b/index.html", "b"),
        ("permalink: /:year/:title/", "post"),
        ("permalink: /", "post"),
    ],
)
def test_front_matter_fields_set_the_slug(tmp_path: Path, fields: str, slug: str) -> None:
    assert with_fields(tmp_path, fields).slug == slug


@pytest.mark.parametrize(
    ("fields", "body", "title"),
    [
        ("title: Given", "# Heading\n", "Given"),
        ("title: 2013", "", "2013"),
        ('title: "  two\\n lines "', "", "two lines"),
        ("a: 1", "Text\n\n## The *first* [one](x) ##\n", "The first one"),
        ("a: 1", "Under `lined`\n=====\n", "Under lined"),
        ("a: 1", "```sh\n# no heading\n```\n", "Post"),
        ("title: ''", "#hashtag\n", "Post"),
    ],
)
def test_titles_are_read_from_front_matter_or_headings(tmp_path: Path, fields: str, body: str, title: str) -> None:
    assert with_fields(tmp_path, fields, body).title == title


# Dates


@pytest.mark.parametrize(
    ("date", "expected"),
    [
        ("2013-05-06", datetime(2013, 5, 6, tzinfo=UTC)),
        ("2013-05-06 02:12:52", datetime(2013, 5, 6, 2, 12, 52, tzinfo=UTC)),
        ("2013-05-06 02:12:52 +0200", datetime(2013, 5, 6, 0, 12, 52, tzinfo=UTC)),
        ("2013-05-06 02:12:52 +02:00", datetime(2013, 5, 6, 0, 12, 52, tzinfo=UTC)),
        ("2013-05-06T02:12:52Z", datetime(2013, 5, 6, 2, 12, 52, tzinfo=UTC)),
        ('"2013-05-06T02:12:52.25-08:00"', datetime(2013, 5, 6, 10, 12, 52, 250000, tzinfo=UTC)),
        ("Mon, 06 May 2013 02:12:52 +0200", datetime(2013, 5, 6, 0, 12, 52, tzinfo=UTC)),
    ],
)
def test_dates_are_read_from_front_matter(tmp_path: Path, date: str, expected: datetime) -> None:
    assert with_fields(tmp_path, f"date: {date}").date == expected


@pytest.mark.parametrize(
    "date",
    ["soon", "2013-13-45", "2013-05-06 25:00", "20130506", "2013-05-06 02:12 Mars", "06.05.2013", "[1]", "{a: b}"],
)
def test_invalid_dates_in_front_matter_are_reported(tmp_path: Path, date: str) -> None:
    with pytest.raises(FrontMatterError, match=r"date is .* isn't a date"):
        with_fields(tmp_path, f"title: A\ndate: {date}")


def test_aliased_lists_in_yaml_front_matter_are_not_expanded(tmp_path: Path) -> None:
    """If each of 40 lists contains the previous list twice, the last one expands to 2**40 strings."""
    doubled = "\n".join(f"k{number}: &k{number} [*k{number - 1}, *k{number - 1}]" for number in range(1, 40))
    fields = f"k0: &k0 [x]\n{doubled}\ntags: *k39\nauthor: *k39\ntitle: *k39\nslug: *k39"
    post = with_fields(tmp_path, fields)
    assert (post.tags, post.authors, post.title, post.slug) == ((), (), "Post", "post")
    with pytest.raises(FrontMatterError, match="isn't a date"):
        with_fields(tmp_path, f"{fields}\ndate: *k39")


def test_a_front_matter_date_overrides_the_date_in_the_file_name(tmp_path: Path) -> None:
    post = read(tmp_path, "2013-05-06-a.md", "---\ndate: 2014-01-01\n---\n")
    assert post.date == datetime(2014, 1, 1, tzinfo=UTC)
    hugo = read(tmp_path, "b.md", "+++\npublishDate = 2014-01-01T10:00:00+01:00\n+++\n")
    assert hugo.date == datetime(2014, 1, 1, 9, tzinfo=UTC)
    assert read(tmp_path, "c.md", "---\n---\n").date is None
    assert read(tmp_path, "2013-13-06-a.md", "---\n---\n").date is None


# Drafts, tags, authors, excerpts


@pytest.mark.parametrize(
    ("name", "fields", "draft"),
    [
        ("a.md", "a: 1", False),
        ("a.md", "draft: true", True),
        ("a.md", "draft: 'yes'", True),
        ("a.md", "draft: false", False),
        ("a.md", "published: false", True),
        ("a.md", "published: true", False),
        ("_drafts/a.md", "a: 1", True),
    ],
)
def test_front_matter_fields_mark_drafts(tmp_path: Path, name: str, fields: str, draft: bool) -> None:
    assert read(tmp_path, name, f"---\n{fields}\n---\nText.\n").draft is draft


@pytest.mark.parametrize(
    ("fields", "tags"),
    [
        ("tags: [a, b c, a]", ("a", "b c")),
        ("tags:\n  - a\n  - 2013\n  - true\n  -\n", ("a", "2013", "true")),
        ("tags: a b  c", ("a", "b", "c")),
        ("tags: web design, c++ ,", ("web design", "c++")),
        ("tag: web design", ("web design",)),
        ("tags:", ()),
        ("tags: 7", ("7",)),
        ("tags: [[a], {b: c}, d]", ("d",)),
        ("tags: &t [*t, a]", ("a",)),
    ],
)
def test_tags_and_categories_are_read_from_front_matter(tmp_path: Path, fields: str, tags: tuple[str, ...]) -> None:
    assert with_fields(tmp_path, fields).tags == tags
    assert with_fields(tmp_path, fields.replace("tags:", "categories:").replace("tag:", "category:")).categories == tags


def test_tags_are_read_from_taxonomies_in_toml_front_matter(tmp_path: Path) -> None:
    assert read(tmp_path, "a.md", '+++\n[taxonomies]\ntags = ["a", "b"]\n+++\n').tags == ("a", "b")


@pytest.mark.parametrize(
    ("fields", "authors"),
    [
        ("author: parkr", ("parkr",)),
        ("author: [a, b]", ("a", "b")),
        ("authors: [{name: Ann, email: a@b.c}, Ben]", ("Ann", "Ben")),
        ("author: {login: ann, name: Ann}", ("ann",)),
        ("author: {}", ()),
        ("author:", ()),
    ],
)
def test_authors_are_read_from_front_matter(tmp_path: Path, fields: str, authors: tuple[str, ...]) -> None:
    assert with_fields(tmp_path, fields).authors == authors


def test_excerpts_are_read_from_front_matter_or_the_first_paragraph(tmp_path: Path) -> None:
    assert with_fields(tmp_path, "description: Said").excerpt == "Said"
    assert first_paragraph("# T\n\nFirst *words*\nhere.\n\nMore\n") == "First words here."
    assert with_fields(tmp_path, "a: 1", "").excerpt is None


@pytest.mark.parametrize(
    "skipped",
    ["# Heading", "Heading\n===", "- a\n- b", "> quote", "```\ncode\n```", "    code", "<div>x</div>", "{% raw %}",
     "![](a.png)", "[a]: http://x", "---", "<!-- no\n\nno -->", "| a |\n|---|\n| b |"],
)  # fmt: skip
def test_an_excerpt_skips_markup_before_the_first_paragraph(skipped: str) -> None:
    assert first_paragraph(f"{skipped}\n\nThe text.\n") == "The text."


def test_an_excerpt_of_the_first_paragraph_is_truncated_at_a_word() -> None:
    cut = first_paragraph("A [link](http://x) and `code`, " + "word " * 100)
    assert cut is not None
    assert cut.startswith("A link and code, word")
    assert cut.endswith("word…")
    assert len(cut) <= 280


# Files


def test_post_files_of_a_folder_are_found(tmp_path: Path) -> None:
    wanted = ["a.md", "b/_index.md", "b/_posts/c.markdown", "b/index.md", "d.MD"]
    others = [".git/x.md", "_site/x.md", "node_modules/p/README.md", ".hidden.md", "e.png", "f.css"]
    for name in (*wanted, *others):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("")
    paths, faults = find_posts(tmp_path)
    assert [path.relative_to(tmp_path).as_posix() for path in paths] == wanted
    assert faults == []


def test_symbolic_links_in_a_post_folder_are_not_followed(tmp_path: Path) -> None:
    inside, outside = tmp_path / "in", tmp_path / "out"
    for folder in (inside, outside):
        folder.mkdir()
        (folder / "post.md").write_text("---\n---\n")
    (inside / "link.md").symlink_to(outside / "post.md")
    (inside / "folder").symlink_to(outside)
    (inside / "same.md").symlink_to(inside / "post.md")
    (inside / "round").symlink_to(inside)
    for name in ("circle.md", "loop"):
        (inside / name).symlink_to(name)
    paths, faults = find_posts(inside)
    assert paths == [inside / "post.md"]
    assert {fault.place for fault in faults} == {"link.md", "folder", "same.md", "round", "circle.md", "loop"}


def test_special_missing_and_too_large_post_files_are_not_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.md")
    with pytest.raises(FrontMatterError, match="the path isn't a regular file"):
        read_post(tmp_path, tmp_path / "pipe.md")
    with (tmp_path / "huge.md").open("wb") as file:
        file.truncate(1 << 40)
    with pytest.raises(FrontMatterError, match="1,099,511,627,776 bytes"):
        read_post(tmp_path, tmp_path / "huge.md")
    with pytest.raises(FrontMatterError, match="can't be read"):
        read_post(tmp_path, tmp_path / "missing.md")


def test_reading_a_missing_folder_raises_an_error(tmp_path: Path) -> None:
    with pytest.raises(RequestError, match="does not exist"):
        find_posts(tmp_path / "missing")
    (tmp_path / "file").write_text("")
    with pytest.raises(RequestError, match="not a folder"):
        find_posts(tmp_path / "file")


def test_an_unpaired_surrogate_in_a_title_is_reported(tmp_path: Path) -> None:
    with pytest.raises(FrontMatterError, match="title contains"):
        with_fields(tmp_path, 'title: "\\ud800"')


def test_ids_of_posts_are_the_same_for_each_import() -> None:
    moment = datetime(2016, 7, 30, 23, 54, 10, 259000, tzinfo=UTC)
    made = stable_id("a.md", moment)
    assert made.startswith("01ARZ3NDEK")  # the timestamp of the example in the ULID specification
    assert len(made) == 26
    assert made == stable_id("a.md", moment)
    assert made != stable_id("b.md", moment)
    assert (
        stable_id("z.md", datetime(2016, 7, 30, tzinfo=UTC))
        < made
        < stable_id("a.md", datetime(2016, 8, 1, tzinfo=UTC))
    )
    assert stable_id("a.md", None) == stable_id("a.md", datetime(1960, 1, 1, tzinfo=UTC))


# Texts without front matter


def test_documentation_files_require_no_front_matter(tmp_path: Path) -> None:
    post = read(tmp_path, "usage.md", "\n# How to use it\n\nText.\n")
    assert (post.title, post.slug, post.body) == ("How to use it", "usage", "Text.\n")
    badges = read(tmp_path, "badges.md", "[badge]\n\n# `use` it {: #x }\n\nText.\n")
    assert (badges.title, badges.body) == ("use it", "[badge]\n\nText.\n")
    note = read(tmp_path, "Some note.md", "Title: this is prose\n\nMore\n")
    assert (note.title, note.slug, note.body) == ("Some note", "Some note", "Title: this is prose\n\nMore\n")
    for name in ("README.md", "changelog.md", "CODE_OF_CONDUCT.md"):
        with pytest.raises(FrontMatterError, match="has no front matter"):
            read(tmp_path, name, "# How to use it\n\nText.\n")


@pytest.mark.parametrize(("status", "draft"), [("draft", True), ("Hidden", True), ("published", False), ("", False)])
def test_a_status_field_that_marks_a_draft_is_recognized(tmp_path: Path, status: str, draft: bool) -> None:
    assert with_fields(tmp_path, f"status: {status}").draft is draft


# Omitted files are reported


def test_skipped_files_and_folders_are_reported(tmp_path: Path) -> None:
    files = {
        "_data/c.yml": "- 1\n",
        "c.rst": "C\n=\n",
        "d.rst": "D\n=\n",
        "e.mdx": "---\ntitle: E\n---\n",
        "f.png": "PNG",
        "g.md": "---\ntitle: G\n---\n",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    paths, faults = find_posts(tmp_path)
    assert [path.name for path in paths] == ["g.md"]
    assert {(fault.place, fault.message) for fault in faults} == {
        ("_data", "the site's data files aren't imported"),
        ("c.rst", "files that aren't Markdown, skipped: 3 in 3 files, first in c.rst (.rst ×2, .mdx)"),
    }


@pytest.mark.parametrize("fields", ["tags: [a, '']", "tags: [a, [b]]", "tags: [a, null]", "authors: [a, {}]"])
def test_empty_or_nested_list_entries_in_front_matter_are_reported(tmp_path: Path, fields: str) -> None:
    (said,) = with_fields(tmp_path, fields).said
    assert said[0] == f"lists of {fields.partition(':')[0]} with empty or nested entries, skipped"
    assert with_fields(tmp_path, "tags: a, ,b\nauthors:").said == ()
