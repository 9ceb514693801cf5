"""Folders are imported and imported again, and errors have a file and a line number."""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from keyplan.errors import RequestError, StoreError
from keyplan.systems import LoadReport
from keyplan_systems.cms import Article, Cms
from keyplan_systems.cms.design import BODY_BYTES_MAX
from keyplan_systems.cms.loader import load
from keyplan_systems.posts import stable_id
from tests.systems.cms.support import keys, recorded, silent, stored

POST = """---
title: "Keys: a \\"short\\" guide"
date: 2020-01-02 03:04:05 +0100
author: ann
tags: [keys, "c#"]
category: howto
---

First paragraph.

Second.
"""


def write(folder: Path, name: str, text: str | bytes) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def loaded(cms: Cms, folder: Path) -> LoadReport:
    return load(cms, folder, silent)


def dump(cms: Cms) -> list[str]:
    return sorted(json.dumps(item, sort_keys=True) for item in stored(cms))


def only_article(cms: Cms) -> Article:
    (name,) = {pk.removeprefix("ARTICLE#") for pk, sk in keys(cms) if sk == "#METADATA"}
    article = cms.article(name)
    assert article is not None
    return article


def test_a_jekyll_post_is_imported_as_an_article(cms: Cms, tmp_path: Path) -> None:
    write(tmp_path, "_posts/2020-01-01-keys.md", POST)
    assert loaded(cms, tmp_path) == LoadReport(1, [])
    moment = datetime(2020, 1, 2, 2, 4, 5, tzinfo=UTC)
    article = only_article(cms)
    assert article == Article(
        article_id=stable_id("_posts/2020-01-01-keys.md", moment),
        title='Keys: a "short" guide',
        slug="keys",
        excerpt="First paragraph.",
        status="published",
        author_id="ann",
        published_at=moment,
        current_version=1,
        tags={"keys", "c#", "howto"},
        created_at=moment,
        updated_at=moment,
    )
    (version,) = cms.article_versions(article.article_id)
    assert (version.body, version.word_count) == ("First paragraph.\n\nSecond.\n", 3)
    assert (version.created_by, version.created_at) == ("ann", moment)
    assert {tag_article.tag for tag_article in cms.tags_of_article(article.article_id)} == article.tags
    assert cms.articles_by_tag("c#").items == [article]


def test_files_marked_as_drafts_are_imported_unpublished(cms: Cms, tmp_path: Path) -> None:
    write(tmp_path, "_drafts/idea.md", "---\ntitle: Idea\n---\nText\n")
    assert loaded(cms, tmp_path).loaded == 1
    article = only_article(cms)
    assert (article.status, article.published_at, article.current_version) == ("draft", None, 1)
    assert cms.publish(article.article_id, "Text, mended\n", "ann").version == 2
    assert loaded(cms, tmp_path).loaded == 1
    again = only_article(cms)
    assert (again.status, again.current_version) == ("published", 2)


# Errors


def odd_folder(folder: Path) -> dict[str, str]:
    """Create a folder with two valid files and some invalid files, and return the expected report of each file."""
    write(folder, "good.md", POST)
    write(folder, "zz/good.toml.md", "+++\ntitle = 'T'\ndate = 2020-01-01\n+++\nText\n")
    write(folder, "latin.md", "---\ntitle: A\n---\n\ncaf\xe9\n".encode("latin-1"))
    write(folder, "utf16.md", "---\ntitle: A\n---\n".encode("utf-16"))
    write(folder, "yaml.md", "---\ntitle: Part: two\n---\n")
    write(folder, "open.md", "---\ntitle: A\n\nText\n")
    write(folder, "toml.md", "+++\ntitle = 'A'\ntags = [1\n+++\n")
    write(folder, "README.md", "# Read me\n")
    write(folder, "empty.md", "")
    write(folder, "date.md", "---\ntitle: A\ndate: soon\n---\n")
    write(folder, "2020-02-31-name.md", "---\ntitle: A\n---\n")
    write(folder, "big.md", "---\ntitle: A\n---\n" + "x" * (BODY_BYTES_MAX + 1))
    write(folder, "tags.md", "---\ntitle: A\ntags: [" + ",".join(map(str, range(41))) + "]\n---\n")
    write(folder, "tag.md", "---\ntitle: A\ntags: [" + "x" * 101 + "]\n---\n")
    write(folder, "title.md", "---\na: 1\ntitle: " + "x" * 501 + "\n---\n")
    with (folder / "huge.md").open("wb") as file:
        file.truncate(1 << 36)
    os.mkfifo(folder / "pipe.md")
    (folder / "link.md").symlink_to("/etc/hostname")
    return {
        "latin.md:5": "0xe9",
        "utf16.md:1": "0xff",
        "yaml.md:2": "mapping values",
        "open.md:1": "no end",
        "toml.md:3": "TOML",
        "README.md:1": "has no front matter",
        "date.md": "isn't a date",
        "2020-02-31-name.md": "posts without text, imported as drafts: 2 in 2 files",
        "big.md": f"{BODY_BYTES_MAX + 1:,} bytes",
        "tags.md": "41 tags",
        "tag.md": "tags: ",
        "title.md": "title: ",
        "huge.md": "68,719,476,736 bytes",
        "pipe.md": "the path isn't a regular file",
        "link.md": "symbolic links aren't followed",
    }


