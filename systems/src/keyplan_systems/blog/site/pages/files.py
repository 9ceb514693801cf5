"""Pictures and other files: those that authors send, and those that pages show."""

from __future__ import annotations

from starlette.responses import JSONResponse, Response

from keyplan.errors import Refused
from keyplan_systems.blog.site.site import Turn
from keyplan_systems.site.files import KINDS, is_name
from keyplan_systems.site.pictures import picture_from
from keyplan_systems.site.problems import not_found

__all__ = ["show", "take_picture"]

_SHOWN = ("image/", "audio/", "video/")
_HEADERS = {
    "cache-control": "public, max-age=31536000, immutable",  # a name is of its content
    "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'; sandbox",  # a drawing may hold a script
}


def take_picture(turn: Turn) -> Response:
    """Keep a picture that an author sends, and say how it stands in a text."""
    turn.limit("upload", turn.user.user_id)
    try:
        with turn.site.pictures:
            picture = picture_from(turn.form.data, turn.user.user_id)
    except Refused as error:
        return JSONResponse({"error": error.errors[0].message}, status_code=422)
    turn.site.files.put(picture.name, picture.content)
    turn.blog.note_upload(turn.user.user_id, picture.name)
    return JSONResponse({"url": f"/files/{picture.name}", "width": picture.width, "height": picture.height})


def show(turn: Turn) -> Response:
    """A file. What isn't shown on a page is offered to be saved."""
    name = turn.path("name")
    content = turn.site.files.get(name) if is_name(name) else None
    if content is None:
        raise not_found()
    kind = KINDS[name.rpartition(".")[2]]
    headers = dict(_HEADERS)
    if not kind.startswith(_SHOWN):
        headers["content-disposition"] = "attachment"
    return Response(content, media_type=kind, headers=headers)
