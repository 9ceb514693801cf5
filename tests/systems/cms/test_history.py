"""The git history of a folder is imported as versions of its articles."""

from __future__ import annotations

import os
import shutil
import subprocess
from datetime import UTC, datetime
from pathlib import Path

import pytest

from keyplan.systems import LoadReport
from keyplan_systems.cms import Cms
from keyplan_systems.cms import history as history_module
from keyplan_systems.cms.design import BODY_BYTES_MAX
from keyplan_systems.cms.history import History, HistoryError
from keyplan_systems.cms.loader import load
from tests.systems.cms.support import silent
from tests.systems.cms.test_loader import dump, only_article, write

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="needs git")

LONG = "".join(f"Line {number} of a text that is long enough to be known again.\n" for number in range(20))


class Repository:
    """A git repository that ignores the git settings of the machine."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.day = 0
        folder.mkdir(exist_ok=True)
        self.git("init", "--quiet", "--initial-branch=main")

    def git(self, *arguments: str, author: str = "Ann") -> str:
        moment = f"2021-03-{self.day:02d}T10:00:00+02:00" if self.day else "2021-03-01T00:00:00Z"
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.folder),
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_AUTHOR_NAME": author,
            "GIT_AUTHOR_EMAIL": "a@example.org",
            "GIT_AUTHOR_DATE": moment,
            "GIT_COMMITTER_NAME": "Committer",
            "GIT_COMMITTER_EMAIL": "c@example.org",
            "GIT_COMMITTER_DATE": moment,
        }
        command = ["git", "-C", str(self.folder), *arguments]
        return subprocess.run(command, check=True, capture_output=True, text=True, env=environment).stdout

    def commit(self, author: str = "Ann") -> None:
        self.day += 1
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "--message", f"day {self.day}", author=author)


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return Repository(tmp_path / "site")


def post(body: str, **fields: str) -> str:
    given = {"title": "T", "date": "2021-02-01", **fields}
    return "---\n" + "".join(f"{name}: {value}\n" for name, value in given.items()) + f"---\n\n{body}"


def versions(cms: Cms) -> list[tuple[str, str, datetime]]:
    article = only_article(cms)
    article_versions = cms.article_history(article.article_id)
    assert [version.version for version in article_versions] == list(range(1, article.current_version + 1))
    return [(version.body, version.created_by, version.created_at) for version in article_versions]


def at(day: int) -> datetime:
    return datetime(2021, 3, day, 8, tzinfo=UTC)


def test_each_commit_of_a_file_is_imported_as_a_version(cms: Cms, repository: Repository) -> None:
    file = "_posts/a.md"
    write(repository.folder, file, post("One\n"))
    repository.commit("Ann")
    write(repository.folder, "other.txt", "of no concern")
    repository.commit("Ben")
    write(repository.folder, file, post("Two\n"))
    repository.commit("Çelik Ümit")
    write(repository.folder, file, post("Two\n", author="carla"))
    repository.commit("Dora")
    assert load(cms, repository.folder, silent) == LoadReport(1, [])
    assert versions(cms) == [("One\n", "Ann", at(1)), ("Two\n", "Çelik Ümit", at(3)), ("Two\n", "Dora", at(4))]
    article = only_article(cms)
    assert (article.author_id, article.updated_at) == ("carla", at(4))
    assert article.created_at == article.published_at == datetime(2021, 2, 1, tzinfo=UTC)


def test_a_folder_within_the_work_tree_is_imported(cms: Cms, repository: Repository) -> None:
    write(repository.folder, "deep/posts/ä b.md", post("One\n"))
    repository.commit()
    write(repository.folder, "deep/posts/ä b.md", post("Two\n"))
    repository.commit()
    assert load(cms, repository.folder / "deep" / "posts", silent).loaded == 1
    assert [body for body, _, _ in versions(cms)] == ["One\n", "Two\n"]


def test_a_renamed_file_keeps_its_history(cms: Cms, repository: Repository) -> None:
    write(repository.folder, "a.md", post(LONG))
    repository.commit()
    repository.git("mv", "a.md", "b.md")
    repository.commit()
    repository.git("mv", "b.md", "c.md")
    write(repository.folder, "c.md", post(LONG + "More.\n"))
    repository.commit()
    write(repository.folder, "a.md", "---\nno end: another file of the old name")
    repository.commit()
    report = load(cms, repository.folder, silent)
    assert [fault.place for fault in report.errors] == ["a.md:1"]
    assert [(body[-6:], moment) for body, _, moment in versions(cms)] == [
        ("nown again.\n"[-6:], at(1)),
        ("More.\n", at(3)),
    ]


def test_a_moved_file_keeps_its_article(cms: Cms, repository: Repository) -> None:
    write(repository.folder, "drafts/a.md", post("Outside\n" + LONG))
    repository.commit()
    (repository.folder / "posts").mkdir()
    repository.git("mv", "drafts/a.md", "posts/a.md")
    repository.commit()
    assert load(cms, repository.folder / "posts", silent) == LoadReport(1, [])
    article = only_article(cms)
    (repository.folder / "posts" / "2021").mkdir()
    repository.git("mv", "posts/a.md", "posts/2021/b.md")
    repository.commit()
    write(repository.folder, "posts/2021/b.md", post("Inside\n" + LONG))
    repository.commit("Ben")
    assert load(cms, repository.folder / "posts", silent) == LoadReport(1, [])
    moved = only_article(cms)
    assert (moved.article_id, moved.slug, moved.former_slugs) == (article.article_id, "b", ["a"])
    assert [(body[:7], who, moment) for body, who, moment in versions(cms)] == [
        ("Outside", "Ann", at(1)),
        ("Inside\n", "Ben", at(4)),
    ]
    assert cms.article_by_slug("a") == cms.article_by_slug("b") == moved


def test_importing_a_repository_again_adds_only_new_commits(cms: Cms, repository: Repository) -> None:
    write(repository.folder, "a.md", post("One\n"))
    repository.commit()
    load(cms, repository.folder, silent)
    before = dump(cms)
    load(cms, repository.folder, silent)
    assert dump(cms) == before
    write(repository.folder, "a.md", post("Two\n"))
    repository.commit("Ben")
    write(repository.folder, "a.md", post("One\n"))
    repository.commit("Ann")
    for _ in range(2):
        load(cms, repository.folder, silent)
        assert versions(cms) == [("One\n", "Ann", at(1)), ("Two\n", "Ben", at(2)), ("One\n", "Ann", at(3))]


def test_uncommitted_changes_are_imported_as_the_newest_version(cms: Cms, repository: Repository) -> None:
    path = write(repository.folder, "a.md", post("One\n", author="ann"))
    repository.commit()
    write(repository.folder, "a.md", post("Two\n", author="ann"))
    os.utime(path, (1_700_000_000, 1_700_000_000))
    load(cms, repository.folder, silent)
    worked_on = ("Two\n", "ann", datetime.fromtimestamp(1_700_000_000, UTC))
    assert versions(cms) == [("One\n", "Ann", at(1)), worked_on]
    repository.commit()
    load(cms, repository.folder, silent)
    assert versions(cms) == [("One\n", "Ann", at(1)), worked_on]


def test_more_commits_than_a_transaction_allows_are_imported(cms: Cms, repository: Repository) -> None:
    stream = ["blob\nmark :1\ndata 0\n\n"]
    for number in range(1, 131):
        text = post(f"Text {number}\n", tags=f"[{', '.join(f't{one}' for one in range(40))}]")
        stream.append(
            f"commit refs/heads/main\nauthor A <a@x> {1_620_000_000 + number} +0000\n"
            f"committer A <a@x> {1_620_000_000 + number} +0000\ndata 0\n"
            f"M 100644 inline a.md\ndata {len(text.encode())}\n{text}\n"
        )
    subprocess.run(
        ["git", "-C", str(repository.folder), "fast-import", "--quiet"], input="".join(stream), text=True, check=True
    )
    repository.git("checkout", "--quiet", "--force", "main")
    assert load(cms, repository.folder, silent) == LoadReport(1, [])
    assert [body for body, _, _ in versions(cms)] == [f"Text {number}\n" for number in range(1, 131)]
    assert only_article(cms).updated_at == datetime.fromtimestamp(1_620_000_130, UTC)


def test_old_versions_that_are_invalid_articles_are_omitted_and_reported(cms: Cms, repository: Repository) -> None:
    """If only the front matter of an old version is invalid, the text after the front matter is imported."""
    for text in (
        "plain\n",
        "---\ntitle: [\n---\nbroken\n",
        b"---\n---\n\xe9\n",
        post("x" * (BODY_BYTES_MAX + 1)),
        post("Now\n"),
    ):
        write(repository.folder, "a.md", text)
        repository.commit()
    report = load(cms, repository.folder, silent)
    assert [body for body, _, _ in versions(cms)] == ["plain\n", "broken\n", "Now\n"]
    (fault,) = report.errors
    assert fault.place == "a.md"
    assert "2021-03-04" in fault.message
    assert report.loaded == 1


def test_a_folder_without_git_history_is_imported(cms: Cms, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, "a.md", post("One\n", author="ann"))
    assert History.of(tmp_path) is None
    monkeypatch.setenv("PATH", str(tmp_path))
    assert load(cms, tmp_path, silent) == LoadReport(1, [])
    assert versions(cms) == [("One\n", "ann", datetime(2021, 2, 1, tzinfo=UTC))]


def test_a_repository_without_commits_is_imported(cms: Cms, repository: Repository) -> None:
    write(repository.folder, "a.md", post("One\n"))
    assert load(cms, repository.folder, silent) == LoadReport(1, [])
    assert len(versions(cms)) == 1


def test_git_environment_variables_are_ignored(
    repository: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a git hook, GIT_DIR names the hook's repository instead of the imported one."""
    write(repository.folder, "a.md", post("One\n"))
    repository.commit()
    monkeypatch.setenv("GIT_DIR", str(repository.folder / ".git"))
    other = tmp_path / "other"
    other.mkdir()
    assert History.of(other) is None


