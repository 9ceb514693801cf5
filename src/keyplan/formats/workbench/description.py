"""Writes a design's keys into the description of a Workbench model, one declaration per line, because Workbench can't
represent them. Declarations are read back as Python literals and never executed; other lines are plain text.
"""

from __future__ import annotations

import ast
import enum
import keyword
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from keyplan.model.compiled.compiled_design import CompiledDesign
from keyplan.model.declared.indexes import Index
from keyplan.model.declared.keys import Discriminator
from keyplan.model.stored.stored_entity import CompiledEntity
from keyplan.model.stored.stored_keys import CompiledKey

CLAIM_ATTRIBUTE = "claim_of"
"""The attribute of claim items, besides their keys."""
_HEADING = "Keys, as Keyplan declares them:"
_LINE = re.compile(r"(\w+)\.(\w+) = (Key|Unique|Discriminator)\((.*)\)")


def is_shown(index: Index) -> bool:
    """Whether Workbench supports the index."""
    return not index.local and len(index.partition) == 1 and len(index.sort) <= 1


def claim_facet(entity: str, claim: str) -> str:
    return f"{entity}.{claim}"


def description_of(design: CompiledDesign) -> str:
    lines = [line for entity in design.entities.values() for line in _entity_lines(entity)]
    return "\n".join(filter(None, [design.doc, _HEADING if lines else "", *lines]))


def _entity_lines(entity: CompiledEntity) -> Iterator[str]:
    declared = {name: value for base in reversed(entity.cls.__mro__) for name, value in vars(base).items()}
    for key in (*entity.keys, *entity.claims):
        own = declared.get(key.name)
        if (key.index is None or is_shown(key.index)) and getattr(own, "style", None) is None:
            yield f"{entity.name}.{key.name} = {_key_text(key)}"
    for name, value in declared.items():
        if isinstance(value, Discriminator):
            yield f"{entity.name}.{name} = Discriminator({value.attribute!r}, {value.value!r})"


def _key_text(key: CompiledKey) -> str:
    sides = [side for side in (key.partition, key.sort) if side]
    parts = [_listed(repr(str(template)) for _, template in side) for side in sides]
    if key.is_claim:
        return f"Unique({', '.join(parts)})"
    if key.index is not None:
        parts.append(f"index={key.index.name!r}")
    if key.when:
        plain = {name: tuple(getattr(v, "value", v) for v in allowed) for name, allowed in key.when.items()}
        parts.append(f"when={plain!r}")
    if key.shards > 1:
        parts.append(f"shards={key.shards}")
    return f"Key({', '.join(parts)})"


def _listed(texts: Iterable[str]) -> str:
    result = list(texts)
    return result[0] if len(result) == 1 else f"[{', '.join(result)}]"


@dataclass(frozen=True)
class Declaration:
    """A key (``kind``: ``Key``), a unique value or a discriminator of an entity, with its templates or values."""

    entity: str
    name: str
    kind: str
    texts: tuple[str, ...]
    index: str | None = None
    when: dict[str, tuple[Any, ...]] = field(default_factory=dict[str, tuple[Any, ...]])
    shards: int = 1


def declarations_in(description: str) -> tuple[str, list[Declaration]]:
    text, _, rest = description.partition(_HEADING)
    result: list[Declaration] = []
    for line in rest.splitlines():
        match = _LINE.fullmatch(line.strip())
        if match is not None and (made := _declaration(*match.groups())) is not None:
            result.append(made)
    return text.strip(), result


def _declaration(entity: str, name: str, kind: str, arguments: str) -> Declaration | None:
    try:
        call = ast.parse(f"f({arguments})", mode="eval").body
        if not isinstance(call, ast.Call):
            return None
        texts = [ast.literal_eval(argument) for argument in call.args]
        named = {keyword.arg: ast.literal_eval(keyword.value) for keyword in call.keywords if keyword.arg is not None}
        when = {str(field): tuple(values) for field, values in dict(named.get("when", {})).items()}
        shards = int(named.get("shards", 1))
    except (SyntaxError, ValueError, TypeError, RecursionError, MemoryError):
        return None
    if not entity.isidentifier() or not name.isidentifier() or keyword.iskeyword(name):
        return None
    index = named.get("index")
    plain = (str, int, float, bool, type(None), enum.Enum)
    if not texts or len(texts) > 2 or not all(isinstance(text, str) for text in texts):
        return None
    if not isinstance(index, str | None) or not all(isinstance(v, plain) for values in when.values() for v in values):
        return None
    return Declaration(entity, name, kind, tuple(texts), index, when, shards)
