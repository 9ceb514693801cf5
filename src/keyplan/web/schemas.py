"""JSON schemas of what goes into a pattern and what comes out, made by pydantic from the annotations.

How they are put together to a document is in ``openapi.py``; the page makes its forms of them.
"""

from __future__ import annotations

import types
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from pydantic import TypeAdapter
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue

from keyplan.formatting.arguments import BOUNDS
from keyplan.formatting.results import plain
from keyplan.model.compiled.compiled_design import CompiledDesign, WritePattern
from keyplan.model.compiled.plans import ReadPattern
from keyplan.model.compiled.return_types import Shape, ShapeKind
from keyplan.model.compiled.signatures import Parameter, ParameterKind, adapted
from keyplan.model.declared.parameters import Page
from keyplan.model.declared.unreadable import Unreadable

__all__ = ["Schemas", "default_bounds", "without_none"]

Schema = dict[str, Any]
Mode = Literal["validation", "serialization"]

_REFERENCE = "#/components/schemas/{model}"


class _Lenient(GenerateJsonSchema):
    """A type that has no JSON schema of its own is described as any value."""

    def handle_invalid_for_json_schema(self, schema: Any, error_info: str) -> JsonSchemaValue:  # noqa: ARG002
        return {}


@dataclass
class Schemas:
    """The schemas of the parameters and results of some of a design's patterns.

    ``definitions`` are those that others refer to.
    """

    design: CompiledDesign
    patterns: Iterable[ReadPattern | WritePattern]
    definitions: dict[str, Schema] = field(init=False)

    def __post_init__(self) -> None:
        wanted: dict[tuple[str, Mode], TypeAdapter[Any]] = {}
        for pattern in self.patterns:
            for parameter in pattern.signature.parameters:
                wanted[_parameter_key(pattern, parameter), "validation"] = TypeAdapter(_validated(parameter))
            for name, annotation in _results(pattern):
                wanted[f"{pattern.name}->{name}", "serialization"] = TypeAdapter(annotation)
        result, shared = TypeAdapter.json_schemas(
            [(key, mode, adapter) for (key, mode), adapter in wanted.items()],
            by_alias=False,
            ref_template=_REFERENCE,
            schema_generator=_Lenient,
        )
        self._found: Mapping[Any, Schema] = result
        self.definitions = shared.get("$defs", {})

    def parameter(self, pattern: ReadPattern | WritePattern, parameter: Parameter) -> Schema:
        """The schema of one parameter: of a range its bounds', of ``Each`` the array's. None isn't among the values."""
        schema = dict(self._found[_parameter_key(pattern, parameter), "validation"])
        schema.pop("title", None)
        default = parameter.default
        if not parameter.required and isinstance(default, str | int | float | bool):
            schema["default"] = default
        return schema

    def result(self, pattern: ReadPattern | WritePattern) -> Schema | None:
        """The schema of the answer; None where there is none."""
        if isinstance(pattern, ReadPattern):
            return self._shape(pattern, pattern.shape)
        result = pattern.signature.result
        if result is None:
            return None
        if get_origin(result) in {list, Page}:
            return _items(self._result(pattern, "item"), cursor=get_origin(result) is Page)
        if hasattr(result, "_fields"):
            return _object({name: self._result(pattern, name) for name, _ in _results(pattern)})
        return self._result(pattern, "result")

    def _shape(self, pattern: ReadPattern, shape: Shape) -> Schema:
        if shape.told:
            return self._result(pattern, "result")
        if shape.kind is ShapeKind.COLLECTION:
            properties: dict[str, Schema] = {}
            for member in shape.members:
                element = self._result(pattern, member.gives.__name__)
                if member.many:
                    properties[member.name] = {"type": "array", "items": element}
                else:
                    properties[member.name] = {"anyOf": [element, {"type": "null"}]} if member.optional else element
            return _object(properties)
        kinds = [self._result(pattern, given.__name__) for given in shape.given]
        if shape.lenient:
            kinds.append(self._result(pattern, Unreadable.__name__))
        item = kinds[0] if len(kinds) == 1 else {"anyOf": kinds}
        if shape.kind in {ShapeKind.ONE, ShapeKind.ITERATOR}:
            return item
        return _items(item, cursor=shape.kind is ShapeKind.PAGE)

    def _result(self, pattern: ReadPattern | WritePattern, name: str) -> Schema:
        return dict(self._found[f"{pattern.name}->{name}", "serialization"])

    def resolved(self, schema: Schema) -> Schema:
        """The schema that a reference leads to."""
        reference = schema.get("$ref")
        return schema if reference is None else self.definitions[reference.rpartition("/")[2]]


def default_bounds(pattern: ReadPattern | WritePattern, parameter: Parameter) -> dict[str, Any]:
    """The bounds of a range that is read bucket by bucket where a call leaves them out, as JSON values."""
    buckets = pattern.buckets if isinstance(pattern, ReadPattern) else None
    if buckets is None or buckets.field != parameter.name or buckets.default is None:
        return {}
    given = {bound: getattr(buckets.default, bound) for bound in BOUNDS}
    return {bound: plain(value) for bound, value in given.items() if value is not None}


def without_none(annotation: Any) -> Any:
    """The annotation without None among its values: what a query string can hold."""
    if get_origin(annotation) in {Union, types.UnionType}:
        kinds = [value for value in get_args(annotation) if value is not type(None)]
        return Union[tuple(kinds)]  # noqa: UP007 - the parts are known at run time only
    return annotation


def _parameter_key(pattern: ReadPattern | WritePattern, parameter: Parameter) -> str:
    return f"{pattern.name}.{parameter.name}"


def _validated(parameter: Parameter) -> Any:
    if parameter.kind is ParameterKind.RANGE:
        return parameter.value_type
    if parameter.kind is ParameterKind.CURSOR:
        return str
    if parameter.kind in {ParameterKind.LIMIT, ParameterKind.EACH}:
        return without_none(adapted(parameter))
    return parameter.annotation


def _results(pattern: ReadPattern | WritePattern) -> Iterable[tuple[str, Any]]:
    """The types that an answer is made of, each with a name."""
    if isinstance(pattern, ReadPattern):
        if pattern.shape.told:
            return [("result", pattern.signature.returns)]
        others: list[Any] = [Unreadable] if pattern.shape.lenient else []
        return [(given.__name__, given) for given in (*pattern.shape.given, *others)]
    result = pattern.signature.result
    if result is None:
        return []
    if get_origin(result) in {list, Page}:
        return [("item", get_args(result)[0])]
    if hasattr(result, "_fields"):
        return list(get_type_hints(result, include_extras=True).items())
    return [("result", result)]


def _items(item: Schema, *, cursor: bool) -> Schema:
    properties: dict[str, Schema] = {"items": {"type": "array", "items": item}}
    if cursor:
        properties["cursor"] = {
            "type": ["string", "null"],
            "description": "Where the next page begins; null when nothing follows.",
        }
    return _object(properties)


def _object(properties: dict[str, Schema]) -> Schema:
    return {"type": "object", "required": list(properties), "properties": properties}
