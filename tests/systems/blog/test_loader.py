"""Folders of Markdown posts from Jekyll and Hugo are imported into the blog."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from keyplan.errors import RequestError
from keyplan.systems import LoadReport
from keyplan.testing.stored_world import scan
from keyplan_systems.blog.design import Blog
from keyplan_systems.blog.entities import CO_AUTHORS_MAX, Post, User
from keyplan_systems.blog.loader import load
from tests.systems.blog.support import check_books, items_of, new_user, recorded, silent


def written(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder


def loaded(blog: Blog, folder: Path, files: dict[str, str]) -> LoadReport:
    return load(blog, written(folder, files), silent)


def faults(report: LoadReport) -> list[str]:
    return [fault.place for fault in report.errors]


def one(blog: Blog, slug: str) -> Post:
    post = blog.post_by_slug(slug)
    assert post is not None
    return post


def test_a_jekyll_post_is_imported(blog: Blog, tmp_path: Path) -> None:
    text = "---\ntitle: Hello\nauthor: Ada Lovelace\ntags: [Web Design, c]\ncategories: news\n---\n\nFirst *words*.\n"
    report = loaded(blog, tmp_path, {"_posts/2024-03-05-hello-world.md": text})
    assert (report.loaded, report.errors) == (1, [])
    post = one(blog, "hello-world")
    assert (post.title, post.status, post.tags, post.excerpt) == (
        "Hello",
        "published",
        ("c", "news", "web-design"),
        "First words.",
    )
    assert post.published_at == post.created_at == datetime(2024, 3, 5, tzinfo=UTC)
    whole = blog.whole_post(post.post_id)
    assert whole is not None
    assert whole.content.content.strip() == "First *words*."
    author = blog.user_by_username("ada-lovelace")
    assert author is not None
    assert (author.user_id, author.name, author.role, author.published) == (post.user_id, "Ada Lovelace", "author", 1)
    page = blog.front_page(1)
    assert page is not None
    assert page.latest == (post,)
    check_books(blog)


def test_hugo_bundles_drafts_and_future_posts_are_imported(blog: Blog, tmp_path: Path) -> None:
    report = loaded(
        blog,
        tmp_path,
        {
            "content/posts/bundle/index.md": '+++\ntitle = "Bundle"\ndate = 2024-01-02T03:04:05+01:00\n+++\nText.\n',
            "content/posts/later.md": "---\ndate: 2999-01-01\n---\nLater.\n",
            "content/posts/draft.md": "---\ndate: 2024-01-01\ndraft: true\n---\nDraft.\n",
        },
    )
    assert report.loaded == 3
    statuses = {post.slug: post.status for post in items_of(blog, Post)}
    assert statuses == {"bundle": "published", "later": "unpublished", "draft": "unpublished"}
    assert one(blog, "bundle").published_at == datetime(2024, 1, 2, 2, 4, 5, tzinfo=UTC)
    assert [user.name for user in items_of(blog, User)] == ["Unknown author"]
    check_books(blog)


def test_an_invalid_post_does_not_stop_the_import_of_other_posts(blog: Blog, tmp_path: Path) -> None:
    files = {
        "a-broken.md": "---\ntitle: [\n---\nx\n",
        "b-date.md": "---\ndate: not a day\n---\nx\n",
        "c-good.md": "---\ndate: 2024-01-01\n---\nGood.\n",
        "d-title.md": f"---\ntitle: {'x' * 301}\ndate: 2024-01-01\n---\nx\n",
        "e-large.md": "---\ndate: 2024-01-01\n---\n" + "x" * 400_000,
    }
    report = loaded(blog, tmp_path, files)
    (tmp_path / "f-bytes.md").write_bytes(b"---\ntitle: \xff\xfe\n---\nx")
    assert report.loaded == 1
    assert faults(report) == ["a-broken.md:3", "b-date.md", "d-title.md", "e-large.md"]
    assert one(blog, "c-good").status == "published"
    report = load(blog, tmp_path, silent)
    assert (report.loaded, faults(report)[-1].partition(":")[0]) == (1, "f-bytes.md")
    check_books(blog)


def test_importing_the_same_folder_again_changes_nothing(blog: Blog, tmp_path: Path) -> None:
    files = {
        f"2024-01-0{number}-p{number}.md": f"---\ntags: t{number}\n---\nText {number}.\n" for number in range(1, 6)
    }
    loaded(blog, tmp_path, files)
    before = {str(row.item) for row in scan(blog).rows if "FRONT_PAGE" not in str(row.item["pk"])}
    requests = recorded(blog)
    assert load(blog, tmp_path, silent).loaded == 5
    assert "TransactWriteItems" not in requests.operations
    assert {str(row.item) for row in scan(blog).rows if "FRONT_PAGE" not in str(row.item["pk"])} == before


def test_a_changed_file_updates_its_post_and_redirects_the_old_slug(blog: Blog, tmp_path: Path) -> None:
    name = "2024-01-01-one.md"
    loaded(blog, tmp_path, {name: "---\ntitle: Old\ntags: [a, b]\n---\nOld.\n"})
    old = one(blog, "one")
    loaded(blog, tmp_path, {name: "---\ntitle: New\nslug: Two\ntags: [b, c]\n---\nNew.\n"})
    new = one(blog, "one")
    assert (new.post_id, new.title, new.slug, new.tags) == (old.post_id, "New", "two", ("b", "c"))
    assert {post.slug for post in blog.posts_by_tags(("b", "c"))} == {"two"}
    check_books(blog)


def test_edits_made_in_the_blog_are_kept_if_the_imported_file_is_unchanged(blog: Blog, tmp_path: Path) -> None:
    names = ("2024-01-01-one.md", "2024-01-02-two.md", "2024-01-03-three.md")
    files = dict.fromkeys(names, "---\ntitle: T\n---\nText.\n")
    loaded(blog, tmp_path, files)
    mine, back, gone = (one(blog, slug) for slug in ("one", "two", "three"))
    blog.edit_post(mine.post_id, 1, "Mine", "My text.", "one", (), mine.user_id)
    blog.unpublish(back.post_id)
    blog.archive(gone.post_id)
    assert load(blog, tmp_path, silent).loaded == 3
    assert [one(blog, slug).status for slug in ("one", "two", "three")] == ["published", "unpublished", "archived"]
    assert one(blog, "one").title == "Mine"
    report = loaded(blog, tmp_path, {"2024-01-03-three.md": "---\ntitle: T\n---\nOther text.\n"})
    assert faults(report) == ["2024-01-03-three.md"]
    check_books(blog)


def test_imported_posts_with_the_same_slug_get_different_slugs(blog: Blog, tmp_path: Path) -> None:
    files = {
        "a/same.md": "---\ndate: 2024-01-01\n---\nA.\n",
        "b/same.md": "---\ndate: 2024-02-02\n---\nB.\n",
        "c/same.md": "---\ndate: 2024-02-02\n---\nC.\n",
    }
    assert loaded(blog, tmp_path, files).loaded == 3
    slugs = {post.slug for post in items_of(blog, Post)}
    assert {"same", "same-2024-02-02"} < slugs
    assert len(slugs) == 3
    assert load(blog, tmp_path, silent).loaded == 3
    assert {post.slug for post in items_of(blog, Post)} == slugs
    check_books(blog)


def test_imported_posts_with_too_many_tags_are_reported(blog: Blog, tmp_path: Path) -> None:
    report = loaded(blog, tmp_path, {"2024-01-01-one.md": "---\ntitle: T\ntags: [g, f, e, d, c, b, a]\n---\nx\n"})
    assert report.loaded == 1
    assert faults(report) == ["2024-01-01-one.md"]
    assert "without b, a" in report.errors[0].message
    assert one(blog, "one").tags == ("c", "d", "e", "f", "g")
    check_books(blog)


@pytest.mark.parametrize(
    ("author", "username"),
    [
        ("Ada", "ada"),
        ("Zoë García", "zoe-garcia"),
        ("parkr", "parkr"),
        ("mail@example.com", "mail"),
        ("x" * 90, "x" * 40),
    ],
)
def test_authors_of_imported_posts_become_users(blog: Blog, tmp_path: Path, author: str, username: str) -> None:
    loaded(blog, tmp_path, {"2024-01-01-one.md": f"---\nauthor: {author}\n---\nx\n"})
    assert [user.username for user in items_of(blog, User)] == [username]
    assert load(blog, tmp_path, silent).loaded == 1


@pytest.mark.parametrize("author", ["Jo", "日本", "李 x"])
def test_author_names_are_converted_to_usernames(blog: Blog, tmp_path: Path, author: str) -> None:
    loaded(blog, tmp_path, {"2024-01-01-one.md": f"---\nauthor: {author}\n---\nx\n"})
    (user,) = items_of(blog, User)
    assert user.name == author
    assert user.username.isascii()
    assert load(blog, tmp_path, silent).loaded == 1
    assert len(items_of(blog, User)) == 1


def test_an_imported_author_name_is_matched_to_an_existing_account(blog: Blog, tmp_path: Path) -> None:
    ada = new_user(blog, "ada")
    loaded(blog, tmp_path, {"2024-01-01-one.md": "---\nauthor: Ada\n---\nx\n"})
    assert one(blog, "one").user_id == ada.user_id
    assert len(items_of(blog, User)) == 1


def test_importing_a_missing_folder_raises_an_error(blog: Blog, tmp_path: Path) -> None:
    with pytest.raises(RequestError):
        load(blog, tmp_path / "nowhere", silent)


def content(blog: Blog, slug: str) -> str:
    whole = blog.whole_post(one(blog, slug).post_id)
    assert whole is not None
    return whole.content.content


@pytest.mark.parametrize(
    ("settings", "place", "address"),
    [
        ("permalink: /news/:year/:month/:title/", "_posts/2024-03-05-hello.md", "/news/2024/03/hello"),
        ("permalink: ordinal", "_posts/2024-03-05-hello.md", "/2024/065/hello"),
        ("permalinks: {blog: '/:year/:slug/'}", "content/blog/hello.md", "/2024/hello"),
    ],
)
def test_permalinks_of_the_imported_site_redirect_to_posts(
    blog: Blog, tmp_path: Path, settings: str, place: str, address: str
) -> None:
    text = f"---\ndate: 2024-03-05\n---\nSee [itself]({address}/).\n"
    report = loaded(blog, tmp_path, {"_config.yml": settings, place: text})
    assert report.errors == []
    led = blog.redirect(address)
    assert led is not None
    assert led.post_id == one(blog, "hello").post_id


def test_names_of_authors_are_read_from_the_authors_file_of_the_site(blog: Blog, tmp_path: Path) -> None:
    listed = "slorber:\n  name: Sébastien Lorber\n  url: https://example.com\nplain: Ann Plain\nnone:\n  url: x\n"
    text = "---\ndate: 2024-01-01\nauthors: [slorber, plain, none]\n---\nText.\n"
    assert loaded(blog, tmp_path, {"_config.yml": "", "data/authors.yml": listed, "blog/a.md": text}).errors == []
    names = {user.username: user.name for user in blog.latest_users("active")}
    assert names == {"slorber": "Sébastien Lorber", "plain": "Ann Plain", "none": "none"}


def test_links_to_heading_ids_with_underscores_are_imported_without_errors(blog: Blog, tmp_path: Path) -> None:
    head = "---\ndate: 2024-01-01\n---\n"
    files = {"a.md": f"{head}## `answers_file`\n\n[x](#answers_file)", "b.md": f"{head}[a](a.md#answers_file)"}
    assert loaded(blog, tmp_path, files).errors == []


def test_files_without_a_date_or_text_become_drafts_and_are_reported(blog: Blog, tmp_path: Path) -> None:
    files = {
        "_index.md": 'template = "latest.html"\n',
        "dated.md": "---\ndate: 2024-01-01\ntitle: Dated\n---\nText.\n",
        "empty.md": "---\ndate: 2024-01-02\ntitle: Empty\n---\n\n",
        "undated.md": "---\ntitle: Undated\n---\nText.\n",
    }
    report = loaded(blog, tmp_path, files)
    assert [post.title for post in blog.latest_posts()] == ["Dated"]
    assert report.counts["drafts"] == 3
    assert {fault.place for fault in report.errors} == {"_index.md", "empty.md"}


def test_front_matter_defaults_of_jekyll_are_reported_as_unsupported(blog: Blog, tmp_path: Path) -> None:
    settings = (
        "title: T\ndefaults:\n- scope: {path: ''}\n  values: {layout: post, author: Ada}\n- values: {category: c}\n"
    )
    report = loaded(blog, tmp_path, {"_config.yml": settings, "_posts/2024-01-01-a.md": "---\ntitle: A\n---\nText.\n"})
    (fault,) = report.errors
    assert (fault.place, fault.message) == ("_config.yml", "default fields of folders are ignored: author, category")


HEAD = "---\ndate: 2024-01-01\n---\n"


def said(report: LoadReport) -> dict[str, str]:
    """Return the text in the last parentheses of each error, by the text before the first colon."""
    return {
        fault.message.partition(":")[0]: fault.message.rpartition(" (")[2].removesuffix(")") for fault in report.errors
    }


def test_relative_links_in_imported_posts_are_resolved_from_the_original_address(blog: Blog, tmp_path: Path) -> None:
    files = {
        "_docs/first.md": "---\ndate: 2024-01-01\npermalink: /guide/first/\n---\n[It](../second/#why), [no](../no/)\n",
        "_docs/second.md": "---\ndate: 2024-01-01\npermalink: /guide/second/\n---\n## Why\n\nNote.[^1]\n\n[^1]: Text\n",
    }
    assert said(loaded(blog, tmp_path, files)) == {"links to missing targets, unchanged": "../no/"}
    assert "[It](/posts/second#why)" in content(blog, "first")


def test_links_to_missing_headings_are_reported_in_one_error(blog: Blog, tmp_path: Path) -> None:
    links = "[1](#here) [2](#gone) [3](#gone) [4](b.md#hatch) [5](b.md#own) [6](#Term) [7](#term) [8](#top) [9](#)"
    files = {
        "a.md": f"{HEAD}## Here\n\n{links}\n\n`Term`\n: What it is.\n\n`[no](#code)`\n",
        "b.md": f'{HEAD}# T {{#own}}\n\n<a href="a.md#nowhere">back</a>, <h3 id="raw">raw</h3>\n',
        "c.md": f"{HEAD}[1](b.md#raw) [2](https://example.com/#x)\n",
    }
    (fault,) = loaded(blog, tmp_path, files).errors
    assert fault.message == (
        "links to missing headings: 5 in 2 files, first in a.md (#gone ×2, /posts/b#hatch, #Term, /posts/a#nowhere)"
    )


def test_html_in_imported_posts_is_reported_only_if_it_is_removed(blog: Blog, tmp_path: Path) -> None:
    shown = (
        '<img src="/a.png" alt="a > b" width=3>\n\n<!-- <p align="left"> -->\n\n<td colspan="2">x</td>\n\n'
        '`<p align="left">`\n\n    <center>\n\n```html\n<p style="x">\n```\n\n<https://example.com>, 1 < 2 > 0\n\n'
        '<a href="https://example.com" rel="me">me</a>\n'
    )
    lost = (
        "<p align=\"center\">x</p>\n\nA <span style='color: red'>word</span> <B CLASS=x>b</B>.\n\n"
        '<a name="old" href="tel:1">z</a> <center>c</center> List<String>\n\n[mail](irc://example.com)\n'
    )
    report = loaded(blog, tmp_path, {"a.md": HEAD + shown, "b.md": HEAD + lost, "c.md": f"{HEAD}<Tabs>\n"})
    assert said(report)["HTML that isn't displayed"] == (
        "<p align>, <span style>, <b class>, <a name>, <center>, <String>, a link's tel: address, "
        "a link's irc: address, and 1 more"
    )


def test_hidden_or_expired_texts_are_imported_as_drafts(blog: Blog, tmp_path: Path) -> None:
    hidden = ("password: x", "unlisted: true", "headless: true", "build:\n  render: never", "expiryDate: 2024-02-01")
    texts = {f"{number}.md": f"---\ndate: 2024-01-01\n{field}\n---\nText.\n" for number, field in enumerate(hidden)}
    texts["later.md"] = "---\ndate: 2124-01-01\n---\nText.\n"
    texts["still.md"] = "---\ndate: 2024-01-01\nexpiryDate: 2124-01-01\nunlisted: false\n---\nText.\n"
    report = loaded(blog, tmp_path, texts)
    assert [post.slug for post in blog.latest_posts()] == ["still"]
    assert sorted(said(report).values()) == ["0", "1", "2", "3", "4"]
    assert report.counts["drafts, because their date is in the future"] == 1


def test_translations_are_imported_as_separate_posts_and_reported(blog: Blog, tmp_path: Path) -> None:
    names = ("a.md", "a.de.md", "b/index.md", "b/index.pt-br.md", "next.js.md", "v1.md", "v1.10.md")
    report = loaded(blog, tmp_path, dict.fromkeys(names, f"{HEAD}Text.\n"))
    assert [fault.place for fault in report.errors] == ["a.de.md", "b/index.pt-br.md"]
    assert {"a", "a-de", "b", "b-pt-br"} <= {post.slug for post in blog.latest_posts()}


def test_url_patterns_in_permalinks_are_reported(blog: Blog, tmp_path: Path) -> None:
    text = "---\ntitle: B\ndate: 2024-01-01\npermalink: '/x/{{ title | slug }}/'\n---\nText.\n"
    assert said(loaded(blog, tmp_path, {"b.md": text})) == {"URL patterns, not evaluated": "/x/{{ title | slug }}/"}


def test_skipped_tags_and_truncated_excerpts_of_imports_are_reported(blog: Blog, tmp_path: Path) -> None:
    text = f"---\ntitle: B\ndate: 2024-01-01\ntags: ['#', b]\nsummary: {'x' * 301}\n---\nText.\n"
    assert said(loaded(blog, tmp_path, {"b.md": text})) == {
        "tags without letters or digits, skipped": "#",
        "excerpts, truncated": "b",
    }


def test_co_authors_are_imported_and_updated_up_to_a_maximum_number(blog: Blog, tmp_path: Path) -> None:
    def names(*authors: str) -> list[str]:
        (tmp_path / "a.md").write_text(
            f"---\ntitle: A\ndate: 2024-01-01\nauthors: [{', '.join(authors)}]\n---\nText.\n"
        )
        report = load(blog, tmp_path, silent)
        check_books(blog)
        return [fault.message for fault in report.errors]

    assert names("Ada L", "Ben M", "Cleo N") == []
    assert names("Ada L", "Cleo N", "Dan O") == []
    (post,) = items_of(blog, Post)
    assert [user.name for user in blog.users(list(post.co_authors))] == ["Cleo N", "Dan O"]
    many = [f"Writer {number}" for number in range(CO_AUTHORS_MAX + 2)]
    (message,) = names("Ada L", *many)
    assert message == "22 co-authors: only 20 are imported, without Writer 20, Writer 21"
