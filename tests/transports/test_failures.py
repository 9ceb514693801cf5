"""What each fault of a connection becomes: its words, whether another attempt may help, and whether something may have
been done.
"""

from __future__ import annotations

import socket
import ssl
from collections.abc import Callable

import pytest

from keyplan.client.transports import faults
from keyplan.client.transports.http1 import ProtocolViolation
from keyplan.client.transports.replies import Failure
from keyplan.client.transports.urls import Location
from tests.agreed import assert_agreed

LOCATION = Location("dynamodb+http://db.example:8000/t", "db.example", 8000, tls=False, region="eu-west-1", table="t")
MADE: dict[str, Callable[[], Failure]] = {
    "refused": lambda: faults.connect_failed(LOCATION, ConnectionRefusedError()),
    "no host": lambda: faults.connect_failed(LOCATION, socket.gaierror(-2, "Name or service not known")),
    "no connection in time": lambda: faults.connect_failed(LOCATION, TimeoutError()),
    "no TLS": lambda: faults.connect_failed(
        LOCATION, ssl.SSLError(1, "[SSL: WRONG_VERSION_NUMBER] wrong version number")
    ),
    "another": lambda: faults.connect_failed(LOCATION, OSError("Network is unreachable")),
    "no answer in time": lambda: faults.exchange_failed(LOCATION, TimeoutError()),
    "no HTTP": lambda: faults.exchange_failed(LOCATION, ProtocolViolation("no status line")),
    "broken": lambda: faults.exchange_failed(LOCATION, ConnectionResetError("reset by peer")),
    "closed": lambda: faults.closed(LOCATION),
    "busy": lambda: faults.busy(LOCATION),
}


@pytest.mark.parametrize("name", MADE)
def test_what_a_fault_becomes_is_as_it_was_agreed_upon(name: str) -> None:
    failure = MADE[name]()
    assert_agreed(f"{failure.error}\n{failure.kind.name}{', may have been done' if failure.lost else ''}")
