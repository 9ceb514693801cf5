"""``make wheels`` builds both packages, installs their wheels into empty environments, and uses the packages.

Three environments have the library without extras, both packages, and both packages with the oldest allowed
dependencies. The files in the wheels are checked, too. Nothing is uploaded.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).parents[2]
DIST = ROOT / "dist"
WORK = ROOT / ".cache" / "wheels"
PROJECTS = {"keyplan": ROOT, "keyplan_systems": ROOT / "systems"}


def run(*command: str | Path, cwd: Path = ROOT, fails: bool = False, env: Mapping[str, str] | None = None) -> str:
    """Run a command, and return its output including standard error."""
    done = subprocess.run(
        [str(each) for each in command], cwd=cwd, env=env, text=True, capture_output=True, check=False
    )
    output = done.stdout + done.stderr
    if (done.returncode != 0) != fails:
        raise SystemExit(f"{' '.join(map(str, command))}\nended with {done.returncode}:\n{output}")
    return output


def environment(name: str) -> Path:
    """Create an empty virtual environment, and return the path of its Python."""
    folder = WORK / name
    run(sys.executable, "-m", "venv", "--clear", folder)
    return folder / "bin" / "python"


def install(python: Path, *what: str | Path, constraints: Path | None = None) -> None:
    """Install packages with pip, from the built wheels and the index that pip uses."""
    limits: list[str | Path] = ["--constraint", constraints] if constraints else []
    run(
        python, "-m", "pip", "--disable-pip-version-check", "install", "--quiet", "--find-links", DIST, *limits, *what
    )  # fmt: skip


def build() -> None:
    """Build wheels and source archives of the files that are tracked by Git."""
    shutil.rmtree(DIST, ignore_errors=True)
    python = environment("build")
    install(python, "hatchling", constraints=ROOT / "constraints.txt")
    for folder in PROJECTS.values():
        run(python, "-m", "hatchling", "build", "--directory", DIST, cwd=folder)


def wheel(name: str) -> Path:
    """Return the path of a package's wheel."""
    (path,) = DIST.glob(f"{name}-*.whl")
    return path


def check_files() -> None:
    """Check which files the wheels and source archives contain."""
    names = {name: zipfile.ZipFile(wheel(name)).namelist() for name in PROJECTS}
    for name, files in names.items():
        outside = [file for file in files if not file.startswith((f"{name}/", f"{name}-"))]
        assert not outside, f"{name}'s wheel holds {outside}"
        assert f"{name}/py.typed" in files
        assert any(file.endswith("licenses/LICENSE") for file in files)
        with tarfile.open(next(DIST.glob(f"{name}-*.tar.gz"))) as archive:
            sources = archive.getnames()
        assert any(file.endswith("/LICENSE") for file in sources)
        assert any("/tests/" in file for file in sources) or name == "keyplan_systems", "an archive has its tests"
    for part in ("blog/site/templates/base.html", "pages/templates/base.html", "site/templates/frame.html"):
        assert f"keyplan_systems/{part}" in names["keyplan_systems"]
    assert "keyplan_systems/site/static/site.css" in names["keyplan_systems"]
    assert not [file for file in names["keyplan"] if "/blog/" in file or "/cms/" in file]


def oldest() -> Path:
    """Write a constraints file with the oldest versions of dependencies that pyproject.toml allows; return its path."""
    path = WORK / "oldest.txt"
    path.write_text("".join(f"{line}\n" for line in sorted(set(_oldest()))), encoding="utf-8")
    return path


def _oldest() -> Iterator[str]:
    for folder in PROJECTS.values():
        project = tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))["project"]
        extras = {name: needed for name, needed in project.get("optional-dependencies", {}).items() if name != "dev"}
        for requirement in (*project["dependencies"], *(each for needed in extras.values() for each in needed)):
            match = re.fullmatch(r"([\w-]+)(?:\[\w+\])?>=([\d.]+)(?:,.*)?", requirement)
            if match and not match[1].startswith("keyplan"):
                yield f"{match[1]}=={match[2]}"


def use_library(python: Path, folder: Path) -> None:
    """Run a program that uses the library, and the library's commands."""
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copy(ROOT / "tests" / "wheels" / "program.py", folder)
    print(run(python, "-W", "error", "program.py", cwd=folder), end="")
    keyplan = python.parent / "keyplan"
    assert "Magazine" in run(keyplan, "check", "program.py:Magazine", cwd=folder)
    assert "GSI1" in run(keyplan, "explain", "program.py:Magazine", "articles_by_author", cwd=folder)
    assert "No. 2" in run(
        keyplan, "call", "program.py:Magazine", "articles_by_author", "author_id=ada", "--db", "magazine.db", cwd=folder
    )


def use_plugin(python: Path, folder: Path) -> None:
    """Run the pytest plugin, which needs no extra for a store in memory or in a file."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "test_magazine.py").write_text(PLUGIN, encoding="utf-8")
    (folder / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")  # else this repository's own settings are taken
    install(python, "pytest", constraints=ROOT / "constraints.txt")
    output = run(python, "-m", "pytest", "-q", "-W", "error", "-p", "no:cacheprovider", cwd=folder)
    assert "2 passed, 1 skipped" in output, output


PLUGIN = """
from program import Article, Magazine
from keyplan.testing import Factory

def test_articles(design: Magazine) -> None:
    article = design.put(Factory()(Article))
    assert design.article(article.article_id) == article
"""


def use_systems(python: Path, folder: Path) -> None:
    """Write the sample data of each system, and open a page of the blog's site."""
    folder.mkdir(parents=True, exist_ok=True)
    keyplan = python.parent / "keyplan"
    for name in ("blog", "cms", "papers", "shop", "social"):
        assert "sample items" in run(keyplan, "sample", name, "--count", "3", cwd=folder)
    run(python, "-c", SITE, cwd=folder)


SITE = """
import os, re, signal, subprocess, sys, urllib.request
with subprocess.Popen(
    [os.path.join(os.path.dirname(sys.executable), "keyplan"), "serve", "blog", "--port", "0"],
    stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONUNBUFFERED": "1"},
) as served:
    text = ""
    while "Ctrl-C" not in text:
        line = served.stdout.readline()
        assert line, text
        text += line
    address = re.search(r"http://127[.]0[.]0[.]1:[0-9]+", text).group()
    page = urllib.request.urlopen(address).read().decode()
    served.send_signal(signal.SIGTERM)
assert "Marginalia" in page
"""


def main(parts: Sequence[str]) -> None:
    WORK.mkdir(parents=True, exist_ok=True)
    build()
    check_files()
    newest = ROOT / "constraints.txt"
    python = environment("library")
    install(python, wheel("keyplan"), constraints=newest)
    use_library(python, WORK / "library-used")
    use_plugin(python, WORK / "library-used")
    output = run(python.parent / "keyplan", "sample", "blog", cwd=WORK / "library-used", fails=True)
    assert "pip install keyplan-systems" in output, output
    python = environment("systems")
    install(python, wheel("keyplan"), wheel("keyplan_systems"), constraints=newest)
    use_systems(python, WORK / "systems-used")
    if "--oldest" in parts:
        python = environment("oldest")
        install(python, f"{wheel('keyplan')}[all]", wheel("keyplan_systems"), constraints=oldest())
        use_library(python, WORK / "oldest-used")
        use_systems(python, WORK / "oldest-used")
        print(run(python, "-m", "pip", "--disable-pip-version-check", "freeze"), end="")
    print("both packages were built, installed and used")


if __name__ == "__main__":
    main(sys.argv[1:])
