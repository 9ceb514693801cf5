"""Bulk writes of users, follows, posts, likes and comments for samples and imports, in large transactions.

Existing items don't change. Counters, follows in both directions and timelines stay consistent with concurrent writers:
each transaction has conditions, and if one fails, its items are written by the single writes, one by one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from typing import Any, TypeVar

from keyplan import Add, Check, Create, Delete, Put, Update, ulid
from keyplan.errors import ItemExists, ItemNotFound, Refused, UniqueValueTaken, WriteFailed
from keyplan_systems.social.design import Social
from keyplan_systems.social.entities import (
    Comment,
    Delivery,
    Follower,
    Following,
    Like,
    Post,
    PostTally,
    Subscription,
    User,
)
from keyplan_systems.social.limits import USER_SPREAD_AT, delivery_of, shard_of

ACTIONS_MAX = 100
"""Actions of one transaction. Source: TransactWriteItems in DynamoDB's API reference."""
USERS_STEP = 50
POSTS_STEP = 30
"""Posts in one transaction, with authors and deliveries: posts of up to 5,000 characters fit into its 4 MB."""
SAID_STEP = 80
"""Number of likes or comments in one transaction: with a tally for each shard, they fit into its 100 actions."""

T = TypeVar("T")
Actions = list[Create | Update | Put | Delete | Check]


def parts_of(things: Iterable[T], size: int) -> Iterator[list[T]]:
    """The items in lists of ``size``."""
    left = iter(things)
    while part := list(islice(left, size)):
        yield part


def users_by_id(design: Social, names: Iterable[str]) -> dict[str, User]:
    """The existing users with these ids."""
    keys = [{"user_id": name} for name in dict.fromkeys(names)]
    return {user.user_id: user for user in design.get_many(User, keys, consistent=True) if user is not None}


def add_users(design: Social, users: Iterable[User]) -> int:
    """Add users; returns the number of new ones. A taken handle gets a suffix."""
    added = 0
    for part in parts_of(users, USERS_STEP):
        there = users_by_id(design, (user.user_id for user in part))
        new = [user for user in part if user.user_id not in there]
        try:
            design.transact([Create(user) for user in new])
        except WriteFailed:
            for user in new:
                _add_user(design, user)
        added += len(new)
    return added


def _add_user(design: Social, user: User) -> None:
    try:
        design.create(user)
    except ItemExists:
        return  # another process added the user
    except UniqueValueTaken:
        design.create(user.model_copy(update={"handle": f"{user.handle[:23]}.{ulid().lower()}"}))


# Follows


@dataclass
class _Change:
    """The changes of one user in a transaction."""

    followers: int = 0
    following: int = 0
    audience: int = 0

    def action(self, user: User) -> Update:
        given = {"followers": self.followers, "following": self.following, "audience": self.audience}
        changes: dict[str, Any] = {name: Add(number) for name, number in given.items() if number}
        expected: dict[str, Any] = {"shards": 0} if self.followers else {}
        if self.audience:
            changes["audience_changes"] = Add(self.audience)
            expected["posts_ever"] = user.posts_ever
        update = Update(User, user_id=user.user_id).set(**changes)
        return update.only_if(**expected) if expected else update


@dataclass
class _Follows:
    """Follows, collected into transactions. ``users`` has the users as they are after the transactions."""

    design: Social
    users: dict[str, User]
    links: list[Following] = field(default_factory=list[Following])
    changes: dict[str, _Change] = field(default_factory=dict[str, _Change])
    size: int = 0

    def add(self, link: Following) -> None:
        """Add a follow; a full transaction is written first."""
        reader, author = self.users[link.user_id], self.users[link.followed_id]
        delivery = delivery_of(reader, author)
        if author.shards or author.followers >= USER_SPREAD_AT or (delivery == "write" and author.posts):
            self.flush()
            self._singly(link)
            return
        new = sum(name not in self.changes for name in (reader.user_id, author.user_id))
        needed = 3 + new if delivery == "write" else 2 + new
        if self.size + needed > ACTIONS_MAX:
            self.flush()
            self.add(link)  # flush may have read the users again
            return
        self.size += needed
        self.links.append(link.model_copy(update={"delivery": delivery}))
        stored = int(delivery == "write")
        own = self.changes.setdefault(reader.user_id, _Change())
        own.following += 1
        other = self.changes.setdefault(author.user_id, _Change())
        other.followers += 1
        other.audience += stored
        self.users[reader.user_id] = reader.model_copy(update={"following": reader.following + 1})
        self.users[author.user_id] = author.model_copy(
            update={"followers": author.followers + 1, "audience": author.audience + stored}
        )

    def flush(self) -> None:
        """Write the collected follows: in one transaction, or one by one if some exist already."""
        links, changes = self.links, self.changes
        self.links, self.changes, self.size = [], {}, 0
        if not links:
            return
        try:
            self.design.transact(self._actions(links, changes))
        except WriteFailed:
            self.users |= users_by_id(self.design, changes)
            new = _new_links(self.design, links)
            if len(new) == len(links):
                for link in new:
                    self._singly(link)
                return
            for link in new:
                self.add(link)
            self.flush()

    def _actions(self, links: Sequence[Following], changes: dict[str, _Change]) -> Actions:
        actions: Actions = []
        for link in links:
            actions.append(Create(link))  # the link's Follower and Subscription exist only if the link exists
            actions.append(Put(Follower(user_id=link.followed_id, follower_id=link.user_id, since=link.since)))
            if link.delivery == "write":
                actions.append(Put(Subscription(user_id=link.followed_id, reader_id=link.user_id)))
        actions.extend(change.action(self.users[name]) for name, change in changes.items())
        return actions

    def _singly(self, link: Following) -> None:
        with suppress(Refused):  # the follow already exists
            self.design.follow(link.user_id, link.followed_id)
        self.users |= users_by_id(self.design, (link.user_id, link.followed_id))


