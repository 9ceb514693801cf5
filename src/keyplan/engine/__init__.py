"""The embedded store: DynamoDB's operations, exact and schemaless, over SQLite.

``Engine.open`` opens a file or memory; ``Engine.call`` runs one operation on Python values in the API's JSON
shape.
"""

from __future__ import annotations

from keyplan.engine.check import Finding, check_file
from keyplan.engine.effort import LongError
from keyplan.engine.engine import Engine
from keyplan.engine.expiry import REMOVED_TOGETHER
from keyplan.engine.regions import Regions
from keyplan.engine.streams.shards import SHARD_S

__all__ = ["REMOVED_TOGETHER", "SHARD_S", "Engine", "Finding", "LongError", "Regions", "check_file"]
