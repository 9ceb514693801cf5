"""The HTML page of a design, with a form for each access pattern. The page loads only files in ``static/``."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from html import escape
from typing import Any

from keyplan._version import __version__
from keyplan.analysis.explain.explanation import Explanation, explain
from keyplan.formatting.arguments import BOUNDS, takes_many
from keyplan.formatting.results import pretty
from keyplan.model.compiled.compiled_design import WritePattern
from keyplan.model.compiled.plans import ReadPattern
from keyplan.model.compiled.signatures import Parameter, ParameterKind, type_name
from keyplan.model.compiled.time_bucket_keys import BUCKETS_MAX
from keyplan.session.design import Design
from keyplan.web.openapi import Schema, Schemas, default_bounds
from keyplan.web.policy import Offer, Policy


def page(design: Design, policy: Policy | None = None) -> str:
    compiled = design.compiled
    offer = Offer(compiled, policy)
    offered = offer.patterns
    explanations = [explain(type(design), name) for name in offered]
    schemas = Schemas(compiled, offered.values())
    title = escape(compiled.name)
    rows = "".join(_row(explanation) for explanation in explanations)
    parameters = {name: offer.parameters(pattern) for name, pattern in offered.items()}
    tries = "".join(
        _pattern(explanation, fields(offered[explanation.pattern], schemas, parameters[explanation.pattern]))
        for explanation in explanations
    )
    tries = tries.replace("<details ", "<details open ", 1)
    lede, _, more = compiled.doc.partition("\n\n")
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{title} · Keyplan</title>
<link rel="icon" href="static/icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="static/page.css">
<script src="static/page.js" defer></script>
</head>
<body{_form_token(policy)}>
<a class="skip" href="#plan">Skip to the access patterns</a>
<header class="masthead">
<div class="wide">
<p class="eyebrow"><svg viewBox="0 0 32 32" aria-hidden="true"><use href="static/icon.svg#mark"></use></svg>Key plan</p>
<h1>{title}</h1>
<p class="lede">{escape(" ".join(lede.split()))}</p>
{_more(more)}
<dl class="facts">{_facts(design, public=policy is not None)}</dl>
</div>
</header>
<main class="wide">
<section aria-labelledby="plan">
<h2 id="plan">Access patterns</h2>
<div class="plan" role="group" aria-labelledby="plan" tabindex="0">
<table role="table">
<thead role="rowgroup"><tr role="row">
<th role="columnheader" scope="col">Id</th><th role="columnheader" scope="col">Access pattern</th>
<th role="columnheader" scope="col">Operation</th><th role="columnheader" scope="col">Key condition</th>
</tr></thead>
<tbody role="rowgroup">{rows}</tbody>
</table>
</div>
</section>
<section aria-labelledby="try">
<h2 id="try">Try the access patterns</h2>
<p class="note">Each form is generated from the pattern's signature. It shows the REST API's response and the
requests to DynamoDB.</p>
{tries}
</section>
</main>
<footer class="wide"><p>Generated from the design's signatures by Keyplan {escape(__version__)} ·
<a href="openapi.json">OpenAPI 3.1</a></p></footer>
</body>
</html>
"""


def _more(text: str) -> str:
    paragraphs = (" ".join(part.split()) for part in text.split("\n\n"))
    return "".join(f'<p class="more">{escape(paragraph)}</p>' for paragraph in paragraphs if paragraph)


def _form_token(policy: Policy | None) -> str:
    """The HTML attribute that names the cookie of the CSRF token, which writes require."""
    schemes = () if policy is None else policy.security.values()
    name = next((scheme["x-form-token-cookie"] for scheme in schemes if "x-form-token-cookie" in scheme), None)
    return "" if name is None else f' data-form-token="{escape(str(name))}"'


def _facts(design: Design, *, public: bool) -> str:
    """The design's properties as HTML. If ``public``, the store's file or URL is omitted."""
    compiled = design.compiled
    indexes = ", ".join(index.name for index in compiled.table.indexes) or "none"
    entities = ", ".join(entity.name for entity in compiled.entities.values())
    facts = (
        ("Table", design.store.table_name),
        ("Indexes", indexes),
        ("Entities", entities),
        ("Patterns", f"{len(compiled.reads)} reads, {len(compiled.writes)} writes"),
        *(() if public else (("Store", design.store.url),)),
    )
    return "".join(f"<div><dt>{name}</dt><dd>{escape(value)}</dd></div>" for name, value in facts)


def _row(explanation: Explanation) -> str:
    where = f'<span class="index">{escape(explanation.index)}</span>' if explanation.index else ""
    condition = _condition(explanation.key_condition)
    if explanation.kind == "write":
        reads = f"reads {escape(', '.join(explanation.asks))} first" if explanation.asks else "writes without a read"
        condition = f'<span class="quiet">{reads}</span>'
    return (
        f'<tr role="row" class="{explanation.kind}">'
        f'<td role="cell" class="id"><span>{escape(explanation.id)}</span></td>'
        f'<td role="cell" class="question"><a href="#{escape(explanation.pattern)}">'
        f"{_signature(explanation.signature)}</a>"
        f"<p>{escape(_summary(explanation.doc))}</p></td>"
        f'<td role="cell" class="operation"><span>{escape(explanation.operation)}</span>{where}</td>'
        f'<td role="cell" class="condition">{condition}</td></tr>'
    )


