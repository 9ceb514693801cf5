"""The site of a folder of posts, and the targets of links and images in its posts: other posts in the folder, its
files, or nothing.

Systems decide the new URLs of posts and the storage of files.
"""

from __future__ import annotations

import posixpath
import tomllib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

from keyplan.errors import ErrorDetail
from keyplan_systems.frontmatter import FrontMatterError, load_yaml
from keyplan_systems.posts import TAKEN
from keyplan_systems.words import address_key, has_scheme

_CONFIGS = ("_config.yml", "_config.yaml", "hugo.toml", "hugo.yaml", "config.toml", "config.yaml", "zola.toml")
_FILE_ROOTS = ("", "static", "assets", "content")
"""Folders of a site in which a link that starts with a slash is looked up."""
CONFIG_BYTES_MAX = 256 * 1024
LINKED_BYTES_MAX = 20 * 1024 * 1024


class SiteFolder:
    """The site of a folder of posts: the nearest parent folder with settings, else the folder itself."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder.resolve()
        near = (self.folder, *self.folder.parents[:3])  # higher folders may belong to another site
        self.root = next((path for path in near if _config_of(path)), self.folder)
        self.config = _config_of(self.root)
        self.settings = {} if self.config is None else _loaded(self.config)
        self.people = self._read_people()
        """The names of authors by key, if the site has a list of them."""

    def _read_people(self) -> dict[str, str]:
        """Names by key, from ``authors.yml`` in the site's data (Jekyll, Hugo)."""
        result: dict[str, str] = {}
        paths = [self.root / folder / "authors.yml" for folder in ("_data", "data")]
        listed = [_loaded(path) for path in paths if path.resolve().is_relative_to(self.root)]
        for key, value in ((key, value) for each in listed for key, value in each.items()):
            name = value.get("name") if isinstance(value, dict) else value
            if isinstance(name, str) and name.strip() and name.isprintable():
                result.setdefault(str(key), " ".join(name.split()))
        return result

    @property
    def addresses(self) -> tuple[str, ...]:
        """The prefixes of the site's URLs: ``https://blog.example/base``."""
        base = str(self.settings.get("baseurl") or "").rstrip("/")
        named = [self.settings.get(name) for name in ("url", "baseURL", "base_url")]
        urls = [
            text.rstrip("/") for text in named if isinstance(text, str) and text.startswith(("http://", "https://"))
        ]
        own = [f"{url}{base}" if base.startswith("/") else url for url in urls]
        return tuple(dict.fromkeys([*own, *urls]))

    def file(self, below: Path, target: str) -> Path | None:
        """The file of a link, relative to a post's folder or to the site; None if it doesn't exist."""
        places = [self.root / text for text in _FILE_ROOTS]
        for place in places if target.startswith("/") else [below, *places]:
            try:
                path = (place / target.lstrip("/")).resolve(strict=True)
            except (OSError, RuntimeError, ValueError):
                continue
            if path.is_file() and path.is_relative_to(self.root):
                return path
        return None

    def defaults(self) -> Iterator[ErrorDetail]:
        """Jekyll's fields for whole folders, which aren't imported."""
        given = self.settings.get("defaults")
        values = [each.get("values") for each in given if isinstance(each, dict)] if isinstance(given, list) else []
        lost = sorted({name for each in values if isinstance(each, dict) for name in each if name in TAKEN})
        if lost and self.config is not None:
            message = f"default fields of folders are ignored: {', '.join(lost)}"
            yield ErrorDetail(self.config.name, message, "add the fields to the front matter of each post")


def _loaded(path: Path) -> dict[str, Any]:
    """The contents of a YAML or TOML file; empty if it is missing, too large or invalid."""
    try:
        text = path.read_text(encoding="utf-8") if path.stat().st_size <= CONFIG_BYTES_MAX else ""
        result = tomllib.loads(text) if path.suffix == ".toml" else load_yaml(text)
    except (OSError, ValueError, FrontMatterError):
        return {}
    return result if isinstance(result, dict) else {}


