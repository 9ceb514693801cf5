"""The network's site for a server: its routes, and the access rules of its API."""

from __future__ import annotations

import time
from collections.abc import Mapping
from datetime import datetime
from functools import partial
from typing import Any

from starlette.requests import Request

from keyplan import Page
from keyplan.errors import ItemNotFound
from keyplan.systems import SiteOptions
from keyplan_systems.pages.application import ServedSite, sample_logins, small_application
from keyplan_systems.pages.people import Person
from keyplan_systems.pages.policy import Rule, TablePolicy
from keyplan_systems.pages.site import Look, SmallSite
from keyplan_systems.site.kept import Kept
from keyplan_systems.social.design import Social
from keyplan_systems.social.entities import Post
from keyplan_systems.social.sample import DEMO_PASSWORD, DEMO_USERS
from keyplan_systems.social.site import hearing, pages
from keyplan_systems.social.site.people import SocialPeople
from keyplan_systems.social.site.seeing import Seeing

FEED_SECONDS = 30
"""How long the first page of a feed, and of the public timeline, is cached."""
LOOK = Look(
    system="social",
    title="Commons",
    tagline="Short notes, from people you choose.",
    package="keyplan_systems.social.site",
    navigation=(("Feed", "/"), ("Everyone", "/everyone"), ("People", "/people"), ("Messages", "/messages")),
    notices={"deleted": "Post deleted.", "welcome": "Welcome! Follow people to see their posts here."},
    login="Handle",
)
_OWN = (
    *("unlike", "like_of", "blocks", "block_of", "edit_profile"),
    *("send_message", "end_session", "notifications_seen", "see_notifications", "feed"),
)
_CHANGES_FEEDS = ("publish", "follow", "unfollow", "remove_follower", "block", "unblock")


class SocialSite(SmallSite[Social]):
    """The network's site. Every page shows the number of new notifications."""

    def context(self, request: Request) -> Mapping[str, Any]:
        return {**super().context(request), "unheard": partial(hearing.unheard, self.design)}


def make_site(social: Social, options: SiteOptions) -> ServedSite:
    site = SocialSite(social, LOOK, options, SocialPeople(social))
    feeds: Kept[str, Page[Post]] = Kept(FEED_SECONDS, time.monotonic)
    reading, writing = pages.Reading(feeds), pages.Writing(feeds)
    application = small_application(
        site,
        pages=(
            ("/", reading.feed, "anyone"),
            ("/everyone", reading.everyone, "anyone"),
            ("/posts/{post_id}", pages.post, "anyone"),
            ("/posts/{post_id}/likes", pages.likers, "anyone"),
            ("/people", reading.find, "anyone"),
            ("/people/{handle}", pages.profile, "anyone"),
            ("/people/{handle}/{links}", pages.links, "anyone"),
            ("/settings", pages.settings, "person"),
            ("/notifications", hearing.notifications, "person"),
            ("/messages", pages.conversations, "person"),
            ("/messages/{handle}", pages.conversation, "person"),
        ),
        forms=(
            ("/posts", writing.publish, "person"),
            ("/posts/{post_id}/comments", pages.comment, "person"),
            ("/posts/{post_id}/comments/delete", pages.delete_comment, "person"),
            ("/posts/{post_id}/{action}", writing.post_act, "person"),
            ("/people/{handle}/{action}", writing.act, "person"),
            ("/settings", pages.edit_profile, "person"),
            ("/messages/{handle}", pages.write, "person"),
        ),
    )
    policy = TablePolicy(site, rules(social, feeds))
    return ServedSite(application, policy, sample_logins(site, DEMO_USERS, DEMO_PASSWORD))


def rules(social: Social, feeds: Kept[str, Page[Post]]) -> dict[str, Rule]:
    """The access rules of the API. Everyone reads posts and profiles; other items are their owner's."""

    def own_post(caller: Person | None, given: dict[str, Any]) -> None:
        post = social.post_by_id(str(given["post_id"]))
        if post is None or caller is None or post.user_id != caller.user_id:
            raise ItemNotFound(f"you have no post {given['post_id']!r}", place="Social.post_by_id")

    def own_comment(caller: Person | None, given: dict[str, Any]) -> None:
        post_id, at = str(given["post_id"]), given["created_at"]
        post = social.post_by_id(post_id)
        moment = at if isinstance(at, datetime) else datetime.fromisoformat(str(at))
        made = social.comment_of(post_id, moment, str(given["comment_id"]))
        owners = {element.user_id for element in (post, made) if element is not None}
        if made is None or caller is None or caller.user_id not in owners:
            raise ItemNotFound(f"you have no comment {given['comment_id']!r}", place="Social.comment_of")

    def changed(given: Mapping[str, Any]) -> None:
        names = ("user_id", "followed_id", "follower_id", "blocked_id")
        feeds.drop("", *(str(given[name]) for name in names if name in given))

    seeing = Seeing(social)
    return {
        **dict.fromkeys(("profile", "profiles", "user_by_handle"), Rule("anyone", shown=seeing.profiles)),
        "latest_posts": Rule("anyone", shown=seeing.listed),
        "post_by_id": Rule("anyone", check=seeing.post),
        **dict.fromkeys(("comments_on_post", "likes_of_post"), Rule("anyone", check=seeing.post, shown=seeing.listed)),
        **dict.fromkeys(("posts_of_user", "follows"), Rule("anyone", check=seeing.user)),
        **dict.fromkeys(("followers", "following"), Rule("anyone", check=seeing.user, shown=seeing.listed)),
        **dict.fromkeys(("notifications", "conversations", "membership"), Rule(own=("user_id",), shown=seeing.listed)),
        "mark_read": Rule(own=("user_id",), check=seeing.conversation),
        **dict.fromkeys(_OWN, Rule("person", own=("user_id",))),
        **dict.fromkeys(_CHANGES_FEEDS, Rule("person", own=("user_id",), done=changed)),
        **dict.fromkeys(("comment", "like"), Rule("person", own=("user_id",), check=seeing.post)),
        "messages": Rule("person", check=seeing.conversation),
        "delete_post": Rule("person", check=own_post, done=lambda _: feeds.drop()),
        "delete_comment": Rule("person", check=own_comment),
    }
