"""Signature Version 4: requests that botocore signs are accepted, or rejected with DynamoDB's messages."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import Any

import pytest
from botocore.auth import SigV4Auth, SigV4QueryAuth  # type: ignore[import-untyped]
from botocore.awsrequest import AWSRequest  # type: ignore[import-untyped]
from botocore.credentials import Credentials  # type: ignore[import-untyped]
from hypothesis import given
from hypothesis import strategies as st

from keyplan.errors import DynamoDBError, RequestError
from keyplan.store.server import Settings
from keyplan.store.server.service import Incoming, Regional, Service
from keyplan.store.server.signatures import MISMATCH, MISSING, UNKNOWN, Verifier
from tests.server.support import Server, request, serving

ID, SECRET = "dev", "a+secret/with=signs"
BODY = b'{"TableName": "orders"}'


def clock() -> datetime:
    """Return the time at which botocore signs."""
    return datetime.now(UTC)


def signed(
    body: bytes = BODY, secret: str = SECRET, token: str | None = None, region: str = "eu-west-1"
) -> dict[str, str]:
    """Return the headers of a signed request, with lowercase names."""
    headers = {"X-Amz-Target": "DynamoDB_20120810.ListTables", "Content-Type": "application/x-amz-json-1.0"}
    made = AWSRequest("POST", "http://localhost:8000/", headers=headers, data=body)
    SigV4Auth(Credentials(ID, secret, token), "dynamodb", region).add_auth(made)
    return {"host": "localhost:8000", **{name.lower(): value for name, value in made.headers.items()}}


def verify(headers: dict[str, str], body: bytes = BODY, now: datetime | None = None) -> None:
    Verifier({ID: SECRET, "other": "secret"}, lambda: now or clock()).verify("POST", "/", headers, body)


def refusal(headers: dict[str, str], body: bytes = BODY, now: datetime | None = None) -> tuple[str, str]:
    with pytest.raises(DynamoDBError) as caught:
        verify(headers, body, now)
    return caught.value.type, caught.value.message


@given(
    body=st.binary(max_size=200), secret=st.text(min_size=1, max_size=40), region=st.sampled_from(["eu-west-1", "x"])
)
def test_botocore_signatures_are_accepted(body: bytes, secret: str, region: str) -> None:
    Verifier({ID: secret}, clock).verify("POST", "/", signed(body, secret, region=region), body)


def test_query_strings_and_header_spaces_are_canonicalized_before_verification() -> None:
    made = AWSRequest(
        "POST",
        "http://localhost:8000/?b=2&a=x%20y&a=",
        headers={"X-Amz-Target": "DynamoDB_20120810.ListTables", "X-Amz-Note": "  two   words "},
        data=BODY,
    )
    made.params = {}
    SigV4Auth(Credentials(ID, SECRET), "dynamodb", "eu-west-1").add_auth(made)
    headers = {"host": "localhost:8000", **{name.lower(): value for name, value in made.headers.items()}}
    Verifier({ID: SECRET}, clock).verify("POST", "/?b=2&a=x%20y&a=", headers, BODY)


def test_requests_changed_after_signing_are_rejected() -> None:
    verify(signed())
    wrong = ("InvalidSignatureException", MISMATCH)
    assert refusal(signed(), b"{}") == wrong
    assert refusal(signed(secret="another")) == wrong
    assert refusal({**signed(), "host": "elsewhere"}) == wrong
    assert refusal({**signed(), "x-amz-target": "DynamoDB_20120810.DeleteTable"}) == wrong
    headers = signed()
    headers["authorization"] = headers["authorization"][:-1] + ("0" if headers["authorization"][-1] != "0" else "1")
    assert refusal(headers) == wrong
    headers["authorization"] = headers["authorization"].replace("Signature=", "Signature=\xe9")
    assert refusal(headers) == wrong


def test_unknown_or_missing_credentials_are_rejected() -> None:
    unknown = ("UnrecognizedClientException", UNKNOWN)
    assert refusal({**signed(), "authorization": signed()["authorization"].replace("=dev/", "=someone/")}) == unknown
    assert refusal(signed(token="session")) == unknown
    assert refusal({}) == ("MissingAuthenticationTokenException", MISSING)
    assert refusal({"authorization": "Basic x"}) == ("MissingAuthenticationTokenException", MISSING)


@pytest.mark.parametrize("minutes", [-14, 14])
def test_clocks_of_client_and_server_may_differ_by_up_to_15_minutes(minutes: int) -> None:
    headers = signed()
    verify(headers, now=sent_at(headers) + timedelta(minutes=minutes))


def sent_at(headers: dict[str, str]) -> datetime:
    return datetime.strptime(headers["x-amz-date"], "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC)


def test_expired_and_future_signatures_are_rejected() -> None:
    headers = signed()
    stamp, sent = headers["x-amz-date"], sent_at(headers)
    late, early = sent + timedelta(minutes=16), sent - timedelta(minutes=16)
    type_, message = refusal(headers, now=late)
    assert type_ == "InvalidSignatureException"
    assert message == (
        f"Signature expired: {stamp} is now earlier than {late - timedelta(minutes=15):%Y%m%dT%H%M%SZ} "
        f"({late:%Y%m%dT%H%M%SZ} - 15 min.)"
    )
    type_, message = refusal(headers, now=early)
    assert type_ == "InvalidSignatureException"
    assert message.startswith(f"Signature not yet current: {stamp} is still later than ")


def changed(old: str, new: str) -> dict[str, str]:
    headers = signed()
    assert old in headers["authorization"]
    return {**headers, "authorization": headers["authorization"].replace(old, new)}


def test_malformed_authorization_headers_are_rejected() -> None:
    day = signed()["x-amz-date"][:8]
    incomplete = "IncompleteSignatureException"
    invalid = "InvalidSignatureException"
    type_, message = refusal({**signed(), "authorization": "AWS4-HMAC-SHA256 Credential=x"})
    assert type_ == incomplete
    assert message == (
        "Authorization header requires 'Signature' parameter. Authorization header requires 'SignedHeaders' parameter. "
        "Authorization=AWS4-HMAC-SHA256 Credential=x"
    )
    without_date = {name: value for name, value in signed().items() if name != "x-amz-date"}
    assert "existence of either a 'X-Amz-Date' or a 'Date' header. " in refusal(without_date)[1]
    assert "existence of either" in refusal({**signed(), "x-amz-date": ""})[1]
    assert refusal({**signed(), "x-amz-date": "yesterday"})[0] == incomplete
    assert refusal({**without_date, "date": "yesterday"})[0] == incomplete
    type_, message = refusal(changed("SignedHeaders=", "SignedHeaders,"))
    assert type_ == incomplete
    assert message.startswith(
        "'SignedHeaders' not a valid key=value pair (missing equal-sign) in Authorization header: "
    )
    assert refusal(changed("AWS4-HMAC-SHA256", "AWS4-HMAC-SHA512")) == (
        incomplete,
        "Unsupported AWS 'algorithm': 'AWS4-HMAC-SHA512' (only AWS4-HMAC-SHA256 for now). ",
    )
    assert refusal(changed(f"=dev/{day}/", "=dev/"))[0] == incomplete
    assert refusal(changed("/dynamodb/aws4_request", "/s3/aws4")) == (
        invalid,
        (
            "Credential should be scoped to correct service: 'dynamodb'. "
            "Credential should be scoped with a valid terminator: 'aws4_request', not 'aws4'. "
        ),
    )
    stamp = signed()["x-amz-date"]
    assert refusal(changed(f"/{day}/", "/20200101/")) == (
        invalid,
        (
            "Date in Credential scope does not match YYYYMMDD from ISO-8601 version of date from HTTP: "
            f"'20200101' != '{day}', from '{stamp}'."
        ),
    )
    for name in ("host", "x-amz-target"):
        assert refusal(changed(f"{name}", "x-other"))[0] == invalid


@given(st.text(max_size=200), st.text(max_size=30))
def test_random_authorization_headers_are_rejected(authorization: str, date: str) -> None:
    refusal({"authorization": "AWS4-HMAC-SHA256 " + authorization, "x-amz-date": date})
    refusal({**signed(), "authorization": "AWS4-" + authorization})


def test_request_signed_without_the_port_of_the_host_is_accepted() -> None:
    verifier = Verifier({ID: SECRET}, clock)
    made = AWSRequest("POST", "http://localhost/", headers={"X-Amz-Target": "DynamoDB_20120810.ListTables"}, data=BODY)
    SigV4Auth(Credentials(ID, SECRET), "dynamodb", "eu-west-1").add_auth(made)
    headers = {name.lower(): value for name, value in made.headers.items()}
    verifier.verify("POST", "/", {**headers, "host": "localhost:8000"}, BODY)
    with pytest.raises(DynamoDBError, match="does not match"):
        verifier.verify("POST", "/", {**headers, "host": "elsewhere:8000"}, BODY)


class _BodySigner(SigV4QueryAuth):  # type: ignore[misc] # botocore has no types
    """A signer that signs the body, while botocore's own signer would move the body into the query string."""

    def payload(self, request: Any) -> str:
        return sha256(BODY).hexdigest()


