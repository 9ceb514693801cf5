"""Writes trees of dicts, lists and scalars as YAML with comments, which PyYAML can't write, and as JSON.
CloudFormation's functions (``{"Ref": ...}``, ``{"Fn::Sub": ...}``) are written in their short form in YAML.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

NOTE_CHARACTERS_MAX = 100
_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9_./-]*(?:::[A-Za-z0-9_./-]+)*")
_WORDS = {"y", "n", "yes", "no", "on", "off", "true", "false", "null", "none"}
"""Words that YAML 1.1 doesn't read as strings."""
_ESCAPED = re.compile('["\\\\\x00-\x1f\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff\ud800-\udfff]')
"""Characters to escape: YAML's line ends and unprintable characters."""
_ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}


@dataclass(frozen=True, slots=True)
class Noted:
    """A scalar followed by a comment."""

    value: Any
    note: str


def noted(name: str, notes: Mapping[str, str]) -> Noted | str:
    return Noted(name, notes[name]) if name in notes else name


def plain(tree: Any) -> Any:
    if isinstance(tree, Noted):
        return tree.value
    if isinstance(tree, Mapping):
        return {name: plain(value) for name, value in tree.items()}
    if isinstance(tree, list | tuple):
        return [plain(value) for value in tree]
    return tree


def json_tree(tree: Any) -> str:
    return json.dumps(plain(tree), indent=2, ensure_ascii=False) + "\n"


def yaml_text(tree: Mapping[str, Any]) -> str:
    return "\n".join(_lines(tree)) + "\n"


def _lines(tree: Any) -> Iterator[str]:
    if isinstance(tree, Mapping):
        for name, value in tree.items():
            yield from _entry(f"{_scalar(name)}:", value)
    else:
        for value in tree:
            yield from _element(value)


def _entry(head: str, value: Any) -> Iterator[str]:
    inline = _inline(value)
    if inline is not None:
        yield f"{head} {inline}"
        return
    yield head
    yield from (f"  {line}" for line in _lines(value))


def _element(value: Any) -> Iterator[str]:
    inline = _inline(value)
    lines = iter([inline] if inline is not None else _lines(value))
    yield f"- {next(lines)}"
    yield from (f"  {line}" for line in lines)


def _inline(value: Any) -> str | None:
    """A value that fits on the line of its name: a scalar, a function, an empty container."""
    if isinstance(value, Noted):
        return f"{_inline(value.value)} # {note_text(value.note)}"
    if isinstance(value, Mapping):
        if not value:
            return "{}"
        ((name, argument), *rest) = value.items()
        if rest or not (name == "Ref" or name.startswith("Fn::")) or not isinstance(argument, str):
            return None
        return f"!{name.removeprefix('Fn::')} {_scalar(argument)}"
    if isinstance(value, list | tuple):
        return None if value else "[]"
    return _scalar(value)


def _scalar(value: Any) -> str:
    if not isinstance(value, str):
        return json.dumps(value)  # every JSON scalar is a valid YAML scalar
    return value if _PLAIN.fullmatch(value) and value.lower() not in _WORDS else quoted(value)


def quoted(text: str) -> str:
    """A double-quoted string that is valid in YAML and HCL."""
    return f'"{_ESCAPED.sub(_escape, text)}"'


def _escape(match: re.Match[str]) -> str:
    character = match.group()
    return _ESCAPES.get(character) or f"\\u{ord(character):04x}"


def note_text(text: str) -> str:
    """A one-line comment, truncated if it is too long."""
    line = _ESCAPED.sub(lambda match: match.group() if match.group() in _ESCAPES else "\ufffd", " ".join(text.split()))
    return line if len(line) <= NOTE_CHARACTERS_MAX else f"{line[: NOTE_CHARACTERS_MAX - 1]}…"
