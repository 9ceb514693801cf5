"""Image uploads: allowed formats, and the stored form.

Pillow decodes and re-encodes an image, which removes everything else: comments, location, appended data. Larger images
than pages can show are downscaled.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

from keyplan.errors import ErrorDetail, Refused
from keyplan_systems.site.files import name_of

BYTES_MAX = 8 * 1024 * 1024
_PROCESS = Path(__file__).with_name("picture_process.py")


class Picture(NamedTuple):
    """A stored image: its name, content, and size in pixels."""

    name: str
    content: bytes
    width: int
    height: int


def picture_from(data: bytes, owner: str) -> Picture:
    """The image of an upload. Raises Refused, at ``picture``, if it isn't an image or is too large.

    A separate process decodes it (``picture_process``).
    """
    if len(data) > BYTES_MAX:
        raise _refused(f"the file has {len(data):,} bytes; the maximum is {BYTES_MAX // 1024 // 1024} MB")
    command = [sys.executable, "-I", str(_PROCESS)]
    done = subprocess.run(command, input=data, capture_output=True, check=False)  # noqa: S603 - the command runs a file of this package
    if done.returncode != 0:
        raise _refused("decoding the picture takes too much memory or time")
    line, _, content = done.stdout.partition(b"\n")
    head: dict[str, Any] = json.loads(line)
    if "error" in head:
        raise _refused(head["error"])
    return Picture(name_of(content, head["ending"], owner), content, head["width"], head["height"])


def _refused(message: str) -> Refused:
    return Refused("invalid picture", place="picture", errors=[ErrorDetail("picture", message, "upload another file")])