def _summary(doc: str) -> str:
    return " ".join(doc.partition("\n\n")[0].split())


def _signature(question: str) -> str:
    """The HTML of a signature, with highlighted names and types, and line breaks only between parameters."""
    name, _, rest = question.partition("(")
    parameters, _, answer = rest.rpartition(") -> ")
    pieces = [*re.split(r", (?=\w+: )", parameters)] if parameters else []
    ends = [*[","] * (len(pieces) - 1), ")"][: len(pieces)]
    shown = " ".join(f"<span>{_typed(text)}{end}</span>" for text, end in zip(pieces, ends, strict=True)) or ")"
    return f"<code><b>{escape(name)}</b>({shown} <span>→ {escape(answer, quote=False)}</span></code>"


def _typed(parameter: str) -> str:
    name, colon, kind = escape(parameter, quote=False).partition(":")
    return f"{name}<em>{colon}{kind}</em>"


def _condition(text: str) -> str:
    """The HTML of a key condition, with one clause per line and highlighted parameters."""
    steps: list[str] = []
    for number, step in enumerate(text.split(" → ")):
        clauses = "".join(f"<span>{_marked(part)}</span>" for part in re.split(r", (?=\S+ [=B]|begins_with)", step))
        then = '<span class="then">then</span>' if number else ""
        steps.append(f"{then}{clauses}")
    return f"<code>{''.join(steps)}</code>"


def _marked(text: str) -> str:
    marked = re.sub(r"\{[^{}]*\}", lambda match: f"<i>{match.group()}</i>", escape(text, quote=False))
    return re.sub(r"([#_,])(?=\S)", r"\1<wbr>", marked)


def _pattern(explanation: Explanation, inputs: str) -> str:
    name = escape(explanation.pattern)
    verb = "GET" if explanation.kind == "read" else "POST"
    limit = explanation.limit
    facts = [
        ("Operation", explanation.operation),
        ("Index", explanation.index),
        ("Key", explanation.key),
        ("Order", explanation.direction),
        ("Consistency", explanation.consistency if explanation.kind == "read" else None),
        ("Filter", explanation.filter),
        ("Limit", None if limit is None else f"{limit} items; one more item is read to detect a next page"),
    ]
    shown = "".join(f"<div><dt>{label}</dt><dd>{escape(text)}</dd></div>" for label, text in facts if text)
    why = "Why a scan is needed" if explanation.operation == "Scan" else "Why no scan is needed"
    why = why if explanation.kind == "read" else "How the write works"
    return f"""<details class="pattern {explanation.kind}" id="{name}">
<summary><span class="id">{escape(explanation.id)}</span><span class="name">{name}</span>
<span class="doc">{escape(_summary(explanation.doc))}</span></summary>
<div class="body">
<form data-pattern="{name}" data-method="{verb}" aria-label="{name}" novalidate>
{inputs or '<p class="quiet">This access pattern has no parameters.</p>'}
<div class="actions"><button type="submit">{"Try it" if explanation.kind == "read" else "Write"}</button>
<code class="line">{verb} /api/{name}</code></div>
</form>
<div class="why">
<h3>{why}</h3>
<p>{escape(explanation.proof)}</p>
<dl class="facts small">{shown}</dl>
</div>
<section class="answer" aria-label="Answer of {name}" aria-live="polite" hidden></section>
<section class="requests" aria-label="Requests of {name}">{_requests(explanation)}</section>
</div>
</details>
"""


def _requests(explanation: Explanation) -> str:
    head = "<h3>The exact request</h3>"
    if not explanation.requests:
        return f'{head}<p class="quiet">{escape(explanation.note or "")}</p>'
    shown = explanation.requests[:2]
    parts = [
        f'<p class="operation">{escape(each.operation)}</p>'
        f'<pre tabindex="0" data-json>{escape(pretty(each.parameters), quote=False)}</pre>'
        for each in shown
    ]
    rest = len(explanation.requests) - len(shown)
    more = f'<p class="quiet">and {rest} similar requests, one per partition</p>' if rest else ""
    heading = head if len(explanation.requests) == 1 else "<h3>The exact requests</h3>"
    return heading + "".join(parts) + more


_LONG_TEXTS = frozenset({"bio", "body", "content", "description", "markdown", "message", "text"})
_BOUND_LABELS = {"ge": "at or after", "gt": "after", "le": "at or before", "lt": "before"}
_NUMBERS = {"integer", "number"}


def fields(pattern: ReadPattern | WritePattern, schemas: Schemas, parameters: Iterable[Parameter] | None = None) -> str:
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
        return f'<textarea {common} data-kind="lines" rows="3" placeholder="1 per line" spellcheck="false"></textarea>'
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
    result = schemas.without_null(schemas.resolved(schema))
    kinds = [value for value in result.get("anyOf", []) if value != {"type": "null"}]
    if kinds and all(kind.get("type") in {"string", *_NUMBERS} for kind in kinds):
        return {"type": "string"}  # for example, a Decimal is a number or a string
    return result


def _skeleton(schema: Schema, schemas: Schemas) -> Any:
    """An initial value for a JSON input, such as an object with its required members."""
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
    needed = "both bounds are required" if parameter.required else "bounds without defaults are required"
    return f": {needed}, at most {BUCKETS_MAX:,} {buckets.unit}s apart"


def _words(parameter: Parameter) -> str:
    return type_name(parameter.annotation).removesuffix(" | None")
