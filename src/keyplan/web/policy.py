"""Who may call what: what an application says of it, and what the API makes of that.

Without a policy every pattern is open to every caller, which is right on one's own machine. With one, patterns that it
doesn't name aren't there; parameters that it fills in (whose post is it?) can't be given by the caller, and stand in no
description; what a caller may see of an answer is its word too. Who a caller is, only the policy knows.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol
from urllib.parse import urlsplit

from starlette.requests import Request

from keyplan.errors import ArgumentError, AuthenticationRequired, ErrorDetail
from keyplan.model.compiled.compiled_design import CompiledDesign, WritePattern
from keyplan.model.compiled.plans import ReadPattern
from keyplan.model.compiled.signatures import Parameter

__all__ = ["Offer", "Policy", "is_foreign", "named_host"]


Pattern = ReadPattern | WritePattern


class Policy(Protocol):
    """An application's word on its API.

    Its functions may ask the store: they are called in a worker thread, the one in which the pattern is.
    """

    @property
    def patterns(self) -> Collection[str]:
        """The patterns that the API has."""
        ...

    @property
    def closed(self) -> Collection[str]:
        """Those that need a caller who is known."""
        ...

    @property
    def security(self) -> Mapping[str, Mapping[str, Any]]:
        """How a caller makes itself known: OpenAPI's security schemes by name. What a scheme has under
        ``x-form-token-cookie`` is the name of the cookie whose value the page sends in ``X-CSRF-Token``.
        """
        ...

    def filled(self, pattern: str) -> Collection[str]:
        """The parameters of a pattern that ``fill`` gives."""
        ...

    def caller(self, request: Request) -> Any:
        """Who makes a request; None for nobody in particular. Raises AccessDenied for a claim that isn't true."""
        ...

    def fill(self, pattern: str, caller: Any) -> Mapping[str, Any]:
        """The values of the filled parameters, by name."""
        ...

    def admit(self, pattern: str, arguments: dict[str, Any], caller: Any) -> dict[str, Any]:
        """The arguments that the pattern is called with. Raises AccessDenied, or any error that the caller is told."""
        ...

    def shown(self, pattern: str, arguments: Mapping[str, Any], answer: Any, caller: Any) -> Any:
        """What the caller is shown of an answer; None for an answer that isn't there for them."""
        ...


@dataclass(frozen=True)
class Offer:
    """What an API offers of a design, under its policy or without one."""

    design: CompiledDesign
    policy: Policy | None = None

    @property
    def patterns(self) -> dict[str, Pattern]:
        """The patterns that are there, by name."""
        every = self.design.patterns
        return {name: pattern for name, pattern in every.items() if self.policy is None or name in self.policy.patterns}

    def parameters(self, pattern: Pattern) -> Sequence[Parameter]:
        """The parameters that a caller gives."""
        given = pattern.signature.parameters
        if self.policy is None:
            return given
        filled = self.policy.filled(pattern.name)
        return [parameter for parameter in given if parameter.name not in filled]

    def is_closed(self, pattern: Pattern) -> bool:
        """Whether the pattern needs a caller who is known."""
        return self.policy is not None and pattern.name in self.policy.closed

    def caller(self, pattern: Pattern, request: Request) -> Any:
        """Who makes a request. Raises AccessDenied, and AuthenticationRequired where somebody must be known."""
        if self.policy is None:
            return None
        result = self.policy.caller(request)
        if result is None and self.is_closed(pattern):
            raise AuthenticationRequired(
                f"{pattern.name} requires authentication",
                place=pattern.place,
                hint=f"sign in, and send {' or '.join(self.policy.security)}",
            )
        return result

    def filled(self, pattern: Pattern, names: Collection[str], caller: Any) -> Mapping[str, Any]:
        """The values that the policy fills in. Raises ArgumentError where the caller gave one of them."""
        if self.policy is None:
            return {}
        own = self.policy.filled(pattern.name)
        faults = [ErrorDetail(name, "is set by the server", "omit it") for name in names if name in own]
        if faults:
            raise ArgumentError("invalid arguments", place=pattern.place, errors=faults)
        return self.policy.fill(pattern.name, caller)


_SAFE = frozenset({"GET", "HEAD", "OPTIONS"})
_ELSEWHERE = frozenset({"cross-site", "same-site"})


def is_foreign(method: str, headers: Mapping[str, str], public: str | None) -> bool:
    """Whether a page of another site makes a request, as browsers say it: in ``Origin``, and in ``Sec-Fetch-Site``.

    To follow a link from elsewhere is no such request, but to send a form is. A program that is no browser sends
    neither header. ``headers`` have names in lower case; ``public`` is the server's own address for others, if it isn't
    the host that requests name.
    """
    origin = headers.get("origin")
    if origin is not None and _place(origin) not in {_place(f"//{headers.get('host', '')}"), _place(public or "")} - {
        ""
    }:
        return True
    if headers.get("sec-fetch-site", "").lower() not in _ELSEWHERE:
        return False
    return method not in _SAFE or headers.get("sec-fetch-mode", "").lower() != "navigate"


def _place(address: str) -> str:
    """Host and port of an address; empty for what is none. A port that goes without saying isn't named."""
    try:
        parts = urlsplit(address.strip())
        usual = {"http": 80, "https": 443}.get(parts.scheme)
        return parts.netloc.lower().removesuffix(f":{usual}")
    except ValueError:
        return ""


def named_host(headers: Iterable[tuple[bytes, bytes]]) -> str:
    """The host that a request names, in lower case and without its port; empty where it names none, or several."""
    named = [value.decode("latin-1").lower() for name, value in headers if name == b"host"]
    if len(named) != 1:
        return ""
    host, colon, port = named[0].rpartition(":")
    return host if colon and port.isascii() and port.isdigit() else named[0]
