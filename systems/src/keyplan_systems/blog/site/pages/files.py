"""Images and other files: uploads and downloads."""

from __future__ import annotations

from starlette.responses import JSONResponse, Response

from keyplan.errors import Refused
from keyplan_systems.blog.site.site import Turn
from keyplan_systems.site.pictures import picture_from
from keyplan_systems.site.serving import file_response


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
    return file_response(turn.site.files, turn.path("name"))
