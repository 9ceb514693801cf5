"""The exported page and map: whole in themselves, and without anything of this machine."""

from __future__ import annotations

import base64
import gzip
import json
import re
from pathlib import Path
from xml.etree import ElementTree as ET

from click.testing import CliRunner

from keyplan.cli.group import cli
from keyplan.studio.exported import page_file, svg_file
from keyplan.studio.subject import Subject


def test_the_page_holds_all_that_it_asks_for(subject: Subject) -> None:
    text = page_file(subject)
    assert not re.findall(r'(?:src|href)="(?!#)', text)
    match = re.search(r'id="data">([^<]+)<', text)
    assert match is not None
    data = json.loads(gzip.decompress(base64.b64decode(match[1])))
    assert data["maps"].keys() == {"", *reads_of(subject)}
    assert data["start"]["store"] == ""
    assert {each["path"]["milliseconds"] for name, each in data["maps"].items() if name} == {0}
    assert data["maps"][""]["path"] is None
    assert data["start"]["writable"] is False
    assert set(re.findall(r'data-item="(\w{12})"', data["maps"][""]["svg"])) <= data["items"].keys()
    assert page_file(subject) == text, "the same each time"


def reads_of(subject: Subject) -> set[str]:
    assert subject.compiled is not None
    return set(subject.compiled.reads)


def test_the_map_is_one_drawing(subject: Subject, empty: Subject) -> None:
    for element in (subject, empty):
        ET.fromstring(svg_file(element))


def test_the_command_writes_both(tmp_path: Path) -> None:
    for name, start in (("svg", "<svg"), ("html", "<!doctype html>")):
        path = tmp_path / f"cms.{name}"
        made = CliRunner().invoke(cli, ["export", "cms", "--to", name, "--sample", "3", "-o", str(path)])
        assert made.exit_code == 0, made.output
        assert path.read_text(encoding="utf-8").startswith(start)
    refused = CliRunner().invoke(cli, ["export", "cms", "--to", "svg", "--region", "eu-west-1"])
    assert refused.exit_code == 2
