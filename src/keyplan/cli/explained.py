"""The results of ``keyplan explain`` (explanations and the cost of a typical call), as JSON and as Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from keyplan.analysis.cost.estimate import PatternEstimate, estimate, estimate_pattern
from keyplan.analysis.explain.explanation import Explanation, explain, explain_all
from keyplan.formats.markdown import Row, pattern_table
from keyplan.formatting.markdown import cell, code, markdown_table
from keyplan.formatting.results import pretty
from keyplan.session.design import Design


@dataclass(frozen=True)
class Explained:
    """The explanation of an access pattern, and the cost estimate of a call with one page of items of assumed sizes."""

    explanation: Explanation
    estimate: PatternEstimate

    @property
    def takes(self) -> str:
        """The cost of a typical call, such as ``1 request, 0.5 read units``."""
        if self.estimate.failure is not None:
            return f"unknown: {self.estimate.failure}"
        count = len(self.estimate.requests)
        parts = [f"{count} request{'' if count == 1 else 's'}"]
        for units, name in ((self.estimate.read_units, "read"), (self.estimate.write_units, "write")):
            if units:
                parts.append(f"{units:g} {name} unit{'' if units == 1 else 's'}")
        return ", ".join(parts)

    @property
    def arithmetic(self) -> list[str]:
        return [
            f"{request.operation}{f' on {line.target}' if line.target else ''}: {line.why}"
            for request in self.estimate.requests
            for line in request.lines
        ]

    def as_json(self) -> dict[str, Any]:
        takes: dict[str, Any] = {"failure": self.estimate.failure}
        if self.estimate.failure is None:
            takes = {
                "requests": len(self.estimate.requests),
                "read_units": self.estimate.read_units,
                "write_units": self.estimate.write_units,
                "arithmetic": self.arithmetic,
                "notes": list(self.estimate.notes),
            }
        return {**self.explanation.as_json(), "takes": takes}


def explained(design: type[Design], pattern: str, arguments: dict[str, Any] | None = None) -> Explained:
    return Explained(explain(design, pattern, arguments), estimate_pattern(design, pattern, arguments=arguments))


def explained_all(design: type[Design]) -> list[Explained]:
    estimates = {pattern.name: pattern for pattern in estimate(design).patterns}
    return [Explained(explanation, estimates[explanation.pattern]) for explanation in explain_all(design)]


# Markdown


def design_markdown(result: Iterable[Explained]) -> str:
    return pattern_table(map(row_of, result)) + "\n"


def row_of(element: Explained) -> Row:
    explanation = element.explanation
    conditions = tuple(filter(None, explanation.key_condition.split(" → ")))
    return Row(
        explanation.id, explanation.signature, explanation.operation, explanation.index, conditions, takes=element.takes
    )


def pattern_markdown(result: Explained) -> str:
    return "\n".join(_section(result)) + "\n"


def _section(result: Explained) -> Iterator[str]:
    explanation = result.explanation
    yield f"### {cell(explanation.id)} {code(explanation.signature)}"
    for text in filter(None, (explanation.doc, explanation.proof, explanation.note)):
        yield from ("", text)
    facts = [
        ("operation", explanation.operation),
        ("on", code(explanation.index) if explanation.index else "the table"),
        ("key", code(explanation.key) if explanation.key else ""),
        ("condition", "<br>".join(code(step) for step in explanation.key_condition.split(" → ") if step)),
        ("filter", code(explanation.filter) if explanation.filter else ""),
        ("order", explanation.direction or ""),
        ("reads first", ", ".join(code(name) for name in explanation.asks)),
        ("cost of a typical call", result.takes),
        ("calculation", "<br>".join(map(cell, result.arithmetic))),
    ]
    yield from ("", markdown_table(["", ""], ([name, text] for name, text in facts if text)))
    if explanation.others:
        rows = ([code(other.key), cell(other.place), cell(other.reason)] for other in explanation.others)
        yield from ("", markdown_table(["another key", "on", "why not"], rows))
    for request in explanation.requests:
        yield from ("", f"{request.operation}:", "", "```json", pretty(request.parameters), "```")
