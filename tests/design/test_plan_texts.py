"""What designs compile to, member by member: every plan of the designs that tests share, what is known of each pattern,
and every key with what is computed for it. What one of these says otherwise is another request, order or refusal.
"""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from keyplan import Design, Index
from keyplan.design.compiled.buckets import Buckets
from keyplan.design.compiled.plans import FilterValue, Known, ReadPattern
from keyplan.design.stored.entity import CompiledEntity
from keyplan.design.stored.fields import StoredField
from keyplan.design.stored.keys import CompiledKey
from keyplan.design.stored.templates import Literal_, Template, Variable
from tests.agreed import assert_agreed
from tests.contract.apart import Apart
from tests.contract.buckets import Timed
from tests.contract.design import Everything
from tests.contract.test_tables_of_others import App
from tests.explain.test_alternatives import Jobs
from tests.explain.test_ways import Club
from tests.web.library import Library

DESIGNS: list[type[Design]] = [App, Club, Everything, Jobs, Library, Timed, Apart]


def _shown(value: Any) -> str:
    """A value in a line; what is shown elsewhere by its name."""
    match value:
        case CompiledEntity() | Index():
            return value.name
        case CompiledKey():
            return f"{value.name} on {value.place}"
        case Template():
            return repr(str(value))
        case Literal_():
            return repr(value.text)
        case Variable():
            return f"{{{value.field}}}"
        case FilterValue():
            return f"{value.parameter} as {value.tag}{' many' * value.many}"
        case Buckets():
            return f"each {value.unit} of {value.field} {value.days} {value.default}"
        case enum.Enum():
            return value.name
        case type():
            return value.__name__
        case frozenset() | set():
            return f"{{{', '.join(sorted(map(_shown, value)))}}}"
        case tuple() | list():
            return f"({', '.join(map(_shown, value))})"
        case Mapping():
            return f"{{{', '.join(f'{name}: {_shown(element)}' for name, element in value.items())}}}"
        case _ if dataclasses.is_dataclass(value) and not isinstance(value, Known):
            return f"{type(value).__name__}({', '.join(_members(value))})"
        case _:
            return str(value)


def _members(value: Any) -> Iterator[str]:
    for member in dataclasses.fields(value):
        inner = getattr(value, member.name)
        if inner not in (None, False, (), {}, frozenset()):
            yield f"{member.name}={_shown(inner)}"


def _lines(value: Any, indent: str = "    ") -> Iterator[str]:
    """A plan, a member a line, and those of the plans and matches within it below."""
    for member in dataclasses.fields(value):
        inner = getattr(value, member.name)
        if inner in (None, False, (), {}, frozenset()):
            continue
        inside = inner if isinstance(inner, tuple) else (inner,)
        if all(type(each).__name__.endswith(("Plan", "Match")) for each in inside):
            for each in inside:
                yield f"{indent}{member.name}: {type(each).__name__}"
                yield from _lines(each, f"{indent}    ")
        else:
            yield f"{indent}{member.name}: {_shown(inner)}"


def _pattern(pattern: ReadPattern) -> Iterator[str]:
    yield f"{pattern.id} {pattern.signature}"
    for name in ("shape", "constants", "proof", "limit", "direction"):
        value = getattr(pattern, name)
        if value not in (None, {}, ""):
            yield f"    {name}: {_shown(value)}"
    yield f"    plan: {type(pattern.plan).__name__} {pattern.plan.operation}"
    yield from _lines(pattern.plan, "        ")


@pytest.mark.parametrize("cls", DESIGNS)
def test_what_reads_compile_to(cls: type[Design]) -> None:
    assert_agreed("\n".join(line for pattern in cls.compiled.reads.values() for line in _pattern(pattern)))


@pytest.mark.parametrize("cls", DESIGNS)
def test_what_is_known_of_entities_and_keys(cls: type[Design]) -> None:
    lines: list[str] = []
    for entity in cls.compiled.entities.values():
        kinds = [f"{name} {value.name}" for name in ("ttl", "version") if (value := getattr(entity, name)) is not None]
        lines.append(f"{entity.name}: {', '.join([*entity.key_fields, *kinds, *map(str, entity.labels.items())])}")
        lines += [f"    {_field(field)}" for field in entity.fields.values()]
        for key in (*entity.keys, *entity.claims):
            lines.append(f"    {key}: {_shown(sorted(entity.inputs_of(key)))}")
            lines.append(f"        {', '.join(_members(key))}")
            for _, template in key.attributes:
                lines += [f"        {_variable(variable)}" for variable in template.variables]
    assert_agreed("\n".join(lines))


def _field(field: StoredField) -> str:
    marks = [member.name for member in dataclasses.fields(field) if getattr(field, member.name) is True]
    return f"{field.name} as {field.attribute} {field.form.name} {' '.join(marks)} {_shown(field.bounds)}"


def _variable(variable: Variable) -> str:
    marks = [name for name in ("last", "bare", "folds", "sorts", "is_open") if getattr(variable, name)]
    form = variable.format
    marks += [name for name in ("raw", "exact", "whole", "descending") if getattr(form, name)]
    return f"{variable.field} {type(form).__name__} {variable.pattern} {variable.ends!r} {' '.join(marks)}"
