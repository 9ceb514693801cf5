"""``keyplan serve`` with a site: the blog at /, the blog's API, and the blog's secret."""

from __future__ import annotations

import json
import re
import stat
import urllib.error
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.request import Request, urlopen

import pytest

from keyplan.cli.secret import secret_of
from keyplan.errors import RequestError, StoreError
from keyplan_systems.blog.sample import DEMO_PASSWORD
from tests.cli.support import program


@contextmanager
def serving(folder: Path, *arguments: str) -> Iterator[tuple[str, str]]:
    """Serve the blog on a free port, and yield its address and the command's output."""
    with program("serve", "blog", "--port", "0", *arguments, cwd=folder) as started:
        assert started.stdout is not None
        text = ""
        while "Ctrl-C" not in text:
            line = started.stdout.readline()
            assert line, started.stderr.read() if started.stderr else ""
            text += line
        address = re.search(r"http://127\.0\.0\.1:\d+", text)
        assert address is not None
        yield address.group(), text


def test_the_site_and_its_api_are_served_and_sample_users_are_printed(folder: Path) -> None:
    with serving(folder, "--sample", "5") as (address, said):
        assert "Marginalia" in urlopen(f"{address}/").read().decode()
        assert "Access patterns" in urlopen(f"{address}/docs").read().decode()
        assert "/api/latest_posts" in json.load(urlopen(f"{address}/openapi.json"))["paths"]
        assert json.load(urlopen(f"{address}/api/latest_posts?limit=2"))["items"]
        assert f"reader or author or moderator; the password is: {DEMO_PASSWORD}" in said
        with pytest.raises(urllib.error.HTTPError) as refused:
            urlopen(Request(f"{address}/", headers={"Host": "evil.example"}))
        with refused.value as answer:
            assert answer.code == 421
    secret = folder / "blog.db.secret"
    assert stat.S_IMODE(secret.stat().st_mode) == 0o600


def test_forwarded_headers_are_ignored_without_a_configured_proxy(folder: Path) -> None:
    forwarded = {"X-Forwarded-Proto": "https", "X-Forwarded-For": "192.0.2.1"}
    with serving(folder) as (address, _):
        robots = urlopen(Request(f"{address}/robots.txt", headers=forwarded)).read().decode()
        assert f"Sitemap: {address}/sitemap.xml" in robots


def test_sample_data_on_a_public_site_prints_a_warning(folder: Path) -> None:
    with serving(folder, "--sample", "1", "--origin", "https://blog.example.com") as (_, said):
        assert "this password is public" in said


def test_a_site_without_sample_data_has_no_demo_users(folder: Path) -> None:
    with serving(folder, "--origin", "https://blog.example.com/", "--secret-file", "own.secret") as (address, said):
        assert "Sign in as" not in said
        page = urlopen(Request(f"{address}/", headers={"Host": "blog.example.com"})).read().decode()
        assert '<link rel="canonical" href="https://blog.example.com/">' in page
        assert "offline" not in urlopen(f"{address}/sign-in").read().decode()
    assert (folder / "own.secret").exists()
    assert not (folder / "blog.db.secret").exists()


@pytest.mark.parametrize("origin", ["blog.example.com", "ftp://blog.example.com", "https://", "https://a.example/path"])
def test_an_invalid_origin_option_is_an_error(folder: Path, origin: str) -> None:
    with program("serve", "blog", "--origin", origin, cwd=folder) as started:
        _, text = started.end()
    assert started.returncode == 2
    assert "https://blog.example.com" in text


def test_a_secret_is_created_once_per_store_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("KEYPLAN_SECRET", raising=False)
    monkeypatch.chdir(tmp_path)
    db = str(tmp_path / "a.db")
    first = secret_of(db)
    assert len(first) >= 32
    assert secret_of(db) == first
    assert secret_of(str(tmp_path / "b.db")) != first
    assert secret_of(":memory:") != secret_of(":memory:")
    secret_of("dynamodb://eu-west-1/blog")
    assert (tmp_path / "keyplan.secret").exists()
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


def test_a_short_or_unreadable_secret_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KEYPLAN_SECRET", "a secret that somebody gives")
    assert secret_of("a.db") == b"a secret that somebody gives"
    monkeypatch.setenv("KEYPLAN_SECRET", "short")
    with pytest.raises(RequestError, match="too short"):
        secret_of("a.db")
    monkeypatch.delenv("KEYPLAN_SECRET")
    with pytest.raises(StoreError, match="can't be read or created"):
        secret_of("a.db", tmp_path / "no such folder" / "secret")
    (tmp_path / "cut").write_text("x")
    with pytest.raises(StoreError, match="too short"):
        secret_of("a.db", tmp_path / "cut")
