"""Where the links and pictures of a folder's texts lead: to other texts of the folder, to its files, or nowhere.

The folder's site (its root, its settings) and the addresses that its texts had there are found here. Which address a
text has from now on, and where files are kept, its system says.
"""

from __future__ import annotations

import posixpath
import re
import tomllib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

from keyplan_systems.frontmatter import FrontMatterError, load_yaml
from keyplan_systems.posts import Post, is_pattern
from keyplan_systems.shortcodes import shortcodes_of
from keyplan_systems.words import address_key

__all__ = ["LINKED_BYTES_MAX", "Links", "SiteFolder", "config_of", "former_addresses"]

_CONFIGS = (
    "_config.yml",
    "_config.yaml",
    "hugo.toml",
    "hugo.yaml",
    "hugo.json",
    "config.toml",
    "config.yaml",
    "config.yml",
)
_PROGRAMS = ("eleventy.config.js", "eleventy.config.mjs", "eleventy.config.cjs", ".eleventy.js", "astro.config.mjs")
"""Settings that are programs: they show where a site is, and nothing of them is read."""
_FILE_ROOTS = ("", "static", "assets", "public", "content", "source")
CONFIG_BYTES_MAX = 256 * 1024
LINKED_BYTES_MAX = 20 * 1024 * 1024


class SiteFolder:
    """The site that a folder of texts belongs to: the nearest folder above with settings, else the folder itself."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder.resolve()
        self.root = next((path for path in (self.folder, *self.folder.parents) if _is_site(path)), self.folder)
        if not any((path / ".git").exists() for path in (self.root, *self.root.parents)) and self.root != self.folder:
            # Settings far above may be somebody else's; within a few folders they are the site's.
            near = self.folder.parents[:3]
            self.root = self.root if self.root in near else self.folder
        self.settings = _settings(self.root)
        self.people = _people(self.root, self.folder)
        """The names of authors by what texts call them, where the site has a list of them."""
        self.shortcodes = shortcodes_of(self.root)
        """The templates of its own shortcodes."""

    @property
    def addresses(self) -> tuple[str, ...]:
        """How the site's own addresses began: ``https://blog.example/base``."""
        base = str(self.settings.get("baseurl") or "").rstrip("/")
        named = [self.settings.get(name) for name in ("url", "baseURL", "base_url")]
        urls = [
            value.rstrip("/") for value in named if isinstance(value, str) and value.startswith(("http://", "https://"))
        ]
        own = [f"{url}{base}" if base.startswith("/") else url for url in urls]
        return tuple(dict.fromkeys([*own, *urls]))

    def values(self, fields: Mapping[str, Any]) -> dict[str, Any]:
        """What ``site.…`` and ``page.…`` stand for: the site's own address is nothing, since links are within it."""
        scalars = {f"site.{name}": value for name, value in self.settings.items()}
        page = {f"page.{name}": value for name, value in fields.items()}
        return {**scalars, **page, "site.url": "", "site.baseurl": ""}

    def file(self, below: Path, target: str) -> Path | None:
        """The file that a link names, relative to a text's folder or to the site; None where none is."""
        absolute = target.startswith("/")
        places = [self.root / text for text in _FILE_ROOTS]
        starts = places if absolute else [below, *places]
        for start in starts:
            try:
                path = (start / target.lstrip("/")).resolve(strict=True)
            except (OSError, RuntimeError, ValueError):
                continue
            if path.is_file() and path.is_relative_to(self.root):
                return path
        return None


def _people(root: Path, folder: Path) -> dict[str, str]:
    """Names by keys, of ``authors.yml``: Docusaurus's beside its texts, Jekyll's and Hugo's among the site's data."""
    places = [
        root / "_data",
        root / "data",
        folder,
        folder.parent,
        *sorted(path for path in folder.iterdir() if path.is_dir()),
    ]
    result: dict[str, str] = {}
    for path in (place / name for place in places for name in ("authors.yml", "authors.yaml")):
        try:
            if not path.is_file() or not path.resolve().is_relative_to(root) or path.stat().st_size > CONFIG_BYTES_MAX:
                continue
            listed = load_yaml(path.read_text(encoding="utf-8"))
        except (OSError, ValueError, FrontMatterError):
            continue
        for key, value in listed.items() if isinstance(listed, dict) else ():
            name = value.get("name") if isinstance(value, dict) else value
            if isinstance(name, str) and name.strip() and name.isprintable():
                result.setdefault(str(key), " ".join(name.split()))
    return result


