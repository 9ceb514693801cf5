"""A mailbox that contains the emails that a tested site sends."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import NamedTuple


class Letter(NamedTuple):
    """An email."""

    to: str
    subject: str
    text: str

    @property
    def link(self) -> str:
        """Return the path of the link in the email."""
        match = re.search(r"http://testserver(/\S+)", self.text)
        assert match is not None
        return match[1]

    @property
    def token(self) -> str:
        """Return the token in the link."""
        return self.link.partition("token=")[2].partition("&")[0]


@dataclass
class Box:
    """Records emails instead of sending them."""

    letters: list[Letter] = field(default_factory=list[Letter])

    def send(self, to: str, subject: str, text: str) -> None:
        self.letters.append(Letter(to, subject, text))
