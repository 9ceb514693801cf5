"""Authorizes the API's calls with an application's policy. Without a policy, every client may call every pattern, which
is appropriate only on your own machine. With a policy, the API has only the policy's patterns. A parameter that the
policy fills in can't be passed, and isn't documented. The policy also identifies callers, and filters results.
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
    """The authorization rules of an API. The methods run in the pattern's worker thread, and may read the store."""

    @property
    def patterns(self) -> Collection[str]:
        """The patterns that the API offers."""
        ...

    @property
    def closed(self) -> Collection[str]:
        """The patterns that require an authenticated caller."""
        ...

    @property
    def security(self) -> Mapping[str, Mapping[str, Any]]:
        """OpenAPI's security schemes for the API, by name. ``x-form-token-cookie`` in a scheme names the cookie whose
        value the page sends in the header ``X-CSRF-Token``.
        """
        ...

    def filled(self, pattern: str) -> Collection[str]:
        """The parameters of a pattern that ``fill`` provides."""
        ...

    def caller(self, request: Request) -> Any:
        """The caller of a request; None if the request is anonymous. Raises AccessDenied for invalid credentials."""
        ...

    def fill(self, pattern: str, caller: Any) -> Mapping[str, Any]:
        """The values of the parameters that ``filled`` lists, by name."""
        ...

    def admit(self, pattern: str, arguments: dict[str, Any], caller: Any) -> dict[str, Any]:
        """Authorize a call and return its arguments. Raises AccessDenied, or another error for the caller."""
        ...

    def shown(self, pattern: str, arguments: Mapping[str, Any], answer: Any, caller: Any) -> Any:
        """The part of the result that the caller may see; None if the caller may see no part."""
        ...


@dataclass(frozen=True)
class Offer:
    """The access patterns and parameters that an API offers, with or without a policy."""

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
        """The caller of a request. Raises AccessDenied, or AuthenticationRequired for an anonymous request."""
        if self.policy is None:
            return None
        result = self.policy.caller(request)
        if result is None and self.is_closed(pattern):
            raise AuthenticationRequired(
                f"{pattern.name} requires authentication",
                place=pattern.place,
                hint=f"sign in, and send the credentials: {' or '.join(self.policy.security)}",
            )
        return result

    def filled(self, pattern: Pattern, names: Collection[str], caller: Any) -> Mapping[str, Any]:
        """Parameter values of the policy. Raises ArgumentError if the caller passes one of the policy's parameters."""
        if self.policy is None:
            return {}
        own = self.policy.filled(pattern.name)
        faults = [ErrorDetail(name, "is set by the server", "omit the parameter") for name in names if name in own]
        if faults:
            raise ArgumentError("invalid arguments", place=pattern.place, errors=faults)
        return self.policy.fill(pattern.name, caller)


_SAFE = frozenset({"GET", "HEAD", "OPTIONS"})
_ELSEWHERE = frozenset({"cross-site", "same-site"})


def is_foreign(method: str, headers: Mapping[str, str], public: str | None) -> bool:
    """Whether a page of another site sent the request, by the headers ``Origin`` and ``Sec-Fetch-Site``, which only
    browsers send. Pages of other sites may link to this site, but not submit forms to it. ``headers`` have lowercase
    names; ``public`` is the server's public address, if it differs from the Host header.
    """
    origin = headers.get("origin")
    own = {_place(f"//{headers.get('host', '')}"), _place(public or "")} - {""}
    if origin is not None and _place(origin) not in own:
        return True
    if headers.get("sec-fetch-site", "").lower() not in _ELSEWHERE:
        return False
    return method not in _SAFE or headers.get("sec-fetch-mode", "").lower() != "navigate"


def _place(address: str) -> str:
    """The host and port of a URL, without the scheme's default port; empty for an invalid URL."""
    try:
        parts = urlsplit(address.strip())
        usual = {"http": 80, "https": 443}.get(parts.scheme)
        return parts.netloc.lower().removesuffix(f":{usual}")
    except ValueError:
        return ""


def named_host(headers: Iterable[tuple[bytes, bytes]]) -> str:
    """The Host header in lowercase, without the port; empty if the header is missing or repeated."""
    named = [value.decode("latin-1").lower() for name, value in headers if name == b"host"]
    if len(named) != 1:
        return ""
    host, colon, port = named[0].rpartition(":")
    return host if colon and port.isascii() and port.isdigit() else named[0]
