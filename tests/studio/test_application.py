"""The studio over HTTP: access control, served files, data of each view, and responses to invalid requests."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from keyplan.errors import StoreError
from keyplan.studio import application
from keyplan.studio.access import HEADER, STATIC, Access
from keyplan.studio.actions import Studio
from keyplan.studio.application import Beside, studio_application
from keyplan.studio.subject import Endpoint, of_design
from keyplan.web import app
from tests.studio.school import School
from tests.web.support import TestClient

ACCESS = Access("the token", ("testserver",))
HELD = {HEADER: "the token"}


@pytest.fixture
def http(school: School) -> Iterator[TestClient]:
    served = Beside(app(school), studio_application(Studio(of_design(school)), ACCESS))
    with TestClient(served) as client:
        yield client


def asked(http: TestClient, action: str, given: Any = None, **more: Any) -> Any:
    return http.post(f"/studio/do/{action}", json=given or {}, **{"headers": HELD, **more})


def test_the_studio_page_is_served_at_studio_next_to_the_api(http: TestClient) -> None:
    assert "School" in http.get("/studio/").text
    assert http.get("/studio?token=a", follow_redirects=False).headers["location"] == "/studio/?token=a"
    assert http.get("/openapi.json").status_code == 200
    assert http.get("/studio/static/vendor/preact.js").headers["content-type"].startswith("text/javascript")


@pytest.mark.parametrize(
    "path",
    ["../actions.py", "vendor/../../actions.py", "nothing.js", ".js", "app.py", "vendor/", f"{'a' * 300}.js"],
    ids=lambda path: path[:24],
)
def test_only_static_files_of_the_studio_page_are_served(http: TestClient, path: str) -> None:
    assert http.get(f"/studio/static/{path}").status_code == 404
    for place in ("../static/app.js", "vendor/LICENSES.md", "vendor/../app.js"):
        assert STATIC.joinpath(*place.split("/")).is_file(), "it is there, and no file of the page"
        assert application._static(place) is None


def test_reprs_of_studio_objects_omit_the_token_and_the_store(school: School) -> None:
    assert "secret" not in repr(Access("secret"))
    studio = Studio(of_design(school))
    studio._others["other"] = studio
    assert "other" not in repr(studio)
    endpoint = Endpoint("http://x", school.store.transport, local=True, writable=True, table="t", others=True)
    assert "transport" not in repr(endpoint)


@pytest.mark.parametrize(
    ("headers", "status", "code"),
    [
        ({}, 401, "TokenNeeded"),
        ({HEADER: "another"}, 401, "TokenNeeded"),
        ({HEADER: "thé"}, 401, "TokenNeeded"),
        ({**HELD, "origin": "http://evil.example"}, 403, "WrongOrigin"),
        ({**HELD, "origin": "null"}, 403, "WrongOrigin"),
        ({**HELD, "host": "evil.example"}, 421, "WrongHost"),
        ({**HELD, "origin": "http://testserver"}, 200, None),
    ],
)
def test_studio_requests_require_the_token_and_the_same_origin(
    http: TestClient, headers: dict[str, str], status: int, code: str | None
) -> None:
    sent = {name: value.encode() for name, value in headers.items()}
    answer = http.post("/studio/do/start", json={}, headers=sent)
    assert answer.status_code == status
    assert answer.json().get("error", {}).get("code") == code


def test_other_sites_cannot_embed_the_studio_page(http: TestClient) -> None:
    assert http.get("/studio/", headers={"host": "evil.example"}).status_code == 421
    policy = http.get("/studio/").headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy


@pytest.mark.parametrize(
    ("action", "given", "status"),
    [
        ("nothing", {}, 400),
        ("map", {"question": 3}, 400),
        ("map", {"question": "nothing"}, 404),
        ("map", {"rows": 0}, 400),
        ("map", {"rows": True}, 400),
        ("map", {"arguments": []}, 400),
        ("item", {"item": "nothing"}, 400),
        ("form", {"question": "nothing"}, 404),
        ("run", {"question": "nothing"}, 404),
        ("run", {}, 404),
        ("edit", {"edits": "all"}, 400),
        ("cost", {"rates": {"nobody": 1}}, 400),
        ("data", {"entity": "nobody"}, 400),
        ("change", {"text": 3}, 400),
        ("plan", {"text": 3}, 400),
    ],
)
def test_unknown_actions_and_arguments_are_rejected(http: TestClient, action: str, given: Any, status: int) -> None:
    answer = asked(http, action, given)
    assert answer.status_code == status
    assert answer.json()["error"]["message"]


def test_a_request_with_an_invalid_json_body_is_rejected(http: TestClient) -> None:
    headers = {**HELD, "content-type": "application/json"}
    assert http.post("/studio/do/map", content=b"{", headers=headers).status_code == 400
    assert http.post("/studio/do/map", content=b"[" * 100_000, headers=headers).status_code == 400


@pytest.mark.parametrize("action", ["questions", "check", "cost", "data", "change", "map"])
def test_the_request_of_each_studio_view_succeeds(http: TestClient, action: str) -> None:
    assert asked(http, action).status_code == 200


def test_concurrent_requests_of_all_views_are_answered(http: TestClient) -> None:
    """Dry runs of writes in one thread don't affect requests in other threads."""
    actions = ["check", "cost", "change", "questions", "map", "data"] * 8
    with ThreadPoolExecutor(8) as pool:
        assert {*pool.map(lambda action: asked(http, action).status_code, actions)} == {200}


