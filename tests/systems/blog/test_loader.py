"""Loading folders of Markdown posts, as Jekyll and Hugo keep them, into the blog."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from keyplan.errors import RequestError
from keyplan.systems import LoadReport
from keyplan.testing.stored_world import scan
from keyplan_systems.blog.design import Blog
from keyplan_systems.blog.entities import Post, User
from keyplan_systems.blog.loader import load
from keyplan_systems.blog.posts import tag_combos
from tests.systems.blog.support import check_books, items_of, new_user, recorded, silent

JEKYLL = Path(__file__).parents[3].parent / "shared" / "data" / "jekyll-posts"


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


def test_a_jekyll_post(blog: Blog, tmp_path: Path) -> None:
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


def test_a_hugo_bundle_a_draft_and_the_future(blog: Blog, tmp_path: Path) -> None:
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


def test_a_broken_post_does_not_stop_the_others(blog: Blog, tmp_path: Path) -> None:
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
    assert faults(report) == ["a-broken.md:3", "b-date.md:2", "d-title.md:2", "e-large.md"]
    assert one(blog, "c-good").status == "published"
    report = load(blog, tmp_path, silent)
    assert (report.loaded, faults(report)[-1].partition(":")[0]) == (1, "f-bytes.md")
    check_books(blog)


def test_loading_again_changes_nothing(blog: Blog, tmp_path: Path) -> None:
    files = {
        f"2024-01-0{number}-p{number}.md": f"---\ntags: t{number}\n---\nText {number}.\n" for number in range(1, 6)
    }
    loaded(blog, tmp_path, files)
    before = {str(row.item) for row in scan(blog).rows if "FRONT_PAGE" not in str(row.item["pk"])}
    requests = recorded(blog)
    assert load(blog, tmp_path, silent).loaded == 5
    assert "TransactWriteItems" not in requests.operations
    assert {str(row.item) for row in scan(blog).rows if "FRONT_PAGE" not in str(row.item["pk"])} == before


def test_a_changed_file_changes_its_post_and_the_old_slug_leads_to_it(blog: Blog, tmp_path: Path) -> None:
    name = "2024-01-01-one.md"
    loaded(blog, tmp_path, {name: "---\ntitle: Old\ntags: [a, b]\n---\nOld.\n"})
    old = one(blog, "one")
    loaded(blog, tmp_path, {name: "---\ntitle: New\nslug: Two\ntags: [b, c]\n---\nNew.\n"})
    new = one(blog, "one")
    assert (new.post_id, new.title, new.slug, new.tags) == (old.post_id, "New", "two", ("b", "c"))
    assert {post.slug for post in blog.posts_by_tags(("b", "c"))} == {"two"}
    check_books(blog)


def test_what_was_done_in_the_blog_stays_while_the_file_does(blog: Blog, tmp_path: Path) -> None:
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


def test_two_posts_of_one_slug_both_have_one(blog: Blog, tmp_path: Path) -> None:
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


def test_more_tags_than_a_post_may_have_are_told(blog: Blog, tmp_path: Path) -> None:
    report = loaded(blog, tmp_path, {"2024-01-01-one.md": "---\ntitle: T\ntags: [g, f, e, d, c, b, a]\n---\nx\n"})
    assert report.loaded == 1
    assert faults(report) == ["2024-01-01-one.md:3"]
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
def test_authors_become_users(blog: Blog, tmp_path: Path, author: str, username: str) -> None:
    loaded(blog, tmp_path, {"2024-01-01-one.md": f"---\nauthor: {author}\n---\nx\n"})
    assert [user.username for user in items_of(blog, User)] == [username]
    assert load(blog, tmp_path, silent).loaded == 1


@pytest.mark.parametrize("author", ["Jo", "日本", "李 x"])
def test_authors_whose_names_are_no_usernames(blog: Blog, tmp_path: Path, author: str) -> None:
    loaded(blog, tmp_path, {"2024-01-01-one.md": f"---\nauthor: {author}\n---\nx\n"})
    (user,) = items_of(blog, User)
    assert user.name == author
    assert user.username.isascii()
    assert load(blog, tmp_path, silent).loaded == 1
    assert len(items_of(blog, User)) == 1


def test_an_author_who_is_a_user_already_keeps_their_account(blog: Blog, tmp_path: Path) -> None:
    ada = new_user(blog, "ada")
    loaded(blog, tmp_path, {"2024-01-01-one.md": "---\nauthor: Ada\n---\nx\n"})
    assert one(blog, "one").user_id == ada.user_id
    assert len(items_of(blog, User)) == 1


def test_a_folder_that_is_not_there(blog: Blog, tmp_path: Path) -> None:
    with pytest.raises(RequestError):
        load(blog, tmp_path / "nowhere", silent)


def test_a_hundred_posts_of_jekylls_own_blog(blog: Blog) -> None:
    if not JEKYLL.is_dir():
        pytest.skip("the posts aren't there")
    result: list[Any] = []
    report = load(blog, JEKYLL, lambda done, total: result.append((done, total)))
    files = len(list(JEKYLL.glob("*.m*")))
    assert (report.loaded, result[-1]) == (files, (files, files))
    known = ("stands in the text as it is", "leads to nothing in the folder", "is left out")
    assert all(fault.message.endswith(known) for fault in report.errors)
    assert report.counts["tags translated: {% highlight %}"] > 0
    posts = items_of(blog, Post)
    assert len(list(blog.published_between(limit=1000))) == sum(post.status == "published" for post in posts)
    tagged = next(post for post in posts if post.tags)
    assert all(tagged in list(blog.posts_by_tags(combo, limit=1000)) for combo in tag_combos(tagged.tags))
    check_books(blog)


def content(blog: Blog, slug: str) -> str:
    whole = blog.whole_post(one(blog, slug).post_id)
    assert whole is not None
    return whole.content.content


def test_relative_links_are_read_from_the_address_that_a_text_had(blog: Blog, tmp_path: Path) -> None:
    files = {
        "_docs/first.md": "---\ndate: 2024-01-01\npermalink: /guide/first/\n---\n[It](../second/#why), [no](../no/)\n",
        "_docs/second.md": "---\ndate: 2024-01-01\npermalink: /guide/second/\n---\n"
        "## Why\n\nNote.[^1]\n\n[^1]: Numbered\n",
    }
    report = loaded(blog, tmp_path, files)
    assert "[It](/posts/second#why)" in content(blog, "first")
    assert [fault.message for fault in report.errors] == ["'../no/' leads to nothing in the folder"]


@pytest.mark.parametrize(
    ("settings", "place", "address"),
    [
        ("permalink: /news/:year/:month/:title/", "_posts/2024-03-05-hello.md", "/news/2024/03/hello"),
        ("permalink: ordinal", "_posts/2024-03-05-hello.md", "/2024/065/hello"),
        ("permalinks: {blog: '/:year/:slug/'}", "content/blog/hello.md", "/2024/hello"),
    ],
)
def test_addresses_by_the_sites_pattern_lead_to_posts(
    blog: Blog, tmp_path: Path, settings: str, place: str, address: str
) -> None:
    text = f"---\ndate: 2024-03-05\n---\nSee [itself]({address}/).\n"
    report = loaded(blog, tmp_path, {"_config.yml": settings, place: text})
    assert report.errors == []
    led = blog.redirect(address)
    assert led is not None
    assert led.post_id == one(blog, "hello").post_id


def test_notes_and_components_of_docusaurus_and_mkdocs(blog: Blog, tmp_path: Path) -> None:
    text = (
        "---\ndate: 2024-01-01\n---\nimport Tabs from '@theme/Tabs';\n\n"
        ":::tip[Try it]\n\nBefore it.\n\n```sh\n:::note\n```\n\n:::\n\n"
        '!!! note "Mind"\n    The gap.\n\n<Tabs groupId="a">x</Tabs>\n\n{/* truncate */}\n\n    import this from "x"\n'
    )
    report = loaded(blog, tmp_path, {"page.mdx": text, "plain.md": text})
    made = content(blog, "page")
    assert "> **Try it**\n>\n> Before it." in made
    assert "> ```sh\n> :::note\n> ```" in made
    assert "> **Mind**\n>\n> The gap." in made
    assert "@theme" not in made
    assert "truncate" not in made
    assert '    import this from "x"' in made
    assert [(fault.place, fault.message) for fault in report.errors] == [
        ("page.mdx", "<Tabs> stands in the text as it is"),
        ("page.mdx", "import of JavaScript is left out"),
        ("plain.md", "<Tabs> is left out"),
    ]
    assert "import Tabs" in content(blog, "plain")


def test_javascript_in_mdx_is_left_out_whole_and_what_stays_is_told(blog: Blog, tmp_path: Path) -> None:
    text = (
        "---\ndate: 2024-01-01\n---\nimport {\n  A,\n} from '@site/a';\n\n"
        "export const Mark = ({children}) => (\n  <span\n    style={{color}}>\n    {children}\n  </span>\n);\n\n"
        "## Ways {/* #the-ways */}\n\nExport of tea.\n\n<button onClick={() => go()}>Go</button>\n"
    )
    report = loaded(blog, tmp_path, {"page.mdx": text})
    made = content(blog, "page")
    assert not any(word in made for word in ("@site", "children", "span"))
    assert "## Ways {#the-ways}\n\nExport of tea." in made
    assert sorted(fault.message for fault in report.errors) == [
        "<button onClick={…}> stands in the text as it is",
        "export of JavaScript is left out",
        "import of JavaScript is left out",
    ]


def test_blocks_and_tabs_of_pymdownx(blog: Blog, tmp_path: Path) -> None:
    text = (
        "---\ndate: 2024-01-01\n---\n/// tip | Try it\nOnce.\n///\n\n"
        "//// html | div.result\n/// warning\nMind.\n///\n////\n\n"
        '=== "Linux"\n    apt install\n\n    Done.\n\n/// tab | Mac\nbrew install\n///\n\n'
        "/// note\nno end\n\n```\n/// tip\n```\n"
    )
    assert loaded(blog, tmp_path, {"a.md": text}).errors == []
    made = content(blog, "a")
    for part in (
        "> **Try it**\n>\n> Once.",
        "> **Warning**\n>\n> Mind.",
        "**Linux**\n\napt install\n\nDone.",
        "**Mac**\n\nbrew install",
    ):
        assert part in made
    assert "div.result" not in made
    assert "/// note\nno end" in made
    assert "```\n/// tip\n```" in made


def test_authors_are_called_as_the_sites_list_has_them(blog: Blog, tmp_path: Path) -> None:
    listed = "slorber:\n  name: Sébastien Lorber\n  url: https://example.com\nplain: Ann Plain\nnone:\n  url: x\n"
    text = "---\ndate: 2024-01-01\nauthors: [slorber, plain, none]\n---\nText.\n"
    assert loaded(blog, tmp_path, {"blog/authors.yml": listed, "blog/a.md": text}).errors == []
    names = {user.username: user.name for user in blog.latest_users("active")}
    assert names == {"slorber": "Sébastien Lorber", "plain": "Ann Plain", "none": "none"}


def test_headings_keep_the_ids_that_python_markdown_gives_them(blog: Blog, tmp_path: Path) -> None:
    text = "# A\n\n## One {: #the.one data-toc-label='x' }\n\n### `two` {: #two }\n\n```md\n## No {: #no }\n```\n"
    report = loaded(blog, tmp_path, {"a.md": text})
    made = content(blog, "a")
    assert "## One {#the.one}" in made
    assert "### `two` {#two}" in made
    assert "## No {: #no }" in made
    assert [fault.message for fault in report.errors if "no date" not in fault.message] == []


def test_a_note_in_a_shortcode_of_its_own(blog: Blog, tmp_path: Path) -> None:
    text = '---\ndate: 2024-01-01\n---\n{{< alert icon="!" text="Mind the gap." />}}\n'
    assert loaded(blog, tmp_path, {"a.md": text}).errors == []
    assert "> **Alert**\n>\n> Mind the gap." in content(blog, "a")


def test_links_whose_words_are_code_or_wrapped(blog: Blog, tmp_path: Path) -> None:
    text = "[`b` it](b.md#c), [two\nlines](b.md), ![`x`](no.png)\n\n[`c`]: b.md\n\n`[no](b.md)`\n"
    text = f"---\ndate: 2024-01-01\n---\n{text}"
    report = loaded(blog, tmp_path, {"a.md": text, "b.md": "---\ndate: 2024-01-01\n---\nB\n"})
    assert "[`b` it](/posts/b#c), [two\nlines](/posts/b), ![`x`](no.png)\n\n[`c`]: /posts/b" in content(blog, "a")
    assert "`[no](b.md)`" in content(blog, "a")
    assert [fault.message for fault in report.errors] == [
        "'no.png' leads to nothing in the folder",
        "'/posts/b#c' leads to no heading there",
    ]


def test_what_kramdown_and_python_markdown_say_of_a_paragraph(blog: Blog, tmp_path: Path) -> None:
    text = (
        "---\ndate: 2024-01-01\n---\nMind\nthe gap.\n{: .note .warning}\n\n{: .tip }\n> Try *it*.\n\n"
        "Large.\n{: .large}\n\n"
        "<figure markdown>\n  ![It](https://example.com/a.png){ loading=lazy }\n"
        "  <figcaption>That</figcaption>\n</figure>\n\n> [!NOTE]\n> Once.\n\n"
        '- :material-lock:{ .big } __Safe__\n\n```sh title="a.sh" hl_lines="1"\n{: .note}\n```\n\n`{: .note}`\n'
    )
    report = loaded(blog, tmp_path, {"a.md": text})
    made = content(blog, "a")
    for part in (
        "> **Warning**\n>\n> Mind\n> the gap.\n",
        "> **Tip**\n>\n> Try *it*.\n",
        "<figure>\n\n![It](https://example.com/a.png)\n",
        "\n\n</figure>",
        "> **Note**\n>\n> Once.",
        "- __Safe__",
        "**a.sh**\n\n```sh",
        "```\n\n`{: .note}`",
    ):
        assert part in made, part
    said = {fault.message.removesuffix(" is left out") for fault in report.errors}
    assert said == {"{: .large}", "{ loading=lazy }", ":material-lock:{ .big }", "a code's mark (hl_lines)"}


def test_what_no_post_has_a_place_for_is_said(blog: Blog, tmp_path: Path) -> None:
    text = (
        "---\ndate: 2024-01-01\nweight: 3\nlayout: page\nextra:\n  toc: true\naliases: [/x]\n---\n"
        "::: mine.module\n    options\n\n"
        "!!! \n\n[TOC]\n\n--8<-- 'a.md'\n\n<iframe src='https://example.com'></iframe>\n\n`<iframe>`\n"
    )
    report = loaded(blog, tmp_path, {"a.md": text, "b.md": "---\ndate: 2024-01-01\naliases: [/x/]\n---\nB\n"})
    assert {name for name in report.counts if name.startswith("fields")} == {
        "fields left out: weight",
        "fields left out: layout",
        "fields left out: extra.toc",
    }
    assert sorted((fault.place, fault.message) for fault in report.errors) == [
        ("a.md", "--8<-- stands in the text as it is"),
        ("a.md", "::: stands in the text as it is"),
        ("a.md", "<iframe> is left out"),
        ("a.md", "[TOC] stands in the text as it is"),
        ("b.md", "/x was the address of another file too: it leads here"),
    ]


def test_anchors_that_a_generator_made_are_reported_once_all_texts_are_known(blog: Blog, tmp_path: Path) -> None:
    links = (
        "[1](#here) [2](#gone) [3](#gone) [4](b.md#hatch-build) [5](b.md#own) [6](#Term) [7](#term) [8](#top) [9](#)"
    )
    files = {
        "a.md": f"---\ndate: 2024-01-01\n---\n## Here\n\n{links}\n\n`Term`\n: What it is.\n\n`[no](#code)`\n",
        "b.md": '---\ndate: 2024-01-01\n---\n# T {#own}\n\n<a href="a.md#nowhere">back</a>, <h3 id="raw">raw</h3>\n',
        "c.md": "---\ndate: 2024-01-01\n---\n[1](b.md#raw) [2](https://example.com/#x)\n",
    }
    assert [(fault.place, fault.message) for fault in loaded(blog, tmp_path, files).errors] == [
        ("a.md", "'#gone' (2 times) leads to no heading there"),
        ("a.md", "'/posts/b#hatch-build' leads to no heading there"),
        ("b.md", "'/posts/a#nowhere' leads to no heading there"),
    ]


def test_html_that_no_page_shows_is_reported_and_what_is_shown_is_not(blog: Blog, tmp_path: Path) -> None:
    shown = (
        '<img src="/a.png" alt="a > b" width=3>\n\n<!-- <p align="left"> -->\n\n<td colspan="2">x</td>\n\n'
        '`<p align="left">`\n\n    <center>\n\n```html\n<p style="x">\n```\n\n<https://example.com>, 1 < 2 > 0\n\n'
        '<a href="https://example.com" rel="me">me</a>\n'
    )
    lost = (
        '<p align="center" class="lead">x</p>\n\nA <span style=\'color: red\'>word</span> <B CLASS=x>b</B>.\n\n'
        '<div class="wide other">y</div>\n\n<a name="old" href="tel:1">z</a> <center>c</center> List<String>\n\n'
        "[mail](irc://example.com)\n"
    )
    dated = "---\ndate: 2024-01-01\n---\n"
    report = loaded(blog, tmp_path, {"a.md": dated + shown, "b.md": dated + lost, "c.mdx": f"{dated}<Tabs>\n"})
    places = {fault.place for fault in report.errors if "a.png" not in fault.message}
    assert places == {"b.md", "c.mdx"}
    assert {fault.message for fault in report.errors if fault.place == "b.md"} == {
        f"{what} is left out"
        for what in (
            *("<p align>", "<p class>", "<span style>", "<b class>", "<div class>", "<a name>", "<center>", "<String>"),
            *("a link's tel: address", "a link's irc: address"),
        )
    }
    assert [fault.message for fault in report.errors if fault.place == "c.mdx"] == [
        "<Tabs> stands in the text as it is"
    ]


def test_mathematics_is_no_attribute_and_is_reported(blog: Blog, tmp_path: Path) -> None:
    report = loaded(blog, tmp_path, {"a.md": "---\ndate: 2024-01-01\n---\n$\\sum_{c=1}^{M}$ for $5 or US$6_000\n"})
    assert [fault.message for fault in report.errors] == ["mathematics stands in the text as it is"]
    assert "_{c=1}" in content(blog, "a")


MARKS = {
    "==new==, a == b == c": "<mark>new</mark>, a == b == c",
    "{++in++} {--out--} {~~a~>b~~}{>>why<<}": "<ins>in</ins> <del>out</del> <del>a</del><ins>b</ins>",
    "++ctrl+c++ and ++more++, C++ and C++": "<kbd>Ctrl</kbd>+<kbd>C</kbd> and <ins>more</ins>, C++ and C++",
    "x{::comment}\nnot for all\n{:/comment}y {::nomarkdown}<b>z</b>{:/}": "xy <b>z</b>",
    '{{/* youtube(id="1") */}} {{ youtube(id="a", autoplay=true) }}': '{{ youtube(id="1") }} '
    "[youtube](https://www.youtube.com/watch?v=a)",
    '{{< figure src="https://a.example/p.png" attr="Ada" attrlink="https://a.example" >}}': "![](https://a.example/p.png)"
    "\n*[Ada](https://a.example)*",
    '!!! note\n    A\n\n    !!! tip "In it"\n        B\n': "\n> **Note**\n>\n> A\n>\n>\n> > **In it**\n> >\n> > B\n",
    "> [!TIP]\n> ```\n> a ==b== $$ [[c]]\n> ```\n": "> **Tip**\n>\n> ```\n> a ==b== $$ [[c]]\n> ```",
    "a[^1] `==x==`\n\n*[HTML]: Hyper Text\n\n[^1]: b": "a[^1] `==x==`\n\n\n[^1]: b",
}
"""What stands in a file, and what it is in the post."""
RAW = {
    "$$\nx\n$$": "mathematics (2 times)",
    "[[Another page]]": "[[…]]",
    "Done :tada: at 10:30:00, a:b:c": "an emoji's name",
    "x^2^ and H~2~O": "^…^",
    "[It][pkg.Thing] and [that][b]\n\n[b]: https://b.example": "[…][pkg.Thing]",
    "```mermaid\ngraph LR\n```": "the source of a picture (mermaid)",
}
"""What stands in a post as in its file, and what the report calls it."""


def test_marks_of_other_kinds_of_markdown_become_html_or_are_reported(blog: Blog, tmp_path: Path) -> None:
    head = "---\ndate: 2024-01-01\n---\n"
    texts = {f"{number}.md": head + text for number, text in enumerate([*MARKS, *RAW])}
    texts["light.md"] = f"{head}![](https://a.example/l.png#only-light) ![](https://a.example/d.png#only-dark)"
    report = loaded(blog, tmp_path, texts)
    made = [content(blog, str(number)) for number in range(len(MARKS) + len(RAW))]
    assert [text.strip() for text in made[: len(MARKS)]] == [text.strip() for text in MARKS.values()]
    assert content(blog, "light").strip() == "![](https://a.example/l.png#only-light)"
    said: dict[str, list[str]] = {}
    for fault in report.errors:
        said.setdefault(fault.place.removesuffix(".md"), []).append(fault.message)
    for number, what in enumerate(RAW.values(), len(MARKS)):
        assert said.pop(str(number))[0] == f"{what} stands in the text as it is"
    assert said == {
        "1": ["{>>…<<} is left out"],
        str(len(MARKS) - 1): ["*[…]: of an abbreviation is left out"],
        "light": ["a picture for dark pages only is left out"],
    }


def test_what_its_site_does_not_show_nobody_sees_here(blog: Blog, tmp_path: Path) -> None:
    hidden = ("password: x", "unlisted: true", "headless: true", "build:\n  render: never", "expiryDate: 2024-02-01")
    texts = {f"{number}.md": f"---\ndate: 2024-01-01\n{said}\n---\nText.\n" for number, said in enumerate(hidden)}
    texts["later.md"] = "---\ndate: 2124-01-01\n---\nText.\n"
    texts["still.md"] = "---\ndate: 2024-01-01\nexpiryDate: 2124-01-01\nunlisted: false\n---\nText.\n"
    report = loaded(blog, tmp_path, texts)
    assert [post.slug for post in blog.latest_posts()] == ["still"]
    assert {fault.place: fault.message for fault in report.errors} == {
        f"{number}.md": f"its site doesn't list it ({said.replace(': true', '').replace(': x', '')}): a draft here"
        for number, said in enumerate([*hidden[:3], "build: render", "expiryDate 2024-02-01"])
    }
    assert report.counts["posts of the future, which are drafts"] == 1


def test_translations_are_posts_of_their_own_and_reported(blog: Blog, tmp_path: Path) -> None:
    head = "---\ndate: 2024-01-01\ntitle: T\n---\n"
    names = ("a.md", "a.de.md", "b/index.md", "b/index.pt-br.md", "next.js.md", "_index.fr.md", "v1.md", "v1.10.md")
    report = loaded(blog, tmp_path, dict.fromkeys(names, f"{head}Text.\n"))
    assert {fault.place: fault.message.partition(":")[0] for fault in report.errors} == {
        "_index.fr.md": "a section's page isn't a post",
        "a.de.md": "a translation (de) of another file",
        "b/index.pt-br.md": "a translation (pt-br) of another file",
    }
    slugs = {post.slug for post in blog.latest_posts()}
    assert {"a", "a-de", "b", "b-pt-br"} <= slugs


def test_links_lead_to_headings_whose_ids_had_underscores(blog: Blog, tmp_path: Path) -> None:
    head = "---\ndate: 2024-01-01\n---\n"
    files = {"a.md": f"{head}## `answers_file`\n\n[x](#answers_file)", "b.md": f"{head}[a](a.md#answers_file)"}
    assert loaded(blog, tmp_path, files).errors == []


def test_eleventys_words_for_a_date_are_none(blog: Blog, tmp_path: Path) -> None:
    report = loaded(blog, tmp_path, {"a.md": "---\ntitle: A\ndate: Last Modified\n---\nText.\n"})
    assert [fault.place for fault in report.errors] == ["a.md"]
    assert report.counts["drafts"] == 1


def test_files_without_a_date_or_a_text_become_drafts_and_are_reported(blog: Blog, tmp_path: Path) -> None:
    files = {
        "_index.md": 'template = "latest.html"\n',
        "dated.md": "---\ndate: 2024-01-01\ntitle: Dated\n---\nText.\n",
        "empty.md": "---\ndate: 2024-01-02\ntitle: Empty\n---\n\n",
        "undated.md": "---\ntitle: Undated\n---\nText.\n",
    }
    report = loaded(blog, tmp_path, files)
    assert [post.title for post in blog.latest_posts()] == ["Dated"]
    assert report.counts["drafts"] == 2
    assert {fault.place.partition(":")[0] for fault in report.errors} == {"_index.md", "empty.md", "undated.md"}


def test_notes_and_tabs_in_a_list_are_its_items(blog: Blog, tmp_path: Path) -> None:
    text = (
        "---\ndate: 2024-01-01\n---\n1. Run it.\n\n"
        '    === "x64"\n        ```\n        run x64\n        ```\n\n    === "x86"\n        Or not.\n\n'
        '    !!! note\n        Mind.\n\n2. Done.\n\nCode:\n\n    === "no"\n        x\n'
    )
    report = loaded(blog, tmp_path, {"a.md": text})
    made = content(blog, "a")
    assert "1. Run it.\n\n    **x64**\n\n    ```\n    run x64\n    ```\n\n    **x86**\n\n    Or not.\n" in made
    assert "    > **Note**\n    >\n    > Mind.\n" in made
    assert 'Code:\n\n    === "no"\n        x' in made
    assert [fault.message for fault in report.errors if "===" not in fault.message] == []


def test_an_eleventy_site_leads_on_and_what_it_says_of_folders_is_reported(blog: Blog, tmp_path: Path) -> None:
    files = {
        ".eleventy.js": "module.exports = {};",
        "src/notes/notes.json": '{"layout": "post.njk", "tags": ["posts"], "permalink": "/notes/{{ page.fileSlug }}/"}',
        "src/notes/notes.11tydata.js": "module.exports = {};",
        "src/notes/a.md": "---\ntitle: A\ndate: 2024-01-01\n---\nSee [b](/notes/b/).\n",
        "src/notes/b.md": "---\ntitle: B\ndate: 2024-01-01\npermalink: '/x/{{ title | slug }}/'\n---\nText.\n",
    }
    report = loaded(blog, tmp_path, files)
    assert {fault.place: fault.message for fault in report.errors} == {
        "src/notes/notes.json": "what it says of whole folders isn't taken over: permalink, tags",
        "src/notes/notes.11tydata.js": "what it says of the texts below isn't read",
        "src/notes/b.md": "the address '/x/{{ title | slug }}/' is made by its own site: it isn't known here",
    }
    assert content(blog, "a").strip() == "See [b](/posts/b)."
    led = blog.redirect("/notes/a")
    assert led is not None
    assert led.post_id == one(blog, "a").post_id


def test_jekylls_defaults_are_reported(blog: Blog, tmp_path: Path) -> None:
    settings = (
        "title: T\ndefaults:\n- scope: {path: ''}\n  values: {layout: post, author: Ada}\n- values: {category: c}\n"
    )
    report = loaded(blog, tmp_path, {"_config.yml": settings, "_posts/2024-01-01-a.md": "---\ntitle: A\n---\nText.\n"})
    (fault,) = report.errors
    assert (fault.place, fault.message) == (
        "_config.yml",
        "what it says of whole folders isn't taken over: author, category",
    )
