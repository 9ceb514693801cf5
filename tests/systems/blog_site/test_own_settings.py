"""A site's own settings: read whole or refused with every fault, and shown on every page."""

from __future__ import annotations

from pathlib import Path

import pytest

from keyplan.errors import RequestError
from keyplan.systems import SiteOptions
from keyplan_systems.blog.design import Blog
from keyplan_systems.blog.site.making import make_site
from keyplan_systems.site.own_settings import read_site_file
from tests.systems.blog_site.conftest import SECRET
from tests.systems.blog_site.support import Visit

SITE = """
title = "Notes"
tagline = "From a desk."
logo = "logo.svg"
analytics = false
navigation = [{ text = "About", to = "/posts/about" }, { text = "Code", to = "https://code.example" }]

[colours.light]
accent = "#1a5f7a"
[colours.dark]
accent = "#8ec9e0"
"""
WRONG = """
titel = "x"
tagline = 3
logo = "none.svg"
analytics = "https://tracker.example"
navigation = [{ text = "x", to = "javascript:alert(1)" }, { text = "x", to = "//evil.example" }]

[colours.light]
accent = "red; } body { display: none"
[colours.sepia]
accent = "#000000"
"""


def test_a_site_has_its_own_name(blog: Blog, tmp_path: Path) -> None:
    (tmp_path / "logo.svg").write_text("<svg xmlns='http://www.w3.org/2000/svg'/>")
    (tmp_path / "site.toml").write_text(SITE)
    made = make_site(blog, SiteOptions(SECRET, ("testserver",), None, tmp_path / "site.toml"))
    visit = Visit(made.application)
    page = visit.get("/").text
    for shown in ("<title>Notes", "From a desk.", 'href="/posts/about"', 'href="https://code.example"', "/static/logo"):
        assert shown in page
    assert "--accent: #1a5f7a" in visit.get("/static/own.css").text
    assert visit.get("/static/logo").headers["content-type"] == "image/svg+xml"
    assert "<title>Notes</title>" in visit.get("/feed.rss").text


def test_without_settings_there_is_nothing_of_them(blog: Blog) -> None:
    visit = Visit(make_site(blog, SiteOptions(SECRET, ("testserver",))).application)
    assert "own.css" not in visit.get("/").text
    assert visit.get("/static/own.css").status_code == 404


def test_every_fault_is_reported(tmp_path: Path) -> None:
    (tmp_path / "site.toml").write_text(WRONG)
    with pytest.raises(RequestError) as caught:
        read_site_file(tmp_path / "site.toml")
    places = {fault.place for fault in caught.value.errors}
    assert places == {
        "titel",
        "tagline",
        "logo",
        "analytics",
        "navigation[0]",
        "navigation[1]",
        "colours.light.accent",
        "colours.sepia",
    }
    for line, place in (
        ('title = ""', "title"),
        (f'title = "{"x" * 201}"', "title"),
        (r'tagline = "\u202e"', "tagline"),
        ("analytics = true", "analytics"),
        ("colours = 5", "colours"),
    ):
        (tmp_path / "site.toml").write_text(line)
        with pytest.raises(RequestError) as caught:
            read_site_file(tmp_path / "site.toml")
        (fault,) = caught.value.errors
        assert (fault.place, "must be a text" in fault.message) == (place, False)
    (tmp_path / "site.toml").write_text("title = ")
    with pytest.raises(RequestError, match="can't be read"):
        read_site_file(tmp_path / "site.toml")
