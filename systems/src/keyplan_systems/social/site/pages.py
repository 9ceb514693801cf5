"""The pages and forms of the network."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from urllib.parse import quote

from starlette.responses import Response

from keyplan.errors import Refused
from keyplan_systems.pages.site import Turn
from keyplan_systems.site.problems import Problem, not_found
from keyplan_systems.social.design import Social
from keyplan_systems.social.entities import Comment, Post, User, conversation_of
from keyplan_systems.social.site.people import HANDLE_CHARACTERS_MAX
from keyplan_systems.social.site.seeing import Seeing, may_see, unblocked

__all__ = [
    "act",
    "comment",
    "conversation",
    "conversations",
    "delete_comment",
    "edit_profile",
    "feed",
    "find",
    "links",
    "post",
    "post_act",
    "profile",
    "publish",
    "settings",
    "write",
]

SocialTurn = Turn[Social]


def feed(turn: SocialTurn) -> Response:
    """The posts of those whom one follows; for others, what this is."""
    if turn.visitor.person is None:
        return turn.page("welcome.html")
    social = turn.design
    page = social.feed(turn.person.user_id, cursor=turn.cursor)
    return turn.page("feed.html", posts=page.items, cursor=page.cursor, users=_users(social, page.items))


def _users(social: Social, things: Iterable[Post | Comment]) -> dict[str, User]:
    """Who wrote these."""
    result = {name: social.profile(name) for name in dict.fromkeys(element.user_id for element in things)}
    return {name: user for name, user in result.items() if user is not None}


def publish(turn: SocialTurn) -> Response:
    """A new post."""
    text = turn.form.text("text", "Text", 5000, lines=True)
    if not turn.form:
        raise Problem(422, "What is new?", "A post has 1 to 5,000 characters.", (("Your feed", "/"),))
    made = turn.design.publish(turn.person.user_id, text)
    return turn.go(f"/posts/{made.post_id}")


def post(turn: SocialTurn) -> Response:
    """A post with its comments."""
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


def post_act(turn: SocialTurn) -> Response:
    """Like a post, take that back, or delete one's own."""
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
            return turn.go("/", "deleted")
        case _:
            raise not_found()
    return turn.go(f"/posts/{result.post_id}")


def comment(turn: SocialTurn) -> Response:
    """Comment on a post."""
    result = _post(turn)
    text = turn.form.text("text", "Text", 5000, lines=True)
    if not turn.form:
        raise Problem(422, "What do you say?", "A comment has 1 to 5,000 characters.", _to(result))
    turn.design.comment(result.post_id, turn.person.user_id, text)
    return turn.go(f"/posts/{result.post_id}")


def delete_comment(turn: SocialTurn) -> Response:
    """Delete one's own comment, or one on one's own post."""
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
    """A user's page."""
    social, user = turn.design, _user(turn)
    person = turn.visitor.person
    seen = may_see(social, person, user.user_id)
    posts = social.posts_of_user(user.user_id, cursor=turn.cursor) if seen else None
    other = person is not None and person.user_id != user.user_id
    follows = other and person is not None and social.follows(person.user_id, user.user_id) is not None
    blocked = other and person is not None and social.block_of(person.user_id, user.user_id) is not None
    return turn.page(
        "profile.html",
        user=user,
        posts=[] if posts is None else posts.items,
        cursor=None if posts is None else posts.cursor,
        users={user.user_id: user},
        other=other,
        follows=follows,
        blocked=blocked,
        seen=seen,
        asked=other and person is not None and not seen and social.request_of(user.user_id, person.user_id) is not None,
    )


def links(turn: SocialTurn) -> Response:
    """Who follows somebody, or whom they follow."""
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
    users = [follower for name in ids if (follower := social.profile(name)) is not None]
    own = turn.visitor.person is not None and turn.visitor.person.user_id == user.user_id
    return turn.page("links.html", user=user, which=which, users=users, own=own, cursor=cursor)


