"""Verifies Signature Version 4: each request must be signed with one of the server's keys.

The steps, their order and error messages are the service's (AWS General Reference, "Signature Version 4 signing
process"). A signature is in the ``Authorization`` header, as SDKs send it, or in the query string.
"""

from __future__ import annotations

import hmac
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from functools import lru_cache
from hashlib import sha256
from urllib.parse import parse_qsl, quote

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
from keyplan.errors import DynamoDBError
from keyplan.store.server.responses import protocol_fault

SERVICE = "dynamodb"
SKEW = timedelta(minutes=15)
_PARAMETERS = ("Credential", "Signature", "SignedHeaders")
_IN_QUERY = "X-Amz-"
_ALGORITHM_IN_QUERY = f"{_IN_QUERY}Algorithm"
_SIGNED_ALWAYS = (("Host", "host"), ("X-Amz-Target", "x-amz-target"))

MISSING = "Request is missing Authentication Token"
UNKNOWN = "The security token included in the request is invalid."
MISMATCH = (
    "The request signature we calculated does not match the signature you provided. "
    "Check your AWS Secret Access Key and signing method. Consult the service documentation for details."
)

Headers = Mapping[str, str]
"""The headers of a request, with lower-case names."""


def query_of(url: str) -> dict[str, str]:
    query = url.partition("?")[2]
    return dict(parse_qsl(query, keep_blank_values=True)) if query else {}


def check_presence(headers: Headers, query_parameters: Mapping[str, str]) -> None:
    """Reject a request without credentials, or with credentials in both headers and query. Raises DynamoDBError
    (MissingAuthenticationTokenException or InvalidSignatureException).
    """
    authorization = headers.get("authorization", "")
    if _ALGORITHM_IN_QUERY in query_parameters:
        if authorization:
            raise _invalid(
                f"Found both '{_ALGORITHM_IN_QUERY}' as a query-string param and 'Authorization' as HTTP header."
            )
    elif not authorization.startswith("AWS4-"):
        raise protocol_fault("MissingAuthenticationTokenException", MISSING)


class Verifier:
    """Verifies signatures with the configured keys. ``now`` returns the time in UTC."""

    def __init__(self, keys: Mapping[str, str], now: Callable[[], datetime] = lambda: datetime.now(UTC)) -> None:
        self._keys = dict(keys)
        self._now = now

    def verify(self, method: str, url: str, headers: Headers, body: bytes | bytearray) -> None:
        """Verify that a request is signed with a known key. Raises DynamoDBError with the service's type and message,
        such as InvalidSignatureException or UnrecognizedClientException.
        """
        path, _, query = url.partition("?")
        query_parameters = query_of(url)
        check_presence(headers, query_parameters)
        if _ALGORITHM_IN_QUERY in query_parameters:
            # Only S3 evaluates X-Amz-Expires. Other services limit the age of a signature in the URL as in a header.
            algorithm, parameters = _parse_query(query_parameters)
            stamp = self._check_date({"x-amz-date": query_parameters[f"{_IN_QUERY}Date"]})
        else:
            algorithm, parameters = _parse(headers["authorization"], headers)
            stamp = self._check_date(headers)
        signed = [name.lower() for name in parameters["SignedHeaders"].split(";") if name]
        for shown, name in _SIGNED_ALWAYS:
            if name not in signed:
                raise _invalid(f"'{shown}' must be a 'SignedHeader' in the AWS Authorization.")
        if algorithm != ALGORITHM:
            raise _incomplete(f"Unsupported AWS 'algorithm': '{algorithm}' (only {ALGORITHM} for now). ")
        key_id, day, region, scope = _check_scope(parameters["Credential"], stamp)
        secret = self._keys.get(key_id)
        if secret is None or "x-amz-security-token" in headers or f"{_IN_QUERY}Security-Token" in query_parameters:
            raise protocol_fault("UnrecognizedClientException", UNKNOWN)
        digest, canonical_parameters = sha256(body).hexdigest(), _canonical_query(query)

        def is_signed_for(host: str) -> bool:
            values = canonical_headers((name, host if name == "host" else headers.get(name, "")) for name in signed)
            canonical = canonical_request(method, values, signed, digest, path=path or "/", query=canonical_parameters)
            expected = signature(_signing_key(secret, day, region), string_to_sign(stamp, scope, canonical))
            return hmac.compare_digest(expected.encode(), parameters["Signature"].encode())

        host = headers.get("host", "")
        # Some clients, such as aiodynamo, sign the host without its port, because AWS endpoints have no port.
        if not is_signed_for(host) and not is_signed_for(host.rpartition(":")[0] or host):
            raise _invalid(MISMATCH)

    def _check_date(self, headers: Headers) -> str:
        stamp = headers.get("x-amz-date", "")
        try:
            if not stamp:
                sent = parsedate_to_datetime(headers["date"]).astimezone(UTC)
                stamp = sent.strftime(STAMP)
            else:
                sent = datetime.strptime(stamp, STAMP).replace(tzinfo=UTC)
        except (ValueError, TypeError, OverflowError):
            raise _incomplete(
                f"Date must be in ISO-8601 'basic format'. Got '{stamp or headers['date']}'. "
                "See http://en.wikipedia.org/wiki/ISO_8601"
            ) from None
        now = self._now()
        if sent < now - SKEW:
            raise _invalid(
                f"Signature expired: {stamp} is now earlier than {_stamp(now - SKEW)} ({_stamp(now)} - 15 min.)"
            )
        if sent > now + SKEW:
            raise _invalid(
                f"Signature not yet current: {stamp} is still later than {_stamp(now + SKEW)} ({_stamp(now)} + 15 min.)"
            )
        return stamp


