"""The design of the social network: its table, and the writes of follows, posts and messages.

Entities are in ``entities.py``, reads in ``reads.py``, writes of users in ``people.py``, thresholds in ``limits.py``.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from keyplan import Add, Batch, Create, Cursor, Delete, Design, Example, Put, Table, Update, Writes, now, write
from keyplan.errors import ConditionFailed, ItemNotFound, Refused
from keyplan_systems.site.sessions import SessionPatterns
from keyplan_systems.social.entities import (
    GSI1,
    GSI2,
    Block,
    Comment,
    Delivery,
    Follower,
    Following,
    Like,
    Membership,
    Message,
    Notification,
    Post,
    PostTally,
    Subscription,
    Text,
    TimelineEntry,
    User,
    UserTally,
    conversation_of,
    preview_of,
)
from keyplan_systems.social.limits import (
    DELIVERY_SECONDS_MAX,
    GATHER_EVERY,
    POST_SPREAD_AT,
    SHARDS,
    SWEEP,
    USER_SPREAD_AT,
    delivery_of,
    shard_of,
)
from keyplan_systems.social.people import PeopleWrites

_REASONS = {
    "KP602 Notification.expires_at": "pages may show expired notifications for a few days",
    **dict.fromkeys(
        ("KP316 block", "KP316 unfollow", "KP316 remove_follower"),
        "block ends at most two follow relationships; unfollow and remove_follower end one",
    ),
    "KP602 Session.expires_at": "Sessions.of compares expires_at with the current time",
    "KP303 deliveries_of": "a delivery takes seconds, so an author has at most a few at a time",
    "KP304 feed": "at most 200 followed users are read, 20 in parallel; posts of other users are delivered on write",
}
"""Findings of ``keyplan check`` that are accepted, with reasons."""


class Social(PeopleWrites, SessionPatterns, Design, ignore=_REASONS):
    """A social network: feeds, profiles, posts, comments, likes, follows, messages."""

    table = Table("social-media", indexes=[GSI1, GSI2])

    @write("W7", attempts=30, example=Example().found(User, shards=0).missing("block_of", "follows"))
    def follow(self, user_id: str, followed_id: str) -> Writes[Following]:
        """Follow a user: both directions and both counters in one transaction.

        Raises Refused for oneself, for a user who is followed already and after a block; ItemNotFound.
        """
        if user_id == followed_id:
            raise Refused("users can't follow themselves", place="Social.follow", hint="use the ids of two users")
        reader = yield from self._user(user_id)
        author = yield from self._user(followed_id)
        yield from self._not_blocked(followed_id, user_id, "Social.follow")
        if (yield from self.follows.read(user_id, followed_id)) is not None:
            raise Refused(f"{user_id!r} already follows {followed_id!r}", place="Social.follow")
        moment, delivery = now(), delivery_of(reader, author)
        link = Following(user_id=user_id, followed_id=followed_id, since=moment, delivery=delivery)
        yield Create(link)
        yield Create(Follower(user_id=followed_id, follower_id=user_id, since=moment))
        for blocker, blocked in ((user_id, followed_id), (followed_id, user_id)):
            yield _absent(Delete(Block, user_id=blocker, blocked_id=blocked))
        yield Update(User, user_id=user_id).set(following=Add(1))
        changes, expected = yield from self._count_followers(author, user_id, 1, stored=delivery == "write")
        if changes:
            yield Update(User, user_id=followed_id).set(**changes).only_if(**expected)
        if not author.shards:  # popular users aren't notified of each follow
            yield Put(Notification.of_follow(link))
        if delivery == "write":
            yield Create(Subscription(user_id=followed_id, reader_id=user_id))
            yield from (yield from self._rewrite(followed_id, user_id, wanted=True))
        return link

    @write("W8", attempts=30)
    def unfollow(self, user_id: str, followed_id: str) -> Writes:
        """Stop following a user. Raises Refused if the user isn't followed."""
        yield from self._end([(yield from self._link(user_id, followed_id, "Social.unfollow"))])

    @write("W23", attempts=30)
    def remove_follower(self, user_id: str, follower_id: str) -> Writes:
        """Remove a follower. Raises Refused if the user isn't followed by them."""
        yield from self._end([(yield from self._link(follower_id, user_id, "Social.remove_follower"))])

    @write("W17", attempts=30)
    def block(self, user_id: str, blocked_id: str) -> Writes[Block]:
        """Block a user: neither of the two can read, follow, like, comment or write to the other. Followings between
        them end in the same transaction, in both directions. Raises Refused for oneself, ItemNotFound.
        """
        if user_id == blocked_id:
            raise Refused("users can't block themselves", place="Social.block", hint="use the ids of two users")
        user = yield from self._user(user_id)
        blocked = yield from self._user(blocked_id)
        block = Block(user_id=user_id, blocked_id=blocked_id)
        yield Put(block)
        ends: list[tuple[Following, User]] = []
        for reader, author in ((user, blocked), (blocked, user)):
            link = yield from self.follows.read(reader.user_id, author.user_id)
            if link is not None:
                ends.append((link, author))
            else:
                yield _absent(Delete(Following, user_id=reader.user_id, followed_id=author.user_id))
        yield from self._end(ends)
        return block

    def _link(self, user_id: str, followed_id: str, place: str) -> Writes[tuple[Following, User]]:
        """A following, and the followed user. Raises Refused if the following doesn't exist."""
        link = yield from self.follows.read(user_id, followed_id)
        if link is None:
            raise Refused(f"{user_id!r} doesn't follow {followed_id!r}", place=place)
        return link, (yield from self._user(followed_id))

    def _end(self, links: Sequence[tuple[Following, User]]) -> Writes:
        """End followings, each with its followed user. Each user is updated once, because two may follow each other."""
        users: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {}
        batches: list[Batch] = []
        for link, author in links:
            user_id, followed_id = link.user_id, author.user_id
            yield Delete(link).only_if(delivery=link.delivery)
            yield Delete(Follower, user_id=followed_id, follower_id=user_id)
            users.setdefault(user_id, ({}, {}))[0]["following"] = Add(-1)
            counted = yield from self._count_followers(author, user_id, -1, stored=link.delivery == "write")
            for total, more in zip(users.setdefault(followed_id, ({}, {})), counted, strict=True):
                total.update(more)
            if not author.shards:
                yield Delete(Notification.of_follow(link))
            if link.delivery == "write":
                yield Delete(Subscription, user_id=followed_id, reader_id=user_id)
                batches += yield from self._rewrite(followed_id, user_id, wanted=False)
        for user_id, (changes, expected) in users.items():
            if changes:
                update = Update(User, user_id=user_id).set(**changes)
                yield update.only_if(**expected) if expected else update
        yield from batches

    # Posts

    @write("W2", attempts=30)
    def publish(self, user_id: str, text: Text) -> Writes[Post]:
        """Publish a post: count it, and deliver it to the timelines of the author's audience. Raises ItemNotFound."""
        author = yield from self._user(user_id)
        readers: list[Subscription] = []
        if author.audience:
            readers = yield from self.audience.read(user_id)
        post = Post(user_id=user_id, text=text, shards=SHARDS if author.shards else 0)
        yield Create(post)
        if post.shards:
            yield from _spread(PostTally(post_id=post.post_id, shard=0))
        # A concurrent follow or unfollow changes audience_changes. The condition fails, and the audience is read again.
        yield (
            Update(User, user_id=user_id)
            .set(posts=Add(1), posts_ever=Add(1))
            .only_if(audience_changes=author.audience_changes)
        )
        if readers:
            delivery = Delivery.of(post)
            yield Create(delivery)
            yield Batch(Put(TimelineEntry.of(post, reader.reader_id)) for reader in readers)
            yield Batch([Delete(delivery)])
        return post

    @write("W3", attempts=30, example=Example().found(Post, shards=0))
    def delete_post(self, post_id: str) -> Writes:
        """Delete a post, its counters, the pointers to it, and up to 1,000 of its likes and comments; ``sweep_post``
        removes any others. Their notifications are removed, too. Raises ItemNotFound.
        """
        post = yield from self._post(post_id)
        author = yield from self._user(post.user_id)
        # A concurrent like or comment changes the counters. The condition fails, and likes and comments are read again.
        # Sharded counters aren't checked, as they change too often.
        counted = {} if post.shards else {"likes": post.likes, "comments": post.comments}
        yield Delete(post).only_if(shards=post.shards, **counted)
        for shard in range(post.shards):
            yield Delete(PostTally, post_id=post_id, shard=shard)
        yield Update(User, user_id=post.user_id).set(posts=Add(-1))
        leftovers = yield from self._leftovers(post_id)
        pointers: list[TimelineEntry] = []
        if author.audience:  # an entry that is written concurrently stays, and feeds skip it
            readers = yield from self.audience.read(post.user_id)
            pointers = [TimelineEntry.of(post, reader.reader_id) for reader in readers]
        heard = [Notification.of_said(post, said) for said in leftovers if said.user_id != post.user_id]
        yield Batch(Delete(leftover) for leftover in (*leftovers, *pointers, *heard))

    @write("W4", attempts=10, example=Example().missing("block_of"))
    def comment(self, post_id: str, user_id: str, text: Text) -> Writes[Comment]:
        """Comment on a post. Raises ItemNotFound."""
        post = yield from self._post(post_id)
        yield from self._user(user_id)
        yield from self._not_blocked(post.user_id, user_id, "Social.comment")
        made = Comment(post_id=post_id, user_id=user_id, text=text)
        yield Create(made)
        yield from self._count_post(post, user_id, "comments", 1)
        yield from self._heard(post, made, heard=True)
        return made

    @write("W19", attempts=10, example=Example().found(Post, shards=0))
    def delete_comment(self, post_id: str, created_at: datetime, comment_id: str) -> Writes:
        """Delete a comment. Raises ItemNotFound."""
        post = yield from self._post(post_id)
        made = yield from self.comment_of.read(post_id, created_at, comment_id)
        if made is None:
            raise ItemNotFound(f"post {post_id!r} has no comment {comment_id!r}", place="Social.delete_comment")
        yield Delete(made).only_if("attribute_exists(comment_id)")
        yield from self._count_post(post, made.user_id, "comments", -1)
        yield from self._heard(post, made, heard=False)

    @write("W5", attempts=10, example=Example().missing("block_of", "like_of"))
    def like(self, post_id: str, user_id: str) -> Writes[Like]:
        """Like a post. Raises Refused for a second like, ItemNotFound."""
        post = yield from self._post(post_id)
        yield from self._user(user_id)
        yield from self._not_blocked(post.user_id, user_id, "Social.like")
        if (yield from self.like_of.read(post_id, user_id)) is not None:
            raise Refused(f"{user_id!r} already likes post {post_id!r}", place="Social.like")
        made = Like(post_id=post_id, user_id=user_id)
        yield Create(made)
        yield from self._count_post(post, user_id, "likes", 1)
        yield from self._heard(post, made, heard=True)
        return made

    @write("W6", attempts=10, example=Example().found(Post, shards=0))
    def unlike(self, post_id: str, user_id: str) -> Writes:
        """Remove a like. Raises Refused if there is none, ItemNotFound."""
        post = yield from self._post(post_id)
        made = yield from self.like_of.read(post_id, user_id)
        if made is None:
            raise Refused(f"{user_id!r} doesn't like post {post_id!r}", place="Social.unlike")
        yield Delete(made).only_if("attribute_exists(user_id)")
        yield from self._count_post(post, user_id, "likes", -1)
        yield from self._heard(post, made, heard=False)

    # Messages

    @write("W9", attempts=30, example=Example().missing("block_of"))
    def send_message(self, user_id: str, to_user_id: str, text: Text) -> Writes[Message]:
        """Send a message; the first one starts the conversation. Raises Refused for oneself, ItemNotFound."""
        if user_id == to_user_id:
            raise Refused(
                "users can't send messages to themselves", place="Social.send_message", hint="use the ids of two users"
            )
        yield from self._user(user_id)
        yield from self._user(to_user_id)
        yield from self._not_blocked(to_user_id, user_id, "Social.send_message")
        conversation_id = conversation_of(user_id, to_user_id)
        message = Message(conversation_id=conversation_id, user_id=user_id, text=text)
        yield Create(message)
        for own, other, unread in ((user_id, to_user_id, 0), (to_user_id, user_id, 1)):
            part = yield from self.membership.read(own, conversation_id)
            if part is None:
                yield Create(
                    Membership(
                        user_id=own,
                        conversation_id=conversation_id,
                        with_user_id=other,
                        last_message_at=message.sent_at,
                        last_text=preview_of(text),
                        unread=unread,
                    )
                )
                continue
            changes: dict[str, Any] = {"unread": Add(unread)}
            if message.sent_at >= part.last_message_at:  # false if the other sender's clock was ahead of this one
                changes |= {"last_message_at": message.sent_at, "last_text": preview_of(text)}
            yield Update(part, **changes).only_if(last_message_at=part.last_message_at)
        return message

    @write("W10")
    def mark_read(self, user_id: str, conversation_id: str) -> Writes:
        """Set the number of unread messages of a conversation to zero. Raises ItemNotFound."""
        if (yield from self.membership.read(user_id, conversation_id)) is None:
            raise ItemNotFound(f"{user_id!r} has no conversation {conversation_id!r}", place="Social.mark_read")
        yield Update(Membership, user_id=user_id, conversation_id=conversation_id).set(unread=0)

    # Maintenance

    @write("W11")
    def deliver(self, delivery: Delivery) -> Writes[int]:
        """Finish a delivery that was interrupted; returns the number of pointers written. Idempotent."""
        actions: list[Put | Delete] = []
        if delivery.reader_id is not None:
            posts = yield from self._posts_of(delivery.user_id)
            subscription = yield from self.subscription.read(delivery.user_id, delivery.reader_id)
            entries = [TimelineEntry.of(post, delivery.reader_id) for post in posts]
            actions = [Put(entry) if subscription is not None else Delete(entry) for entry in entries]
        else:
            readers = yield from self.audience.read(delivery.user_id)
            entries = [entry for reader in readers for entry in delivery.entries(reader.reader_id)]
            actions = [Put(entry) for entry in entries]
        yield Batch(actions)
        yield Batch([Delete(delivery)])
        return len(actions)

    @write("W12", example=Example().missing("post_by_id"))
    def sweep_post(self, post_id: str) -> Writes[int]:
        """Remove up to 1,000 likes and comments of a deleted post; returns their number. Raises Refused for a post that
        exists.
        """
        if (yield from self.post_by_id.read(post_id)) is not None:
            raise Refused(f"post {post_id!r} exists", place="Social.sweep_post", hint="call delete_post first")
        leftovers = yield from self._leftovers(post_id)
        yield Batch(Delete(leftover) for leftover in leftovers)
        return len(leftovers)

    @write("W13", attempts=10)
    def gather(self, user_id: str) -> Writes[int]:
        """Update and return the number of followers of a user with a sharded counter. Raises ItemNotFound."""
        user = yield from self._user(user_id)
        if not user.shards:
            return user.followers
        tallies = yield from self.user_tallies.read(user_id)
        followers = sum(tally.followers for tally in tallies)
        yield Update(User, user_id=user_id).set(followers=followers).only_if(shards=user.shards)
        return followers

    @write("W14", attempts=10)
    def gather_post(self, post_id: str) -> Writes[Post]:
        """Update the displayed numbers of a post with sharded counters. Raises ItemNotFound."""
        post = yield from self._post(post_id)
        if not post.shards:
            return post
        totals = yield from self._totals(post_id)
        yield Update(post, **totals).only_if(shards=post.shards)
        return post.model_copy(update=totals)

    # Helpers of the writes

    def _post(self, post_id: str) -> Writes[Post]:
        post = yield from self.post_by_id.read(post_id)
        if post is None:
            raise _no_post(post_id)
        return post

    def _heard(self, post: Post, said: Like | Comment, *, heard: bool) -> Writes:
        """Add or remove the notification of a like or a comment. A post with sharded counters has no notifications:
        they would all go to one partition.
        """
        if post.shards or said.user_id == post.user_id:
            return
        notification = Notification.of_said(post, said)
        yield Put(notification) if heard else Delete(notification)

    def _posts_of(self, user_id: str) -> Writes[list[Post]]:
        posts: list[Post] = []
        cursor: Cursor | None = None
        while True:
            page = yield from self.posts_of_user.read(user_id, limit=1000, cursor=cursor)
            posts += page.items
            cursor = page.cursor
            if cursor is None:
                return posts

    def _rewrite(self, author_id: str, reader_id: str, *, wanted: bool) -> Writes[list[Batch]]:
        """The batches that write an author's posts into a reader's timeline, or remove them, after the transaction.

        Raises ConditionFailed while another delivery writes the same entries, because it could undo this one.
        """
        for element in (yield from self.deliveries_of.read(author_id)):
            age = now() - element.begun_at
            if element.concerns(reader_id) and age.total_seconds() < DELIVERY_SECONDS_MAX:
                raise ConditionFailed(
                    f"posts of {author_id!r} are being delivered", place="Social.undelivered", hint="try again soon"
                )
        posts = yield from self._posts_of(author_id)
        delivery = Delivery(user_id=author_id, reader_id=reader_id)
        entries = [TimelineEntry.of(post, reader_id) for post in posts]
        yield Create(delivery)
        return [Batch(Put(entry) if wanted else Delete(entry) for entry in entries), Batch([Delete(delivery)])]

    def _leftovers(self, post_id: str) -> Writes[list[Like | Comment]]:
        likes = yield from self.likes_of_post.read(post_id, limit=SWEEP)
        result: list[Like | Comment] = [*likes]
        if len(result) < SWEEP:
            comments = yield from self.comments_on_post.read(post_id, limit=SWEEP - len(result))
            result += comments.items
        return result

    def _totals(self, post_id: str) -> Writes[dict[str, int]]:
        tallies = yield from self.post_tallies.read(post_id)
        return {"likes": sum(tally.likes for tally in tallies), "comments": sum(tally.comments for tally in tallies)}

    def _count_followers(
        self, author: User, who: str, by: int, *, stored: bool
    ) -> Writes[tuple[dict[str, Any], dict[str, Any]]]:
        """Add ``by`` to the author's followers, and to their audience if ``stored``. Returns the changes of the author
        and their conditions.
        """
        changes: dict[str, Any] = {}
        expected: dict[str, Any] = {}
        if stored:
            changes = {"audience": Add(by), "audience_changes": Add(1)}
            expected = {"posts_ever": author.posts_ever}  # the update fails after another publication
        if author.shards:
            yield Update(UserTally, user_id=author.user_id, shard=shard_of(who)).set(followers=Add(by))
            if random.randrange(GATHER_EVERY) == 0:  # noqa: S311 - distributes work, not a secret
                tallies = yield from self.user_tallies.read(author.user_id)
                changes["followers"] = sum(tally.followers for tally in tallies) + by
        elif by > 0 and author.followers >= USER_SPREAD_AT:
            changes |= {"shards": SHARDS, "followers": author.followers + by}
            expected |= {"shards": 0, "followers": author.followers}
            yield from _spread(UserTally(user_id=author.user_id, shard=0, followers=author.followers + by))
        else:
            changes["followers"] = Add(by)
            expected["shards"] = 0
        return changes, expected

    def _count_post(self, post: Post, who: str, what: str, by: int) -> Writes:
        """Add ``by`` to a counter: of the post, or of one of its tallies."""
        if post.shards:
            tally = Update(PostTally, post_id=post.post_id, shard=shard_of(who)).set(**{what: Add(by)})
            yield tally.if_missing(_no_post(post.post_id))
            if random.randrange(GATHER_EVERY) == 0:  # noqa: S311
                totals = yield from self._totals(post.post_id)
                totals[what] += by
                yield Update(post, **totals).only_if(shards=post.shards)
        elif by > 0 and post.likes + post.comments >= POST_SPREAD_AT:
            totals = {"likes": post.likes, "comments": post.comments}
            expected = {"shards": 0, **totals}
            totals[what] += by
            yield Update(post, shards=SHARDS, **totals).only_if(**expected)
            yield from _spread(PostTally(post_id=post.post_id, shard=0, **totals))
        else:
            if getattr(post, what) + by < 0:  # the index may not contain the latest change yet
                post = yield from self._post(post.post_id)
            if getattr(post, what) + by < 0:
                raise Refused(f"post {post.post_id!r} has no {what} to remove", place="Social", hint="try again")
            yield Update(post).set(**{what: Add(by)}).only_if(shards=0).if_missing(_no_post(post.post_id))


def _no_post(post_id: str) -> ItemNotFound:
    return ItemNotFound(f"there is no post {post_id!r}", place="Social.post_by_id")


def _absent(delete: Delete) -> Delete:
    """Requires that an item doesn't exist, by a Delete, because a Check requires an existing item."""
    return delete.only_if("attribute_not_exists(user_id)")


def _spread(first: UserTally | PostTally) -> Writes:
    """Create tallies. The first one has the count so far."""
    yield Create(first)
    for shard in range(1, SHARDS):
        if isinstance(first, UserTally):
            yield Create(UserTally(user_id=first.user_id, shard=shard))
        else:
            yield Create(PostTally(post_id=first.post_id, shard=shard))
