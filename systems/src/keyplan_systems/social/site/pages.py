"""The pages and forms of the network."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import UTC, datetime, timedelta
from urllib.parse import quote

from starlette.responses import Response

from keyplan import Page, Range
from keyplan.errors import Refused
from keyplan_systems.pages.site import Turn
from keyplan_systems.site.kept import Kept
from keyplan_systems.site.problems import Problem, not_found
from keyplan_systems.social.design import Social
from keyplan_systems.social.entities import Comment, Like, Post, User, conversation_of
from keyplan_systems.social.site.people import HANDLE_CHARACTERS_MAX
from keyplan_systems.social.site.seeing import Seeing, may_see, unblocked

SocialTurn = Turn[Social]
SUGGESTED_MAX = 6
"""Number of users that a page suggests."""


class Reading:
    """The pages with timelines. ``feeds`` caches the first page of each feed, and the public timeline under ""."""

    def __init__(self, feeds: Kept[str, Page[Post]]) -> None:
        self._feeds = feeds

    def feed(self, turn: SocialTurn) -> Response:
        """The visitor's feed, or the public timeline with an invitation."""
        if turn.visitor.person is None:
            return self.everyone(turn)
        social, me, cursor = turn.design, turn.person.user_id, turn.cursor
        page = social.feed(me, cursor=cursor) if cursor else self._feeds.get(me, lambda: social.feed(me))
        return self._timeline(turn, page, "Feed")

    def everyone(self, turn: SocialTurn) -> Response:
        """The newest posts of all users."""
        page = turn.design.latest_posts(cursor=turn.cursor) if turn.cursor else self._latest(turn.design)
        return self._timeline(turn, page, "Everyone")

    def find(self, turn: SocialTurn) -> Response:
        """The page of the user with a handle; without one, suggestions."""
        handle = turn.query.get("handle", "").strip().removeprefix("@").lower()[:HANDLE_CHARACTERS_MAX]
        user = turn.design.user_by_handle(handle) if handle else None
        if user is not None and not Seeing(turn.design).is_blocked(turn.visitor.person, user):
            return turn.go(f"/people/{quote(user.handle, safe='')}")
        return turn.page("find.html", handle=handle, suggested=self._suggested(turn))

    def _latest(self, social: Social) -> Page[Post]:
        return self._feeds.get("", social.latest_posts)

    def _timeline(self, turn: SocialTurn, page: Page[Post], heading: str) -> Response:
        posts = unblocked(turn.design, turn.visitor.person, page.items, lambda post: post.user_id)
        return turn.page(
            "feed.html",
            heading=heading,
            posts=posts,
            cursor=page.cursor,
            users=_users(turn.design, posts),
            suggested=self._suggested(turn),
        )

    def _suggested(self, turn: SocialTurn) -> list[User]:
        """The authors of the newest posts with the most followers."""
        social, person = turn.design, turn.visitor.person
        users = list(_users(social, self._latest(social).items).values())
        others = [user for user in users if person is None or user.user_id != person.user_id]
        others.sort(key=lambda user: -user.followers)
        return unblocked(social, person, others, lambda user: user.user_id)[:SUGGESTED_MAX]


def _users(social: Social, items: Iterable[Post | Comment | Like]) -> dict[str, User]:
    """The users of posts, comments or likes, by id."""
    ids = sorted({item.user_id for item in items})
    return {user.user_id: user for user in social.profiles(ids)} if ids else {}


