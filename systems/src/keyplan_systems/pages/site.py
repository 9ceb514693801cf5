"""A small site: its look, users and sessions. ``keyplan_systems.site.serving`` has the base class."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar, cast

from starlette.requests import Request

from keyplan import Design
from keyplan.systems import SiteOptions
from keyplan_systems.pages.people import People, Person
from keyplan_systems.site.incoming import Form, query_of
from keyplan_systems.site.joining import Joining
from keyplan_systems.site.limits import Limit
from keyplan_systems.site.mail import LoggedMail, Mail
from keyplan_systems.site.problems import Problem, not_found
from keyplan_systems.site.serving import BaseSite, BaseTurn
from keyplan_systems.site.sessions import SessionPatterns, Sessions
from keyplan_systems.site.signing import Signer
from keyplan_systems.site.templating import STATIC, environment
from keyplan_systems.site.visitors import BaseVisitor, Visitors

D = TypeVar("D", bound=Design)

LIMITS = {
    "sign-in": Limit(attempts=10, seconds=300),
    "sign-in from an address": Limit(attempts=40, seconds=300),
    "sign-up": Limit(attempts=10, seconds=3600),
    "write": Limit(attempts=120, seconds=600),
    "search": Limit(attempts=120, seconds=60),
    "read": Limit(attempts=600, seconds=60),
    "mail": Limit(attempts=5, seconds=3600),
}
NOTICES = {
    "saved": "Saved.",
    "welcome": "Welcome!",
    "sent": "If this address is registered, you will receive an email with a link.",
    "password": "Your password is changed. Your other sessions have ended.",
    "reset": "Your password is set. You can sign in now.",
}
"""Messages after a form was processed. The URL contains only the name (``?done=saved``), never the message."""


@dataclass(frozen=True)
class Look:
    """A site's name and appearance. ``navigation`` contains labels with URLs."""

    system: str
    """The system's name, also in the names of cookies."""
    title: str
    tagline: str
    package: str
    """The package with the site's templates."""
    navigation: Sequence[tuple[str, str]] = ()
    search: str | None = None
    """The URL of the search box, if there is one."""
    notices: Mapping[str, str] = field(default_factory=dict[str, str])
    filters: Mapping[str, Callable[..., object]] = field(default_factory=dict[str, Callable[..., object]])
    login: str = "Email"
    """The label of the login field."""


class Visitor(BaseVisitor[Person]):
    """The visitor who makes a request."""

    def may(self, role: str) -> bool:
        return self.person is not None and role in self.person.roles


@dataclass
class Turn(BaseTurn["SmallSite[D]", Visitor], Generic[D]):
    """One request at its handler."""

    @property
    def design(self) -> D:
        return self.site.design

    @property
    def people(self) -> People[Any, Any]:
        return self.site.people

    @property
    def person(self) -> Person:
        """The signed-in person. Raises Problem if there is none."""
        if self.visitor.person is None:
            raise Problem(403, "Sign in first", "This page requires a sign-in.", (("Sign in", "/sign-in"),))
        return self.visitor.person

    def sign_in(self, person: Person) -> None:
        self.site.visitors.sign_in(self.visitor, person, self.request.headers.get("user-agent", ""))


class SmallSite(BaseSite[Visitor, Turn[D]], Generic[D]):
    """A site's pages on an open design."""

    def __init__(
        self, design: D, look: Look, options: SiteOptions, people: People[Any, Any], mail: Mail | None = None
    ) -> None:
        signer = Signer(options.secret)
        secure = options.origin is not None and options.origin.startswith("https:")
        patterns = cast("SessionPatterns", design)  # each site's design has these patterns
        sessions = Sessions(patterns, people.person, signer)
        super().__init__(
            design=design,
            public=options.origin,
            signer=signer,
            visitors=Visitors(Visitor, sessions, signer, look.system, secure=secure),
            templates=environment((look.package, "keyplan_systems.pages"), look.filters),
            notices={**NOTICES, **look.notices},
            limits=LIMITS,
            clock=time.monotonic,
        )
        self.design = design
        self.look = look
        self.options = options
        self.people = people
        self.joining = Joining(look.title, signer, mail or LoggedMail(), time.time)
        self.secure = secure

    def turn(self, request: Request, visitor: Visitor, form: Form) -> Turn[D]:
        return Turn(self, request, visitor, query_of(request), form)

    def allow(self, visitor: Visitor, role: str) -> None:
        """Raises Problem if the visitor lacks a role; ``person`` is any signed-in user."""
        if role != "person" and not visitor.may(role):
            raise not_found()

    def context(self, request: Request) -> Mapping[str, Any]:  # noqa: ARG002
        context = {"site": self.look, "by_mail": self.people.by_mail, "can_join": self.people.can_join}
        own = {"style": f"{self.look.system}.css", "icon": f"{self.look.system}.svg"}
        return {**context, **{name: file for name, file in own.items() if file in STATIC}}

    def begin(self, turn: Turn[D], *, sent: bool) -> None:
        if sent:
            turn.limit("write", turn.visitor.person.user_id if turn.visitor.person else turn.address)
