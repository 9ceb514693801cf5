"""The URLs that an imported post had on its site, by Jekyll's and Hugo's rules: the blog redirects them."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from pathlib import Path

from keyplan_systems.linking import SiteFolder
from keyplan_systems.posts import Post, day_named, is_pattern


def former_addresses(post: Post, site: SiteFolder) -> Iterator[str]:
    """The URLs that a post had on its site, the most certain first."""
    for given in (*post.aliases, *([post.permalink] if post.permalink else [])):
        if not is_pattern(given):
            yield given
    patterned = _patterned(post, site)
    if patterned is not None:
        yield patterned
    parts = Path(post.path).with_suffix("").parts
    if parts[-1] in {"index", "_index"}:
        parts = parts[:-1]
    inside = (site.folder / post.path).parent.relative_to(site.root).parts
    folders = tuple(text for text in inside if text not in {"content", "_posts", "_drafts"})
    plain = tuple(folder.removeprefix("_") for folder in folders)
    named = day_named(parts[-1])[1] if parts else ""
    if post.date is not None and "_posts" in inside:
        yield "/".join(("", *map(str.lower, (*plain, *post.categories)), f"{post.date:%Y/%m/%d}", named))
    stem = (*plain, post.slug) if parts and parts[-1] != (plain[-1] if plain else "") else plain
    yield "/" + "/".join(stem)
    if named and named != post.slug:
        yield "/" + "/".join((*plain, named))


_STYLES = {
    "date": "/:categories/:year/:month/:day/:title",
    "pretty": "/:categories/:year/:month/:day/:title",
    "ordinal": "/:categories/:year/:y_day/:title",
    "none": "/:categories/:title",
}
"""Jekyll's named patterns."""


def _patterned(post: Post, site: SiteFolder) -> str | None:
    """The URL of a dated post if the site's settings have a pattern (Jekyll's ``permalink``, Hugo's
    ``[permalinks]`` by section); None for a pattern with unknown parts.
    """
    pattern = site.settings.get("permalink")
    if not isinstance(pattern, str):
        sections = site.settings.get("permalinks")
        sections = sections.get("page", sections) if isinstance(sections, dict) else {}
        parts = [part for part in Path(post.path).parts if part != "content"]
        pattern = sections.get(parts[0]) if isinstance(sections, dict) and len(parts) > 1 else None
    elif "_posts" not in (site.folder / post.path).parts:
        return None
    if not isinstance(pattern, str) or post.date is None:
        return None
    date = post.date
    names = {
        "year": f"{date:%Y}",
        "short_year": f"{date:%y}",
        "month": f"{date:%m}",
        "i_month": str(date.month),
        "day": f"{date:%d}",
        "i_day": str(date.day),
        "y_day": f"{date:%j}",
        "yearday": f"{date:%j}",
        **dict.fromkeys(("title", "slug", "filename", "contentbasename"), post.slug),
        "categories": "/".join(post.categories).lower(),
    }
    made = _STYLES.get(pattern, pattern)
    for name in sorted(names, key=len, reverse=True):
        made = made.replace(f":{name}", names[name])
    return None if ":" in made else posixpath.normpath(f"/{made}")
