"""The keys that experts gave designs of the benchmark, where these were published with them: to be priced beside ours.

Each is read off its source: a README or model of AWS's aws-dynamodb-examples and amazon-dynamodb-design-patterns, of
its labs, an example of ElectroDB. Words in templates are ours, fields and their order are theirs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from keyplan import Entity, Index, Key, Unique
from tests.planner import published, published_examples, published_in_books

__all__ = ["EXPERTS", "Expert", "index"]


@dataclass(frozen=True)
class Expert:
    """A design's keys as its author published them."""

    design: type[Any]
    indexes: tuple[Index, ...]
    keys: Mapping[type[Entity], Mapping[str, Key | Unique]]
    scan_index: Mapping[str, str] = field(default_factory=dict[str, str])
    """The questions that read all of an index, with its name."""


def index(name: str) -> Index:
    return Index(name, f"{name}_pk", f"{name}_sk")


CUSTOMER, ESCALATIONS, AGENTS = index("CUSTOMER"), index("ESCALATIONS"), index("AGENTS")
GSI1, GSI2, GSI4 = index("GSI1"), index("GSI2"), index("GSI4")
FOLDERS, URLS, EMAILS = index("FOLDERS"), index("URLS"), Index("EMAILS", "email_pk")
INVERTED, OPEN_GAMES = index("INVERTED"), index("OPEN_GAMES")

EXPERTS = [
    Expert(
        published.Complaints,
        (CUSTOMER, ESCALATIONS, AGENTS),
        {
            published.Complaint: {
                "primary": Key("{complaint_id}", "metadata"),
                "by_customer": Key("{customer_id}", "{complaint_id}", index=CUSTOMER),
                "escalated": Key("{escalated_to}", "{escalated_at}", index=ESCALATIONS),
            },
            published.ComplaintComment: {
                "primary": Key("{complaint_id}", "comm#{commented_at}#{comment_id}"),
                "by_agent": Key("{agent_id}", "{commented_at}", index=AGENTS),
            },
        },
    ),
    Expert(
        published.RecurringPayments,
        (GSI1, GSI2),
        {
            published.Subscription: {
                "primary": Key("ACC#{account_id}", "SUB#{sku}"),
                "by_reminder": Key("{next_reminder}", "{sku}#{account_id}", index=GSI1),
                "by_payment": Key("{next_payment}", "{sku}#{account_id}", index=GSI2),
            },
            published.Receipt: {"primary": Key("ACC#{account_id}", "REC#{paid_at}#SKU#{sku}")},
        },
    ),
    Expert(
        published.Devices,
        (GSI1, GSI2),
        {
            published.DeviceLog: {
                "primary": Key("{device_id}", "{state}#{logged_at}"),
                "by_operator": Key("{operator}", "{logged_at}", index=GSI1),
                "escalated": Key("{escalated_to}", "{state}#{logged_at}", index=GSI2),
            }
        },
    ),
    Expert(
        published.Network,
        (),
        {
            published.Person: {"primary": Key("u#{user_id}", "info")},
            published.PersonFollower: {"primary": Key("u#{user_id}#follower", "u#{follower_id}")},
            published.PersonFollowing: {"primary": Key("u#{user_id}#following", "u#{followed_id}")},
            published.PersonPost: {"primary": Key("u#{user_id}#post", "p#{post_id}")},
            published.PostLiker: {"primary": Key("p#{post_id}#likelist", "u#{user_id}")},
            published.TimelinePost: {"primary": Key("u#{reader_id}#timeline", "p#{post_id}")},
        },
    ),
    Expert(
        published_in_books.BattleRoyale,
        (INVERTED, OPEN_GAMES),
        {
            published_in_books.Gamer: {"primary": Key("USER#{username}", "#METADATA")},
            published_in_books.Game: {
                "primary": Key("GAME#{game_id}", "#METADATA#"),
                "open": Key("OPEN", "{arena}#{game_id}", index=OPEN_GAMES, when={"open": True}),
            },
            published_in_books.Participation: {
                "primary": Key("GAME#{game_id}", "USER#{username}"),
                "of_user": Key("USER#{username}", "GAME#{game_id}", index=INVERTED),
            },
        },
    ),
    Expert(
        published_examples.VersionControl,
        (GSI1, GSI2, GSI4),
        {
            published_examples.Ticket: {
                "primary": Key("{owner}#{repository}#{number}", "issue"),
                "created": Key("{username}", "issue#{status}#{created_at}", index=GSI1),
                "todos": Key("{owner}#{repository}", "activity#{status}#{created_at}", index=GSI2),
                "subscribers": Key("{owner}#{repository}#{number}", "subscribers", index=GSI4),
            },
            published_examples.TicketComment: {
                "primary": Key("{owner}#{repository}#{number}", "issue_comment#{comment_id}"),
                "created": Key("{username}", "comment#{owner}#{repository}#{number}", index=GSI1),
                "replies": Key("{reply_to}", "inbox#{updated_at}", index=GSI2),
            },
        },
    ),
    Expert(
        published_examples.Bookmarks,
        (FOLDERS, URLS, EMAILS),
        {
            published_examples.Bookmark: {
                "primary": Key("{customer_id}", "URL#{url}"),
                "in_folder": Key("{customer_id}", "{folder}", index=FOLDERS),
                "of_url": Key("{url}", "{customer_id}", index=URLS),
            },
            published_examples.BookmarkCustomer: {
                "primary": Key("{customer_id}", "CUST#{customer_id}"),
                "by_email": Key("{email}", index=EMAILS),
            },
        },
    ),
]