def _config_of(folder: Path) -> Path | None:
    return next((folder / name for name in _CONFIGS if (folder / name).is_file()), None)


# Links


@dataclass
class Links:
    """Rewrites the links of posts to their targets' new URLs. ``paths`` has the new URL of each post by its path in the
    folder, ``known`` by its former URLs. ``keep`` stores a file and returns its URL, or None if it can't be stored.
    """

    site: SiteFolder
    paths: Mapping[str, str]
    known: Mapping[str, str]
    keep: Callable[[Path], str | None]
    former: Mapping[str, Sequence[str]] = field(default_factory=dict[str, Sequence[str]])
    """The former URLs of each post, by path: a relative link can start from there."""
    lost: Counter[str] = field(default_factory=Counter[str])
    """Targets that don't exist in the folder; the reader clears it."""

    def __post_init__(self) -> None:
        self._own = set(self.paths.values())

    def address(self, path: str, given: str, is_picture: bool) -> str:
        """The new URL of a link in the post at a path; a link without a target stays, and is counted in ``lost``."""
        if given.startswith("#"):
            return f"#{_page_id(given[1:])}"
        target = given
        for own in self.site.addresses:
            if target.startswith(own):
                target = target[len(own) :] or "/"
        target = f"/{target[2:]}" if target.startswith("@/") else target  # @/ is Zola's prefix for the content folder
        if not target or target.startswith("//") or has_scheme(target):
            return given
        end = min((at for at in (target.find("#"), target.find("?")) if at >= 0), default=len(target))
        place, mark, rest = target[:end], target[end : end + 1], target[end + 1 :]
        if place.rstrip("/") in self._own:
            return f"{place.rstrip('/')}{mark}{rest}"
        result, is_text = self._place(path, place, is_picture)
        if is_text and result is not None and mark == "#" and rest:
            rest = _page_id(rest)
        if result is None:
            self.lost[target[:200]] += 1
            return given
        return f"{result}{mark}{rest}"

    def _place(self, path: str, place: str, is_picture: bool) -> tuple[str | None, bool]:
        """The URL of a target post or file, and whether it is a post."""
        text = None if is_picture else self._text(path, unquote(place))
        if text is not None or not place:
            return text, True
        return self._file(path, unquote(place)), False

    def _text(self, path: str, place: str) -> str | None:
        """The URL of a target post, relative to another post's path."""
        folder = posixpath.dirname(path)
        is_page = place.endswith("/") or "." not in posixpath.basename(place)
        # The path is relative to a URL with a trailing slash, as in Hugo
        joined = posixpath.join("/", folder, place) if is_page else posixpath.join(folder, place.lstrip("/"))
        below = posixpath.normpath(joined).lstrip("/")
        for candidate in (below, place.strip("/"), f"content{place}" if place.startswith("/") else ""):
            for name in (candidate, f"{candidate}.md", f"{candidate}/index.md", f"_posts/{candidate}.md"):
                if name in self.paths:
                    return self.paths[name]
        keys = [address_key(place if place.startswith("/") else f"/{below}"), address_key(f"/{place}")]
        for own in self.former.get(path, ()) if not place.startswith("/") else ():
            keys += [address_key(posixpath.normpath(posixpath.join(own, place)))]
            keys += [address_key(posixpath.normpath(posixpath.join(posixpath.dirname(own), place)))]
        stem = posixpath.splitext(posixpath.basename(place))[0]
        return next((self.known[key] for key in (*keys, stem) if key in self.known), None)

    def _file(self, path: str, place: str) -> str | None:
        result = self.site.file((self.site.folder / path).parent, place)
        kept = None if result is None else self.keep(result)
        return None if kept is None else quote(kept)


def _page_id(anchor: str) -> str:
    """The id of a heading on a page: without inner underscores, which mark the page's own ids."""
    return anchor if anchor.startswith("_") else anchor.replace("_", "")
