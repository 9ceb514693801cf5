# mypy: disable-error-code="empty-body"
"""The social network's posts with times of minute precision, as published. The compiler rejects it."""

from __future__ import annotations

from datetime import datetime

from keyplan import Design, Entity, Key, Page, Table, read


class Post(Entity):
    """A post."""

    user_id: str
    post_id: str
    date: datetime

    primary = Key("user#{user_id}#post", "date#{date:%Y%m%d%H%M}#post#{post_id}")


class SocialMinutes(Design):
    """Posts of a user."""

    table = Table("social-media")

    @read("S3", newest_first=True)
    def posts_of_user(self, user_id: str, limit: int = 20) -> Page[Post]: ...
