"""Whether two drafted keys could be the same text, as the compiler (``design/compiled/collisions.py``) will judge."""

from __future__ import annotations

from collections.abc import Collection

from keyplan.formats.workbench.declarations import KeyDeclaration
from keyplan.model.compiled.collisions import can_collide
from keyplan.model.declared.declaration_errors import Problem
from keyplan.model.declared.indexes import KeyAttribute
from keyplan.model.declared.keys import OURS, KeyStyle
from keyplan.model.stored.key_formats import Format, IntegerFormat, PartsFormat, TextFormat
from keyplan.model.stored.key_templates import Literal_, Template, Variable, split_template
from keyplan.model.stored.stored_keys import CompiledKey

__all__ = ["can_meet"]


def can_meet(
    declaration: KeyDeclaration, other: KeyDeclaration, lists: Collection[str] = (), other_lists: Collection[str] = ()
) -> bool:
    """Whether some item of one and some item of the other can have the same key. ``lists`` are fields of many parts."""
    left, right = _compiled(declaration, lists), _compiled(other, other_lists)
    if left is None or right is None or len(left.attributes) != len(right.attributes):
        return False  # the compiler says what is wrong with it
    return can_collide(left, right)


def _compiled(key: KeyDeclaration, lists: Collection[str]) -> CompiledKey | None:
    try:
        style = key.style or OURS
        partition = tuple((KeyAttribute("partition"), _template(text, lists, style)) for text in key.partition)
        sort = tuple((KeyAttribute("sort"), _template(text, lists, style)) for text in key.sort)
    except Problem:
        return None
    return CompiledKey(key.name, None, partition, sort, {}, key.shards)


def _template(source: str, lists: Collection[str], style: KeyStyle) -> Template:
    pieces = split_template(source, raw=style.raw)
    parts: list[Literal_ | Variable] = []
    for place, piece in enumerate(pieces):
        if isinstance(piece, str):
            parts.append(Literal_(piece))
        else:
            last = place == len(pieces) - 1
            bare = len(pieces) == 1
            parts.append(Variable(piece[0], _format(*piece, lists), last=last, bare=bare, style=style))
    return Template(source, tuple(parts))


def _format(name: str, spec: str, lists: Collection[str]) -> Format:
    digits = spec.removesuffix(":desc").removesuffix("d")
    if digits.isdigit():
        return IntegerFormat(int(digits))
    return PartsFormat() if name in lists else TextFormat(str)
