"""Every text and paragraph in the folders of static site generators is imported, or its omission is reported."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from keyplan.systems import LoadReport, system
from keyplan_systems.blog.design import Blog
from keyplan_systems.blog.entities import PostContent
from keyplan_systems.cms import Cms
from keyplan_systems.site.markdown import render_markdown
from tests.systems.blog.support import items_of, silent

DATA = next(
    (each / "shared" / "data" for each in Path(__file__).parents if (each / "shared" / "data").is_dir()), Path()
)
FOLDERS: dict[str, dict[str, str]] = {
    "jekyll": {
        "_config.yml": "baseurl: /food\npermalink: /:categories/:year/:title/\ndefaults:\n- values: {author: ann}\n",
        "_data/authors.yml": "ann: {name: Ann Cook}\n",
        "_posts/2024-02-29-soup.md": (
            '---\ntitle: Soup\nauthor: ann\ncategories: [soups]\ntags: [winter, "C#", "", [nested], "###"]\n'
            "image: soup.jpg\nredirect_from: [/old/soup.html]\n---\nSoup for one day.\n\n"
            "![A pot]({{ site.baseurl }}/assets/soup.jpg){: .wide }\n\n"
            "See [bread]({% link _recipes/bread.md %}) and [none]({% post_url 2020-01-01-none %}).\n\n"
            '{% highlight python linenos %}\nboil("{{ cold }}")\n{% endhighlight %}\n\n{: .note}\nNoted paragraph.\n'
        ),
        "_posts/2024-02-28-stock.markdown": (
            "---\ntitle: Stock\ndate: 2024-02-28 10:30:00 +0100\ntags: winter slow\n---\n"
            "Bones and {% raw %}{{ time }}{% endraw %}.\n\n[Soup](/soups/2024/soup/) and [old](/old/soup.html)\n"
        ),
        "_drafts/later.md": "---\ntitle: Later\n---\nDraft paragraph.\n",
        "_recipes/bread.md": "---\ntitle: Bread\ndate: 2023-12-01\n---\n## Dough {#dough}\n\n<iframe></iframe>\n",
        "about.md": "Paragraph without fields or a heading.\n",
        "index.html": "---\ntitle: Home\n---\n<p>Home</p>\n",
        "assets/soup.jpg": "JPG",
        "README.md": "# Readme\n",
    },
    "hugo": {
        "hugo.toml": 'baseURL = "https://walks.example/"\n[permalinks]\nposts = "/:year/:month/:slug/"\n',
        "content/posts/trip/index.md": (
            '+++\ntitle = "A trip"\ndate = 2024-05-04T08:00:00+02:00\ntags = ["walks", "Swiss Alps"]\n'
            'categories = ["Travel"]\nauthors = ["Ben Hiker", "Cleo"]\nslug = "the-trip"\n+++\n'
            'To [water]({{< ref "posts/2023/deep/valley.md#water" >}}).\n\n![Summit](summit.jpg "On top")\n'
            '{{< figure src="map.png" alt="A map" >}}\n{{< gallery match="*.jpg" >}}\n\n'
            "{{% notice tip %}}\nTake water.\n{{% /notice %}}\n\n[Track](track.gpx) and [sheet](sheet.pdf)\n"
        ),
        **{f"content/posts/trip/{name}": name for name in ("summit.jpg", "map.png", "track.gpx", "sheet.pdf")},
        "content/posts/2023/deep/valley.md": (
            '---\ntitle: "Valley: low"\ndate: "2023-08-09"\ntags: []\nseries: [Alps]\n---\n## Water\n\n'
            'Deep in sections. [Back](../../trip/), [abs]({{< relref "/posts/trip" >}}),\n'
            "[site](https://walks.example/2024/05/the-trip/)\n"
        ),
        "content/docs/_index.md": "---\ntitle: Docs\ndescription: All.\n---\nSection paragraph.\n",
        "content/docs/maps.md": "---\ntitle: Maps\npublishDate: 2999-01-01\nalias: /maps/\n---\nFuture paragraph.\n",
        "content/docs/old.md": "---\ntitle: Old\ndate: 2020-01-01\nexpiryDate: 2021-01-01\n---\nExpired paragraph.\n",
        "content/docs/bad.md": "---\ntitle: [broken\n---\nText\n",
        "data/tracks.json": "{}",
    },
    "notes": {
        "Reading list.md": (
            "---\ntags: [books, reading/queue]\ncreated: 2024-01-02\n---\n"
            "Books: [[People/Ada Lovelace|Ada]] and ![[cover.png]].\n\n> [!warning] Careful\n> Spoilers inside.\n\n"
            "- [x] Choose #todo\n\n```dataview\nLIST FROM [[x]]\n```\n"
        ),
        "People/Ada Lovelace.md": "# Ada Lovelace\n\n[list](../Reading%20list.md) and ![portrait](../Files/ada.png)\n",
        "Daily/2024-01-05.md": "Walked.\n",
        "Daily/2024-01-06 plan.md": "---\ndate: 06.01.2024\n---\nA German date.\n",
        "Daily/empty.md": "",
        "Files/ada.png": "PNG",
        "Map.canvas": "{}",
        ".obsidian/app.json": "{}",
    },
    "zola": {
        "config.toml": 'base_url = "https://zola.example"\n',
        "content/blog/_index.md": '+++\ntitle = "Blog"\nsort_by = "date"\n+++\n',
        "content/blog/2022-03-04_first.md": (
            '+++\ntitle = "First"\nupdated = 2022-04-05\n[taxonomies]\ntags = ["a", "b", "c", "d", "e", "f"]\n'
            "[extra]\ntoc = true\n+++\nSee [long](@/blog/long-read/index.md#end), [gone](@/blog/none.md).\n\n"
            '<!-- more -->\n\n{{ youtube(id="abc") }}\n{{ img(src="pic.png", alt="Pic") }}\n\n'
            '{% aside(kind="x") %}\nAside paragraph.\n{% end %}\n\nShown: {{/* youtube() */}}\n'
        ),
        "content/blog/long-read/index.md": (
            '+++\ntitle = "Long"\ndate = 2022-05-06T07:08:09Z\ndraft = true\npath = "reads/long"\n+++\n'
            "![p](figure.png) ![q](/logo.png)\n\n## End\n"
        ),
        **dict.fromkeys(("content/blog/long-read/figure.png", "static/logo.png", "static/pic.png"), "PNG"),
        "content/pages/pelican.md": "Title: Pelican\n\nPelican paragraph, see [f]({filename}/pages/other.md)\n",
        "content/pages/latest.md": 'template = "latest.html"\n',
        "content/pages/rest.rst": "Rest\n====\n",
    },
}
"""Folders of generators and of a note-taking program, written by hand from what each one's documentation shows."""

