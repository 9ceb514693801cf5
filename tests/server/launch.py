"""``python -m tests.server.launch SETTINGS`` runs a server process for tests. The settings are a JSON object. The
process prints its port when it accepts connections.
"""

from __future__ import annotations

import json
import sys
from typing import Any

from keyplan.store.server import Settings, serve
from keyplan.store.server.server_settings import Limits


def main(given: dict[str, Any]) -> None:
    limits = Limits(**given.pop("limits", {}))
    origins = frozenset(given.pop("origins", ()))
    serve(Settings(port=0, limits=limits, origins=origins, **given), lambda port: print(port, flush=True))


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
