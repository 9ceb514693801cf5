"""Writes of comments: add, reply, remove, hide."""

from __future__ import annotations

from typing import Annotated

from keyplan import Check, Create, Example, Field, Update, Writes, ulid, write
from keyplan.errors import ItemNotFound, Refused
from keyplan_systems.blog.counting import counted
from keyplan_systems.blog.entities import Comment, CommentStatus, Post, User
from keyplan_systems.blog.reads import Reads

CommentText = Annotated[str, Field(min_length=1, max_length=5000)]


class CommentWrites(Reads):
    """Writes of comments. A hidden or removed comment keeps its place, because of its replies."""

    @write("W33", attempts=10, example=Example().found(Post, status="published"))
    def add_comment(
        self, post_id: str, user_id: str, text: CommentText, thread_id: str | None = None
    ) -> Writes[Comment]:
        """Comment on a published post; ``thread_id`` is the comment to reply to.

        Raises ItemNotFound for a missing post or thread, Refused for an inactive user.
        """
        missing = ItemNotFound(f"there is no post {post_id!r}", place="Blog.add_comment")
        post = yield from self.post.read(post_id)
        if post is None or post.status != "published":
            raise missing
        user = yield from self.user.read(user_id)
        if user is None or user.status != "active":
            raise Refused("only active users can comment", place="Blog.add_comment")
        comment_id = ulid()
        if thread_id is not None:
            first = yield from self.comment.read(post_id, thread_id, thread_id)
            if first is None or first.status != "shown":
                raise ItemNotFound(f"there is no comment {thread_id!r} to reply to", place="Blog.add_comment")
        comment = Comment(
            post_id=post_id, thread_id=thread_id or comment_id, comment_id=comment_id, user_id=user_id, text=text
        )
        yield Create(comment)
        yield Check(Post, post_id=post_id).only_if(status="published").if_missing(missing)
        yield Check(User, user_id=user_id).only_if(status="active")
        yield counted("post", post_id, {"comments": 1})
        return comment

    @write("W34", attempts=10)
    def remove_comment(self, post_id: str, thread_id: str, comment_id: str) -> Writes[bool]:
        """Remove a comment: its text is deleted, its place remains. Returns whether it existed."""
        comment = yield from self._comment(post_id, thread_id, comment_id)
        if comment.status == "removed":
            return False
        yield Update(comment, status="removed", text="").only_if(status=comment.status)
        if comment.status == "shown":
            yield counted("post", post_id, {"comments": -1})
        return True

    @write("W35", attempts=10, example=Example(status="hidden").found(Comment, status="shown"))
    def moderate_comment(self, post_id: str, thread_id: str, comment_id: str, status: CommentStatus) -> Writes[bool]:
        """Hide or show a comment; one that its author removed stays removed. Returns whether anything changed."""
        comment = yield from self._comment(post_id, thread_id, comment_id)
        if status == "removed" or comment.status in {"removed", status}:
            return False
        yield Update(comment, status=status).only_if(status=comment.status)
        yield counted("post", post_id, {"comments": 1 if status == "shown" else -1})
        return True

    def _comment(self, post_id: str, thread_id: str, comment_id: str) -> Writes[Comment]:
        comment = yield from self.comment.read(post_id, thread_id, comment_id)
        if comment is None:
            raise ItemNotFound(f"there is no comment {comment_id!r}", place="Blog.comment")
        return comment
