"""The child of the kill tests of what is done in pieces: it kills itself between two of them.

Run as ``python -m tests.crash.pieces PATH COUNT OPERATION PARAMS``: it begins an operation, whose parameters are JSON,
and before the piece of that number it writes an item and is killed.
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
"""Items of a piece."""
REGIONS = ["us-east-1", "us-west-2"]


def main(path: str, count: int, operation: str, params: str) -> None:
    # The region whose store was there before has it at the same path.
    engine = Regions.open(path, REGIONS).engines[REGIONS[0]] if "Replica" in params else Engine.open(path, create=False)
    left = [count]

    def let_others_in(self: Storage) -> None:
        left[0] -= 1
        if left[0] == 0:
            with suppress(DynamoDBError):  # it is the table that goes
                engine.call("PutItem", {"TableName": TABLE, "Item": item("late", str(count), count)})
            os.kill(os.getpid(), signal.SIGKILL)

    effort.PIECE_ROWS = ROWS
    Storage.let_others_in = let_others_in  # type: ignore[method-assign]
    engine.call(operation, json.loads(params))
    print("done")


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), *sys.argv[3:])
