"""Faults of connections, as the failures that they are: refused, unknown host, untrusted, too slow, closed, garbage."""

from __future__ import annotations

import os
import socket
import ssl

from keyplan.client.transports.http1 import ProtocolViolation
from keyplan.client.transports.proxies import Proxy, ProxyRefusedError
from keyplan.client.transports.responses import Failure, Kind
from keyplan.client.transports.urls import Location
from keyplan.errors import StoreError

__all__ = ["busy", "closed", "connect_failed", "exchange_failed", "tls_context", "too_slow"]

_AUTHORITIES = ("AWS_CA_BUNDLE", "REQUESTS_CA_BUNDLE")


def connect_failed(location: Location, error: OSError | ssl.SSLError, proxy: Proxy | None = None) -> Failure:
    """No connection: nothing was sent. ``proxy``: to that one."""
    where = location.endpoint if proxy is None else f"{location.endpoint} by {proxy}"
    if isinstance(error, ssl.SSLCertVerificationError):
        return Failure(
            StoreError(
                f"{where} isn't trusted: {error.verify_message}",
                hint="AWS_CA_BUNDLE names a file with the authority's certificate",
            )
        )
    if isinstance(error, ssl.SSLError):
        why, hint = f"no TLS: {error}", "an endpoint without TLS is dynamodb+http://HOST:PORT/TABLE"
    elif isinstance(error, ProxyRefusedError):
        why, hint = str(error), "HTTPS_PROXY names the proxy with user and password; NO_PROXY what needs none"
    elif isinstance(error, socket.gaierror):
        why, hint = (
            f"there is no host {location.host if proxy is None else proxy.host}",
            "see that the region or host is spelt right, and the network is up",
        )
    elif isinstance(error, TimeoutError):
        seconds = location.settings.connect_seconds
        why, hint = f"no connection within {seconds:g} s", "see to the network; ?connect_seconds= waits longer"
    elif isinstance(error, ConnectionRefusedError):
        why, hint = "nothing listens there", "see that the store is running, and that the port is right"
    else:
        why, hint = f"no connection: {error}", "see to the network"
    return Failure(StoreError(f"{where}: {why}", hint=hint), Kind.TRANSIENT)


def exchange_failed(location: Location, error: OSError | ssl.SSLError | ProtocolViolation) -> Failure:
    """The connection broke, or what came isn't an answer, after something was sent."""
    if isinstance(error, TimeoutError):
        return too_slow(location)
    if isinstance(error, ProtocolViolation):
        text = f"{location.endpoint}: {error}"
        hint = "see that the URL is that of DynamoDB; an endpoint with TLS is dynamodb+https://HOST:PORT/TABLE"
        return Failure(StoreError(text, hint=hint), Kind.TRANSIENT, lost=True)
    text = f"{location.endpoint}: the connection broke: {error}"
    return Failure(StoreError(text, hint="see to the network, and try again"), Kind.TRANSIENT, lost=True)


def closed(location: Location) -> Failure:
    """The store closed the connection before the answer was whole."""
    text = f"{location.endpoint}: the connection was closed before the answer was whole"
    return Failure(StoreError(text, hint="see to the network, and try again"), Kind.TRANSIENT, lost=True)


def too_slow(location: Location) -> Failure:
    """No whole answer in time."""
    text = f"{location.endpoint}: no answer within {location.settings.answer_seconds:g} s, or the call's own time"
    hint = "?answer_seconds= and ?total_seconds= wait longer"
    return Failure(StoreError(text, hint=hint), Kind.TRANSIENT, lost=True)


def busy(location: Location) -> Failure:
    """All connections are in use, and stayed so. Nothing was sent."""
    number = location.settings.connections
    text = f"{location.endpoint}: all {number} connections were busy for {location.settings.total_seconds:g} s"
    return Failure(StoreError(text, hint="?connections= allows more of them"))


def tls_context() -> ssl.SSLContext:
    """TLS as Python sets it up, with the authorities of the system or those that AWS's variables name."""
    bundle = next((os.environ[name] for name in _AUTHORITIES if os.environ.get(name)), None)
    try:
        return ssl.create_default_context(cafile=bundle)
    except OSError as error:
        raise StoreError(
            f"the certificates in {bundle} can't be read: {error}", hint="AWS_CA_BUNDLE names them"
        ) from None
