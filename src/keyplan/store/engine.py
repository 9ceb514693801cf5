"""Dispatches operations, retries operations that used an outdated cached table definition, and converts errors to
DynamoDB's errors, with the messages of the operation's API layer.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Sequence
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any, Literal

import orjson

from keyplan.dynamodb.expressions import ExpressionFault, UpdateFault
from keyplan.dynamodb.operations.registry import Operation, operation_in, unknown_operation
from keyplan.dynamodb.operations.shape_errors import wording_for
from keyplan.dynamodb.operations.shapes import without_unknown
from keyplan.dynamodb.service_errors import (
    CountFault,
    RequestFault,
    SerializationException,
    TransactionCanceledException,
    ValidationException,
)
from keyplan.dynamodb.values import TOO_DEEP, ValueFault
from keyplan.errors import DynamoDBError, StoreError
from keyplan.store import work_budget as effort
from keyplan.store.background_work import Behind
from keyplan.store.database import Database, Group
from keyplan.store.items.stored_items import SIGNS_OF_DAMAGE, damaged, decode
from keyplan.store.operations import Action, action_of
from keyplan.store.storage.key_layouts import StaleTableError
from keyplan.store.storage.sqlite import Storage
from keyplan.store.streams import SHARD_S, ShardLife, needs_trimming, trim

if TYPE_CHECKING:
    from keyplan.store.integrity_check import Finding

_TRIES_MAX = 51
_TIDY_EVERY_S = 3600.0


class Engine:
    """An open store. Thread-safe; several processes can open the same file.

    ``statements`` counts SQL statements (for tests; approximate with concurrent threads).
    """

    def __init__(self, database: Database) -> None:
        self._storage = database.storage
        self._database = database
        self._database.go_on = self._go_on
        self._knows_what_expires = False
        self._tidy_s = 0.0
        self._actions: dict[str, tuple[Operation, Action]] = {}

    @classmethod
    def open(
        cls,
        path: str | PathLike[str],
        *,
        create: bool = True,
        busy_timeout_s: float = 10.0,
        synchronous: Literal["FULL", "NORMAL", "OFF"] = "FULL",
        clock: Callable[[], float] = time.time,
        raw_items: bool = False,
        throttle: bool = False,
        index_lag_ms: float = 0.0,
        state_delay_s: float = 0.0,
        shard_s: float = SHARD_S,
        shard_records: int | None = None,
        s3: str | PathLike[str] | None = None,
        background_jobs: bool = False,
    ) -> Engine:
        """Open a store: a file, or ``":memory:"`` for a temporary one. Raises StoreError.

        ``create`` creates a missing file. ``busy_timeout_s`` is how long a write waits for other writers. With
        ``synchronous="FULL"``, acknowledged writes survive a power failure; with ``"NORMAL"``, they survive a crash of
        the process. ``clock`` returns the time in seconds since the epoch. With ``raw_items``, reads return whole items
        as ``orjson.Fragment``, stored bytes that ``orjson.dumps`` copies, for callers that only forward responses.

        ``throttle`` and ``index_lag_ms`` are described in ``store.simulation``, and apply to this engine only.
        ``state_delay_s`` is described in ``store.state_delays``. A stream shard is replaced by one child after
        ``shard_s`` seconds, and by two children when open shards average ``shard_records`` records; None disables this.

        ``s3`` is a folder that simulates Amazon S3, with a subfolder per bucket, for exports and imports. Exports and
        imports finish before the call returns or, with ``background_jobs``, in a thread.
        """
        place = fspath(path)
        if place == ":memory:":
            # The index lag reads earlier snapshots, which an in-memory store doesn't support.
            storage = Storage.temporary() if index_lag_ms else Storage.memory()
        else:
            storage = Storage.file(place, create=create, busy_timeout_s=busy_timeout_s, synchronous=synchronous)
        # Raw items are copied without decoding, so only a checksum detects damage.
        storage.verifies = raw_items
        database = Database(
            storage,
            clock,
            orjson.Fragment if raw_items else decode,
            ShardLife(shard_s, shard_records),
            throttles=throttle,
            index_lag_ms=index_lag_ms,
            state_delay_s=state_delay_s,
            s3=None if s3 is None else fspath(s3),
        )
        if background_jobs:
            database.jobs = Behind()
        return cls(database)

    @property
    def place(self) -> str:
        return self._storage.place

    @property
    def endpoint(self) -> str:
        return self._database.endpoint

    @endpoint.setter
    def endpoint(self, address: str) -> None:
        self._database.endpoint = address

    @property
    def database(self) -> Database:
        return self._database

    def join(self, region: str, group: Group | None = None) -> None:
        """Make this engine the store of a region, optionally together with the stores of other regions."""
        self._storage.region = region
        self._database.group = group
        self._actions.clear()

    @property
    def statements(self) -> int:
        return self._storage.statements

    def call(self, operation: str, params: dict[str, Any]) -> dict[str, Any]:
        """Run one operation of the DynamoDB API; the parameters and the response have the API's JSON form. Raises
        DynamoDBError, or StoreError if the store failed and nothing was written.
        """
        kind, action = self._actions.get(operation) or self._loaded(operation)
        kind.validate(params)
        if kind.kind == "table":  # whose structures are stored and returned
            params = without_unknown(kind.request, params)
        for _ in range(_TRIES_MAX):
            try:
                if not kind.old_names.isdisjoint(params):
                    kind.check_old_count(params)
                    kind.check_mixture(params)
                answer = action(self._database, params)
            except StaleTableError:
                self._database.refresh()
                continue
            except _FAULTS as fault:
                # An outdated cached table definition can cause this error. The check costs one SQL statement.
                if not (_is_of_schema(fault) and self._database.refresh()):
                    raise error_of(fault, kind, params) from None
                continue
            except SIGNS_OF_DAMAGE as fault:
                check_unicode(params)
                raise damaged(fault, self.place) from fault
            if kind.kind == "write" and self._database.group is not None:
                with effort.without_limit():
                    self._database.group.finish_strong()
            if "ConsumedCapacity" in answer and str(params.get("TableName")).startswith("arn:"):
                answer["ConsumedCapacity"]["TableName"] = params["TableName"]
            return answer
        raise StoreError("The table's indexes changed repeatedly", place=self.place, hint="Retry the operation.")

    def call_briefly(self, operation: str, params: dict[str, Any]) -> dict[str, Any]:
        """Run an operation in a shared thread. Raises LongError, without effect, if the operation takes long."""
        effort.this_thread.left = effort.BRIEF_BYTES_MAX
        try:
            return self.call(operation, params)
        finally:
            effort.this_thread.left = math.inf

    def _loaded(self, operation: str) -> tuple[Operation, Action]:
        kind = operation_in(self._database.region, operation)
        if kind is None:
            raise unknown_operation(operation)
        self._actions[operation] = loaded = kind, action_of(operation)
        return loaded

    def call_together(self, calls: Sequence[tuple[str, dict[str, Any]]]) -> list[dict[str, Any] | Exception]:
        """Run operations on items in order, with all writes in one commit. Returns the response or error of each
        operation; a failure doesn't affect the others. Raises StoreError if the store failed and nothing was written.
        """
        outcomes: list[dict[str, Any] | Exception] = []

        def work() -> None:
            for name, params in calls:
                try:
                    outcomes.append(self.call(name, params))
                except StoreError:
                    raise
                except Exception as error:  # noqa: BLE001 - the error is the operation's outcome
                    outcomes.append(error)

        self._storage.together(work)
        if self._database.group is not None:
            self._database.group.finish_strong()
        return outcomes

    def sweep(self, items_max: int | None = None) -> int:
        """Run ``tidy`` and remove up to ``items_max`` expired items, in short transactions; returns their number."""
        self.tidy()
        return self.expire(items_max)

    def expire(self, items_max: int | None = None) -> int:
        """Remove expired items like ``sweep``, without ``tidy``."""
        if not self._knows_what_expires:
            self._database.jobs.run(self._go_on)
            self._knows_what_expires = True
        from keyplan.store.maintenance import expire  # noqa: PLC0415 - imported when first needed

        return expire(self._database, items_max)

    def tidy(self) -> None:
        """Once an hour, remove expired histories, backups and discarded data. Doesn't block readers or writers."""
        now_s = self._database.clock()
        if now_s >= self._tidy_s:
            self._tidy_s = now_s + _TIDY_EVERY_S
            from keyplan.store.maintenance import tidy  # noqa: PLC0415 - imported when first needed

            tidy(self._database)

    def _go_on(self) -> None:
        """Continue abandoned work. Never raises, because no caller waits for it."""
        from keyplan.store.maintenance import go_on  # noqa: PLC0415 - imported when first needed

        go_on(self._database)

    def trim_streams(self) -> int:
        """Remove a few hundred stream records older than 24 hours in one transaction; returns their number."""
        database = self._database
        if not self._storage.read(lambda reader: needs_trimming(reader, database.clock())):
            return 0
        return database.write(lambda writer: trim(writer, database.clock()))

    def check(self) -> list[Finding]:
        """Check the file, items and index entries in one snapshot. The store is consistent if there are no findings."""
        from keyplan.store.integrity_check import check_storage  # noqa: PLC0415 - imported only when needed

        return check_storage(self._storage)

    def close(self) -> None:
        """Close the store. Later calls raise ``StoreError``; closing again has no effect."""
        self._database.jobs.close()
        if self._database.lag is not None:
            self._database.lag.forget()
        self._storage.close()

    def __enter__(self) -> Engine:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Engine({self.place!r})"


