"""Writes HCL: attributes with aligned equal signs, blocks, comments, strings.

In a tree, a :class:`Block` or a list of them is a block; any other value is an attribute.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from keyplan.formats.yaml_json import Noted, note_text, quoted

__all__ = ["Block", "hcl_text"]


@dataclass(frozen=True, slots=True)
class Block:
    """A block's body. ``note`` is a comment before it."""

    body: Mapping[str, Any]
    note: str = ""


def hcl_text(head: Iterable[str], body: Mapping[str, Any]) -> str:
    """One block with its labels, as a file."""
    kind, *labels = head
    opening = " ".join([kind, *(_string(label) for label in labels)])
    return "\n".join([f"{opening} {{", *(f"  {line}".rstrip() for line in _body(body)), "}"]) + "\n"


def _body(body: Mapping[str, Any]) -> Iterator[str]:
    attributes = {name: value for name, value in body.items() if not _blocks(value)}
    width = max(map(len, attributes), default=0)
    for name, value in attributes.items():
        note = f" # {note_text(value.note)}" if isinstance(value, Noted) else ""
        content = value.value if isinstance(value, Noted) else value
        yield from _attribute(f"{name:{width}} = ", content, note)
    for name, value in body.items():
        for number, block in enumerate(_blocks(value)):
            if attributes or number or name != next(iter(body)):
                yield ""
            if block.note:
                yield f"# {note_text(block.note)}"
            yield f"{name} {{"
            yield from (f"  {line}".rstrip() for line in _body(block.body))
            yield "}"


def _blocks(value: Any) -> list[Block]:
    if isinstance(value, Block):
        return [value]
    if isinstance(value, list) and value and isinstance(value[0], Block):
        return value
    return []


def _attribute(head: str, value: Any, note: str) -> Iterator[str]:
    if isinstance(value, Mapping):
        yield f"{head}{{"
        width = max((len(_string(name)) for name in value), default=0)
        for name, element in value.items():
            yield f"  {_string(name):{width}} = {_value(element)}"
        yield "}"
        return
    yield f"{head}{_value(value)}{note}"


def _value(value: Any) -> str:
    if isinstance(value, str):
        return _string(value)
    if isinstance(value, list | tuple):
        return f"[{', '.join(_value(element) for element in value)}]"
    return json.dumps(value)


def _string(text: str) -> str:
    """A quoted string, with ``${`` and ``%{`` escaped."""
    return quoted(text).replace("${", "$${").replace("%{", "%%{")
