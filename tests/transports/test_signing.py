"""Signature Version 4, tested with AWS's published vectors and with botocore's signer on random requests."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any

import botocore.auth  # type: ignore[import-untyped]
import botocore.awsrequest  # type: ignore[import-untyped]
import botocore.credentials  # type: ignore[import-untyped]
import botocore.session  # type: ignore[import-untyped]
import pytest
from hypothesis import given
from hypothesis import strategies as st

from keyplan.client.transports.credentials import Credentials
from keyplan.client.transports.signing import Signer
from keyplan.dynamodb.signing import canonical_headers, canonical_request, signature, signing_key, string_to_sign

SECRET = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"
DATE = "20150830T123600Z"
SCOPE = "20150830/us-east-1/service/aws4_request"
HOST = ("Host", "example.amazonaws.com")
WHEN = ("X-Amz-Date", DATE)
TOKEN = (
    "AQoDYXdzEPT//////////wEXAMPLEtc764bNrC9SAPBSM22wDOk4x4HIZ8j4FZTwdQWLWsKWHGBuFqwAeMicRXmxfpSPfIeoIYRqTflfKD8Y"
    "UuwthAx7mSEI/qkPpKPi/kMcGdQrmGdeehM4IC1NtBmUpp2wUE8phUZampKsburEDy0KPkyQDYwT7WZ0wq5VSXDvp75YU9HFvlRd8Tx6q6fE8"
    "YQcHNVXAkiY9q6d+xo0rKwT38xVqr7ZD0u0iPPkUL64lIZbqBAz+scqKmlzm8FDrypNC9Yjc8fPOLn9FX9KSYvKTr4rvx3iSIlTJabIQwj2IC"
    "CR/oLxBA=="
)

# By name in AWS's test suite: method, headers, body, signature.
VECTORS: dict[str, tuple[str, list[tuple[str, str]], bytes, str]] = {
    "get-vanilla": ("GET", [HOST, WHEN], b"", "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"),
    "post-vanilla": ("POST", [HOST, WHEN], b"", "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b"),
    "get-header-key-duplicate": (
        "GET",
        [HOST, ("My-Header1", "value2"), ("My-Header1", "value2"), ("My-Header1", "value1"), WHEN],
        b"",
        "c9d5ea9f3f72853aea855b47ea873832890dbdd183b4468f858259531a5138ea",
    ),
    "get-header-value-order": (
        "GET",
        [HOST, *(("My-Header1", f"value{number}") for number in (4, 1, 3, 2)), WHEN],
        b"",
        "08c7e5a9acfcfeb3ab6b2185e75ce8b1deb5e634ec47601a50643f830c755c01",
    ),
    "get-header-value-trim": (
        "GET",
        [HOST, ("My-Header1", " value1"), ("My-Header2", ' "a   b   c"'), WHEN],
        b"",
        "acc3ed3afb60bb290fc8d2dd0098b9911fcaa05412b367055dee359757a9c736",
    ),
    "post-header-key-sort": (
        "POST",
        [HOST, ("My-Header1", "value1"), WHEN],
        b"",
        "c5410059b04c1ee005303aed430f6e6645f61f4dc9e1461ec8f8916fdf18852c",
    ),
    "post-header-value-case": (
        "POST",
        [HOST, ("My-Header1", "VALUE1"), WHEN],
        b"",
        "cdbc9802e29d2942e5e10b5bccfdd67c5f22c7c4e8ae67b53629efa58b974b7d",
    ),
    "post-sts-header-before": (
        "POST",
        [HOST, WHEN, ("X-Amz-Security-Token", TOKEN)],
        b"",
        "85d96828115b5dc0cfc3bd16ad9e210dd772bbebba041836c64533a82be05ead",
    ),
    "post-x-www-form-urlencoded": (
        "POST",
        [("Content-Type", "application/x-www-form-urlencoded"), HOST, WHEN],
        b"Param1=value1",
        "ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a",
    ),
}


def test_signing_keys_equal_the_documented_examples() -> None:
    """The two examples are in AWS's documentation."""
    key = signing_key(SECRET, "20120215", "us-east-1", "iam")
    assert key.hex() == "f4780e2d9f65fa895f9c67b32ce1baf0b0d8a43505a000a1a9e090d414db404d"
    key = signing_key(SECRET, "20150830", "us-east-1", "iam")
    assert key.hex() == "c4afb1cc5771d871763a393e44b703571b55cc28424d1a5e86da6ed3c154a4b9"


@pytest.mark.parametrize("name", VECTORS)
def test_signatures_equal_the_aws_test_vectors(name: str) -> None:
    """The vectors are the requests in AWS's test suite with the path / and no query, like DynamoDB's requests."""
    method, headers, body, expected = VECTORS[name]
    values = canonical_headers(headers)
    canonical = canonical_request(method, values, sorted(values), sha256(body).hexdigest())
    key = signing_key(SECRET, "20150830", "us-east-1", "service")
    assert signature(key, string_to_sign(DATE, SCOPE, canonical)) == expected


