"""What a site says of whole folders of its texts, which an import doesn't take over: it is reported.

Jekyll has ``defaults:`` in its settings, Eleventy a file of data beside the texts, called like their folder. A
section's own page of Hugo's (``_index.md``) is ``posts.py``'s.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from keyplan.errors import ErrorDetail
from keyplan_systems.linking import SiteFolder, config_of
from keyplan_systems.posts import TAKEN, shown

__all__ = ["said_of_folders"]

DATA_BYTES_MAX = 256 * 1024
_ENDINGS = (".json", ".11tydata.json", ".11tydata.js", ".11tydata.cjs", ".11tydata.mjs")


def said_of_folders(site: SiteFolder, paths: Iterable[Path]) -> Iterator[ErrorDetail]:
    """The faults of what a site says of folders of these texts: each with its file, and the fields that are lost."""
    defaults = site.settings.get("defaults")
    path = config_of(site.root)
    if isinstance(defaults, list) and path is not None:
        values = [
            each["values"] for each in defaults if isinstance(each, dict) and isinstance(each.get("values"), dict)
        ]
        yield from _lost(path.name, {name: value for each in values for name, value in each.items()})
    folders = {folder for path in paths for folder in path.resolve().parents if folder.is_relative_to(site.folder)}
    for folder in sorted(folders):
        for ending in _ENDINGS:
            data = folder / f"{folder.name}{ending}"
            if data.is_file():
                yield from _data(shown(data.relative_to(site.folder).as_posix()), data)


def _data(place: str, path: Path) -> Iterator[ErrorDetail]:
    """What a file of data says of the texts beside it; of a program nobody knows what it says."""
    if path.suffix != ".json" or path.stat().st_size > DATA_BYTES_MAX:
        yield ErrorDetail(place, "what it says of the texts below isn't read", "write it into each text's front matter")
        return
    try:
        given: Any = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return  # no data of a site
    if isinstance(given, dict):
        yield from _lost(place, given)


def _lost(place: str, given: Mapping[str, Any]) -> Iterator[ErrorDetail]:
    names = sorted(name for name, value in given.items() if name in TAKEN and value not in (None, "", [], {}))
    if names:
        message = f"what it says of whole folders isn't taken over: {', '.join(names)}"
        yield ErrorDetail(place, message, "write it into each text's front matter")
