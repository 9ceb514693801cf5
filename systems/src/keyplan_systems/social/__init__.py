"""A social network: users, posts, comments, likes, follows, feeds and messages. See README.md."""

from keyplan_systems.social.design import Social

__all__ = ["Social"]
