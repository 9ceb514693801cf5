"""The page before it has asked anything, and the files that it is made of."""

from __future__ import annotations

from html import escape
from importlib.resources import files

__all__ = ["MODULES", "STATIC", "page_html", "static_text"]

STATIC = files("keyplan.studio").joinpath("static")
MODULES = {
    "preact": "vendor/preact.js",
    "preact/hooks": "vendor/preact-hooks.js",
    "@preact/signals-core": "vendor/signals-core.js",
    "@preact/signals": "vendor/signals.js",
    "htm": "vendor/htm.js",
    "uplot": "vendor/uplot.js",
    "codemirror": "vendor/codemirror.js",
}
"""The names that the page's modules import others by, and their files."""


def static_text(path: str) -> str:
    """The text of a file of ``static/``."""
    return STATIC.joinpath(*path.split("/")).read_bytes().decode()


def page_html(name: str, imports: str) -> str:
    """The page before it has asked anything."""
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{escape(name)} · Studio</title>
<link rel="icon" href="static/icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="static/map.css">
<link rel="stylesheet" href="static/studio.css">
<link rel="stylesheet" href="static/vendor/uplot.css" media="screen">
<script type="importmap">{imports}</script>
<script type="module" src="static/app.js"></script>
</head>
<body><div id="studio"><p class="opening">Opening {escape(name)} …</p></div>
<noscript>The studio needs JavaScript.</noscript></body>
</html>
"""
