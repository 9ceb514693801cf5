"""Folders as site generators keep them: every text and paragraph is imported, or its loss is reported."""

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
    "eleventy": {
        "eleventy.config.js": "export default (config) => {};",
        "src/_includes/signoff.md": "Signed by the whole team.\n",
        "src/posts/posts.json": '{"layout": "post.njk", "tags": "posts"}',
        "src/posts/first.md": (
            "---\ntitle: First\ndate: 2024-01-01\ntags: [post, one]\n---\n"
            "Opening paragraph with {{ site.name }}.\n\n{% include 'signoff.md' %}\n\n"
            "See [second](/posts/second/), ![chart](./chart.png) and {% image 'a.jpg', 'Alt' %}.\n\n"
            "{% for post in collections.posts %}\n- {{ post.data.title }}\n{% endfor %}\n\nClosing paragraph.\n"
        ),
        "src/posts/second.md": "---\ntitle: Second\ndate: 2024-01-02\n---\n{# hidden #}Second body.\n\n`{{ code }}`\n",
        "src/posts/empty.md": "---\ntitle: Empty\ndate: 2024-01-03\n---\n",
        "src/about.njk": "---\ntitle: About\n---\n<h1>About</h1>\n",
    },
    "mkdocs": {
        "mkdocs.yml": "site_name: Manual\nsite_url: https://manual.example/\n",
        "docs/index.md": (
            '# Manual\n\n!!! note "Before you start"\n    Read the licence.\n\n    Twice.\n\n'
            "[Setup](guide/setup.md#linux)\n"
        ),
        "docs/guide/setup.md": (
            "# Setup\n\n[TOC]\n\n## Linux { #linux .wide }\n\n"
            '=== "apt"\n\n    ```sh title="shell" hl_lines="1"\n    apt install it\n    ```\n\n'
            '=== "dnf"\n\n    Use dnf.\n\n![screen](../img/screen.png){ loading=lazy }\n\n'
            '--8<-- "snippets/end.md"\n\n[api.Client][] and ++ctrl+c++.\n'
        ),
        "snippets/end.md": "The very end.\n",
        "docs/README.md": "# About this folder\n\nText.\n",
    },
    "docusaurus": {
        "docusaurus.config.js": "module.exports = {};",
        "blog/authors.yml": "ada:\n  name: Ada Lovelace\n",
        "blog/2024-02-03-welcome/index.mdx": (
            "---\ntitle: Welcome\nauthors: [ada]\ntags: [hello]\n---\nimport Tabs from '@theme/Tabs';\n\n"
            "Welcome paragraph.\n\n{/* truncate */}\n\n:::tip[Try it]\n\nTip paragraph.\n\n:::\n\n"
            "<Tabs>Inside tabs.</Tabs>\n\n[Intro](../../docs/intro.md)\n"
        ),
        "docs/intro.md": (
            "---\nsidebar_position: 1\n---\n# Intro\n\nIntro paragraph.\n\n:::danger\nDanger paragraph.\n:::\n"
        ),
        "docs/_category_.json": '{"label": "Docs"}',
    },
    "hexo": {
        "_config.yml": "title: Hexo\nurl: https://hexo.example\npermalink: :year/:month/:day/:title/\n",
        "source/_posts/hello.md": (
            "---\ntitle: Hello\ndate: 2024-03-04 05:06:07\ncategories: [a, b]\ntags:\n- x\n---\n"
            "Hello paragraph.\n<!-- more -->\nMore paragraph.\n\n{% asset_img pic.png A picture %}\n\n"
            "{% post_link other 'the other' %}\n\n{% codeblock lang:js %}\nlet a = '{{ b }}';\n{% endcodeblock %}\n\n"
            "{% note info %}\nNoted paragraph.\n{% endnote %}\n\n{% youtube abc %}\n"
        ),
        "source/_posts/hello/pic.png": "PNG",
        "source/_posts/other.md": "---\ntitle: Other\ndate: 2024-03-05\n---\nOther paragraph.\n",
        "source/_drafts/later.md": "---\ntitle: Later\ndate: 2024-03-06\n---\nDraft paragraph.\n",
        "source/about/index.md": "Unfenced paragraph without a title.\n",
    },
    "zola": {
        "config.toml": 'base_url = "https://zola.example"\n',
        "content/_index.md": '+++\ntitle = "Home"\ntemplate = "index.html"\n+++\n',
        "content/blog/_index.md": "+++\nsort_by = 'date'\n+++\nSection paragraph.\n",
        "content/blog/one.md": (
            '+++\ntitle = "One"\ndate = 2024-04-05\n[taxonomies]\ntags = ["t"]\n[extra]\nmood = "good"\n+++\n'
            "One paragraph, see [two](@/blog/two/index.md#part).\n\n<!-- more -->\n\n"
            '{{ youtube(id="abc", autoplay=true) }}\n\n{% quote(author="V") %}\nQuoted paragraph.\n{% end %}\n\n'
            "Shown: {{/* youtube() */}}\n"
        ),
        "content/blog/two/index.md": "+++\ntitle = 'Two'\ndate = 2024-04-06\n+++\n## Part\n\nTwo paragraph.\n",
    },
}
"""Files of five generators, each with what its documentation shows most."""


