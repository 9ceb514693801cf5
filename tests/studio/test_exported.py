"""The exported page and the exported map are self-contained, and contain no information about the machine."""

from __future__ import annotations

import base64
import gzip
import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

from click.testing import CliRunner

from keyplan.cli.group import cli
from keyplan.formatting.results import json_text
from keyplan.studio.exported import page_file, svg_file
from keyplan.studio.reviewing import check_json, questions_json
from keyplan.studio.subject import Subject, of_design
from tests.cli.clinic import Clinic


def test_the_exported_page_contains_all_of_its_resources(subject: Subject) -> None:
    text = page_file(subject)
    assert not re.findall(r'(?:src|href)="(?!#)', text)
    data = held(text)
    assert data["maps"].keys() == {"", *reads_of(subject)}
    assert data["start"]["store"] == ""
    assert {each["path"]["milliseconds"] for name, each in data["maps"].items() if name} == {0}
    assert data["maps"][""]["path"] is None
    assert data["start"]["writable"] is False
    assert set(re.findall(r'data-item="(\w{12})"', data["maps"][""]["svg"])) <= data["items"].keys()
    assert page_file(subject) == text, "the same each time"


def held(text: str) -> dict[str, Any]:
    match = re.search(r'id="data">([^<]+)<', text)
    assert match is not None
    made: dict[str, Any] = json.loads(gzip.decompress(base64.b64decode(match[1])))
    return made


def test_the_exported_page_has_access_patterns_and_findings_of_its_design() -> None:
    with Clinic.open(":memory:") as clinic:
        subject = of_design(clinic)
        data = held(page_file(subject))
        bare = held(page_file(replace(subject, design=None)))
    assert data["questions"] == json.loads(json_text(questions_json(Clinic)))
    told = check_json(Clinic)
    assert told["findings"]
    findings = [{**each, "file": None, "line": None} for each in told["findings"]]
    assert data["check"] == json.loads(json_text({**told, "findings": findings}))
    assert (bare["questions"], bare["check"], bare["maps"].keys()) == (None, None, {""})
    assert data["maps"]["visits"]["path"]["question"] == "visits"


def reads_of(subject: Subject) -> set[str]:
    assert subject.compiled is not None
    return set(subject.compiled.reads)


def test_the_exported_map_is_a_valid_svg(subject: Subject, empty: Subject) -> None:
    for element in (subject, empty):
        ET.fromstring(svg_file(element))


def test_the_export_command_writes_the_page_or_the_map(tmp_path: Path) -> None:
    for name, start in (("svg", "<svg"), ("html", "<!doctype html>")):
        path = tmp_path / f"cms.{name}"
        made = CliRunner().invoke(cli, ["export", "cms", "--to", name, "--sample", "3", "-o", str(path)])
        assert made.exit_code == 0, made.output
        assert path.read_text(encoding="utf-8").startswith(start)
    refused = CliRunner().invoke(cli, ["export", "cms", "--to", "svg", "--region", "eu-west-1"])
    assert refused.exit_code == 2
