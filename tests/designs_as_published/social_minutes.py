# mypy: disable-error-code="empty-body"
"""Posts of the social network as published, with times of minute precision. The compiler rejects this design."""

from __future__ import annotations

from datetime import datetime

from keyplan import Design, Entity, Key, Page, Table, read


class Post(Entity):
    user_id: str
    post_id: str
    date: datetime

    primary = Key("user#{user_id}#post", "date#{date:%Y%m%d%H%M}#post#{post_id}")


class SocialMinutes(Design):
    table = Table("social-media")

    @read("S3", newest_first=True)
    def posts_of_user(self, user_id: str, limit: int = 20) -> Page[Post]: ...