def written(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder


def imported(folder: Path) -> tuple[LoadReport, dict[str, str], Counter[str]]:
    """The report of an import into the blog, the texts by their titles, and how many posts have each status."""
    with Blog.open(":memory:") as blog:
        report = system("blog").load(blog, folder, silent)
        texts = {content.post_id: content.content for content in items_of(blog, PostContent)}
        posts = {post_id: blog.post(post_id) for post_id in texts}
        assert all(posts.values())
        titled = {f"{post.title}/{post_id}": texts[post_id] for post_id, post in posts.items() if post is not None}
        return report, titled, Counter(post.status for post in posts.values() if post is not None)


def documents(folder: Path) -> Iterator[tuple[str, str]]:
    """The Markdown files of a folder that are texts, without their front matter."""
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if path.suffix in {".md", ".mdx", ".markdown"} and "_includes" not in name:
            text = path.read_text(encoding="utf-8").lstrip("\n")
            mark = text[:3]
            yield name, text[3:].partition(f"\n{mark}")[2][1:] if mark in {"---", "+++"} else text


_TAGS = re.compile(r"\{\{.*?\}\}|\{%.*?%\}", re.DOTALL)
MARKED = (":::", "!!!", "???", "===", "--8<--", "import ", "* TOC", "- TOC", "* toc")


def lost_lines(folder: Path, texts: dict[str, str], report: LoadReport) -> list[tuple[str, str]]:
    """Lines of the folder's texts without tags, links and HTML that are in no imported text, where the report doesn't
    name their file as one that wasn't imported.
    """
    kept = {line.partition(" {#")[0].strip() for text in texts.values() for line in text.split("\n")}
    kept |= {f"# {title.partition('/')[0]}" for title in texts}
    return [
        (name, line)
        for name, body in documents(folder)
        if name not in not_imported(report)
        for line in map(str.strip, _TAGS.sub("{", body).split("\n"))
        if line not in kept and not set("{}<[]") & set(line) and not line.startswith(MARKED)
    ]


def not_imported(report: LoadReport) -> set[str]:
    return {place for place, text in said(report) if "section's page" in text or "no front matter" in text}


def said(report: LoadReport) -> list[tuple[str, str]]:
    return [(fault.place.partition(":")[0], fault.message) for fault in report.errors]


def shown_tags(text: str) -> list[str]:
    """Template tags on the page of a text, outside of code."""
    page = re.sub(r"<(pre|code)\b.*?</\1>", "", render_markdown(text), flags=re.DOTALL)
    return re.findall(r"\{\{[<%]?[^}]{0,40}|\{%[^}]{0,40}|\{:[^}]{0,40}|^:::.*|^!!!.*", page, re.MULTILINE)


@pytest.mark.parametrize("name", FOLDERS)
def test_every_text_and_paragraph_is_imported_or_reported(name: str, tmp_path: Path) -> None:
    folder = written(tmp_path, FOLDERS[name])
    report, texts, statuses = imported(folder)
    names = {name for name, _ in documents(folder)} - {"content/_index.md"}  # which has a title and a template only
    assert report.loaded == len(texts) == len(names - not_imported(report))
    assert lost_lines(folder, texts, report) == []
    assert {title: found for title, text in texts.items() if (found := shown_tags(text))} == {}
    assert statuses["published"] == {"mkdocs": 0, "docusaurus": 1}.get(name, 2)  # of what has a date and a text
    kinds = [fault.message.partition(":")[0] for fault in report.errors if " in " in fault.message]
    assert len(kinds) == len(set(kinds))  # one line per kind


def test_the_content_of_the_five_folders(tmp_path: Path) -> None:
    """What each generator's folder must give, beyond its words."""
    texts: dict[str, str] = {}
    for name, files in FOLDERS.items():
        texts |= {title.partition("/")[0]: text for title, text in imported(written(tmp_path / name, files))[1].items()}
    for title, parts in {
        "First": ["Signed by the whole team.", "[second](/posts/second)", "![chart](./chart.png)", "\\[image\\]"],
        "Manual": ["\\[note\\] Before you start\n\nRead the licence.\n\nTwice.", "[Setup](/posts/setup#linux)"],
        "Setup": ['```sh title="shell" hl_lines="1"\napt install it\n```', "Use dnf.", "The very end.", "{#linux}"],
        "Welcome": ["\\[tip\\] Try it\n\n\nTip paragraph.", "[Intro](/posts/intro)"],
        "Hello": ["![A](/files/", "[the other](/posts/other)", "~~~~~~ js\nlet a = '{{ b }}';\n~~~~~~"],
        "One": ["[two](/posts/two#part)", "\\[youtube\\]", "\\[quote\\]\nQuoted paragraph.", "`{{ youtube() }}`"],
    }.items():
        assert [part for part in parts if part not in texts[title]] == [], texts[title]


@pytest.mark.parametrize("name", ["hugo-docs", "jekyll-docs", "jekyll-posts"])
def test_documentation_of_real_generators(name: str) -> None:
    if not (DATA / name).is_dir():
        pytest.skip("the shared data isn't there")
    report, texts, _ = imported(DATA / name)
    files = dict(documents(DATA / name))
    assert report.loaded == len(texts) == len([file for file in files if "_index" not in file])
    assert len(report.errors) <= 20
    assert {title: found for title, text in texts.items() if (found := shown_tags(text))} == {}
    assert lost_lines(DATA / name, texts, report) == []


@pytest.mark.parametrize("name", FOLDERS)
def test_the_cms_imports_the_same_texts_unchanged(name: str, tmp_path: Path) -> None:
    folder = written(tmp_path, FOLDERS[name])
    loaded = imported(folder)[0].loaded
    with Cms.open(":memory:") as cms:
        report = system("cms").load(cms, folder, silent)
        again = system("cms").load(cms, folder, silent)
    assert (report.loaded, again.loaded) == (loaded, loaded)
    assert again.errors == report.errors
