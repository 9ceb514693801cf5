"""Every write of the social network: its results, errors and requests."""

from __future__ import annotations

from datetime import timedelta

import pytest

from keyplan import Create, Delete, Range, Update, now
from keyplan.errors import ArgumentError, ItemExists, ItemNotFound, KeyplanError, Refused, UniqueValueTaken
from keyplan_systems.social import Social, design, limits
from keyplan_systems.social.bulk import add_likes, add_posts, add_users
from keyplan_systems.social.entities import (
    PREVIEW_MAX,
    Comment,
    Like,
    Post,
    PostTally,
    TimelineEntry,
    User,
    conversation_of,
)
from tests.systems.social.support import assert_whole, everything, people
from tests.systems.support import all_pages, recorded


def refused(call: object, *arguments: object, kind: type[KeyplanError] = Refused) -> str:
    with pytest.raises(kind) as raised:
        call(*arguments)  # type: ignore[operator]
    return str(raised.value)


# Users


def test_registering_a_user_claims_the_handle(social: Social) -> None:
    with pytest.raises(UniqueValueTaken):
        social.sign_up("ANN", "Another Ann")
    with pytest.raises(ItemExists):
        social.sign_up("other", "Ann", user_id="ann")
    assert social.user_by_handle("other") is None
    made = social.sign_up("Dora.B", "Dora", "Hello")
    assert (made.handle, made.followers, made.bio) == ("dora.b", 0, "Hello")
    assert social.user_by_handle("dora.b") == made == social.profile(made.user_id)


@pytest.mark.parametrize(("handle", "name"), [("", "A"), (" ", "A"), ("a" * 51, "A"), ("a", "")])
def test_registration_requires_a_handle_and_a_name(social: Social, handle: str, name: str) -> None:
    with pytest.raises(ArgumentError):
        social.sign_up(handle, name)


# Follows


def test_following_and_unfollowing_update_the_counters_of_both_users(social: Social) -> None:
    recorder = recorded(social)
    social.follow("ann", "ben")
    assert recorder.operations == [*["GetItem"] * 5, "TransactWriteItems"]
    social.follow("cid", "ben")
    ben, ann = social.profile("ben"), social.profile("ann")
    assert ben is not None
    assert ann is not None
    assert (ben.followers, ben.following, ann.followers, ann.following) == (2, 0, 0, 1)
    assert [follower.follower_id for follower in social.followers("ben")] == ["ann", "cid"]
    assert [element.followed_id for element in social.following("ann")] == ["ben"]
    assert_whole(social)
    social.unfollow("ann", "ben")
    assert [follower.follower_id for follower in social.followers("ben")] == ["cid"]
    assert_whole(social)


def test_invalid_follows_are_rejected(social: Social) -> None:
    assert "themselves" in refused(social.follow, "ann", "ann")
    assert "no user 'zoe'" in refused(social.follow, "ann", "zoe", kind=ItemNotFound)
    assert "no user 'zoe'" in refused(social.follow, "zoe", "ann", kind=ItemNotFound)
    assert "doesn't follow" in refused(social.unfollow, "ann", "ben")
    social.follow("ann", "ben")
    assert "already" in refused(social.follow, "ann", "ben")
    assert_whole(social)


def test_following_adds_earlier_posts_to_the_feed_and_unfollowing_removes_them(small: None, social: Social) -> None:
    social.follow("ann", "cid")
    for number in range(3):
        social.publish("ben", str(number))
    assert social.follow("ann", "ben").delivery == "write"
    social.publish("ben", "3")
    assert_whole(social)
    assert [page.text for page in all_pages(social.feed, "ann", limit=2)] == ["3", "2", "1", "0"]
    social.unfollow("ann", "ben")
    assert social.feed("ann").items == []
    assert_whole(social)


def test_a_deleted_post_has_no_timeline_entries(small: None, social: Social) -> None:
    social.follow("ann", "cid")
    social.follow("ann", "ben")
    post = social.publish("ben", "hello")
    assert len(everything(social)[TimelineEntry]) == 1
    social.delete_post(post.post_id)
    assert everything(social)[TimelineEntry] == []


def test_an_author_with_many_posts_uses_fan_out_on_read(small: None, social: Social) -> None:
    social.follow("ann", "cid")
    for number in range(4):
        social.publish("ben", str(number))
    assert social.follow("ann", "ben").delivery == "read"
    assert len(social.feed("ann")) == 4
    assert_whole(social)


# Posts


