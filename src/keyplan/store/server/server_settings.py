"""Settings of a server, and their validation."""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from dataclasses import dataclass, field
from math import inf
from typing import Literal
from urllib.parse import urlsplit

from keyplan.dynamodb.limits import BATCH_WRITE_BYTES_MAX
from keyplan.errors import RequestError
from keyplan.store import SHARD_S

MEMORY = ":memory:"


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits for each client. Times are in seconds, sizes in bytes."""

    body_bytes_max: int = BATCH_WRITE_BYTES_MAX
    """Maximum size of a request body, as sent and decompressed. Larger ones get status 413."""
    head_bytes_max: int = 16 * 1024
    """Maximum size of a request's URL and headers. Larger ones get status 400."""
    drained_bytes_max: int = 64 * 1024 * 1024
    """How much of a rejected body to read, so that the client can read the response."""
    drained_s_max: float = 5.0
    buffered_bytes_max: int = 256 * 1024 * 1024
    """Maximum total size of bodies being received by one process."""
    connections_max: int = 4096
    """Per process. A new connection replaces the one that has been idle longest, or is closed if all have requests in
    progress.
    """
    request_s_max: float = 20.0
    """Maximum time from a request's first byte to its last, plus the time granted by ``body_bytes_per_s_min``."""
    body_bytes_per_s_min: int = 32 * 1024
    idle_s_max: float = 300.0
    """Maximum idle time of a connection after its first request, and for a client to read a response."""
    pipelined_max: int = 64
    """Maximum number of queued requests of one connection; then reading pauses."""
    shutdown_s_max: float = 10.0
    """Maximum time for requests in progress after SIGTERM."""


@dataclass(frozen=True, slots=True)
class Settings:
    """Settings of a server. Raises RequestError for conflicting settings, and for a network address without keys."""

    db: str
    """The path of the file, or ``:memory:``."""
    host: str = "127.0.0.1"
    port: int = 8000
    """0 selects a free port."""
    keys: Mapping[str, str] = field(default_factory=dict[str, str])
    """Secrets by access key id. Without keys, every signature is accepted."""
    sync: Literal["full", "normal"] = "full"
    """``full``: acknowledged writes survive a power failure. ``normal``: they survive a crash of the process."""
    workers: int = 1
    """Number of processes that share the port and the file."""
    sweep_s: float = 60.0
    """Seconds between removals of expired items; 0 disables them."""
    throttle: bool = False
    """Throttle requests beyond the throughput of tables, indexes and partitions, as the service does."""
    index_lag_ms: float = 0.0
    """Delay of index visibility after a write, in ms."""
    state_delay_s: float = 0.0
    """How many seconds tables and indexes stay CREATING, UPDATING or DELETING."""
    shard_s: float = SHARD_S
    """Seconds after which a stream shard is replaced by a child."""
    shard_records: int | None = None
    """Average number of records in a stream's open shards at which each is replaced by two children; None means
    never.
    """
    s3: str | None = None
    """The folder that simulates Amazon S3, with a subfolder per bucket."""
    regions: tuple[str, ...] = ()
    """Regions with one store each; requests go to the region that they are signed for. Without regions, there is a
    single store.
    """
    replica_lag_ms: float = 500.0
    """Replication delay of global tables."""
    origins: frozenset[str] = frozenset()
    """Origins of web pages that can use the server, besides those of this machine; ``*`` is all."""
    limits: Limits = field(default_factory=Limits)

    def __post_init__(self) -> None:
        if not self.keys and not is_loopback(self.host):
            raise RequestError(
                f"Without access keys, the server can't listen on {self.host}, which other machines can reach",
                place="host",
                hint="Set --access-key ID:SECRET (clients must sign requests with it), or listen on 127.0.0.1.",
            )
        if self.workers < 1:
            raise RequestError("The number of workers must be at least 1", place="workers")
        if self.workers > 1 and (self.throttle or self.index_lag_ms):
            raise RequestError(
                "Throttling and index lag require a single worker",
                place="workers",
                hint="Set --workers 1, or omit --throttle and --index-lag.",
            )
        for name, value in (
            *(("index-lag", self.index_lag_ms), ("replica-lag", self.replica_lag_ms)),
            *(("state-delay", self.state_delay_s), ("ttl-interval", self.sweep_s)),
        ):
            if not 0 <= value < inf:
                raise RequestError("The time must be a finite number of at least 0", place=name)
        if self.workers > 1 and self.db == MEMORY:
            raise RequestError(
                "Several worker processes can't share an in-memory store",
                place="workers",
                hint="Set --db FILE, or --workers 1.",
            )
        if not 0 < self.shard_s < inf or (self.shard_records is not None and self.shard_records < 1):
            raise RequestError(
                "A stream shard must have a finite lifetime and a number of records greater than 0", place="shard"
            )
        if not 0 <= self.port <= 65_535:
            raise RequestError(f"The port {self.port} isn't between 0 and 65535", place="port")

    @property
    def address(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{host}:{self.port}"

    def allows_origin(self, origin: str) -> bool:
        """Whether a web page of this origin can use the server.

        Otherwise, any web page could read and change the store of its visitor, because without keys all credentials are
        accepted.
        """
        if "*" in self.origins or origin in self.origins:
            return True
        try:
            host = urlsplit(origin).hostname
        except ValueError:
            return False
        return host is not None and is_loopback(host)


def is_loopback(host: str) -> bool:
    """Whether a host name or an address can only refer to this machine."""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def parse_key(text: str) -> tuple[str, str]:
    """The access key ID and the secret access key in ``ID:SECRET``. Raises RequestError for another format."""
    name, colon, secret = text.partition(":")
    if not (name and colon and secret):
        raise RequestError("An access key must have the form ID:SECRET", place="access-key")
    return name, secret
