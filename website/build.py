"""Build the documentation site into ``.cache/website/site``: ``python -m website.build``, or ``make site``.

The pages of ``docs/``, the READMEs and the project's other Markdown files are copied into one folder, with links
between them rewritten; the API reference is generated; Zensical builds the pages with warnings as errors. Then every
internal link and anchor of the built pages is checked, and each page gets a Markdown twin, listed in ``llms.txt``.
"""

from __future__ import annotations

import html.parser
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from urllib.parse import unquote, urlsplit

from website.reference import REFERENCES, reference_page

ROOT = Path(__file__).parent.parent
FOLDER = ROOT / ".cache" / "website"
SYSTEMS = ("blog", "cms", "social", "shop", "papers")
OTHER_PAGES = {
    "README.md": "readme.md",
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "security.md",
    "tests/README.md": "tests.md",
    "systems/README.md": "systems/index.md",
    "docs/cookbook/README.md": "cookbook/index.md",
    "docs/rules/README.md": "rules/index.md",
    "docs/decisions/README.md": "decisions/index.md",
    **{f"systems/src/keyplan_systems/{name}/README.md": f"systems/{name}.md" for name in SYSTEMS},
}
"""Where the pages outside ``docs/``, and the first pages of folders, are on the site."""
LINK = re.compile(r"(?<=\]\()(?P<target>[^)\s#:]+)(?P<anchor>#[^)\s]*)?(?=\))")
FENCE = re.compile(r"^(```.*?^```$)", re.MULTILINE | re.DOTALL)
SOURCE_MARKS = re.compile(r"^(```python) (?:continues)$", re.MULTILINE)


class BuildError(Exception):
    """The site can't be built: every problem found, one per line."""


def sources() -> dict[str, str]:
    """Each page's file, as a path below the repository, with its path below the site's folder of pages."""
    result = {path.relative_to(ROOT).as_posix(): path.relative_to(ROOT / "docs").as_posix() for path in _docs()}
    return {**result, **OTHER_PAGES}


def _docs() -> Iterator[Path]:
    yield from sorted((ROOT / "docs").rglob("*.md"))


def with_site_links(text: str, source: str, pages: dict[str, str]) -> str:
    """A page's text with relative links that lead to the site's pages. A link to a file that the site doesn't have
    (code, a license) becomes its path, as text.
    """

    def target(match: re.Match[str]) -> str:
        path = os.path.normpath(PurePosixPath(source).parent / match["target"])
        place = pages.get(path) or (path.removeprefix("docs/") if path.startswith("docs/") else None)
        if place is None:
            return f"\0{path}"
        here = PurePosixPath(pages[source]).parent
        return os.path.relpath(place, here) + (match["anchor"] or "")

    parts = FENCE.split(text)
    for number in range(0, len(parts), 2):
        linked = LINK.sub(target, parts[number])
        parts[number] = re.sub(r"\[([^\]]*)\]\(\0[^)]*\)", r"\1", linked)
    return SOURCE_MARKS.sub(r"\1", "".join(parts))


def _stage(folder: Path) -> None:
    """Copy every page and picture, and generate the reference."""
    pages = sources()
    for source, place in pages.items():
        path = folder / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(with_site_links((ROOT / source).read_text(encoding="utf-8"), source, pages), encoding="utf-8")
    shutil.copytree(ROOT / "docs" / "pictures", folder / "pictures")
    (folder / "reference").mkdir()
    for name, module in REFERENCES.items():
        (folder / "reference" / f"{name}.md").write_text(reference_page(module), encoding="utf-8")


class _Page(html.parser.HTMLParser):
    """The links and anchors of a built page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.anchors: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        self.links += [value for name in ("href", "src") if tag != "link" and (value := values.get(name))]
        self.anchors.update(value for name in ("id", "name") if (value := values.get(name)))


def broken_links(site: Path) -> list[str]:
    """Each internal link of the built pages that leads to no file, or to no anchor of its page."""
    pages = {path: _Page(path.read_text(encoding="utf-8")) for path in sorted(site.rglob("*.html"))}
    result: list[str] = []
    for path, page in pages.items():
        if path.name == "404.html":  # served at any address: its links are absolute
            continue
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            target = target / "index.html" if target.is_dir() else target
            known = pages.get(target)
            if not target.exists() or (parts.fragment and known and unquote(parts.fragment) not in known.anchors):
                result.append(f"{path.relative_to(site)}: {link}")
    return result


def _title_and_summary(text: str) -> tuple[str, str]:
    title = re.search(r"^# (.+)$", text, re.MULTILINE)
    body = text[title.end() :] if title else text
    first = next((part for part in body.strip().split("\n\n") if re.match(r"[\w`*]", part)), "")
    sentence = re.split(r"(?<=[.:])\s", " ".join(first.split()), maxsplit=1)[0]
    return (title[1] if title else ""), re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", sentence)


def _markdown_twins(pages: Path, site: Path) -> None:
    """Beside each built page its Markdown, and the lists for language models."""
    lines = ["# Keyplan", "", "> A Python toolkit for single-table data models on Amazon DynamoDB.", "", "## Pages", ""]
    whole: list[str] = []
    for path in sorted(pages.rglob("*.md")):
        place = path.relative_to(pages)
        text = path.read_text(encoding="utf-8")
        twin = site / (place if place.name == "index.md" else place.with_suffix("") / "index.md")
        twin.parent.mkdir(parents=True, exist_ok=True)
        twin.write_text(text, encoding="utf-8")
        title, summary = _title_and_summary(text)
        lines.append(f"- [{title}]({twin.relative_to(site).as_posix()}): {summary}")
        if place.parts[0] not in ("decisions", "systems") and not place.name.startswith("benchmarks"):
            whole.append(text)
    (site / "llms.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (site / "llms-full.txt").write_text("\n\n".join(whole), encoding="utf-8")


def build(folder: Path = FOLDER) -> Path:
    """Build the site in an empty folder, and return the folder of its pages. Raises BuildError."""
    pages, site = folder / "docs", folder / "site"
    pages.mkdir(parents=True)
    _stage(pages)
    settings = (Path(__file__).parent / "zensical.toml").read_text(encoding="utf-8")
    for listed in ("rules", "decisions"):
        names = ["index.md", *sorted(path.name for path in (pages / listed).glob("*.md") if path.name != "index.md")]
        settings = settings.replace(f"[{listed.upper()}]", str([f"{listed}/{name}" for name in names]))
    (folder / "zensical.toml").write_text(settings, encoding="utf-8")
    command = [sys.executable, "-m", "zensical", "build", "--clean", "--strict"]
    environment = {**os.environ, "NO_COLOR": "1"}
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, env=environment)
    if done.returncode:
        raise BuildError(done.stdout + done.stderr)
    problems = broken_links(site)
    if problems:
        raise BuildError("\n".join(problems))
    _markdown_twins(pages, site)
    return site


if __name__ == "__main__":
    shutil.rmtree(FOLDER, ignore_errors=True)
    try:
        print(build())
    except BuildError as error:
        sys.exit(str(error))
