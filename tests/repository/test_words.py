"""Pages, messages and help texts use plain words, and the glossary is short."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.repository.files import ROOT

WORDS_MAX = 20
OURS = re.compile(r"^\| \*\*(?P<word>[\w ]+)\*\* \| (?P<meaning>.+) \|$", re.MULTILINE)
GLOSSARY = [*OURS.finditer((ROOT / "docs/glossary.md").read_text(encoding="utf-8"))]
REFUSED = re.compile(
    r"\b(reckon(s|ed|ing)?|nought|whilst|mend(s|ed|ing)?|gainsaid|(is|are|was|were|be) told (as|by|in|when|with)"
    r"|tells? (how|what|whether|which)|(could|can) not be had)\b",
    re.IGNORECASE,
)
"""Words to replace by plain ones: estimate, zero, while, fix, report, say, show, install."""
PAGES = sorted(
    path
    for folder in ("docs", "systems", ".")
    for path in (ROOT / folder).glob("*.md" if folder == "." else "**/*.md")
    if "decisions" not in path.parts and path.name != "CHANGELOG.md"
)


def texts_of(source: str) -> Iterator[tuple[int, str]]:
    """Return the strings of a module that aren't docstrings: messages, hints and help texts."""
    tree = ast.parse(source)
    docstrings = {
        id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings:
            yield node.lineno, node.value


def test_the_glossary_is_short_and_has_no_duplicates() -> None:
    words = [match["word"] for match in GLOSSARY]
    assert 10 < len(words) <= WORDS_MAX
    assert len(set(words)) == len(words)


@pytest.mark.parametrize("match", GLOSSARY, ids=lambda value: value["word"])
def test_each_word_in_the_glossary_is_used_on_a_page(match: re.Match[str]) -> None:
    word = re.compile(rf"\b{match['word']}", re.IGNORECASE)
    assert any(word.search(path.read_text(encoding="utf-8")) for path in PAGES if path.name != "glossary.md")


@pytest.mark.parametrize("path", [*PAGES, ROOT / "Makefile"], ids=lambda path: str(path.relative_to(ROOT)))
def test_pages_contain_no_forbidden_words(path: Path) -> None:
    lines = path.read_text(encoding="utf-8").splitlines()
    assert [(number, line) for number, line in enumerate(lines, 1) if REFUSED.search(line)] == []


def test_messages_contain_no_forbidden_words() -> None:
    result = [
        (str(path.relative_to(ROOT)), line, text)
        for folder in ("src", "systems/src")
        for path in sorted((ROOT / folder).rglob("*.py"))
        if REFUSED.search(re.sub(r'"\s*\n\s*f?"', "", path.read_text(encoding="utf-8")))  # quicker than parsing it
        for line, text in texts_of(path.read_text(encoding="utf-8"))
        if REFUSED.search(text)
    ]
    assert result == []