class Writing:
    """The forms that change feeds: they drop cached pages."""

    def __init__(self, feeds: Kept[str, Page[Post]]) -> None:
        self._feeds = feeds

    def publish(self, turn: SocialTurn) -> Response:
        text = turn.form.text("text", "Text", 5000, lines=True)
        if not turn.form:
            raise Problem(422, "Invalid post", "A post has 1 to 5,000 characters.", (("Your feed", "/"),))
        made = turn.design.publish(turn.person.user_id, text)
        self._feeds.drop("", turn.person.user_id)
        return turn.go(f"/posts/{made.post_id}")

    def post_act(self, turn: SocialTurn) -> Response:
        """Like a post, remove the like, or delete one's own post."""
        social, result, me = turn.design, _post(turn), turn.person.user_id
        match turn.path("action"):
            case "like":
                if social.like_of(result.post_id, me) is None:
                    social.like(result.post_id, me)
            case "unlike":
                if social.like_of(result.post_id, me) is not None:
                    social.unlike(result.post_id, me)
            case "delete" if result.user_id == me:
                social.delete_post(result.post_id)
                self._feeds.drop()
                return turn.go("/", "deleted")
            case _:
                raise not_found()
        return turn.go(f"/posts/{result.post_id}")

    def act(self, turn: SocialTurn) -> Response:
        """Follow, unfollow, block or unblock a user, or remove a follower."""
        social, user, me = turn.design, _user(turn), turn.person.user_id
        actions: dict[str, Callable[[str, str], object]] = {
            "follow": social.follow,
            "unfollow": social.unfollow,
            "remove": social.remove_follower,
            "block": social.block,
            "unblock": social.unblock,
        }
        action = turn.path("action")
        if action not in actions:
            raise not_found()
        try:
            actions[action](me, user.user_id)
        except Refused as error:
            if "already" not in error.message and "doesn't follow" not in error.message:
                raise
        self._feeds.drop(me, user.user_id)
        return turn.go(f"/people/{turn.form['of']}/followers" if action == "remove" else f"/people/{user.handle}")


# Posts


def post(turn: SocialTurn) -> Response:
    social, result = turn.design, _post(turn)
    comments = social.comments_on_post(result.post_id, cursor=turn.cursor)
    person = turn.visitor.person
    liked = person is not None and social.like_of(result.post_id, person.user_id) is not None
    said = unblocked(social, person, comments.items, lambda comment: comment.user_id)
    users = _users(social, [result, *said])
    return turn.page("post.html", post=result, comments=said, cursor=comments.cursor, users=users, liked=liked)


def _post(turn: SocialTurn) -> Post:
    result = turn.design.post_by_id(turn.path("post_id"))
    if result is None or not may_see(turn.design, turn.visitor.person, result.user_id):
        raise not_found()
    return result


def likers(turn: SocialTurn) -> Response:
    """The users who like a post."""
    social, result = turn.design, _post(turn)
    page = social.likes_of_post(result.post_id, cursor=turn.cursor)
    likes = unblocked(social, turn.visitor.person, page.items, lambda like: like.user_id)
    users = _users(social, likes)
    listed = [users[like.user_id] for like in likes if like.user_id in users]
    return turn.page("likers.html", post=result, users=listed, cursor=page.cursor)


def comment(turn: SocialTurn) -> Response:
    result = _post(turn)
    text = turn.form.text("text", "Text", 5000, lines=True)
    if not turn.form:
        raise Problem(422, "Invalid comment", "A comment has 1 to 5,000 characters.", _to(result))
    turn.design.comment(result.post_id, turn.person.user_id, text)
    return turn.go(f"/posts/{result.post_id}")


def delete_comment(turn: SocialTurn) -> Response:
    """Delete a comment: one's own, or one on one's own post."""
    social, result = turn.design, _post(turn)
    try:
        at = datetime.fromisoformat(turn.form["at"])
    except ValueError:
        raise not_found() from None
    made = social.comment_of(result.post_id, at, turn.form["comment"]) if at.tzinfo is not None else None
    if made is None or turn.person.user_id not in {made.user_id, result.user_id}:
        raise not_found()
    social.delete_comment(result.post_id, at, made.comment_id)
    return turn.go(f"/posts/{result.post_id}")


def _to(result: Post) -> tuple[tuple[str, str], ...]:
    return (("The post", f"/posts/{result.post_id}"),)


# People


