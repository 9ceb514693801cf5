"""The page of a design, as one HTML text: what it is, its access patterns, and a form to try each.

It needs nothing but itself and ``static/``. The forms' fields are made in ``forms.py``.
"""

from __future__ import annotations

import re
from html import escape

from keyplan._version import __version__
from keyplan.analysis.explain.explanation import Explanation, explain
from keyplan.formatting.results import pretty
from keyplan.session.design import Design
from keyplan.web.forms import fields
from keyplan.web.policy import Offer, Policy
from keyplan.web.schemas import Schemas

__all__ = ["page"]


def page(design: Design, policy: Policy | None = None) -> str:
    """The whole page: of the patterns that the policy offers, or of all."""
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
<th role="columnheader" scope="col">Id</th><th role="columnheader" scope="col">Question</th>
<th role="columnheader" scope="col">Operation</th><th role="columnheader" scope="col">Key condition</th>
</tr></thead>
<tbody role="rowgroup">{rows}</tbody>
</table>
</div>
</section>
<section aria-labelledby="try">
<h2 id="try">Try them</h2>
<p class="note">Each form is made from its pattern's signature. The answer is the REST API's; beside it stands what was
asked of DynamoDB.</p>
{tries}
</section>
</main>
<footer class="wide"><p>Made from the design's signatures by Keyplan {escape(__version__)} ·
<a href="openapi.json">OpenAPI 3.1</a></p></footer>
</body>
</html>
"""


def _more(text: str) -> str:
    paragraphs = (" ".join(part.split()) for part in text.split("\n\n"))
    return "".join(f'<p class="more">{escape(paragraph)}</p>' for paragraph in paragraphs if paragraph)


def _form_token(policy: Policy | None) -> str:
    """Where the page finds the form token that writes need: the cookie that the policy names."""
    schemes = () if policy is None else policy.security.values()
    name = next((scheme["x-form-token-cookie"] for scheme in schemes if "x-form-token-cookie" in scheme), None)
    return "" if name is None else f' data-form-token="{escape(str(name))}"'


def _facts(design: Design, *, public: bool) -> str:
    """What the design is. ``public``: others look at it, who are told no file or address of the store."""
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
    condition = _condition(explanation.key_condition) if explanation.kind == "read" else _asks(explanation)
    return (
        f'<tr role="row" class="{explanation.kind}">'
        f'<td role="cell" class="id"><span>{escape(explanation.id)}</span></td>'
        f'<td role="cell" class="question"><a href="#{escape(explanation.pattern)}">'
        f"{_signature(explanation.question)}</a>"
        f"<p>{escape(_summary(explanation.doc))}</p></td>"
        f'<td role="cell" class="operation"><span>{escape(explanation.operation)}</span>{where}</td>'
        f'<td role="cell" class="condition">{condition}</td></tr>'
    )


def _asks(explanation: Explanation) -> str:
    if not explanation.asks:
        return '<span class="quiet">writes without reading</span>'
    return f'<span class="quiet">asks {escape(", ".join(explanation.asks))} first</span>'


def _summary(doc: str) -> str:
    return " ".join(doc.partition("\n\n")[0].split())


def _signature(question: str) -> str:
    """``name(parameters) -> answer`` with its parts marked; lines break between parameters."""
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
    """The key condition, one clause a line, its parameters marked."""
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
    facts = [
        ("Operation", explanation.operation),
        ("Index", explanation.index),
        ("Key", explanation.key or None),
        ("Order", explanation.direction),
    ]
    limit = (
        None
        if explanation.limit is None
        else f"{explanation.limit} items; one more is asked for, to know whether any follow"
    )
    facts += [
        ("Consistency", explanation.consistency if explanation.kind == "read" else None),
        ("Filter", explanation.filter),
        ("Limit", limit),
    ]
    shown = "".join(f"<div><dt>{label}</dt><dd>{escape(text)}</dd></div>" for label, text in facts if text)
    return f"""<details class="pattern {explanation.kind}" id="{name}">
<summary><span class="id">{escape(explanation.id)}</span><span class="name">{name}</span>
<span class="doc">{escape(_summary(explanation.doc))}</span></summary>
<div class="body">
<form data-pattern="{name}" data-method="{verb}" aria-label="{name}" novalidate>
{inputs or '<p class="quiet">It takes no parameters.</p>'}
<div class="actions"><button type="submit">{"Try it" if explanation.kind == "read" else "Write it"}</button>
<code class="line">{verb} /api/{name}</code></div>
</form>
<div class="why">
<h3>{_why(explanation)}</h3>
<p>{escape(explanation.proof)}</p>
<dl class="facts small">{shown}</dl>
</div>
<section class="answer" aria-label="Answer of {name}" aria-live="polite" hidden></section>
<section class="requests" aria-label="Requests of {name}">{_requests(explanation)}</section>
</div>
</details>
"""


def _why(explanation: Explanation) -> str:
    if explanation.kind == "write":
        return "How it is written"
    return "Why it scans" if explanation.operation == "Scan" else "Why it needs no scan"


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
    more = f'<p class="quiet">and {rest} more like it, one a partition</p>' if rest else ""
    heading = head if len(explanation.requests) == 1 else "<h3>The exact requests</h3>"
    return heading + "".join(parts) + more
