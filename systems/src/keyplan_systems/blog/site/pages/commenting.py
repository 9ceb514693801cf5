"""Comments below a post: list, add, remove; and hide, for moderators."""

from __future__ import annotations

from dataclasses import dataclass

from starlette.responses import Response

from keyplan import Cursor
from keyplan.errors import ItemNotFound
from keyplan_systems.blog.entities import Comment, CommentStatus, Post
from keyplan_systems.blog.site.cards import authors_of
from keyplan_systems.blog.site.rendering import post_path
from keyplan_systems.blog.site.site import Turn
from keyplan_systems.site.problems import not_found

COMMENTS_PAGE = 25
COMMENT_CHARACTERS_MAX = 3000
ID_CHARACTERS_MAX = 64


@dataclass(frozen=True, slots=True)
class Said:
    """A page of comments: each with its author's name and username, and the cursor of the next page."""

    comments: list[tuple[Comment, str, str]]
    cursor: Cursor | None


def said(turn: Turn, about: Post) -> Said | None:
    """A page of a published post's comments: one query, and one request for names. None for a draft."""
    if about.status != "published":
        return None
    given = turn.query.get("comments")
    page = turn.blog.comments(about.post_id, limit=COMMENTS_PAGE, cursor=Cursor(given) if given else None)
    names = authors_of(turn.blog, [comment for comment in page if comment.status == "shown"])
    result = [(comment, *names.get(comment.user_id, ("", ""))) for comment in page]
    return Said(result, page.cursor)


def add(turn: Turn) -> Response:
    about = published_post(turn)
    text = turn.form.text("text", "Your comment", COMMENT_CHARACTERS_MAX, lines=True)
    place = post_path(about.slug)
    if not turn.form:
        return turn.page("comment.html", 422, form=turn.form, path=f"{place}/comments", title=about.title, back=place)
    turn.limit("comment", turn.user.user_id)
    thread_id = turn.form["thread"][:ID_CHARACTERS_MAX] or None
    made = turn.blog.add_comment(about.post_id, turn.user.user_id, text, thread_id)
    turn.site.views.answered(about)
    return turn.go(f"{place}#comment_{made.comment_id}")


def change(turn: Turn) -> Response:
    """Remove the user's comment; for moderators, hide or show any."""
    about = published_post(turn)
    thread_id, comment_id = (turn.form[name][:ID_CHARACTERS_MAX] or "-" for name in ("thread", "comment"))
    comment = turn.blog.comment(about.post_id, thread_id, comment_id)
    if comment is None:
        raise not_found()
    turn.limit("respond", turn.user.user_id)
    action = turn.form["action"]
    if action == "remove" and comment.user_id == turn.user.user_id:
        turn.blog.remove_comment(about.post_id, thread_id, comment_id)
    elif action in {"hide", "show"} and turn.visitor.moderator:
        status: CommentStatus = "hidden" if action == "hide" else "shown"
        turn.blog.moderate_comment(about.post_id, thread_id, comment_id, status)
    else:
        raise not_found()
    turn.site.views.answered(about)
    return turn.go(f"{post_path(about.slug)}#comment_{comment_id}")


def published_post(turn: Turn) -> Post:
    """The published post in the URL. Raises ItemNotFound."""
    slug = turn.path("slug")
    led = turn.blog.slug_of(slug) if 0 < len(slug) <= 200 else None
    post = None if led is None else turn.blog.post(led.post_id)
    if post is None or post.status != "published":
        raise ItemNotFound("there is no published post at this address", place="Blog.post")
    return post