def find(turn: SocialTurn) -> Response:
    """Somebody's page, by their handle; a form to ask for another where nobody has it."""
    handle = turn.query.get("handle", "").strip().removeprefix("@").lower()[:HANDLE_CHARACTERS_MAX]
    user = turn.design.user_by_handle(handle) if handle else None
    if user is not None and not Seeing(turn.design).is_blocked(turn.visitor.person, user):
        return turn.go(f"/people/{quote(user.handle, safe='')}")
    return turn.page("find.html", handle=handle)


def _user(turn: SocialTurn) -> User:
    handle = turn.path("handle").lower()
    user = turn.design.user_by_handle(handle) if len(handle) <= HANDLE_CHARACTERS_MAX else None
    if user is None or Seeing(turn.design).is_blocked(turn.visitor.person, user):
        raise not_found()
    return user


def act(turn: SocialTurn) -> Response:
    """Follow somebody, or block them; or no more."""
    social, user, me = turn.design, _user(turn), turn.person.user_id
    try:
        match turn.path("action"):
            case "follow":
                social.follow(me, user.user_id)
            case "unfollow":
                social.unfollow(me, user.user_id)
            case "ask":
                social.ask_to_follow(me, user.user_id)
                return turn.go(f"/people/{user.handle}", "asked")
            case "withdraw":
                social.decline_request(user.user_id, me)
            case "remove":
                social.remove_follower(me, user.user_id)
                return turn.go(f"/people/{turn.form['of']}/followers")
            case "block":
                social.block(me, user.user_id)
            case "unblock":
                social.unblock(me, user.user_id)
            case _:
                raise not_found()
    except Refused as error:
        if "already" not in error.message and "doesn't follow" not in error.message:
            raise
    return turn.go(f"/people/{user.handle}")


def settings(turn: SocialTurn) -> Response:
    """The page to change one's profile."""
    user = turn.design.profile(turn.person.user_id)
    if user is None:
        raise not_found()
    turn.form.typed |= {"name": user.name, "bio": user.bio, "private": "yes" if user.private else ""}
    return turn.page("settings.html", user=user)


def edit_profile(turn: SocialTurn) -> Response:
    """Change one's profile."""
    user = turn.design.profile(turn.person.user_id)
    name = turn.form.text("name", "Name", 80)
    bio = turn.form.text("bio", "About you", 500, required=False, lines=True)
    if not turn.form or user is None:
        return turn.page("settings.html", 422, user=user)
    turn.design.edit_profile(user.user_id, name, bio)
    private = bool(turn.form["private"])
    if private != user.private:
        turn.design.set_private(user.user_id, private)
    return turn.go(f"/people/{user.handle}", "saved")


# Messages


def conversations(turn: SocialTurn) -> Response:
    """One's conversations, the latest first."""
    social = turn.design
    page = social.conversations(turn.person.user_id, cursor=turn.cursor)
    result = [(item, social.profile(item.with_user_id)) for item in page.items]
    return turn.page("conversations.html", conversations=result, cursor=page.cursor)


def conversation(turn: SocialTurn) -> Response:
    """What one and another have written to each other."""
    social, other, me = turn.design, _user(turn), turn.person.user_id
    name = conversation_of(me, other.user_id)
    page = social.messages(name, cursor=turn.cursor)
    part = social.membership(me, name)
    if part is not None and part.unread:
        social.mark_read(me, name)
    return turn.page("conversation.html", other=other, messages=page.items[::-1], cursor=page.cursor)


def write(turn: SocialTurn) -> Response:
    """Write to somebody."""
    other = _user(turn)
    text = turn.form.text("text", "Text", 5000, lines=True)
    if not turn.form:
        ways = (("The messages", f"/messages/{other.handle}"),)
        raise Problem(422, "What do you write?", "A message has 1 to 5,000 characters.", ways)
    turn.design.send_message(turn.person.user_id, other.user_id, text)
    return turn.go(f"/messages/{other.handle}")
