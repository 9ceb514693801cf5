"""``python -m tests.transports.faults_page`` writes the table of docs/faults.md.

``test_fault_matrix.py`` checks each cell of the table.
"""

from __future__ import annotations

from pathlib import Path

from tests.transports.calls import CALLS, Call
from tests.transports.faulty import FAULTS, Fault

PAGE = Path(__file__).parents[2] / "docs" / "faults.md"
BEGIN, END = "<!-- faults: begin -->", "<!-- faults: end -->"


def unknown(call: Call, fault: Fault) -> bool:
    """Return whether the outcome is unknown: the response is lost, and there is no retry or its condition fails."""
    return fault.lost and (call.sets == "adds" or (call.sets == "condition" and fault.carried_out))


def table() -> str:
    """Return the table, which has a row per operation and a column per fault."""
    names = list(FAULTS)
    lines = ["| | " + " | ".join(names) + " |", "|---|" + "---|" * len(names)]
    for call in CALLS:
        cells = ("unknown" if unknown(call, fault) else "✓" for fault in FAULTS.values())
        lines.append(f"| {call.name} (`{call.operation}`) | {' | '.join(cells)} |")
    meanings = [f"- **{fault.name}**: {fault.shows}." for fault in FAULTS.values()]
    return "\n".join([*lines, "", *meanings])


def with_table(page: str) -> str:
    """Return the text of the page with the current table."""
    head, _, rest = page.partition(BEGIN)
    return f"{head}{BEGIN}\n\n{table()}\n\n{END}{rest.partition(END)[2]}"


if __name__ == "__main__":
    PAGE.write_text(with_table(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
