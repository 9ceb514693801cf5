"""The writes about those who sign in, and about what the webhooks are told. Passwords come here hashed."""

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
    """The writes about members and events."""

    @write("W17", attempts=10)
    def join(self, member: Member, password_hash: Hash) -> Writes[Member]:
        """Somebody joins. The first is administrator; others wait until one says what they are.

        Raises ItemExists for an id, UniqueValueTaken for an address that a member has.
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
        """Say what a member may do. The founder stays administrator, so that there is one. Raises Refused."""
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
        """A member leaves: what others see of them and their credential go, and their address is free. Articles stay.

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
        """Keep an event for oneself until a time, to deliver it. Raises ConditionFailed where somebody else has it, or
        it is done.
        """
        taken = yield from Update(event, next_at=until, attempts=event.attempts + 1).only_if(
            state="waiting", attempts=event.attempts
        )
        return taken

    @write("W21")
    def settle_event(self, event: Event, delivered: set[str], told: str | None = None) -> Writes:
        """These webhooks took it, which are all: it waits no longer."""
        yield Update(event, state="delivered", delivered=delivered, told=told).only_if(attempts=event.attempts)

    @write("W22")
    def postpone_event(self, event: Event, next_at: datetime, delivered: set[str], told: str) -> Writes:
        """Some webhook didn't take it: it is tried again at that time."""
        yield Update(event, next_at=next_at, delivered=delivered, told=told[:_OUTCOME_MAX]).only_if(
            attempts=event.attempts
        )

    @write("W23")
    def give_up_event(self, event: Event, delivered: set[str], told: str) -> Writes:
        """Some webhook doesn't take it: it isn't tried any more, and is known to have failed until it expires."""
        yield Update(event, state="failed", delivered=delivered, told=told[:_OUTCOME_MAX]).only_if(
            attempts=event.attempts
        )
