"""The OpenAPI 3.1 document of a design. ``x-keyplan`` in each operation has the access pattern's id and request."""

from __future__ import annotations

import types
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from pydantic import TypeAdapter
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue

from keyplan._version import __version__
from keyplan.analysis.explain.explanation import explain
from keyplan.analysis.explain.wording import folded_fields
from keyplan.formatting.arguments import BOUNDS, takes_many
from keyplan.formatting.results import plain
from keyplan.model.compiled.compiled_design import CompiledDesign, WritePattern
from keyplan.model.compiled.plans import ReadPattern
from keyplan.model.compiled.return_types import Shape, ShapeKind
from keyplan.model.compiled.signatures import Parameter, ParameterKind, adapted
from keyplan.model.compiled.time_bucket_keys import BUCKETS_MAX
from keyplan.model.declared.parameters import InvalidItem, Page
from keyplan.web.policy import Offer, Policy

ERROR = "KeyplanError"
_BOUND_WORDS = {"ge": "Minimum.", "gt": "Exclusive minimum.", "le": "Maximum.", "lt": "Exclusive maximum."}
_RESPONSES = {
    400: ("BadRequest", "The request is invalid; the response lists all errors. Nothing was sent to the store."),
    401: ("AuthenticationRequired", "Authentication is required."),
    403: ("AccessDenied", "The caller isn't authorized."),
    404: ("NotFound", "The item doesn't exist."),
    409: ("Conflict", "A condition failed, or the design rejected the write. Nothing was written."),
    413: ("TooLarge", "The request body is too large, or a written item exceeds DynamoDB's maximum size."),
    415: ("UnsupportedMediaType", "The body isn't application/json."),
    429: ("TooManyRequests", "Too many requests. Retry-After is the number of seconds to wait."),
    503: ("Unavailable", "The store is unavailable."),
}
_READ_ERRORS = (400, 503)
_WRITE_ERRORS = (400, 404, 409, 413, 415, 503)


def openapi(design: CompiledDesign, policy: Policy | None = None) -> dict[str, Any]:
    offer = Offer(design, policy)
    schemas = Schemas(design, offer.patterns.values())
    paths: dict[str, Any] = {}
    for pattern in offer.patterns.values():
        method = "get" if isinstance(pattern, ReadPattern) else "post"
        paths[f"/api/{pattern.name}"] = {method: _operation(offer, pattern, schemas)}
    left_out = () if policy is not None else (401, 403, 429)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": design.name,
            "version": __version__,
            "description": design.doc or f"The access patterns of {design.name}.",
        },
        "servers": [{"url": "/"}],
        "tags": [
            {"name": "reads", "description": "Reads. A read scans only if the design declares a scan."},
            {"name": "writes", "description": "Writes. Each write is one request or one transaction."},
        ],
        "paths": paths,
        "components": {
            "schemas": {**schemas.definitions, ERROR: _error_schema()},
            "responses": {
                name: _error_response(text) for status, (name, text) in _RESPONSES.items() if status not in left_out
            },
            **({} if policy is None else {"securitySchemes": dict(policy.security)}),
        },
    }


def _operation(offer: Offer, pattern: ReadPattern | WritePattern, schemas: Schemas) -> dict[str, Any]:
    summary, _, rest = pattern.signature.doc.partition("\n\n")
    explanation = explain(offer.design, pattern.name)
    operation: dict[str, Any] = {
        "operationId": pattern.name,
        "summary": " ".join(summary.split()) or pattern.name,
        "tags": ["reads" if isinstance(pattern, ReadPattern) else "writes"],
        "x-keyplan": {
            "id": explanation.id,
            "operation": explanation.operation,
            "index": explanation.index,
            **({"key_condition": explanation.key_condition} if explanation.key_condition else {}),
        },
    }
    if rest.strip():
        operation["description"] = rest.strip()
    if isinstance(pattern, ReadPattern):
        operation["parameters"] = [
            element for parameter in offer.parameters(pattern) for element in _parameters(pattern, parameter, schemas)
        ]
    else:
        operation["requestBody"] = _body(offer, pattern, schemas)
    operation["responses"] = _responses(offer, pattern, schemas)
    if offer.policy is not None and offer.is_closed(pattern):
        operation["security"] = [{name: []} for name in offer.policy.security]
    return operation


