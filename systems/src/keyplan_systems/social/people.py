"""Writes of users: sign-up, profiles, passwords, unblocking, seen notifications. Follows are in ``design.py``."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from pydantic import Field

from keyplan import Create, Delete, Put, Update, Writes, ulid, write
from keyplan.errors import ItemNotFound, Refused
from keyplan_systems.social.entities import Block, Credential, Handle, Id, Name, NotificationsSeen, User
from keyplan_systems.social.reads import Reads

Bio = Annotated[str, Field(max_length=5000)]
PasswordHash = Annotated[str, Field(min_length=1, max_length=500)]


class PeopleWrites(Reads):
    """Writes of users."""

    @write("W1")
    def sign_up(self, handle: Handle, name: Name, bio: str = "", user_id: Id | None = None) -> Writes[User]:
        """Add a user. Raises UniqueValueTaken for a handle in use, ItemExists for an id in use."""
        user = User(user_id=user_id or ulid(), handle=handle, name=name, bio=bio)
        yield Create(user)
        return user

    @write("W15")
    def join(self, handle: Handle, name: Name, password_hash: PasswordHash) -> Writes[User]:
        """Add a user with a password hash. Raises UniqueValueTaken for a handle in use."""
        user = User(handle=handle, name=name)
        yield Create(user)
        yield Create(Credential(user_id=user.user_id, password_hash=password_hash))
        return user

    @write("W16")
    def edit_profile(self, user_id: str, name: Name, bio: Bio = "") -> Writes[User]:
        """Replace the name and the text of a profile. Raises ItemNotFound."""
        user = yield from Update(User, user_id=user_id).set(name=name, bio=bio).if_missing(no_user(user_id))
        return user

    @write("W20")
    def set_password(self, user_id: str, old_hash: PasswordHash, password_hash: PasswordHash) -> Writes:
        """Replace a password. Raises ConditionFailed if the stored hash isn't ``old_hash``."""
        yield Update(Credential, user_id=user_id).set(password_hash=password_hash).only_if(password_hash=old_hash)

    @write("W18")
    def unblock(self, user_id: str, blocked_id: str) -> Writes:
        """Remove a block, if there is one."""
        yield Delete(Block, user_id=user_id, blocked_id=blocked_id)

    @write("W22")
    def see_notifications(self, user_id: str, until: datetime) -> Writes:
        """Store the time up to which a user has seen their notifications."""
        yield Put(NotificationsSeen(user_id=user_id, until=until))

    def _user(self, user_id: str) -> Writes[User]:
        user = yield from self.profile.read(user_id)
        if user is None:
            raise no_user(user_id)
        return user

    def _not_blocked(self, user_id: str, other_id: str, place: str) -> Writes:
        """Raises Refused if one of two users blocks the other."""
        of_other = yield from self.block_of.read(user_id, other_id)
        if of_other is not None or (yield from self.block_of.read(other_id, user_id)) is not None:
            raise Refused("one of the two users has blocked the other", place=place)


def no_user(user_id: str) -> ItemNotFound:
    return ItemNotFound(f"there is no user {user_id!r}", place="Social.profile", hint="create the user with sign_up")
