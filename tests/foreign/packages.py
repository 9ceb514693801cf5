"""The JavaScript libraries that these tests need. npm installs them into ``.cache/foreign`` if possible."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

from tests.processes import PATIENCE_S
from tests.repository.files import ROOT

FOLDER = ROOT / ".cache" / "foreign"
NPM = (
    "electrodb@3",
    "dynamodb-toolbox@2",
    "dynamodb-onetable@2",
    "@aws-sdk/client-dynamodb@3",
    "@aws-sdk/lib-dynamodb@3",
)
"""As in the Makefile, which installs them before the tests."""


def modules() -> Path:
    """Return the folder of the installed libraries."""
    return FOLDER / "node_modules"


def missing() -> str | None:
    """Install missing libraries. Return why JavaScript programs can't be run, or None if they can."""
    if shutil.which("node") is None:
        return "node isn't installed"
    if (modules() / "electrodb").exists():
        return None
    if shutil.which("npm") is None:
        return "npm isn't installed, but is needed to install the libraries"
    part = FOLDER.with_name(f"foreign.{os.getpid()}")
    command = ["npm", "install", "--silent", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix", str(part), *NPM]
    try:
        done = subprocess.run(command, capture_output=True, timeout=PATIENCE_S, check=False)
        if done.returncode == 0 and not FOLDER.exists():
            part.rename(FOLDER)
    except (subprocess.TimeoutExpired, OSError):
        pass
    finally:
        shutil.rmtree(part, ignore_errors=True)
    return None if (modules() / "electrodb").exists() else "npm could not get the libraries"
