"""Responses with stored files."""

from __future__ import annotations

from starlette.responses import Response

from keyplan_systems.site.files import KINDS, Files, is_name
from keyplan_systems.site.problems import not_found

_SHOWN = ("image/", "audio/", "video/")
_HEADERS = {
    "cache-control": "public, max-age=31536000, immutable",  # the name depends on the content
    "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'; sandbox",  # SVG can contain scripts
}


def file_response(files: Files, name: str) -> Response:
    """A stored file; kinds that pages don't show are downloads. Raises Problem if it doesn't exist."""
    content = files.get(name) if is_name(name) else None
    if content is None:
        raise not_found()
    kind = KINDS[name.rpartition(".")[2]]
    headers = dict(_HEADERS)
    if not kind.startswith(_SHOWN):
        headers["content-disposition"] = "attachment"
    return Response(content, media_type=kind, headers=headers)
