"""Authorization of the API's calls by an application's policy. Without a policy, every client may call every pattern,
which is right on your own machine. With a policy, only the patterns it names exist; parameters that it fills in can't
be passed by the caller and aren't documented; the policy also filters results. Only the policy identifies callers.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import urlsplit

from keyplan.errors import ArgumentError, AuthenticationRequired, ErrorDetail
from keyplan.model.compiled.compiled_design import CompiledDesign, WritePattern
from keyplan.model.compiled.plans import ReadPattern
from keyplan.model.compiled.signatures import Parameter

if TYPE_CHECKING:
    from starlette.requests import Request


Pattern = ReadPattern | WritePattern


class Policy(Protocol):
    """An application's authorization of its API. Its functions run in the pattern's worker thread, and may read."""

    @property
    def patterns(self) -> Collection[str]:
        """The patterns that the API offers."""
        ...

    @property
    def closed(self) -> Collection[str]:
        """The patterns that need an authenticated caller."""
        ...

    @property
    def security(self) -> Mapping[str, Mapping[str, Any]]:
        """How callers authenticate: OpenAPI's security schemes by name. ``x-form-token-cookie`` in a scheme is the
        cookie whose value the page sends in ``X-CSRF-Token``.
        """
        ...

    def filled(self, pattern: str) -> Collection[str]:
        """The parameters of a pattern that ``fill`` provides."""
        ...

    def caller(self, request: Request) -> Any:
        """The caller of a request; None if it is anonymous. Raises AccessDenied for invalid credentials."""
        ...

    def fill(self, pattern: str, caller: Any) -> Mapping[str, Any]:
        """The values of the filled parameters, by name."""
        ...

    def admit(self, pattern: str, arguments: dict[str, Any], caller: Any) -> dict[str, Any]:
        """The arguments for the call. Raises AccessDenied, or any other error for the caller."""
        ...

    def shown(self, pattern: str, arguments: Mapping[str, Any], answer: Any, caller: Any) -> Any:
        """The result that the caller may see; None if the caller may not see any of it."""
        ...


@dataclass(frozen=True)
class Offer:
    """The access patterns that an API offers, under a policy or without one."""

    design: CompiledDesign
    policy: Policy | None = None

    @property
    def patterns(self) -> dict[str, Pattern]:
        every = self.design.patterns
        return {name: pattern for name, pattern in every.items() if self.policy is None or name in self.policy.patterns}

    def parameters(self, pattern: Pattern) -> Sequence[Parameter]:
        given = pattern.signature.parameters
        if self.policy is None:
            return given
        filled = self.policy.filled(pattern.name)
        return [parameter for parameter in given if parameter.name not in filled]

    def is_closed(self, pattern: Pattern) -> bool:
        return self.policy is not None and pattern.name in self.policy.closed

    def caller(self, pattern: Pattern, request: Request) -> Any:
        """The caller of a request. Raises AccessDenied, and AuthenticationRequired for a pattern that needs one."""
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
        """The values that the policy fills in. Raises ArgumentError if the caller passes a filled parameter."""
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
    """Whether a page of another site sends the request, by the browser's headers ``Origin`` and ``Sec-Fetch-Site``.
    Such a page may link to this site, but not submit a form to it. Other programs send neither header. ``headers`` have
    names in lower case; ``public`` is the server's public address, if it isn't the requests' host.
    """
    origin = headers.get("origin")
    own = {_place(f"//{headers.get('host', '')}"), _place(public or "")} - {""}
    if origin is not None and _place(origin) not in own:
        return True
    if headers.get("sec-fetch-site", "").lower() not in _ELSEWHERE:
        return False
    return method not in _SAFE or headers.get("sec-fetch-mode", "").lower() != "navigate"


def _place(address: str) -> str:
    """Host and port of an address, without the scheme's default port; empty for an invalid one."""
    try:
        parts = urlsplit(address.strip())
        usual = {"http": 80, "https": 443}.get(parts.scheme)
        return parts.netloc.lower().removesuffix(f":{usual}")
    except ValueError:
        return ""


def named_host(headers: Iterable[tuple[bytes, bytes]]) -> str:
    """The host of a request, in lower case and without port; empty if there is none, or several."""
    named = [value.decode("latin-1").lower() for name, value in headers if name == b"host"]
    if len(named) != 1:
        return ""
    host, colon, port = named[0].rpartition(":")
    return host if colon and port.isascii() and port.isdigit() else named[0]
