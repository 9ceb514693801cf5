"""Sign requests of DynamoDB's protocol, which are POST requests to / with a JSON body. Parts that are constant within a
second, and the day's signing key, are cached. The algorithm is in ``keyplan.dynamodb.signing``.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from hashlib import sha256
from typing import NamedTuple

from keyplan.client.transports.credentials import Credentials
from keyplan.dynamodb.signing import (
    ALGORITHM,
    STAMP,
    TERMINATOR,
    canonical_headers,
    canonical_request,
    signature,
    signing_key,
    string_to_sign,
)

_CONTENT_TYPE = "application/x-amz-json-1.0"
_TARGET = "DynamoDB_20120810."


class Signed(NamedTuple):
    """A signed request to the path /, with its head and body. ``headers`` is the parsed head."""

    head: bytes
    body: bytes

    @property
    def headers(self) -> list[tuple[str, str]]:
        """The signed names and values, including Host and Content-Length."""
        lines = self.head.decode().split("\r\n")[1:-2]
        return [(name, value) for name, _, value in (line.partition(": ") for line in lines)]


class _Second:
    """The parts that requests with the same second and access key share."""

    __slots__ = ("authorization", "between", "canonical", "credentials", "head", "key", "second", "signing")

    def __init__(self, signer: Signer, credentials: Credentials, second: int) -> None:
        self.second = second
        self.credentials = credentials
        date = time.strftime(STAMP, time.gmtime(second))
        scope = f"{date[:8]}/{signer.region}/{signer.service}/{TERMINATOR}"
        headers = [("Host", signer.authority), ("Content-Type", _CONTENT_TYPE), ("X-Amz-Date", date)]
        if credentials.token is not None:
            headers.append(("X-Amz-Security-Token", credentials.token))
        # The target is the last header in sorted order, so the canonical request can be split around it.
        values = canonical_headers([*headers, ("X-Amz-Target", _TARGET)])
        names = sorted(values)
        whole = canonical_request("POST", values, names, "")
        self.canonical, _, rest = whole.rpartition(f":{_TARGET}\n")
        self.canonical += f":{_TARGET}"
        self.between = f"\n{rest}"
        self.signing = string_to_sign(date, scope, "").rpartition("\n")[0] + "\n"
        self.key = signer.key(credentials, date[:8])
        credential = f"Credential={credentials.access_key}/{scope}"
        self.authorization = f"\r\nAuthorization: {ALGORITHM} {credential}, SignedHeaders={';'.join(names)}, Signature="
        lines = "".join(f"{name}: {value}\r\n" for name, value in (*headers, *signer.unsigned))
        self.head = f"POST / HTTP/1.1\r\n{lines}X-Amz-Target: {_TARGET}"


class Signer:
    """Signs requests to one endpoint. Thread-safe."""

    def __init__(
        self, authority: str, region: str, unsigned: Iterable[tuple[str, str]] = (), *, service: str = "dynamodb"
    ) -> None:
        self.authority = authority
        self.region = region
        self.service = service
        self.unsigned = tuple(unsigned)
        self._key: tuple[Credentials, str, bytes] | None = None
        self._second: _Second | None = None

    def key(self, credentials: Credentials, day: str) -> bytes:
        kept = self._key
        if kept is None or kept[0] != credentials or kept[1] != day:
            kept = (credentials, day, signing_key(credentials.secret_key, day, self.region, self.service))
            self._key = kept
        return kept[2]

    def request(self, operation: str, body: bytes, credentials: Credentials, moment: float) -> Signed:
        """The signed request. ``moment`` is the signing time in epoch seconds."""
        second = int(moment)
        kept = self._second
        if kept is None or kept.second != second or kept.credentials is not credentials:
            kept = self._second = _Second(self, credentials, second)
        canonical = f"{kept.canonical}{operation}{kept.between}{sha256(body).hexdigest()}"
        text = f"{kept.signing}{sha256(canonical.encode()).hexdigest()}"
        sealed = signature(kept.key, text)
        head = f"{kept.head}{operation}\r\nContent-Length: {len(body)}{kept.authorization}{sealed}\r\n\r\n"
        return Signed(head.encode(), body)
