"""Tests of ``keyplan import`` and ``keyplan sample`` with the CMS."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.support import json_of, run

POST = "---\ntitle: {title}\ndate: 2026-01-02\ntags: [a, b]\nauthor: ada\n---\n\nText of {title}.\n"


@pytest.fixture
def posts(folder: Path) -> Path:
    path = folder / "_posts"
    path.mkdir()
    for name in ("one", "two"):
        (path / f"2026-01-02-{name}.md").write_text(POST.format(title=name.title()))
    return path


def test_import_loads_the_posts_of_a_folder(posts: Path) -> None:
    result = run("import", "cms", str(posts))
    assert result.exit_code == 0, result.output
    assert result.stdout == "Imported 2 into cms.db.\n"
    tagged = json_of("call", "cms", "articles_by_tag", "tag=a")
    assert sorted(item["title"] for item in tagged["items"]) == ["One", "Two"]


def test_invalid_posts_are_reported_and_the_other_posts_are_imported(posts: Path) -> None:
    (posts / "2026-01-03-bad.md").write_text("---\ntitle: [\n---\n\nText\n")
    result = run("import", "cms", str(posts))
    assert result.exit_code == 3
    assert "2026-01-03-bad.md" in result.stderr
    assert "Imported 2 into cms.db; 1 error, listed above." in result.stdout
    report = run("import", "cms", str(posts), "--db", "again.db", "--json")
    assert report.exit_code == 3
    imported = json.loads(report.stdout)
    assert imported["loaded"] == 2
    assert "2026-01-03-bad.md" in imported["errors"][0]["place"]


@pytest.mark.parametrize("given", ["nowhere", "file.md"])
def test_importing_a_missing_folder_or_a_file_is_an_error(given: str) -> None:
    Path("file.md").write_text("x")
    result = run("import", "cms", given, "--json")
    assert result.exit_code == 2
    assert json.loads(result.stdout)["error"]["code"] == "RequestError"
    assert not Path("cms.db").exists()


def test_the_sample_data_is_reproducible() -> None:
    for db in ("a.db", "b.db"):
        result = run("sample", "cms", "--count", "12", "--db", db)
        assert result.exit_code == 0
        assert result.stdout.startswith("Wrote 12 sample items ")
        assert result.stdout.endswith(f" to {db}.\n")
    first, second = (
        json_of("call", "cms", "articles_by_author", "author_id=u_01", "--db", db)["items"] for db in ("a.db", "b.db")
    )
    names = ("article_id", "title", "slug", "excerpt")  # timestamps are relative to now
    assert [[item[name] for name in names] for item in first] == [[item[name] for name in names] for item in second]
