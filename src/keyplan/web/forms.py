"""The fields of a pattern's form, as HTML: one input a parameter, chosen by its kind and its JSON schema.

What a form sends is gathered by ``static/page.js``, by the ``data-`` attributes given here.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from html import escape
from typing import Any

from keyplan.formatting.arguments import BOUNDS, takes_many
from keyplan.model.compiled.compiled_design import WritePattern
from keyplan.model.compiled.plans import ReadPattern
from keyplan.model.compiled.signatures import Parameter, ParameterKind, type_name
from keyplan.model.compiled.time_bucket_keys import BUCKETS_MAX
from keyplan.web.schemas import Schema, Schemas, default_bounds

__all__ = ["fields"]

_LONG_TEXTS = frozenset({"bio", "body", "content", "description", "markdown", "message", "text"})
_BOUND_LABELS = {"ge": "from, included", "gt": "after", "le": "to, included", "lt": "before"}
_NUMBERS = {"integer", "number"}


def fields(pattern: ReadPattern | WritePattern, schemas: Schemas, parameters: Iterable[Parameter] | None = None) -> str:
    """The fields of the pattern's form: for all of its parameters, or for those."""
    return "".join(
        _range(pattern, parameter, schemas)
        if parameter.kind is ParameterKind.RANGE
        else _field(pattern, parameter, schemas)
        for parameter in (pattern.signature.parameters if parameters is None else parameters)
    )


def _field(pattern: ReadPattern | WritePattern, parameter: Parameter, schemas: Schemas) -> str:
    name = parameter.name
    identity = f"{pattern.name}-{name}"
    schema = _plain(schemas.parameter(pattern, parameter), schemas)
    control = _control(pattern, parameter, schema, identity, schemas)
    kind = _words(parameter)
    need = "" if parameter.required else '<span class="optional">optional</span>'
    return (
        f'<div class="field"><div class="caption"><label for="{escape(identity)}">{escape(name)}</label>'
        f'<span class="label-type" id="{escape(identity)}-type">{escape(kind)}</span>{need}</div>{control}</div>'
    )


def _range(pattern: ReadPattern | WritePattern, parameter: Parameter, schemas: Schemas) -> str:
    need = "" if parameter.required else '<span class="optional">optional</span>'
    parts: list[str] = []
    defaults = default_bounds(pattern, parameter)
    schema = schemas.resolved(schemas.parameter(pattern, parameter))
    for bound in BOUNDS:
        identity = f"{pattern.name}-{parameter.name}-{bound}"
        parts.append(
            f'<div class="bound"><label for="{escape(identity)}">{_BOUND_LABELS[bound]}</label>'
            f'<input id="{escape(identity)}" name="{escape(parameter.name)}.{bound}" data-kind="text" '
            f'autocomplete="off" placeholder="{escape(str(defaults.get(bound, _placeholder(schema))))}"></div>'
        )
    return (
        f'<fieldset class="field range"><legend class="caption"><span>{escape(parameter.name)}</span>'
        f'<span class="label-type">{escape(_words(parameter) + _both_ends(pattern, parameter))}</span>{need}</legend>'
        f'<div class="bounds">{"".join(parts)}</div></fieldset>'
    )


def _control(
    pattern: ReadPattern | WritePattern, parameter: Parameter, schema: Schema, identity: str, schemas: Schemas
) -> str:
    read = isinstance(pattern, ReadPattern)
    kind = schema.get("type")
    required = " required" if parameter.required else ""
    described = f'aria-describedby="{escape(identity)}-type"'
    common = f'id="{escape(identity)}" name="{escape(parameter.name)}" {described}{required}'
    if "enum" in schema or "const" in schema or kind == "boolean":
        return _select(common, schema, required=parameter.required)
    if takes_many(parameter) and _plain(schema.get("items", {}), schemas).get("type") in {"string", *_NUMBERS, None}:
        return f'<textarea {common} data-kind="lines" rows="3" placeholder="one a line" spellcheck="false"></textarea>'
    if kind in {"object", "array"} or "anyOf" in schema:
        skeleton = json.dumps(_skeleton(schema, schemas), indent=2, ensure_ascii=False)
        rows = min(12, skeleton.count("\n") + 2)
        attributes = f'{common} data-kind="json" class="code" rows="{rows}" spellcheck="false"'
        return f"<textarea {attributes}>{escape(skeleton)}</textarea>"
    if kind in _NUMBERS:
        return _number(common, parameter, schema, read=read)
    if not read and parameter.name in _LONG_TEXTS:
        return f'<textarea {common} data-kind="text" rows="4"></textarea>'
    suggestions = f' list="values-{escape(parameter.name)}"' if parameter.condition else ""
    hint = f' placeholder="{escape(_placeholder(schema))}"' if _placeholder(schema) else ""
    return f'<input {common} data-kind="text" autocomplete="off" spellcheck="false"{suggestions}{hint}>'


