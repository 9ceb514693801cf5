"""Pictures that are uploaded: what they may be, and the form they are kept in.

A picture is read by Pillow and written anew, so that nothing else of what was sent is kept: no comment, no place where
it was taken, no second file behind its end. What is larger than a page can show is made smaller.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

from keyplan.errors import ErrorDetail, Refused
from keyplan_systems.site.files import name_of

__all__ = ["BYTES_MAX", "Picture", "picture_from"]

BYTES_MAX = 8 * 1024 * 1024
_PROCESS = Path(__file__).with_name("picture_process.py")


class Picture(NamedTuple):
    """A picture as it is kept: its name, its content, and its size in pixels."""

    name: str
    content: bytes
    width: int
    height: int


def picture_from(data: bytes, owner: str) -> Picture:
    """The picture in what was sent. Raises Refused, at ``picture``, for what isn't one or is too large.

    It is decoded in a separate process, whose memory is returned when it ends (``picture_process.py``).
    """
    if len(data) > BYTES_MAX:
        raise _refused(f"at most {BYTES_MAX // 1024 // 1024} MB; it has {len(data):,} bytes")
    command = [sys.executable, "-I", str(_PROCESS)]
    done = subprocess.run(command, input=data, capture_output=True, check=False)  # noqa: S603 - our own file
    if done.returncode != 0:
        raise _refused("it takes too much memory or time to decode")
    line, _, content = done.stdout.partition(b"\n")
    head: dict[str, Any] = json.loads(line)
    if "error" in head:
        raise _refused(head["error"])
    return Picture(name_of(content, head["ending"], owner), content, head["width"], head["height"])


def _refused(message: str) -> Refused:
    return Refused(
        "the picture can't be taken", place="picture", errors=[ErrorDetail("picture", message, "send another")]
    )
