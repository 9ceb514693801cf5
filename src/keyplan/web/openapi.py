"""The OpenAPI 3.1 document of a design, made from its signatures.

Each operation carries ``x-keyplan``: the access pattern's id, DynamoDB's operation, the index and the key condition.
"""

from __future__ import annotations

from typing import Any

from keyplan._version import __version__
from keyplan.analysis.explain.explanation import Explanation, explain
from keyplan.analysis.explain.wording import folded_fields
from keyplan.formatting.arguments import BOUNDS, takes_many
from keyplan.model.compiled.compiled_design import CompiledDesign, WritePattern
from keyplan.model.compiled.plans import ReadPattern
from keyplan.model.compiled.return_types import ShapeKind
from keyplan.model.compiled.signatures import Parameter, ParameterKind
from keyplan.model.compiled.time_bucket_keys import BUCKETS_MAX
from keyplan.web.policy import Offer, Policy
from keyplan.web.schemas import Schema, Schemas, default_bounds

__all__ = ["openapi"]

ERROR = "KeyplanError"
_BOUND_WORDS = {"ge": "At least this.", "gt": "More than this.", "le": "At most this.", "lt": "Less than this."}
_RESPONSES = {
    400: ("BadRequest", "The request can't be made: every fault of it is named. Nothing was sent to the store."),
    401: ("SignInNeeded", "Only a caller who is known may do that."),
    403: ("AccessRefused", "The caller may not do that."),
    404: ("NotFound", "There is no such item."),
    409: ("Conflict", "A condition of the write didn't hold, or the design doesn't allow it. Nothing was written."),
    413: ("TooLarge", "The body, or an item that it makes, is too large."),
    415: ("UnsupportedMediaType", "The body isn't application/json."),
    429: ("TooManyRequests", "The caller did that too often of late; Retry-After says in how many seconds it may."),
    503: ("Unavailable", "The store can't answer."),
}
_READ_ERRORS = (400, 503)
_WRITE_ERRORS = (400, 404, 409, 413, 415, 503)


def openapi(design: CompiledDesign, policy: Policy | None = None) -> dict[str, Any]:
    """The document, as JSON data: of the patterns that the policy offers, or of all."""
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
            {"name": "reads", "description": "Questions, each answered without a scan."},
            {"name": "writes", "description": "Changes, each one conditional request or one transaction."},
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
    operation: dict[str, Any] = {
        "operationId": pattern.name,
        "summary": " ".join(summary.split()) or pattern.name,
        "tags": ["reads" if isinstance(pattern, ReadPattern) else "writes"],
        "x-keyplan": _facts(explain(offer.design, pattern.name)),
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


def _facts(explanation: Explanation) -> dict[str, Any]:
    facts = {
        "id": explanation.id,
        "operation": explanation.operation,
        "index": explanation.index,
        "key_condition": explanation.key_condition or None,
    }
    return {name: value for name, value in facts.items() if value is not None or name == "index"}


def _parameters(pattern: ReadPattern, parameter: Parameter, schemas: Schemas) -> list[dict[str, Any]]:
    schema = _in_query(schemas.parameter(pattern, parameter))
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
        ParameterKind.PREFIX: "The beginning of the text.",
        ParameterKind.DIRECTION: "Whether the answer is in descending order: the newest first.",
        ParameterKind.LIMIT: "How many items at most.",
        ParameterKind.CURSOR: "Where the page before ended: the cursor that it gave, with the same other parameters.",
    }
    said = [words[parameter.kind]] if parameter.kind in words else []
    if parameter.condition and parameter.name in folded_fields(pattern.plan):
        said.append("Capital and small letters are taken alike.")
    if said:
        result["description"] = " ".join(said)
    if takes_many(parameter):
        result |= {"style": "form", "explode": True}
    return [result]


def _both_bounds(pattern: ReadPattern, parameter: Parameter) -> str:
    """What a range says that is read bucket by bucket."""
    buckets = pattern.buckets
    if buckets is None or buckets.field != parameter.name:
        return ""
    needed = "" if parameter.required else ", where no default says them"
    return f" A lower and an upper bound are needed{needed}, over {BUCKETS_MAX:,} {buckets.unit}s at most."


def _in_query(schema: Schema) -> Schema:
    """The schema without null among its values, which a query string has no form for."""
    kinds = [value for value in schema.get("anyOf", []) if value != {"type": "null"}]
    if len(kinds) == 1:
        return {**kinds[0], **{name: value for name, value in schema.items() if name != "anyOf"}}
    return schema


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
        text = "The items, one JSON object a line." if kind is ShapeKind.ITERATOR else "The answer."
        responses["200"] = {"description": text, "content": {media: {"schema": result}}}
        errors = (400, 404, 503) if kind in {ShapeKind.ONE, ShapeKind.COLLECTION} else _READ_ERRORS
    elif result is None:
        responses["204"] = {"description": "Done."}
    else:
        responses["200"] = {"description": "Done.", "content": {"application/json": {"schema": result}}}
    if offer.policy is not None:
        errors = (*errors, 401, 403, 404, 429)  # what isn't there for this caller is told as what isn't there
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
            "code": {**text, "description": "Stable: it stays when the words change."},
            "message": {**text, "description": "What went wrong."},
            "place": {**text, "description": "Where."},
            "hint": {**text, "description": "What to do."},
            "faults": {"type": "array", "items": fault, "description": "Each thing that is wrong, with its place."},
        },
    }
    return {"type": "object", "required": ["error"], "properties": {"error": error}}