def test_each_error_names_its_file_and_line(cms: Cms, tmp_path: Path) -> None:
    expected = odd_folder(tmp_path)
    report = loaded(cms, tmp_path)
    result = {fault.place: fault for fault in report.errors}
    assert len(result) == len(report.errors)
    assert result.keys() == expected.keys()
    for place, said in expected.items():
        assert said in str(result[place]), place
    assert report.loaded == 4
    assert sum(sk == "#METADATA" for _, sk in keys(cms)) == 4
    assert "Amazon S3" in str(result["big.md"])


def test_file_names_that_are_not_utf8_are_imported_or_reported(cms: Cms, tmp_path: Path) -> None:
    name = os.fsdecode(b"caf\xe9.md")
    try:
        write(tmp_path, name, "---\nno end")
    except OSError:
        pytest.skip("this file system takes UTF-8 names only")
    write(tmp_path, os.fsdecode(b"th\xe9.md"), POST)
    report = loaded(cms, tmp_path)
    assert report.loaded == 1
    assert [fault.place for fault in report.errors] == ["caf\ufffd.md:1"]
    assert only_article(cms).slug == "th\ufffd"


def test_importing_a_missing_folder_raises_an_error(cms: Cms, tmp_path: Path) -> None:
    with pytest.raises(RequestError, match="does not exist"):
        loaded(cms, tmp_path / "missing")
    assert loaded(cms, tmp_path) == LoadReport(0, [])


def test_an_error_of_the_store_ends_the_import(cms: Cms, tmp_path: Path) -> None:
    write(tmp_path, "a.md", POST)
    write(tmp_path, "b.md", POST)

    def fail(operation: str, parameters: dict[str, Any]) -> None:
        if operation == "TransactWriteItems":
            raise StoreError("the disk is full")

    recorded(cms).before = fail
    with pytest.raises(StoreError):
        loaded(cms, tmp_path)
    assert keys(cms) == set()


def test_a_second_file_with_the_same_slug_gets_another_slug_and_is_reported(cms: Cms, tmp_path: Path) -> None:
    write(tmp_path, "2020-01-02-keys.md", POST)
    write(tmp_path, "other/keys.md", POST)
    for _ in range(2):  # importing again changes nothing
        report = loaded(cms, tmp_path)
        assert report.loaded == 2
        (fault,) = report.errors
        assert (fault.place, "keys-2020-01-02" in fault.message) == ("other/keys.md", True)
    assert {article.slug for article in cms.articles_by_author("ann")} == {"keys", "keys-2020-01-02"}


# Importing again


def test_importing_an_unchanged_folder_again_writes_nothing(cms: Cms, tmp_path: Path) -> None:
    write(tmp_path, "a.md", POST)
    write(tmp_path, "b.md", "---\n---\nUndated, untagged.\n")
    loaded(cms, tmp_path)
    before = dump(cms)
    recorder = recorded(cms)
    os.utime(tmp_path / "b.md", (0, 0))  # a new checkout has other file times
    assert loaded(cms, tmp_path) == LoadReport(2, [])
    assert set(recorder.operations) == {"GetItem", "Query"}
    assert dump(cms) == before


def test_a_changed_file_is_imported_as_a_new_version(cms: Cms, tmp_path: Path) -> None:
    path = write(tmp_path, "a.md", POST)
    loaded(cms, tmp_path)
    write(tmp_path, "a.md", POST.replace("Second.", "Other."))
    os.utime(path, (1_700_000_000, 1_700_000_000))
    loaded(cms, tmp_path)
    article = only_article(cms)
    assert article.current_version == 2
    newest, oldest = cms.article_versions(article.article_id)
    assert (newest.body, oldest.body) == ("First paragraph.\n\nOther.\n", "First paragraph.\n\nSecond.\n")
    assert newest.created_at == article.updated_at == datetime.fromtimestamp(1_700_000_000, UTC)


