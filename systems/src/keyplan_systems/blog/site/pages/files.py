"""Images and other files: uploads and downloads."""

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
    "cache-control": "public, max-age=31536000, immutable",  # the name depends on the content
    "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'; sandbox",  # SVG can contain scripts
}


def take_picture(turn: Turn) -> Response:
    """Store an uploaded image, and return its Markdown."""
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
    """A file. Kinds that pages don't show are downloads."""
    name = turn.path("name")
    content = turn.site.files.get(name) if is_name(name) else None
    if content is None:
        raise not_found()
    kind = KINDS[name.rpartition(".")[2]]
    headers = dict(_HEADERS)
    if not kind.startswith(_SHOWN):
        headers["content-disposition"] = "attachment"
    return Response(content, media_type=kind, headers=headers)
