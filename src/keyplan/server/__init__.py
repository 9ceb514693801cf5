"""The engine over DynamoDB's HTTP protocol, so that boto3, the AWS CLI and any SDK can talk to it.

Here are sockets, HTTP, signatures and the order of writes; no database logic. ``serve`` runs until it is told to stop.
"""

from __future__ import annotations

from keyplan.server.running import serve
from keyplan.server.settings import Settings

__all__ = ["Settings", "serve"]