def test_changed_front_matter_fields_of_a_file_are_imported(cms: Cms, tmp_path: Path) -> None:
    write(tmp_path, "a.md", POST)
    loaded(cms, tmp_path)
    text = POST.replace("ann", "ben").replace('[keys, "c#"]', "[keys, new]").replace("guide", "walk")
    write(tmp_path, "a.md", text)
    loaded(cms, tmp_path)
    article = only_article(cms)
    assert (article.author_id, article.title, article.current_version) == ("ben", 'Keys: a "short" walk', 1)
    assert (
        article.tags
        == {tag_article.tag for tag_article in cms.tags_of_article(article.article_id)}
        == {"keys", "new", "howto"}
    )
    assert cms.articles_by_author("ann").items == []
    assert cms.articles_by_author("ben").items == [article]
    assert cms.articles_by_tag("c#").items == []


def test_importing_a_folder_again_keeps_versions_published_in_the_cms(cms: Cms, tmp_path: Path) -> None:
    write(tmp_path, "a.md", POST)
    loaded(cms, tmp_path)
    name = only_article(cms).article_id
    for number in range(12):
        cms.publish(name, f"In the CMS {number}", "ann")
    before = dump(cms)
    loaded(cms, tmp_path)
    assert dump(cms) == before
    write(tmp_path, "a.md", POST.replace("Second.", "Other."))
    loaded(cms, tmp_path)
    latest = cms.article_with_latest(name)
    assert latest is not None
    assert latest.version is not None
    assert (latest.version.version, latest.version.body) == (14, "First paragraph.\n\nOther.\n")


def test_importing_a_folder_again_keeps_archived_articles_unchanged(cms: Cms, tmp_path: Path) -> None:
    write(tmp_path, "a.md", POST)
    loaded(cms, tmp_path)
    cms.archive(only_article(cms).article_id)
    before = dump(cms)
    assert loaded(cms, tmp_path) == LoadReport(1, [])
    write(tmp_path, "a.md", POST.replace("Second.", "Other."))
    report = loaded(cms, tmp_path)
    assert report.loaded == 0
    assert [(fault.place, fault.code) for fault in report.errors] == [("a.md", "Refused")]
    assert dump(cms) == before


def test_importing_a_folder_again_completes_an_interrupted_delete(cms: Cms, tmp_path: Path) -> None:
    write(tmp_path, "a.md", POST)
    loaded(cms, tmp_path)
    whole = dump(cms)
    article = only_article(cms)
    cms.publish(article.article_id, "more", "ann")
    recorder = recorded(cms)

    def fail(operation: str, parameters: dict[str, Any]) -> None:
        if operation == "BatchWriteItem":
            raise StoreError("the power went")

    recorder.before = fail
    with pytest.raises(StoreError):
        cms.delete_article(article.article_id)
    assert {sk.partition("#")[0] for _, sk in keys(cms)} == {"VERSION", "VERSION_CARD"}
    recorder.before = lambda operation, parameters: None
    assert loaded(cms, tmp_path) == LoadReport(1, [])
    assert [text for text in dump(cms) if "EVENT#" not in text] == whole


def test_the_import_reports_its_progress(cms: Cms, tmp_path: Path) -> None:
    for name in "abc":
        write(tmp_path, f"{name}.md", POST)
    seen: list[tuple[int, int | None]] = []
    load(cms, tmp_path, lambda done, total: seen.append((done, total)))
    assert seen == [(0, 3), (1, 3), (2, 3), (3, 3)]


def test_unsupported_markup_is_reported_and_kept(cms: Cms, tmp_path: Path) -> None:
    text = (
        "---\ntitle: A\ndate: 2024-01-01\nauthors: [ann, ben]\naliases: [/old]\nweight: 3\n---\n"
        "{% include x %}\n\n![p](p.png) [b](../b/) [out](https://example.com) {{ site.title }}\n"
    )
    (tmp_path / "a.md").write_text(text)
    report = load(cms, tmp_path, silent)
    assert (report.loaded, report.counts) == (1, {"fields ignored: weight": 1})
    assert sorted(fault.message for fault in report.errors) == [
        "additional authors, ignored: 1 in a.md (ben)",
        "former URLs, ignored: 1 in a.md (/old)",
        "links within the original site, unchanged: 2 in a.md (p.png, ../b/)",
        "template expressions, not rendered: 1 in a.md (site.title)",
        "template tags, not rendered: 1 in a.md (include)",
    ]
    (article,) = cms.articles_by_author("ann")
    latest = cms.article_with_latest(article.article_id)
    assert latest is not None
    assert latest.version is not None
    assert latest.version.body == text.partition("---\n")[2].partition("---\n")[2]