def botocore_signature(
    headers: list[tuple[str, str]], body: bytes, credentials: Credentials, region: str, url: str, timestamp: datetime
) -> str:
    """Return botocore's Authorization header."""
    request = botocore.awsrequest.AWSRequest("POST", url, data=body)
    for name, value in headers:
        request.headers.add_header(name, value)
    held = botocore.credentials.Credentials(*credentials)
    auth = botocore.auth.SigV4Auth(held, "dynamodb", region)
    request.context["timestamp"] = timestamp.strftime("%Y%m%dT%H%M%SZ")
    canonical = auth.canonical_request(request)
    text = auth.string_to_sign(request, canonical)
    names = auth.signed_headers(auth.headers_to_sign(request))
    scope = f"{timestamp:%Y%m%d}/{region}/dynamodb/aws4_request"
    sealed = auth.signature(text, request)
    return f"AWS4-HMAC-SHA256 Credential={credentials.access_key}/{scope}, SignedHeaders={names}, Signature={sealed}"


PRINTABLE = st.text(st.characters(min_codepoint=32, max_codepoint=126), min_size=1, max_size=30)
TOKENS = st.one_of(st.none(), st.text("abcXYZ019+/=", min_size=1, max_size=400))
TIMESTAMPS = st.integers(0, 4_102_444_800)
NAMES = st.from_regex(r"X-Amz-Meta-[A-Za-z0-9-]{1,12}", fullmatch=True)
VALUES = st.text(st.characters(min_codepoint=32, max_codepoint=126), max_size=40)


@given(
    st.sampled_from(["GetItem", "TransactWriteItems", "Query"]),
    st.one_of(st.binary(max_size=300), st.text(max_size=100).map(lambda text: text.encode("utf-8", "surrogatepass"))),
    st.builds(Credentials, st.text("ABCDEF0123", min_size=1, max_size=20), PRINTABLE, TOKENS),
    st.sampled_from(["eu-west-1", "us-gov-west-1", "cn-north-1"]),
    st.sampled_from(["localhost:8000", "dynamodb.eu-west-1.amazonaws.com", "[::1]:8000"]),
    TIMESTAMPS,
)
def test_signatures_equal_those_of_botocore(
    operation: str, body: bytes, credentials: Credentials, region: str, authority: str, second: int
) -> None:
    signer = Signer(authority, region, (("User-Agent", "keyplan"),))
    signed = signer.request(operation, body, credentials, second + 0.25)
    assert signed.body == body
    head, _, rest = signed.head.partition(b"\r\n\r\n")
    assert rest == b""
    lines = [line.partition(": ") for line in head.decode().split("\r\n")[1:]]
    headers = {name: value for name, _, value in lines}
    assert len(headers) == len(lines)
    assert int(headers["Content-Length"]) == len(body)
    listed = re.search("SignedHeaders=([^,]*),", headers["Authorization"])
    assert listed is not None
    covered = [(name, value) for name, value in headers.items() if name.lower() in listed.group(1).split(";")]
    assert {name for name, _ in covered} >= {"Host", "X-Amz-Date", "X-Amz-Target", "Content-Type"}
    timestamp = datetime.fromtimestamp(second, UTC)
    expected = botocore_signature(covered, body, credentials, region, f"http://{authority}/", timestamp)
    assert headers["Authorization"] == expected


@given(
    st.dictionaries(NAMES, VALUES, max_size=6).map(lambda result: {name.lower(): result[name] for name in result}),
    st.binary(max_size=50),
)
def test_canonical_headers_equal_those_of_botocore(headers: dict[str, str], body: bytes) -> None:
    """Headers have any order, and their values have white space in any position."""
    pairs = [("Host", "h"), ("X-Amz-Date", DATE), *headers.items()]
    values = canonical_headers(pairs)
    names = sorted(values)
    ours = canonical_request("POST", values, names, sha256(body).hexdigest())
    request = botocore.awsrequest.AWSRequest("POST", "http://h/", data=body)
    for name, value in pairs:
        request.headers.add_header(name, value)
    auth: Any = botocore.auth.SigV4Auth(botocore.credentials.Credentials("a", "b"), "dynamodb", "eu-west-1")
    assert ours == auth.canonical_request(request)
    assert ";".join(names) == auth.signed_headers(auth.headers_to_sign(request))


def test_repr_of_credentials_does_not_contain_secrets() -> None:
    assert "hidden" not in f"{Credentials('AKID', 'hidden', 'hidden')!r}{Credentials('AKID', 'hidden', 'hidden')}"
