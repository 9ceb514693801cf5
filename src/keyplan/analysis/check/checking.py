"""Check a design: run every rule, locate each finding in the source, and mark ignored findings."""

from __future__ import annotations

import inspect
import traceback
from pathlib import Path
from typing import Any

from keyplan.analysis.check.check_subject import Subject
from keyplan.analysis.check.findings import Finding, Remark, Report, Source
from keyplan.analysis.check.rule import Rule
from keyplan.analysis.check.rules import RULES, does_not_compile
from keyplan.analysis.cost.write_costs import with_counts
from keyplan.analysis.traffic.traffic_file import Traffic, traffic_of
from keyplan.analysis.write_analysis.sources import Sources, unwrapped
from keyplan.errors import DesignError
from keyplan.model.compiled.compiled_design import CompiledDesign

_OWN = str(Path(__file__).parent.parent.parent)


def check(design: CompiledDesign | type[Any], traffic: Traffic | None = None) -> Report:
    """Check a design's class, or a compiled design, and return a report with the most severe findings first.

    ``traffic``: the expected load (:func:`keyplan.analysis.traffic.traffic_file.read_traffic`), by default the load in
    the decorators. Findings of a compiled design have no location in the source.
    """
    owner = None if isinstance(design, CompiledDesign) else design
    compiled: CompiledDesign = design if isinstance(design, CompiledDesign) else design.compiled
    subject = Subject(compiled, with_counts(compiled, owner, traffic or traffic_of(compiled)), owner)
    findings: list[Finding] = []
    for rule in RULES:
        for remark in rule.find(subject):
            subject.found.append((rule.code, remark.place))
            findings.append(_finding(rule, remark, _source(subject, remark), _reason(subject, rule, remark)))
    return Report(
        design=compiled.name,
        findings=_sorted(findings),
        rules=len(RULES),
        traffic=subject.traffic.known,
        patterns=len(compiled.patterns),
    )


def refused(error: DesignError) -> Report:
    sources = Sources()
    at = _raised_at(error)
    findings = [
        _finding(does_not_compile.RULE, remark, sources.named(at.file, remark.place) if at else None, None, at)
        for remark in does_not_compile.remarks(error)
    ]
    return Report(error.place or "the design", _sorted(findings), rules=1, traffic=False)


def _finding(
    rule: Rule, remark: Remark, source: Source | None, reason: str | None, fallback: Source | None = None
) -> Finding:
    severity = rule.severity if remark.severity is None else remark.severity
    place, message, hint, arithmetic = remark.place, remark.message, remark.hint, remark.arithmetic
    source = source or fallback
    return Finding(rule.code, rule.name, severity, place, message, hint, arithmetic, source, reason)


def _sorted(findings: list[Finding]) -> tuple[Finding, ...]:
    return tuple(sorted(findings, key=lambda finding: (-finding.severity, finding.code, finding.place)))


def _reason(subject: Subject, rule: Rule, remark: Remark) -> str | None:
    """Return the reason in ``ignore=`` for a finding, or None. Findings about ``ignore=`` can't be ignored."""
    if rule.code.startswith("KP9"):
        return None
    view = subject.design.ignore.items()
    reasons = [reason for text, reason in view if subject.silences(text, rule.code, remark.place) and reason.strip()]
    return reasons[0] if reasons else None


def _source(subject: Subject, remark: Remark) -> Source | None:
    place = remark.place
    head, _, member = place.partition(".")
    entity = subject.design.by_name.get(head)
    if entity is not None:
        return subject.sources.of_class(entity.cls, member or None)
    owner = subject.owner
    if owner is None:
        return None
    code = unwrapped(getattr(inspect.getattr_static(owner, member, None), "function", None))
    if code is not None:
        return subject.sources.of_function(code, remark.line)
    return subject.sources.of_class(owner, member if head == owner.__name__ else "table")


def _raised_at(error: DesignError) -> Source | None:
    """Return the location in the user's code where the design is defined."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if not frame.filename.startswith((_OWN, "<"))]
    return Source(own[-1].filename, own[-1].lineno) if own and own[-1].lineno else None
