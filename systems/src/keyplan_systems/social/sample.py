"""The sample of the social network: few users have many followers, few posts have many likes, one user follows all.

Times are relative to the first sampling. Otherwise, the same number of users results in the same network each time.
Sampling again adds only what is missing.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from itertools import accumulate

from keyplan import Create, Put, now
from keyplan.systems import Progress
from keyplan_systems.social.bulk import add_comments, add_follows, add_likes, add_posts, add_users, parts_of
from keyplan_systems.social.design import Social
from keyplan_systems.social.entities import (
    Comment,
    Credential,
    Following,
    Like,
    Membership,
    Message,
    Notification,
    Post,
    User,
    conversation_of,
    preview_of,
)
from keyplan_systems.social.texts import BIOS, FAMILY_NAMES, FIRST_NAMES, MESSAGES, REMARKS, post_text

JOINED_BEFORE = timedelta(days=1200)
"""How long before the newest time of the sample its first user joined."""
READER = 7
"""The user who follows all others: of more than 200, some are delivered to the timeline."""
POSTS_EACH = 3
"""Average number of posts per user."""
STEP = 100
HEARD = 3
"""Number of newest followers, posts, likes and comments that cause notifications for users with a password."""
NEVER = datetime(2100, 1, 1, tzinfo=UTC)


def user_id(number: int) -> str:
    """The id of sample user ``number``."""
    return f"u_{number:04d}"


def sample(design: Social, count: int, progress: Progress) -> int:
    """Write a network of ``count`` users; returns the number of new ones."""
    first = design.profile(user_id(0))
    newest = now().replace(second=0, microsecond=0) if first is None else first.joined_at + JOINED_BEFORE
    chance = random.Random(f"keyplan social {count}")  # noqa: S311 - reproducible sample data
    weights = list(accumulate((number + 1) ** -0.8 for number in range(count)))
    total = 2 * count
    progress(0, total)
    added = add_users(design, (_user(number, newest) for number in range(count)))
    for numbers in parts_of(range(count), STEP):
        add_follows(design, (link for number in numbers for link in _follows(chance, number, count, weights, newest)))
        progress(numbers[-1] + 1, total)
    posts = _posts(chance, count, weights, newest)
    written = 0
    for part in parts_of(posts, STEP):
        add_posts(design, part)
        for post in part:
            _said(design, chance, post, count, weights)
        written += len(part)
        progress(count + count * written // len(posts), total)
    _talk(design, chance, count, newest)
    for number in range(min(count, len(DEMO_USERS))):
        if design.credential(user_id(number)) is None:
            design.put(Credential(user_id=user_id(number), password_hash=DEMO_HASH))
            _hear(design, user_id(number))
    progress(total, total)
    return added


def _names(number: int) -> tuple[str, str]:
    chance = random.Random(f"keyplan social user {number}")  # noqa: S311 - reproducible sample data
    return chance.choice(FIRST_NAMES), chance.choice(FAMILY_NAMES)


def _user(number: int, newest: datetime) -> User:
    first, last = _names(number)
    return User(
        user_id=user_id(number),
        handle=f"{first}.{last}.{number}",
        name=f"{first.title()} {last.title()}",
        bio=BIOS[number % len(BIOS)],
        joined_at=newest - JOINED_BEFORE + timedelta(days=number % 800),
    )


DEMO_USERS = tuple(".".join((*_names(number), str(number))) for number in range(2))
"""The handles of the users with a password."""
DEMO_PASSWORD = "common ground"  # noqa: S105 - the sample's password, which the documentation publishes
DEMO_HASH = "$argon2id$v=19$m=65536,t=3,p=4$Bpt4zX4UBkmQ9RLLBQ80bA$xCXRcmz6DP5g8HQio7usEsCekXsll+0br5JrJo2DNFs"
"""The hash of the password, fixed because hashing takes time."""


def _chosen(chance: random.Random, weights: Sequence[float], number: int) -> list[int]:
    """Some users, each once, the first ones more often."""
    return list(dict.fromkeys(chance.choices(range(len(weights)), cum_weights=weights, k=number)))


def _follows(
    chance: random.Random, number: int, count: int, weights: Sequence[float], newest: datetime
) -> Iterator[Following]:
    if number == READER:
        followed = [*range(count)]
        chance.shuffle(followed)
    else:
        followed = _chosen(chance, weights, min(count, int(3 * chance.paretovariate(1.2))))
    since = newest - timedelta(days=300 + chance.randrange(100))
    for other in followed:
        if other != number:
            yield Following(user_id=user_id(number), followed_id=user_id(other), since=since)


def _posts(chance: random.Random, count: int, weights: Sequence[float], newest: datetime) -> list[Post]:
    """Posts of a year, oldest first, most of them recent. The first users write more."""
    authors = chance.choices(range(count), cum_weights=weights, k=count * POSTS_EACH)
    minutes = sorted((60 + int(365 * 24 * 60 * chance.random() ** 3) for _ in authors), reverse=True)
    return [
        Post(
            post_id=_id(f"post {count} {place}"),
            user_id=user_id(author),
            text=post_text(chance),
            created_at=newest - timedelta(minutes=ago),
        )
        for place, (author, ago) in enumerate(zip(authors, minutes, strict=True))
    ]


def _said(design: Social, chance: random.Random, post: Post, count: int, weights: Sequence[float]) -> None:
    """Likes and comments on a post: most posts get few, some very many."""
    likes = min(count // 2, int(chance.paretovariate(0.9)) - 1)
    names = [user_id(number) for number in _chosen(chance, weights, likes)]
    later = [post.created_at + timedelta(seconds=1 + chance.randrange(3000)) for _ in names]
    add_likes(
        design,
        post,
        [Like(post_id=post.post_id, user_id=who, liked_at=at) for who, at in zip(names, later, strict=True)],
    )
    comments = [
        Comment(
            comment_id=_id(f"comment {post.post_id} {place}"),
            post_id=post.post_id,
            user_id=user_id(chance.randrange(count)),
            text=chance.choice(REMARKS),
            created_at=post.created_at + timedelta(seconds=300 + 40 * place),
        )
        for place in range(min(12, int(chance.paretovariate(1.1)) - 1))
    ]
    add_comments(design, post, comments)


def _talk(design: Social, chance: random.Random, count: int, newest: datetime) -> None:
    for number in range(min(count - 1, 12)):
        pair = user_id(number), user_id(chance.randrange(number + 1, count))
        name = conversation_of(*pair)
        began = newest - timedelta(hours=1 + 7 * number)
        messages = [
            Message(
                message_id=_id(f"message {name} {place}"),
                conversation_id=name,
                user_id=pair[place % 2],
                text=chance.choice(MESSAGES),
                sent_at=began + timedelta(minutes=3 * place),
            )
            for place in range(chance.randrange(1, 6))
        ]
        if design.membership(pair[0], name) is None:
            parts = [_part(own, other, messages) for own, other in (pair, pair[::-1])]
            design.transact([Create(message) for message in (*messages, *parts)])


def _hear(design: Social, me: str) -> None:
    """Notifications of a user, which don't expire."""
    heard = [
        Notification.of_follow(Following(user_id=link.follower_id, followed_id=me, since=link.since))
        for link in design.followers(me, limit=HEARD)
    ]
    for post in design.posts_of_user(me, limit=HEARD):
        likes, comments = (ask(post.post_id, limit=HEARD) for ask in (design.likes_of_post, design.comments_on_post))
        said = [each for each in (*likes, *comments) if each.user_id != me and not post.shards]
        heard += [Notification.of_said(post, each) for each in said]
    design.batch(Put(each.model_copy(update={"expires_at": NEVER})) for each in heard)


def _part(own: str, other: str, messages: Sequence[Message]) -> Membership:
    """A user's side of a conversation. The last sender has read the previous messages."""
    return Membership(
        user_id=own,
        conversation_id=messages[-1].conversation_id,
        with_user_id=other,
        last_message_at=messages[-1].sent_at,
        last_text=preview_of(messages[-1].text),
        unread=int(messages[-1].user_id != own),
    )


def _id(text: str) -> str:
    return hashlib.blake2b(text.encode(), digest_size=10).hexdigest()
