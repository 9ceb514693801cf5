# mypy: disable-error-code="empty-body"
"""Sessions of users who are signed in, in a browser or a program. All systems with accounts store them in the same way.

A session is an item with a TTL, and a signed token that names it. Deleting the item ends the session. ``mark`` ties a
session to the state of the account when it was opened: when the owner's mark changes (a new password, a suspension),
all of the owner's sessions end in that write.
"""

from __future__ import annotations

import hmac
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Annotated, Generic, Literal, Protocol, TypeVar
from urllib.parse import quote, unquote

from keyplan import Create, Delete, Entity, Field, Key, Ttl, Writes, now, read, ulid, write
from keyplan_systems.site.signing import Signer

SESSION_SECONDS = 14 * 24 * 3600
LABEL_MAX = 120
_TOKEN_CHARACTERS_MAX = 2000


class Session(Entity):
    """A session of a user, which ends at ``expires_at`` at the latest."""

    user_id: Annotated[str, Field(min_length=1, max_length=200)]
    session_id: Annotated[str, Field(min_length=1, max_length=100)] = Field(default_factory=ulid)
    mark: Annotated[str, Field(max_length=100)] = Field(repr=False)
    kind: Literal["browser", "token"] = "browser"
    label: Annotated[str, Field(max_length=LABEL_MAX)] = ""
    created_at: datetime = Field(default_factory=now)
    expires_at: Ttl

    primary = Key("SESSIONS#{user_id}", "SESSION#{session_id}")


class SessionPatterns:
    """The access patterns of sessions, for each design that has accounts."""

    @read("L1", consistent=True)
    def session(self, user_id: str, session_id: str) -> Session | None:
        """A session of a user; it may have expired."""
        ...

    @read("L2", items=6)
    def sessions(self, user_id: str) -> list[Session]:
        """The sessions of a user, oldest first; some may have expired."""
        ...

    @write("L3")
    def open_session(self, session: Session) -> Writes[Session]:
        """Store a new session."""
        yield Create(session)
        return session

    @write("L4")
    def end_session(self, user_id: str, session_id: str) -> Writes:
        """End a session. A session that has already ended isn't an error."""
        yield Delete(Session, user_id=user_id, session_id=session_id)


class SessionOwner(Protocol):
    """The owner of a session. All sessions end when ``session_mark`` changes."""

    @property
    def user_id(self) -> str: ...
    @property
    def session_mark(self) -> str: ...


P = TypeVar("P", bound=SessionOwner)


@dataclass(frozen=True)
class SignedIn(Generic[P]):
    """A signed-in person, with the session and its token."""

    person: P
    session: Session
    token: str


class Sessions(Generic[P]):
    """Opens sessions and checks their tokens. ``people`` returns a person by id, or None if they can't sign in."""

    def __init__(self, patterns: SessionPatterns, people: Callable[[str], P | None], signer: Signer) -> None:
        self._patterns = patterns
        self.people = people
        self._signer = signer

    def open(
        self,
        person: P,
        *,
        seconds: int = SESSION_SECONDS,
        kind: Literal["browser", "token"] = "browser",
        label: str = "",
    ) -> str:
        session = Session(
            user_id=person.user_id,
            mark=person.session_mark,
            kind=kind,
            label=label[:LABEL_MAX],
            expires_at=(now() + timedelta(seconds=seconds)).replace(microsecond=0),
        )
        self._patterns.open_session(session)
        return self._signer.sign("session", f"{quote(person.user_id, safe='')}.{session.session_id}")

    def of(self, token: str) -> SignedIn[P] | None:
        """The person and session of a token; None if it is forged, or the session has ended."""
        text = self._signer.unsign("session", token) if len(token) <= _TOKEN_CHARACTERS_MAX else None
        if text is None:
            return None
        user_id, _, session_id = text.rpartition(".")
        session = self._patterns.session(unquote(user_id), session_id)
        if session is None or session.expires_at <= now():
            return None
        person = self.people(session.user_id)
        if person is None or not hmac.compare_digest(person.session_mark, session.mark):
            return None
        return SignedIn(person, session, token)

    def listed(self, person: P) -> list[Session]:
        """The sessions of a person that haven't ended, newest first."""
        stored = self._patterns.sessions(person.user_id)
        current = [each for each in stored if each.mark == person.session_mark and each.expires_at > now()]
        return sorted(current, key=lambda session: session.created_at, reverse=True)

    def end(self, user_id: str, session_id: str) -> None:
        self._patterns.end_session(user_id, session_id)