def query_signed(expires_s: int = 3600) -> tuple[str, dict[str, str]]:
    """Return the URL and headers of a request whose query string contains the signature."""
    headers = {"X-Amz-Target": "DynamoDB_20120810.ListTables", "Content-Type": "application/x-amz-json-1.0"}
    made = AWSRequest("POST", "http://localhost:8000/", headers=headers)
    _BodySigner(Credentials(ID, SECRET), "dynamodb", "eu-west-1", expires_s).add_auth(made)
    return made.url.removeprefix("http://localhost:8000"), {
        "host": "localhost:8000",
        **{name.lower(): value for name, value in headers.items()},
    }


def test_signature_in_the_query_string_is_accepted() -> None:
    url, headers = query_signed()
    verifier = Verifier({ID: SECRET}, clock)

    def refused(url: str, body: bytes = BODY, **more: str) -> str:
        with pytest.raises(DynamoDBError) as caught:
            verifier.verify("POST", url, {**headers, **more}, body)
        return f"{caught.value.type}: {caught.value.message}"

    verifier.verify("POST", url, headers, BODY)
    assert refused(url, b"{}") == f"InvalidSignatureException: {MISMATCH}"
    assert refused(url, authorization="AWS4-") == (
        "InvalidSignatureException: "
        "Found both 'X-Amz-Algorithm' as a query-string param and 'Authorization' as HTTP header."
    )
    assert refused("/?X-Amz-Algorithm=a&X-Amz-Date=b") == (
        "IncompleteSignatureException: AWS query-string parameters must include 'X-Amz-Credential'. AWS query-string "
        "parameters must include 'X-Amz-Signature'. AWS query-string parameters must include 'X-Amz-SignedHeaders'. "
        "Re-examine the query-string parameters."
    )
    assert refused("/?a=b") == f"MissingAuthenticationTokenException: {MISSING}"


