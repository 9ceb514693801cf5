"""The engine over DynamoDB's HTTP protocol, so that boto3, the AWS CLI and any SDK can talk to it.

Here are sockets, HTTP, signatures and the order of writes; no database logic. ``serve`` runs until it is told to stop.
"""

from __future__ import annotations

from keyplan.store.server.server_process import serve
from keyplan.store.server.server_settings import Settings

__all__ = ["Settings", "serve"]
