"""Settings of a server, and the rules that they must follow before it listens."""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal
from urllib.parse import urlsplit

from keyplan.dynamodb.limits import BATCH_WRITE_BYTES_MAX
from keyplan.errors import RequestError
from keyplan.store import SHARD_S

MEMORY = ":memory:"


@dataclass(frozen=True, slots=True)
class Limits:
    """What one client may take of the server. Times in seconds, sizes in bytes."""

    body_bytes_max: int = BATCH_WRITE_BYTES_MAX
    """One request's body, as sent and unpacked. One byte more is answered with 413."""
    head_bytes_max: int = 16 * 1024
    """A request's address and headers. A byte more is answered with 400."""
    drained_bytes_max: int = 64 * 1024 * 1024
    """What is still read of a client whose body was refused, so that it comes to read its answer."""
    drained_s_max: float = 5.0
    buffered_bytes_max: int = 256 * 1024 * 1024
    """Bodies that are being received, of all connections of one process together."""
    connections_max: int = 4096
    """Of one process. A new connection then takes the place of the one that has been idle longest, and is closed if all
    of them have requests in progress.
    """
    request_s_max: float = 20.0
    """A request must have arrived that long after its first byte, plus what ``body_bytes_per_s_min`` grants."""
    body_bytes_per_s_min: int = 32 * 1024
    idle_s_max: float = 300.0
    """A connection without a request after its first one, and an answer that its client doesn't read."""
    pipelined_max: int = 64
    """Requests of one connection that wait; then nothing more is read from it."""
    shutdown_s_max: float = 10.0
    """What is being answered may finish within this time after SIGTERM."""


@dataclass(frozen=True, slots=True)
class Settings:
    """How to serve one store.

    Raises:
        RequestError: the settings contradict each other, or would open the store to a network without keys.
    """

    db: str
    """The path of the file, or ``:memory:``."""
    host: str = "127.0.0.1"
    port: int = 8000
    """0 takes a free one."""
    keys: Mapping[str, str] = field(default_factory=dict[str, str])
    """Secrets by access key id. Without any, every signature is accepted."""
    sync: Literal["full", "normal"] = "full"
    """``full``: what is acknowledged survives a power cut. ``normal``: it survives the end of the process."""
    workers: int = 1
    """Processes that share the port and the file."""
    sweep_s: float = 60.0
    """How many seconds after one removal of expired items the next begins; 0 is never."""
    throttle: bool = False
    """Refuse what exceeds the throughput of tables, indexes and partitions, as the service does."""
    index_lag_ms: float = 0.0
    """How many milliseconds after a write indexes show it."""
    state_delay_s: float = 0.0
    """How many seconds tables and indexes are being created, changed and deleted."""
    shard_s: float = SHARD_S
    """How many seconds after it was opened a shard of a stream is followed by its child."""
    shard_records: int | None = None
    """With how many records on average the open shards of a stream are each followed by two children; None is never."""
    s3: str | None = None
    """The folder that stands in for Amazon S3, with a folder in it for each bucket."""
    regions: tuple[str, ...] = ()
    """Regions with a store each; a request goes to the one that it is signed for. Without any, all are one store."""
    replica_lag_ms: float = 500.0
    """How much later a write of a global table comes to its other regions."""
    origins: frozenset[str] = frozenset()
    """Origins of web pages that may talk to the server, beside those of this machine; ``*`` is all."""
    limits: Limits = field(default_factory=Limits)

    def __post_init__(self) -> None:
        if not self.keys and not is_loopback(self.host):
            raise RequestError(
                f"Without access keys the server listens on this machine only, and {self.host} is open to others",
                place="host",
                hint="Give --access-key ID:SECRET (clients must then sign with it), or listen on 127.0.0.1.",
            )
        if self.workers < 1:
            raise RequestError("A server needs a process", place="workers", hint="Give 1 or more.")
        if self.workers > 1 and (self.throttle or self.index_lag_ms):
            raise RequestError(
                "Throughput is counted, and what indexes showed before is known, in one process only",
                place="workers",
                hint="Give --throttle and --index-lag with one worker.",
            )
        if self.index_lag_ms < 0:
            raise RequestError("An index can't know of writes to come", place="index-lag", hint="Give milliseconds.")
        if self.state_delay_s < 0:
            raise RequestError("A state can't last less than no time", place="settle", hint="Give seconds.")
        if self.workers > 1 and self.db == MEMORY:
            raise RequestError(
                "Several processes can't share a store in memory",
                place="workers",
                hint="Give --db FILE, or one worker.",
            )
        if self.shard_s <= 0 or (self.shard_records is not None and self.shard_records < 1):
            raise RequestError(
                "A shard lives for some time, and holds a record at least", place="shard", hint="Give more than 0."
            )
        if self.sweep_s < 0:
            raise RequestError("Time goes forward only", place="ttl-interval", hint="Give seconds; 0 is never.")
        if not 0 <= self.port <= 65_535:
            raise RequestError(f"There is no port {self.port}", place="port", hint="Give 0 to 65535.")

    @property
    def address(self) -> str:
        """The host and the port, as they stand in a URL."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{host}:{self.port}"

    def allows_origin(self, origin: str) -> bool:
        """Whether a web page of this origin may talk to the server.

        A page from elsewhere could otherwise read and change the store of whoever looks at it, since any
        credentials are good where no keys are configured.
        """
        if "*" in self.origins or origin in self.origins:
            return True
        try:
            host = urlsplit(origin).hostname
        except ValueError:
            return False
        return host is not None and is_loopback(host)


def is_loopback(host: str) -> bool:
    """Whether a name or address can only be this machine."""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def parse_key(text: str) -> tuple[str, str]:
    """The access key id and the secret of ``ID:SECRET``.

    Raises:
        RequestError: it isn't of that form.
    """
    name, colon, secret = text.partition(":")
    if not (name and colon and secret):
        raise RequestError("An access key is given as ID:SECRET", place="access-key")
    return name, secret
