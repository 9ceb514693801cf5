"""The network's site made for a server: its addresses, and who may call what of its API."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from functools import partial
from typing import Any

from starlette.requests import Request

from keyplan.errors import ItemNotFound
from keyplan.systems import SiteOptions
from keyplan_systems.pages.application import ServedSite, sample_logins, small_application
from keyplan_systems.pages.people import Person
from keyplan_systems.pages.policy import Rule, TablePolicy
from keyplan_systems.pages.site import Look, SmallSite
from keyplan_systems.social.design import Social
from keyplan_systems.social.leaving import SocialLeaving
from keyplan_systems.social.sample import DEMO_PASSWORD, DEMO_USERS
from keyplan_systems.social.site import hearing, pages
from keyplan_systems.social.site.people import SocialPeople
from keyplan_systems.social.site.seeing import Seeing

__all__ = ["make_site"]

LOOK = Look(
    system="social",
    title="Commons",
    tagline="What the people you follow are up to.",
    package="keyplan_systems.social.site",
    navigation=(("Feed", "/"), ("People", "/people"), ("Messages", "/messages")),
    notices={
        "deleted": "The post is deleted.",
        "asked": "You have asked. They decide.",
        "welcome": "Welcome! Follow people, and their posts appear here.",
    },
    login="Handle",
)
_OWN = (
    *("conversations", "membership", "mark_read", "publish", "unlike", "like_of", "follow"),
    *("unfollow", "send_message", "edit_profile", "set_private", "block", "unblock", "blocks", "block_of"),
    *("ask_to_follow", "accept_request", "decline_request", "remove_follower", "end_session"),
    *("notifications_seen", "see_notifications", "feed"),
)


class SocialSite(SmallSite[Social]):
    """The network's site: each page says how much there is to hear."""

    def context(self, request: Request) -> Mapping[str, Any]:
        """What every template knows."""
        return {**super().context(request), "unheard": partial(hearing.unheard, self.design)}


def make_site(social: Social, options: SiteOptions) -> ServedSite:
    """The site on an open design."""
    site = SocialSite(social, LOOK, options, SocialPeople(social))
    application = small_application(
        site,
        pages=(
            ("/", pages.feed, "anyone"),
            ("/posts/{post_id}", pages.post, "anyone"),
            ("/people", pages.find, "anyone"),
            ("/people/{handle}", pages.profile, "anyone"),
            ("/people/{handle}/{links}", pages.links, "anyone"),
            ("/settings", pages.settings, "person"),
            ("/notifications", hearing.notifications, "person"),
            ("/messages", pages.conversations, "person"),
            ("/messages/{handle}", pages.conversation, "person"),
        ),
        forms=(
            ("/posts", pages.publish, "person"),
            ("/posts/{post_id}/comments", pages.comment, "person"),
            ("/posts/{post_id}/comments/delete", pages.delete_comment, "person"),
            ("/posts/{post_id}/{action}", pages.post_act, "person"),
            ("/people/{handle}/{action}", pages.act, "person"),
            ("/settings", pages.edit_profile, "person"),
            ("/notifications", hearing.answer, "person"),
            ("/messages/{handle}", pages.write, "person"),
        ),
        leaving=SocialLeaving(social),
    )
    return ServedSite(application, TablePolicy(site, rules(social)), sample_logins(site, DEMO_USERS, DEMO_PASSWORD))


def rules(social: Social) -> dict[str, Rule]:
    """Who may call what of the API: everybody reads posts and profiles; what is one's own is one's own."""

    def in_conversation(caller: Person | None, given: dict[str, Any]) -> None:
        name = str(given["conversation_id"])
        if caller is None or social.membership(caller.user_id, name) is None:
            raise ItemNotFound(f"you have no conversation {name!r}", place="Social.messages")

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

    seeing = Seeing(social)
    return {
        **dict.fromkeys(("profile", "user_by_handle"), Rule("anyone", shown=seeing.profiles)),
        "post_by_id": Rule("anyone", check=seeing.post),
        **dict.fromkeys(("comments_on_post", "likes_of_post"), Rule("anyone", check=seeing.post, shown=seeing.listed)),
        **dict.fromkeys(("posts_of_user", "follows"), Rule("anyone", check=seeing.user)),
        **dict.fromkeys(("followers", "following"), Rule("anyone", check=seeing.user, shown=seeing.listed)),
        **dict.fromkeys(("notifications", "follow_requests"), Rule(own=("user_id",), shown=seeing.listed)),
        **dict.fromkeys(_OWN, Rule("person", own=("user_id",))),
        **dict.fromkeys(("comment", "like"), Rule("person", own=("user_id",), check=seeing.post)),
        "request_of": Rule("person", own=("follower_id",)),
        "messages": Rule("person", check=in_conversation),
        "delete_post": Rule("person", check=own_post),
        "delete_comment": Rule("person", check=own_comment),
    }