def profile(turn: SocialTurn) -> Response:
    """A user's page with their posts: all posts, or those of the day ``?day=2026-05-04``."""
    social, user, person = turn.design, _user(turn), turn.visitor.person
    day = _day(turn.query.get("day", ""))
    seen = may_see(social, person, user.user_id)
    span = None if day is None else Range(ge=day, lt=day + timedelta(days=1))
    posts = social.posts_of_user(user.user_id, span, cursor=turn.cursor) if seen else Page([], None)
    other = person is not None and person.user_id != user.user_id
    return turn.page(
        "profile.html",
        user=user,
        posts=posts.items,
        cursor=posts.cursor,
        users={user.user_id: user},
        other=other,
        follows=person is not None and other and social.follows(person.user_id, user.user_id) is not None,
        blocked=person is not None and other and social.block_of(person.user_id, user.user_id) is not None,
        seen=seen,
        day="" if day is None else f"{day:%Y-%m-%d}",
    )


def _day(text: str) -> datetime | None:
    """The beginning of a day in UTC. Raises Problem for a text that isn't a day."""
    try:
        return datetime.strptime(text, "%Y-%m-%d").replace(tzinfo=UTC) if text else None
    except ValueError:
        raise Problem(400, "Invalid date", "Enter a date such as 2026-05-04.") from None


def links(turn: SocialTurn) -> Response:
    """A user's followers, or the users that they follow."""
    social, user, which = turn.design, _user(turn), turn.path("links")
    if which not in {"followers", "following"} or not may_see(social, turn.visitor.person, user.user_id):
        raise not_found()
    if which == "followers":
        followers = social.followers(user.user_id, cursor=turn.cursor)
        ids, cursor = [link.follower_id for link in followers.items], followers.cursor
    else:
        following = social.following(user.user_id, cursor=turn.cursor)
        ids, cursor = [link.followed_id for link in following.items], following.cursor
    ids = unblocked(social, turn.visitor.person, ids, str)
    users = social.profiles(ids) if ids else []
    own = turn.visitor.person is not None and turn.visitor.person.user_id == user.user_id
    return turn.page("links.html", user=user, which=which, users=users, own=own, cursor=cursor)


def _user(turn: SocialTurn) -> User:
    handle = turn.path("handle").lower()
    user = turn.design.user_by_handle(handle) if len(handle) <= HANDLE_CHARACTERS_MAX else None
    if user is None or Seeing(turn.design).is_blocked(turn.visitor.person, user):
        raise not_found()
    return user


def settings(turn: SocialTurn) -> Response:
    """The form of the visitor's profile."""
    user = turn.design.profile(turn.person.user_id)
    if user is None:
        raise not_found()
    turn.form.typed |= {"name": user.name, "bio": user.bio}
    return turn.page("settings.html", user=user)


def edit_profile(turn: SocialTurn) -> Response:
    user = turn.design.profile(turn.person.user_id)
    name = turn.form.text("name", "Name", 80)
    bio = turn.form.text("bio", "About you", 500, required=False, lines=True)
    if not turn.form or user is None:
        return turn.page("settings.html", 422, user=user)
    turn.design.edit_profile(user.user_id, name, bio)
    return turn.go(f"/people/{user.handle}", "saved")


# Messages


def conversations(turn: SocialTurn) -> Response:
    """The visitor's conversations, the latest first."""
    social = turn.design
    page = social.conversations(turn.person.user_id, cursor=turn.cursor)
    shown = unblocked(social, turn.person, page.items, lambda item: item.with_user_id)
    result = [(item, social.profile(item.with_user_id)) for item in shown]
    return turn.page("conversations.html", conversations=result, cursor=page.cursor)


def conversation(turn: SocialTurn) -> Response:
    social, other, me = turn.design, _user(turn), turn.person.user_id
    if not may_see(social, turn.person, other.user_id):
        raise not_found()
    name = conversation_of(me, other.user_id)
    page = social.messages(name, cursor=turn.cursor)
    part = social.membership(me, name)
    if part is not None and part.unread:
        social.mark_read(me, name)
    return turn.page("conversation.html", other=other, messages=page.items[::-1], cursor=page.cursor)


def write(turn: SocialTurn) -> Response:
    other = _user(turn)
    text = turn.form.text("text", "Text", 5000, lines=True)
    if not turn.form:
        ways = (("The messages", f"/messages/{other.handle}"),)
        raise Problem(422, "Invalid message", "A message has 1 to 5,000 characters.", ways)
    turn.design.send_message(turn.person.user_id, other.user_id, text)
    return turn.go(f"/messages/{other.handle}")
