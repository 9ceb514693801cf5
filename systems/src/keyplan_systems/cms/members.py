"""Writes of members and events. Passwords are hashed before."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from pydantic import Field

from keyplan import Create, Delete, Example, Update, Writes, write
from keyplan.errors import ItemNotFound, Refused
from keyplan_systems.cms.entities import Credential, Event, Founded, Id, Member, Role
from keyplan_systems.cms.publishing import PublishingWrites

__all__ = ["MemberWrites"]

Hash = Annotated[str, Field(min_length=1, max_length=500)]
_OUTCOME_MAX = 500


class MemberWrites(PublishingWrites):
    """Writes of members and events."""

    @write("W17", attempts=10)
    def join(self, member: Member, password_hash: Hash) -> Writes[Member]:
        """Join. The first member is administrator; others wait for a role.

        Raises ItemExists for a taken id, UniqueValueTaken for a taken address.
        """
        founded = yield from self.founded.read("cms")
        role: Role = "admin" if founded is None else "none"
        joined = member.model_copy(update={"role": role})
        yield Create(joined)
        yield Create(Credential(member_id=joined.member_id, password_hash=password_hash))
        if founded is None:
            yield Create(Founded(member_id=joined.member_id))
        return joined

    @write("W18", attempts=10)
    def set_role(self, member_id: Id, role: Role) -> Writes[Member]:
        """Set a member's role. The founder stays administrator. Raises Refused."""
        founded = yield from self.founded.read("cms")
        if founded is not None and founded.member_id == member_id and role != "admin":
            raise Refused("who founded the CMS stays administrator", place="Cms.set_role")
        member = yield from Update(Member, member_id=member_id).set(role=role)
        return member

    @write("W19")
    def set_password(self, member_id: Id, old_hash: Hash, password_hash: Hash) -> Writes:
        """Replace a password. Raises ConditionFailed if the stored hash isn't ``old_hash``."""
        yield Update(Credential, member_id=member_id).set(password_hash=password_hash).only_if(password_hash=old_hash)

    @write("W24", attempts=10, example=Example().missing("founded"))
    def leave(self, member_id: Id) -> Writes:
        """Delete a member's public data and credential; the address becomes free. Articles stay.

        Raises ItemNotFound; Refused for the founder.
        """
        member = yield from self.member.read(member_id)
        if member is None:
            raise ItemNotFound(f"there is no member {member_id!r}", place="Cms.leave")
        founded = yield from self.founded.read("cms")
        if founded is not None and founded.member_id == member_id:
            raise Refused("who founded the CMS stays its administrator", place="Cms.leave")
        yield Delete(member)
        yield Delete(Credential, member_id=member_id)

    # Events

    @write("W20")
    def take_event(self, event: Event, until: datetime) -> Writes[Event]:
        """Lease an event until a time, to deliver it. Raises ConditionFailed if another process holds it, or it is
        done.
        """
        taken = yield from Update(event, next_at=until, attempts=event.attempts + 1).only_if(
            state="waiting", attempts=event.attempts
        )
        return taken

    @write("W21")
    def settle_event(self, event: Event, delivered: set[str], told: str | None = None) -> Writes:
        """Complete an event that all webhooks accepted."""
        yield Update(event, state="delivered", delivered=delivered, told=told).only_if(attempts=event.attempts)

    @write("W22")
    def postpone_event(self, event: Event, next_at: datetime, delivered: set[str], told: str) -> Writes:
        """Reschedule an event that some webhook didn't accept."""
        yield Update(event, next_at=next_at, delivered=delivered, told=told[:_OUTCOME_MAX]).only_if(
            attempts=event.attempts
        )

    @write("W23")
    def give_up_event(self, event: Event, delivered: set[str], told: str) -> Writes:
        """Give up an event: it is marked as failed until it expires."""
        yield Update(event, state="failed", delivered=delivered, told=told[:_OUTCOME_MAX]).only_if(
            attempts=event.attempts
        )
