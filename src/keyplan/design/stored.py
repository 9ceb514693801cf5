"""The fields of an entity as they are stored: attribute names, codecs, defaults; and what a computed field is made of.

How items are made and read with them is in ``entity.py`` and ``reading.py``.
"""

from __future__ import annotations

import dis
import inspect
from dataclasses import dataclass, replace
from types import CodeType
from typing import Annotated, Any

from pydantic import BaseModel
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from keyplan.design.codec import Decoder, Encoder, decoder_of, encoder_of
from keyplan.design.fields import bounds_of, is_optional, kind_of

__all__ = ["StoredField", "computed_inputs", "stored_fields"]

_SETS = (set, frozenset)
_CONSTANT = (None, list, dict, tuple, *_SETS)
"""Default factories that give the same each time."""


@dataclass(frozen=True, slots=True)
class StoredField:
    """One field of an entity as it is stored."""

    name: str
    attribute: str
    annotation: Any
    encode: Encoder
    decode: Decoder
    computed: bool
    optional: bool
    keeps_null: bool
    """Whether nothing stored would be read as another value: the default isn't None, empty or 0."""
    required: bool = True
    default: Any = None
    """What the field reads as when nothing is stored; one that a function makes anew each time counts as none."""
    bounds: tuple[tuple[str, Any], ...] = ()
    """Operators and values that a number keeps to."""


def stored_fields(cls: type[BaseModel]) -> list[StoredField]:
    """The fields of an entity with the attributes that they are stored under, computed fields last."""
    found: list[StoredField] = []
    for name, info in cls.model_fields.items():
        annotation: Any = info.annotation
        for mark in info.metadata:
            annotation = Annotated[annotation, mark]
        keeps_null = not info.is_required() and _reads_otherwise(info, annotation)
        attribute = info.serialization_alias or info.alias or name
        stored = _stored(name, attribute, annotation, computed=False, keeps_null=keeps_null)
        if not info.is_required() and info.default_factory in _CONSTANT:
            stored = replace(stored, required=False, default=info.get_default(call_default_factory=True))
        found.append(replace(stored, bounds=tuple(bounds_of(annotation))))
    for name, computed in cls.model_computed_fields.items():
        found.append(_stored(name, computed.alias or name, computed.return_type, computed=True, keeps_null=False))
    return found


def _reads_otherwise(info: FieldInfo, annotation: Any) -> bool:
    """Whether the field's default is another value than what isn't stored: None, 0 or an empty set."""
    if info.default_factory is not None:
        return info.default_factory not in _SETS
    if is_optional(annotation) and kind_of(annotation) not in _SETS:
        return info.default is not None
    return info.default is not PydanticUndefined and bool(info.default)


def _stored(name: str, attribute: str, annotation: Any, *, computed: bool, keeps_null: bool) -> StoredField:
    encode, decode = encoder_of(annotation), decoder_of(annotation)
    return StoredField(name, attribute, annotation, encode, decode, computed, is_optional(annotation), keeps_null)


def computed_inputs(cls: type[BaseModel], name: str) -> frozenset[str]:
    """The fields that a computed field can depend on: every field whose name its code mentions, directly or by way of
    the class's other properties and methods. Code that reads attributes by computed names counts as reading all.
    """
    found: set[str] = set()
    seen: set[str] = set()
    pending = [name]
    while pending:
        current = pending.pop()
        if current in seen:
            continue
        seen.add(current)
        code = _code_of(cls, current)
        if code is None:
            continue
        for mentioned in _names_in(code):
            if mentioned in cls.model_fields:
                found.add(mentioned)
            elif mentioned in _WHOLE_MODEL:
                found.update(cls.model_fields)
            else:
                pending.append(mentioned)
        if code.co_argcount and _hands_on(code, code.co_varnames[0]):
            found.update(cls.model_fields)
    return frozenset(found)


def _hands_on(code: CodeType, name: str) -> bool:
    """Whether the code does anything with the variable ``name`` but read its attributes: what it is handed on to may
    read any of them.
    """
    steps = [one for one in dis.get_instructions(code) if one.opname.startswith(("LOAD_", "CALL", "BINARY", "STORE_"))]
    for step, following in zip(steps, [*steps[1:], None], strict=True):
        names = step.argval if isinstance(step.argval, tuple) else (step.argval,)
        # The cell of a variable that inner functions share is loaded to make them; they are looked into below
        loads = "LOAD_DEREF" if name in (*code.co_cellvars, *code.co_freevars) else "LOAD_FAST"
        if not step.opname.startswith(loads) or name not in names:
            continue
        if names[-1] != name or following is None or following.opname not in {"LOAD_ATTR", "LOAD_METHOD"}:
            return True
    return any(_hands_on(one, name) for one in code.co_consts if isinstance(one, CodeType) and name in one.co_freevars)


_WHOLE_MODEL = frozenset(
    {"getattr", "vars", "super", "model_dump", "model_dump_json", "__dict__", "__iter__", "model_copy"}
)


def _code_of(cls: type[BaseModel], name: str) -> CodeType | None:
    value = inspect.getattr_static(cls, name, None)
    function = getattr(getattr(value, "wrapped", value), "fget", None) or getattr(value, "__func__", value)
    return getattr(function, "__code__", None)


def _names_in(code: CodeType) -> set[str]:
    names = {*code.co_names, *(one for one in code.co_consts if isinstance(one, str))}
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            names |= _names_in(constant)
    return names