_FAULTS = (DynamoDBError, ExpressionFault, ValueFault, UnicodeEncodeError)


def _is_of_schema(fault: Exception) -> bool:
    """Whether an error can result from an outdated table definition."""
    if isinstance(fault, TransactionCanceledException):
        return any(reason["Code"] == "ValidationError" for reason in fault.fields["CancellationReasons"])
    return isinstance(fault, (ValidationException, ExpressionFault)) and not isinstance(fault, RequestFault)


ENVELOPE = "1 validation error detected: "


_NO_UNICODE = "A string in the request is not valid Unicode"


def check_unicode(params: Any) -> None:
    """Reject a lone surrogate. Called after an encoding error, because strings are encoded before any use."""
    try:
        json.dumps(params, ensure_ascii=False, default=str).encode()
    except UnicodeEncodeError:
        raise SerializationException(_NO_UNICODE) from None


def error_of(fault: Exception, operation: Operation, params: Any) -> Exception:
    if isinstance(fault, UnicodeEncodeError):
        return SerializationException(_NO_UNICODE)
    if isinstance(fault, UpdateFault):
        return ValidationException(fault.message)
    if isinstance(fault, CountFault) or not isinstance(fault, (ExpressionFault, ValueFault, ValidationException)):
        return fault
    try:
        # The service deserializes the whole request before it validates it.
        operation.check_types(params)
    except SerializationException as wrong_type:
        return wrong_type
    if not isinstance(fault, (ExpressionFault, ValueFault, RequestFault)):
        return fault
    wording = operation.wording
    if fault.message == TOO_DEEP and operation.depth_wording is not None:
        wording = operation.depth_wording
    wording = wording_for(wording, params)
    if wording == "older":
        return ValidationException(fault.older)
    return ValidationException(f"{ENVELOPE}{fault.message}" if wording == "enveloped" else fault.message)
