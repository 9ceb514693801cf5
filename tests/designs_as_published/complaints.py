# mypy: disable-error-code="empty-body"
"""Complaint management as published in the developer guide: three indexes have multi-attribute keys, and a scan of a
sparse index returns all escalations. Source: "Complaint management system schema design in DynamoDB", and
ComplaintManagementSchema.json of aws-dynamodb-examples.
"""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum

from keyplan import Cursor, Design, Entity, Field, Index, Key, Page, Put, Range, Table, Update, Writes, read, write

BY_CUSTOMER = Index("Customer_complaint_GSI", "customer_id", "complaint_id")
ESCALATIONS = Index("Escalations_GSI", "escalated_to", "escalation_time")
BY_AGENT = Index("Agents_Comments_GSI", "agentID", "comm_date")


class State(StrEnum):
    WAITING = "waiting"
    ASSIGNED = "assigned"
    INVESTIGATING = "investigating"
    RESOLVED = "resolved"


class Complaint(Entity):
    """The metadata of a complaint."""

    complaint_id: str
    customer_id: str
    severity: str
    complaint_description: str
    current_state: State
    creation_time: datetime
    escalated_to: str | None = None
    escalation_time: datetime | None = None

    primary = Key("{complaint_id}", "metadata")
    of_customer = Key("{customer_id}", "{complaint_id}", index=BY_CUSTOMER)
    escalated = Key("{escalated_to}", "{escalation_time}", index=ESCALATIONS)


class Communication(Entity):
    """A message about a complaint."""

    complaint_id: str
    comm_id: str
    comm_date: datetime
    comm_text: str
    complaint_state: State
    attachments: set[str] = Field(default_factory=set)
    agent_id: str | None = Field(alias="agentID", default=None)

    primary = Key("{complaint_id}", "comm#{comm_date}#{comm_id}")
    of_agent = Key("{agent_id}", "{comm_date}", index=BY_AGENT)


class ComplaintManagement(Design):
    """The access patterns with their published numbers."""

    table = Table(
        "Complaint_management_system", partition="PK", sort="SK", indexes=[BY_CUSTOMER, ESCALATIONS, BY_AGENT]
    )

    @write("createComplaint")
    def create_complaint(self, complaint: Complaint) -> Writes:
        yield Put(complaint)

    @write("updateComplaint")
    def update_complaint(self, complaint: Complaint, current_state: State) -> Writes:
        yield Update(complaint, current_state=current_state)

    @write("escalateComplaint")
    def escalate(self, complaint: Complaint, escalated_to: str, escalation_time: datetime) -> Writes:
        yield Update(complaint, escalated_to=escalated_to, escalation_time=escalation_time)

    @write("createCommentByComplaintID")
    def comment(self, communication: Communication) -> Writes:
        yield Put(communication)

    @read("getAllCommentsByComplaintID")
    def comments(self, complaint_id: str, limit: int = 20, cursor: Cursor | None = None) -> Page[Communication]: ...

    @read("getLatestCommentByComplaintID", newest_first=True)
    def latest_comment(self, complaint_id: str) -> Communication | None: ...

    @read("getComplaintbyComplaintID")
    def complaint(self, complaint_id: str) -> Complaint | None: ...

    @read("getAComplaintbyCustomerIDAndComplaintID")
    def complaint_of(self, customer_id: str, complaint_id: str) -> Complaint | None: ...

    @read("getAllComplaintsByCustomerID")
    def complaints(self, customer_id: str) -> list[Complaint]: ...

    @read("getAllEscalatedComplaints", scan_index=ESCALATIONS)
    def escalated(self, limit: int = 20, cursor: Cursor | None = None) -> Page[Complaint]: ...

    @read("getEscalatedComplaintsByAgentID", newest_first=True)
    def escalated_to(self, escalated_to: str, escalation_time: Range[datetime] | None = None) -> list[Complaint]: ...

    @read("getCommentsByAgentID", newest_first=True)
    def comments_of(self, agent_id: str, comm_date: Range[datetime] | None = None) -> list[Communication]: ...
