"""The desk: articles by status, and new ones."""

from __future__ import annotations

from collections.abc import Iterable
from typing import get_args

from starlette.responses import Response

from keyplan.errors import ItemExists
from keyplan_systems.cms.design import Cms
from keyplan_systems.cms.entities import Article, Member, Status
from keyplan_systems.cms.site.people import may_publish
from keyplan_systems.pages.site import Turn
from keyplan_systems.words import numbered, slug_from

CmsTurn = Turn[Cms]
STATES: dict[str, Status] = {value: value for value in get_args(Status)}
TITLE_CHARACTERS_MAX = 200
SLUG_CHARACTERS_MAX = 200


def desk(turn: CmsTurn) -> Response:
    """The articles with a status; authors see their own, and the public sees published articles."""
    cms, person = turn.design, turn.visitor.person
    if person is None:
        cards = cms.published_articles(limit=12, cursor=turn.cursor)
        names = names_of(cms, (card.author_id for card in cards))
        return turn.page("front.html", cards=cards.items, names=names, cursor=cards.cursor)
    if "author" not in person.roles:
        return turn.page("waiting.html")
    state = turn.query.get("state", "")
    mine = state == "mine" or not may_publish(person)
    if mine:
        page = cms.articles_by_author(person.user_id, limit=20, cursor=turn.cursor)
        state = "mine"
    else:
        state = STATES.get(state, "draft")
        page = cms.articles_by_state(STATES[state], limit=20, cursor=turn.cursor)
    names = names_of(cms, (article.author_id for article in page))
    return turn.page("desk.html", state=state, articles=page.items, names=names, cursor=page.cursor)


def names_of(cms: Cms, ids: Iterable[str]) -> dict[str, str]:
    """The names of members; ids of unknown ones."""
    wanted = sorted(set(ids))
    members = cms.get_many(Member, [{"member_id": text} for text in wanted])
    return {text: text if member is None else member.name for text, member in zip(wanted, members, strict=True)}


def new(turn: CmsTurn) -> Response:
    return turn.page("new.html")


def create(turn: CmsTurn) -> Response:
    form = turn.form
    title = form.text("title", "Title", TITLE_CHARACTERS_MAX)
    slug = form.text("slug", "Slug", SLUG_CHARACTERS_MAX, required=False)
    if not form:
        return turn.page("new.html", 422)
    wanted = slug_from(slug or title, "article")
    for each in [wanted] if slug else numbered(wanted):
        try:
            made = turn.design.create_article(Article(title=title, slug=each, author_id=turn.person.user_id))
        except ItemExists:
            continue
        return turn.go(f"/articles/{made.article_id}", "made")
    taken_slug(turn, wanted)
    return turn.page("new.html", 422)


def taken_slug(turn: CmsTurn, slug: str) -> None:
    """Add the error of a taken slug to the form."""
    turn.form.labels["slug"] = "Slug"
    turn.form.fault("slug", f"another article has the slug {slug}; choose another slug")