def _parameters(pattern: ReadPattern, parameter: Parameter, schemas: Schemas) -> list[dict[str, Any]]:
    schema = schemas.without_null(schemas.parameter(pattern, parameter))
    if parameter.kind is ParameterKind.RANGE:
        both = _both_bounds(pattern, parameter)
        defaults = default_bounds(pattern, parameter)
        return [
            {
                "name": f"{parameter.name}.{bound}",
                "in": "query",
                "description": _BOUND_WORDS[bound] + both,
                "schema": {**schema, "default": defaults[bound]} if bound in defaults else schema,
            }
            for bound in BOUNDS
        ]
    result: dict[str, Any] = {"name": parameter.name, "in": "query", "required": parameter.required, "schema": schema}
    words = {
        ParameterKind.PREFIX: "The prefix of the values to return.",
        ParameterKind.DIRECTION: "Whether items are returned in descending order, such as newest first.",
        ParameterKind.LIMIT: "Maximum number of items to return.",
        ParameterKind.CURSOR: "The cursor from the previous page. All other parameters must be unchanged.",
    }
    if parameter.kind in words:
        result["description"] = words[parameter.kind]
    if parameter.condition and parameter.name in folded_fields(pattern.plan):
        result["description"] = f"{result.get('description', '')} Case is ignored.".strip()
    if takes_many(parameter):
        result |= {"style": "form", "explode": True}
    return [result]


def _both_bounds(pattern: ReadPattern, parameter: Parameter) -> str:
    buckets = pattern.buckets
    if buckets is None or buckets.field != parameter.name:
        return ""
    needed = "Both bounds" if parameter.required else "Bounds without defaults"
    return f" {needed} are required, at most {BUCKETS_MAX:,} {buckets.unit}s apart."


def _body(offer: Offer, pattern: WritePattern, schemas: Schemas) -> dict[str, Any]:
    parameters = offer.parameters(pattern)
    schema: Schema = {
        "type": "object",
        "properties": {parameter.name: schemas.parameter(pattern, parameter) for parameter in parameters},
        "additionalProperties": False,
    }
    required = [parameter.name for parameter in parameters if parameter.required]
    if required:
        schema["required"] = required
    return {"required": True, "content": {"application/json": {"schema": schema}}}


def _responses(offer: Offer, pattern: ReadPattern | WritePattern, schemas: Schemas) -> dict[str, Any]:
    result = schemas.result(pattern)
    responses: dict[str, Any] = {}
    errors: tuple[int, ...] = _WRITE_ERRORS
    if isinstance(pattern, ReadPattern):
        kind = pattern.shape.kind
        media = "application/x-ndjson" if kind is ShapeKind.ITERATOR else "application/json"
        text = "The items, one JSON object per line." if kind is ShapeKind.ITERATOR else "The result."
        responses["200"] = {"description": text, "content": {media: {"schema": result}}}
        errors = (400, 404, 503) if kind in {ShapeKind.ONE, ShapeKind.COLLECTION} else _READ_ERRORS
    elif result is None:
        responses["204"] = {"description": "The write succeeded."}
    else:
        responses["200"] = {"description": "The write succeeded.", "content": {"application/json": {"schema": result}}}
    if offer.policy is not None:
        errors = (*errors, 401, 403, 404, 429)  # an item that the caller may not see is reported as missing
    for status in sorted({*errors}):
        responses[str(status)] = {"$ref": f"#/components/responses/{_RESPONSES[status][0]}"}
    return responses


def _error_response(text: str) -> dict[str, Any]:
    reference = {"$ref": f"#/components/schemas/{ERROR}"}
    return {"description": text, "content": {"application/json": {"schema": reference}}}


