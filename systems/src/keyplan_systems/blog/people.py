"""Writes about people: registration, profiles, roles, moderation, sessions, identities; messages.

Passwords and secrets are already hashed: ``accounts``, the site's interface, hashes them.
"""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from keyplan import Add, Check, Create, Delete, Example, Field, Put, SetAdd, Update, Writes, now, write
from keyplan.errors import ItemNotFound, Refused
from keyplan_systems.blog.entities import (
    ContactMessage,
    Credential,
    Month,
    Name,
    ProviderUser,
    Role,
    Upload,
    User,
    UserStatus,
)
from keyplan_systems.blog.reads import Reads
from keyplan_systems.site.sessions import SessionPatterns

Bio = Annotated[str, Field(max_length=1000)]


def identity(provider: str, external_id: str) -> str:
    return f"{provider}:{external_id}"


def _unknown(user_id: str) -> ItemNotFound:
    return ItemNotFound(f"there is no user {user_id!r}", place="Blog.user")


class PeopleWrites(SessionPatterns, Reads):
    """Writes about people."""

    @write("W1")
    def register(self, user: User, credential: Credential, provider_user: ProviderUser | None = None) -> Writes[User]:
        """Register a user with a credential: email, username and external identity must be free.

        Counts in ``user`` are ignored. Raises UniqueValueTaken, ItemExists.
        """
        linked = user.user_id if provider_user is None else provider_user.user_id
        if {credential.user_id, linked} != {user.user_id}:
            raise Refused("the credential belongs to another user", place="Blog.register")
        begun = {"drafts": 0, "published": 0, "archived": 0, "views": 0, "rating": 0}
        created = yield from Create(user.model_copy(update={**begun, "ranked_at": None}))
        if provider_user is None:
            yield Create(credential.model_copy(update={"providers": set[str]()}))
        else:
            named = identity(provider_user.provider, provider_user.external_id)
            yield Create(provider_user)
            yield Create(credential.model_copy(update={"providers": {named}}))
        return created

    @write("W8")
    def edit_profile(self, user_id: str, name: Name, bio: Bio) -> Writes:
        """Change the name and the text of a profile. Raises ItemNotFound, and ConditionFailed for an inactive user."""
        update = Update(User, user_id=user_id).set(name=name, bio=bio).only_if(status="active")
        yield update.if_missing(_unknown(user_id))

    @write("W9")
    def set_role(self, user_id: str, role: Role) -> Writes:
        """Make a user a reader, an author or a moderator. Raises ItemNotFound."""
        yield Update(User, user_id=user_id).set(role=role).if_missing(_unknown(user_id))

    @write("W10", attempts=30)
    def set_status(self, user_id: str, status: UserStatus) -> Writes[User]:
        """Suspend or reactivate a user. All of their sessions end, by the user's ``session_epoch``. Raises
        ItemNotFound.
        """
        user = yield from self.user.read(user_id)
        if user is None:
            raise _unknown(user_id)
        if user.status == status:
            return user
        epoch = user.session_epoch + 1
        yield Update(user, status=status, session_epoch=epoch).only_if(
            status=user.status, session_epoch=user.session_epoch
        )
        return user.model_copy(update={"status": status, "session_epoch": epoch})  # the counters may be outdated

    # Sessions and passwords

    @write("W24", attempts=30)
    def end_sessions(self, user_id: str) -> Writes:
        """End all sessions of a user. Raises ItemNotFound."""
        yield Update(User, user_id=user_id).set(session_epoch=Add(1)).if_missing(_unknown(user_id))

    @write("W25")
    def set_password(self, user_id: str, old_hash: str | None, password_hash: str) -> Writes:
        """Replace a password, or set the first one; all sessions of the user end. Raises ConditionFailed if the stored
        hash isn't ``old_hash``.
        """
        update = Update(Credential, user_id=user_id).set(password_hash=password_hash, changed_at=now())
        yield update.only_if(password_hash=old_hash)
        yield Update(User, user_id=user_id).set(session_epoch=Add(1)).if_missing(_unknown(user_id))

    # External identities

    @write("W26", attempts=10, example=Example().missing("provider_user"))
    def link_provider(self, user_id: str, provider: str, external_id: str) -> Writes[ProviderUser]:
        """Link an external identity to a user. Raises Refused if it belongs to another user, ItemNotFound."""
        user = yield from self.provider_user.read(provider, external_id)
        if user is not None:
            if user.user_id != user_id:
                raise Refused("the identity belongs to another user", place="Blog.link_provider")
            return user
        if (yield from self.user.read(user_id)) is None:
            raise ItemNotFound(f"there is no user {user_id!r}", place="Blog.link_provider")
        linked = ProviderUser(provider=provider, external_id=external_id, user_id=user_id)
        yield Create(linked)
        yield Update(Credential, user_id=user_id).set(providers=SetAdd({identity(provider, external_id)}))
        return linked

    @write("W32")
    def note_upload(self, user_id: str, name: str) -> Writes:
        """Record an uploaded image. Raises ItemNotFound; ConditionFailed for an inactive user."""
        yield Put(Upload(user_id=user_id, name=name))
        yield Check(User, user_id=user_id).only_if(status="active").if_missing(_unknown(user_id))

    # Messages

    @write("W27")
    def send_message(self, message: ContactMessage) -> Writes[ContactMessage]:
        """Send a message to the moderators."""
        yield Create(message.model_copy(update={"handled": False}))
        return message

    @write("W28")
    def handle_message(self, month: Month, at: datetime, message_id: str, *, handled: bool = True) -> Writes:
        """Mark a message as handled or not. Raises ItemNotFound."""
        missing = ItemNotFound(f"there is no message {message_id!r}", place="Blog.handle_message")
        update = Update(ContactMessage, month=month, at=at, message_id=message_id).set(handled=handled)
        yield update.if_missing(missing)

    @write("W29")
    def delete_message(self, month: Month, at: datetime, message_id: str) -> Writes:
        """Delete a message."""
        yield Delete(ContactMessage, month=month, at=at, message_id=message_id)