def test_the_map_highlights_the_path_of_an_access_pattern(http: TestClient) -> None:
    made = asked(http, "map", {"question": "pupils_of_course", "arguments": {"course_id": "maths"}}).json()
    first, second = made["path"]["steps"]
    assert (first["operation"], first["condition"], first["found"]) == (
        "Query",
        'pk = COURSE#maths, begins_with(sk, "PUPIL#")',
        3,
    )
    assert (second["operation"], second["found"]) == ("BatchGetItem", 3)
    assert made["svg"].count('class="badge"') == 6


def test_missing_arguments_of_a_pattern_are_taken_from_stored_items(http: TestClient) -> None:
    made = asked(http, "map", {"question": "pupils_of_year"}).json()
    assert made["path"]["arguments"] == {"year": 1}
    assert made["path"]["steps"][0]["index"] == "GSI1"
    assert made["path"]["steps"][0]["found"] == 4


def test_the_map_is_shown_with_errors_if_arguments_are_wrong(http: TestClient) -> None:
    made = asked(http, "map", {"question": "pupils_of_year", "arguments": {"year": "x", "no": 1}}).json()
    assert {fault["place"] for fault in made["path"]["error"]["errors"]} >= {"year", "no"}
    assert made["svg"].startswith("<svg")


def test_selecting_a_write_on_the_map_does_not_execute_it(http: TestClient, school: School) -> None:
    given = {"question": "enrol", "arguments": {"course_id": "art", "pupil_id": "p3"}}
    made = asked(http, "map", given).json()
    marks = [(value["kind"], value["mark"]) for step in made["path"]["steps"] for value in step["touched"]]
    assert marks == [("Enrolment", "put"), ("Pupil", "update")]
    assert school.pupils_of_course("art") == []
    assert made["svg"].count('class="badge"') == 2, "the pupil's number, and a sign for the new enrolment"


def test_an_item_is_shown_with_its_keys_and_key_templates(http: TestClient) -> None:
    made = asked(http, "map", {"question": "pupil", "arguments": {"pupil_id": "p0"}}).json()
    name = made["path"]["steps"][0]["items"][0]["id"]
    item = asked(http, "item", {"item": name}).json()
    assert [key["place"] for key in item["keys"]] == ["the table", "GSI1"]
    first = item["keys"][0]["attributes"][0]
    assert first["template"] == "PUPIL#{pupil_id}"
    assert first["pieces"] == [{"text": "PUPIL#", "field": None}, {"text": "p0", "field": "pupil_id"}]


def test_an_unreachable_store_is_reported(http: TestClient, school: School, monkeypatch: pytest.MonkeyPatch) -> None:
    def away(*_given: Any) -> Any:
        raise StoreError("nobody answers", hint="start it again")

    monkeypatch.setattr(school.store.transport, "call", away)
    answer = asked(http, "map")
    assert answer.status_code == 503
    assert answer.json()["error"]["hint"] == "start it again"
    monkeypatch.undo()
    assert asked(http, "map").status_code == 200