def test_posts_can_be_published_read_and_deleted(social: Social) -> None:
    first, second = social.publish("ann", "one"), social.publish("ann", "two")
    assert [post.text for post in social.posts_of_user("ann")] == ["two", "one"]
    assert social.post_by_id(first.post_id) == first
    social.delete_post(first.post_id)
    assert social.post_by_id(first.post_id) is None
    assert "no post" in refused(social.delete_post, first.post_id, kind=ItemNotFound)
    assert social.posts_of_user("ann").items == [second]
    assert_whole(social)


def test_posts_with_equal_timestamps_have_a_fixed_order(social: Social) -> None:
    moment = now()
    social.follow("cid", "ann")
    social.follow("cid", "ben")
    add_posts(social, (Post(user_id=who, text="hello", created_at=moment) for _ in range(5) for who in ("ann", "ben")))
    for asked, number in ((social.posts_of_user, 5), (social.feed, 10)):
        pages = all_pages(asked, "ann" if number == 5 else "cid", limit=3)
        assert [value.post_id for value in pages] == sorted({value.post_id for value in pages}, reverse=True)
        assert len(pages) == number


def test_invalid_posts_are_rejected(social: Social) -> None:
    refused(social.publish, "zoe", "hello", kind=ItemNotFound)
    refused(social.publish, "ann", "", kind=ArgumentError)
    refused(social.publish, "ann", "x" * 5001, kind=ArgumentError)
    refused(social.comment, "none", "ann", "hello", kind=ItemNotFound)
    post = social.publish("ann", "hello")
    refused(social.comment, post.post_id, "zoe", "hello", kind=ItemNotFound)
    assert_whole(social)


