"""The table of docs/faults.md: ``python -m tests.transports.faults_page`` writes it.

It is what ``test_fault_matrix.py`` holds every call to, cell by cell.
"""

from __future__ import annotations

from pathlib import Path

from tests.transports.calls import CALLS, Call
from tests.transports.faulty import FAULTS, Fault

PAGE = Path(__file__).parents[2] / "docs" / "faults.md"
BEGIN, END = "<!-- faults: begin -->", "<!-- faults: end -->"


def unknown(call: Call, fault: Fault) -> bool:
    """Whether nobody can know what became of it: a lost answer of a write that isn't the same when made twice."""
    return fault.lost and (call.sets == "adds" or (call.sets == "condition" and fault.carried_out))


def table() -> str:
    """Operations down, faults across."""
    names = list(FAULTS)
    lines = ["| | " + " | ".join(names) + " |", "|---|" + "---|" * len(names)]
    for call in CALLS:
        cells = ("unknown" if unknown(call, fault) else "✓" for fault in FAULTS.values())
        lines.append(f"| {call.name} (`{call.operation}`) | {' | '.join(cells)} |")
    meanings = [f"- **{fault.name}**: {fault.shows}." for fault in FAULTS.values()]
    return "\n".join([*lines, "", *meanings])


def with_table(page: str) -> str:
    """The page with the table as it is now."""
    head, _, rest = page.partition(BEGIN)
    return f"{head}{BEGIN}\n\n{table()}\n\n{END}{rest.partition(END)[2]}"


if __name__ == "__main__":
    PAGE.write_text(with_table(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
