"""Import errors grouped by kind: one line per kind, for any number of files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from keyplan.errors import ErrorDetail
from keyplan.systems import LoadReport

NAMES_SHOWN = 8


@dataclass
class _Group:
    place: str
    """The first file."""
    hint: str
    files: int = 0
    names: Counter[str] = field(default_factory=Counter[str])


class GroupedFaults:
    """Changed or rejected content of an import, by kind."""

    def __init__(self) -> None:
        self._groups: dict[str, _Group] = {}

    def add(self, kind: str, place: str, names: Mapping[str, int], hint: str) -> None:
        """Count the occurrences in one file, by name."""
        if not names:
            return
        group = self._groups.setdefault(kind, _Group(place, hint))
        group.files += 1
        group.names.update(names)

    def report_to(self, report: LoadReport) -> None:
        """Add one error per kind to the report: total, number of files, and the most frequent names."""
        for kind, group in sorted(self._groups.items(), key=lambda entry: -entry[1].names.total()):
            shown = ", ".join(
                name if count == 1 else f"{name} ×{count:,}" for name, count in group.names.most_common(NAMES_SHOWN)
            )
            more = len(group.names) - NAMES_SHOWN
            shown += f", and {more:,} more" if more > 0 else ""
            files = f"in {group.files:,} files, first in {group.place}" if group.files > 1 else f"in {group.place}"
            report.fault(ErrorDetail(group.place, f"{kind}: {group.names.total():,} {files} ({shown})", group.hint))
