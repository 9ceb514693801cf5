"""What somebody hears of: who asks to follow them, what others did, and how much of it is new."""

from __future__ import annotations

from starlette.responses import Response

from keyplan import Range
from keyplan_systems.pages.site import Turn
from keyplan_systems.site.problems import not_found
from keyplan_systems.social.design import Social
from keyplan_systems.social.site.seeing import Seeing

__all__ = ["answer", "notifications", "unheard"]

NEW_MAX = 100
"""So many new ones are counted."""


def unheard(social: Social, user_id: str) -> int:
    """How many notifications somebody hasn't seen, as far as they are counted."""
    seen = social.notifications_seen(user_id)
    after = None if seen is None else Range(gt=seen.until)
    return len(social.notifications(user_id, after, limit=NEW_MAX).items)


def notifications(turn: Turn[Social]) -> Response:
    """Who asks to follow, which conversations have something new, and what others did, newest first."""
    social, me = turn.design, turn.person.user_id
    seen = social.notifications_seen(me)
    page = social.notifications(me, cursor=turn.cursor)
    seeing = Seeing(social)
    listed = seeing.listed(turn.person, page.items)
    requests = seeing.listed(turn.person, social.follow_requests(me).items) if turn.cursor is None else []
    unread = [part for part in social.conversations(me).items if part.unread] if turn.cursor is None else []
    ids = [
        *(request.follower_id for request in requests),
        *(part.with_user_id for part in unread),
        *(heard.by_user_id for heard in listed),
    ]
    if page.items and turn.cursor is None and (seen is None or seen.until < page.items[0].at):
        social.see_notifications(me, page.items[0].at)
    return turn.page(
        "notifications.html",
        requests=requests,
        unread=unread,
        heard=listed,
        cursor=page.cursor,
        seen=None if seen is None else seen.until,
        users={name: user for name in dict.fromkeys(ids) if (user := social.profile(name)) is not None},
    )


def answer(turn: Turn[Social]) -> Response:
    """Accept or decline somebody who asks to follow."""
    social, me, follower = turn.design, turn.person.user_id, turn.form["follower"]
    if turn.form["answer"] == "accept" and follower and social.request_of(me, follower) is not None:
        social.accept_request(me, follower)
    elif turn.form["answer"] == "decline" and follower:
        social.decline_request(me, follower)
    else:
        raise not_found()
    return turn.go("/notifications")
