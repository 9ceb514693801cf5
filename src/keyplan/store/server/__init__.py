"""The engine over DynamoDB's HTTP protocol, for boto3, the AWS CLI and all SDKs.

The package handles sockets, HTTP, signatures and the order of writes, without database logic. ``serve`` runs a server.
"""

from __future__ import annotations

from keyplan.store.server.server_process import serve
from keyplan.store.server.server_settings import Settings

__all__ = ["Settings", "serve"]