def _error_schema() -> Schema:
    text = {"type": "string"}
    fault = {
        "type": "object",
        "required": ["message"],
        "properties": {"place": text, "message": text, "hint": text, "code": text},
    }
    error = {
        "type": "object",
        "required": ["code", "message"],
        "properties": {
            "code": {**text, "description": "The error code. Codes stay the same if messages change."},
            "message": {**text, "description": "The error message."},
            "place": {**text, "description": "The location of the error."},
            "hint": {**text, "description": "How to fix the error."},
            "errors": {
                "type": "array",
                "items": fault,
                "description": "All errors of the request, each with its location.",
            },
        },
    }
    return {"type": "object", "required": ["error"], "properties": {"error": error}}


Schema = dict[str, Any]
Mode = Literal["validation", "serialization"]

_REFERENCE = "#/components/schemas/{model}"


class _Lenient(GenerateJsonSchema):
    """Generates ``{}``, which allows any value, for a type that has no JSON schema."""

    def handle_invalid_for_json_schema(self, schema: Any, error_info: str) -> JsonSchemaValue:  # noqa: ARG002
        return {}


@dataclass
class Schemas:
    """The schemas of the parameters and results of ``patterns``. ``definitions`` contains the referenced schemas."""

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
        """The schema of a parameter. For a range, the schema of a bound; for ``Each``, the schema of the array."""
        schema = dict(self._found[_parameter_key(pattern, parameter), "validation"])
        schema.pop("title", None)
        default = parameter.default
        if not parameter.required and isinstance(default, str | int | float | bool):
            schema["default"] = default
        return schema

    def result(self, pattern: ReadPattern | WritePattern) -> Schema | None:
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
            kinds.append(self._result(pattern, InvalidItem.__name__))
        item = kinds[0] if len(kinds) == 1 else {"anyOf": kinds}
        if shape.kind in {ShapeKind.ONE, ShapeKind.ITERATOR}:
            return item
        return _items(item, cursor=shape.kind is ShapeKind.PAGE)

    def _result(self, pattern: ReadPattern | WritePattern, name: str) -> Schema:
        return dict(self._found[f"{pattern.name}->{name}", "serialization"])

    def without_null(self, schema: Schema) -> Schema:
        """The schema without null, which a query string can't represent."""
        kinds = [value for value in schema.get("anyOf", []) if value != {"type": "null"}]
        if len(kinds) != 1:
            return schema
        return {**self.resolved(kinds[0]), **{name: value for name, value in schema.items() if name != "anyOf"}}

    def resolved(self, schema: Schema) -> Schema:
        reference = schema.get("$ref")
        return schema if reference is None else self.definitions[reference.rpartition("/")[2]]


def default_bounds(pattern: ReadPattern | WritePattern, parameter: Parameter) -> dict[str, Any]:
    buckets = pattern.buckets if isinstance(pattern, ReadPattern) else None
    if buckets is None or buckets.field != parameter.name or buckets.default is None:
        return {}
    given = {bound: getattr(buckets.default, bound) for bound in BOUNDS}
    return {bound: plain(value) for bound, value in given.items() if value is not None}


def without_none(annotation: Any) -> Any:
    """The annotation without None, which a query string can't represent."""
    if get_origin(annotation) in {Union, types.UnionType}:
        kinds = [value for value in get_args(annotation) if value is not type(None)]
        return Union[tuple(kinds)]  # noqa: UP007 - the types are known only at run time
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
    if isinstance(pattern, ReadPattern):
        if pattern.shape.told:
            return [("result", pattern.signature.returns)]
        others: list[Any] = [InvalidItem] if pattern.shape.lenient else []
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
        text = "The cursor of the next page; null after the last page."
        properties["cursor"] = {"type": ["string", "null"], "description": text}
    return _object(properties)


def _object(properties: dict[str, Schema]) -> Schema:
    return {"type": "object", "required": list(properties), "properties": properties}
