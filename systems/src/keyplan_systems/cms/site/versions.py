"""An article's versions: list, view, differences, restore."""

from __future__ import annotations

from starlette.responses import Response

from keyplan_systems.cms.design import Cms
from keyplan_systems.cms.differences import differences
from keyplan_systems.cms.site.delivering import shown_text
from keyplan_systems.cms.site.desk import names_of
from keyplan_systems.cms.site.editor import own_article
from keyplan_systems.cms.site.people import may_publish
from keyplan_systems.pages.site import Turn
from keyplan_systems.site.problems import not_found

CmsTurn = Turn[Cms]


def versions(turn: CmsTurn) -> Response:
    article = own_article(turn)
    page = turn.design.version_cards(article.article_id, limit=20, cursor=turn.cursor)
    names = names_of(turn.design, (card.created_by for card in page))
    return turn.page("versions.html", article=article, cards=page.items, names=names, cursor=page.cursor)


def version(turn: CmsTurn) -> Response:
    """One version: rendered, and its differences from the previous or another one."""
    article, number = own_article(turn), _number(turn.path("version"))
    article_version = turn.design.article_version(article.article_id, number)
    if article_version is None:
        raise not_found()
    other = _number(turn.query.get("with", str(number - 1)))
    before = turn.design.article_version(article.article_id, other) if other >= 1 else None
    return turn.page(
        "version.html",
        article=article,
        version=article_version,
        names=names_of(turn.design, [article_version.created_by]),
        before=before,
        lines=None if before is None else differences(before.body, article_version.body),
        shown=shown_text(article_version.body, article_version.title or article.title),
        editor=may_publish(turn.person),
    )


def restore(turn: CmsTurn) -> Response:
    article = own_article(turn)
    turn.design.restore_version(article.article_id, _number(turn.path("version")), turn.person.user_id)
    return turn.go(f"/articles/{article.article_id}", "restored")


def _number(text: str) -> int:
    """The version number in a string; 0, which no version has, if it isn't a number."""
    return int(text) if text.isascii() and text.isdigit() and len(text) <= 8 else 0
