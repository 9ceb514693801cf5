"""Pages to export the data of an account, and to delete it. Systems implement ``Leaving``."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from starlette.responses import Response

from keyplan.errors import Refused
from keyplan_systems.pages.site import Turn
from keyplan_systems.site.passwords import password_fits


class Leaving(Protocol):
    """The data and the deletion of a system's accounts."""

    @property
    def stays(self) -> str:
        """An explanation of what a deletion removes and what it keeps."""
        ...

    def export(self, user_id: str) -> Mapping[str, Any]:
        """All stored data of a user, for JSON."""
        ...

    def leave(self, user_id: str) -> Sequence[str]:
        """Delete an account; returns what remains. Raises Refused for users who can't leave yet."""
        ...


class _Pages:
    """The account page and its forms."""

    def __init__(self, leaving: Leaving) -> None:
        self.leaving = leaving

    def show(self, turn: Turn[Any]) -> Response:
        return turn.page("account.html", stays=self.leaving.stays)

    def export(self, turn: Turn[Any]) -> Response:
        """All stored data of the user, as a file."""
        content = json.dumps(self.leaving.export(turn.person.user_id), ensure_ascii=False, indent=2)
        headers = {"content-disposition": f'attachment; filename="{turn.site.look.system}-account.json"'}
        return Response(content.encode("utf-8", "replace"), media_type="application/json", headers=headers)

    def delete(self, turn: Turn[Any]) -> Response:
        """Delete the account, after its password was typed."""
        form, person = turn.form, turn.person
        password = form.password("password", "Password")
        turn.limit("sign-in", f"{turn.address} {person.user_id}")
        if form:
            with turn.site.hashing:
                fits = password_fits(person.password_hash, password)
            if not fits:
                form.fault("password", "the password is wrong")
        if form:
            try:
                stays = self.leaving.leave(person.user_id)
            except Refused as error:
                form.fault("", error.message)
            else:
                turn.site.visitors.sign_out(turn.visitor)
                turn.site.visitors.sessions.forget(person.user_id)
                return turn.page("gone.html", stays=stays)
        return turn.page("account.html", 422, stays=self.leaving.stays)


def leaving_pages(leaving: Leaving) -> Sequence[tuple[str, Any, str]]:
    pages = _Pages(leaving)
    return (("/account", pages.show, "person"), ("/account/export", pages.export, "person"))


def leaving_forms(leaving: Leaving) -> Sequence[tuple[str, Any, str]]:
    return (("/account/delete", _Pages(leaving).delete, "person"),)
