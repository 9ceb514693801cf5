"""The blog's mail, and the tokens of its links: sign-up, change of address, password reset.

A token is a signed text with the user, a digest of the state it was created from, and the expiry; nothing is stored.
Using the link changes that state (the password's hash, the address), so it works once. Pages don't reveal whether
an address is registered: the response is the same, and the lookup and the mail follow it.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Mapping
from typing import NamedTuple
from urllib.parse import quote

from keyplan.errors import ConditionFailed, Refused
from keyplan_systems.blog.accounts import IMPORTED_DOMAIN, change_email, reset_password
from keyplan_systems.blog.design import Blog
from keyplan_systems.blog.entities import Credential, User
from keyplan_systems.blog.site.settings import Settings
from keyplan_systems.site.joining import Joining
from keyplan_systems.site.mail import Mail
from keyplan_systems.site.signing import Signer

RESET_SECONDS = 3600
ADDRESS_SECONDS = 3 * 24 * 3600


class Known(NamedTuple):
    """A user with the credential."""

    user: User
    credential: Credential


class Mailing:
    """Sends the blog's mail, and verifies the tokens of its links."""

    def __init__(self, blog: Blog, settings: Settings, signer: Signer, mail: Mail) -> None:
        self.blog = blog
        self.settings = settings
        self.signer = signer
        self.mail = mail

    @property
    def joins(self) -> Joining:
        return Joining(self.settings.title, self.signer, self.mail, self.settings.clock)

    # Outgoing mail

    def joining(self, said: Mapping[str, str], origin: str) -> None:
        """Send the sign-up link; to a registered address, a reminder instead."""
        user = self.blog.user_by_email(said["email"])
        if user is None:
            self.joins.invite(said["email"], said["name"], said, origin)
        elif user.status == "active":
            self.joins.remind(said["email"], user.name, origin)

    def password_forgotten(self, email: str, origin: str) -> None:
        """Send a password reset link to the active user of an address, if there is one."""
        user = self.blog.user_by_email(email)
        known = None if user is None else self._known(user.user_id)
        if known is None or known.user.status != "active":
            return
        link = f"{origin}/password/reset?token={self._token('reset', known, RESET_SECONDS)}"
        text = (
            f"Use this link within an hour to set a new password for {self.settings.title}:\n\n{link}\n\n"
            "If you didn't request this, ignore this email: your password stays unchanged.\n"
        )
        self._send(known.credential.email, known.user, f"Reset your password for {self.settings.title}", text)

    def address_asked(self, user: User, email: str, origin: str) -> None:
        """Send a link that assigns an address to a user; to another user's address, a note."""
        known, taken = self._known(user.user_id), self.blog.user_by_email(email)
        if known is None or known.credential.email == email:
            return
        if taken is not None:
            self.joins.remind(email, taken.name, origin)
            return
        text = (
            f"Use this link within three days to set this email address for your account at {self.settings.title}:\n\n"
            f"{self._address_link(known, email, origin)}\n\n"
            "If you didn't request this, ignore this email.\n"
        )
        self._send(email, user, f"Confirm your email address for {self.settings.title}", text)

    def assign(self, user: User, email: str, origin: str) -> None:
        """Send a link that assigns an address to an imported author, who then chooses a password."""
        known = self._known(user.user_id)
        if known is None:
            return
        text = (
            f"Your posts were imported into {self.settings.title}. Use this link within three days to claim your "
            f"account:\n\n{self._address_link(known, email, origin)}\n\n"
            f"Then choose a password:\n\n{origin}/password/forgotten\n"
        )
        self._send(email, user, f"Claim your account at {self.settings.title}", text)

    def address_changed(self, user: User, old: str) -> None:
        text = (
            f"Your account at {self.settings.title} now has another email address. "
            "If you didn't change the address, contact the moderators.\n"
        )
        self._send(old, user, f"Your email address at {self.settings.title} has changed", text)

    def _address_link(self, known: Known, email: str, origin: str) -> str:
        token = self._token(f"address {email}", known, ADDRESS_SECONDS)
        return f"{origin}/email/verify?token={token}&address={quote(email)}"

    def _send(self, to: str, user: User, subject: str, text: str) -> None:
        self.mail.send(to, subject, f"Hello {user.name},\n\n{text}")

    # Links

    def may_reset(self, token: str) -> Known | None:
        """The user whose password a link can set; None for an invalid token."""
        return self._opened("reset", token)

    def reset(self, token: str, password: str) -> bool:
        """Set the password of the link's user. All of their sessions end. Returns False for a token that is invalid,
        has expired or was used. Raises Refused, at ``new``, for an invalid password.
        """
        known = self._opened("reset", token)
        if known is None:
            return False
        try:
            reset_password(self.blog, known.user, known.credential, password)
        except ConditionFailed:  # another request has used the link
            return False
        return True

    def confirm(self, token: str, address: str) -> bool:
        """Change a user's address to a confirmed one; returns whether the token was valid."""
        known = self._opened(f"address {address}", token)
        if known is None:
            return False
        try:
            change_email(self.blog, known.user.user_id, address)
        except Refused:  # another user took the address meanwhile
            return False
        if not known.credential.email.endswith(f"@{IMPORTED_DOMAIN}"):
            self.address_changed(known.user, known.credential.email)
        return True

    # Tokens

    def _known(self, user_id: str) -> Known | None:
        user = self.blog.get(User, user_id=user_id, consistent=True)
        credential = self.blog.get(Credential, user_id=user_id, consistent=True)
        return None if user is None or credential is None else Known(user, credential)

    def _token(self, purpose: str, known: Known, seconds: int) -> str:
        facts = {"user": known.user.user_id, "mark": _mark(known.credential)}
        return self.signer.pack(purpose, facts, self.settings.clock() + seconds)

    def _opened(self, purpose: str, token: str) -> Known | None:
        facts = self.signer.unpack(purpose, token, self.settings.clock())
        known = None if facts is None else self._known(facts["user"])
        if facts is None or known is None or known.user.status != "active":
            return None
        return known if hmac.compare_digest(facts["mark"], _mark(known.credential)) else None


def _mark(credential: Credential) -> str:
    """The digest of the state that a token is created from: it changes when the token is used, or the address
    changes.
    """
    state = f"{credential.email}\n{credential.password_hash} {credential.changed_at.isoformat()}"
    return hashlib.sha256(state.encode()).hexdigest()[:24]
