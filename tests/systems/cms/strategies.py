"""Strategies for random stores of the CMS: few ids, so that items refer to each other, and only fields that affect
keys, so that a store has more items.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from keyplan_systems.cms.entities import Article

_IDS = st.sampled_from(["1", "a#ü$", "b"])
_SLUGS = st.sampled_from(["one", "a-b", "zwei"])
_TAGS = st.sampled_from([set[str](), {"a"}, {"a", "c#"}])
_MOMENTS = st.sampled_from([datetime(2026, 11, 20, 23, 30, tzinfo=UTC), datetime(1970, 1, 1, tzinfo=UTC)])


def _article(**fields: Any) -> Article:
    return Article(**fields)  # a function, since the class signature contains the attribute names


_PUBLISHED = st.builds(
    _article,
    article_id=_IDS,
    title=st.just("Title"),
    slug=_SLUGS,
    status=st.just("published"),
    author_id=_IDS,
    published_at=_MOMENTS,
    current_version=st.integers(1, 3),
    tags=_TAGS,
    created_at=_MOMENTS,
    updated_at=_MOMENTS,
)
_OTHERS = st.builds(
    _article,
    article_id=_IDS,
    title=st.just("Title"),
    slug=_SLUGS,
    status=st.sampled_from(["draft", "draft", "archived"]),
    author_id=_IDS,
    current_version=st.integers(0, 3),
    tags=_TAGS,
    created_at=_MOMENTS,
    updated_at=_MOMENTS,
)

STRATEGIES: dict[Any, SearchStrategy[Any]] = {
    Article: _PUBLISHED | _OTHERS,
    "article_id": _IDS,
    "author_id": _IDS,
    "member_id": _IDS,
    "slug": _SLUGS,
    "tag": st.sampled_from(["a", "c#"]),
    "tags": _TAGS,
    "version": st.integers(1, 3),
}
