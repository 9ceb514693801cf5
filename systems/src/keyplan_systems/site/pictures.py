"""Pictures that are uploaded: what they may be, and the form they are kept in.

A picture is read by Pillow and written anew, so that nothing else of what was sent is kept: no comment, no place where
it was taken, no second file behind its end. What is larger than a page can show is made smaller.
"""

from __future__ import annotations

import io
import warnings
from typing import NamedTuple

from PIL import Image, ImageOps, UnidentifiedImageError

from keyplan.errors import Fault, Refused
from keyplan_systems.site.files import name_of

__all__ = ["BYTES_MAX", "Picture", "picture_from"]

BYTES_MAX = 8 * 1024 * 1024
PIXELS_MAX = 25_000_000
SIDE_MAX = 2400
_FORMATS = ("JPEG", "PNG", "GIF", "WEBP")


class Picture(NamedTuple):
    """A picture as it is kept: its name, its content, and its size in pixels."""

    name: str
    content: bytes
    width: int
    height: int


def picture_from(data: bytes, owner: str) -> Picture:
    """The picture in what was sent. Raises Refused, at ``picture``, for what isn't one or is too large."""
    if len(data) > BYTES_MAX:
        raise _refused(f"at most {BYTES_MAX // 1024 // 1024} MB; it has {len(data):,} bytes")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", Image.DecompressionBombWarning)
            with Image.open(io.BytesIO(data), formats=_FORMATS) as image:
                if image.width * image.height > PIXELS_MAX:
                    raise _refused(f"at most {PIXELS_MAX:,} pixels; it has {image.width * image.height:,}")
                return _kept(image, owner)
    except (Image.DecompressionBombError, Image.DecompressionBombWarning):
        raise _refused(f"at most {PIXELS_MAX:,} pixels") from None
    except UnidentifiedImageError:
        raise _refused("it is no picture in JPEG, PNG, GIF or WebP") from None
    except (OSError, SyntaxError, ValueError, EOFError, IndexError, TypeError):
        raise _refused("the picture is damaged") from None


def _kept(image: Image.Image, owner: str) -> Picture:
    """The first picture of a file, upright, in JPEG if it was, else in PNG."""
    is_photo = image.format == "JPEG"
    image.draft("RGB", (SIDE_MAX, SIDE_MAX))  # a large photo is made smaller while it is read
    upright = ImageOps.exif_transpose(image)
    if upright.mode in {"P", "1"}:
        upright = upright.convert("RGBA" if "transparency" in upright.info else "RGB")
    upright.thumbnail((SIDE_MAX, SIDE_MAX))
    has_holes = "A" in upright.getbands() or "transparency" in upright.info
    mode = "RGB" if is_photo or not has_holes else "RGBA"
    clean = Image.new(mode, upright.size)
    clean.paste(upright.convert(mode))
    buffer = io.BytesIO()
    if is_photo:
        clean.save(buffer, "JPEG", quality=85, optimize=True, progressive=True)
    else:
        clean.save(buffer, "PNG", optimize=True)
    content = buffer.getvalue()
    return Picture(name_of(content, "jpg" if is_photo else "png", owner), content, clean.width, clean.height)


def _refused(message: str) -> Refused:
    return Refused("the picture can't be taken", place="picture", faults=[Fault("picture", message, "send another")])
