"""The map of each system's sample as it was agreed upon. ``python -m tests.studio.golden_maps`` makes the files anew;
then look at them (a browser opens them) and at what git says has changed.
"""

from __future__ import annotations

import difflib
from pathlib import Path

from keyplan.studio.exported import svg_file
from keyplan.studio.subject import of_design
from keyplan.systems import system
from tests.systems.support import silent

__all__ = ["SYSTEMS", "agreed", "difference", "drawn"]

FOLDER = Path(__file__).with_name("maps")
SYSTEMS = ("blog", "cms", "papers", "shop", "social")
SAMPLE = 4
SHOWN_MAX = 60
"""Lines of a difference that are shown."""


def drawn(name: str) -> str:
    """A system's map as it is drawn now."""
    result = system(name)
    with result.design.open(":memory:", secret="s") as design:
        result.sample(design, SAMPLE, silent)
        return svg_file(of_design(design))


def agreed(name: str) -> str:
    """The map as it was agreed upon."""
    return (FOLDER / f"{name}.svg").read_text(encoding="utf-8")


def difference(before: str, after: str) -> str:
    """What differs, element by element."""
    old, new = (text.replace("><", ">\n<").splitlines() for text in (before, after))
    result = list(difflib.unified_diff(old, new, "agreed upon", "drawn now", lineterm="", n=1))
    more = f"\n... and {len(result) - SHOWN_MAX} lines more" if len(result) > SHOWN_MAX else ""
    return "\n".join(result[:SHOWN_MAX]) + more


def main() -> None:
    """Make all of them anew."""
    FOLDER.mkdir(exist_ok=True)
    for name in SYSTEMS:
        (FOLDER / f"{name}.svg").write_text(drawn(name), encoding="utf-8")


if __name__ == "__main__":
    main()
