"""Print the licences of vendored packages: licenses.py NODE_MODULES FILES=PACKAGE..., for .ci/vendored."""

import json
import sys
from pathlib import Path

INTRODUCTION = """\
# What is vendored here

Libraries as their packages bring them, as ES modules, without their source maps. Nothing is changed in them; \
CodeMirror's packages are bundled into one module by esbuild. `make vendored` fetches the same versions anew, and \
writes this page.

| file | package | version | licence |
|---|---|---|---|"""


def page(modules: Path, vendored: list[str]) -> str:
    """A table of the packages, and the text of each licence once."""
    rows = [INTRODUCTION]
    packages_of_text: dict[str, list[str]] = {}
    for files, _, package in (each.partition("=") for each in vendored):
        about = json.loads((modules / package / "package.json").read_text(encoding="utf-8"))
        rows.append(f"| {', '.join(files.split(','))} | {package} | {about['version']} | {about['license']} |")
        text = next((modules / package).glob("LICENSE*")).read_text(encoding="utf-8").strip("\n")
        packages_of_text.setdefault(text, []).append(package)
    licences = [f"\n## {', '.join(packages)}\n\n```\n{text}\n```" for text, packages in packages_of_text.items()]
    return "\n".join([*rows, *licences, ""])


if __name__ == "__main__":
    sys.stdout.write(page(Path(sys.argv[1]), sys.argv[2:]))
