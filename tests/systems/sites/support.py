"""A browser without scripts for tests of the sites: it reads pages and sends the forms on them."""

from __future__ import annotations

import re
from html import unescape
from typing import Any

from keyplan.systems import SiteOptions
from tests.systems.mailbox import Box
from tests.web.support import TestClient

OPTIONS = SiteOptions(b"a secret of the tests, and nobody else's", ("testserver",))


class Visit:
    """A browser with its own cookies."""

    def __init__(self, application: Any) -> None:
        self.application = application
        self.client = TestClient(application, follow_redirects=True)
        self.path = "/"
        self.status = 0
        self.text = ""

    def get(self, path: str) -> int:
        """Go to a page, and return the status of the response."""
        return self._took(self.client.get(path))

    def send(self, target: str, **fields: str) -> int:
        """Send this page's form with this action. ``fields`` replace the form's values. Return the response status."""
        form = re.search(rf'<form[^>]* action="{re.escape(target)}".*?</form>', self.text, re.DOTALL)
        assert form is not None, f"{self.path} has no form to {target}"
        return self._took(self.client.post(target, data={**_fields(form[0]), **fields}))

    def post(self, target: str, fields: dict[str, str], headers: dict[str, str] | None = None) -> int:
        """Send a form that isn't on any page."""
        return self._took(self.client.post(target, data=fields, headers=headers or {}))

    def csrf(self) -> str:
        """Return the CSRF token of this page."""
        match = re.search(r'name="csrf" value="([^"]+)"', self.text)
        assert match is not None
        return match[1]

    def once(self) -> str:
        """Return the value of this page's form field that identifies repeated submissions."""
        match = re.search(r'name="once" value="([^"]+)"', self.text)
        assert match is not None
        return match[1]

    def sign_in(self, login: str, password: str) -> None:
        """Sign in by the form on the sign-in page."""
        self.get("/sign-in")
        assert self.send("/sign-in", login=login, password=password) == 200
        assert self.path != "/sign-in"

    def join(self, login: str, name: str = "N", password: str = "long enough") -> int:
        """Sign up by the link in the email to the address ``login``, and return the response status."""
        box = self.application.state.site.joining.mail = Box()
        self.get("/sign-up")
        assert self.send("/sign-up", login=login, name=name) == 200
        assert self.says(f"An email with a link was sent to {login}.")
        (letter,) = box.letters
        assert letter.to == login
        assert self.get(letter.link) == 200
        return self.send("/sign-up/finish", password=password)

    def says(self, text: str) -> bool:
        """Return whether the current page contains a text."""
        return text in " ".join(unescape(re.sub(r"<[^>]+>", " ", self.text)).split())

    def _took(self, response: Any) -> int:
        self.path, self.status, self.text = response.url.path, response.status_code, response.text
        return self.status


def _fields(form: str) -> dict[str, str]:
    result: dict[str, str] = {}
    for tag in re.findall(r"<input[^>]*>", form):
        given = {name: unescape(value) for name, value in re.findall(r'([\w-]+)="([^"]*)"', tag)}
        if "name" in given and (given.get("type") not in {"radio", "checkbox"} or " checked" in tag):
            result[given["name"]] = given.get("value", "")
    return result