def add_follows(design: Social, links: Iterable[Following]) -> None:
    """Let users follow other users; this function sets ``delivery``. Raises ItemNotFound for unknown users."""
    wanted = list({(link.user_id, link.followed_id): link for link in links}.values())
    names = [name for link in wanted for name in (link.user_id, link.followed_id)]
    users = users_by_id(design, names)
    missing = [name for name in names if name not in users]
    if missing:
        raise ItemNotFound(f"there is no user {missing[0]!r}", place="add_follows", hint="sign users up first")
    if wanted and design.follows(wanted[0].user_id, wanted[0].followed_id) is not None:
        wanted = _new_links(design, wanted)  # the same file was probably loaded before
    follows = _Follows(design, users)
    for link in wanted:
        follows.add(link)
    follows.flush()


def _new_links(design: Social, links: Sequence[Following]) -> list[Following]:
    keys = [{"user_id": link.user_id, "followed_id": link.followed_id} for link in links]
    there = design.get_many(Following, keys, consistent=True)
    return [link for link, result in zip(links, there, strict=True) if result is None]


# Posts, comments and likes


def add_posts(design: Social, posts: Iterable[Post]) -> None:
    """Publish posts, which keep their ids and times, and deliver them into timelines. Raises ItemNotFound."""
    for part in parts_of({(post.user_id, post.created_at, post.post_id): post for post in posts}.values(), POSTS_STEP):
        keys = [{"user_id": post.user_id, "created_at": post.created_at, "post_id": post.post_id} for post in part]
        there = design.get_many(Post, keys, consistent=True)
        new = [post for post, result in zip(part, there, strict=True) if result is None]
        _until_done(partial(_publish, design, new))


def _publish(design: Social, posts: Sequence[Post]) -> None:
    authors = users_by_id(design, (post.user_id for post in posts))
    actions: Actions = []
    deliveries: list[Delivery] = []
    counts: dict[str, int] = {}
    for post in posts:
        if post.user_id not in authors:
            raise ItemNotFound(f"there is no user {post.user_id!r}", place="add_posts", hint="sign users up first")
        actions.append(Create(post))
        counts[post.user_id] = counts.get(post.user_id, 0) + 1
        if authors[post.user_id].audience:
            deliveries.append(Delivery.of(post))
    actions.extend(Create(delivery) for delivery in deliveries)
    for name, number in counts.items():
        update = Update(User, user_id=name).set(posts=Add(number), posts_ever=Add(number))
        actions.append(update.only_if(audience_changes=authors[name].audience_changes))
    design.transact(actions)
    for delivery in deliveries:
        design.deliver(delivery)


def _until_done(write: Callable[[], None], attempts: int = 10) -> None:
    """Retry a write if the items that it read have changed."""
    for _ in range(attempts - 1):
        with suppress(WriteFailed):
            write()
            return
    write()


def add_likes(design: Social, post: Post, likes: Iterable[Like]) -> None:
    for part in parts_of({like.user_id: like for like in likes}.values(), SAID_STEP):
        keys = [{"post_id": post.post_id, "user_id": like.user_id} for like in part]
        _until_done(partial(_count, design, post, part, keys, "likes"))


def add_comments(design: Social, post: Post, comments: Iterable[Comment]) -> None:
    """Add comments to a post, with their ids and times."""
    for part in parts_of(comments, SAID_STEP):
        keys = [
            {"post_id": post.post_id, "created_at": comment.created_at, "comment_id": comment.comment_id}
            for comment in part
        ]
        _until_done(partial(_count, design, post, part, keys, "comments"))


def _count(
    design: Social, post: Post, said: Sequence[Like | Comment], keys: Sequence[dict[str, Any]], what: str
) -> None:
    """Write new likes or comments, and count them in the post or its tallies."""
    there = design.get_many(type(said[0]), keys, consistent=True)
    new = [reaction for reaction, result in zip(said, there, strict=True) if result is None]
    now = design.post_by_id(post.post_id)
    if now is None:
        raise ItemNotFound(f"there is no post {post.post_id!r}", place=f"add_{what}")
    if not new:
        return
    actions: Actions = [Create(reaction) for reaction in new]
    if now.shards:
        for shard, number in Counter(shard_of(reaction.user_id) for reaction in new).items():
            actions.append(Update(PostTally, post_id=post.post_id, shard=shard).set(**{what: Add(number)}))
    else:
        actions.append(Update(now).set(**{what: Add(len(new))}).only_if(shards=0))
    design.transact(actions)
