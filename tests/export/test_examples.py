# mypy: disable-error-code="empty-body"
"""Each export format has a recorded example, which ``python -m tests.export.test_examples`` writes."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import pytest
from click.testing import CliRunner

from keyplan import Create, Cursor, Design, Entity, Index, Key, Page, Table, Ttl, Unique, Update, Writes, read, write
from keyplan.cli.group import cli
from keyplan.formats.registry import FORMATS

FOLDER = Path(__file__).parent / "examples"
ENDINGS = {"cloudformation": "yaml", "terraform": "tf", "markdown": "md", "mermaid": "mmd"}
BY_STATE = Index("BY_STATE", "state_pk", "state_sk")


class Ticket(Entity):
    """A request of a customer."""

    ticket_id: str
    customer: str
    state: Literal["open", "closed"] = "open"
    expires_at: Ttl | None = None

    primary = Key("CUSTOMER#{customer}", "TICKET#{ticket_id}")
    open_tickets = Key("OPEN", "{ticket_id}", index=BY_STATE, when={"state": "open"})
    once = Unique("TICKET#{ticket_id}", "CLAIM")


class Helpdesk(Design):
    """Tickets by customer, and open tickets."""

    table = Table("helpdesk", indexes=[BY_STATE])

    @read("T1")
    def ticket(self, customer: str, ticket_id: str) -> Ticket | None: ...

    @read("T2", newest_first=True, where={"state": "open"})
    def open_tickets(self, limit: int = 20, cursor: Cursor | None = None) -> Page[Ticket]: ...

    @write("T3")
    def add(self, ticket: Ticket) -> Writes:
        yield Create(ticket)

    @write("T4")
    def close_ticket(self, ticket: Ticket) -> Writes:
        yield Update(ticket, state="closed")


def _written(name: str) -> str:
    result = CliRunner().invoke(
        cli, ["export", "tests.export.test_examples:Helpdesk", "--to", name], prog_name="keyplan"
    )
    assert result.exit_code == 0, result.output
    return "".join(line for line in result.stdout.splitlines(keepends=True) if '"Date' not in line)


def _example(name: str) -> Path:
    return FOLDER / f"{name}.{ENDINGS.get(name, 'json')}"


@pytest.mark.parametrize("name", FORMATS)
def test_exports_match_the_recorded_examples(name: str) -> None:
    assert _written(name).splitlines() == _example(name).read_text(encoding="utf-8").splitlines()


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for each in FORMATS:
        _example(each).write_text(_written(each), encoding="utf-8")