def test_deleting_a_post_removes_comments_and_likes(social: Social, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(design, "SWEEP", 2)
    post = social.publish("ann", "hello")
    for name in ("ann", "ben", "cid"):
        social.like(post.post_id, name)
        social.comment(post.post_id, name, "hm")
    assert "exists" in refused(social.sweep_post, post.post_id)
    social.delete_post(post.post_id)
    assert len(social.likes_of_post(post.post_id)) == 1
    assert [social.sweep_post(post.post_id) for _ in range(3)] == [2, 2, 0]
    assert social.comments_on_post(post.post_id).items == []
    assert_whole(social)


@pytest.mark.parametrize("what", ["like", "comment", "unlike"])
def test_a_comment_added_while_its_post_is_deleted_is_also_deleted(social: Social, what: str) -> None:
    """After the deletion has read the post, a comment or like is added, or a like is removed."""
    post = social.publish("ann", "hello")
    social.like(post.post_id, "cid")
    recorder = recorded(social)

    def meanwhile(operation: str, parameters: object) -> None:
        if operation == "TransactWriteItems":
            recorder.before = lambda *_: None
            match what:
                case "like":
                    social.like(post.post_id, "ben")
                case "unlike":
                    social.unlike(post.post_id, "cid")
                case _:
                    social.comment(post.post_id, "ben", "hm")

    recorder.before = meanwhile
    social.delete_post(post.post_id)
    there = everything(social)
    assert (there[Post], there[Like], there[Comment]) == ([], [], [])
    assert_whole(social)


@pytest.mark.parametrize("what", ["like", "comment"])
@pytest.mark.parametrize("spread", [False, True], ids=["a post", "a post whose counters are spread"])
def test_liking_or_commenting_on_a_concurrently_deleted_post_raises_an_error(
    social: Social, monkeypatch: pytest.MonkeyPatch, what: str, *, spread: bool
) -> None:
    monkeypatch.setattr(design, "POST_SPREAD_AT", 0 if spread else 1000)
    post = social.publish("ann", "hello")
    social.like(post.post_id, "cid")
    recorder = recorded(social)

    def meanwhile(operation: str, _: object) -> None:
        if operation == "TransactWriteItems":
            recorder.before = lambda *_: None
            social.delete_post(post.post_id)

    recorder.before = meanwhile
    with pytest.raises(ItemNotFound, match="there is no post"):
        social.like(post.post_id, "ben") if what == "like" else social.comment(post.post_id, "ben", "late")
    assert everything(social)[Comment] == everything(social)[Like] == []
    assert_whole(social)


# Notifications, blocks


def heard(social: Social, name: str) -> list[tuple[str, str]]:
    return [(each.kind, each.by_user_id) for each in social.notifications(name)]


def test_notifications_are_added_and_removed_with_the_action_that_caused_them(social: Social) -> None:
    post = social.publish("ann", "hello")
    social.follow("ben", "ann")
    social.like(post.post_id, "ben")
    said = social.comment(post.post_id, "cid", "Well said")
    social.like(post.post_id, "ann")  # users receive no notifications of their own actions
    assert heard(social, "ann") == [("comment", "cid"), ("like", "ben"), ("follow", "ben")]
    newest = social.notifications("ann", limit=1).items[0]
    assert (newest.text, newest.post_id) == ("Well said", post.post_id)
    assert social.notifications_seen("ann") is None
    social.see_notifications("ann", newest.at)
    seen = social.notifications_seen("ann")
    assert seen is not None
    assert social.notifications("ann", Range(gt=seen.until)).items == []
    assert_whole(social)
    social.unlike(post.post_id, "ben")
    social.delete_comment(post.post_id, said.created_at, said.comment_id)
    social.unfollow("ben", "ann")
    assert heard(social, "ann") == []
    social.like(post.post_id, "ben")
    social.comment(post.post_id, "cid", "Again")
    social.delete_post(post.post_id)
    assert heard(social, "ann") == []
    assert_whole(social)


def test_notifications_of_a_popular_post_are_limited_in_number(social: Social, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(design, "POST_SPREAD_AT", 1)
    monkeypatch.setattr(design, "USER_SPREAD_AT", 1)
    post = social.publish("ann", "hello")
    for name in ("ben", "cid", "dot"):
        if name == "dot":
            people(social, name)
        social.like(post.post_id, name)
        social.follow(name, "ann")
    assert heard(social, "ann") == [("follow", "cid"), ("like", "cid"), ("follow", "ben"), ("like", "ben")]
    social.unlike(post.post_id, "dot")
    social.unfollow("dot", "ann")
    assert_whole(social)


def test_a_user_removes_a_follower(social: Social) -> None:
    social.follow("ben", "ann")
    social.remove_follower("ann", "ben")
    assert social.followers("ann").items == []
    assert "doesn't follow" in refused(social.remove_follower, "ann", "ben")
    assert_whole(social)


@pytest.mark.parametrize("on_write", [False, True])
def test_a_block_removes_follows_in_both_directions(
    social: Social, monkeypatch: pytest.MonkeyPatch, on_write: bool
) -> None:
    if on_write:
        monkeypatch.setattr(limits, "READ_MAX", 0)
    for reader, author in (("ann", "ben"), ("ben", "ann"), ("cid", "ann"), ("ben", "cid")):
        social.publish(author, "hello")
        social.follow(reader, author)
    social.block("ann", "ben")
    assert [(link.follower_id, link.user_id) for name in ("ann", "ben", "cid") for link in social.followers(name)] == [
        ("cid", "ann"),
        ("ben", "cid"),
    ]
    assert [post.user_id for post in social.feed("ben")] == ["cid"]
    assert social.feed("ann").items == []
    assert_whole(social)
    social.block("ann", "ben")
    assert "has blocked the other" in refused(social.follow, "ann", "ben")
    assert_whole(social)


# Likes and comments


def test_likes_are_counted_once_per_user(social: Social) -> None:
    post = social.publish("ann", "hello")
    social.like(post.post_id, "ben")
    assert "already" in refused(social.like, post.post_id, "ben")
    social.like(post.post_id, "cid")
    result = social.post_by_id(post.post_id)
    assert result is not None
    assert result.likes == 2
    social.unlike(post.post_id, "ben")
    assert "doesn't like" in refused(social.unlike, post.post_id, "ben")
    assert "no post" in refused(social.like, "none", "ben", kind=ItemNotFound)
    assert "no user" in refused(social.like, post.post_id, "zoe", kind=ItemNotFound)
    assert [like.user_id for like in social.likes_of_post(post.post_id)] == ["cid"]
    assert_whole(social)


def test_comments_are_sorted_by_time(social: Social) -> None:
    post = social.publish("ann", "hello")
    made = [social.comment(post.post_id, name, f"by {name}") for name in ("ben", "cid", "ben")]
    assert all_pages(social.comments_on_post, post.post_id, limit=2) == made
    result = social.post_by_id(post.post_id)
    assert result is not None
    assert result.comments == 3
    assert_whole(social)


# Sharded counters


def test_sharded_counters_of_a_post_are_exact(social: Social, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(design, "POST_SPREAD_AT", 5)
    add_users(social, (User(user_id=f"u{one}", handle=f"u{one}", name="U") for one in range(30)))
    post = social.publish("ann", "hello")
    for number in range(30):
        social.like(post.post_id, f"u{number}")
    social.comment(post.post_id, "u1", "hm")
    social.unlike(post.post_id, "u3")
    assert len(everything(social)[PostTally]) == limits.SHARDS
    assert_whole(social)
    assert social.gather_post(post.post_id).likes == 29
    result = social.post_by_id(post.post_id)
    assert result is not None
    assert (result.likes, result.comments, result.shards) == (29, 1, limits.SHARDS)
    add_likes(social, result, [Like(post_id=post.post_id, user_id="ann"), Like(post_id=post.post_id, user_id="u4")])
    assert_whole(social)
    social.delete_post(post.post_id)
    assert everything(social)[PostTally] == []
    assert_whole(social)


def test_following_a_popular_user_leaves_their_item_unchanged(social: Social, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(design, "USER_SPREAD_AT", 2)
    monkeypatch.setattr(design, "GATHER_EVERY", 10**9)
    people(social, *(f"u{number}" for number in range(10)))
    for number in range(9):
        social.follow(f"u{number}", "ann")
    recorder = recorded(social)
    social.follow("u9", "ann")
    written = [
        key["pk"]["S"]
        for operation, parameters, _ in recorder.made
        if operation == "TransactWriteItems"
        for item in parameters["TransactItems"]
        for key in [next(iter(item.values())).get("Key") or next(iter(item.values()))["Item"]]
    ]
    assert "user#ann" not in written
    assert "user#ann#tally" in written
    assert sum(tally.followers for tally in social.user_tallies("ann")) == 10
    ann = social.profile("ann")
    assert ann is not None
    assert ann.followers == 3
    assert social.gather("ann") == 10
    ann = social.profile("ann")
    assert ann is not None
    assert ann.followers == 10
    social.unfollow("u0", "ann")
    assert social.gather("ann") == 9
    assert social.gather("ben") == 0
    assert_whole(social)
    post = social.publish("ann", "of a famous user")
    assert post.shards == limits.SHARDS
    social.like(post.post_id, "ben")
    assert_whole(social)


def test_follows_and_likes_refresh_the_displayed_counters(social: Social, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(design, "USER_SPREAD_AT", 0)
    monkeypatch.setattr(design, "POST_SPREAD_AT", 0)
    monkeypatch.setattr(design, "GATHER_EVERY", 1)
    for name in ("ben", "cid"):
        social.follow(name, "ann")
    post = social.publish("ann", "hello")
    for name in ("ben", "cid"):
        social.like(post.post_id, name)
    ann, result = social.profile("ann"), social.post_by_id(post.post_id)
    assert ann is not None
    assert result is not None
    assert (ann.followers, result.likes) == (2, 2)
    assert_whole(social)


# Messages


def test_messages_are_stored_for_both_users(social: Social) -> None:
    for who, to, text in [
        ("ann", "ben", "hi"),
        ("ben", "ann", "hello"),
        ("ann", "ben", "x" * 200),
        ("cid", "ann", "?"),
    ]:
        social.send_message(who, to, text)
    name = conversation_of("ben", "ann")
    assert [page.user_id for page in all_pages(social.messages, name, limit=1)] == ["ann", "ben", "ann"]
    assert [page.with_user_id for page in all_pages(social.conversations, "ann", limit=1)] == ["cid", "ben"]
    (bens,) = social.conversations("ben")
    assert (bens.unread, len(bens.last_text), bens.last_text[-1]) == (2, PREVIEW_MAX, "…")
    social.mark_read("ben", name)
    (bens,) = social.conversations("ben")
    assert bens.unread == 0
    assert_whole(social)


def test_a_message_with_an_older_timestamp_does_not_become_the_latest_of_its_conversation(social: Social) -> None:
    social.send_message("ann", "ben", "from ann, whose clock is ahead")
    name = conversation_of("ann", "ben")
    later = now() + timedelta(seconds=9)
    (first,) = social.messages(name)
    social.transact([Delete(first), Create(first.model_copy(update={"sent_at": later}))])
    parts = [conversation for who in ("ann", "ben") for conversation in social.conversations(who)]
    social.transact(Update(membership, last_message_at=later) for membership in parts)
    social.send_message("ben", "ann", "from ben")
    for who, unread in (("ann", 1), ("ben", 1)):
        (part,) = social.conversations(who)
        assert (part.last_message_at, part.last_text[:8], part.unread) == (later, "from ann", unread)
    assert_whole(social)


def test_invalid_messages_are_rejected(social: Social) -> None:
    assert "themselves" in refused(social.send_message, "ann", "ann", "hi")
    refused(social.send_message, "ann", "zoe", "hi", kind=ItemNotFound)
    refused(social.send_message, "zoe", "ann", "hi", kind=ItemNotFound)
    refused(social.send_message, "ann", "ben", "", kind=ArgumentError)
    refused(social.mark_read, "ann", "none", kind=ItemNotFound)
    assert_whole(social)


def test_conversation_ids_are_unique_per_pair_of_users() -> None:
    names = ["a", "b", "a:b", "b:a", "a%3Ab", ":", "%", "é", "\ud800"]
    pairs = {frozenset((name, other)) for name in names for other in names if name != other}
    assert len({conversation_of(*sorted(pair)) for pair in pairs}) == len(pairs)
    assert conversation_of("a", "b") == conversation_of("b", "a")
