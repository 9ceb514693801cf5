"""CPU time of imports: ``import keyplan`` and a design when a program starts, compared with boto3.

A separate interpreter makes each import, with compiled files, in turn. The time of the bare interpreter is subtracted;
the results are medians. ``benchmarks/client.py`` writes them to its page.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile

IMPORTS = {
    "import keyplan": "import keyplan",
    "import the names that a design needs": "from keyplan import Create, Design, Entity, Key, Page, read, write",
    "import the CMS's design": "import keyplan_systems.cms.design",
    "import boto3": "import boto3",
    "import boto3, and a client for DynamoDB": "import boto3; boto3.client('dynamodb', region_name='eu-west-1')",
    "import pydantic, and a model's base class": "import pydantic; pydantic.BaseModel",
}
_TELL = "import time; before = time.process_time(); {}; print(time.process_time() - before)"


def import_ms(rounds: int) -> dict[str, float]:
    """Milliseconds of CPU by what is imported."""
    spent: dict[str, list[float]] = {name: [] for name in IMPORTS}
    with tempfile.TemporaryDirectory() as compiled:
        environment = {**os.environ, "PYTHONPYCACHEPREFIX": compiled, "PYTHONDONTWRITEBYTECODE": ""}
        for number in range(rounds + 1):
            for name, code in IMPORTS.items():
                command = [sys.executable, "-c", _TELL.format(code)]
                done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
                if number:  # the first round compiles
                    spent[name].append(float(done.stdout) * 1000)
    return {name: statistics.median(one) for name, one in spent.items()}