def config_of(folder: Path) -> Path | None:
    """The file of a site's settings that can be read."""
    return next((folder / name for name in _CONFIGS if (folder / name).is_file()), None)


def _is_site(folder: Path) -> bool:
    return config_of(folder) is not None or any((folder / name).is_file() for name in _PROGRAMS)


def _settings(root: Path) -> dict[str, Any]:
    """The site's settings; none for those that can't be read."""
    path = config_of(root)
    if path is None or path.stat().st_size > CONFIG_BYTES_MAX:
        return {}
    try:
        text = path.read_text(encoding="utf-8")
        result = tomllib.loads(text) if path.suffix == ".toml" else load_yaml(text)
    except (OSError, ValueError, FrontMatterError):
        return {}
    return result if isinstance(result, dict) else {}


def former_addresses(post: Post, site: SiteFolder) -> Iterator[str]:
    """The addresses that a text had on its site, each as ``address_key`` has them; the most certain first."""
    for given in (*post.aliases, *([post.permalink] if post.permalink else [])):
        if not is_pattern(given):
            yield given
    patterned = _patterned(post, site)
    if patterned is not None:
        yield patterned
    parts = Path(post.path).with_suffix("").parts
    if parts[-1] in {"index", "_index"}:
        parts = parts[:-1]
    inside = (
        (site.folder / post.path).parent.relative_to(site.root).parts if site.folder.is_relative_to(site.root) else ()
    )
    if inside[:1] == ("src",):  # where Eleventy and Astro have their texts
        inside = inside[2:] if inside[1:2] == ("pages",) else inside[1:]
    folders = tuple(text for text in inside if text not in {"content", "_posts", "_drafts"})
    plain = tuple(folder.removeprefix("_") for folder in folders)
    named = re.sub(r"^\d{4}-\d{1,2}-\d{1,2}[-_]", "", parts[-1]) if parts else ""
    if post.date is not None and ("_posts" in inside or named != (parts[-1] if parts else "")):
        day = f"{post.date:%Y/%m/%d}"
        categories = "/".join((*plain, *post.categories)).lower()
        yield f"/{categories}/{day}/{named}" if categories else f"/{day}/{named}"
        yield f"/{day}/{named}"
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
"""Jekyll's names for patterns."""