@pytest.mark.parametrize("expires_s", [1, 900, 604_800])
def test_signature_in_the_query_string_expires_after_15_minutes(expires_s: int) -> None:
    """X-Amz-Expires has no effect: only S3 uses it, and other services ignore it (aws-sdk-go issues 2167, 2304)."""
    url, headers = query_signed(expires_s)
    assert f"X-Amz-Expires={expires_s}&" in url
    Verifier({ID: SECRET}, lambda: clock() + timedelta(minutes=14)).verify("POST", url, headers, BODY)
    with pytest.raises(DynamoDBError, match=r"Signature expired: .* - 15 min"):
        Verifier({ID: SECRET}, lambda: clock() + timedelta(minutes=16)).verify("POST", url, headers, BODY)


def test_signature_in_the_query_string_selects_the_region() -> None:
    url, headers = query_signed()
    regions: list[str] = []

    class Recording(Service):
        def __init__(self, region: str) -> None:
            self.region = region

        def handle(self, request: Incoming, reply: Any) -> None:
            regions.append(self.region)

    services = {region: Recording(region) for region in ("us-east-1", "eu-west-1")}
    sent = {name.encode(): value.encode() for name, value in headers.items()}
    Regional(services).handle(Incoming(b"POST", url.encode(), sent, BODY), lambda _answer: None)
    assert regions == ["eu-west-1"]


@pytest.fixture(scope="module")
def guarded() -> Iterator[Server]:
    """A server that requires an access key."""
    with serving(":memory:", keys={ID: SECRET}) as server:
        yield server


def test_server_with_access_keys_requires_signatures(guarded: Server) -> None:
    headers: dict[str, Any] = {name.replace("-", "_"): value for name, value in signed(b"{}").items()}
    with guarded.raw() as raw:
        assert raw.ask(request(None, **headers)).status == 200
        assert raw.ask(request(None, b"{} ", **headers)).message == MISMATCH
        assert raw.ask(request("ListTables")).type.endswith("#IncompleteSignatureException")
        assert raw.ask(request("ListTables", authorization=None)).type.endswith("#MissingAuthenticationTokenException")
        assert raw.ask(request(None, b"", method="GET")).status == 200


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.5", "example.com", ""])
def test_server_without_access_keys_is_limited_to_loopback(host: str) -> None:
    with pytest.raises(RequestError, match="other machines can reach"):
        Settings(db=":memory:", host=host)
    assert Settings(db=":memory:", host=host, keys={ID: SECRET}).host == host
