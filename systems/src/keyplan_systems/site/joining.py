"""Joining by mail: an address becomes an account when its owner follows a link, and nobody else learns whether it is
one already.

The answer to whoever asks is the same, in words and in time; what is looked up and sent is so after it. Nothing is
stored until the link is used: its token is a signed text of what was said. What a letter's link leads to, and how
somebody is registered then, is the site's business.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Mapping
from urllib.parse import quote

from keyplan_systems.site.mail import LoggedMail, Mail
from keyplan_systems.site.signing import Signer

__all__ = ["FINISH", "Joining"]

LINK_SECONDS = 24 * 3600
TOKEN_CHARACTERS_MAX = 4000
FINISH = "/sign-up/finish"
"""The page that the link leads to."""


class Joining:
    """Sends the letters of those who join, and judges the tokens of their links."""

    def __init__(self, title: str, signer: Signer, mail: Mail, clock: Callable[[], float]) -> None:
        self.title = title
        self.signer = signer
        self.mail = mail
        self.clock = clock

    @property
    def logged(self) -> bool:
        """Whether mail goes into the log, where whoever runs the site finds the link."""
        return isinstance(self.mail, LoggedMail)

    def invite(self, email: str, name: str, said: Mapping[str, str], origin: str) -> None:
        """Send the link to join with what was said."""
        facts = json.dumps({**said, "until": str(int(self.clock()) + LINK_SECONDS)}, separators=(",", ":"))
        token = self.signer.sign("join", base64.urlsafe_b64encode(facts.encode()).rstrip(b"=").decode())
        text = (
            f"Hello {name},\n\n"
            f"this link makes your account at {self.title}. It works for a day:\n\n"
            f"{origin}{FINISH}?token={quote(token)}\n\n"
            "If you know nothing of it, somebody has mistyped their address: do nothing, and there will be none.\n"
        )
        self.mail.send(email, f"Your account at {self.title}", text)

    def remind(self, email: str, name: str, origin: str) -> None:
        """Tell somebody who has an account that it was tried to make another one."""
        text = (
            f"Hello {name},\n\n"
            f"somebody, perhaps you, wants to join {self.title} with this address, which has an account already. "
            f"You can sign in here:\n\n{origin}/sign-in\n\n"
            "If it wasn't you, there is nothing to do: nobody was told that you are here.\n"
        )
        self.mail.send(email, f"Your account at {self.title}", text)

    def said(self, token: str) -> dict[str, str] | None:
        """What was said by whom a link was sent to; None for a token that is forged or over."""
        text = self.signer.unsign("join", token) if len(token) <= TOKEN_CHARACTERS_MAX else None
        if text is None:
            return None
        facts: dict[str, str] = json.loads(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)))
        return facts if int(facts.pop("until")) > self.clock() else None
