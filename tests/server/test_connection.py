"""A connection: the requests that it handles, the bytes that it writes and buffers, and its timeouts, compared with a
simple model of the received bytes.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from random import Random
from types import SimpleNamespace
from typing import Any, cast

import pytest

from keyplan.store.server.connection import Connection, Connections
from keyplan.store.server.server_settings import Limits
from keyplan.store.server.service import Incoming, Service
from tests.server.support import request

LIMITS = Limits(
    body_bytes_max=40,
    head_bytes_max=1000,
    drained_bytes_max=200,
    drained_s_max=5,
    connections_max=3,
    request_s_max=20,
    body_bytes_per_s_min=2,
    idle_s_max=300,
    pipelined_max=3,
)


class Wire:
    """A transport that records the bytes that are written."""

    def __init__(self) -> None:
        self.written: list[bytes] = []
        self.ended = ""
        self.is_read_paused = False
        self.max_size = 0

    def write(self, data: bytes) -> None:
        assert not self.ended
        self.written.append(data)

    def write_eof(self) -> None:
        assert not self.ended
        self.ended = "half"

    def close(self) -> None:
        self.ended = "closed"

    def abort(self) -> None:
        self.ended = "aborted"

    def pause_reading(self) -> None:
        assert not self.is_read_paused
        self.is_read_paused = True

    def resume_reading(self) -> None:
        assert self.is_read_paused
        self.is_read_paused = False


class Played:
    """A connection to a service that responds when the test calls ``answer``. ``now`` is the monotonic time."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *, immediate: bool = False, limits: Limits = LIMITS) -> None:
        self.now = 1000.0
        self.handled: list[bytes] = []
        self.headers: dict[bytes, bytes] = {}
        self.pending: Callable[[bytes], None] | None = None
        self.immediate = immediate
        self.all = Connections(cast("Service", SimpleNamespace(handle=self._handle)), limits)
        monkeypatch.setattr(time, "monotonic", lambda: self.now)
        self.connection, self.wire = self.opened()

    def opened(self) -> tuple[Connection, Wire]:
        connection, wire = self.all(), Wire()
        connection.connection_made(cast("Any", wire))
        return connection, wire

    def _handle(self, incoming: Incoming, reply: Callable[[bytes], None]) -> None:
        assert self.pending is None, "one at a time"
        self.handled.append(bytes(incoming.body))
        self.headers = dict(incoming.headers)
        if self.immediate:
            reply(b"answer %s" % incoming.body)
        else:
            self.pending = reply

    def answer(self) -> None:
        reply, self.pending = self.pending, None
        assert reply is not None
        reply(b"answer %s" % self.handled[-1])

    def receive(self, data: bytes) -> None:
        self.connection.data_received(data)

    def late_after(self) -> float:
        """Return the seconds until the connection times out: infinite while the server handles a request."""
        late = [seconds for seconds in range(2000) if self.connection.is_late(self.now + seconds)]
        return late[0] - 1 if late else float("inf")