def _parse(authorization: str, headers: Headers) -> tuple[str, dict[str, str]]:
    algorithm, _, rest = authorization.partition(" ")
    parameters: dict[str, str] = {}
    for part in rest.replace(" ", ",").split(","):
        if not part:
            continue
        name, sign, value = part.partition("=")
        if not sign:
            raise _incomplete(
                f"'{part}' not a valid key=value pair (missing equal-sign) in Authorization header: '{authorization}'."
            )
        parameters[name] = value
    faults = [f"Authorization header requires '{name}' parameter. " for name in _PARAMETERS if not parameters.get(name)]
    if not headers.get("x-amz-date") and not headers.get("date"):
        faults.append("Authorization header requires existence of either a 'X-Amz-Date' or a 'Date' header. ")
    if faults:
        raise _incomplete(f"{''.join(faults)}Authorization={authorization}")
    return algorithm, parameters


def _parse_query(query_parameters: Mapping[str, str]) -> tuple[str, dict[str, str]]:
    names = ("Algorithm", *_PARAMETERS, "Date")
    missing = [f"{_IN_QUERY}{name}" for name in names if not query_parameters.get(f"{_IN_QUERY}{name}")]
    if missing:
        faults = "".join(f"AWS query-string parameters must include '{name}'. " for name in missing)
        raise _incomplete(f"{faults}Re-examine the query-string parameters.")
    return query_parameters[_ALGORITHM_IN_QUERY], {name: query_parameters[f"{_IN_QUERY}{name}"] for name in _PARAMETERS}


def _check_scope(credential: str, stamp: str) -> tuple[str, str, str, str]:
    """The key id, day, region and scope of a credential. Any region is accepted."""
    parts = credential.rstrip("/").split("/")
    if len(parts) != 5:
        raise _incomplete(
            "Credential must have exactly 5 slash-delimited elements, e.g. keyid/date/region/service/term, "
            f"got '{credential}'"
        )
    key_id, day, region, service, term = parts
    faults: list[str] = []
    if service != SERVICE:
        faults.append(f"Credential should be scoped to correct service: '{SERVICE}'. ")
    if term != TERMINATOR:
        faults.append(f"Credential should be scoped with a valid terminator: '{TERMINATOR}', not '{term}'. ")
    if day != stamp[:8]:
        faults.append(
            "Date in Credential scope does not match YYYYMMDD from ISO-8601 version of date from HTTP: "
            f"'{day}' != '{stamp[:8]}', from '{stamp}'."
        )
    if faults:
        raise _invalid("".join(faults))
    return key_id, day, region, "/".join(parts[1:])


def _canonical_query(query: str) -> str:
    pairs = parse_qsl(query, keep_blank_values=True) if query else []
    quoted = sorted(
        (quote(name, safe="-_.~"), quote(value, safe="-_.~"))
        for name, value in pairs
        if name != f"{_IN_QUERY}Signature"
    )
    return "&".join(f"{name}={value}" for name, value in quoted)


@lru_cache(maxsize=64)
def _signing_key(secret: str, day: str, region: str) -> bytes:
    return signing_key(secret, day, region, SERVICE)


def _stamp(time: datetime) -> str:
    return time.strftime(STAMP)


def _incomplete(message: str) -> DynamoDBError:
    return protocol_fault("IncompleteSignatureException", message)


def _invalid(message: str) -> DynamoDBError:
    return protocol_fault("InvalidSignatureException", message)