def _patterned(post: Post, site: SiteFolder) -> str | None:
    """The address of a dated post where the site's settings have a pattern for them (Jekyll's ``permalink``, Hugo's
    ``[permalinks]`` by section); None for a pattern that says more than a post does.
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
    made = re.sub(r":(\w+)", lambda match: names.get(match[1], match[0]), _STYLES.get(pattern, pattern))
    return None if ":" in made else re.sub(r"//+", "/", f"/{made}")


_FENCED = re.compile(
    r"^[ \t]*(`{3,}|~{3,})[^\n]*\n.*?(?:^[ \t]*\1[`~]*[ \t]*$|\Z)|`+[^`\n]+`+", re.DOTALL | re.MULTILINE
)
_INLINE = re.compile(
    r"(!?)(\[(?:[^\[\]\n]|\n(?![ \t]*\n)|\[[^\[\]\n]*\](?:\([^()\n]*\))?)*\]\()"
    r"(<[^<>\n]*>|[^\s()<>]+(?:\([^\s()]*\)[^\s()]*)?)"
)
_REFERENCE = re.compile(r"^( {0,3}\[(?!\^)[^\]\n]+\]:[ \t]*)(<[^<>\n]*>|\S+)", re.MULTILINE)
_HTML = re.compile(
    r"""(<(?:a|img|source|video|audio)\b[^<>]*?\b(?:href|src)\s*=\s*)(["'])([^"'<>\n]+)\2""", re.IGNORECASE
)


def _place_in(anchor: str) -> str:
    """The id of a heading as a page has it: others' have underscores, as in ``#answers_file``, which are the page's own
    here.
    """
    return anchor if anchor.startswith("_") else anchor.replace("_", "")


@dataclass
class Links:
    """The links of texts, made to lead where their targets are now.

    ``paths`` gives the new address of each text by its path below the folder, ``known`` by its former addresses.
    ``keep`` keeps a file, and gives its address, or None for one that can't be kept.
    """

    site: SiteFolder
    paths: Mapping[str, str]
    known: Mapping[str, str]
    keep: Callable[[Path], str | None]
    heading: Callable[[str, str], str] = lambda _, anchor: anchor
    """Gives the id of the heading that an anchor means, in the text at an address."""
    former: Mapping[str, Sequence[str]] = field(default_factory=dict[str, Sequence[str]])
    """The addresses that each text had, by its path: a relative link may be meant from there."""
    lost: Counter[str] = field(default_factory=Counter[str])
    """Targets of the last text that are nowhere."""
    files: int = 0
    linked: int = 0

    def in_text(self, path: str, text: str) -> str:
        """A text with its links made anew; what leads nowhere stays, and is counted in ``lost``."""
        self.lost = Counter()

        def inline(match: re.Match[str]) -> str:
            return f"{match[1]}{match[2]}{self._target(path, match[3], picture=bool(match[1]))}"

        def reference(match: re.Match[str]) -> str:
            return f"{match[1]}{self._target(path, match[2], picture=False)}"

        def html(match: re.Match[str]) -> str:
            picture = not match[1].lower().startswith("<a")
            return f"{match[1]}{match[2]}{self._target(path, match[3], picture=picture)}{match[2]}"

        def outside(part: str) -> str:
            return _HTML.sub(html, _REFERENCE.sub(reference, _INLINE.sub(inline, part)))

        code: list[str] = []

        def hold(match: re.Match[str]) -> str:  # a link's own text may be code
            code.append(match[0])
            return f"\x02{len(code) - 1}\x02"

        changed = outside(_FENCED.sub(hold, text.replace("\x02", "\N{REPLACEMENT CHARACTER}")))
        return re.sub(r"\x02(\d+)\x02", lambda match: code[int(match[1])], changed)

    def _target(self, path: str, given: str, *, picture: bool) -> str:
        target = given[1:-1] if given.startswith("<") else given
        if target.startswith("#"):
            own_id = _place_in(target[1:])
            return f"#{self.heading(self.paths[path], own_id) if path in self.paths and own_id else own_id}"
        for own in self.site.addresses:
            if target.startswith(own):
                target = target[len(own) :] or "/"
        if re.match(r"[a-zA-Z][\w+.-]*:|//|#|\x00|\{", target) or not target or "{{" in target or "{%" in target:
            return given
        if (
            target.startswith(("/posts/", "/files/", "/authors/", "/tags/"))
            and target.split("#")[0].rstrip("/") in self._own()
        ):
            return given
        place, mark, rest = re.match(r"([^#?]*)([#?]?)(.*)", target, re.DOTALL).groups()  # type: ignore[union-attr]
        result = None if picture else self.text(path, place)
        if result is not None and mark == "#":
            rest = self.heading(result, _place_in(rest)) if rest else rest
        if result is None and place:
            result = self._file(path, unquote(place))
        if result is None:
            self.lost[target[:200]] += 1
            return given
        self.linked += 1
        return f"{result}{mark}{rest}"

    def _own(self) -> set[str]:
        return set(self.paths.values())

    def text(self, path: str, place: str) -> str | None:
        """The address of the text that a place means, seen from another text's path."""
        if place.endswith("/") or "." not in posixpath.basename(place):
            # Seen from an address that ends with a slash, as Hugo's do
            below = posixpath.normpath(posixpath.join("/", posixpath.dirname(path), place)).lstrip("/")
        else:
            below = posixpath.normpath(posixpath.join(posixpath.dirname(path), place.lstrip("/")))
        candidates = [below, place.strip("/")]
        for candidate in candidates:
            for name in (
                candidate,
                f"{candidate}.md",
                f"{candidate}/index.md",
                f"{candidate}/_index.md",
                f"_posts/{candidate}.md",
            ):
                if name in self.paths:
                    return self.paths[name]
        keys = [address_key(place if place.startswith("/") else f"/{below}"), address_key(f"/{place}")]
        if not place.startswith("/"):
            for own in self.former.get(path, ()):
                keys += [address_key(posixpath.normpath(posixpath.join(own, place)))]
                keys += [address_key(posixpath.normpath(posixpath.join(posixpath.dirname(own), place)))]
        stem = posixpath.splitext(posixpath.basename(place))[0]
        return next((self.known[key] for key in (*keys, stem) if key in self.known), None)

    def _file(self, path: str, place: str) -> str | None:
        result = self.site.file((self.site.folder / path).parent, place)
        if result is None:
            return None
        kept = self.keep(result)
        if kept is not None:
            self.files += 1
        return None if kept is None else quote(kept)
