# mypy: disable-error-code="empty-body"
"""The social network as published. Times are strings with minute precision, as in the published keys."""

from __future__ import annotations

from keyplan import Cursor, Design, Entity, Index, Key, Page, Put, Table, Through, Writes, read, write

GSI1 = Index("GSI1", "postID", "gsi1sk")


class User(Entity):
    user_id: str
    name: str

    primary = Key("user#{user_id}", "info")


class Post(Entity):
    user_id: str
    date: str
    post_id: str
    text: str

    primary = Key("user#{user_id}#post", "date#{date}#post#{post_id}")
    by_id = Key("post#{post_id}", "info", index=GSI1)


class Comment(Entity):
    post_id: str
    date: str
    user_id: str
    text: str

    primary = Key("post#{post_id}#comment", "date#{date}")


class Like(Entity):
    post_id: str
    user_id: str

    primary = Key("post#{post_id}#like", "like#{user_id}")


class Following(Entity):
    """``user_id`` follows ``followed_id``."""

    user_id: str
    followed_id: str

    primary = Key("user#{user_id}#following", "user#{followed_id}")


class Follower(Entity):
    """``follower_id`` follows ``user_id``."""

    user_id: str
    follower_id: str

    primary = Key("user#{user_id}#followers", "user#{follower_id}")


class Social(Design):
    table = Table("social-media", indexes=[GSI1])

    @read("S1", through=Through(Following, user_id="followed_id"), newest_first=True)
    def feed(self, user_id: str, limit: int = 20) -> Page[Post]: ...

    @read("S2")
    def profile(self, user_id: str) -> User | None: ...

    @read("S3", newest_first=True)
    def posts_of_user(self, user_id: str, limit: int = 20, cursor: Cursor | None = None) -> Page[Post]: ...

    @read("S4")
    def post_by_id(self, post_id: str) -> Post | None: ...

    @read("S5")
    def comments_on_post(self, post_id: str) -> list[Comment]: ...

    @read("S6")
    def likes_of_post(self, post_id: str) -> list[Like]: ...

    @read("S7")
    def followers(self, user_id: str) -> list[Follower]: ...

    @write("W1")
    def sign_up(self, user: User) -> Writes:
        yield Put(user)

    @write("W2")
    def publish(self, post: Post) -> Writes:
        yield Put(post)

    @write("W3")
    def comment(self, comment: Comment) -> Writes:
        yield Put(comment)

    @write("W4")
    def like(self, post_id: str, user_id: str) -> Writes:
        yield Put(Like(post_id=post_id, user_id=user_id))

    @write("W5")
    def follow(self, user_id: str, followed_id: str) -> Writes:
        yield Put(Following(user_id=user_id, followed_id=followed_id))
