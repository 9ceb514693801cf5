"""A cursor is valid only for its access pattern, and only if it is unchanged and signed with the secret."""

from __future__ import annotations

import base64
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keyplan import Cursor, Range
from keyplan.client.cursors import read_cursor, signing_key, write_cursor
from keyplan.errors import CursorError
from tests.contract.design import Everything, Post

NOON = datetime(2026, 3, 1, tzinfo=UTC)
KEY = signing_key(b"secret")


def filled(secret: str | None = "secret") -> Everything:
    design = Everything.open(":memory:", secret=secret)
    for number in range(6):
        for user in "uv":
            design.put(Post(user_id=user, post_id=f"p{number}", created_at=NOON + timedelta(minutes=number)))
    return design


def test_a_cursor_of_another_access_pattern_is_rejected() -> None:
    with filled() as design:
        cursor = design.posts("u", limit=2).cursor
        assert cursor is not None
        assert len(design.posts("u", limit=1, cursor=cursor)) == 1, "the limit may change"
        with pytest.raises(CursorError, match="belongs to another access pattern or other arguments"):
            design.posts("v", cursor=cursor)
        with pytest.raises(CursorError):
            design.posts_of_users(["u"], cursor=cursor)
        within = design.posts_within("u", Range(ge=NOON), limit=2).cursor
        with pytest.raises(CursorError):
            design.posts_within("u", Range(gt=NOON), cursor=within)


@pytest.mark.parametrize("secret", ["secret", None])
def test_a_truncated_or_changed_cursor_is_rejected(secret: str | None) -> None:
    with filled(secret) as design:
        cursor = design.posts("u", limit=2).cursor
        assert cursor is not None
        changed = [cursor[:end] for end in range(len(cursor))]
        changed += [
            cursor[:at] + ("A" if cursor[at] != "A" else "B") + cursor[at + 1 :] for at in range(0, len(cursor), 3)
        ]
        changed += [cursor + "A", "x", "é", "!!!!", " ", "A" * 16, "A" * 10_000]
        for text in changed:
            with pytest.raises(CursorError) as caught:
                design.posts("u", cursor=Cursor(text))
            assert caught.value.place == "Everything.posts.cursor"


def test_a_cursor_with_another_signature_is_rejected() -> None:
    with filled("one") as everything, filled("two") as two, filled(None) as none:
        cursor = everything.posts("u", limit=2).cursor
        for other in (two, none):
            with pytest.raises(CursorError):
                other.posts("u", cursor=cursor)
        with filled("one") as same:
            assert same.posts("u", cursor=cursor) == everything.posts("u", cursor=cursor)


@given(
    st.lists(st.text(st.characters(exclude_categories=["Cs"])), max_size=5),
    st.dictionaries(
        st.text(max_size=3),
        st.none() | st.integers(-(2**60), 2**60) | st.text(max_size=4) | st.datetimes(timezones=st.just(UTC)),
    ),
)
def test_positions_encoded_in_cursors_round_trip(position: list[str], arguments: dict[str, object]) -> None:
    cursor = write_cursor(position, "D.p", arguments, KEY)
    assert read_cursor(cursor, "D.p", arguments, KEY) == position
    with pytest.raises(CursorError):
        read_cursor(cursor, "D.q", arguments, KEY)
    with pytest.raises(CursorError):
        read_cursor(cursor, "D.p", {**arguments, "another": 1}, KEY)
    assert base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4))
