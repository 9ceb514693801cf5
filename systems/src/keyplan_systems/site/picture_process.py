"""A process that decodes one image: reads a file from standard input, writes the stored form to standard output.

Decoding can take 100 MB for a file of 100 KB. A separate process returns that memory when it ends, and its limits on
memory and CPU time stop the decoding of a malicious file. The first line of the output is JSON with ``ending``,
``width`` and ``height``, or ``error``; the image follows. The process imports only Pillow, so that it starts quickly.
"""

from __future__ import annotations

import io
import json
import resource
import sys
import warnings

from PIL import Image, ImageOps, UnidentifiedImageError

PIXELS_MAX = 25_000_000
SIDE_MAX = 2400
MEMORY_BYTES_MAX = 1024**3
CPU_SECONDS_MAX = 30
_FORMATS = ("JPEG", "PNG", "GIF", "WEBP")


def main() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES_MAX, MEMORY_BYTES_MAX))
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS_MAX, CPU_SECONDS_MAX))
    head, content = _decoded(sys.stdin.buffer.read())
    sys.stdout.buffer.write(json.dumps(head).encode() + b"\n" + content)


def _decoded(data: bytes) -> tuple[dict[str, object], bytes]:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", Image.DecompressionBombWarning)
            with Image.open(io.BytesIO(data), formats=_FORMATS) as image:
                if image.width * image.height > PIXELS_MAX:
                    return {"error": f"the picture has more than {PIXELS_MAX:,} pixels"}, b""
                return _kept(image)
    except (Image.DecompressionBombError, Image.DecompressionBombWarning):
        return {"error": f"the picture has more than {PIXELS_MAX:,} pixels"}, b""
    except UnidentifiedImageError:
        return {"error": "the file isn't a JPEG, PNG, GIF or WebP picture"}, b""
    except (OSError, SyntaxError, ValueError, EOFError, IndexError, TypeError):
        return {"error": "the picture is damaged"}, b""


def _kept(image: Image.Image) -> tuple[dict[str, object], bytes]:
    """The first frame of an image, upright, as JPEG if it was one, else as PNG."""
    is_photo = image.format == "JPEG"
    image.draft("RGB", (SIDE_MAX, SIDE_MAX))  # downscales a large JPEG while decoding it
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
    head: dict[str, object] = {"ending": "jpg" if is_photo else "png", "width": clean.width, "height": clean.height}
    return head, buffer.getvalue()


if __name__ == "__main__":
    main()
