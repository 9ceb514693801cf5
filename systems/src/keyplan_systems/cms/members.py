"""Writes of members. Passwords are already hashed."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from keyplan import Create, Update, Writes, write
from keyplan.errors import Refused
from keyplan_systems.cms.entities import Credential, Founded, Id, Member, Role
from keyplan_systems.cms.publishing import PublishingWrites

Hash = Annotated[str, Field(min_length=1, max_length=500)]


class MemberWrites(PublishingWrites):
    """Writes of members."""

    @write("W13", attempts=10)
    def join(self, member: Member, password_hash: Hash) -> Writes[Member]:
        """Add a member. The first one is administrator; others wait for a role.

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

    @write("W14", attempts=10)
    def set_role(self, member_id: Id, role: Role) -> Writes[Member]:
        """Set a member's role. The founder remains an administrator. Raises Refused."""
        founded = yield from self.founded.read("cms")
        if founded is not None and founded.member_id == member_id and role != "admin":
            raise Refused("the role of the founder of the CMS can't be changed", place="Cms.set_role")
        member = yield from Update(Member, member_id=member_id).set(role=role)
        return member

    @write("W15")
    def set_password(self, member_id: Id, old_hash: Hash, password_hash: Hash) -> Writes:
        """Replace a password. Raises ConditionFailed if the stored hash isn't ``old_hash``."""
        yield Update(Credential, member_id=member_id).set(password_hash=password_hash).only_if(password_hash=old_hash)
