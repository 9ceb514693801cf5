"""The page of notifications, and the number of new notifications that every page shows."""

from __future__ import annotations

from starlette.responses import Response

from keyplan import Range
from keyplan_systems.pages.site import Turn
from keyplan_systems.social.design import Social
from keyplan_systems.social.site.seeing import Seeing

NEW_MAX = 100
"""Maximum number of new notifications that are counted."""


def unheard(social: Social, user_id: str) -> int:
    """The number of notifications that a user hasn't seen, at most NEW_MAX."""
    seen = social.notifications_seen(user_id)
    after = None if seen is None else Range(gt=seen.until)
    return len(social.notifications(user_id, after, limit=NEW_MAX).items)


def notifications(turn: Turn[Social]) -> Response:
    """Conversations with unread messages, then likes, comments and followers, newest first."""
    social, me = turn.design, turn.person.user_id
    seen = social.notifications_seen(me)
    page = social.notifications(me, cursor=turn.cursor)
    listed = Seeing(social).listed(turn.person, page.items)
    unread = [part for part in social.conversations(me).items if part.unread] if turn.cursor is None else []
    ids = {*(part.with_user_id for part in unread), *(heard.by_user_id for heard in listed)}
    if page.items and turn.cursor is None and (seen is None or seen.until < page.items[0].at):
        social.see_notifications(me, page.items[0].at)
    return turn.page(
        "notifications.html",
        unread=unread,
        heard=listed,
        cursor=page.cursor,
        seen=None if seen is None else seen.until,
        users={user.user_id: user for user in (social.profiles(sorted(ids)) if ids else ())},
    )
