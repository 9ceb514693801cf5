"""The difference of two designs, as data and as a comment on a pull request."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

from keyplan.analysis.diff.changes import Change, Severity
from keyplan.analysis.diff.entity_changes import entity_changes
from keyplan.analysis.diff.pattern_changes import pattern_changes
from keyplan.analysis.diff.table_changes import table_changes
from keyplan.formatting.markdown import cell, code, markdown_table
from keyplan.model.compiled.compiled_design import CompiledDesign

__all__ = ["Difference", "difference"]

HEADINGS = {
    Severity.BREAKING: "breaks deployed data",
    Severity.MIGRATION: "needs work on deployed data",
    Severity.API: "changes what callers see",
    Severity.SAFE: "safe",
}
_COUNTED = {
    Severity.BREAKING: "breaking",
    Severity.MIGRATION: "needing migration",
    Severity.API: "changing the API",
    Severity.SAFE: "safe",
}


@dataclass(frozen=True)
class Difference:
    """All changes, highest severity first. ``old`` and ``new`` are the designs' names."""

    old: str
    new: str
    changes: tuple[Change, ...]

    def of(self, severity: Severity) -> list[Change]:
        """The changes of one severity."""
        return [change for change in self.changes if change.severity is severity]

    def reaches(self, severity: Severity) -> bool:
        """Whether there is a change of this severity or higher."""
        return any(change.severity.rank <= severity.rank for change in self.changes)

    @property
    def summary(self) -> str:
        """The number of changes per severity: ``1 breaking, 2 safe``."""
        counts = Counter(change.severity for change in self.changes)
        return (
            ", ".join(f"{counts[severity]} {text}" for severity, text in _COUNTED.items() if counts[severity])
            or "no changes"
        )

    def as_json(self) -> dict[str, Any]:
        """The difference as JSON data."""
        counts = {severity.value: len(self.of(severity)) for severity in Severity}
        return {
            "old": self.old,
            "new": self.new,
            "counts": counts,
            "changes": [change.as_json() for change in self.changes],
        }

    def markdown(self) -> str:
        """The difference as a comment on a pull request."""
        lines = [f"### {cell(self.new)}: {self.summary}"]
        if self.changes:
            rows = [
                [
                    change.severity.value,
                    code(change.place),
                    cell(change.what),
                    cell(change.effect) or "–",
                    cell(change.action) or "–",
                ]
                for change in self.changes
            ]
            lines += ["", markdown_table(["", "where", "what", "effect", "to do"], rows)]
        return "\n".join(lines) + "\n"


def difference(old: CompiledDesign, new: CompiledDesign) -> Difference:
    """The changes from one design to the other."""
    changes = [*table_changes(old, new), *entity_changes(old, new), *pattern_changes(old, new)]
    return Difference(old.name, new.name, tuple(sorted(changes, key=lambda change: change.severity.rank)))