REPORTED: dict[str, set[tuple[str, str]]] = {
    "jekyll": {
        ("_config.yml", "default fields of folders are ignored: author"),
        ("_data", "the site's data files aren't imported"),
        ("_posts/loop", "symbolic links aren't followed"),
        ("index.html", "files that aren't Markdown, skipped: 1"),
        ("README.md", "the file describes the folder and has no front matter, so it isn't imported"),
        ("_drafts/later.md", "posts without a date, imported as drafts: 2"),
        ("_posts/2024-02-29-soup.md", "attributes, not rendered: 2"),
        ("_posts/2024-02-29-soup.md", "links to missing targets, unchanged: 1"),
        ("_posts/2024-02-29-soup.md", "tags without letters or digits, skipped: 1"),
        ("_posts/2024-02-29-soup.md", "lists of tags with empty or nested entries, skipped: 1"),
        ("_recipes/bread.md", "HTML that isn't displayed: 1"),
    },
    "hugo": {
        ("content/docs/_index.md", "posts without a date, imported as drafts: 1"),
        ("content/docs/bad.md", "the YAML is invalid: expected ',' or ']', but got '<stream end>'"),
        ("content/docs/old.md", "posts imported as drafts because of the field 'expiryDate': 1"),
        ("content/posts/trip/track.gpx", "files that aren't Markdown, skipped: 2"),
        ("content/posts/trip/index.md", "template tags, not rendered: 2"),
        ("content/posts/trip/index.md", "links to missing targets, unchanged: 1"),
    },
    "notes": {
        ("Map.canvas", "files that aren't Markdown, skipped: 1"),
        ("Daily/2024-01-06 plan.md", "date is '06.01.2024', which isn't a date"),
        ("Daily/empty.md", "posts without a date, imported as drafts: 3"),
        ("Daily/empty.md", "posts without text, imported as drafts: 1"),
        ("Reading list.md", "wiki links, not rendered: 2"),
    },
    "zola": {
        ("content/pages/rest.rst", "files that aren't Markdown, skipped: 1"),
        ("content/blog/2022-03-04_first.md", "6 tags: only 5 are imported, without f"),
        ("content/blog/2022-03-04_first.md", "template tags, not rendered: 2"),
        ("content/blog/2022-03-04_first.md", "links to missing targets, unchanged: 2"),
        ("content/blog/_index.md", "posts without a date, imported as drafts: 3"),
        ("content/blog/_index.md", "posts without text, imported as drafts: 1"),
    },
}
"""Everything that an import of each folder reports, without the files and names of a group."""


