"""The child process of the tests of batched work, which kills itself between two batches.

Run as ``python -m tests.crash.batches PATH COUNT OPERATION PARAMS``: the process starts an operation with JSON
parameters. Before batch COUNT, the process writes an item and kills itself.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from contextlib import suppress

from keyplan.errors import DynamoDBError
from keyplan.store import Engine, Regions
from keyplan.store import work_budget as effort
from keyplan.store.storage.sqlite import Storage
from tests.crash.writer import TABLE, item

ROWS = 5
"""Items per batch."""
REGIONS = ["us-east-1", "us-west-2"]


def main(path: str, count: int, operation: str, params: str) -> None:
    # The store of the first region is at the path of a store without regions.
    engine = Regions.open(path, REGIONS).engines[REGIONS[0]] if "Replica" in params else Engine.open(path, create=False)
    remaining = [count]

    def let_others_in(self: Storage) -> None:
        remaining[0] -= 1
        if remaining[0] == 0:
            with suppress(DynamoDBError):  # the table may be the one being deleted
                engine.call("PutItem", {"TableName": TABLE, "Item": item("late", str(count), count)})
            os.kill(os.getpid(), signal.SIGKILL)

    effort.PIECE_ROWS = ROWS
    Storage.let_others_in = let_others_in  # type: ignore[method-assign]
    engine.call(operation, json.loads(params))
    print("done")


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), *sys.argv[3:])
