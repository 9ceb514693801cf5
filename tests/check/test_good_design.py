# mypy: disable-error-code="empty-body"
"""A correct design of 30 access patterns has at most two findings."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

from pydantic import Field as Bound
from pydantic import StringConstraints

from keyplan import (
    Add,
    Create,
    Cursor,
    Delete,
    Design,
    Entity,
    Field,
    Index,
    Key,
    Page,
    Range,
    Table,
    Ttl,
    Unique,
    Update,
    Version,
    Writes,
    now,
    read,
    ulid,
    write,
)
from keyplan.analysis.check import Severity, check

G1 = Index("GSI1", "gsi1pk", "gsi1sk")
G2 = Index("GSI2", "gsi2pk", "gsi2sk")
Email = Annotated[str, StringConstraints(to_lower=True, max_length=200)]
Text = Annotated[str, StringConstraints(max_length=2000)]
Count = Annotated[int, Bound(ge=0)]


class Company(Entity):
    tenant_id: str = Field(default_factory=ulid)
    name: Text
    open_tickets: Count = 0
    primary = Key("TENANT#{tenant_id}", "COMPANY")


class Agent(Entity):
    tenant_id: str
    agent_id: str = Field(default_factory=ulid)
    email: Email
    name: Text
    role: Literal["agent", "lead", "admin"] = "agent"
    version: Version = 0
    primary = Key("TENANT#{tenant_id}", "AGENT#{agent_id}")
    one_email = Unique("EMAIL#{email}")


class Ticket(Entity):
    """A customer request."""

    tenant_id: str
    ticket_id: str = Field(default_factory=ulid)
    customer_id: str
    agent_id: str | None = None
    subject: Text
    status: Literal["open", "pending", "solved"] = "open"
    created_at: datetime = Field(default_factory=now)
    version: Version = 0
    primary = Key("TICKET#{tenant_id}#{ticket_id}", "HEAD")
    of_customer = Key("CUSTOMER#{tenant_id}#{customer_id}", "TICKET#{created_at}#{ticket_id}", index=G1)
    of_agent = Key("AGENT#{tenant_id}#{agent_id}", "{status}#{created_at}#{ticket_id}", index=G2)


class Message(Entity):
    tenant_id: str
    ticket_id: str
    message_id: str = Field(default_factory=ulid)
    author: str
    text: Text
    primary = Key("TICKET#{tenant_id}#{ticket_id}", "MESSAGE#{message_id}")


class Label(Entity):
    tenant_id: str
    ticket_id: str
    label: Annotated[str, StringConstraints(to_lower=True, max_length=40)]
    primary = Key("TICKET#{tenant_id}#{ticket_id}", "LABEL#{label}")
    with_label = Key("LABEL#{tenant_id}#{label}", "TICKET#{ticket_id}", index=G1)


class Customer(Entity):
    tenant_id: str
    customer_id: str = Field(default_factory=ulid)
    name: Text
    email: Email
    credit: Count = 0
    primary = Key("CUSTOMER#{tenant_id}#{customer_id}", "HEAD")
    one_email = Unique("CUSTOMER_EMAIL#{tenant_id}#{email}")


class Note(Entity):
    tenant_id: str
    customer_id: str
    note_id: str = Field(default_factory=ulid)
    text: Text
    primary = Key("CUSTOMER#{tenant_id}#{customer_id}", "NOTE#{note_id}")


class Login(Entity):
    token_hash: str
    tenant_id: str
    agent_id: str
    expires: Ttl
    primary = Key("LOGIN#{token_hash}", "HEAD")


class HelpDesk(Design):
    """A design with tickets, messages, labels, customers and agents of several tenants."""

    table = Table("help-desk", indexes=[G1, G2])

    @read("R01")
    def company(self, tenant_id: str) -> Company | None: ...

    @read("R02")
    def agent(self, tenant_id: str, agent_id: str) -> Agent | None: ...

    @read("R03")
    def agent_by_email(self, email: Email) -> Agent | None: ...

    @read("R04")
    def agents(self, tenant_id: str, limit: int = 50, cursor: Cursor | None = None) -> Page[Agent]: ...

    @read("R05", consistent=True)
    def ticket(self, tenant_id: str, ticket_id: str) -> Ticket | None: ...

    @read("R06")
    def messages(
        self, tenant_id: str, ticket_id: str, limit: int = 50, cursor: Cursor | None = None
    ) -> Page[Message]: ...

    @read("R07")
    def labels(self, tenant_id: str, ticket_id: str, limit: int = 20) -> list[Label]: ...

    @read("R08", newest_first=True)
    def tickets_of_customer(
        self, tenant_id: str, customer_id: str, limit: int = 20, cursor: Cursor | None = None
    ) -> Page[Ticket]: ...

    @read("R09", newest_first=True)
    def tickets_between(
        self,
        tenant_id: str,
        customer_id: str,
        created_at: Range[datetime],
        limit: int = 20,
        cursor: Cursor | None = None,
    ) -> Page[Ticket]: ...

    @read("R10")
    def tickets_of_agent(
        self,
        tenant_id: str,
        agent_id: str,
        status: Literal["open", "pending", "solved"],
        limit: int = 20,
        cursor: Cursor | None = None,
    ) -> Page[Ticket]: ...

    @read("R11", newest_first=True)
    def tickets_with_label(
        self, tenant_id: str, label: str, limit: int = 20, cursor: Cursor | None = None
    ) -> Page[Label]: ...

    @read("R12")
    def customer(self, tenant_id: str, customer_id: str) -> Customer | None: ...

    @read("R13")
    def customer_by_email(self, tenant_id: str, email: Email) -> Customer | None: ...

    @read("R14", newest_first=True)
    def notes(self, tenant_id: str, customer_id: str, limit: int = 20, cursor: Cursor | None = None) -> Page[Note]: ...

    @read("R15", where="expires > :at")
    def login(self, token_hash: str, at: datetime) -> Login | None: ...

    @write("W01")
    def found(self, name: str, email: Email, admin: str) -> Writes[Company]:
        company = Company(name=name)
        yield Create(company)
        yield Create(Agent(tenant_id=company.tenant_id, email=email, name=admin, role="admin"))
        return company

    @write("W02")
    def hire(self, tenant_id: str, email: Email, name: str) -> Writes[Agent]:
        agent = Agent(tenant_id=tenant_id, email=email, name=name)
        yield Create(agent)
        return agent

    @write("W03")
    def promote(self, agent: Agent) -> Writes:
        yield Update(agent, role="lead").only_if(role="agent")

    @write("W04")
    def dismiss(self, agent: Agent) -> Writes:
        yield Delete(agent)

    @write("W05")
    def sign_in(self, token_hash: str, tenant_id: str, agent_id: str, expires: datetime) -> Writes:
        yield Create(Login(token_hash=token_hash, tenant_id=tenant_id, agent_id=agent_id, expires=expires))

    @write("W06")
    def sign_out(self, token_hash: str) -> Writes:
        yield Delete(Login, token_hash=token_hash)

    @write("W07")
    def register(self, tenant_id: str, name: str, email: Email) -> Writes[Customer]:
        customer = Customer(tenant_id=tenant_id, name=name, email=email)
        yield Create(customer)
        return customer

    @write("W08")
    def ask(self, tenant_id: str, customer_id: str, subject: str, text: str) -> Writes[Ticket]:
        ticket = Ticket(tenant_id=tenant_id, customer_id=customer_id, subject=subject)
        yield Create(ticket)
        yield Create(Message(tenant_id=tenant_id, ticket_id=ticket.ticket_id, author=customer_id, text=text))
        yield Update(Company, tenant_id=tenant_id).set(open_tickets=Add(1))
        return ticket

    @write("W09")
    def answer(self, ticket: Ticket, author: str, text: str) -> Writes:
        message = Message(tenant_id=ticket.tenant_id, ticket_id=ticket.ticket_id, author=author, text=text)
        yield Create(message)
        yield Update(ticket, status="pending").only_if(status=ticket.status)

    @write("W10")
    def assign(self, ticket: Ticket, agent_id: str) -> Writes:
        yield Update(ticket, agent_id=agent_id)

    @write("W11")
    def solve(self, ticket: Ticket) -> Writes:
        yield Update(ticket, status="solved").only_if(status="pending")
        yield Update(Company, tenant_id=ticket.tenant_id).set(open_tickets=Add(-1))

    @write("W12")
    def attach(self, tenant_id: str, ticket_id: str, label: str) -> Writes:
        yield Create(Label(tenant_id=tenant_id, ticket_id=ticket_id, label=label))

    @write("W13")
    def detach(self, tenant_id: str, ticket_id: str, label: str) -> Writes:
        yield Delete(Label, tenant_id=tenant_id, ticket_id=ticket_id, label=label)

    @write("W14")
    def note(self, tenant_id: str, customer_id: str, text: str) -> Writes:
        yield Create(Note(tenant_id=tenant_id, customer_id=customer_id, text=text))

    @write("W15")
    def credit(self, tenant_id: str, customer_id: str, amount: int) -> Writes:
        yield Update(Customer, tenant_id=tenant_id, customer_id=customer_id).set(credit=Add(amount))


def test_a_correct_design_has_at_most_two_findings() -> None:
    report = check(HelpDesk)
    assert report.patterns == 30
    assert len(report.findings) <= 2, report.findings
    assert {finding.severity for finding in report.findings} <= {Severity.INFO}
