"""Layout and drawing of the map: cards don't overlap, and stored values are escaped."""

from __future__ import annotations

from itertools import combinations
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from keyplan.studio.collections import picture, template_picture
from keyplan.studio.drawing import drawing, standalone
from keyplan.studio.layout import laid_out
from keyplan.studio.sampling import sample
from keyplan.studio.subject import Subject, of_design
from keyplan.systems import system
from tests.studio.school import Course, School
from tests.systems.support import silent

SVG = "{http://www.w3.org/2000/svg}"


def parts(subject: Subject) -> tuple[Any, Any]:
    made = picture(subject.name, subject.table, subject.compiled, sample(subject).stretches)
    return made, laid_out(made)


def test_cards_on_the_map_do_not_overlap(subject: Subject) -> None:
    _, layout = parts(subject)
    for value, other in combinations(layout.boxes, 2):
        apart = value.x + value.width <= other.x or other.x + other.width <= value.x
        assert apart or value.y + value.height <= other.y or other.y + other.height <= value.y
    for box in layout.boxes:
        assert box.x + box.width <= layout.width
        assert box.y + box.height <= layout.height
        for row in box.rows:
            assert box.y <= row.y
            assert row.y + row.height <= box.y + box.height


def test_every_row_and_line_of_the_map_is_drawn(subject: Subject) -> None:
    made, layout = parts(subject)
    tree = ET.fromstring(drawing(made, layout))
    rows = [element.get("id") for element in tree.iter(f"{SVG}g") if "row" in (element.get("class") or "").split()]
    assert rows == [row.entry.id for box in layout.boxes for row in box.rows]
    assert len(set(rows)) == len(rows)
    ties = [
        element
        for element in tree.iter(f"{SVG}g")
        if "tie" in (element.get("class") or "").split() and "line" in element[0].attrib["class"]
    ]
    assert len(ties) == len(made.ties)
    assert {tie.get("data-a") for tie in ties} <= set(rows)


def test_stored_values_are_escaped_in_the_drawing(school: School) -> None:
    evil = '</text><script>alert(1)</script>"\x00\x1b\ud7ff𝒳'
    school.put(Course(course_id=evil, title=evil * 9, room=evil))
    made, layout = parts(of_design(school))
    text = drawing(made, layout)
    ET.fromstring(text)
    assert "<script" not in text
    assert "�" in text


def test_the_svg_file_of_a_map_is_self_contained(subject: Subject) -> None:
    text = standalone(*parts(subject))
    tree = ET.fromstring(text)
    assert tree.find(f".//{SVG}style") is not None
    assert "prefers-color-scheme: dark" in text
    assert "http" not in text.replace("http://www.w3.org/2000/svg", "")


@pytest.mark.parametrize("name", ["blog", "cms", "papers", "shop", "social"])
def test_each_entity_of_each_system_is_on_the_map(name: str) -> None:
    """The map is drawn with sample data, and with key templates only."""
    result = system(name)
    with result.design.open(":memory:", secret="s") as design:
        result.sample(design, 8, silent)
        for made in (parts(of_design(design))[0], template_picture(name, design.compiled)):
            shown = {entry.kind for place in made.places for card in place.collections for entry in card.entries}
            assert set(design.compiled.by_name) <= shown
            ET.fromstring(drawing(made, laid_out(made)))
