"""Members and their roles, and API tokens."""

from __future__ import annotations

from typing import get_args

from starlette.responses import Response

from keyplan_systems.cms.design import Cms
from keyplan_systems.cms.entities import Role
from keyplan_systems.pages.site import SmallSite, Turn
from keyplan_systems.site.problems import not_found

CmsTurn = Turn[Cms]
ROLES: dict[str, Role] = {value: value for value in get_args(Role)}
TOKEN_DAYS = 90


def members(turn: CmsTurn) -> Response:
    page = turn.design.members(limit=50, cursor=turn.cursor)
    founded = turn.design.founded("cms")
    founder = None if founded is None else founded.member_id
    return turn.page("members.html", members=page.items, cursor=page.cursor, roles=ROLES, founder=founder)


def set_role(turn: CmsTurn) -> Response:
    role = ROLES.get(turn.form["role"])
    member = turn.design.member(turn.path("member_id"))
    if role is None or member is None:
        raise not_found()
    turn.design.set_role(member.member_id, role)
    return turn.go("/members", "saved")


def token_form(turn: CmsTurn) -> Response:
    return turn.page("token.html", token=None, days=TOKEN_DAYS)


def token(turn: CmsTurn) -> Response:
    site: SmallSite[Cms] = turn.site
    made = site.visitors.sessions.open(turn.person, seconds=TOKEN_DAYS * 86_400, kind="token")
    return turn.page("token.html", token=made, days=TOKEN_DAYS)