def _select(common: str, schema: Schema, *, required: bool) -> str:
    texts = {"boolean": ["true", "false"]}.get(str(schema.get("type")), [])
    values = schema.get("enum", [schema["const"]] if "const" in schema else texts)
    kind = "json" if schema.get("type") == "boolean" else "text"
    options = "" if required else '<option value="">–</option>'
    default = schema.get("default")
    if isinstance(default, bool):
        default = str(default).lower()
    for value in values:
        chosen = " selected" if value == default else ""
        options += f'<option value="{escape(str(value))}"{chosen}>{escape(str(value))}</option>'
    return f'<select {common} data-kind="{kind}">{options}</select>'


def _number(common: str, parameter: Parameter, schema: Schema, *, read: bool) -> str:
    step = "1" if schema.get("type") == "integer" else "any"
    limits = "".join(
        f' {name}="{schema[member]}"' for name, member in (("min", "minimum"), ("max", "maximum")) if member in schema
    )
    default = schema.get("default")
    value = f' value="{default}"' if isinstance(default, int | float) else ""
    suggestions = "" if not (read and parameter.condition) else f' list="values-{escape(parameter.name)}"'
    kind = f'type="number" inputmode="decimal" step="{step}" data-kind="number"'
    return f"<input {common} {kind}{limits}{value}{suggestions}>"


def _plain(schema: Schema, schemas: Schemas) -> Schema:
    """The schema without reference and null."""
    result = schemas.resolved(schema)
    kinds = [value for value in result.get("anyOf", []) if value != {"type": "null"}]
    if len(kinds) == 1:
        return {**schemas.resolved(kinds[0]), **{name: value for name, value in result.items() if name != "anyOf"}}
    if result.get("anyOf") and all(kind.get("type") in {"string", *_NUMBERS} for kind in kinds):
        return {"type": "string"}  # a Decimal, say: a number or its text
    return result


def _skeleton(schema: Schema, schemas: Schemas) -> Any:
    """A value to begin with: an object with the members that it must have."""
    plain = _plain(schema, schemas)
    if "default" in plain:
        return plain["default"]
    if "enum" in plain:
        return plain["enum"][0]
    match plain.get("type"):
        case "object":
            members: Mapping[str, Schema] = plain.get("properties", {})
            return {name: _skeleton(members[name], schemas) for name in plain.get("required", []) if name in members}
        case "array":
            return [_skeleton(plain["items"], schemas)] if isinstance(plain.get("items"), dict) else []
        case "integer" | "number":
            return plain.get("minimum", 1)
        case "boolean":
            return False
        case _:
            return _placeholder(plain)


def _placeholder(schema: Schema) -> str:
    return {"date-time": "2026-11-21T09:00:00Z", "date": "2026-11-21"}.get(str(schema.get("format")), "")


def _both_ends(pattern: ReadPattern | WritePattern, parameter: Parameter) -> str:
    buckets = pattern.buckets if isinstance(pattern, ReadPattern) else None
    if buckets is None or buckets.field != parameter.name:
        return ""
    needed = "both ends" if parameter.required else "both ends, where no default says them"
    return f": {needed}, over {BUCKETS_MAX:,} {buckets.unit}s at most"


def _words(parameter: Parameter) -> str:
    """The parameter's type, without the None that says it may be left out."""
    return type_name(parameter.annotation).removesuffix(" | None")
