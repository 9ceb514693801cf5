"""A social network: users, posts, comments, likes, follows, feeds, messages. README.md tells how it follows its
document.
"""

from keyplan_systems.social.design import Social
from keyplan_systems.social.entities import (
    Block,
    Comment,
    Credential,
    Delivery,
    Follower,
    Following,
    FollowRequest,
    Like,
    Membership,
    Message,
    Notification,
    NotificationsSeen,
    Post,
    PostTally,
    Subscription,
    TimelineEntry,
    User,
    UserTally,
    conversation_of,
)

__all__ = [
    "Block",
    "Comment",
    "Credential",
    "Delivery",
    "FollowRequest",
    "Follower",
    "Following",
    "Like",
    "Membership",
    "Message",
    "Notification",
    "NotificationsSeen",
    "Post",
    "PostTally",
    "Social",
    "Subscription",
    "TimelineEntry",
    "User",
    "UserTally",
    "conversation_of",
]