@pytest.mark.parametrize("seed", range(60))
def test_pipelined_requests_in_random_pieces_are_handled_in_order(monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    """Requests arrive in random pieces, are handled at random times, and their responses are read at random times."""
    chance = Random(seed)
    bodies = [b"%d:" % number + b"x" * chance.choice([0, 0, 5, 20, 36]) for number in range(chance.randrange(1, 12))]
    last = chance.random() < 0.3  # the last request closes the connection
    parts = [request("GetItem", body) for body in bodies[:-1]]
    parts.append(request("GetItem", bodies[-1], connection="close" if last else None))
    stream, ends = b"".join(parts), [sum(map(len, parts[: number + 1])) for number in range(len(parts))]
    played = Played(monkeypatch)
    wire, came, paused = played.wire, 0, False
    while came < len(stream) or played.pending or paused:
        event = chance.random()
        if event < 0.6 and came < len(stream) and not wire.is_read_paused:
            size = chance.choice([1, 10, 100, 500, 2000])
            played.receive(stream[came : came + size])
            came = min(came + size, len(stream))
        elif event < 0.8 and played.pending:
            played.answer()
        elif event > 0.9:
            paused = not paused
            (played.connection.pause_writing if paused else played.connection.resume_writing)()
        complete = [body for body, end in zip(bodies, ends, strict=True) if end <= came]
        waiting = complete[len(played.handled) :]
        assert played.handled == bodies[: len(played.handled)]
        assert wire.written == [b"answer %s" % body for body in played.handled[: -1 if played.pending else None]]
        assert played.pending or paused or not waiting
        started = [came - (end - len(body)) for body, end in zip(bodies, ends, strict=True) if end > came]
        partly = max(0, *started[:1], 0)
        assert played.all.buffered_bytes == sum(map(len, waiting)) + partly
        assert wire.is_read_paused == (len(waiting) >= 3 or sum(map(len, waiting)) > 40)
        assert bool(wire.ended) == (last and len(wire.written) == len(bodies))
    assert played.handled == bodies
    played.connection.connection_lost(None)
    assert (played.all.buffered_bytes, played.all.open) == (0, set())


def test_closed_connection_releases_its_request_buffers(monkeypatch: pytest.MonkeyPatch) -> None:
    played = Played(monkeypatch)
    other, _ = played.opened()
    half = request("GetItem", b"half of it")[:-4]
    played.receive(request("GetItem", b"asked") + request("GetItem", b"waits") + half)
    other.data_received(half)
    assert played.all.buffered_bytes == len(b"waits" + b"half o" + b"half o")
    played.connection.connection_lost(None)
    assert (played.all.buffered_bytes, played.all.open) == (len(b"half o"), {other})
    played.answer()  # to a closed connection
    played.connection.resume_writing()
    played.connection.abort()
    played.connection.close_when_idle()
    assert (played.handled, played.wire.written, played.wire.ended) == ([b"asked"], [], "")


@pytest.mark.parametrize("answered", [False, True])
def test_rejection_of_a_request_is_sent_after_pending_responses(
    monkeypatch: pytest.MonkeyPatch, answered: bool
) -> None:
    """Later input is discarded up to a limit, even while another response is pending."""
    played = Played(monkeypatch)
    played.receive(request("GetItem", b"asked"))
    if answered:
        played.answer()
    before = len(played.wire.written)
    played.receive(request("GetItem", b"x" * 41)[:-40])
    assert not answered or (played.wire.ended, played.late_after()) == ("half", 5)
    played.now += 5
    played.receive(b"x" * 100)
    assert len(played.wire.written) == (2 if answered else before)
    assert played.late_after() == (0 if answered else float("inf"))
    if not answered:
        played.answer()
    assert played.wire.written[0] == b"answer asked"
    assert played.wire.written[1].startswith(b"HTTP/1.1 413 ")
    assert (played.wire.ended, played.late_after()) == ("half", 0 if answered else 5)
    played.receive(b"x" * 99)
    assert played.wire.ended == "half"
    played.receive(b"x")
    assert (played.wire.ended, len(played.wire.written)) == ("closed", 2)


@pytest.mark.parametrize("immediate", [False, True])
@pytest.mark.parametrize("following", [request("GetItem", b"more"), b"GARBAGE"])
def test_requests_after_a_connection_close_header_are_ignored(
    monkeypatch: pytest.MonkeyPatch, immediate: bool, following: bytes
) -> None:
    played = Played(monkeypatch, immediate=immediate)
    played.receive(request("GetItem", b"last", connection="close") + following)
    if not immediate:
        played.answer()
    played.receive(following)
    assert (played.handled, played.wire.written, played.wire.ended) == ([b"last"], [b"answer last"], "closed")


@pytest.mark.parametrize("immediate", [False, True])
def test_invalid_request_is_rejected_once_and_closes_the_connection(
    monkeypatch: pytest.MonkeyPatch, immediate: bool
) -> None:
    played = Played(monkeypatch, immediate=immediate)
    played.receive(request("GetItem", b"asked") + b"GARBAGE\r\n\r\n")
    if not immediate:
        played.answer()
    played.receive(b"GARBAGE\r\n\r\n")
    answered, refused = played.wire.written
    assert answered == b"answer asked"
    assert refused.startswith(b"HTTP/1.1 400 ")
    assert b"\r\nconnection: close\r\n" in refused.lower()
    assert played.wire.ended == "closed"


def test_buffered_bodies_of_all_connections_share_one_size_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """A client can send its body after the response 100 Continue, which is sent after pending responses."""
    played = Played(monkeypatch, limits=replace(LIMITS, buffered_bytes_max=99))
    (other, refused), (third, wire) = played.opened(), played.opened()
    data = request("GetItem", b"x" * 40, expect="100-continue")
    played.receive(request("GetItem", b"") + data[:-10])
    other.data_received(data[:-10])
    third.data_received(data[:-40])
    assert wire.written == [b"HTTP/1.1 100 Continue\r\n\r\n"]
    assert played.wire.written == []
    third.data_received(data[-40:-1])
    assert (played.all.buffered_bytes, wire.ended) == (99, "")
    other.data_received(data[-10:-9])
    assert b"ServiceUnavailableException" in refused.written[-1]
    assert refused.ended == "closed"


@pytest.mark.parametrize("drained", [False, True])
def test_client_that_closes_its_sending_side_gets_all_responses(monkeypatch: pytest.MonkeyPatch, drained: bool) -> None:
    played = Played(monkeypatch)
    assert played.connection.eof_received() is False  # asyncio closes it then
    played = Played(monkeypatch)
    played.connection.pause_writing()
    played.receive(request("GetItem", b"waits"))
    assert played.connection.eof_received() is True
    played = Played(monkeypatch)
    two = b"".join(request("GetItem", body) for body in (b"1", b"2"))
    played.receive(two + (request("GetItem", b"x" * 41)[:-41] if drained else b""))
    assert played.connection.eof_received() is True
    played.answer()
    assert not played.wire.ended
    played.answer()
    assert (played.wire.ended, len(played.wire.written)) == ("closed", 3 if drained else 2)


def test_time_limit_of_a_connection_depends_on_its_state(monkeypatch: pytest.MonkeyPatch) -> None:
    """A request has 20 s, plus 0.5 s per received body byte. An idle connection and an unread response have 300 s."""
    played = Played(monkeypatch)
    assert played.late_after() == 20
    played.now += 100
    data = request("GetItem", b"x" * 40)
    played.receive(data[:10])
    played.now += 8
    assert played.late_after() == 12
    played.receive(data[10:-30])
    assert played.late_after() == 12 + 5
    played.receive(data[-30:])
    assert played.late_after() == float("inf")
    played.now += 1000
    played.answer()
    assert played.late_after() == 300
    played.receive(data)
    played.now += 1000
    played.connection.pause_writing()
    played.receive(data)
    played.receive(data[:10])
    played.now += 3
    played.answer()
    assert played.late_after() == 300  # a response waits for the client to read
    played.now += 7
    played.connection.pause_writing()
    assert played.late_after() == 300
    played.connection.resume_writing()
    played.now += 9
    assert played.late_after() == float("inf")


def test_connections_over_their_time_limit_are_aborted_and_idle_ones_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    played = Played(monkeypatch)
    (slow, slow_wire), (idle, idle_wire) = played.opened(), played.opened()
    idle.data_received(request("GetItem", b"before"))
    played.answer()
    assert Connections(played.all.service, LIMITS, played.all.open).open is played.all.open
    assert played.all.open == {played.connection, slow, idle}
    slow.data_received(b"POST")
    played.receive(request("GetItem", b"asked") + request("GetItem", b"waits"))
    played.now += 20
    played.all.end_late()
    assert (slow_wire.ended, idle_wire.ended) == ("", "")
    played.now += 1
    played.all.end_late()
    assert (slow_wire.ended, idle_wire.ended, played.wire.ended) == ("aborted", "", "")
    played.all.close_idle()
    assert (idle_wire.ended, played.wire.ended) == ("closed", "")
    played.answer()
    assert (played.wire.ended, played.pending) == ("", played.pending)
    played.answer()
    assert (played.wire.ended, len(played.wire.written)) == ("closed", 2)


def test_new_connection_over_the_limit_replaces_the_longest_idle_one(monkeypatch: pytest.MonkeyPatch) -> None:
    played = Played(monkeypatch)
    played.now += 1
    (asking, asking_wire), (idle, idle_wire) = played.opened(), played.opened()
    asking.data_received(b"POST")
    newcomer, newcomer_wire = played.opened()
    assert (played.wire.ended, asking_wire.ended, idle_wire.ended) == ("aborted", "", "")
    idle.data_received(b"POST")
    newcomer.data_received(b"POST")
    _, refused_wire = played.opened()
    assert (refused_wire.ended, newcomer_wire.ended) == ("aborted", "")
    assert played.all.open == {asking, idle, newcomer}


@pytest.mark.parametrize("size", [400, 1000, 2000])
def test_request_line_and_headers_over_the_size_limit_are_rejected(monkeypatch: pytest.MonkeyPatch, size: int) -> None:
    """The limit applies to each request of a connection. The values of repeated headers are joined."""
    limits = replace(LIMITS, body_bytes_max=5000)
    played = Played(monkeypatch, immediate=True, limits=limits)

    def receive(data: bytes) -> None:
        for start in range(0, len(data), size):
            played.receive(data[start : start + size])

    plain = request("GetItem", b"x" * 3000)
    lines = plain.partition(b"\r\n\r\n")[0].split(b"\r\n")[1:]
    taken = len(b"/") + sum(len(line) - len(b": ") for line in lines) + 2 * len(b"x-more")
    most = plain.replace(b"\r\n", b"\r\nx-more: 1\r\nx-more: %s\r\n" % (b"2" * (1000 - taken - 1)), 1)
    for _ in range(3):
        receive(most)
    assert played.handled == [b"x" * 3000] * 3
    assert played.headers[b"x-more"] == b"1,2" + b"2" * (1000 - taken - 2)
    receive(most.replace(b": 1", b": 11"))
    assert len(played.handled) == 3
    refused = played.wire.written[-1]
    assert refused.startswith(b"HTTP/1.1 400 ")
    assert b"\r\nconnection: close\r\n" in refused.lower()


CHUNKED = b"POST / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n5\r\nasked\r\n"


def test_trailers_of_a_chunked_body_do_not_change_headers(monkeypatch: pytest.MonkeyPatch) -> None:
    played = Played(monkeypatch, immediate=True)
    played.receive(CHUNKED + b"0\r\nx-amz-target: other\r\nhost: other\r\n\r\n")
    assert played.handled == [b"asked"]
    assert played.headers == {b"host": b"a", b"transfer-encoding": b"chunked"}


@pytest.mark.parametrize("start", [b"0\r\nx: ", b"1;extension="])
def test_trailers_and_chunk_sizes_over_the_limit_are_rejected(monkeypatch: pytest.MonkeyPatch, start: bytes) -> None:
    played = Played(monkeypatch, immediate=True)
    played.receive(CHUNKED)
    played.receive(start + b"x" * 500)
    assert not played.wire.ended
    played.receive(b"x" * 500)
    assert (played.wire.ended, played.handled, played.wire.written[-1][:13]) == ("closed", [], b"HTTP/1.1 400 ")


def test_incomplete_request_headers_over_the_size_limit_are_rejected(monkeypatch: pytest.MonkeyPatch) -> None:
    """The server reads a quarter as many bytes at a time as asyncio does, because all of them may be headers."""
    played = Played(monkeypatch, immediate=True)
    assert 4 * played.wire.max_size == 256 * 1024
    played.receive(request("GetItem", b"asked"))
    played.receive(b"POST /" + b"x" * 994)
    assert not played.wire.ended
    played.receive(b"x")
    assert (played.wire.ended, played.wire.written[-1][:13]) == ("closed", b"HTTP/1.1 400 ")
