"""Each system's map is the one that was agreed upon; what differs is shown."""

from __future__ import annotations

import pytest

from tests.studio.golden_maps import SYSTEMS, agreed, difference, drawn


@pytest.mark.parametrize("name", SYSTEMS)
def test_the_map_is_as_it_was_agreed_upon(name: str) -> None:
    before, after = agreed(name), drawn(name)
    if before != after:
        pytest.fail(
            f"the map of {name} is drawn otherwise (python -m tests.studio.golden_maps makes them anew):\n"
            + difference(before, after),
            pytrace=False,
        )


def test_a_difference_is_shown_by_its_elements() -> None:
    shown = difference("<svg><g><text>a</text></g></svg>", "<svg><g><text>b</text></g></svg>")
    assert "-<text>a</text>" in shown
    assert "+<text>b</text>" in shown
