"""Sign-up by mail: an account is created when the owner of the address follows a link, and the page doesn't reveal
whether an address has an account.

The response has the same content and timing in both cases; the lookup and the mail follow it. Nothing is stored until
the link is used: its token contains the signed form. Sites provide the link's page and the registration.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from urllib.parse import quote

from keyplan_systems.site.mail import LoggedMail, Mail
from keyplan_systems.site.signing import Signer

LINK_SECONDS = 24 * 3600
FINISH = "/sign-up/finish"
"""The page of the link."""


class Joining:
    """Sends sign-up mails, and verifies the tokens of their links."""

    def __init__(self, title: str, signer: Signer, mail: Mail, clock: Callable[[], float]) -> None:
        self.title = title
        self.signer = signer
        self.mail = mail
        self.clock = clock

    @property
    def logged(self) -> bool:
        """Whether mail is logged, so that the operator finds the link in the log."""
        return isinstance(self.mail, LoggedMail)

    def invite(self, email: str, name: str, said: Mapping[str, str], origin: str) -> None:
        token = self.signer.pack("join", said, self.clock() + LINK_SECONDS)
        text = (
            f"Hello {name},\n\n"
            f"Use this link within a day to create your account at {self.title}:\n\n"
            f"{origin}{FINISH}?token={quote(token)}\n\n"
            "If you didn't request this, ignore this email: no account is created.\n"
        )
        self.mail.send(email, f"Create your account at {self.title}", text)

    def remind(self, email: str, name: str, origin: str) -> None:
        """Notify the owner of an account that another account was requested with the same address."""
        text = (
            f"Hello {name},\n\n"
            f"Someone tried to sign up for {self.title} with this address, which already has an account. "
            f"You can sign in here:\n\n{origin}/sign-in\n\n"
            "If it wasn't you, ignore this email: the page didn't reveal that you have an account.\n"
        )
        self.mail.send(email, f"You already have an account at {self.title}", text)

    def said(self, token: str) -> dict[str, str] | None:
        """The form of a token; None if it is forged or has expired."""
        return self.signer.unpack("join", token, self.clock())
