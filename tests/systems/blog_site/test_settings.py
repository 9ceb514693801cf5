"""The settings file of a site is applied to every page, or rejected with all its errors."""

from __future__ import annotations

from pathlib import Path

import pytest

from keyplan.errors import RequestError
from keyplan.systems import SiteOptions
from keyplan_systems.blog.design import Blog
from keyplan_systems.blog.site.making import make_site
from keyplan_systems.blog.site.settings import BlogFile
from keyplan_systems.site.settings import read_settings
from tests.systems.blog_site.conftest import SECRET
from tests.systems.blog_site.support import Visit

WRONG = """
titel = "x"
tagline = 3
authors = "anyone"
[[providers]]
name = "Google"
title = "Google"
issuer = "http://accounts.example.com"
client_id = "a"
client_secret = "b"
"""


def test_settings_are_applied_to_every_page(blog: Blog, tmp_path: Path) -> None:
    (tmp_path / "site.toml").write_text('title = "Notes"\ntagline = "From a desk."\n')
    made = make_site(blog, SiteOptions(SECRET, ("testserver",), None, tmp_path / "site.toml"))
    visit = Visit(made.application)
    page = visit.get("/").text
    assert "<title>Notes" in page
    assert "From a desk." in page
    assert "<title>Notes</title>" in visit.get("/feed.atom").text


def test_all_errors_of_the_settings_file_are_reported_together(tmp_path: Path) -> None:
    (tmp_path / "site.toml").write_text(WRONG)
    with pytest.raises(RequestError) as caught:
        read_settings(BlogFile, tmp_path / "site.toml")
    places = {fault.place for fault in caught.value.errors}
    assert places == {"titel", "tagline", "authors", "providers.0.name", "providers.0.issuer"}


@pytest.mark.parametrize("line", ['title = ""', f'title = "{"x" * 201}"', r'title = "\u202e"', "title = 5"])
def test_a_site_title_that_is_not_one_visible_line_is_rejected(line: str, tmp_path: Path) -> None:
    (tmp_path / "site.toml").write_text(line)
    with pytest.raises(RequestError) as caught:
        read_settings(BlogFile, tmp_path / "site.toml")
    assert [fault.place for fault in caught.value.errors] == ["title"]


def test_a_settings_file_that_is_not_toml_is_rejected(tmp_path: Path) -> None:
    (tmp_path / "site.toml").write_text("title = ")
    with pytest.raises(RequestError, match="can't be read"):
        read_settings(BlogFile, tmp_path / "site.toml")
