"""The embedded store: DynamoDB's operations, exact and schemaless, over SQLite.

``Engine.open`` opens a file or an in-memory store; ``Engine.call`` runs one operation with parameters in the API's JSON
form.
"""

from __future__ import annotations

from keyplan.store.control_plane.time_to_live import REMOVED_TOGETHER
from keyplan.store.engine import Engine
from keyplan.store.integrity_check import Finding, check_file
from keyplan.store.multi_region import Regions
from keyplan.store.streams import SHARD_S
from keyplan.store.work_budget import LongError

__all__ = ["REMOVED_TOGETHER", "SHARD_S", "Engine", "Finding", "LongError", "Regions", "check_file"]
