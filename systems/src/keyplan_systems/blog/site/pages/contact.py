"""The contact form."""

from __future__ import annotations

import re

from starlette.responses import Response

from keyplan_systems.blog.entities import ContactMessage
from keyplan_systems.blog.site.site import Turn
from keyplan_systems.site.incoming import Form

EMAIL = re.compile(r"[^\s@<>\"]+@[^\s@<>\"]+\.[^\s@<>\".]+")


def show(turn: Turn) -> Response:
    name = "" if turn.visitor.user is None else turn.visitor.user.name
    return turn.page("contact.html", form=Form({"name": name}))


def send(turn: Turn) -> Response:
    form = turn.form
    name = form.text("name", "Your name", 80)
    email = form.text("email", "Your email address", 254)
    subject = form.text("subject", "Subject", 150)
    text = form.text("text", "Message", 5000, lines=True)
    if email and not EMAIL.fullmatch(email):
        form.fault("email", "invalid email address")
    if not form:
        return turn.page("contact.html", 422, form=form)
    turn.limit("contact", turn.address)
    if form["website"]:  # a hidden field that only bots fill in
        return turn.go("/contact", "message")
    turn.blog.send_message(ContactMessage(name=name, email=email, subject=subject, text=text))
    return turn.go("/contact", "message")
