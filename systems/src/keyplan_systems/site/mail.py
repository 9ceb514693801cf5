"""Outgoing mail: by SMTP if the settings have a server, else into the log, for development.

Sending can be slow and can fail, so it runs after the response.
"""

from __future__ import annotations

import logging
import re
import smtplib
import ssl
from dataclasses import dataclass
from email.headerregistry import Address
from email.message import EmailMessage
from email.utils import formatdate, make_msgid
from typing import Protocol
from urllib.parse import unquote, urlsplit

from keyplan.errors import RequestError

_LOG = logging.getLogger("keyplan.mail")
TIMEOUT_SECONDS = 20
_PORTS = {"smtp": 587, "smtps": 465}
_ADDRESS = re.compile(r"[^\s@<>]{1,64}@[^\s@<>]{1,253}")


class Mail(Protocol):
    """Sends a plain text message. Errors are logged, because no caller waits for them."""

    def send(self, to: str, subject: str, text: str) -> None: ...


class LoggedMail:
    """Logs mail instead of sending it: for development, with links to follow by hand."""

    def send(self, to: str, subject: str, text: str) -> None:
        _LOG.warning("no mail server is set; this email isn't sent to %s:\nSubject: %s\n\n%s", to, subject, text)


@dataclass(frozen=True)
class SmtpMail:
    """Sends mail by SMTP, with TLS from the start (``smtps``) or STARTTLS (``smtp``).

    A server on this machine can lack TLS. A password is never sent without TLS.
    """

    host: str
    port: int
    sender: str
    implicit_tls: bool = False
    user: str | None = None
    password: str | None = None

    def send(self, to: str, subject: str, text: str) -> None:
        try:
            message = self._message(to, subject, text)
            with self._connection() as server:
                if self.user is not None:
                    server.login(self.user, self.password or "")
                server.send_message(message)
        except (OSError, smtplib.SMTPException, ValueError) as error:
            _LOG.error("the email to %s wasn't sent: %s", to, error)

    def _message(self, to: str, subject: str, text: str) -> EmailMessage:
        message = EmailMessage()
        message["From"] = self.sender
        message["To"] = Address(addr_spec=to)
        message["Subject"] = subject
        message["Date"] = formatdate(localtime=False)
        message["Message-ID"] = make_msgid(domain=self.sender.rpartition("@")[2] or "localhost")
        message["Auto-Submitted"] = "auto-generated"
        message.set_content(text)
        return message

    def _connection(self) -> smtplib.SMTP:
        context = ssl.create_default_context()
        if self.implicit_tls:
            return smtplib.SMTP_SSL(self.host, self.port, timeout=TIMEOUT_SECONDS, context=context)
        server = smtplib.SMTP(self.host, self.port, timeout=TIMEOUT_SECONDS)
        try:
            server.ehlo()
            can_be_plain = self.user is None and self.host in {"localhost", "127.0.0.1", "::1"}
            if server.has_extn("starttls") or not can_be_plain:
                server.starttls(context=context)  # SMTPNotSupportedError if the server has no TLS
        except BaseException:
            server.close()
            raise
        return server


def mail_of(smtp: str | None, sender: str | None) -> Mail:
    """The mail transport of the settings: ``smtp://user:password@mail.example.com:587`` and a sender address.

    Raises RequestError for invalid settings.
    """
    if smtp is None:
        return LoggedMail()
    try:
        parts = urlsplit(smtp)
        host, port = parts.hostname, parts.port or _PORTS.get(parts.scheme)
    except ValueError:
        host, port, parts = None, None, urlsplit("")
    if parts.scheme not in _PORTS or not host or port is None:
        raise RequestError(
            "the URL of the mail server is invalid", place="smtp", hint='smtp = "smtps://user:password@host"'
        )
    if sender is None or not _ADDRESS.fullmatch(sender):
        raise RequestError("a mail server requires a sender address", place="mail_from", hint='mail_from = "a@host"')
    user = None if parts.username is None else unquote(parts.username)
    password = None if parts.password is None else unquote(parts.password)
    return SmtpMail(host, port, sender, parts.scheme == "smtps", user, password)
