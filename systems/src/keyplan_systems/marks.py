"""Marks of other kinds of Markdown than the sites render: those of Python-Markdown's extensions and of CriticMarkup as
HTML, and which are there besides. What an import does with templates and notes is in ``translating.py``.
"""

from __future__ import annotations

import re
from collections import Counter

__all__ = ["as_html", "shown_raw"]

_ABBREVIATION = re.compile(r"^\*\[[^\]\n]+\]:[^\n]*\n?", re.MULTILINE)
_DARK_ONLY = re.compile(r"!\[[^\[\]\n]*\]\([^()\s]*#(?:only-dark|gh-dark-mode-only)\)(?:\{[^{}\n]*\})?")
"""A picture for dark pages, beside which another one stands for light pages."""
_CRITIC = re.compile(r"\{(==|\+\+|--|>>|~~)(?=\S)([^{}\n]{1,400}?)(?:==|\+\+|--|<<|~~)\}")
_MARKED = re.compile(r"(?<![=\w])==(?=[^\s=])([^=\n]{1,400}?)(?<=[^\s=])==(?![=\w])")
_PLUSSED = re.compile(r"(?<![+\w])\+\+(?=[^\s+])([^\n]{1,80}?)(?<=\S)\+\+(?![+\w])")
_KEY = re.compile(
    r"[a-z0-9]|f\d{1,2}|ctrl|control|shift|alt|option|cmd|command|win|windows|meta|fn|enter|return|tab|esc|escape|space"
    r"|del|delete|backspace|insert|home|end|page-(?:up|down)|(?:arrow-)?(?:up|down|left|right)|num\w+|caps-lock"
)

_SHOWN_RAW = (
    ("mathematics", re.compile(r"\$\$|\\\\?[(\[](?=[^\n]{0,400}\\\\?[)\]])")),
    ("mathematics", re.compile(r"(?<![\\$\w])\$(?=[^$\n]*[\\_^=])(?=[^\s$])[^$\n]{1,200}(?<=[^\s\\])\$(?![\w$])")),
    ("[[…]]", re.compile(r"\[\[(?=[^\[\]\n]+\]\])")),
    ("an emoji's name", re.compile(r"(?:^|(?<=[\s(>*]))(?::[+-]1:|:[a-z][a-z0-9_+-]{2,30}:)(?![\w:/])", re.MULTILINE)),
    ("^…^", re.compile(r"(?<=[\w)])\^[^\s^]{1,12}\^(?!\^)|\^\^(?=\S)[^\n^]+\^\^")),
    ("~…~", re.compile(r"(?<=[\w)])~[^\s~]{1,12}~(?!~)")),
)
"""What other renderers show otherwise, and what is no Markdown here."""


def shown_raw(text: str) -> Counter[str]:
    """How often what stands in a text that is no code, and is shown as it is written."""
    result: Counter[str] = Counter()
    for what, pattern in _SHOWN_RAW:
        times = len(pattern.findall(text))
        if times:
            result[what] += times
    return result


def as_html(text: str, translated: Counter[str], dropped: Counter[str]) -> str:
    """A text that is no code with its marks as HTML; what became of them is counted."""

    def done(what: str, html: str) -> str:
        translated[what] += 1
        return html

    def gone(what: str) -> str:
        dropped[what] += 1
        return ""

    def critic(match: re.Match[str]) -> str:
        kind, inner = match[1], match[2]
        if kind == ">>":
            return gone("{>>…<<}")
        if kind == "~~":
            before, _, after = inner.partition("~>")
            return done("{~~…~>…~~}", f"<del>{before}</del><ins>{after}</ins>")
        name = {"==": "mark", "++": "ins", "--": "del"}[kind]
        return done(f"{{{kind}…{kind}}}", f"<{name}>{inner}</{name}>")

    def plussed(match: re.Match[str]) -> str:
        """Keys to press, or a text that was added."""
        keys = match[1].split("+")
        if all(_KEY.fullmatch(key) for key in keys):
            return done("++key++", "+".join(f"<kbd>{key.replace('-', ' ').capitalize()}</kbd>" for key in keys))
        return done("++…++", f"<ins>{match[1]}</ins>")

    text = _ABBREVIATION.sub(lambda _: gone("*[…]: of an abbreviation"), text)
    text = _DARK_ONLY.sub(lambda _: gone("a picture for dark pages only"), text)
    text = _CRITIC.sub(critic, text)
    text = _MARKED.sub(lambda match: done("==…==", f"<mark>{match[1]}</mark>"), text)
    return _PLUSSED.sub(plussed, text)
