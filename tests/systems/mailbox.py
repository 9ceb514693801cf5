"""Mail sent by a site under test."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import NamedTuple


class Letter(NamedTuple):
    """One message."""

    to: str
    subject: str
    text: str

    @property
    def link(self) -> str:
        """The path of its link."""
        match = re.search(r"http://testserver(/\S+)", self.text)
        assert match is not None
        return match[1]

    @property
    def token(self) -> str:
        """The token in its link."""
        return self.link.partition("token=")[2].partition("&")[0]


@dataclass
class Box:
    """Records mail instead of sending it."""

    letters: list[Letter] = field(default_factory=list[Letter])

    def send(self, to: str, subject: str, text: str) -> None:
        """Record a message."""
        self.letters.append(Letter(to, subject, text))
