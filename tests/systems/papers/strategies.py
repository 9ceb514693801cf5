"""Strategies for random stores of the catalogue: few ids, so that papers refer to existing authors."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from keyplan_systems.papers.design import Membership, Paper

_PAPERS = st.sampled_from(["1", "2#"])
_DAY = datetime(2026, 11, 20, 22, 30, tzinfo=UTC)
_MOMENTS = st.sampled_from([_DAY, _DAY, _DAY + timedelta(hours=3)])

STRATEGIES: dict[Any, SearchStrategy[Any]] = {
    Paper: st.builds(
        Paper,
        paper_id=_PAPERS,
        title=st.just("A title"),
        collection=st.sampled_from(["c", "d#"]),
        status=st.sampled_from(["draft", "published", "published"]),
        published_at=_MOMENTS,
        updated_at=st.just(_DAY),
    ),
    Membership: st.builds(
        Membership,
        paper_id=_PAPERS,
        handle=st.sampled_from(["ann", "b#"]),
        position=st.integers(1, 2),
        name=st.just("Ann"),
        published_at=_MOMENTS | st.none(),
    ),
}
