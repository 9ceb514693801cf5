"""The engine over DynamoDB's HTTP protocol, for boto3, the AWS CLI and all SDKs.

Sockets, HTTP, signatures and the order of writes; no database logic. ``serve`` runs until it is stopped.
"""

from __future__ import annotations

from keyplan.store.server.server_process import serve
from keyplan.store.server.server_settings import Settings

__all__ = ["Settings", "serve"]
