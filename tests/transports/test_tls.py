"""TLS trusts the system's certificate authorities, or the authorities in AWS_CA_BUNDLE."""

from __future__ import annotations

import asyncio
import datetime as dt
import ipaddress
import ssl
import time
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from keyplan.errors import StoreError
from tests.transports.calls import Note, Notes
from tests.transports.faulty import FaultyStore, Loop

pytestmark = pytest.mark.usefixtures("impatient")


def certificate(folder: Path, address: str) -> Path:
    """Create a self-signed certificate for one address, with its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "keyplan test")])
    now = dt.datetime.now(dt.UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - dt.timedelta(days=1))
        .not_valid_after(now + dt.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address(address))]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    path = folder / "certificate.pem"
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    path.write_bytes(private + made.public_bytes(serialization.Encoding.PEM))
    return path


def over_tls(store: FaultyStore, loop: Loop, folder: Path, address: str = "127.0.0.1") -> Path:
    """Enable TLS on the store, and return the store's certificate."""
    path = certificate(folder, address)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(path)
    loop.run(store.stop())
    loop.run(store.start(tls=context))
    return path


@pytest.fixture(autouse=True)
def keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "key")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")


def test_calls_over_tls_reuse_connections(
    store: FaultyStore, loop: Loop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Synchronous and asynchronous calls keep their connections open, also after large bodies."""
    monkeypatch.setenv("AWS_CA_BUNDLE", str(over_tls(store, loop, tmp_path)))
    with Notes.open(f"dynamodb+https://{store.address}/notes", create=True) as notes:
        before = store.connections
        for number in range(20):
            notes.put(Note(book="b", number=number, marks=["x" * 15_000]))
        assert len(notes.notes("b", limit=20)) == 20

        async def awaited() -> int:
            for number in range(5):
                await notes.note.aio("b", number)
            return len(await notes.notes.aio("b", limit=20))

        assert asyncio.run(awaited()) == 20
        assert store.connections == before + 1
        notes.put(Note(book="b", number=30))
        assert store.connections == before + 1
    deadline = time.monotonic() + 10
    while store.open_connections and time.monotonic() < deadline:
        time.sleep(0.01)
    assert store.open_connections == 0


def test_untrusted_certificate_is_rejected(store: FaultyStore, loop: Loop, tmp_path: Path) -> None:
    """The client sends no request to a server with an untrusted certificate."""
    over_tls(store, loop, tmp_path)
    with pytest.raises(StoreError, match="isn't trusted") as raised:
        Notes.open(f"dynamodb+https://{store.address}/notes")
    assert "AWS_CA_BUNDLE" in str(raised.value)
    assert store.received == {}


def test_certificate_of_another_host_name_is_rejected(
    store: FaultyStore, loop: Loop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_CA_BUNDLE", str(over_tls(store, loop, tmp_path, "10.0.0.1")))
    with pytest.raises(StoreError, match="isn't trusted"):
        Notes.open(f"dynamodb+https://{store.address}/notes")


def test_missing_ca_bundle_file_raises_an_error(store: FaultyStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_CA_BUNDLE", "/nonexistent.pem")
    with pytest.raises(StoreError, match=r"the certificates in /nonexistent\.pem can't be read"):
        Notes.open(f"dynamodb+https://{store.address}/notes")
