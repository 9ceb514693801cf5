"""Generated parts of docs/rules/: the manuals of rules, the findings of examples, and the list of rules.

``python -m tests.check.made_pages`` writes these parts, and a test compares them. Handwritten text is kept.
"""

from __future__ import annotations

import re
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from keyplan.analysis.check.checking import check, refused
from keyplan.analysis.check.findings import Finding, Report, Severity
from keyplan.analysis.check.rule import Rule
from keyplan.analysis.check.rules import RULES
from keyplan.analysis.traffic.traffic_file import read_traffic
from keyplan.cli.designs import find
from keyplan.errors import DesignError
from tests.repository.examples import Block, blocks_of
from tests.repository.files import ROOT

FOLDER = ROOT / "docs" / "rules"
INDEX = FOLDER / "README.md"
GROUPS = {
    "KP1": "Validity: designs that DynamoDB or Keyplan rejects",
    "KP2": "Keys",
    "KP3": "Patterns and writes",
    "KP4": "Indexes",
    "KP5": "Cost and throughput",
    "KP6": "Operations",
    "KP9": "Ignore list",
}
_WORDS = {Severity.ERROR: "Error", Severity.WARNING: "Warning", Severity.INFO: "Info"}


@dataclass(frozen=True)
class Example:
    """The design in an example of a rule's page, and the example's traffic file."""

    code: str
    traffic: str | None

    def report(self, folder: Path) -> Report:
        """Check the design of the example in a given empty folder."""
        path = folder / "example.py"
        path.write_text(self.code, encoding="utf-8")
        try:
            design = find(str(path)).design
        except DesignError as error:
            return refused(error)
        if self.traffic is None:
            return check(design)
        rates = folder / "traffic.toml"
        rates.write_text(self.traffic, encoding="utf-8")
        return check(design, read_traffic(rates, design.compiled))


def page_of(rule: Rule) -> Path:
    return FOLDER / rule.page


def examples(rule: Rule) -> dict[str, Example]:
    """The incorrect and the correct example of a rule's page."""
    blocks = blocks_of(page_of(rule))
    result: dict[str, Example] = {}
    for position, block in enumerate(blocks):
        kind = next((word for word in ("wrong", "right") if word in block.words), None)
        if kind is not None and block.language in {"python", "py"}:
            result[kind] = Example(block.text, _traffic(blocks, position))
    return result


def _traffic(blocks: list[Block], position: int) -> str | None:
    following = blocks[position + 1] if position + 1 < len(blocks) else None
    return following.text if following is not None and following.language == "toml" and following.follows else None


def finding_text(finding: Finding) -> str:
    lines = [str(finding), *(f"  {line}" for line in finding.arithmetic), f"  → {finding.hint}"]
    return "\n".join(lines)


def manual(rule: Rule) -> str:
    text = rule.manual.replace("``", "`")
    entry = f"its code and place (`{rule.code} Place.member`) with a reason"
    how = f"To ignore a finding, add {entry} to [`ignore=`](README.md#ignoring-findings) of the design."
    if rule.code in {"KP100", "KP901", "KP902"}:
        how = "You can't ignore this finding."
    return f"*{_WORDS[rule.severity]}.* {rule.title}.\n\n{text}\n\n{how}"


def rule_table() -> str:
    """A Markdown table of the rules for each group."""
    parts: list[str] = []
    for start, title in GROUPS.items():
        lines = [f"### {title}", "", "| Code | Name | Severity | Reports |", "|---|---|---|---|"]
        for rule in RULES:
            if rule.code.startswith(start):
                link = f"[{rule.code}]({rule.page})"
                lines.append(f"| {link} | {rule.name} | {rule.severity} | {rule.title} |")
        parts.append("\n".join(lines))
    return "\n\n".join(parts)


def made_page(rule: Rule) -> str:
    text = page_of(rule).read_text(encoding="utf-8")
    text = re.sub(r"\A# [^\n]*", lambda _: f"# {rule.code} {rule.name}", text)
    text = _between(text, "rule", manual(rule))
    with tempfile.TemporaryDirectory() as folder:
        report = examples(rule)["wrong"].report(Path(folder))
    shown = "\n".join(finding_text(finding) for finding in report.findings if finding.code == rule.code)
    return _between(text, "finding", f"```text\n{shown}\n```")


def made_index() -> str:
    return _between(INDEX.read_text(encoding="utf-8"), "rules", rule_table())


def _between(text: str, name: str, made: str) -> str:
    begin, end = f"<!-- {name}: begin -->", f"<!-- {name}: end -->"
    head, _, rest = text.partition(begin)
    return f"{head}{begin}\n\n{made}\n\n{end}{rest.partition(end)[2]}"


if __name__ == "__main__":
    for one in RULES:
        page_of(one).write_text(made_page(one), encoding="utf-8")
    INDEX.write_text(made_index(), encoding="utf-8")
    sys.exit(0)
