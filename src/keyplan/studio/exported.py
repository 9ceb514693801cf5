"""Exports the studio as one read-only HTML file with the map, the access patterns and the findings."""

from __future__ import annotations

import base64
import gzip
import json
import re
from html import escape
from typing import Any

from keyplan._version import __version__
from keyplan.formatting.results import json_text
from keyplan.studio.access import MODULES, static_text
from keyplan.studio.actions import start_json
from keyplan.studio.drawing import item_json, standalone, template_json, template_names
from keyplan.studio.items import Item, masked, secret_names
from keyplan.studio.layout import laid_out
from keyplan.studio.maps import lit_picture, map_json, templates_json
from keyplan.studio.paths import Path
from keyplan.studio.reviewing import check_json, questions_json
from keyplan.studio.sampling import sample
from keyplan.studio.subject import Subject

OWN = ("lib", "app", "palette", "map", "questions", "check")
LIBRARIES = ("preact", "preact/hooks", "@preact/signals-core", "@preact/signals", "htm")


def svg_file(subject: Subject) -> str:
    drawn = lit_picture(subject, sample(subject), Path({}))
    return standalone(drawn, laid_out(drawn))


def page_file(subject: Subject) -> str:
    data = base64.b64encode(gzip.compress(json_text(_data(subject)).encode(), mtime=0)).decode()
    imports = {name: _module(static_text(MODULES[name])) for name in LIBRARIES}
    imports |= {f"studio/{name}.js": _module(_own(name)) for name in OWN}
    icon = static_text("icon.svg")
    mark = re.sub(r"^<svg", '<svg hidden id="icon"', icon)
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="generator" content="Keyplan {escape(__version__)}">
<title>{escape(subject.name)}</title>
<style id="map-style">{static_text("map.css")}</style>
<style>{static_text("studio.css")}</style>
<script type="importmap">{json.dumps({"imports": imports})}</script>
</head>
<body><div id="studio"></div>{mark}
<script type="application/octet-stream" id="data">{data}</script>
<script type="module">{_ENTRY}</script>
<noscript>{svg_file(subject)}</noscript>
</body>
</html>
"""


_ENTRY = """
const packed = Uint8Array.from(atob(document.getElementById("data").textContent), (one) => one.charCodeAt(0));
const text = new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"))).json();
globalThis.KEYPLAN_EXPORT = {
  views: ["map", "questions", "check"],
  style: document.getElementById("map-style").textContent,
  async answer(action, given) {
    const data = await text;
    if (action === "map") return given.templates ? data.templates : data.maps[given.question ?? ""] ?? data.maps[""];
    const absent = { id: given.item, kind: "an item", colour: 11, keys: [], item: {}, bytes: 0, fault: null };
    if (action === "item") return data.items[given.item] ?? absent;
    return data[action];
  },
};
await import("studio/app.js");
"""


def _module(text: str) -> str:
    return f"data:text/javascript;base64,{base64.b64encode(text.encode()).decode()}"


def _own(name: str) -> str:
    """The source of one of the page's modules, with imports renamed to the names in the import map."""
    text = static_text(f"{name}.js")
    text = text.replace("import(`./${name}.js`)", "import(`studio/${name}.js`)")
    return re.sub(r'from "\./(\w+\.js)"', r'from "studio/\1"', text).replace("static/icon.svg#mark", "#mark")


def _data(subject: Subject) -> dict[str, Any]:
    seen: dict[str, Item] = {}
    maps: dict[str, Any] = {"": map_json(subject, seen=seen)}
    design = subject.design
    names = secret_names(subject.compiled)
    for name in () if design is None else design.compiled.reads:
        maps[name] = map_json(subject, name, seen=seen)
    for path in filter(None, (value["path"] for value in maps.values())):
        path["milliseconds"] = 0  # omits the duration, so that repeated exports are identical
        for step in path["steps"]:
            step["items"] = []
    check = None if design is None else check_json(type(design))
    for finding in () if check is None else check["findings"]:
        finding |= {"file": None, "line": None}
    return {
        "start": {**start_json(subject), "store": "", "writable": False},
        "maps": masked(maps, names),
        "templates": None if design is None else templates_json(subject),
        "items": {
            **masked({name: item_json(subject, item) for name, item in seen.items()}, names),
            **{name: template_json(subject, name) for name in template_names(subject)},
        },
        "questions": None if design is None else questions_json(type(design)),
        "check": check,
    }
