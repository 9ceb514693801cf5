"""What is wrong with the views of a design: fields that their entities lack, or have with other types."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from keyplan.model.compiled.signatures import type_name
from keyplan.model.declared.declaration_errors import Problem
from keyplan.model.declared.fields import is_optional, kind_of
from keyplan.model.declared.views import View, types_in
from keyplan.model.stored.stored_entity import CompiledEntity

__all__ = ["view_problems"]


def view_problems(view: type[View[Any]], entity: CompiledEntity) -> Iterator[tuple[str, Problem]]:
    """What is wrong with a view's fields, each with its name."""
    written = types_in(view)
    if not written:
        yield "", Problem("it has no fields", f"name those of {entity.name} that are wanted")
    for name, annotation in written.items():
        field = entity.fields.get(name)
        if field is None or field.computed:
            why = "computed there, and not stored" if name in entity.cls.model_computed_fields else "no field of it"
            stored = ", ".join(
                stored_field.name for stored_field in entity.fields.values() if not stored_field.computed
            )
            yield name, Problem(f"it is {why}", f"{entity.name} has {stored}")
        elif kind_of(annotation) is not kind_of(field.annotation) or is_optional(annotation) != field.optional:
            yield (
                name,
                Problem(
                    f"it is {type_name(annotation)}, and in {entity.name} {type_name(field.annotation)}",
                    "give both the same type",
                ),
            )