def written(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder


def imported(folder: Path) -> tuple[LoadReport, dict[str, str], Counter[str]]:
    """Import a folder into the blog. Return the report, the texts by title, and the number of posts of each status."""
    with Blog.open(":memory:") as blog:
        report = system("blog").load(blog, folder, silent)
        texts = {content.post_id: content.content for content in items_of(blog, PostContent)}
        posts = {post_id: blog.post(post_id) for post_id in texts}
        assert all(posts.values())
        titled = {f"{post.title}/{post_id}": texts[post_id] for post_id, post in posts.items() if post is not None}
        return report, titled, Counter(post.status for post in posts.values() if post is not None)


def documents(folder: Path) -> Iterator[tuple[str, str]]:
    """Yield the Markdown files of a folder without their front matter."""
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if path.suffix in {".md", ".markdown"} and path.is_file():
            text = path.read_text(encoding="utf-8").lstrip("\n")
            mark = text[:3]
            yield name, text[3:].partition(f"\n{mark}")[2][1:] if mark in {"---", "+++"} else text


_TAGS = re.compile(r"\{\{.*?\}\}|\{%.*?%\}", re.DOTALL)


def lost_lines(folder: Path, texts: dict[str, str], report: LoadReport) -> list[tuple[str, str]]:
    """Return lines of the folder's texts, without tags, links and HTML, that aren't in any imported text, unless the
    report lists their file as not imported.
    """
    kept = {line.partition(" {#")[0].strip() for text in texts.values() for line in text.split("\n")}
    kept |= {f"# {title.partition('/')[0]}" for title in texts}
    return [
        (name, line)
        for name, body in documents(folder)
        if name not in not_imported(report)
        for line in map(str.strip, _TAGS.sub("{", body).split("\n"))
        if line not in kept and not set("{}<[]") & set(line) and not line.startswith(("* TOC", "- TOC", "* toc"))
    ]


def not_imported(report: LoadReport) -> set[str]:
    marks = ("no front matter", "isn't a post", "isn't a date", "is invalid")
    return {fault.place.partition(":")[0] for fault in report.errors if any(mark in fault.message for mark in marks)}


def reported(report: LoadReport) -> set[tuple[str, str]]:
    return {(fault.place.partition(":")[0], fault.message.partition(" in ")[0]) for fault in report.errors}


def shown_tags(text: str) -> list[str]:
    """Return the template tags on the page of a post, except those in code."""
    page = re.sub(r"<(pre|code)\b.*?</\1>", "", render_markdown(text), flags=re.DOTALL)
    return re.findall(r"\{\{[<%]?[^}]{0,40}|\{%[^}]{0,40}|\{:[^}]{0,40}", page)


@pytest.mark.parametrize("name", FOLDERS)
def test_every_file_of_a_site_generator_folder_is_imported_or_reported(name: str, tmp_path: Path) -> None:
    folder = written(tmp_path, FOLDERS[name])
    if name == "jekyll":
        (folder / "_posts" / "loop").symlink_to("loop")
    report, texts, statuses = imported(folder)
    assert reported(report) == REPORTED[name]
    files = {name for name, _ in documents(folder)}
    assert report.loaded == len(texts) == len(files - not_imported(report))
    assert lost_lines(folder, texts, report) == []
    assert {title: found for title, text in texts.items() if (found := shown_tags(text))} == {}
    assert statuses["published"] == {"jekyll": 3, "hugo": 2, "notes": 1, "zola": 1}[name]


def test_links_images_and_code_of_site_generator_folders_are_imported(tmp_path: Path) -> None:
    texts: dict[str, str] = {}
    for name, files in FOLDERS.items():
        texts |= {title.partition("/")[0]: text for title, text in imported(written(tmp_path / name, files))[1].items()}
    for title, parts in {
        "Soup": ["![A pot](/files/", "[bread](/posts/bread)", '~~~~~~ python\nboil("{{ cold }}")\n~~~~~~'],
        "Stock": ["`{{ time }}`", "[Soup](/posts/soup) and [old](/posts/soup)"],
        "A trip": ["(/posts/valley#water)", "![Summit](/files/", "![A map](/files/", "[sheet](/files/", "(track.gpx)"],
        "Valley: low": ["[Back](/posts/the-trip), [abs](/posts/the-trip),\n[site](/posts/the-trip)"],
        "Ada Lovelace": ["[list](/posts/reading-list)", "![portrait](/files/"],
        "First": ["[long](/posts/long#end)", "\\[youtube\\]", "![Pic](/files/", "`{{ youtube() }}`"],
        "Long": ["![p](/files/", "![q](/files/"],
    }.items():
        assert [part for part in parts if part not in texts[title]] == [], texts[title]


def test_dates_tags_and_authors_of_site_generator_folders_are_imported(tmp_path: Path) -> None:
    found: dict[str, tuple[str, tuple[str, ...], str]] = {}
    for name, files in FOLDERS.items():
        with Blog.open(":memory:") as blog:
            system("blog").load(blog, written(tmp_path / name, files), silent)
            for post in blog.latest_posts(limit=100):
                author = blog.user(post.user_id)
                found[post.slug] = (f"{post.listed_at:%Y-%m-%dT%H:%M}", post.tags, author.name if author else "")
    assert found == {
        "soup": ("2024-02-29T00:00", ("c#", "soups", "winter"), "Ann Cook"),
        "stock": ("2024-02-28T09:30", ("slow", "winter"), "Unknown author"),
        "bread": ("2023-12-01T00:00", (), "Unknown author"),
        "the-trip": ("2024-05-04T06:00", ("swiss-alps", "travel", "walks"), "Ben Hiker"),
        "valley": ("2023-08-09T00:00", (), "Unknown author"),
        "2024-01-05": ("2024-01-05T00:00", (), "Unknown author"),
        "first": ("2022-03-04T00:00", ("a", "b", "c", "d", "e"), "Unknown author"),
    }


DATED_TWICE = "2023-01-29-jekyll-3-9-3-released.markdown"
"""Its date is ``2023-01-29 18:30:22 2023 -0800``."""


@pytest.mark.parametrize("name", ["hugo-docs", "jekyll-docs", "jekyll-posts"])
def test_documentation_folders_of_real_site_generators_are_imported(name: str) -> None:
    if not (DATA / name).is_dir():
        pytest.skip("the shared data isn't there")
    report, texts, _ = imported(DATA / name)
    files = dict(documents(DATA / name)).keys()
    assert report.loaded == len(texts) == len(files - not_imported(report))
    assert not_imported(report) <= {DATED_TWICE}
    assert len(report.errors) <= 20
    assert {title: found for title, text in texts.items() if (found := shown_tags(text))} == {}
    assert lost_lines(DATA / name, texts, report) == []


@pytest.mark.parametrize("name", FOLDERS)
def test_the_cms_imports_the_same_number_of_site_generator_files_as_the_blog(name: str, tmp_path: Path) -> None:
    folder = written(tmp_path, FOLDERS[name])
    loaded = imported(folder)[0].loaded
    with Cms.open(":memory:") as cms:
        report = system("cms").load(cms, folder, silent)
        again = system("cms").load(cms, folder, silent)
    assert (report.loaded, again.loaded) == (loaded, loaded)
    assert again.errors == report.errors
