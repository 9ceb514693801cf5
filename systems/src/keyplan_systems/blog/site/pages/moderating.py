"""Moderation: users by status and rating, posts by date, comments, and the inbox."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from functools import partial
from typing import Literal, cast

from starlette.responses import Response

from keyplan_systems.blog import accounts
from keyplan_systems.blog.accounts import IMPORTED_DOMAIN
from keyplan_systems.blog.entities import CommentStatus, Credential, User
from keyplan_systems.blog.site.cards import authors_of, cards
from keyplan_systems.blog.site.pages.contact import EMAIL
from keyplan_systems.blog.site.site import Turn
from keyplan_systems.site.problems import Problem, not_found

UserStatus = Literal["active", "suspended", "deleted"]
Role = Literal["reader", "author"]
STATUSES: dict[str, UserStatus] = {"active": "active", "suspended": "suspended", "deleted": "deleted"}
PAGE = 20
_MONTH = re.compile(r"20[0-9]{2}-(?:0[1-9]|1[0-2])")


def users(turn: Turn) -> Response:
    status = STATUSES.get(turn.query.get("status", ""), "active")
    order = "newest" if turn.query.get("order") == "newest" else "rating"
    ask = turn.blog.latest_users if order == "newest" else turn.blog.users_by_rating
    page = ask(status, limit=PAGE, cursor=turn.cursor)
    return turn.page(
        "moderation.html",
        users=page.items,
        unclaimed=_unclaimed(turn, [user.user_id for user in page]) if status == "active" else (),
        status=status,
        statuses=STATUSES,
        order=order,
        cursor=page.cursor,
        first=turn.cursor is not None,
        path=f"/moderation?status={status}&order={order}",
    )


def _unclaimed(turn: Turn, user_ids: list[str]) -> set[str]:
    credentials = turn.blog.get_many(Credential, [{"user_id": user_id} for user_id in user_ids])
    return {each.user_id for each in credentials if each is not None and each.email.endswith(f"@{IMPORTED_DOMAIN}")}


def change_user(turn: Turn) -> Response:
    """Suspend or activate a user, whose sessions end; change the role; or assign an imported author to an address."""
    user_id, status, role, email = turn.path("user_id"), turn.form["status"], turn.form["role"], turn.form["email"]
    if not (email or status in {"active", "suspended"} or role in {"reader", "author"}):
        raise Problem(400, "Invalid status or role", "Use status active or suspended, or role reader or author.")
    if user_id == turn.user.user_id:
        raise Problem(
            409, "This is your account", "You can't moderate your own account.", (("Moderation", "/moderation"),)
        )
    user = turn.blog.user(user_id) if len(user_id) <= 64 else None
    if user is None or user.status == "deleted":
        raise not_found()
    if user.role == "moderator":
        raise Problem(
            409, "This user is a moderator", "You can't moderate another moderator.", (("Moderation", "/moderation"),)
        )
    if email:
        return _assign(turn, user, email.strip().lower())
    if role:
        turn.blog.set_role(user_id, cast("Role", role))
        return turn.go("/moderation?order=newest", "role")
    turn.blog.set_status(user_id, cast("UserStatus", status))
    turn.blog.refresh_front_page(force=True)  # posts of suspended users are hidden
    return turn.go(f"/moderation?status={user.status}", "status")


def _assign(turn: Turn, user: User, email: str) -> Response:
    if not accounts.is_unclaimed(turn.blog, user.user_id):
        raise Problem(409, "Not an imported author", "This account has an owner.", (("Moderation", "/moderation"),))
    if not EMAIL.fullmatch(email):
        raise Problem(422, "Invalid email address", f"{email} isn't an email address.", (("Back", "/moderation"),))
    if turn.blog.user_by_email(email) is not None:
        text = "Another account has this address. Moderators can edit the posts of imported authors themselves."
        raise Problem(409, "The address is taken", text, (("Moderation", "/moderation"),))
    turn.limit("mail", f"from {turn.address}", f"of {user.user_id}")
    turn.after.append(partial(turn.site.mailing.assign, user, email, turn.site.origin(turn.request)))
    return turn.go("/moderation?order=newest", "assigned")


def posts(turn: Turn) -> Response:
    page = turn.blog.latest_posts(limit=PAGE, cursor=turn.cursor)
    imported = _unclaimed(turn, sorted({post.user_id for post in page}))
    return turn.page(
        "moderation_posts.html",
        cards=cards(page, authors_of(turn.blog, page, inactive=True)),
        unclaimed={post.post_id for post in page if post.user_id in imported},
        cursor=page.cursor,
        first=turn.cursor is not None,
        path="/moderation/posts",
    )


def comments(turn: Turn) -> Response:
    """The latest comments, or hidden ones."""
    status: CommentStatus = "hidden" if turn.query.get("status") == "hidden" else "shown"
    page = turn.blog.latest_comments(status, limit=PAGE, cursor=turn.cursor)
    posts = {text: turn.blog.post(text) for text in sorted({comment.post_id for comment in page})}
    return turn.page(
        "moderation_comments.html",
        comments=[(comment, posts[comment.post_id]) for comment in page],
        authors=authors_of(turn.blog, page, inactive=True),
        status=status,
        cursor=page.cursor,
        first=turn.cursor is not None,
        path=f"/moderation/comments?status={status}",
    )


def inbox(turn: Turn) -> Response:
    """A month's messages, newest first."""
    now = datetime.fromtimestamp(turn.site.settings.clock(), UTC)
    this = f"{now:%Y-%m}"
    given = turn.query.get("month", this)
    month = given if _MONTH.fullmatch(given) else this
    page = turn.blog.contact_messages(month, limit=PAGE, cursor=turn.cursor)
    return turn.page(
        "inbox.html",
        messages=page.items,
        month=datetime.strptime(month, "%Y-%m").replace(tzinfo=UTC),
        before=_moved(month, -1),
        after=_moved(month, 1) if month < this else None,
        cursor=page.cursor,
        first=turn.cursor is not None,
        path=f"/inbox?month={month}",
    )


def _moved(month: str, by: int) -> str:
    year, number = map(int, month.split("-"))
    months = year * 12 + number - 1 + by
    return f"{months // 12:04d}-{months % 12 + 1:02d}"


def handle(turn: Turn) -> Response:
    """Mark a message as handled or open, or delete it."""
    month, message_id = turn.form["month"], turn.form["message"]
    try:
        at = datetime.fromisoformat(turn.form["at"])
    except ValueError:
        raise not_found() from None
    if not _MONTH.fullmatch(month) or at.tzinfo is None or not 0 < len(message_id) <= 64:
        raise not_found()
    if turn.form["action"] == "delete":
        turn.blog.delete_message(month, at, message_id)
    else:
        turn.blog.handle_message(month, at, message_id, handled=turn.form["action"] == "handled")
    return turn.go(f"/inbox?month={month}")