@pytest.mark.parametrize("when", ["log", "texts"])
def test_errors_of_the_git_program_are_reported(
    cms: Cms, repository: Repository, monkeypatch: pytest.MonkeyPatch, when: str
) -> None:
    for name in ("a.md", "b.md"):
        write(repository.folder, name, post("One\n", author="ann"))
    repository.commit()
    if when == "log":
        monkeypatch.setattr(history_module, "_LOG", ("log", "--no-such-option"))
    else:
        monkeypatch.setattr(History, "_blob", fail_to_read)
    report = load(cms, repository.folder, silent)
    assert report.loaded == 2
    (fault,) = report.errors
    assert fault.place == str(repository.folder)
    assert "git history" in fault.message


def fail_to_read(history: History, name: str) -> bytes | None:
    raise HistoryError("git ended before its texts were read")


def test_importing_runs_no_program_from_repository_settings(cms: Cms, repository: Repository, tmp_path: Path) -> None:
    """The settings of a downloaded repository can contain commands, which must not run."""
    write(repository.folder, "a.md", post("One\n"))
    write(repository.folder, ".gitattributes", "*.md diff=trap filter=trap\n")
    repository.commit()
    write(repository.folder, "a.md", post("Two\n"))
    repository.commit()
    mark = tmp_path / "ran"
    trap = write(tmp_path, "trap.sh", f"#!/bin/sh\ntouch '{mark}'\ncat\n")
    trap.chmod(0o755)
    for setting in (
        *("core.fsmonitor", "core.pager", "diff.external", "diff.trap.command", "diff.trap.textconv"),
        *("filter.trap.smudge", "filter.trap.clean", "gpg.program", "core.sshCommand"),
    ):
        repository.git("config", setting, str(trap))
    repository.git("config", "log.showSignature", "true")
    assert load(cms, repository.folder, silent) == LoadReport(1, [])
    assert len(versions(cms)) == 2
    assert not mark.exists()
