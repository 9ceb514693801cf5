"""The shortcodes of a Hugo site whose templates lie in its own folder: those that say no more than values in HTML are
filled in, and others are left to who reads them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

__all__ = ["filled", "shortcodes_of"]

_FOLDERS = ("layouts/shortcodes", "layouts/_shortcodes")
TEMPLATE_BYTES_MAX = 16 * 1024
TEMPLATES_MAX = 500
_COMMENT = re.compile(r"\{\{-?\s*/\*.*?\*/\s*-?\}\}|<!--.*?-->", re.DOTALL)
_ACTION = re.compile(r"\{\{(-?)\s*(.*?)\s*(-?)\}\}", re.DOTALL)
_VALUE = re.compile(
    r"""(?:\.Get\s+(?:(\d+)|"([^"]*)"|`([^`]*)`)|\.Params\.(\w+)|(\.Inner))"""
    r"""(?:\s*\|\s*(?:safeHTML|safeHTMLAttr|safeURL|safeCSS|markdownify|htmlEscape|plainify))*"""
)
"""A value that a shortcode was given, or what stands between its beginning and its end."""


def shortcodes_of(root: Path) -> dict[str, str]:
    """The templates of a site's own shortcodes by their names, without comments."""
    result: dict[str, str] = {}
    for folder in (root / name for name in _FOLDERS):
        for path in sorted(folder.glob("*.html"))[:TEMPLATES_MAX]:
            try:
                if path.is_symlink() or path.stat().st_size > TEMPLATE_BYTES_MAX:
                    continue
                result[path.stem] = _COMMENT.sub("", path.read_text(encoding="utf-8"))
            except (OSError, ValueError):
                continue
    return result


def filled(template: str, given: Mapping[str, str], inner: str | None) -> str | None:
    """A template with the values of one use; None for a template that does more than say values.

    A line of HTML ends a paragraph of Markdown, so what is made is one line where its use was.
    """
    parts: list[str] = []
    end = 0
    for match in _ACTION.finditer(template):
        value = _VALUE.fullmatch(match[2])
        if value is None:
            return None
        before = template[end : match.start()]
        parts.append(before.rstrip() if match[1] else before)
        number, quoted, raw, named, whole = value.groups()
        parts.append((inner or "") if whole else given.get(number or quoted or raw or named or "", ""))
        end = match.end()
        if match[3]:
            end += len(template[end:]) - len(template[end:].lstrip())
    made = "".join([*parts, template[end:]]).strip()
    return made if inner is not None else " ".join(made.split())
